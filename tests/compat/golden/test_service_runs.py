"""google-adk's recorded runs of its evaluation service, scored again and run again: the same evidence, the same numbers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from tests.compat.golden.recorded import Json, config_of, golden, metrics_here, metrics_of, scripted

INFERRED, FAILED_INFERENCE = 1, 2


def runs(shared: Path) -> list[Json]:
    """The recorded runs of sets that have cases."""
    found = [
        run for run in golden(shared, "service_runs.json", 16)["vectors"] if run["eval_set_id"] != "empty"
    ]
    assert len(found) == 12
    return found


def eval_set(shared: Path, name: str) -> Path:
    return shared / "golden" / "files" / f"{name}.evalset.json"


def test_recorded_inferences_score_as_they_did(shared: Path) -> None:
    """`proctor.score` over what google-adk's agents did: every metric, overall and turn by turn, in score and status."""
    scored = turns = 0
    for run in runs(shared):
        cases = {
            case.eval_id: case
            for case in proctor.load_eval_set(eval_set(shared, run["eval_set_id"])).eval_cases
        }
        inferred = {
            one["eval_case_id"]: one.get("inferences") for one in run["result"]["ok"]["inference_results"]
        }
        config, unknown = config_of(run["config"])
        criteria = with_compat(config)
        for case in run["result"]["ok"]["eval_case_results"]:
            if inferred[case["eval_id"]] is None:
                assert case["overall_eval_metric_results"] == []
                continue
            actual = [timed(one) for one in inferred[case["eval_id"]]]
            verdicts = proctor.score_sync(actual, cases[case["eval_id"]].conversation, criteria=criteria)
            assert gating(metrics_here(verdicts)) == gating(
                metrics_of(case["overall_eval_metric_results"], unknown)
            ), case["eval_id"]
            for turn, theirs in enumerate(case["eval_metric_result_per_invocation"]):
                ours = gating(metrics_here(verdicts, turn))
                assert ours == gating(metrics_of(theirs["eval_metric_results"], unknown)), (
                    case["eval_id"],
                    turn,
                )
                turns += 1
            scored += 1
    assert (scored, turns) == (60, 64)


def with_compat(config: Json) -> Json:
    criteria = {
        name: {**(value if isinstance(value, dict) else {"threshold": value}), "compat": "adk"}
        for name, value in config["criteria"].items()
    }
    return {**config, "criteria": criteria}


def gating(metrics: dict[str, Any]) -> dict[str, Any]:
    return {name: found for name, found in metrics.items() if found[1] != 4}


def timed(invocation: Json) -> Json:
    """Times were normalised to words in the recording."""
    return dict(json.loads(re.sub(r'"<(time|seconds)>"', "0.5", json.dumps(invocation))))


@pytest.fixture(scope="module")
def repeated(shared: Path, agent: Any) -> list[tuple[Json, RunResult]]:
    """Every recorded run, run here against the same agent."""
    return [(run, run_again(shared, agent, run)) for run in runs(shared)]


def run_again(shared: Path, agent: Any, run: Json) -> RunResult:
    config, _ = config_of(run["config"])
    result: RunResult = proctor.evaluate_sync(
        agent, eval_set(shared, run["eval_set_id"]), config=config, compat="adk", explain="all"
    )
    return result


@pytest.mark.slow
def test_a_run_here_infers_what_a_run_there_did(repeated: list[tuple[Json, RunResult]]) -> None:
    """The invocations derived from the events are equal, field by field, times and random ids aside."""
    compared = 0
    for run, result in repeated:
        for theirs in run["result"]["ok"]["inference_results"]:
            case = result.case(theirs["eval_case_id"])
            ours = trial_of(case)
            assert ours.session_id.startswith("adk-eval-session-") or ours.session_id == theirs["session_id"]
            if theirs["status"] == FAILED_INFERENCE:
                assert ours.failure is not None
                assert (case.outcome, ours.failure.message) == (Outcome.ERROR, theirs["error_message"])
                continue
            assert [plain(one) for one in inferred(case)] == [plain(one) for one in theirs["inferences"]]
            compared += 1
    assert compared == 60


def trial_of(case: CaseResult) -> Any:
    trial = case.trials[0].trial
    assert trial is not None
    return trial


