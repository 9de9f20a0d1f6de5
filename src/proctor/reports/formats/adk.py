"""A run as google-adk's `*.evalset_result.json`, for ADK's own tools (docs/reference/results/exports.md), and in the form of adk-rs's `eval`.

The form of adk-rs has `results` with scores by metric and a status by word (docs/reference/results/reports.md). A case's score is the mean
over its invocations, and `details.per_invocation` has each of them; with several trials it has the invocations of all, trial
by trial. adk-rs knows PASSED and FAILED for a case: a case that did not pass is FAILED, and `proctor_outcome` has the outcome
of Proctor if it is more precise. Metrics that do not decide or do not apply are left out, because each metric needs a status.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.errors import SetupError
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import reason_of
from proctor.reports.formats.json_text import json_line, json_writer
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.format.adk_results import ResultHeader, app_name_of, result_text, with_context
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import mean


class AdkReport:
    """One eval set's results in ADK's own form. ADK has one file for each set, so this takes runs of one set."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write the result of the one set that was run.

        Raises:
            SetupError: there are several sets or agents, which one file cannot hold.
        """
        if options.note or any(run.failure and run.failure.where == CONFIGURATION for run in runs):
            _write_nothing_run(runs, out, options.note)
            return
        run, eval_set_id = _only_set(runs)
        write = json_writer(out)
        header = ResultHeader(app_name_of(run), eval_set_id, run.started_at or time.time())
        for text in result_text(header, with_context(run)):
            write(text)
        write("\n")


def _only_set(runs: Sequence[RunResult]) -> tuple[RunResult, str]:
    sets = [one.eval_set_id for run in runs for one in run.sets if one.failure is None]
    if len(runs) != 1 or len(sets) != 1:
        raise SetupError(
            f"ADK's form has one file for each agent and eval set, and here are {len(runs)} x {len(sets)}; "
            "name a folder to export to, or run with --store adk:AGENTS_DIR"
        )
    return runs[0], sets[0]


def _write_nothing_run(runs: Sequence[RunResult], out: TextIO, note: str) -> None:
    """Write a result without a set: a configuration error as a case in error, or no case and a note."""
    run = RunResult("proctor", started_at=time.time())
    for broken in runs:
        if broken.failure is not None:
            run.cases = [CaseResult("", "configuration error", Outcome.ERROR, broken.failure.cause)]
    header = ResultHeader(app_name_of(run), "", run.started_at)
    text = "".join(result_text(header, with_context(run)))
    write = json_writer(out)
    write(text if not note else f'{text[:-2]},\n  "proctor_note": {json.dumps(clean(note))}\n}}')
    write("\n")


# --- adk-rs -----------------------------------------------------------------------------------------------------------


PASSED, FAILED, ERROR = "PASSED", "FAILED", "ERROR"
_STATUS = {Outcome.PASSED: PASSED, Outcome.FAILED: FAILED}
_NO_STATUS = {Outcome.INFORMATIONAL, Outcome.NOT_APPLICABLE, Outcome.SKIPPED}


class AdkRsReport:
    """The JSON that adk-rs prints, indented, a case at a time."""

    needs_evidence: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`; of several the results one behind the other."""
        write = json_writer(out)
        write('{\n  "results": [')
        for number, result in enumerate(each for run in runs for each in _results(run)):
            text, _ = json_line(result)  # values that JSON cannot hold are null, as in the other reports
            indented = json.dumps(json.loads(text), ensure_ascii=False, indent=2).replace("\n", "\n    ")
            write(f"{',' if number else ''}\n    {indented}")
        note = f',\n  "proctor_note": {json.dumps(clean(options.note))}' if options.note else ""
        write(f"\n  ]{note}\n}}\n")


def _results(run: RunResult) -> Iterator[dict[str, Any]]:
    for case in run.cases:
        yield result_of_case(case)
    for name, failure in run.unread_sets.items():
        yield _missing(name, failure.cause)
    if run.failure is not None:
        yield _missing("", run.failure.cause)


def result_of_case(case: CaseResult) -> dict[str, Any]:
    """Return one case as the report has it."""
    result: dict[str, Any] = {
        "eval_set_id": case.eval_set_id,
        "eval_case_id": case.eval_id,
        "scores": {
            name: _score(metric, reason_of(case))
            for name, metric in case.metrics.items()
            if metric.gate and metric.outcome not in _NO_STATUS
        },
        "overall_status": PASSED if case.passed else FAILED,
    }
    return result if case.outcome in _STATUS else result | _more(case.outcome, reason_of(case))


def _score(metric: MetricVerdict, why: str) -> dict[str, Any]:
    turns = [each.value for score in metric.per_trial if score is not None for each in score.per_invocation]
    values = [value for value in turns if value is not None]
    score = mean(values) if values else metric.score
    details: dict[str, Any] = {"per_invocation": values}
    if metric.outcome not in _STATUS or score is None:  # adk-rs has no word for "no score"
        return {"score": 0.0, "status": ERROR, "details": details | {"reason": metric.reason or why}}
    return {"score": score, "status": _STATUS[metric.outcome], "details": details}


def _missing(eval_set_id: str, why: str) -> dict[str, Any]:
    """A set that could not be run, or a run that could not continue."""
    head = {"eval_set_id": eval_set_id, "eval_case_id": "", "scores": {}, "overall_status": FAILED}
    return head | _more(Outcome.ERROR, why)


def _more(outcome: Outcome, why: str) -> dict[str, str]:
    return {"proctor_outcome": outcome.value, "proctor_reason": why}
