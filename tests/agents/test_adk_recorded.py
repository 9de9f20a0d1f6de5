"""google-adk's own evaluation recorded what a scripted agent did: through our adapter it does the same."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.load import load_agent
from proctor.schema.content import Content
from proctor.schema.derive import invocation_of
from proctor.schema.trial import Turn
from tests.agents.conftest import ask, new_session, write

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

SCRIPTED = '''
import json
import pathlib

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types

SCRIPT = json.loads(pathlib.Path(__file__).with_name("script.json").read_text(encoding="utf-8"))


def get_weather(city: str):
    """Gets the weather of a city."""
    return {"city": city, "weather": "sunny", "temp": 21}


def add(a: int, b: int):
    """Adds two numbers."""
    return {"sum": a + b}


def remember(key: str, value: str, tool_context: ToolContext):
    """Stores a value in the session state."""
    tool_context.state[key] = value
    return {"stored": True}


def boom():
    """Always fails."""
    raise RuntimeError("tool exploded")


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        contents = llm_request.contents
        asked = max(i for i, c in enumerate(contents) if c.role == "user" and c.parts[0].text)
        steps = SCRIPT.get(contents[asked].parts[0].text, SCRIPT["*"])
        step = steps[min(sum(c.role == "model" for c in contents[asked:]), len(steps) - 1)]
        if "raise" in step:
            raise RuntimeError(step["raise"])
        yield LlmResponse(
            content=types.Content.model_validate({"role": "model", "parts": step["parts"]}),
            usage_metadata=step.get("usage"),
            model_version=step.get("model_version"),
        )


root_agent = LlmAgent(
    name="helper",
    model=Scripted(model="scripted"),
    description="A scripted helper",
    instruction="You are a scripted helper.",
    tools=[get_weather, add, remember, boom],
)
'''


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "golden" / "service_runs.json").read_text(encoding="utf-8"))
    return found


def _conversations(recorded: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Every recorded conversation once."""
    found = {}
    for vector in recorded["vectors"]:
        for inference in vector["result"].get("ok", {}).get("inference_results", []):
            if inference.get("inferences"):
                texts = json.dumps([turn["user_content"] for turn in inference["inferences"]])
                found[texts] = inference["inferences"]
    return list(found.values())


def _without_what_differs_each_time(invocation: Any, ids: dict[str, str] | None = None) -> Any:
    """Times left out, ids numbered by appearance."""
    ids = {} if ids is None else ids
    if isinstance(invocation, dict):
        kept = {key: value for key, value in invocation.items() if key not in _TIMES}
        return {
            key: ids.setdefault(value, f"id {len(ids)}")
            if key == "id"
            else _without_what_differs_each_time(value, ids)
            for key, value in kept.items()
        }
    if isinstance(invocation, list):
        return [_without_what_differs_each_time(item, ids) for item in invocation]
    return invocation


_TIMES = {"invocation_id", "creation_timestamp", "duration", "model_duration", "tool_duration", "rubrics"}


def test_every_recorded_conversation(project: Path, recorded: dict[str, Any]) -> None:
    write(project, {"scripted_app/__init__.py": "from . import agent", "scripted_app/agent.py": SCRIPTED})
    write(project, {"scripted_app/script.json": json.dumps(recorded["script"])})
    agent: Any = load_agent("scripted_app")
    conversations = _conversations(recorded)
    assert len(conversations) >= 5

    async def talk(turns: list[dict[str, Any]]) -> list[Any]:
        session, found = new_session(), []
        for expected in turns:
            message = Content.model_validate(expected["user_content"])
            turn = Turn(user_content=message, events=await ask(agent, message, session))
            details = session.memory["app_details"]
            found.append(invocation_of(turn, invocation_id="", app_details=details))
        return [one.model_dump(mode="json", exclude_none=True) for one in found]

    for turns in conversations:
        found = asyncio.run(talk(turns))
        assert _without_what_differs_each_time(found) == _without_what_differs_each_time(turns)
