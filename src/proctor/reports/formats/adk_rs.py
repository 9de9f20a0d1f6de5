"""A run in the form of adk-rs's `eval`: `results` with scores by metric and a status by word (docs/reports.md).

A case's score is the mean over its invocations, as adk-rs has it, and `details.per_invocation` has each of them; with
several trials it has the invocations of all, trial by trial. adk-rs knows PASSED and FAILED for a case: a case that did not
pass is FAILED, and `proctor_outcome` has the outcome of Proctor if it is more precise. Metrics that do not decide or do not
apply are left out, because each metric needs a status.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TextIO

from proctor.common.safe_text import clean
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.evidence.case_evidence import reason_of
from proctor.reports.formats.json_data import json_line, json_writer
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import mean

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
    for one in run.sets:
        if one.failure is not None:
            yield _missing(one.eval_set_id, one.failure.cause)
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
    """A set that could not be run, or a run that could not go on."""
    head = {"eval_set_id": eval_set_id, "eval_case_id": "", "scores": {}, "overall_status": FAILED}
    return head | _more(Outcome.ERROR, why)


def _more(outcome: Outcome, why: str) -> dict[str, str]:
    return {"proctor_outcome": outcome.value, "proctor_reason": why}
