"""An agent's description of itself reaches the store and the metrics: an unreadable one is reported before the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

import proctor
from proctor import AgentInfo, AgentLoadError, Content, EvalSet, Event, Session

SET = EvalSet.model_validate(
    {
        "eval_set_id": "s",
        "eval_cases": [
            {
                "eval_id": "c",
                "conversation": [
                    {"user_content": {"parts": [{"text": "Hi"}]}, "intermediate_data": {"tool_uses": []}}
                ],
            }
        ],
    }
)


class Telling:
    """Answers, and describes itself as configured."""

    def __init__(self, info: Any) -> None:
        self._info = info

    def describe(self) -> Any:
        return self._info

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        yield Event.said("ok")


def _details(details: Any) -> AgentInfo:
    return AgentInfo("bot", app_details=details)


UNREADABLE: dict[str, tuple[Any, str]] = {
    "a dict": ({"name": "x"}, "describe() returned dict {'name': 'x'}; expected a proctor.AgentInfo, or None"),
    "a text": ("bot", "describe() returned str 'bot'"),
    "a mock": (MagicMock(), "describe() returned <MagicMock"),
    "no name": (AgentInfo(None), "name of describe() is NoneType None; expected a text"),  # type: ignore[arg-type]  # the mistake
    "a number for a version": (AgentInfo("bot", version=3), "version of describe() is int 3; expected a text"),  # type: ignore[arg-type]  # the mistake
    "a list of details": (_details([1]), "app_details of describe() cannot be read: list [1]; expected JSON of the form"),
    "no JSON": (_details({"agent_details": {"bot": {"name": "bot", "x": object()}}}), "not JSON serializable"),
    "agents in a list": (_details({"agent_details": [1]}), "agent_details: Input should be"),
    "an agent without a name": (_details({"agent_details": {"bot": {}}}), "agent_details.bot.name: Field required"),
}  # fmt: skip


@pytest.mark.parametrize("info", UNREADABLE)
def test_description_of_an_agent_must_be_readable(info: str, tmp_path: Path) -> None:
    described, expected = UNREADABLE[info]
    store = tmp_path / "runs.sqlite3"
    with pytest.raises(AgentLoadError) as raised:
        proctor.evaluate_sync(
            Telling(described), SET, config={"criteria": {"tool_trajectory_avg_score": 1.0}}, store=store
        )
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    "info",
    [
        None,
        AgentInfo("bot"),
        AgentInfo("bot", "d", "1", {"agent_details": {"bot": {"name": "bot", "tool_declarations": []}}}),
    ],
    ids=["nothing", "a name", "everything"],
)
def test_what_can_be_read_is_taken(info: AgentInfo | None, tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite3"
    found = proctor.evaluate_sync(
        Telling(info), SET, config={"criteria": {"tool_trajectory_avg_score": 1.0}}, store=store
    )
    assert found.passed
