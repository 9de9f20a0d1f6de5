"""Read results of every kind: Proctor's JSON report and JSON Lines, and ADK's `*.evalset_result.json` of any age.

Nothing is scored again: the results are as recorded. JSON Lines are read case by case; the other two forms are read whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from proctor.common.error_text import safe_repr
from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import (
    RESULT_LIMIT,
    Document,
    DocumentKind,
    kind,
    problems_at,
    read_document,
)
from proctor.files.eval_sets.load import read_results
from proctor.files.results.adk_results import adk_cases, adk_criteria, adk_run
from proctor.files.results.jsonl import READABLE, is_lines, read_lines
from proctor.files.results.report_format import (
    CaseForm,
    RecordedCase,
    RecordedRun,
    ReportForm,
    RunForm,
    Totals,
)
from proctor.files.text.json_stream import no_collection
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import findings_of_error
from proctor.schema.results.run_result import CaseResult, RunResult

ADK, REPORT = "adk", "json"


def read_runs(path: str | Path) -> list[RecordedRun]:
    """Return the runs of a result file: one, or several if several agents were compared.

    Raises:
        EvalFileError: the file cannot be read, or contains no results; with every problem and its position.
    """
    if not isinstance(path, str | Path):
        raise EvalFileError(f"expected the path of a file of results, got {safe_repr(path)}")
    path = Path(path)
    if is_lines(path):
        return read_lines(path)
    if (size := path.stat().st_size) > RESULT_LIMIT:
        message = (
            f"the file has {size >> 20} MiB; the limit for results in this form is {RESULT_LIMIT >> 20} MiB"
        )
        hint = "JSON Lines may have any size: `proctor export --format jsonl`"
        raise file_error([Problem("error", str(path), 1, 1, "", message, hint)])
    with no_collection():
        document = read_document(path, limit=RESULT_LIMIT)
        if isinstance(document.value, dict) and "proctor_report" in document.value:
            return [_run_of_report(run) for run in _read_report(document).runs]
        if kind(document.value, document.name) is not DocumentKind.RESULT:
            raise file_error(
                [Problem("error", document.name, 1, 1, "", "the file contains no results", READABLE)]
            )
        recorded = read_results(document)
    cases = list(adk_cases(recorded))
    for each in cases:
        _make_numbers_unique(each.result)
    head = adk_run(recorded, [each.result for each in cases])
    return [RecordedRun(ADK, head, lambda: iter(cases), adk_criteria(recorded))]


# --- the JSON report --------------------------------------------------------------------------------------------------


def _read_report(document: Document) -> ReportForm:
    if (version := document.value["proctor_report"]) != 1:
        message = f"unknown version of a report: expected 1, got {version!r}"
        raise file_error(
            [Problem("error", document.name, 1, 1, "proctor_report", message, "upgrade Proctor to read it")]
        )
    try:
        return ReportForm.model_validate(document.value)
    except ValidationError as error:
        raise file_error(problems_at(document, findings_of_error(error, document.value))) from None


def _run_of_report(run: RunForm) -> RecordedRun:
    head = RunResult(
        run.agent,
        sets=[each.summary() for each in run.sets],
        num_runs=run.num_runs,
        warnings=run.warnings,
        started_at=run.started_at or 0.0,
        duration=run.duration or 0.0,
        scoring_duration=run.judging_duration,
        interrupted=run.interrupted,
        stopped_by=run.stopped_by or "",
        run_id=run.run_id or "",
        failure=run.failure,
    )
    totals = Totals(run.outcome, run.counts) if run.outcome is not None and run.counts is not None else None
    return RecordedRun(
        REPORT,
        head,
        lambda: map(_case_of_report, run.cases),
        totals=totals,
        contradictions=[*_duplicates(run)],
    )


def _duplicates(run: RunForm) -> Iterator[str]:
    """Report a case that appears more often than there are sets with its set's id."""
    sets = Counter(each.eval_set_id for each in run.sets)
    cases = Counter((case.eval_set_id, case.eval_id, case.place) for case in run.cases)
    for (set_id, eval_id, _), count in cases.items():
        if count > max(1, sets[set_id]):
            yield f"the case {set_id}/{eval_id} appears {count} times"


def _case_of_report(case: CaseForm) -> RecordedCase:
    rate = case.pass_rate  # only for several trials
    trials, passed = (rate.of, rate.passed) if rate else (min(1, len(case.trials)), None)
    return RecordedCase(case.result(), trials=trials, passed=passed)


def _make_numbers_unique(case: CaseResult) -> None:
    """Renumber trials with equal numbers: several of ADK's entries are one case."""
    if len({trial.number for trial in case.trials}) < len(case.trials):
        for number, trial in enumerate(case.trials):
            trial.number = number
