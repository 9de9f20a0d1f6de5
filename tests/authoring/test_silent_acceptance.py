"""What was accepted in silence: a metric named as a built-in one, contradictory and repeated results, weak rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS, _entry_points
from proctor.errors import EvalFileError, SetupError, SetupProblems

TURN = {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}
SET = {"eval_set_id": "set", "eval_cases": [{"eval_id": "one", "conversation": [TURN]}]}
METRIC = "response_match_score"
CONFIG: dict[str, Any] = {"criteria": {METRIC: 0.8}}


def good(_: str) -> str:
    return "hello"


def bad(_: str) -> str:
    return "no idea"


def always(actual: object, expected: object) -> float:
    return 1.0


# --- names of metrics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_criteria", [True, False], ids=["used", "not used"])
def test_a_custom_metric_of_a_config_cannot_take_a_built_in_name(in_criteria: bool) -> None:
    code = {"code_config": {"name": f"{__name__}.always"}}
    config = {"criteria": {METRIC if in_criteria else "safety_v1": 0.8}, "custom_metrics": {METRIC: code}}
    with pytest.raises(SetupProblems, match=f"custom_metrics: '{METRIC}' is the name of a built-in metric"):
        proctor.evaluate_sync(bad, SET, config=config)


def test_the_registry_refuses_a_built_in_name() -> None:
    with pytest.raises(SetupError, match="is the name of a built-in metric"):
        METRICS.add(METRIC, always)
    with pytest.raises(SetupError, match="is the name of a built-in metric"):
        proctor.metric(METRIC)(always)


def test_an_entry_point_cannot_take_a_built_in_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "mine-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[proctor.metrics]\n{METRIC} = {__name__}:always\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _entry_points.cache_clear()
    try:
        with pytest.raises(SetupProblems, match="package 'mine' registers a metric 'response_match_score'"):
            proctor.evaluate_sync(bad, SET, config=CONFIG)
    finally:
        _entry_points.cache_clear()


# --- imports ---------------------------------------------------------------------------------------------------------


def adk_result(score: float, status: int) -> dict[str, Any]:
    metric = {"metric_name": METRIC, "threshold": 0.8, "score": score, "eval_status": status}
    case = {
        "eval_set_id": "set",
        "eval_id": "one",
        "final_eval_status": status,
        "overall_eval_metric_results": [metric],
        "eval_metric_result_per_invocation": [],
        "session_id": "s",
    }
    return {
        "eval_set_result_id": "r",
        "eval_set_id": "set",
        "eval_case_results": [case],
        "creation_timestamp": 1.0,
    }


def write_result(folder: Path, name: str = "a", **values: Any) -> Path:
    path = folder / f"{name}.evalset_result.json"
    path.write_text(json.dumps(adk_result(**{"score": 0.1, "status": 1, **values})))
    return path


def test_passed_below_the_threshold_is_imported_as_failed_with_a_warning(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite3"
    run = proctor.load_run(proctor.import_run(write_result(tmp_path), store), store=store)
    case = run.cases[0]
    outcomes = [run.outcome, case.outcome, case.metrics[METRIC].outcome, case.trials[0].outcome]
    assert outcomes == [proctor.Outcome.FAILED] * 4
    assert [one for one in run.warnings if "score 0.1 is below its threshold 0.8: imported as failed" in one]


@pytest.mark.parametrize(
    ("score", "status", "outcome"),
    [(0.8, 1, proctor.Outcome.PASSED), (0.1, 2, proctor.Outcome.FAILED), (0.9, 2, proctor.Outcome.FAILED)],
)
def test_other_verdicts_are_imported_as_recorded(
    tmp_path: Path, score: float, status: int, outcome: proctor.Outcome
) -> None:
    store = tmp_path / "runs.sqlite3"
    path = write_result(tmp_path, score=score, status=status)
    run = proctor.load_run(proctor.import_run(path, store), store=store)
    assert (run.outcome, run.warnings) == (outcome, [])


@pytest.mark.parametrize("name", ["a", "copy"])
def test_the_same_file_is_imported_once(tmp_path: Path, name: str) -> None:
    store = tmp_path / "runs.sqlite3"
    run_id = proctor.import_run(write_result(tmp_path), store)
    with pytest.raises(EvalFileError, match=f"imported before .run {run_id}."):
        proctor.import_runs(write_result(tmp_path, name), store)
    assert len(proctor.list_runs(store=store)) == 1


def test_two_copies_in_a_folder_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    write_result(tmp_path), write_result(tmp_path, "copy")
    store = tmp_path / "runs.sqlite3"
    with pytest.raises(EvalFileError, match="imported before"):
        proctor.import_runs(tmp_path, store)
    assert proctor.list_runs(store=store) == []


# --- baselines and rates ---------------------------------------------------------------------------------------------


def test_a_baseline_that_did_not_pass_is_warned_of(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    store = tmp_path / "runs.sqlite3"
    assert proctor.evaluate_sync(good, SET, config=CONFIG, store=store)
    proctor.set_baseline("good", store=store)
    assert not recwarn.list
    assert not proctor.evaluate_sync(bad, SET, config=CONFIG, store=store)
    with pytest.warns(UserWarning, match="did not pass .1 failed of 1 cases."):
        proctor.set_baseline("bad", store=store)


RATES: dict[str, tuple[dict[str, Any], bool]] = {
    "far below one trial": ({"num_runs": 5, "min_pass_rate": 1e-9}, True),
    "below one trial": ({"num_runs": 5, "min_pass_rate": 0.19}, True),
    "one trial": ({"num_runs": 5, "min_pass_rate": 0.2}, False),
    "four of five": ({"num_runs": 5, "min_pass_rate": 0.8}, False),
    "a usual rate of a single trial": ({"num_runs": 1, "min_pass_rate": 0.8}, False),
    "next to nothing of a single trial": ({"num_runs": 1, "min_pass_rate": 1e-9}, True),
    "three in a row": ({"num_runs": 5, "pass_k": 3, "min_pass_rate": 0.1}, False),
}


@pytest.mark.parametrize(("trials", "warned"), RATES.values(), ids=RATES)
def test_a_rate_below_one_trial_is_warned_of(trials: dict[str, Any], warned: bool) -> None:
    run = proctor.evaluate_sync(good, SET, config={**CONFIG, "trials": trials})
    assert any("is below one of" in warning for warning in run.warnings) is warned
