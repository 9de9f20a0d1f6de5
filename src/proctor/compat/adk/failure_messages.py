"""What a test reads when an evaluation did not pass: google-adk's lines, with the reason and the evidence of each case."""

from __future__ import annotations

import io
from collections.abc import Iterator

from proctor.common.safe_text import clean
from proctor.reports.base import ReportOptions
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.schema.results.run_result import CaseResult, MetricVerdict, RunResult
from proctor.schema.results.score import Outcome

HEADING = "Following are all the test failures."
MOST_EVIDENCE = 50
"""Cases whose evidence is in the message."""
_WIDTH = 100


class FailedEvaluationError(AssertionError):
    """An evaluation did not pass. `result` is the whole of it."""

    def __init__(self, message: str, result: RunResult) -> None:
        super().__init__(message)
        self.result = result


def require_pass(result: RunResult, agent: str) -> None:
    """Raise what a failing test raises, unless everything passed.

    Raises:
        FailedEvaluationError: with a line for each metric that failed or could not be computed, and each broken case.
    """
    __tracebackhide__ = True
    if not result.passed:
        lines = [clean(line) for line in _lines(result, agent)]
        lines = lines or [f"{agent}: {result.outcome.value}: nothing passed, because nothing was scored."]
        raise FailedEvaluationError("\n".join([HEADING, *lines]), result)


def _lines(result: RunResult, agent: str) -> Iterator[str]:
    failed = [case for case in result.cases if not case.passed]
    for number, case in enumerate(failed):
        yield from _of_case(case, agent)
        yield from _evidence_lines(case) if number < MOST_EVIDENCE else ()
    if len(failed) > MOST_EVIDENCE:
        yield f"  … the evidence of {len(failed) - MOST_EVIDENCE} more cases is in `result` of this exception"
    for one in result.sets:
        if one.failure is not None:
            yield f"{one.eval_set_id} for {agent} was not evaluated."
            yield f"  {one.failure.cause}"
    if result.failure is not None:
        yield f"The run for {agent} could not go on."
        yield f"  {result.failure.cause}"


def _of_case(case: CaseResult, agent: str) -> Iterator[str]:
    at = f" ({case.place})" if case.place else ""
    reasons = (_of_metric(metric, agent) for metric in case.metrics.values())
    stands_in_the_way = [one for one in reasons if one is not None]
    for line, reason in stands_in_the_way:
        yield line
        yield f"  {case.eval_id}{at}{': ' if reason else ''}{reason}"
    broken = [trial.failure for trial in case.trials if trial.failure is not None]
    if broken:
        count = f"{len(broken)} of {len(case.trials)} runs"
        yield f"{case.eval_id} for {agent} Failed. {count} were recorded as failed without producing any metric results."
        yield f"  {case.eval_id}{at}: {broken[0].cause}"
    elif not stands_in_the_way:
        yield f"{case.eval_id} for {agent} did not pass: {case.outcome.value.replace('_', ' ')}."
        yield f"  {case.eval_id}{at}{': ' if case.reason else ''}{case.reason}"


def _evidence_lines(case: CaseResult) -> Iterator[str]:
    """Return the calls, texts and state that were expected and made, as the report on a terminal draws them."""
    from proctor.reports.terminal.block_drawing import EvidenceDrawing, call_width
    from proctor.reports.terminal.console import Page

    out = io.StringIO()
    page = Page(out, ReportOptions(width=_WIDTH, color=False))
    EvidenceDrawing(page, evidence_block(case, longest_call=call_width(page))).draw()
    yield from out.getvalue().splitlines()


def _of_metric(metric: MetricVerdict, agent: str) -> tuple[str, str] | None:
    """Return the reason why a metric makes its case fail; `None` for other metrics."""
    if metric.gate and metric.outcome is Outcome.FAILED:
        comparison = f"Expected {metric.threshold}, but got {metric.score}."
        return f"{metric.name} for {agent} Failed. {comparison}", metric.reason
    if metric.gate and metric.outcome in (Outcome.ERROR, Outcome.INCONCLUSIVE) and _has_score(metric):
        return f"{metric.name} for {agent} was not evaluated.", metric.reason
    return None


def _has_score(metric: MetricVerdict) -> bool:
    """Return whether this metric was computed for any trial."""
    return any(score is not None for score in metric.per_trial)
