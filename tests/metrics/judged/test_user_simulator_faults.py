"""A judge finds faults of a simulated user that rules cannot detect: a fault counts with the words that contain it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.errors import SetupProblems
from proctor.models.scripted import ScriptedModel
from proctor.schema.evidence.simulated_user import FaultKind
from proctor.schema.results.case_result import user_faults
from proctor.schema.results.run_result import CaseResult, Outcome

NAME = "user_simulator_faults_v1"
POINTS = (
    "left_plan",
    "leaked_answer",
    "stopped_early",
    "invented_fact",
    "repeated_itself",
    "ignored_question",
)
END = "</finished>"
BROUGHT = "By the way, my sister is a pilot."


def agent(message: str, session: Session) -> str:
    """Book the city that the user names."""
    if "Rome" in message:
        session.state["booked"] = "Rome"
        return "Booked Rome."
    return "Where to?"


def entry(point: str, message: int = 0, evidence: str = "") -> dict[str, Any]:
    return {
        "number": POINTS.index(point) + 1,
        "message": message,
        "evidence": evidence,
        "rationale": f"{point} it is",
        "verdict": "no",
    }


def judge(*broken: dict[str, Any], votes: list[str] | None = None) -> Callable[[Any], Any]:
    """A judge that finds these points broken, and the others kept."""

    def answer(messages: Any) -> Any:
        prompt = "\n".join(message.text for message in messages)
        if votes is not None:
            votes.append(prompt)
        (ballot,) = re.findall(r"The number of this ballot: (\w+)", prompt)
        kept = {"message": 0, "evidence": "", "rationale": "fine", "verdict": "yes"}
        entries = {number: {"number": number, **kept} for number in range(1, len(POINTS) + 1)}
        return {"ballot": ballot, "verdicts": [*(entries | {one["number"]: one for one in broken}).values()]}

    return answer


def case_of(asked: Any, *messages: str, turns: int = 20, **case: Any) -> CaseResult:
    played = {"starting_prompt": "I want to travel", "conversation_plan": "Book a journey to Rome."}
    stated = {
        "eval_id": "s",
        "conversation_scenario": played,
        "final_session_state": {"booked": "Rome"},
        **case,
    }
    config = {
        "criteria": {NAME: {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}},
        "user_simulator_config": {"max_allowed_invocations": turns},
    }
    run = proctor.evaluate_sync(
        agent,
        {"eval_set_id": "set", "eval_cases": [stated]},
        config=config,
        user=ScriptedModel([*messages, END]),
        judge=asked,
    )
    return run.cases[0]


def test_a_user_without_fault_leaves_the_verdict_to_the_agent() -> None:
    case = case_of(judge(), "To Rome.")
    assert case.passed
    assert case.metrics[NAME].score == 1.0


def test_what_it_finds_spoils_the_trial() -> None:
    case = case_of(judge(entry("invented_fact", 2, "my sister is a PILOT")), f"To Rome. {BROUGHT}")
    assert case.outcome is Outcome.ERROR
    (fault,) = user_faults(case, 0)
    assert (fault.kind, fault.turn, fault.found_by) == (FaultKind.INVENTED_FACT, 1, "judge")
    assert fault.evidence == "my sister is a PILOT"
    assert case.metrics[NAME].score == pytest.approx(5 / 6)
    assert "invented a fact: invented_fact it is (found by a judge)" in case.reason


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(entry("invented_fact", 2, "my brother is a pilot"), id="words outside the conversation"),
        pytest.param(entry("invented_fact", 2), id="no words"),
        pytest.param(entry("left_plan", 1, "I want to travel"), id="the starting prompt, which is given"),
    ],
)
def test_a_fault_without_its_words_is_none(broken: dict[str, Any]) -> None:
    case = case_of(judge(broken), f"To Rome. {BROUGHT}")
    assert case.passed
    assert user_faults(case, 0) == []


def test_a_wrong_number_of_the_message_is_put_right_by_its_words() -> None:
    (fault,) = user_faults(case_of(judge(entry("left_plan", 7, BROUGHT)), "Hm.", f"Rome. {BROUGHT}"), 0)
    assert fault.turn == 2


def test_early_end_needs_no_quotation_and_the_turn_limit_is_not_a_fault() -> None:
    (fault,) = user_faults(case_of(judge(entry("stopped_early")), "To Rome."), 0)
    assert (fault.kind, fault.turn) == (FaultKind.STOPPED_EARLY, 2)
    assert user_faults(case_of(judge(entry("stopped_early")), "To Rome.", turns=2), 0) == []


def test_the_judge_knows_what_the_user_must_not_know() -> None:
    votes: list[str] = []
    case_of(judge(votes=votes), "To Rome.", final_session_state={"booked": "Rome", "fee": 12})
    assert "fee: 12" in votes[0]
    assert "Book a journey to Rome." in votes[0]
    assert "The user ended the conversation." in votes[0]


def test_it_decides_no_case_by_itself() -> None:
    with pytest.raises(SetupProblems, match="it judges the simulated user, not the agent"):
        case_of(judge(), "To Rome.", final_session_state={})