def inferred(case: CaseResult) -> list[Json]:
    trial = trial_of(case)
    return [
        invocation_of(turn, invocation_id="e").model_dump(mode="json", exclude_none=True)
        for turn in trial.turns
    ]


def plain(invocation: Json) -> Json:
    """Return the parts that are the same in every run, without the agent's description; ids numbered by appearance."""
    left_out = {"invocation_id", "creation_timestamp", "duration", "model_duration", "tool_duration"}
    left_out |= {"app_details", "rubrics"}  # ADK copies the case's rubrics onto what it inferred
    kept = json.dumps(
        {name: value for name, value in invocation.items() if name not in left_out}, sort_keys=True
    )
    ids = list(dict.fromkeys(re.findall(r'"id": "(adk-[^"]+)"', kept)))
    for number, one in enumerate(ids):
        kept = kept.replace(f'"{one}"', f'"id-{number}"')
    return dict(json.loads(kept))


def test_a_run_here_has_the_numbers_of_a_run_there(repeated: list[tuple[Json, RunResult]]) -> None:
    """Every metric but the duration, the informational ones too, overall and turn by turn."""
    compared = 0
    for run, result in repeated:
        _, unknown = config_of(run["config"])
        for theirs in run["result"]["ok"]["eval_case_results"]:
            case = result.case(theirs["eval_id"])
            if not theirs["overall_eval_metric_results"]:
                assert {verdict.score for verdict in case.metrics.values()} == {None}
                continue
            assert metrics_here(case.metrics) == metrics_of(theirs["overall_eval_metric_results"], unknown)
            for turn, each in enumerate(theirs["eval_metric_result_per_invocation"]):
                assert metrics_here(case.metrics, turn) == metrics_of(each["eval_metric_results"], unknown)
            compared += 1
    assert compared == 60


def test_a_run_here_has_the_verdicts_of_a_run_there(repeated: list[tuple[Json, RunResult]]) -> None:
    """The one difference: where the agent broke, ADK reports *failed* and drops the reason; here it is an *error*."""
    broken = 0
    for run, result in repeated:
        for theirs in run["result"]["ok"]["eval_case_results"]:
            case = result.case(theirs["eval_id"])
            if theirs["eval_id"] in ("crash", "tool_crash"):
                assert (theirs["final_eval_status"], int(case.status), case.outcome) == (2, 3, Outcome.ERROR)
                broken += 1
            else:
                assert int(case.status) == theirs["final_eval_status"], theirs["eval_id"]
    assert broken == 8


def test_the_state_at_the_end_is_that_of_a_run_there(repeated: list[tuple[Json, RunResult]]) -> None:
    """Return the recorded part; `__…__` keys are google-adk's own."""
    compared = 0
    for run, result in repeated:
        for name, state in run["result"]["ok"]["session_state"].items():
            if state is not None and result.case(name).outcome is not Outcome.ERROR:
                theirs = {key: value for key, value in state.items() if not key.startswith("__")}
                assert trial_of(result.case(name)).final_state == theirs, name
                compared += 1
    assert compared > 40


def test_what_google_adk_lets_pass_stops_a_run_here(shared: Path) -> None:
    """A metric that does not exist, and an empty set: refused before the first agent call."""
    recorded = golden(shared, "service_runs.json", 16)["vectors"]
    unknown = next(run["config"] for run in recorded if "no_such_metric" in json.dumps(run["config"]))
    with pytest.raises(SetupProblems, match="No metric named 'no_such_metric'"):
        proctor.evaluate_sync(scripted(shared), eval_set(shared, "all_pass"), config=unknown)
    with pytest.raises(SetupProblems, match="empty: the eval set has no cases"):
        proctor.evaluate_sync(scripted(shared), {"eval_set_id": "empty", "eval_cases": []})


def test_without_compat_the_wrong_final_state_is_seen(shared: Path, agent: Any) -> None:
    """ADK passes the case that expects `color: red` and ends with `blue`; `compat="adk"` does, too."""
    result = proctor.evaluate_sync(agent, eval_set(shared, "state_and_media"))
    case = result.case("state")
    assert case.outcome is Outcome.FAILED
    assert 'state `color` is "blue", expected "red"' in case.reason
    assert [one.eval_id for one in result.cases if not one.passed] == ["state"]
