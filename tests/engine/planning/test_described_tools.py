"""The agent's description of its tools is compared with the expected calls before the first agent call."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import proctor
from proctor.agents.base import AgentInfo, Session
from proctor.errors import SetupProblems
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

TOOLS = [{"name": "delete", "parameters": {"type": "object", "properties": {"all": {"type": "boolean"}}}}]
CALL = {"role": "model", "parts": [{"function_call": {"name": "delete", "args": {"all": True}}}]}


class Deleting:
    """Delete everything for any message, and describe its tools."""

    def __init__(self, tools: Any = TOOLS, *, more: bool = False) -> None:
        self.tools, self.more, self.log = tools, more, [""]

    def describe(self) -> AgentInfo:
        details = {"agent_details": {"bot": {"name": "bot", "tool_declarations": self.tools}}}
        return AgentInfo("bot", app_details=details if self.tools else None, has_more_tools=self.more)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        self.log.append("asked")
        yield Event.model_validate({"author": "bot", "content": CALL})

    def close(self) -> None:
        self.log.append("closed")


def cases(*forbidden: Any) -> dict[str, Any]:
    turns = [{"user_content": {"parts": [{"text": "Clean up."}]}}]
    return {
        "eval_set_id": "s",
        "eval_cases": [
            {"eval_id": f"case {n}", "conversation": turns, "expectations": {"forbidden": [each]}}
            for n, each in enumerate(forbidden)
        ],
    }


def rules(*given: Any) -> dict[str, Any]:
    return {"criteria": {"tool_expectations": 1.0, "trajectory_rules": {"threshold": 1, "rules": [*given]}}}


SLIP = {"tool": "delete", "args": {"al": True}}


def test_all_problems_are_reported_at_once_before_any_agent_call() -> None:
    agent = Deleting()
    with pytest.raises(SetupProblems) as error:
        proctor.evaluate_sync(agent, cases(SLIP, "delet", "delete"), config=rules({"never": "dlete"}))
    messages = [str(problem) for problem in error.value.problems]
    assert len(messages) == 3
    assert (
        "The criterion of 'trajectory_rules' does not fit: rules[0]: the agent declares no tool 'dlete'"
        in messages[0]
    )
    assert (
        "case 'case 0': expectations.forbidden[0]: no call can match this: delete declares no argument `al`"
        in messages[1]
    )
    assert "case 'case 1': expectations.forbidden[0]: the agent declares no tool 'delet'" in messages[2]
    assert agent.log == ["", "closed"]


def test_a_store_has_nothing_of_a_run_that_did_not_begin(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with pytest.raises(SetupProblems):
        proctor.evaluate_sync(Deleting(), cases(SLIP), config=rules({"never": "delete"}), store=url)
    store = proctor.open_store(url)
    assert [*store.runs()] == []
    store.close()


@pytest.mark.parametrize(
    "agent", [Deleting(more=True), Deleting(tools=None)], ids=["more tools", "no declarations"]
)
def test_where_the_list_is_not_whole_the_case_is_judged_and_warned_about(agent: Deleting) -> None:
    result = proctor.evaluate_sync(agent, cases("delet"), config=rules({"never": "on_a_server"}))
    [case] = result.cases
    for name in ("tool_expectations", "trajectory_rules"):
        [score] = case.metrics[name].per_trial
        assert score is not None
        assert "nor called" in score.per_invocation[0].warning
    assert result.passed


def test_what_is_spelled_right_runs() -> None:
    result = proctor.evaluate_sync(
        Deleting(), cases({"tool": "delete", "args": {"all": True}}), config=rules({"never": "delete"})
    )
    assert result.outcome == "failed"
