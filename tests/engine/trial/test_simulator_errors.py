"""Whose fault a played conversation was: what the user got wrong is never charged to the agent, nor taken for a pass."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.base import Session
from proctor.errors import SetupProblems
from proctor.models.scripted import ScriptedModel
from proctor.reports.formats.json import JsonReport
from proctor.reports.formats.markdown import MarkdownReport
from proctor.reports.plain import PlainReport
from proctor.reports.terminal.run import TerminalReport
from proctor.runs.importing.import_runs import import_run
from proctor.schema.evidence.simulated_user import FaultKind
from proctor.schema.evidence.trial import FailureKind, Trial
from proctor.schema.results.case_result import FaultRates, user_faults
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

END = "</finished>"
OUT_OF_ROLE = "As an AI language model I want to go to Rome."
NOTHING: dict[str, Any] = {"criteria": {}}
QUALITY = "per_turn_user_simulator_quality_v1"


def agent(message: str, session: Session) -> str:
    """Book the city that the user names."""
    if "Rome" in message:
        session.state["booked"] = "Rome"
        return "Booked Rome."
    return "Where to?"


def useless(_message: str) -> str:
    """Book nothing."""
    return "Booked."


def scenario(eval_id: str = "s") -> dict[str, Any]:
    played = {"starting_prompt": "I want to travel", "conversation_plan": "Book a journey to Rome."}
    return {
        "eval_id": eval_id,
        "conversation_scenario": played,
        "final_session_state": {"booked": "Rome"},
    }


def evaluated(*messages: str, config: Any = NOTHING, cases: int = 1, **options: Any) -> RunResult:
    given = {"eval_set_id": "set", "eval_cases": [scenario(f"s{number}") for number in range(cases)]}
    under_test = options.pop("agent", agent)
    return proctor.evaluate_sync(
        under_test, given, config=config, user=ScriptedModel(list(messages)), **options
    )


def faults_on(**kinds: bool) -> dict[str, Any]:
    return {**NOTHING, "user_simulator_config": {"faults": kinds}}


def only(run: RunResult) -> CaseResult:
    (case,) = run.cases
    return case


def trial_of(run: RunResult) -> Trial:
    trial = only(run).trials[0].trial
    assert trial is not None
    return trial


# --- a spoiled trial --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", [agent, useless], ids=["an agent that passed", "an agent that failed"])
def test_fault_of_the_simulated_user_is_a_simulator_error_for_any_agent(build: Any) -> None:
    case = only(evaluated(OUT_OF_ROLE, END, agent=build))
    assert case.outcome is Outcome.ERROR
    failure = case.trials[0].failure
    assert failure is not None
    assert (failure.where, failure.kind, failure.turn) == ("simulator", FailureKind.SPOILED, 1)
    assert case.reason.startswith("user simulator spoiled in turn 2: left the plan: it speaks as a model")


def test_what_was_found_is_evidence() -> None:
    run = evaluated(OUT_OF_ROLE, END)
    (fault,) = user_faults(only(run), 0)
    assert (fault.kind, fault.turn, fault.evidence, fault.found_by) == (
        FaultKind.LEFT_PLAN,
        1,
        OUT_OF_ROLE,
        "rule",
    )
    played = trial_of(run).played_user
    assert played is not None
    assert played.faults == [fault]
    assert trial_of(run).failure is None  # what happened is whole; that it does not count is a verdict


def test_a_user_that_gives_no_message_is_among_them() -> None:
    run = evaluated("  ")
    (fault,) = user_faults(only(run), 0)
    assert (fault.kind, fault.turn) == (FaultKind.NO_MESSAGE, 1)


def test_a_user_without_fault_leaves_pass_and_failure_to_the_agent() -> None:
    assert evaluated("To Rome, please.", END).outcome is Outcome.PASSED
    assert evaluated("To Rome, please.", END, agent=useless).outcome is Outcome.FAILED


def test_an_agent_that_raised_is_at_fault_also_where_the_user_was() -> None:
    def broken(message: str) -> str:
        if "Rome" in message:
            raise ValueError("no more")
        return "Where to?"

    failure = only(evaluated(OUT_OF_ROLE, END, agent=broken)).trials[0].failure
    assert failure is not None
    assert failure.where == "agent"


@pytest.mark.parametrize(
    ("faults", "outcome"),
    [
        pytest.param({"left_plan": False}, Outcome.PASSED, id="this kind does not count"),
        pytest.param({"repeated_itself": False}, Outcome.ERROR, id="another kind does not count"),
        pytest.param(False, Outcome.PASSED, id="none counts"),
        pytest.param(True, Outcome.ERROR, id="all count"),
    ],
)
def test_config_chooses_the_counted_faults(faults: Any, outcome: Outcome) -> None:
    run = evaluated(OUT_OF_ROLE, END, config={**NOTHING, "user_simulator_config": {"faults": faults}})
    assert run.outcome is outcome
    assert [fault.kind for fault in user_faults(only(run), 0)] == [
        FaultKind.LEFT_PLAN
    ]  # reported all the same


def test_a_kind_of_fault_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SetupProblems, match="there is no kind 'left_plans'"):
        evaluated(END, config=faults_on(left_plans=False))


@pytest.mark.parametrize("faults", ["off", "false", 0, {"left_plan": "no"}, {"left_plan": 0}, []])
def test_faults_are_not_switched_off_by_anything_but_false(faults: Any) -> None:
    with pytest.raises(SetupProblems, match=r"faults.*expected true"):
        evaluated(OUT_OF_ROLE, END, config={**NOTHING, "user_simulator_config": {"faults": faults}})


@pytest.mark.parametrize(
    ("key", "meant"), [("fault", "faults"), ("max_allowed_invocation", "max_allowed_invocations")]
)
def test_a_misspelled_key_about_the_user_is_refused(key: str, meant: str) -> None:
    with pytest.raises(SetupProblems, match=f"{key}: unknown key; .*did you mean `{meant}`"):
        evaluated(END, config={**NOTHING, "user_simulator_config": {key: 2}})


# --- again ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_trial_with_a_simulator_error_is_retried_and_every_attempt_is_kept() -> None:
    run = evaluated(OUT_OF_ROLE, END, OUT_OF_ROLE, END, "To Rome.", END, retry_errors=2)
    assert run.passed
    attempts = trial_of(run).attempts
    assert [attempt.failure and attempt.failure.kind for attempt in attempts] == [FailureKind.SPOILED] * 2
    assert [len(attempt.turns) for attempt in attempts] == [2, 2]
    (warning,) = [one for one in run.warnings if "tried again" in one]
    assert warning.startswith(
        "1 trial was tried again after faults of the simulated user: set/s0, user simulator spoiled"
    )
    assert evaluated(OUT_OF_ROLE, END, OUT_OF_ROLE, END, retry_errors=1).outcome is Outcome.ERROR


def test_resume_makes_it_again_only_where_errors_are_to_be_made_again(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    run = evaluated(OUT_OF_ROLE, END, store=store)
    given = {"eval_set_id": "set", "eval_cases": [scenario("s0")]}
    once: dict[str, Any] = {"store": store, "agent": agent, "eval_sets": given, "force": True}
    model = ScriptedModel(["To Rome.", END])
    again = proctor.resume_sync(run.run_id, **once, user=model, retry_errors=True)
    assert only(again).outcome is Outcome.PASSED
    (earlier,) = only(again).trials[0].earlier
    assert earlier.failure is not None
    assert earlier.failure.kind is FailureKind.SPOILED
    whose = FaultRates(again.cases)
    assert (whose.user.faults, whose.user.of) == (1, 2)
    assert whose.kinds == {FaultKind.LEFT_PLAN: 1}  # what was found before is not forgotten


def test_rescore_repeats_the_faults_without_a_call_and_follows_its_config(
    tmp_path: Path,
) -> None:
    store = tmp_path / "runs.sqlite"
    evaluated(OUT_OF_ROLE, END, store=store)
    same = proctor.rescore_sync(store=store, config=NOTHING)
    assert only(same).outcome is Outcome.ERROR
    assert only(same).reason.startswith("user simulator spoiled in turn 2: left the plan")
    other = proctor.rescore_sync(store=store, config=faults_on(left_plan=False))
    assert only(other).outcome is Outcome.PASSED


def test_a_run_that_left_by_a_file_and_came_back_has_the_same_faults(tmp_path: Path) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    run = evaluated(OUT_OF_ROLE, END, store=one)
    file = tmp_path / "run.json"
    with file.open("w", encoding="utf-8") as out:
        JsonReport().write([run], out)
    back = proctor.load_run(import_run(file, store=other), store=other)
    assert only(back).is_played
    assert user_faults(only(back), 0) == user_faults(only(run), 0)
    assert FaultRates(back.cases).user == FaultRates(run.cases).user


# --- what a judge finds -----------------------------------------------------------------------------------------------


def judge_of(**broken: bool) -> Any:
    """A judge that finds some points broken, of every message."""
    names = ("plan", "end", "one", "gives_up", "responds", "corrects", "person")
    points = [
        {
            "number": n,
            "evidence": "",
            "rationale": f"{name} it is",
            "verdict": "no" if broken.get(name) else "yes",
        }
        for n, name in enumerate(names, 1)
    ]

    def judge(messages: Any) -> Any:
        prompt = "\n".join(message.text for message in messages)
        (ballot,) = re.findall(r"The number of this ballot: (\w+)", prompt)
        return {"ballot": ballot, "verdicts": points}

    return judge


@pytest.mark.parametrize("threshold", [0.1, 1.0], ids=["a threshold that is met", "one that is not"])
def test_an_invalid_turn_spoils_the_trial_and_the_metric_keeps_its_score(threshold: float) -> None:
    config = {"criteria": {QUALITY: {"threshold": threshold, "judge_model_options": {"num_samples": 1}}}}
    case = only(evaluated("To Rome.", END, config=config, judge=judge_of(responds=True)))
    assert case.outcome is Outcome.ERROR
    assert (
        case.metrics[QUALITY].score == 0.5
    )  # the starting prompt is as it should be, the other message is not
    first, *_ = user_faults(case, 0)
    assert (first.kind, first.turn, first.found_by) == (FaultKind.IGNORED_QUESTION, 1, "judge")
    assert "responds it is (found by a judge)" in case.reason


def test_a_quality_without_fault_leaves_the_verdict_to_the_agent() -> None:
    config = {"criteria": {QUALITY: {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}}}
    assert evaluated("To Rome.", END, config=config, judge=judge_of()).passed
    assert (
        evaluated("To Rome.", END, config=config, judge=judge_of(), agent=useless).outcome is Outcome.FAILED
    )


@pytest.mark.parametrize("build", [agent, useless], ids=["an agent that passed", "an agent that failed"])
def test_scores_of_trials_that_a_judge_found_spoiled_are_not_the_agents(build: Any) -> None:
    config = {"criteria": {QUALITY: {"threshold": 1.0, "judge_model_options": {"num_samples": 1}}}}
    messages = ["To Rome.", END] * 2
    options: dict[str, Any] = {
        "config": config,
        "judge": judge_of(responds=True),
        "num_runs": 2,
        "concurrency": 1,
    }
    case = only(evaluated(*messages, agent=build, **options))
    assert [trial.outcome for trial in case.trials] == [Outcome.ERROR] * 2
    state, quality = case.metrics["final_session_state"], case.metrics[QUALITY]
    assert (state.score, state.per_trial) == (None, [None, None])
    assert (quality.score, quality.scored) == (0.5, 2)


def test_scores_of_spoiled_trials_are_not_the_agents() -> None:
    """Of two trials one is spoiled: the agent's metrics are those of the other."""
    run = evaluated(OUT_OF_ROLE, END, "To Rome.", END, num_runs=2, concurrency=1)
    case = only(run)
    assert [trial.outcome for trial in case.trials] == [Outcome.ERROR, Outcome.PASSED]
    state = case.metrics["final_session_state"]
    assert (state.score, state.scored, state.per_trial[0]) == (1.0, 1, None)


