"""Reading results of every kind: Proctor's JSON report and JSON Lines, and ADK's `*.evalset_result.json` of any age.

What was recorded is taken as it is: nothing is judged anew, and nothing becomes better than it was. A file of any
number of trials in JSON Lines is read a case at a time; the other two forms are read whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from proctor.common.error_text import safe_repr
from proctor.errors import EvalFileError
from proctor.files.eval_sets.detect_format import Kind, kind
from proctor.files.eval_sets.documents import RESULT_LIMIT, Document, problems_at, read_document
from proctor.files.eval_sets.load import read_results
from proctor.files.results.adk_results import adk_cases, adk_criteria, adk_head
from proctor.files.results.jsonl import READABLE, is_lines, read_lines
from proctor.files.results.report_format import CaseForm, ReportForm, RunForm
from proctor.files.results.run_file import RecordedCase, RecordedRun, Totals
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import explain
from proctor.schema.results.run_result import CaseResult, RunResult

ADK, REPORT = "adk", "json"


def read_runs(path: str | Path) -> list[RecordedRun]:
    """Return the runs that a result file holds: one, or several where several agents were compared.

    Raises:
        EvalFileError: it cannot be read, or holds no results; with every problem and its place.
    """
    if not isinstance(path, str | Path):
        raise EvalFileError(f"expected the path of a file of results, got {safe_repr(path)}")
    path = Path(path)
    if is_lines(path):
        return read_lines(path)
    if (size := path.stat().st_size) > RESULT_LIMIT:
        message = (
            f"the file has {size >> 20} MiB, and results in this form are read up to {RESULT_LIMIT >> 20}"
        )
        hint = "JSON Lines of any size are read: `proctor export --format jsonl`"
        raise file_error([Problem("error", str(path), 1, 1, "", message, hint)])
    with no_collection():
        document = read_document(path, limit=RESULT_LIMIT)
        if isinstance(document.value, dict) and "proctor_report" in document.value:
            return [_of_report(run) for run in _read_report(document).runs]
        if kind(document.value, document.name) is not Kind.RESULT:
            raise file_error(
                [Problem("error", document.name, 1, 1, "", "no results are in this file", READABLE)]
            )
        recorded = read_results(document)
    cases = list(adk_cases(recorded))
    for each in cases:
        _number(each.result)
    head = adk_head(recorded, [each.result for each in cases])
    return [RecordedRun(ADK, head, lambda: iter(cases), adk_criteria(recorded))]


# --- the JSON report --------------------------------------------------------------------------------------------------


def _read_report(document: Document) -> ReportForm:
    if document.value["proctor_report"] != 1:
        came = document.value["proctor_report"]
        message = f"this report has version {came!r}, and this Proctor reads version 1"
        raise file_error(
            [Problem("error", document.name, 1, 1, "proctor_report", message, "a newer Proctor reads it")]
        )
    try:
        return ReportForm.model_validate(document.value)
    except ValidationError as error:
        raise file_error(problems_at(document, explain(error, document.value))) from None


def _of_report(run: RunForm) -> RecordedRun:
    head = RunResult(
        run.agent,
        sets=[one.summary() for one in run.sets],
        num_runs=run.num_runs,
        warnings=run.warnings,
        started_at=run.started_at or 0.0,
        duration=run.duration or 0.0,
        judging_duration=run.judging_duration,
        interrupted=run.interrupted,
        stopped_by=run.stopped_by or "",
        run_id=run.run_id or "",
        failure=run.failure,
    )
    totals = Totals(run.outcome, run.counts) if run.outcome is not None and run.counts is not None else None
    return RecordedRun(REPORT, head, lambda: map(_of_case, run.cases), totals=totals, doubts=[*_twice(run)])


def _twice(run: RunForm) -> Iterator[str]:
    """Name a case that stands there more often than there are sets of its id."""
    sets = Counter(one.eval_set_id for one in run.sets)
    found = Counter((case.eval_set_id, case.eval_id, case.place) for case in run.cases)
    for (set_id, eval_id, _), count in found.items():
        if count > max(1, sets[set_id]):
            yield f"the case {set_id}/{eval_id} stands there {count} times"


def _of_case(case: CaseForm) -> RecordedCase:
    several = case.pass_rate  # of a single trial there is none
    trials, passed = (several.of, several.passed) if several else (min(1, len(case.trials)), None)
    return RecordedCase(case.result(), trials=trials, passed=passed)


def _number(case: CaseResult) -> None:
    """Number trials anew where two have the same number: several of ADK's entries are one case."""
    if len({trial.number for trial in case.trials}) < len(case.trials):
        for number, trial in enumerate(case.trials):
            trial.number = number
