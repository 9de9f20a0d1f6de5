"""Result files of every kind, read as runs: what was recorded, and never better than it was."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from proctor.errors import EvalFileError
from proctor.files.eval_sets.load import load_results
from proctor.files.results.read import read_runs
from proctor.reports.base import load_report
from proctor.schema.format.result import EvalSetResult, EvalStatus
from proctor.schema.results.run_result import Outcome, RunResult
from tests.reports.generated_runs import broken, evidence, runs, verdicts
from tests.reports.sample_runs import good, run, sketch


def written(form: str, *results: RunResult) -> str:
    out = io.StringIO()
    load_report(form).write(list(results), out)
    return out.getvalue()


def read_back(form: str, result: RunResult, folder: Path) -> RunResult:
    path = folder / f"run.{form}"
    path.write_text(written(form, result), encoding="utf-8")
    (recorded,) = read_runs(path)
    assert recorded.form == form
    return recorded.result


# --- our own forms ----------------------------------------------------------------------------------------------------


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # many generated runs
@pytest.mark.parametrize("form", ["json", "jsonl"])
@settings(max_examples=60)
@given(runs())
def test_what_is_exported_reads_back_the_same(
    form: str, tmp_path_factory: pytest.TempPathFactory, result: RunResult
) -> None:
    again = read_back(form, result, tmp_path_factory.mktemp("run"))
    assert verdicts(again) == verdicts(result)
    assert evidence(again) == evidence(result)
    assert broken(again) == broken(result)
    assert (again.agent, again.run_id, again.num_runs) == (result.agent, result.run_id, result.num_runs)


def test_json_report_keeps_the_notes_about_the_run(tmp_path: Path) -> None:
    result = sketch(2)
    result.warnings, result.interrupted, result.started_at = ["careful"], True, 1_700_000_000.5
    again = read_back("json", result, tmp_path)
    for name in ("agent", "warnings", "interrupted", "started_at", "duration", "num_runs", "sets", "counts"):
        assert getattr(again, name) == getattr(result, name), name


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_several_agents_in_one_file_are_several_runs(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{form}"
    both = [run(good("a"), good("b"), agent="one"), run(good("a"), agent="two")]
    path.write_text(written(form, *both), encoding="utf-8")
    found = [recorded.result for recorded in read_runs(path)]
    assert [(each.agent, len(each.cases)) for each in found] == [("one", 2), ("two", 1)]


def test_json_lines_are_read_a_case_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(
        written("jsonl", run(good("a", 2), *(good(f"b{n}", 2) for n in range(9)))), encoding="utf-8"
    )
    (recorded,) = read_runs(path)
    cases = recorded.cases()
    assert next(cases).result.eval_id == "a"
    path.write_text("", encoding="utf-8")
    with pytest.raises(EvalFileError, match="this line is not JSON"):  # "b" has not been read yet
        next(cases)


def test_lines_in_another_order_of_keys_and_with_unknown_ones_read_too(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    lines = written("jsonl", sketch(1)).splitlines()
    shuffled = [json.dumps({"later": 1, **dict(reversed(json.loads(line).items()))}) for line in lines]
    path.write_text("\n".join(["", *shuffled, ""]), encoding="utf-8")
    (recorded,) = read_runs(path)
    assert recorded.result.counts == sketch(1).counts


def test_two_sets_of_one_id_keep_their_cases_apart(tmp_path: Path) -> None:
    first, second = good("a"), good("a")
    second.place = "copy.evalset.json:12"
    assert len(read_back("jsonl", run(first, second), tmp_path).cases) == 2


def test_duplicate_trial_is_read_once_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text(written("jsonl", run(good("a", 2))) * 2, encoding="utf-8")
    (recorded,) = read_runs(path)
    (case,) = recorded.cases()
    assert [trial.number for trial in case.result.trials] == [0, 1]
    assert case.contradiction == "one of its trials appears twice (lines 1, 3, 2, 4)"


def test_lines_may_be_in_any_order(tmp_path: Path) -> None:
    path, result = tmp_path / "sorted.jsonl", run(good("a", 3), good("b"), good("c", 2))
    path.write_text(
        "".join(sorted(written("jsonl", result).splitlines(keepends=True))[::-1]), encoding="utf-8"
    )
    (recorded,) = read_runs(path)
    assert verdicts(recorded.result) == verdicts(read_back("jsonl", result, tmp_path))


# --- ADK's -------------------------------------------------------------------------------------------------------------


def corpus(shared: Path) -> list[Path]:
    return sorted((shared / "corpus").rglob("*.evalset_result.json"))


@pytest.mark.slow
def test_every_result_file_that_people_published_is_a_run(shared: Path) -> None:
    files = corpus(shared)
    assert len(files) == 16
    for file in files:
        (recorded,) = read_runs(file)
        theirs, ours = load_results(file), recorded.result
        assert (ours.sets[0].eval_set_id, len(ours.cases)) == (
            theirs.eval_set_id,
            len(theirs.eval_case_results),
        )
        for case, entry in zip(ours.cases, theirs.eval_case_results, strict=True):
            _same_case(case, entry)


def _same_case(case: Any, entry: Any) -> None:
    (trial,) = case.trials
    for metric in entry.overall_eval_metric_results:
        verdict = case.metrics[metric.metric_name]
        assert verdict.score == metric.score
        assert verdict.status is metric.eval_status
        turns = [
            one.score
            for turn in entry.eval_metric_result_per_invocation
            for one in turn.eval_metric_results
            if one.metric_name == metric.metric_name
        ]
        assert [each.score for each in verdict.per_invocation] == turns
    actual = [turn.actual_invocation for turn in entry.eval_metric_result_per_invocation]
    assert len(trial.trial.turns) == len(actual)
    for derived, invocation in zip(trial.trial.invocations, actual, strict=True):
        assert derived.user_content == invocation.user_content
        assert derived.final_response == invocation.final_response
        assert derived.tool_calls == invocation.tool_calls
        assert derived.tool_responses == invocation.tool_responses
    assert case.status is entry.final_eval_status or case.outcome is Outcome.ERROR


@pytest.mark.slow
def test_what_google_adk_called_passed_without_a_metric_is_an_error_here(shared: Path) -> None:
    softer = []
    for file in corpus(shared):
        for entry, case in zip(
            load_results(file).eval_case_results, read_runs(file)[0].result.cases, strict=True
        ):
            if entry.final_eval_status is EvalStatus.PASSED and not case.passed:
                softer.append(case)
    assert [case.outcome for case in softer] == [Outcome.ERROR] * 2
    assert {case.reason for case in softer} == {
        "safety_v1: recorded as NOT_EVALUATED; google-adk counted the case as passed without it"
    }


def test_results_that_google_adk_wrote_for_its_recorded_runs(shared: Path) -> None:
    found = {
        file.name: read_runs(file)[0].result
        for file in sorted((shared / "golden" / "files").glob("*.evalset_result.json"))
    }
    counts = {name: {str(k): n for k, n in each.counts.items()} for name, each in found.items()}
    assert counts == {
        "agent_evaluator_two_runs.evalset_result.json": {"passed": 1, "failed": 1},
        "all_pass.default.evalset_result.json": {"passed": 2},
        "mixed.default.evalset_result.json": {"passed": 3, "failed": 5},
        "state_and_media.default.evalset_result.json": {"passed": 7},
    }
    twice = found["agent_evaluator_two_runs.evalset_result.json"]
    assert (twice.num_runs, [trial.number for trial in twice.cases[0].trials]) == (2, [0, 1])
    assert twice.cases[1].reason.startswith("recorded as FAILED without a failed metric")
    state = found["state_and_media.default.evalset_result.json"]
    turns = [turn for trial in evidence(state) if trial for turn in trial.turns]
    assert any(event.state_delta for turn in turns for event in turn.events)


ENTRY: dict[str, Any] = {
    "eval_set_id": "s", "eval_id": "e", "final_eval_status": 1, "overall_eval_metric_results": [],
    "eval_metric_result_per_invocation": [], "session_id": "x",
}  # fmt: skip


def adk_file(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "r.evalset_result.json"
    document = {"eval_set_result_id": "app_s_1.5", "eval_set_id": "s", "eval_case_results": list(entries)}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def metric(status: int, score: float | None = 1.0) -> dict[str, Any]:
    return {"metric_name": "m", "threshold": 0.5, "score": score, "eval_status": status}


NEVER_BETTER: dict[str, tuple[dict[str, Any], Outcome]] = {
    "passed": ({"overall_eval_metric_results": [metric(1)]}, Outcome.PASSED),
    "failed": ({"final_eval_status": 2, "overall_eval_metric_results": [metric(2, 0.1)]}, Outcome.FAILED),
    "not evaluated": ({"final_eval_status": 3, "overall_eval_metric_results": [metric(3, None)]}, Outcome.ERROR),
    "passed without a metric": ({"overall_eval_metric_results": [metric(3, None)]}, Outcome.ERROR),
    "failed with a score that is good enough": (
        {"final_eval_status": 2, "overall_eval_metric_results": [metric(2, 0.9)]},
        Outcome.FAILED,
    ),
    "our own outcome": ({"proctor_outcome": "passed", "proctor": {"trial": 0, "case": {"outcome": "passed"}}}, Outcome.PASSED),
    "our own outcome, edited": (
        {"final_eval_status": 2, "proctor_outcome": "passed", "proctor": {"case": {"outcome": "passed"}}},
        Outcome.FAILED,
    ),
    "our own outcome, nonsense": ({"final_eval_status": 2, "proctor_outcome": ["x"], "proctor": 7}, Outcome.FAILED),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "outcome"), NEVER_BETTER.values(), ids=NEVER_BETTER)
def test_a_recorded_verdict_stays_and_never_gets_better(
    fields: dict[str, Any], outcome: Outcome, tmp_path: Path
) -> None:
    (recorded,) = read_runs(adk_file(tmp_path, ENTRY | fields))
    (case,) = recorded.result.cases
    assert (case.outcome, case.trials[0].outcome) == (outcome, outcome)
    assert recorded.result.agent == "app"


def test_repeats_in_one_file_are_trials_of_one_case(tmp_path: Path) -> None:
    entries = [ENTRY | {"overall_eval_metric_results": [metric(status, score)], "final_eval_status": status}
               for status, score in ((1, 1.0), (2, 0.0), (1, 0.5))]  # fmt: skip
    (recorded,) = read_runs(adk_file(tmp_path, *entries))
    (case,) = recorded.result.cases
    assert [trial.outcome.value for trial in case.trials] == ["passed", "failed", "passed"]
    assert (case.outcome, case.metrics["m"].score) == (Outcome.FAILED, 0.5)


def test_a_file_of_our_own_reads_in_every_generation_of_the_format(tmp_path: Path) -> None:
    text = written("adk", run(good("a", 2)))
    plain = read_back("adk", run(good("a", 2)), tmp_path)
    path = tmp_path / "double.json"
    path.write_text(json.dumps(text), encoding="utf-8")
    assert verdicts(read_runs(path)[0].result) == verdicts(plain)
    assert EvalSetResult.model_validate_json(text).eval_case_results[0].eval_id == "a"


# --- files that are not a result -------------------------------------------------------------------------------------------------

GOOD_LINE = json.loads(written("jsonl", run(good("a"))))
BAD: dict[str, tuple[str, str, str]] = {
    "an eval set": ("a.json", '{"eval_set_id": "s", "eval_cases": []}', "the file contains no results"),
    "a list": ("a.json", "[1, 2]", "the file contains no results"),
    "no JSON": ("a.json", "hello", "1:1: error: "),
    "empty": ("a.json", "", "1:1: error: "),
    "empty lines": ("a.jsonl", "\n\n", "the file contains no trials"),
    "a newer report": ("a.json", '{"proctor_report": 2, "runs": []}', "unknown version of a report: expected 1, got 2"),
    "a report without runs": ("a.json", '{"proctor_report": 1}', "`runs` is missing"),
    "an outcome that is none": (
        "a.jsonl", json.dumps(GOOD_LINE) + "\n" + json.dumps(GOOD_LINE | {"outcome": "green"}), ":2:1: error: outcome: ",
    ),
    "a line that is not JSON": ("a.jsonl", json.dumps(GOOD_LINE) + "\n{\n", ":2:1: error: this line is not JSON"),
    "a trial without a verdict": ("a.jsonl", json.dumps(GOOD_LINE | {"case": None}), ":1:1: error: case: "),
    "a score that is text": (
        "a.jsonl", json.dumps(GOOD_LINE | {"scores": {"m": {"score": "good"}}}), "scores.m.score: expected a number",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "message"), BAD.values(), ids=BAD)
def test_file_that_is_not_a_result_is_reported_with_its_location(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EvalFileError, match=re.escape(message)):
        _ = [each.result for each in read_runs(path)]


def test_error_about_a_too_large_file_suggests_another_form(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(b'{"proctor_report": 1,\n')
        file.truncate(129 << 20)
    with pytest.raises(
        EvalFileError,
        match=r"has 129 MiB.*limit for results in this form is 128 MiB.*JSON Lines may have any size",
    ):
        read_runs(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvalFileError, match="no such file"):
        read_runs(tmp_path / "nowhere.json")


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("form", ["json", "jsonl", "adk"])
def test_file_cut_at_any_byte_is_refused_or_read_in_whole_lines(form: str, tmp_path: Path) -> None:
    text = written(form, run(good("a", 2), good("b", 2)))
    path = tmp_path / f"cut.{form}"
    for cut in range(1, len(text) - 1, 97):
        path.write_text(text[:cut], encoding="utf-8")
        try:
            found = [each.result for each in read_runs(path)]
        except EvalFileError:
            continue
        assert form == "jsonl"
        assert text[:cut].endswith(("\n", "}"))
        assert sum(len(case.trials) for each in found for case in each.cases) == text[:cut].count(
            '"notes": []}\n'
        ) + (not text[:cut].endswith("\n"))
