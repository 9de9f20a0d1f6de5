"""ADK's result files as we write them: its form, its statuses, and as much of a run as that form can hold."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from proctor.errors import SetupError
from proctor.files.results.read import read_runs
from proctor.reports.base import load_report
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.adk_results import (
    LONGEST_NAME,
    CaseContext,
    ResultHeader,
    app_name_of,
    case_results,
    result_text,
)
from proctor.schema.format.content import Content, Part
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalSetResult
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult, TrialResult
from proctor.schema.results.score import MetricScore, Score
from tests.reports.generated_runs import runs
from tests.reports.hostile_texts import HOSTILE, everywhere, for_each_text
from tests.reports.sample_runs import P, case, good, metric, run, trial


def written(result: RunResult) -> str:
    out = io.StringIO()
    load_report("adk").write([result], out)
    return out.getvalue()


def entries(*cases: CaseResult) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(written(run(*cases)))["eval_case_results"]
    return found


# --- its form ----------------------------------------------------------------------------------------------------------


GOLDEN = ["all_pass.default", "mixed.default", "state_and_media.default", "agent_evaluator_two_runs"]


@pytest.mark.parametrize("name", GOLDEN)
def test_file_of_google_adk_is_written_back_unchanged(name: str, shared: Path) -> None:
    """Read as a run and written again: the same keys in the same order, statuses, scores and invocations."""
    path = shared / "golden" / "files" / f"{name}.evalset_result.json"
    theirs = json.loads(path.read_text(encoding="utf-8"))
    (recorded,) = read_runs(path)
    criteria = recorded.criteria[theirs["eval_set_id"]]
    ours = [
        entry
        for each in recorded.cases()
        for entry in case_results(each.result, CaseContext(tuple(each.expected or ()), criteria))
    ]
    order = [one["session_id"] for one in theirs["eval_case_results"]]
    ours.sort(key=lambda entry: order.index(entry["session_id"]))
    for entry, original in zip(ours, theirs["eval_case_results"], strict=True):
        assert list(entry) == [*original, "proctor_outcome", "proctor"]
        for key in original.keys() - {"eval_metric_result_per_invocation", "session_details"}:
            assert entry[key] == original[key], key
        _same_turns(entry["eval_metric_result_per_invocation"], original["eval_metric_result_per_invocation"])


def _same_turns(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    for turn, original in zip(ours, theirs, strict=True):
        assert list(turn) == list(original)
        assert turn["eval_metric_results"] == original["eval_metric_results"]
        for key in ("actual_invocation", "expected_invocation"):
            assert _invocation(turn[key]) == _invocation(original[key])


def _invocation(given: dict[str, Any] | None) -> Any:
    """An invocation without its id, which is created again, and without the case's rubrics."""
    if given is None:
        return None
    return Invocation.model_validate(given).model_copy(update={"invocation_id": "", "rubrics": None})


def test_it_begins_as_google_adk_begins_it(shared: Path) -> None:
    theirs = json.loads((shared / "golden/files/all_pass.default.evalset_result.json").read_text("utf-8"))
    assert list(json.loads(written(run(good("a"))))) == list(theirs)
    assert written(run(good("a"))).startswith('{\n  "eval_set_result_id": "travel_agent_booking_')


@pytest.mark.parametrize(
    "cases", [[], [good("a")], [good("a", 3), good("b")]], ids=["none", "one", "several"]
)
def test_it_is_indented_by_two_throughout(cases: list[CaseResult]) -> None:
    text = "".join(result_text(ResultHeader("app", "s", 1.5), ((each, CaseContext()) for each in cases)))
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    assert not text.endswith("\n")


def test_an_entry_a_trial_and_each_reads_as_results_do() -> None:
    recorded = EvalSetResult.model_validate_json(written(run(good("a", 3), good("b"))))
    assert [entry.eval_id for entry in recorded.eval_case_results] == ["a", "a", "a", "b"]
    assert recorded.eval_set_result_id == recorded.eval_set_result_name


STATUSES = {
    Outcome.PASSED: 1, Outcome.FAILED: 2, Outcome.ERROR: 3, Outcome.INCONCLUSIVE: 3, Outcome.SKIPPED: 3, Outcome.NOT_RUN: 3,
    Outcome.NOT_APPLICABLE: 3, Outcome.INFORMATIONAL: 4,
}  # fmt: skip


