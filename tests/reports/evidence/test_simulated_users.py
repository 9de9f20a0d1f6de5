"""Simulated users in reports: the messages, the plan, the usage, and the end of the conversation."""

from __future__ import annotations

import io
from typing import Any

import pytest

import proctor
from proctor.models.base import Reply, Usage
from proctor.models.scripted import ScriptedModel
from proctor.reports.content.case_blocks import write_case
from proctor.reports.content.case_data import StoredCase
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.evidence.simulated_users import ending_of, simulator_name
from proctor.reports.formats.junit import JunitReport
from proctor.reports.formats.markdown import MarkdownReport
from proctor.reports.plain import evidence_lines
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.case import ConversationScenario
from proctor.schema.results.run_result import CaseResult, RunResult

SCENARIO = {
    "starting_prompt": "I want to travel.",
    "conversation_plan": "Book a journey to Rome.\nYou have no other wishes.",
    "user_persona": "NOVICE",
}


def agent(message: str, session: Any) -> str:
    """Book the city that the user names."""
    if "Rome" in message:
        session.state["booked"] = "Rome"
        return "Booked Rome."
    return "Where to?"


def run_with(user: Any, *, turns: int = 3, faults: bool = True, **scenario: Any) -> RunResult:
    case = {
        "eval_id": "s",
        "conversation_scenario": SCENARIO | scenario,
        "final_session_state": {"booked": "Rome"},
    }
    config = {
        "criteria": {},
        "user_simulator_config": {"max_allowed_invocations": turns, "faults": faults},
    }
    return proctor.evaluate_sync(
        agent, {"eval_set_id": "set", "eval_cases": [case]}, config=config, user=user
    )


def trial_of(run: RunResult) -> Trial:
    trial = run.cases[0].trials[0].trial
    assert trial is not None
    return trial


def lines_of(case: CaseResult, *, full: bool = False) -> list[str]:
    return list(evidence_lines(evidence_block(case, full=full)))


def broken(so_far: Any) -> str | None:
    if len(so_far) == 2:
        raise LookupError("no more to say")
    return "Hm."


# --- how it ended -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "ended"),
    [
        (lambda _: None, "by the user"),
        (ScriptedModel("</finished>"), "by the user"),
        (ScriptedModel("Never mind. </finished>"), "by the user, who did not send: Never mind. </finished>"),
        (lambda _: "Hm.", "at the limit of 3 turns; the user had not finished"),
        (lambda _: "", ""),
        (broken, ""),
    ],
    ids=["function", "signal", "words with the signal", "limit", "no text", "raised"],
)  # fmt: skip
def test_end_of_a_complete_conversation_is_shown(user: Any, ended: str) -> None:
    assert ending_of(trial_of(run_with(user))) == ended


def test_user_model_is_shown_for_simulated_users_only() -> None:
    assert simulator_name(trial_of(run_with(broken))) == "simulated user: broken()"
    assert (
        simulator_name(trial_of(run_with(ScriptedModel("</finished>", name="m-1")))) == "simulated user: m-1"
    )
    assert simulator_name(Trial(eval_set_id="set", eval_id="recorded")) == ""


# --- in a report of a run ---------------------------------------------------------------------------------------------


def test_failed_case_with_an_unfinished_user_is_marked() -> None:
    case = run_with(lambda _: "Hm.").cases[0]
    assert lines_of(case) == [
        'state: booked: "Rome" -> not set',
        "ended: at the limit of 3 turns; the user had not finished",
    ]


def test_failed_case_with_a_finished_user_shows_the_failure_only() -> None:
    assert lines_of(run_with(lambda _: None, faults=False).cases[0]) == ['state: booked: "Rome" -> not set']


def test_missing_message_of_the_user_shows_the_last_answer() -> None:
    case = run_with(lambda _: " ").cases[0]
    assert "user simulator" in case.reason
    assert lines_of(case) == ["turn 1: user: I want to travel.", "turn 1: answer: Where to?"]


def test_where_the_users_function_raised_its_line_is_shown() -> None:
    case = run_with(broken).cases[0]
    assert "user simulator raised in turn 3: LookupError: no more to say" in case.reason
    *before, place = lines_of(case)
    assert before == ["turn 2: user: Hm.", "turn 2: answer: Where to?"]
    assert place.startswith("turn 3: at: ")
    assert 'raise LookupError("no more to say")' in place


def test_markdown_and_junit_have_it_too() -> None:
    run = run_with(lambda _: "Hm.")
    for report in (MarkdownReport(), JunitReport()):
        out = io.StringIO()
        report.write([run], out)
        assert "at the limit of 3 turns; the user had not finished" in out.getvalue()


# --- one case ---------------------------------------------------------------------------------------------------------


def test_a_case_shows_plan_and_persona_and_what_each_message_took() -> None:
    said = [
        Reply(text=text, model="m-1", usage=Usage(input_tokens=90, output_tokens=3), cost=0.002, seconds=0.5)
        for text in ("To Rome.", "</finished>")
    ]
    run = run_with(ScriptedModel([*said], name="m"))
    replies = trial_of(run).played_user
    assert replies is not None
    first, last = (reply.prompt for reply in replies.replies)
    scenario = ConversationScenario.model_validate(SCENARIO)
    out = io.StringIO()
    write_case(StoredCase("r", "r", "a", 0.0, run.cases[0], 1, scenario=scenario), out)
    lines = out.getvalue().splitlines()
    start = lines.index("SCENARIO")
    assert lines[start : start + 4] == [
        "SCENARIO",
        "    start: I want to travel.",
        "    plan: Book a journey to Rome.",
        "    plan: You have no other wishes.",
    ]
    assert lines[start + 4].startswith("    persona: NOVICE: ")
    assert lines[-6:] == [
        "    turn 1: user: I want to travel.",
        "    turn 1: answer: Where to?",
        "    turn 2: user: To Rome.",
        "    turn 2: answer: Booked Rome.",
        f"    turn 2: played: m-1, 93 tokens, $0.0020, 0.5 s, prompt {first}",
        f"    ended: by the user (m-1, 93 tokens, $0.0020, 0.5 s, prompt {last})",
    ]
