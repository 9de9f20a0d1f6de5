"""`bool()` of every result is its verdict: `assert result` is never green by accident."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import proctor
import proctor.schema
from proctor.compat import adk_rs, adk_rs_metrics
from proctor.compat.adk.evaluation.evaluator import EvaluationResult, PerInvocationResult
from proctor.schema.analysis.comparison import (
    CaseChange,
    CaseEvidence,
    ChangedCase,
    InGeneral,
    Measured,
    Trials,
)
from proctor.schema.analysis.history import (
    CaseHistory,
    CasePoint,
    Course,
    HistoryRun,
    MetricPoint,
    RunHistory,
)
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalCaseResult, EvalMetricResult, EvalSetResult, EvalStatus
from proctor.schema.results.manifest import RunRecord, RunState, RunSummary
from proctor.schema.results.run_result import (
    CaseResult,
    InvocationVerdict,
    MetricVerdict,
    RunResult,
    RunResults,
    TrialResult,
)
from proctor.schema.results.score import MetricScore, MetricVerdicts, Outcome, Score

NEITHER = frozenset({Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL})


def case(outcome: Outcome) -> CaseResult:
    return CaseResult("set", "case", outcome)


def run(outcome: Outcome) -> RunResult:
    return RunResult("agent", [case(outcome)])


def history_run(outcome: Outcome) -> HistoryRun:
    return HistoryRun("id", "i", 0.0, "agent", None, None, outcome, 1, 1)


def case_point(outcome: Outcome) -> CasePoint:
    return CasePoint(history_run(outcome), outcome, [outcome], "", 0)


def record(outcome: Outcome) -> RunRecord:
    return RunRecord("id", 0.0, "agent", (), 1, 1, RunState.FINISHED, RunSummary(outcome=outcome))


def eval_case_result(status: EvalStatus) -> EvalCaseResult:
    return EvalCaseResult(
        final_eval_status=status,
        overall_eval_metric_results=[],
        eval_metric_result_per_invocation=[],
        session_id="s",
    )


INVOCATION = Invocation(user_content=Content())
BY_OUTCOME: dict[str, Callable[[Outcome], object]] = {
    "Outcome": lambda outcome: outcome,
    "MetricVerdict": lambda outcome: MetricVerdict("metric", outcome),
    "InvocationVerdict": lambda outcome: InvocationVerdict(1.0, outcome),
    "TrialResult": lambda outcome: TrialResult(0, outcome, evidence=None),
    "MetricPoint": lambda outcome: MetricPoint(1.0, 0.5, outcome),
    "CasePoint": case_point,
    "CaseHistory": lambda outcome: CaseHistory("set", "case", Course.STEADY, [case_point(outcome)]),
    "CaseResult": case,
    "RunResult": run,
    "RunResults": lambda outcome: RunResults([run(Outcome.PASSED), run(outcome)]),
    "HistoryRun": history_run,
    "RunSummary": lambda outcome: RunSummary(outcome=outcome),
    "RunRecord": record,
    "EvalStatus": lambda outcome: outcome.status,
    "EvalMetricResult": lambda outcome: EvalMetricResult(metric_name="metric", eval_status=outcome.status),
    "EvalCaseResult": lambda outcome: eval_case_result(outcome.status),
    "EvalSetResult": lambda outcome: EvalSetResult(
        eval_set_result_id="r", eval_set_id="s", eval_case_results=[eval_case_result(outcome.status)]
    ),
    "EvaluationResult": lambda outcome: EvaluationResult(overall_eval_status=outcome.status),
    "PerInvocationResult": lambda outcome: PerInvocationResult(
        actual_invocation=INVOCATION, eval_status=outcome.status
    ),
    "EvalReport of adk-rs": lambda outcome: adk_rs.EvalReport([], run(outcome)),
}


@pytest.mark.parametrize("outcome", Outcome, ids=lambda outcome: outcome.value)
@pytest.mark.parametrize("make", BY_OUTCOME.values(), ids=BY_OUTCOME)
def test_truth_is_the_verdict(make: Callable[[Outcome], object], outcome: Outcome) -> None:
    result = make(outcome)
    try:
        truth = bool(result)
    except TypeError:
        assert outcome in NEITHER
        return
    assert truth is (outcome is Outcome.PASSED)


@pytest.mark.parametrize("outcome", sorted(NEITHER))
@pytest.mark.parametrize("name", ["Outcome", "MetricVerdict", "InvocationVerdict", "MetricPoint"])
def test_truth_of_what_is_neither_a_pass_nor_a_failure_is_refused(name: str, outcome: Outcome) -> None:
    with pytest.raises(TypeError, match="neither a pass nor a failure"):
        bool(BY_OUTCOME[name](outcome))


VERDICTS: dict[str, tuple[list[Outcome], bool]] = {
    "none": ([], False),
    "one that passed": ([Outcome.PASSED], True),
    "one that failed": ([Outcome.FAILED], False),
    "one of two": ([Outcome.PASSED, Outcome.FAILED], False),
    "an error": ([Outcome.PASSED, Outcome.ERROR], False),
    "one that does not apply": ([Outcome.PASSED, Outcome.NOT_APPLICABLE], True),
    "none that applies": ([Outcome.NOT_APPLICABLE, Outcome.INFORMATIONAL], False),
}


@pytest.mark.parametrize(("outcomes", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_truth_of_several_metrics(outcomes: list[Outcome], expected: bool) -> None:
    verdicts = {str(number): MetricVerdict(str(number), one) for number, one in enumerate(outcomes)}
    assert bool(MetricVerdicts(verdicts)) is expected


def test_truth_of_no_runs_is_not_a_pass() -> None:
    assert not RunResults()
    assert not EvalSetResult(eval_set_result_id="r", eval_set_id="s")


@pytest.mark.parametrize("change", proctor.Change, ids=lambda change: change.value)
def test_truth_of_a_comparison_is_its_exit_code(change: proctor.Change) -> None:
    assert bool(change) is (change.exit_code == 0)


WITHOUT_VERDICT: dict[str, object] = {
    "Score": Score(1.0),
    "MetricScore": MetricScore(1.0),
    "CaseChange": CaseChange.NOW_PASSES,
    "Course": Course.STEADY,
    "ChangedCase": ChangedCase("set", "case", CaseChange.NOW_PASSES, Trials(1, 0), Trials(0, 1)),
    "CaseEvidence": CaseEvidence("set/case", 0.1, 0.2),
    "InGeneral": InGeneral(0.0, -0.1, 0.1, 0.95, 1.0, -0.1),
    "Measured": Measured("passed", 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1),
    "RunHistory": RunHistory([], 0, []),
}


@pytest.mark.parametrize("result", WITHOUT_VERDICT.values(), ids=WITHOUT_VERDICT)
def test_truth_of_values_without_a_verdict_is_refused(result: object) -> None:
    with pytest.raises(TypeError, match="has no verdict"):
        bool(result)


# --- no result is forgotten ------------------------------------------------------------------------------------------

RETURN_RESULTS = (
    "evaluate evaluate_sync evaluate_matrix score score_sync rescore rescore_sync resume resume_sync load_run list_runs"
    " compare compare_sync history history_sync score_trace score_trace_sync"
).split()
FACTS = {
    "Failure": "an agent's, metric's or judge's failure: it is there, or it is None",
    "SetSummary": "what was run",
    "TrialRule": "how trials decide",
    "Trial": "evidence",
    "Spent": "what models took",
    "JudgedBy": "who decided",
    "ComparedRun": "what was compared",
    "Trials": "how many passed",
    "RunDifference": "a difference of the set-up",
    "Look": "statistics",
    "VerdictChange": "between which runs something changed",
    "RunState": "whether a run is at work",
    "Explanation": "a reason",
    "Mean": "statistics",
    "Repeats": "statistics",
}
"""Classes within results that report no verdict, and cannot be mistaken for one."""


def _classes() -> dict[str, type]:
    """Return the classes of `proctor.schema` by name."""
    folder = Path(proctor.schema.__file__).parent
    modules = [
        import_module(f"proctor.schema.{file.parent.name}.{file.stem}") for file in folder.glob("*/[a-z]*.py")
    ]
    return {name: one for module in modules for name, one in vars(module).items() if inspect.isclass(one)}


def _annotations(one: type) -> Iterator[object]:
    for base in one.__mro__:
        yield from vars(base).get("__annotations__", {}).values()
        for value in vars(base).values():
            if isinstance(value, property):
                yield getattr(value.fget, "__annotations__", {}).get("return")


def _named(annotation: object, classes: dict[str, type]) -> list[type]:
    return [classes[name] for name in re.findall(r"\w+", str(annotation)) if name in classes]


def reachable() -> set[type]:
    """Return Proctor's classes of which the results of public functions are made; evidence is not looked into."""
    classes, found = _classes(), set[type]()
    functions = [getattr(proctor, name) for name in RETURN_RESULTS]
    waiting = [one for each in functions for one in _named(each.__annotations__["return"], classes)]
    while waiting:
        one = waiting.pop()
        if one in found or not one.__module__.startswith("proctor.") or one.__name__ in FACTS:
            continue
        found.add(one)
        waiting += [inner for annotation in _annotations(one) for inner in _named(annotation, classes)]
    return found


def test_every_result_defines_its_truth_value() -> None:
    assert {RunResult, CaseResult, MetricVerdict, TrialResult, MetricScore, Score, Outcome} <= reachable()
    by_default = {
        one.__name__
        for one in reachable()
        if not any("__bool__" in vars(base) for base in one.__mro__ if base.__module__.startswith("proctor."))
    }
    assert by_default == set()


def test_the_public_outcome_of_adk_rs_is_its_verdict() -> None:
    statuses = adk_rs_metrics.EvalStatus
    assert [bool(one) for one in (statuses.PASSED, statuses.FAILED, statuses.ERROR)] == [True, False, False]
    assert not adk_rs_metrics.EvalScore(0.0, statuses.FAILED)
    assert not adk_rs.EvalResult("set", "case", {}, statuses.ERROR)
