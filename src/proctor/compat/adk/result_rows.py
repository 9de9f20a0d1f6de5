"""What each metric found in each turn of each run, in the columns of google-adk's tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from proctor.common.safe_text import clean
from proctor.compat.adk.argument_errors import setup_error
from proctor.errors import SetupError
from proctor.reports.formats.csv import neutral
from proctor.runs.output_guard import ADK_TABLE, OutputGuard
from proctor.runs.storage.open import kept_stores
from proctor.schema.format.content import FunctionCall, text_of
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.result import EvalStatus
from proctor.schema.results.run_result import CaseResult, MetricVerdict

COLUMNS = (
    "eval_set_id", "eval_id", "metric_name", "threshold", "score", "eval_status",
    "prompt", "expected_response", "actual_response", "expected_tool_calls", "actual_tool_calls",
)  # fmt: skip

Expected = Sequence[Invocation] | None
"""The recorded conversation of a case; `None` for a scenario."""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric in one turn of one run."""

    metric: MetricVerdict
    status: EvalStatus
    score: float | None
    actual: Invocation | None
    expected: Invocation | None

    def text_columns(self, call_text: Callable[[FunctionCall], str]) -> tuple[str, ...]:
        """Return the columns of text, with calls written by `call_text`."""
        actual, expected = self.actual, self.expected
        turn = actual or expected
        prompt = text_of(turn.user_content) if turn else ""
        answers = (text_of(one.final_response) if one else "" for one in (expected, actual))
        calls = ("\n".join(map(call_text, one.tool_calls)) if one else "" for one in (expected, actual))
        return prompt, *answers, *calls


def rows_of(case: CaseResult, metric: MetricVerdict, expected: Expected) -> Iterator[Row]:
    """Return the rows of one metric: the turns of each run; a run that broke has one, for the turn it broke in."""
    for index, result in enumerate(case.trials):
        score = metric.per_trial[index] if index < len(metric.per_trial) else None
        invocations = result.trial.invocations if result.trial is not None else []
        if score is None:
            broken = invocations[-1] if invocations else None
            yield Row(metric, EvalStatus.NOT_EVALUATED, None, broken, _at(expected, len(invocations) - 1))
            continue
        for turn, turn_score in enumerate(score.per_invocation):
            verdict = metric.judge(turn_score)
            yield Row(metric, verdict.status, verdict.score, _at(invocations, turn), _at(expected, turn))


def append_csv(path: str | os.PathLike[str], rows: Iterable[tuple[CaseResult, Row]]) -> None:
    """Append the rows to a CSV file, which `check_csv` has begun.

    Text that a spreadsheet would take for a formula is marked as text.

    Raises:
        OSError: the file cannot be written any more.
    """
    text = StringIO()  # written at once, so that the rows of two processes do not mix
    csv.writer(text, lineterminator="\n").writerows(_cells(case, row) for case, row in rows)
    with Path(path).open("a", encoding="utf-8", errors="replace", newline="") as file:
        file.write(text.getvalue())


def check_csv(path: str | os.PathLike[str]) -> None:
    """Make sure that a CSV file can be appended to; a new one gets the header and, where it is missing, its folder.

    Raises:
        InvalidSetupError: it cannot be written, or is another file than such a table.
    """
    path = Path(path)
    guard = OutputGuard(make_parents=True, stores=kept_stores())  # google-adk creates the folder as well
    try:
        guard.check(path, ADK_TABLE, f"output_file {path}", appends=True)
    except SetupError as error:
        raise setup_error(str(error)) from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", newline="") as file:
            if not path.stat().st_size:
                csv.writer(file, lineterminator="\n").writerow(COLUMNS)
    except OSError as error:
        raise setup_error(f"output_file {path}: cannot be written: {error.strerror or error}") from error


def _cells(case: CaseResult, row: Row) -> list[str | float | None]:
    metric = row.metric
    columns = (neutral(clean(text, lines=True)) for text in row.text_columns(_call))
    where = neutral(clean(case.eval_set_id)), neutral(clean(case.eval_id)), neutral(clean(metric.name))
    return [*where, metric.threshold, row.score, row.status.name, *columns]


def _at(invocations: Expected, turn: int) -> Invocation | None:
    return invocations[turn] if invocations and 0 <= turn < len(invocations) else None


def _call(call: FunctionCall) -> str:
    """A call as google-adk prints it, for programs that read such files."""
    fields = ("id", "args", "name", "partial_args", "will_continue")
    return " ".join(f"{name}={getattr(call, name)!r}" for name in fields)
