"""One call of `AgentEvaluator`: everything checked, run by the engine, kept, written, printed, and held to its verdict."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.agents.load import describe_ref
from proctor.common.async_tools import settle
from proctor.common.safe_text import clean, encodable
from proctor.compat.adk.argument_errors import a_model, set_up, setup_error
from proctor.compat.adk.initial_session import load_with_services, start_in
from proctor.compat.adk.result_rows import Row, append_csv, check_csv, rows_of
from proctor.compat.adk.results import as_taken_by, case_results_of
from proctor.reports.base import ReportOptions
from proctor.reports.evidence.case_evidence import evidence_block
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.runs.setup.settings import load_settings
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.result import EvalCaseResult
from proctor.schema.format.wire_model import plain_data
from proctor.schema.results.run_result import CaseResult, MetricVerdict, RunResult
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from proctor.engine.planning.set_plan import SetPlan
    from proctor.runs.arguments import ConfigLike, EvaluateOptions
    from proctor.runs.setup.prepare import Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRequest:
    """The arguments of a call, except the cases."""

    agent: Any
    num_runs: int
    agent_name: str | None
    printed: bool
    artifact_service: Any
    output_file: str | os.PathLike[str] | None
    app_name: str | None
    keeper: Any
    """An `EvalSetResultsManager`, or `None`."""

    def check(self) -> None:
        """Report configuration errors before the first agent call.

        Raises:
            InvalidSetupError: no destination for the results is configured.
        """
        if self.keeper is not None and not self.app_name:
            raise setup_error("eval_set_results_manager needs app_name, under which it keeps the results")
        if self.output_file is not None:
            check_csv(self.output_file)


async def evaluate_set(request: EvaluationRequest, eval_set: Any, config: ConfigLike) -> RunResult:
    """Evaluate a set that was made in Python."""
    __tracebackhide__ = True
    with set_up():
        if config is None:
            raise setup_error("eval_config is needed: an EvalConfig, or criteria={metric: threshold}")
        source = eval_set if isinstance(eval_set, Mapping) else a_model(EvalSet, eval_set, "eval_set")
        prepared = _prepare(request, source, {"config": plain_data(config)})
    return await _evaluate(request, prepared)


async def evaluate_files(
    request: EvaluationRequest, files: Sequence[str], initial_session_file: str | os.PathLike[str] | None
) -> RunResult:
    """Evaluate the sets in these files, each by the config found for it."""
    __tracebackhide__ = True
    with set_up():
        prepared = _prepare(request, files, {})
        if initial_session_file is not None:
            start_in(prepared.plan, initial_session_file)
    return await _evaluate(request, prepared)


def _prepare(request: EvaluationRequest, eval_sets: Any, options: EvaluateOptions) -> Prepared:
    from proctor.runs.setup.prepare import prepare

    request.check()
    agent, name = request.agent, request.agent_name
    if request.artifact_service is not None:
        agent, name = load_with_services(agent, name, {"artifact_service": request.artifact_service}), None
    settings = load_settings(Path.cwd())
    strictness: EvaluateOptions = {
        "allow_unknown_keys": settings.options.get("allow_unknown_keys", False),
        "warnings_as_errors": settings.options.get("warnings_as_errors", False),
    }
    prepared = prepare(
        agent, eval_sets, {**options, **strictness, "num_runs": request.num_runs, "agent_name": name}
    )
    prepared.agent_label = describe_ref(request.agent)
    return prepared


async def _evaluate(request: EvaluationRequest, prepared: Prepared) -> RunResult:
    from proctor.runs.evaluate import carry_out

    __tracebackhide__ = True
    _warn_of_old_formats(prepared)
    result = await carry_out(prepared, None, None)
    judged = list(_cases_with_results(result, prepared))
    if request.keeper is not None:
        await _keep(request, judged)
    if request.output_file is not None:
        append_csv(
            request.output_file,
            ((one.result, row) for one in judged for _, rows in one.rows() for row in rows),
        )
    for one in judged if request.printed else ():
        for metric, rows in one.rows():
            print_metric(metric, rows)
    require_pass(result, prepared.agent_label)
    return result


def _warn_of_old_formats(prepared: Prepared) -> None:
    from proctor.files.eval_sets.documents import DocumentKind

    for planned_set in prepared.plan.sets:
        if (kind := getattr(planned_set.source, "kind", None)) in (
            DocumentKind.OLD_TURNS,
            DocumentKind.OLD_CASES,
        ):
            path = planned_set.source.label
            message = (
                f"{path} is an {kind}; this writes it as an eval set: proctor migrate {path} NEW.evalset.json"
            )
            warnings.warn(message, DeprecationWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """A case that was run, with its result."""

    chosen: SetPlan
    case: EvalCase
    result: CaseResult

    def rows(self) -> Iterator[tuple[MetricVerdict, list[Row]]]:
        """Return the rows of each metric."""
        for metric in self.result.metrics.values():
            yield metric, list(rows_of(self.result, metric, self.case.conversation))

    def results(self) -> list[EvalCaseResult]:
        """Return the result of each run in google-adk's form."""
        return case_results_of(self.result, self.case, self.chosen.summary.criteria)


