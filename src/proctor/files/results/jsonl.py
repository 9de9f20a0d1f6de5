"""Read results in JSON Lines, one line per trial in any order; missing trials are reported.

Each line contains the number of its case and the totals of the run (docs/reference/results/exports.md). This reveals files that were cut,
sorted, duplicated or concatenated. One pass locates the trials of each case; then the cases are read one at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.eval_sets.documents import RESULT_LIMIT, unreadable
from proctor.files.results.report_format import (
    HeadForm,
    HeadVerdictForm,
    LineForm,
    LineVerdictForm,
    RecordedCase,
    RecordedRun,
    Totals,
)
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import findings_of_error
from proctor.schema.results.run_result import RunResult, SetSummary

LINES = "jsonl"

READABLE = (
    "results are: an ADK result (`eval_case_results`), a JSON report (`proctor_report`), "
    "or JSON Lines of trials (`eval_id`, `trial`, `outcome`)"
)

_MARKS = {"eval_id", "trial", "outcome"}


def is_lines(path: Path) -> bool:
    """Return whether the first line is a trial; any other file is read whole.

    Raises:
        EvalFileError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
            value = from_json(first) if len(first) <= RESULT_LIMIT else None
    except ValueError:
        return path.suffix.lower() in {".jsonl", ".ndjson"}
    except OSError as error:
        raise unreadable(path, str(path), error) from None
    return isinstance(value, dict) and value.keys() >= _MARKS


def read_lines(path: Path) -> list[RecordedRun]:
    """Return the runs of a file of JSON Lines. Each line is read in full only once, with its case.

    Raises:
        EvalFileError: there are no trials, or a line is not a trial (errors after its header are raised with its case).
    """
    runs: dict[tuple[str, str], _Run] = {}
    with path.open("rb") as file:
        at = 0
        for number, text in enumerate(file, 1):
            if text.strip():
                line = _head(path, number, text)
                runs.setdefault((line.agent, line.run_id or ""), _Run(line)).take(line, number, at)
            at += len(text)
    if not runs:
        raise file_error([Problem("error", str(path), 1, 1, "", "the file contains no trials", READABLE)])
    return [run.to_recorded_run(path, *key) for key, run in runs.items()]


def _head(path: Path, number: int, text: bytes) -> HeadForm | LineForm:
    """Return the header of a line; an invalid line is read in full, which reports its problems."""
    try:
        head = HeadForm.model_validate_json(text)
        if head.eval_id is None or head.case is not None:
            return head
    except ValidationError:
        pass
    return _line(path, number, text)


def _line(path: Path, number: int, text: bytes) -> LineForm:
    value: object = None
    try:
        value = from_json(text)
        line = LineForm.model_validate(value)
        if line.eval_id is not None and line.case is None:
            problem = Problem("error", str(path), number, 1, "case", "the verdict on the case is missing")
            raise file_error([problem])
        return line
    except ValidationError as error:
        findings = findings_of_error(error, value)
        problems = [
            Problem("error", str(path), number, 1, ".".join(map(str, each.path)), each.message, each.hint)
            for each in findings
        ]
        raise file_error(problems) from None
    except ValueError as error:
        problem = Problem(
            "error", str(path), number, 1, "", f"this line is not JSON: {error}", "write one trial per line"
        )
        raise file_error([problem]) from None


# --- the cases of a run -------------------------------------------------------------------------------------------------


class _LinePosition(NamedTuple):
    """The position of one line."""

    case: int
    trial: int
    line: int
    offset: int


class _Places:
    """The positions of the lines of a run's cases, in few bytes each."""

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in _LinePosition._fields)
        self._is_sorted = True
        self._last = (-1, -1)

    def add(self, where: _LinePosition) -> None:
        for column, value in zip(self._columns, where, strict=True):
            column.append(value)
        self._is_sorted = self._is_sorted and self._last <= where[:2]
        self._last = where[:2]

    def __iter__(self) -> Iterator[_LinePosition]:
        """Return the lines by case and trial."""
        rows = map(_LinePosition, *self._columns)
        return rows if self._is_sorted else iter(sorted(rows))


