"""Reading results of every kind: Proctor's JSON report and JSON Lines, and ADK's `*.evalset_result.json` of any age.

What was recorded is taken as it is: nothing is judged anew, and nothing becomes better than it was. A file of any
number of trials in JSON Lines is read a case at a time; the other two forms are read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.adk_results import adk_cases, adk_criteria, adk_head
from proctor.files.base import Problem, file_error
from proctor.files.documents import RESULT_LIMIT, Document, problems_at, read_document, unreadable
from proctor.files.explain import explain
from proctor.files.kinds import Kind, kind
from proctor.files.load import read_results
from proctor.files.pieces import no_collection
from proctor.files.result_form import LineForm, ReportForm, RunForm, VerdictForm
from proctor.schema.invocation import Invocation
from proctor.schema.verdict import CaseResult, Outcome, RunResult, SetSummary

ADK, REPORT, LINES = "adk", "json", "jsonl"

READABLE = (
    "results are: an ADK result (`eval_case_results`), a JSON report (`proctor_report`), "
    "or JSON Lines of trials (`eval_id`, `trial`, `outcome`)"
)


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """One case of a result file."""

    result: CaseResult
    expected: list[Invocation] | None = None
    """What was expected, where the file says it: ADK's results do."""

    def __post_init__(self) -> None:
        """Number the trials anew where two have the same number: files were joined."""
        trials = self.result.trials
        if len({trial.number for trial in trials}) < len(trials):
            for number, trial in enumerate(trials):
                trial.number = number


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a result file."""

    form: str
    """`adk`, `json` or `jsonl`."""
    head: RunResult
    """The run without its cases."""
    cases: Callable[[], Iterator[RecordedCase]]
    """Reads the cases; each call begins anew."""
    criteria: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The criteria of each set by metric, where the file has them."""

    @property
    def result(self) -> RunResult:
        """The whole run, in memory."""
        self.head.cases = [each.result for each in self.cases()]
        return self.head


def read_runs(path: str | Path) -> list[RecordedRun]:
    """Return the runs that a result file holds: one, or several where several agents were compared.

    Raises:
        EvalFileError: it cannot be read, or holds no results; with every problem and its place.
    """
    path = Path(path)
    if _is_lines(path):
        return _read_lines(path)
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
    cases = [RecordedCase(result, expected) for result, expected in adk_cases(recorded)]
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
    return RecordedRun(REPORT, head, lambda: (RecordedCase(case.result()) for case in run.cases))


# --- JSON Lines -------------------------------------------------------------------------------------------------------

_MARKS = {"eval_id", "trial", "outcome"}


def _is_lines(path: Path) -> bool:
    """Whether the first line is a trial; any other file is read whole."""
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
            value = from_json(first) if len(first) <= RESULT_LIMIT else None
    except ValueError:
        return path.suffix.lower() in {".jsonl", ".ndjson"}
    except OSError as error:
        raise unreadable(path, str(path), error) from None
    return isinstance(value, dict) and value.keys() >= _MARKS


def _lines(path: Path) -> Iterator[LineForm]:
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if text.strip():
                yield _line(path, number, text)


def _line(path: Path, number: int, text: bytes) -> LineForm:
    value: Any = None
    try:
        value = from_json(text)
        line = LineForm.model_validate(value)
        if line.eval_id is not None and line.case is None:
            problem = Problem("error", str(path), number, 1, "case", "the verdict on the case is missing")
            raise file_error([problem])
        return line
    except ValidationError as error:
        found = explain(error, value)
        where = [".".join(map(str, finding.path)) for finding in found]
        problems = [
            Problem("error", str(path), number, 1, place, finding.message, finding.hint)
            for place, finding in zip(where, found, strict=True)
        ]
        raise file_error(problems) from None
    except ValueError as error:
        problem = Problem(
            "error", str(path), number, 1, "", f"this line is no JSON: {error}", "a trial a line"
        )
        raise file_error([problem]) from None


def _read_lines(path: Path) -> list[RecordedRun]:
    heads: dict[tuple[str, str], _Head] = {}
    for line in _lines(path):
        heads.setdefault(_whose(line), _Head()).take(line)
    if not heads:
        raise file_error([Problem("error", str(path), 1, 1, "", "no trial is in this file", READABLE)])
    return [
        RecordedRun(LINES, head.result(*whose), partial(_cases, path, whose)) for whose, head in heads.items()
    ]


def _whose(line: LineForm) -> tuple[str, str]:
    return line.agent, line.run_id or ""


def _cases(path: Path, whose: tuple[str, str]) -> Iterator[RecordedCase]:
    own = (line for line in _lines(path) if _whose(line) == whose and line.eval_id is not None)
    for _, lines in groupby(own, key=_which_case):
        yield RecordedCase(_case(list(lines)))


def _which_case(line: LineForm) -> tuple[str | None, str | None, str]:
    """Set and id, and the place: two sets may have one id."""
    return line.eval_set_id, line.eval_id, line.case.place if line.case else ""


def _case(lines: list[LineForm]) -> CaseResult:
    """The case that some lines are the trials of."""
    first, tried = lines[0], [line for line in lines if line.trial is not None]
    verdict = first.case or VerdictForm(outcome=Outcome.ERROR)  # there is one: each line was looked at
    found = verdict.case(first.eval_set_id or "", first.eval_id or "")
    for name, metric in verdict.metrics.items():
        scores = [line.scores.get(name) for line in tried]
        found.metrics[name] = metric.verdict(name, [score.score_of() if score else None for score in scores])
    found.trials = [line.result() for line in tried]
    return found


class _Head:
    """What the lines of a run say about it as a whole, taken one at a time."""

    def __init__(self) -> None:
        self._sets: dict[str, SetSummary] = {}
        self._last: tuple[str | None, str | None] | None = None
        self._run = RunResult("")

    def take(self, line: LineForm) -> None:
        run = self._run
        if line.started_at and not 0 < run.started_at <= line.started_at:
            run.started_at = line.started_at
        if line.eval_set_id is None:
            run.failure = line.failure
            return
        one = self._sets.setdefault(line.eval_set_id, SetSummary(line.eval_set_id, None, "as recorded", 0))
        if line.eval_id is None:
            one.failure = line.failure
            return
        run.num_runs = max(run.num_runs, (line.trial or 0) + 1)
        one.num_runs = max(one.num_runs, (line.trial or 0) + 1)
        if self._last != (line.eval_set_id, line.eval_id):
            self._last = line.eval_set_id, line.eval_id
            one.cases += 1
        if line.case:
            _add_names(one.metrics, line.case.metrics)
            one.rule = one.rule or (line.case.rule.rule() if line.case.rule else None)

    def result(self, agent: str, run_id: str) -> RunResult:
        self._run.agent, self._run.run_id = agent, run_id
        self._run.sets = list(self._sets.values())
        return self._run


def _add_names(known: list[str], names: Iterable[str]) -> None:
    known += [name for name in names if name not in known]