@pytest.mark.parametrize("outcome", Outcome)
def test_the_status_of_every_outcome(outcome: Outcome) -> None:
    gate = outcome is not Outcome.INFORMATIONAL
    verdict = metric("m", [0.5], 0.5 if gate else None, outcome, gate=gate)
    (entry,) = entries(case("a", outcome, verdict, trials=[trial(0, outcome)]))
    (overall,) = entry["overall_eval_metric_results"]
    assert overall["eval_status"] == STATUSES[outcome]
    assert (entry["final_eval_status"], entry["proctor_outcome"]) == (STATUSES[outcome], outcome.value)


@pytest.mark.parametrize("outcome", [Outcome.SKIPPED, Outcome.NOT_RUN])
def test_a_case_without_a_trial_has_an_entry_that_did_not_pass(outcome: Outcome) -> None:
    (entry,) = entries(case("a", outcome, trials=[]))
    assert (entry["final_eval_status"], entry["proctor_outcome"]) == (3, outcome.value)
    assert entry["overall_eval_metric_results"] == entry["eval_metric_result_per_invocation"] == []


def test_each_trial_has_its_own_status_and_scores() -> None:
    verdict = MetricVerdict(
        "m", P, 0.8, 0.5, per_trial=[MetricScore(1.0, [Score(1.0)]), MetricScore(0.2, [Score(0.2)])]
    )
    trials = [trial(0, Outcome.PASSED), trial(1, Outcome.FAILED)]
    first, second = entries(case("a", P, verdict, trials=trials))
    assert (first["final_eval_status"], second["final_eval_status"]) == (1, 2)
    assert [entry["overall_eval_metric_results"][0]["score"] for entry in (first, second)] == [1.0, 0.2]
    turn = second["eval_metric_result_per_invocation"][0]["eval_metric_results"][0]
    assert (turn["score"], turn["eval_status"]) == (0.2, 2)
    assert second["proctor"]["case"]["outcome"] == "passed"


def test_expected_invocations_and_the_criterion_are_additional() -> None:
    expected = Invocation.model_validate({"user_content": {"parts": [{"text": "hi"}]}, "mine": 1})
    criterion = {"threshold": 0.1, "match_type": "IN_ORDER"}
    (entry,) = case_results(case("a", P, metric("m", [1.0], 0.9)), CaseContext((expected,), {"m": criterion}))
    turn = entry["eval_metric_result_per_invocation"][0]
    assert turn["expected_invocation"]["user_content"]["parts"][0]["text"] == "hi"
    assert "mine" not in turn["expected_invocation"]
    assert entry["overall_eval_metric_results"][0]["criterion"] == {
        "threshold": 0.9,
        "include_intermediate_responses_in_final": False,
        "match_type": "IN_ORDER",
    }


def test_details_that_google_adk_knows_are_written_and_no_others() -> None:
    details = {
        "token_usage_details": {"total_tokens": 3.0, "made_up": 1},
        "rubric_scores": [{"rubric_id": "r", "score": 1.0, "samples": []}, "nonsense"],
        "alignment": [],
    }
    verdict = metric("m", [MetricScore(1.0, [Score(1.0, details=details)], details=details)])
    (entry,) = entries(case("a", P, verdict))
    for place in (
        entry["overall_eval_metric_results"][0],
        entry["eval_metric_result_per_invocation"][0]["eval_metric_results"][0],
    ):
        assert list(place["details"]) == ["rubric_scores", "token_usage_details", "duration_details"]
        assert place["details"]["rubric_scores"] == [{"rubric_id": "r", "rationale": None, "score": 1.0}]
        assert place["details"]["token_usage_details"]["total_tokens"] == 3.0
        assert "made_up" not in place["details"]["token_usage_details"]


def test_what_google_adk_would_refuse_is_left_out_of_the_evidence() -> None:
    content = Content.model_validate({"role": "model", "parts": [{"text": "x", "new_key": 1}], "another": 2})
    events = [Event(content=content, mine={"a": 1}), Event(content=content, partial=True)]
    evidence = Trial(eval_set_id="s", eval_id="a", turns=[Turn(user_content=content, events=events)])
    (entry,) = entries(case("a", P, trials=[TrialResult(0, P, evidence=evidence)]))
    text = json.dumps(entry)
    assert '"x"' in text
    assert not any(f'"{name}"' in text for name in ("new_key", "another", "mine"))
    assert [event["author"] for event in entry["session_details"]["events"]] == ["user", "agent"]


# --- there and back ----------------------------------------------------------------------------------------------------


def _held(result: RunResult) -> Any:
    """The part of a run that ADK's form with our additional keys can hold."""
    return [
        (c.eval_set_id, c.eval_id, c.outcome, c.reason, c.place, {n: _held_metric(m) for n, m in c.metrics.items()} if c.trials else {},
         [(t.number, t.outcome, t.failure, _held_evidence(t.trial)) for t in c.trials])
        for c in result.cases
    ]  # fmt: skip


