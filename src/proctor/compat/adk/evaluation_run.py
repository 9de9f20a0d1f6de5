"""One call of `AgentEvaluator`: everything checked, run by the engine, kept, written, printed, and held to its verdict."""

from __future__ import annotations

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
from proctor.compat.adk.failure_messages import require_pass
from proctor.compat.adk.initial_session import load_with_services, start_in
from proctor.compat.adk.result_rows import Row, append_csv, check_csv, rows_of
from proctor.compat.adk.results import as_taken_by, case_results_of
from proctor.reports.evidence.trajectory_diff import call_text
from proctor.runs.setup.settings import load_settings
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.result import EvalCaseResult
from proctor.schema.format.wire_model import plain_data
from proctor.schema.results.run_result import CaseResult, MetricVerdict, RunResult

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
    from proctor.api import prepare

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
    from proctor.files.eval_sets.documents import Kind

    for planned_set in prepared.plan.sets:
        if (kind := getattr(planned_set.source, "kind", None)) in (Kind.OLD_TURNS, Kind.OLD_CASES):
            path = planned_set.source.label
            message = (
                f"{path} is an {kind}; this writes it as an eval set: proctor migrate {path} NEW.evalset.json"
            )
            warnings.warn(message, DeprecationWarning, stacklevel=2)


@dataclass(frozen=True, slots=True)
class Judged:
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


def _cases_with_results(result: RunResult, prepared: Prepared) -> Iterator[Judged]:
    """Return each result with its case, in their order."""
    results = iter(result.cases)
    for planned_set in prepared.plan.sets:
        for index in planned_set.cases:
            yield Judged(planned_set, planned_set.source.case(index), next(results))


async def _keep(request: EvaluationRequest, judged: Sequence[Judged]) -> None:
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
