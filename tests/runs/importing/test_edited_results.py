"""Results of an edited file (cut, joined, sorted): never better than the original, and marked."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import proctor
from proctor.errors import EvalFileError
from proctor.runs.importing.import_runs import import_run, read_results
from proctor.runs.storage.export import export_run
from proctor.runs.storage.queries import load_run
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import Outcome, worst
from tests.cli.project import in_this_process
from tests.reports.generated_runs import sound_runs, verdicts

RUNS = {"failed": "flawed.py", "passed": "agent.py"}


@pytest.fixture(scope="module")
def files(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with failures, errors and passes, and one in which all is well, two trials each; as JSON and JSON Lines."""
    folder, examples = tmp_path_factory.mktemp("files"), root / "examples" / "travel"
    found = {}
    for name, agent in RUNS.items():
        result = proctor.evaluate_sync(
            str(examples / agent), examples / "bookings.evalset.json", num_runs=2, store="memory:agreeing"
        )
        assert result.outcome == name
        for form in ("json", "jsonl"):
            (found[f"{name}.{form}"],) = export_run(result, form, folder / f"{name}.{form}")
        (found[f"{name}.adk"],) = export_run(result, "adk", folder / f"{name}.evalset_result.json")
    return found


def read(path: Path, text: str) -> list[RunResult]:
    path.write_text(text, encoding="utf-8")
    return read_results(path)


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines(keepends=True)


@pytest.mark.parametrize(
    "name", ["failed.json", "failed.jsonl", "failed.adk", "passed.json", "passed.jsonl", "passed.adk"]
)
def test_unedited_file_gives_the_original_result(files: dict[str, Path], name: str) -> None:
    (result,) = read_results(files[name])
    assert (result.outcome.value, result.failure) == (name.partition(".")[0], None)
    assert not [case.reason for case in result.cases if "contradicts" in case.reason]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(result=sound_runs(), seed=st.randoms(use_true_random=False))
def test_any_run_is_consistent_in_any_order_of_lines(
    tmp_path: Path, result: RunResult, seed: random.Random
) -> None:
    for form in ("json", "jsonl"):
        (path,) = export_run(result, form, tmp_path / f"run.{form}")
        lines = lines_of(path)
        if form == "jsonl":
            seed.shuffle(lines)
        (again,) = read(path, "".join(lines))
        assert verdicts(again) == verdicts(result)
        assert (again.outcome, again.failure) == (result.outcome, result.failure)


# --- lines ---------------------------------------------------------------------------------------------------------------


LOSSES: dict[str, Callable[[list[str], int], list[str]]] = {
    "cut behind a line": lambda lines, at: lines[: at + 1],
    "a line is missing": lambda lines, at: lines[:at] + lines[at + 1 :],
    "only one line is left": lambda lines, at: [lines[at]],
    "a duplicate line": lambda lines, at: [*lines[:at], lines[at], *lines[at:]],
    "a line is repeated at the end": lambda lines, at: [*lines, lines[at]],
    "the beginning is missing": lambda lines, at: lines[at:] if at else lines[1:],
}


@pytest.mark.slow
@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_missing_or_additional_lines_are_an_error_with_a_message(
    files: dict[str, Path], tmp_path: Path, lose: Callable[[list[str], int], list[str]]
) -> None:
    lines = lines_of(files["passed.jsonl"])
    for at in range(len(lines)):
        changed = lose(lines, at)
        if changed == lines:  # cut behind the last
            continue
        (result,) = read(tmp_path / "run.jsonl", "".join(changed))
        assert (result.outcome, result.exit_code) == (Outcome.ERROR, 3), at
        reasons = [case.reason for case in result.cases if "contradicts" in case.reason]
        assert reasons or (
            result.failure and result.failure.message.startswith("the file is not what was written")
        )


def test_filtered_file_gives_the_original_number_of_cases(files: dict[str, Path], tmp_path: Path) -> None:
    good = [
        line for line in lines_of(files["failed.jsonl"]) if json.loads(line)["case"]["outcome"] == "passed"
    ]
    (result,) = read(tmp_path / "run.jsonl", "".join(good))
    assert result.failure is not None
    assert result.failure.message == (
        "the file is not what was written: the run had 8 cases, and here is 1 (it was cut, filtered or joined with "
        "another)"
    )