def _held_metric(verdict: MetricVerdict) -> Any:
    return (
        verdict.outcome, verdict.threshold, verdict.gate, verdict.reason, verdict.score,
        [None if score is None else (score.value, score.reason, score.not_applicable, score.failure,
                    [(each.value, each.not_applicable) for each in score.per_invocation])
         for score in verdict.per_trial],
    )  # fmt: skip


def _held_evidence(trial: Trial | None) -> Any:
    assert trial is not None
    turns = [
        (i.user_content, i.final_response, i.tool_calls, i.tool_responses, i.usage_metadata, i.duration, i.creation_timestamp)
        for i in trial.invocations
    ]  # fmt: skip
    return trial.session_id, trial.user_id, trial.final_state or {}, turns


@pytest.mark.slow
@given(result=runs(most_sets=1))
def test_what_we_wrote_reads_back_as_far_as_the_form_holds_it(
    tmp_path_factory: pytest.TempPathFactory, result: RunResult
) -> None:
    path = tmp_path_factory.mktemp("adk") / "r.evalset_result.json"
    path.write_text(written(result), encoding="utf-8")
    (recorded,) = read_runs(path)
    assert _held(recorded.result) == _held(result)


# --- names -------------------------------------------------------------------------------------------------------------

APPS = {
    "travel_agent": "travel_agent", "travel.flawed": "travel.flawed", "replay:drop-call": "replay", "pkg.agents:root": "pkg.agents",
    "/tmp/x/y": "y", "C\\z": "z", "..": "agent", "": "agent", "<lambda>": "_lambda_", "a b": "a_b",
}  # fmt: skip


@pytest.mark.parametrize(("agent", "app"), APPS.items())
def test_an_app_is_called_as_the_agent_is_as_far_as_a_folder_can(agent: str, app: str) -> None:
    assert app_name_of(run(good("a"), agent=agent)) == app


@pytest.mark.parametrize(
    "set_id", ["a/b", "..\\..\\x", "../../etc/passwd", "nul\x00", "x" * 5_000, "é" * 300, "C:evil", "\u202e"]
)
def test_any_name_of_a_set_is_one_step_of_a_path(set_id: str) -> None:
    header = ResultHeader("app", set_id, 1_700_000_000.25)
    assert len(header.name.encode()) <= LONGEST_NAME
    assert not set(header.name) & set("/\\\x00:")
    assert header.name not in {".", ".."}
    assert header.result_id == f"app_{set_id}_1700000000.25"


def test_long_names_differ_where_the_ids_do() -> None:
    names = {ResultHeader("app", "x" * 300 + end, 1.5).name for end in "abc"}
    assert len(names) == 3


# --- one file, one set -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "results",
    [[run(good("a"), good("b", eval_set_id="other"))], [run(good("a")), run(good("a"))], []],
    ids=["two sets", "two agents", "nothing"],
)
def test_what_is_not_one_set_of_one_agent_does_not_fit_one_file(results: list[RunResult]) -> None:
    with pytest.raises(SetupError, match=r"one file for each agent and eval set, and here are"):
        load_report("adk").write(results, io.StringIO())


@for_each_text({"the first 40": HOSTILE[:40]})
def test_any_text_is_allowed(text: str) -> None:
    result = everywhere(text)
    for each in result.cases:
        each.eval_set_id = text
    recorded = EvalSetResult.model_validate_json(written(result))
    assert len(recorded.eval_case_results) == sum(len(each.trials) for each in result.cases)


def test_a_message_of_the_user_is_the_first_event_of_each_turn() -> None:
    said = [
        Turn(user_content=Content(role="user", parts=[Part(text=t)]), events=[Event.said("ok")]) for t in "ab"
    ]
    evidence = Trial(
        eval_set_id="s", eval_id="a", session_id="s-1", user_id="u", turns=said, final_state={"k": None}
    )
    (entry,) = entries(case("a", P, trials=[TrialResult(0, P, evidence=evidence)]))
    session = entry["session_details"]
    assert [(e["author"], e["invocation_id"]) for e in session["events"]] == [
        ("user", "e-0"), ("agent", "e-0"), ("user", "e-1"), ("agent", "e-1"),
    ]  # fmt: skip
    assert (session["id"], session["user_id"], session["state"]) == ("s-1", "u", {"k": None})
    assert len({event["id"] for event in session["events"]}) == 4
