"""A run as CSV, for spreadsheets: one row a trial, two columns for each metric (docs/reference/results/exports.md).

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and a formula can send data away or
start a program. Such text gets an apostrophe as a prefix, which marks it as text; numbers stay numbers. `csv-raw`
leaves text unchanged, for programs that read CSV.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, ClassVar, TextIO

from proctor.common.safe_text import clean, cut_text, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_digest import reason_of
from proctor.schema.evidence.trial import Failure, Trial
from proctor.schema.format.content import text_of
from proctor.schema.results.run_result import CaseResult, RunResult, TrialResult

Cell = str | int | float | None

COLUMNS = (
    "agent",
    "eval_set_id",
    "eval_id",
    "trial",
    "outcome",
    "case_outcome",
    "reason",
    "failure",
    "duration",
    "turns",
    "asked",
    "answered",
    "tool_calls",
    "place",
)
"""The columns of every row, followed by `METRIC` and `METRIC outcome` for each metric."""

LONGEST = 32_000
"""Characters of a cell; spreadsheets take 32,767."""

# characters that Unicode's NFKC folds to = + - @, and the minus sign
_TWINS = r"\u207a-\u207c\u208a-\u208c\u2212\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
_FORMULA = re.compile(
    rf"""["'`\s\u00a0\u200b-\u200f\ufeff\u2018\u2019\u201c\u201d\u3000\uff02\uff07]*[=+\-@\t\r{_TWINS}]"""
)


def neutral(text: str) -> str:
    """Return `text` with an apostrophe before it where a spreadsheet might take it for a formula.

    That is: it begins with = + - @ TAB or CR, or their fullwidth twins, or does so behind quotes or blanks. No two
    texts become the same: `original` undoes it.
    """
    return f"'{text}" if _FORMULA.match(text) else text


def original(text: str) -> str:
    """Return the text that `neutral` made `text` of."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text


class CsvReport:
    """One row a trial; text that a spreadsheet would take for a formula is marked as text."""

    needs_evidence: ClassVar[bool] = True
    neutralised: ClassVar[bool] = True

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`.

        Which metrics there are is known for certain when the last case has been seen: the rows wait in a temporary
        file, not in memory.
        """
        metrics = dict.fromkeys(name for run in runs for one in run.sets for name in one.metrics)
        with TemporaryFile("w+", encoding="utf-8", errors="replace", newline="\n") as waiting:
            for row in _note(options.note) if options.note else _rows(runs, metrics):
                waiting.write(json.dumps(row) + "\n")
            header = [*COLUMNS, *(title for name in metrics for title in _titles(name))]
            waiting.seek(0)
            self._write_rows(header, waiting, out)

    def _write_rows(self, header: list[str], waiting: IO[str], out: TextIO) -> None:
        encoding = getattr(out, "encoding", None)
        writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow([self._cell(title, encoding) for title in header])
        for line in waiting:
            row = [self._cell(cell, encoding) for cell in json.loads(line)]
            writer.writerow(row + [""] * (len(header) - len(row)))

    def _cell(self, cell: Cell, encoding: str | None) -> str | int | float:
        if cell is None:
            return ""
        if not isinstance(cell, str):
            return cell
        text = cut_text(encodable(clean(cell, lines=True), encoding), LONGEST)
        return neutral(text) if self.neutralised else text


def _titles(metric: str) -> tuple[str, str]:
    """The titles of a metric's two columns; one that is called as another column is called otherwise."""
    name = f"{metric} score" if metric in COLUMNS else metric
    return name, f"{name} outcome"


class RawCsvReport(CsvReport):
    """The same without the apostrophes: for programs, not for spreadsheets."""

    neutralised: ClassVar[bool] = False


def _rows(runs: Iterable[RunResult], metrics: dict[str, None]) -> Iterator[list[Cell]]:
    """Return the rows; metrics that were not known are added to `metrics`, so that earlier rows only lack cells."""
    for run in runs:
        for case in run.cases:
            metrics.update(dict.fromkeys(case.metrics))
            for index, trial in enumerate(case.trials):
                yield [run.agent, *_trial_cells(case, trial), *_scores(case, index, metrics)]
            if not case.trials:
                yield [run.agent, *_case_cells(case)]
        for one in run.sets:
            if one.failure is not None:
                yield [run.agent, *_broken(one.eval_set_id, one.failure, one.path)]
        if run.failure is not None:
            yield [run.agent, *_broken(None, run.failure, None)]


def _note(note: str) -> Iterator[list[Cell]]:
    """The row of a report without runs."""
    yield ["", None, None, None, "not_run", None, note]


def _trial_cells(case: CaseResult, result: TrialResult) -> list[Cell]:
    trial = result.trial
    head: list[Cell] = [case.eval_set_id, case.eval_id, result.number, result.outcome.value]
    failure = result.failure.cause if result.failure else None
    facts = _trial_facts(trial) if trial else [None] * 5
    return [*head, case.outcome.value, reason_of(case), failure, *facts, case.place]


def _trial_facts(trial: Trial) -> list[Cell]:
    """Return the duration, the number of turns, the messages, the answers and the tool calls."""
    done = trial.invocations
    return [
        trial.duration,
        len(done),
        "\n".join(text_of(one.user_content) for one in done),
        "\n".join(text_of(one.final_response, thoughts=False) for one in done),
        ", ".join(call.name or "" for one in done for call in one.tool_calls),
    ]


def _case_cells(case: CaseResult) -> list[Cell]:
    """Return the row of a case without a trial."""
    outcome = case.outcome.value
    head: list[Cell] = [case.eval_set_id, case.eval_id, None, outcome, outcome, reason_of(case)]
    return [*head, *[None] * 6, case.place]


def _broken(eval_set_id: str | None, failure: Failure, place: str | None) -> list[Cell]:
    """A set that could not be run, or a run that could not continue."""
    return [eval_set_id, None, None, "error", None, None, failure.cause, *[None] * 5, place]


def _scores(case: CaseResult, index: int, metrics: Iterable[str]) -> Iterator[Cell]:
    for name in metrics:
        metric = case.metrics.get(name)
        score = metric.per_trial[index] if metric is not None and index < len(metric.per_trial) else None
        yield score.value if score is not None else None
        yield metric.outcome_in(index).value if metric is not None and score is not None else None
