"""Reading results in JSON Lines: a line a trial, in whatever order the lines stand, and every one that is missing noticed.

Each line says which case of how many it belongs to, and what the whole run came to (docs/exports.md), so that a file
that was cut, sorted, doubled or put together from others is known for what it is. One pass finds where the trials of
each case are; then the cases are read one at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.eval_sets.documents import RESULT_LIMIT, unreadable
from proctor.files.results.report_format import HeadForm, LineForm
from proctor.files.results.run_file import RecordedCase, RecordedRun, Totals
from proctor.files.text.problems import Problem, file_error
from proctor.files.text.validation_messages import explain
from proctor.schema.results.run_result import RunResult, SetSummary

LINES = "jsonl"

READABLE = (
    "results are: an ADK result (`eval_case_results`), a JSON report (`proctor_report`), "
    "or JSON Lines of trials (`eval_id`, `trial`, `outcome`)"
)

_MARKS = {"eval_id", "trial", "outcome"}


def is_lines(path: Path) -> bool:
    """Tell whether the first line is a trial; any other file is read whole.

    Raises:
        EvalFileError: it cannot be read.
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
    """Return the runs that a file of JSON Lines holds. Each line is read whole once: when its case is asked for.

    Raises:
        EvalFileError: there is no trial, or a line is none (of one that begins like a trial: when its case is read).
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
        raise file_error([Problem("error", str(path), 1, 1, "", "no trial is in this file", READABLE)])
    return [run.recorded(path, *whose) for whose, run in runs.items()]


def _head(path: Path, number: int, text: bytes) -> HeadForm | LineForm:
    """What a line says of its run; of one that is amiss the whole, which says in words what is."""
    try:
        head = HeadForm.model_validate_json(text)
        if head.eval_id is None or head.case is not None:
            return head
    except ValidationError:
        pass
    return _line(path, number, text)


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


# --- the cases of a run -------------------------------------------------------------------------------------------------


class _Where(NamedTuple):
    """Where one line is."""

    case: int
    trial: int
    line: int
    offset: int


class _Places:
    """Where the lines of a run's cases are, in few bytes each."""

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in _Where._fields)
        self._is_sorted = True
        self._last = (-1, -1)

    def add(self, where: _Where) -> None:
        for column, value in zip(self._columns, where, strict=True):
            column.append(value)
        self._is_sorted = self._is_sorted and self._last <= where[:2]
        self._last = where[:2]

    def __iter__(self) -> Iterator[_Where]:
        """Return the lines by case and trial."""
        rows = map(_Where, *self._columns)
        return rows if self._is_sorted else iter(sorted(rows))


class _Numbers:
    """Which cases were there: in a file as it was written, all up to one, so that nothing needs to be kept of each."""

    def __init__(self) -> None:
        self._below = 0
        self._others: set[int] = set()

    def add(self, number: int) -> bool:
        """Take a number in; tell whether it is new."""
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
            yield _case([(where, _read(path, file, where)) for where in of_case])


def _read(path: Path, file: BinaryIO, where: _Where) -> LineForm:
    file.seek(where.offset)
    return _line(path, where.line, file.readline())


def _case(lines: list[tuple[_Where, LineForm]]) -> RecordedCase:
    """The case that some lines are the trials of."""
    first = lines[0][1]
    tried, verdict = _once(lines), first.case
    if verdict is None:
        raise RuntimeError("a line of a case without a verdict is refused where it is read")
    found = verdict.case(first.eval_set_id or "", first.eval_id or "")
    for name, metric in verdict.metrics.items():
        scores = [line.scores.get(name) for line in tried]
        found.metrics[name] = metric.verdict(name, [score.score_of() if score else None for score in scores])
    found.trials = [line.result() for line in tried]
    passed = verdict.pass_rate.passed if verdict.pass_rate else None
    return RecordedCase(found, None, verdict.trials, passed, _doubt(lines, len(tried)))


def _once(lines: list[tuple[_Where, LineForm]]) -> list[LineForm]:
    """The trials among some lines; of two that are the same trial, the first."""
    trials = {where.trial: line for where, line in reversed(lines) if line.trial is not None}
    return [trials[number] for number in sorted(trials)]


def _doubt(lines: list[tuple[_Where, LineForm]], trials: int) -> str:
    first, numbers = lines[0][1], ", ".join(str(where.line) for where, _ in lines[:5])
    who = {(line.eval_set_id, line.eval_id) for _, line in lines}
    if len(who) > 1 or any(line.case != first.case for _, line in lines):
        return f"its lines ({numbers}) do not say the same of it"
    return f"a trial of it stands there twice (lines {numbers})" if len(lines) > max(1, trials) else ""


# --- a run --------------------------------------------------------------------------------------------------------------


class _Run:
    """What the lines of a run say, taken one at a time."""

    def __init__(self, first: HeadForm | LineForm) -> None:
        self._said = first.run
        self._sets: dict[str, SetSummary] = {}
        self._run = RunResult("")
        self._places = _Places()
        self._seen = _Numbers()
        self._doubts: dict[str, None] = {}

    def take(self, line: HeadForm | LineForm, number: int, at: int) -> None:
        run = self._run
        if line.run != self._said:
            self._doubts[f"line {number} says something else of the run than those before"] = None
        if line.started_at and not 0 < run.started_at <= line.started_at:
            run.started_at = line.started_at
        if line.eval_set_id is None:
            run.failure = line.failure
            return
        one = self._sets.setdefault(line.eval_set_id, SetSummary(line.eval_set_id, None, "as recorded", 0))
        if line.eval_id is None or line.case is None:
            one.failure = line.failure
            return
        trial = -1 if line.trial is None else line.trial
        self._places.add(_Where(line.case.number, trial, number, at))
        run.num_runs = max(run.num_runs, trial + 1)
        one.num_runs = max(one.num_runs, trial + 1)
        one.cases += self._seen.add(line.case.number)
        _add_names(one.metrics, line.case.metrics)
        one.rule = one.rule or (line.case.rule.rule() if line.case.rule else None)

    def recorded(self, path: Path, agent: str, run_id: str) -> RecordedRun:
        self._run.agent, self._run.run_id = agent, run_id
        self._run.sets = list(self._sets.values())
        totals = Totals(self._said.outcome, self._said.counts)
        cases = partial(_cases, path, self._places)
        return RecordedRun(LINES, self._run, cases, totals=totals, doubts=list(self._doubts)[:1])


def _add_names(known: list[str], names: Iterable[str]) -> None:
    known += [name for name in names if name not in known]
