"""Agents' folders for the tests of the ADK-compatible API, and a client on this machine."""

import json
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext

PLAIN = '''
"""Plays a script: the last user text picks the steps; a call is followed by its answer. It knows no framework."""
import json
from pathlib import Path

from proctor import Event
from proctor.agents.base import AgentInfo

SCRIPT = json.loads(Path(__file__).with_name("script.json").read_text(encoding="utf-8"))
NAME = "weather_agent"


class Scripted:
    def describe(self):
        tool = {"name": "get_weather", "description": "Gets the weather of a city."}
        details = {"name": NAME, "instructions": "You are scripted.", "tool_declarations": [{"function_declarations": [tool]}]}
        return AgentInfo(NAME, "A scripted agent", app_details={"agent_details": {NAME: details}})

    async def answer(self, message, session):
        message_text = " ".join(part.text or "" for part in message.parts)
        for step in SCRIPT.get(message_text, SCRIPT["*"]):
            if "raise" in step:
                raise RuntimeError(step["raise"])
            yield Event(
                author=NAME,
                content={"role": "model", "parts": step["parts"]},
                usage_metadata=step.get("usage"),
                model_version=step.get("model_version"),
                state_delta=step.get("state"),
            )
            for part in step["parts"]:
                if call := part.get("function_call"):
                    answer = {"city": call["args"].get("city"), "weather": "sunny", "temp": 21}
                    yield Event.returned(call["name"], answer, id=call.get("id"), author=NAME)


root_agent = Scripted()
'''

ADK = '''
"""The same script, played by a model of an agent of google-adk."""
import json
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse

SCRIPT = json.loads(Path(__file__).with_name("script.json").read_text(encoding="utf-8"))


class Scripted(BaseLlm):
    model: str = "scripted"

    async def generate_content_async(self, llm_request, stream=False):
        message_text, turns = "", 0
        for content in llm_request.contents:
            texts = [part.text for part in content.parts or [] if part.text]
            if content.role == "user" and texts:
                message_text, turns = texts[-1], 0
            elif content.role == "model":
                turns += 1
        steps = SCRIPT.get(message_text, SCRIPT["*"])
        step = steps[min(turns, len(steps) - 1)]
        if "raise" in step:
            raise RuntimeError(step["raise"])
        yield LlmResponse(
            content={"role": "model", "parts": step["parts"]},
            usage_metadata=step.get("usage"),
            model_version=step.get("model_version"),
        )


def get_weather(city: str) -> dict:
    """Gets the weather of a city."""
    return {"city": city, "weather": "sunny", "temp": 21}


root_agent = LlmAgent(
    name="weather_agent",
    description="A scripted agent",
    instruction="You are scripted.",
    model=Scripted(),
    tools=[get_weather],
)
'''


def write_app(agents: Path, source: str, script: dict[str, Any], name: str = "weather_app") -> Path:
    """Write the folder of an agent that plays `script`."""
    folder = agents / name
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(source, encoding="utf-8")
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    return folder


def client_of(root: Path, agents: Path, **options: Any) -> TestClient:
    """Return a client on this machine, of a server for the agents in a folder; use it as a context manager."""
    context = ServerContext(root=root, store_url=root / "store.sqlite3", agents=agents)
    return TestClient(
        create_app(context), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000), **options
    )