def _cases_with_results(result: RunResult, prepared: Prepared) -> Iterator[ScoredCase]:
    """Return each result with its case, in their order."""
    results = iter(result.cases)
    for planned_set in prepared.plan.sets:
        for index in planned_set.cases:
            yield ScoredCase(planned_set, planned_set.source.case(index), next(results))


async def _keep(request: EvaluationRequest, judged: Sequence[ScoredCase]) -> None:
    """Give the results of each set to the results manager, as google-adk does."""
    for _, of_set in groupby(judged, key=lambda one: id(one.chosen)):
        cases = list(of_set)
        results = [result for one in cases for result in one.results()]
        eval_set_id, adk_results = cases[0].result.eval_set_id, as_taken_by(request.keeper, results)
        await settle(request.keeper.save_eval_set_result(request.app_name, eval_set_id, adk_results))


# --- The detailed results on standard output, as google-adk prints them; pandas and tabulate are not needed -----------


COLUMNS = (
    "", "eval_status", "score", "threshold", "prompt", "expected_response", "actual_response",
    "expected_tool_calls", "actual_tool_calls",
)  # fmt: skip
WIDEST = 25
"""Maximum number of characters in a line of a cell; longer texts are wrapped."""


def print_metric(metric: MetricVerdict, rows: Iterable[Row]) -> None:
    """Print one metric of one case: a summary line, and where it decides a table of the turns of all runs."""
    from rich.box import ASCII_DOUBLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=ASCII_DOUBLE_HEAD, show_lines=True)
    for name in COLUMNS:
        table.add_column(name, max_width=WIDEST, overflow="fold")
    for number, row in enumerate(rows if metric.gate else ()):
        figures = (f"EvalStatus.{row.status.name}", str(row.score), str(metric.threshold))
        texts = row.text_columns(lambda call: call_text(call.name or "", call.args))
        table.add_row(str(number), *figures, *map(_cell, texts))
    out = Console(file=sys.stdout, width=250, markup=False, highlight=False, emoji=False, color_system=None)
    out.print(_cell(summary(metric)), soft_wrap=True)
    if table.row_count:
        out.print(table)
        out.print()


def summary(metric: MetricVerdict) -> str:
    """The line that google-adk prints above its table."""
    return (
        f"Summary: `EvalStatus.{metric.status.name}` for Metric: `{metric.name}`. "
        f"Expected threshold: `{metric.threshold}`, actual value: `{metric.score}`."
    )


def _cell(text: str) -> str:
    return encodable(clean(text, lines=True), getattr(sys.stdout, "encoding", None))


# --- What a test reads when an evaluation did not pass: google-adk's lines, with the reason and the evidence of each case ---


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
        yield from _case_reasons(case, agent)
        yield from _evidence_lines(case) if number < MOST_EVIDENCE else ()
    if len(failed) > MOST_EVIDENCE:
        yield f"  … the evidence of {len(failed) - MOST_EVIDENCE} more cases is in `result` of this exception"
    for name, failure in result.unread_sets.items():
        yield f"{name} for {agent} was not evaluated."
        yield f"  {failure.cause}"
    if result.failure is not None:
        yield f"The run for {agent} could not continue."
        yield f"  {result.failure.cause}"


def _case_reasons(case: CaseResult, agent: str) -> Iterator[str]:
    at = f" ({case.place})" if case.place else ""
    reasons = (_metric_reason(metric, agent) for metric in case.metrics.values())
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
    from proctor.reports.terminal.console import Page
    from proctor.reports.terminal.evidence_drawing import EvidenceDrawing

    out = io.StringIO()
    page = Page(out, ReportOptions(width=_WIDTH, color=False))
    EvidenceDrawing(page, evidence_block(case, longest_call=page.call_width)).draw()
    yield from out.getvalue().splitlines()


def _metric_reason(metric: MetricVerdict, agent: str) -> tuple[str, str] | None:
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
