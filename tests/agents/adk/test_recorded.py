"""google-adk's own evaluation recorded what a scripted agent did: through our adapter it does the same."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.load import load_agent
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content
from tests.agents.conftest import ask, new_session

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


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


def test_every_recorded_conversation(recorded: dict[str, Any]) -> None:
    from tests.compat.golden.golden_agent import golden_agent

    agent: Any = load_agent(golden_agent(recorded["script"]))
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