class _Numbers:
    """The numbers of the cases so far; consecutive numbers from 0 need no memory."""

    def __init__(self) -> None:
        self._below = 0
        self._others: set[int] = set()

    def add(self, number: int) -> bool:
        """Add a number; return whether it is new."""
        if number < self._below or number in self._others:
            return False
        self._others.add(number)
        while self._below in self._others:
            self._others.remove(self._below)
            self._below += 1
        return True


def _cases(path: Path, places: _Places) -> Iterator[RecordedCase]:
    with path.open("rb") as file:
        for _, of_case in groupby(places, key=lambda where: where.case):
            yield _case([(where, _read_line(path, file, where)) for where in of_case])


def _read_line(path: Path, file: BinaryIO, where: _LinePosition) -> LineForm:
    file.seek(where.offset)
    return _line(path, where.line, file.readline())


def _case(lines: list[tuple[_LinePosition, LineForm]]) -> RecordedCase:
    """Return the case whose trials are in `lines`."""
    first = lines[0][1]
    trials, verdict = _without_duplicates(lines), first.case
    if verdict is None:
        raise RuntimeError("a line of a case without a verdict is refused when it is read")
    case = verdict.case(first.eval_set_id or "", first.eval_id or "")
    for name, metric in verdict.metrics.items():
        scores = [line.scores.get(name) for line in trials]
        case.metrics[name] = metric.verdict(name, [score.score_of() if score else None for score in scores])
    case.trials = [line.result() for line in trials]
    passed = verdict.pass_rate.passed if verdict.pass_rate else None
    return RecordedCase(case, None, verdict.trials, passed, _contradiction(lines, len(trials)))


def _without_duplicates(lines: list[tuple[_LinePosition, LineForm]]) -> list[LineForm]:
    """Return the trials of some lines; of duplicates the first."""
    trials = {where.trial: line for where, line in reversed(lines) if line.trial is not None}
    return [trials[number] for number in sorted(trials)]


def _contradiction(lines: list[tuple[_LinePosition, LineForm]], trials: int) -> str:
    first, numbers = lines[0][1], ", ".join(str(where.line) for where, _ in lines[:5])
    ids = {(line.eval_set_id, line.eval_id) for _, line in lines}
    if len(ids) > 1 or any(line.case != first.case for _, line in lines):
        return f"its lines ({numbers}) contradict each other"
    return f"one of its trials appears twice (lines {numbers})" if len(lines) > max(1, trials) else ""


# --- a run --------------------------------------------------------------------------------------------------------------


class _Run:
    """One run of a file, built from its lines."""

    def __init__(self, first: HeadForm | LineForm) -> None:
        self._totals = first.run
        self._sets: dict[str, SetSummary] = {}
        self._run = RunResult("")
        self._places = _Places()
        self._seen = _Numbers()
        self._contradictions: dict[str, None] = {}

    def take(self, line: HeadForm | LineForm, number: int, at: int) -> None:
        run = self._run
        if line.run != self._totals:
            self._contradictions[f"line {number} contradicts earlier lines about the run"] = None
        if line.started_at and not 0 < run.started_at <= line.started_at:
            run.started_at = line.started_at
        if line.eval_set_id is None:
            run.failure = line.failure
            return
        summary = self._sets.setdefault(
            line.eval_set_id, SetSummary(line.eval_set_id, None, "as recorded", 0)
        )
        if line.eval_id is None or line.case is None:
            summary.failure = line.failure
            return
        trial = -1 if line.trial is None else line.trial
        self._places.add(_LinePosition(line.case.number, trial, number, at))
        run.num_runs = max(run.num_runs, trial + 1)
        summary.num_runs = max(summary.num_runs, trial + 1)
        self._add_case(summary, line.case)

    def _add_case(self, summary: SetSummary, case: LineVerdictForm | HeadVerdictForm) -> None:
        """Add a case to the summary of its set; of several trials, each line repeats the case."""
        summary.cases += self._seen.add(case.number)
        summary.metrics += [name for name in case.metrics if name not in summary.metrics]
        summary.rule = summary.rule or case.rule

    def to_recorded_run(self, path: Path, agent: str, run_id: str) -> RecordedRun:
        self._run.agent, self._run.run_id = agent, run_id
        self._run.sets = list(self._sets.values())
        totals = Totals(self._totals.outcome, self._totals.counts)
        cases = partial(_cases, path, self._places)
        return RecordedRun(
            LINES, self._run, cases, totals=totals, contradictions=list(self._contradictions)[:1]
        )