# --- rates ------------------------------------------------------------------------------------------------------------


def test_both_rates_are_distinguished_in_every_report() -> None:
    messages = [OUT_OF_ROLE, END, "To Rome.", END, "To Oslo it is, thank you very much.", END, " "]
    run = evaluated(*messages, cases=4, concurrency=1)
    found = FaultRates(run.cases)
    assert (found.user.faults, found.user.of) == (3, 4)
    assert (found.agent.faults, found.agent.of) == (0, 1)
    assert found.kinds[FaultKind.NO_MESSAGE] == found.kinds[FaultKind.LEFT_PLAN] == 1
    out = io.StringIO()
    PlainReport().write([run], out)
    assert "AT-FAULT  agent=0.00(0/1,0.00-0.79)  simulator=0.75(3/4,0.30-0.95)" in out.getvalue()
    out = io.StringIO()
    TerminalReport().write([run], out)
    assert "simulator at fault 75 % (3 of 4, 95 % CI: 30–95)" in " ".join(out.getvalue().split())
    out = io.StringIO()
    MarkdownReport().write([run], out)
    assert "simulator at fault 75 % (3 of 4, 95 % CI: 30–95)" in out.getvalue()
    out = io.StringIO()
    JsonReport().write([run], out)
    rates = json.loads(out.getvalue())["runs"][0]["at_fault"]
    assert (rates["agent"]["rate"], rates["simulator"]["rate"]) == (0.0, 0.75)
    assert rates["simulator"]["kinds"]["left_plan"] == 1


def test_a_rate_of_no_conversation_has_no_interval() -> None:
    run = evaluated(OUT_OF_ROLE, END, concurrency=1)
    found = FaultRates(run.cases)
    assert (found.agent.of, found.user.of) == (0, 1)
    out = io.StringIO()
    JsonReport().write([run], out)
    rates = json.loads(out.getvalue())["runs"][0]["at_fault"]
    assert rates["agent"] == {"faults": 0, "of": 0, "rate": None, "low": None, "high": None}
    out = io.StringIO()
    PlainReport().write([run], out)
    assert "AT-FAULT  agent=-(0/0)  simulator=1.00(1/1,0.21-1.00)" in out.getvalue()


def test_recorded_conversations_have_no_such_rates() -> None:
    case = {"eval_id": "r", "conversation": [{"user_content": {"parts": [{"text": "Rome"}]}}]}
    run = proctor.evaluate_sync(
        agent,
        {"eval_set_id": "set", "eval_cases": [{**case, "final_session_state": {"booked": "Rome"}}]},
        config=NOTHING,
    )
    assert run.passed
    assert not FaultRates(run.cases)
    out = io.StringIO()
    JsonReport().write([run], out)
    assert json.loads(out.getvalue())["runs"][0]["at_fault"] is None