def test_lines_of_two_runs_are_two_runs_however_they_are_mixed(
    files: dict[str, Path], tmp_path: Path
) -> None:
    lines = [*lines_of(files["passed.jsonl"]), *lines_of(files["failed.jsonl"])]
    random.Random(7).shuffle(lines)
    found = read(tmp_path / "run.jsonl", "".join(lines))
    assert sorted(result.outcome.value for result in found) == ["failed", "passed"]
    half = read(tmp_path / "run.jsonl", "".join(lines[: len(lines) // 2]))
    assert {result.outcome.value for result in half} == {"error"}


def test_lines_of_another_run_do_not_make_up_for_those_that_are_missing(
    files: dict[str, Path], tmp_path: Path
) -> None:
    good, bad = (
        [json.loads(line) for line in lines_of(files[name])] for name in ("passed.jsonl", "failed.jsonl")
    )
    for line in good:
        line |= {"agent": bad[0]["agent"], "run_id": bad[0]["run_id"]}
    mixed = [
        one if one["case"]["outcome"] == "passed" else other for one, other in zip(bad, good, strict=True)
    ]
    (result,) = read(tmp_path / "run.jsonl", "\n".join(map(json.dumps, mixed)))
    assert result.outcome is Outcome.ERROR
    for line in mixed:  # and now they also describe the other run
        line["run"] = bad[0]["run"]
    (result,) = read(tmp_path / "run.jsonl", "\n".join(map(json.dumps, mixed)))
    assert result.outcome is Outcome.ERROR


def test_a_line_without_its_place_in_the_run_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    for key in ("run", "case.number", "case.trials"):
        line = json.loads(lines_of(files["passed.jsonl"])[0])
        inner, _, name = key.rpartition(".")
        del (line[inner] if inner else line)[name]
        with pytest.raises(EvalFileError, match=f":1:1: error: .*`{name}` is missing"):
            read(tmp_path / "run.jsonl", json.dumps(line))


# --- the JSON report -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_report_that_is_cut_anywhere_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    text = files["failed.json"].read_text("utf-8")
    places = random.Random(7).sample(range(len(text.rstrip())), 60)
    for at in [*places, len(text.rstrip()) - 1]:
        with pytest.raises(EvalFileError):
            read(tmp_path / "run.json", text[:at])
    with pytest.raises(EvalFileError):
        read(tmp_path / "run.json", text * 2)


CHANGES: dict[str, Callable[[list[Any]], object]] = {
    "a case is gone": lambda cases: cases.pop(),
    "a duplicate case": lambda cases: cases.append(cases[0]),
    "a case took the place of another": lambda cases: cases.__setitem__(1, cases[0]),
    "a trial is gone": lambda cases: cases[0]["trials"].pop(),
    "a duplicate trial": lambda cases: cases[0]["trials"].append(cases[0]["trials"][0]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_cases_and_trials_that_are_too_few_or_too_many_are_an_error(
    files: dict[str, Path], tmp_path: Path, change: Callable[[list[Any]], object]
) -> None:
    for name in ("passed.json", "failed.json"):
        report = json.loads(files[name].read_text("utf-8"))
        change(report["runs"][0]["cases"])
        (result,) = read(tmp_path / "run.json", json.dumps(report))
        assert result.outcome in {Outcome.ERROR, Outcome.FAILED}
        assert not result.passed


# --- edited --------------------------------------------------------------------------------------------------------------


def flips(value: Any) -> Iterator[None]:
    """Change one outcome at a time to passed, or one failure to none, and put it back."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inside):
        if key == "outcome" and item != "passed":
            value[key] = "passed"
            yield
            value[key] = "skipped"
            yield
            value[key] = item
        elif key == "proctor_outcome" and item != "passed":
            value[key] = "passed"
            yield
            value[key] = item
        elif key in {"final_eval_status", "eval_status"} and item in {2, 3}:
            value[key] = 1
            yield
            value[key] = item
        elif key == "failure" and item is not None:
            value[key] = None
            yield
            value[key] = item
        elif key not in {"evidence", "session_details", "actual_invocation"}:
            yield from flips(item)


def not_better(now: RunResult, was: RunResult) -> bool:
    pairs = zip(was.cases, now.cases, strict=True)
    cases = all(
        worst([one.outcome, other.outcome]) is other.outcome or other.outcome is one.outcome
        for one, other in pairs
    )
    trials = all(
        one.outcome is not Outcome.PASSED or other.outcome is Outcome.PASSED
        for was_case, now_case in zip(was.cases, now.cases, strict=True)
        for other, one in zip(was_case.trials, now_case.trials, strict=True)
    )
    return trials and cases and now.outcome in {was.outcome, Outcome.ERROR}


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # each field of a whole report is changed
@pytest.mark.parametrize("form", ["json", "jsonl", "adk"])
def test_no_single_edit_makes_anything_better(form: str, files: dict[str, Path], tmp_path: Path) -> None:
    path = files[f"failed.{form}"]
    (was,) = read_results(path)
    document = (
        [json.loads(line) for line in lines_of(path)]
        if form == "jsonl"
        else json.loads(path.read_text("utf-8"))
    )
    count = 0
    for count, _ in enumerate(flips(document), 1):
        text = "\n".join(map(json.dumps, document)) if form == "jsonl" else json.dumps(document)
        (now,) = read(tmp_path / f"run.{form}", text)
        assert not_better(now, was), count
        assert not now.passed
    assert count > 100


def test_case_that_contradicts_its_scores_is_reported(files: dict[str, Path], tmp_path: Path) -> None:
    report = json.loads(files["failed.json"].read_text("utf-8"))
    (run,) = report["runs"]
    case = next(case for case in run["cases"] if case["outcome"] == "failed")
    case["outcome"] = "passed"
    run["counts"] = {"error": 1, "failed": 5, "passed": 2}
    (result,) = read(tmp_path / "run.json", json.dumps(report))
    found = result.case(case["eval_id"])
    assert found.outcome is Outcome.FAILED
    assert found.reason.startswith(
        "the file contradicts itself: it is recorded as passed, and its scores make it failed; its own reason: "
    )


# --- in a store ----------------------------------------------------------------------------------------------------------


def test_a_file_that_was_cut_is_a_run_in_error_that_names_it(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cut.jsonl").write_text("".join(lines_of(files["passed.jsonl"])[:6]), encoding="utf-8")
    done = in_this_process("import", "cut.jsonl")
    assert done.stdout.rstrip().endswith("error: incomplete")
    assert "the run had 8 cases, and here are 3" in done.stderr
    run = load_run(store=None)
    assert (run.exit_code, run.failure is not None) == (3, True)
    assert "ERROR" in in_this_process("show").stdout or "error" in in_this_process("show").stdout
    (listed,) = json.loads(in_this_process("runs", "--json").stdout)["runs"]
    assert listed["outcome"] == "error"


@pytest.mark.slow
def test_what_was_tried_again_goes_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export has every attempt at a trial, and an import keeps them all."""
    monkeypatch.chdir(tmp_path)
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}]}  # fmt: skip
    cases = {"eval_set_id": "s", "eval_cases": [case]}

    def agent(text: str) -> str:
        if len(list(tmp_path.glob("asked*"))) < 2:
            (tmp_path / f"asked{len(list(tmp_path.glob('asked*')))}").touch()
            raise ConnectionError("no route")
        return text

    config = {"criteria": {"response_match_score": 0.5}}
    result = proctor.evaluate_sync(agent, cases, config=config, store="runs.db")
    for _ in range(2):
        result = proctor.resume_sync(
            result.run_id, agent=agent, eval_sets=cases, retry_errors=True, store="runs.db"
        )
    assert result.passed
    for form in ("json", "jsonl"):
        (path,) = export_run(result, form, tmp_path / f"run.{form}")
        again = load_run(import_run(path, f"{form}.db"), f"{form}.db")
        (trial,) = again.cases[0].trials
        assert (again.passed, trial.attempt) == (True, 2)
        assert [(one.attempt, one.outcome, one.failure and one.failure.message) for one in trial.earlier] == [
            (0, "error", "no route"),
            (1, "error", "no route"),
        ]
        shown = in_this_process("show", "latest", "a", "--json", "--store", f"{form}.db").stdout
        assert len(json.loads(shown)["earlier_attempts"]) == 2
