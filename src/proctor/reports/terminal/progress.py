"""Watching a run: a bar on a terminal, a line now and then elsewhere.

Both keep the contract of a progress (`run_started`, `trial_finished`, `case_finished`, `run_finished`) and are context
managers, so that the bar disappears however the run ends.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions, is_terminal, wants_color
from proctor.reports.content.case_digest import TELLING, reason_of
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.summary import duration
from proctor.reports.content.symbols import marks_for
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress, TaskID
    from rich.text import Text

_FLUSH_EVERY = 0.12
PATIENCE = 2.0
"""Seconds before the first failure is printed above the bar; of a shorter run the report is there at once."""
MOST_FAILURES = 20
"""Failures that are printed above the bar; all of them are in the report."""
QUIET_SECONDS = 10.0
"""Elsewhere a line is written at most this long after the last one."""


class Tally:
    """Counts what ended; several runs at once, or one after the other, add up."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the `clock` in seconds."""
        self.clock = clock
        self.started = clock()
        self.total = 0
        self.done = 0
        self.outcomes: Counter[Outcome] = Counter()
        self.open_runs = 0

    def add(self, outcome: Outcome) -> None:
        """Count one trial."""
        self.done += 1
        self.outcomes[outcome] += 1

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.clock() - self.started

    @property
    def rate(self) -> float:
        """Trials a second since the start."""
        return self.done / self.elapsed if self.elapsed > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that are left at this rate; unknown at the start."""
        return (self.total - self.done) / self.rate if self.done and self.rate else None


class _Watch:
    """What both ways of watching share."""

    def __init__(self, out: TextIO, clock: Callable[[], float]) -> None:
        self._out = out
        self._tally = Tally(clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching."""

    def _counts(self) -> list[tuple[Outcome, int]]:
        return [
            (outcome, self._tally.outcomes[outcome]) for outcome in Outcome if self._tally.outcomes[outcome]
        ]

    def _speed(self) -> str:
        rate, left = self._tally.rate, self._tally.left
        speed = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        return f"{speed}, {duration(left)} left" if left is not None else duration(self._tally.elapsed)


class LineWatch(_Watch):
    """Writes a line for each tenth of the way, at most one a second, and one after 10 seconds without a line."""

    def __init__(self, out: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(out, clock)
        self._last = clock()
        self._next_step = 1

    def run_started(self, run: RunResult, trials: int) -> None:
        """Add `trials` to the expected number."""
        del run
        self._tally.total += trials

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Count, and write a line when it is time."""
        del eval_set_id, eval_id
        self._tally.add(outcome)
        silent = self._tally.clock() - self._last
        step = 10 * self._tally.done // max(1, self._tally.total)
        unfinished = self._tally.done < self._tally.total
        if unfinished and (silent >= QUIET_SECONDS or (step >= self._next_step and silent >= 1)):
            self._write()
            self._next_step = step + 1

    def case_finished(self, result: CaseResult) -> None:
        """Write nothing: the report follows."""

    def run_finished(self, run: RunResult) -> None:
        """Write nothing: the report follows."""

    def warned(self, text: str) -> None:
        """Write it at once."""
        self._out.write(f"warning: {encodable(clean(text), getattr(self._out, 'encoding', None))}\n")
        self._out.flush()

    def _write(self) -> None:
        self._last = self._tally.clock()
        counts = ", ".join(f"{n} {WORDS[outcome]}" for outcome, n in self._counts())
        share = 100 * self._tally.done // max(1, self._tally.total)
        self._out.write(
            f"{self._tally.done}/{self._tally.total} trials ({share} %): {counts}; {self._speed()}\n"
        )
        self._out.flush()


class BarWatch(_Watch):
    """Draws a bar with counts, rate and time left, and prints failures above it as they come."""

    def __init__(
        self, out: TextIO, options: ReportOptions = DEFAULTS, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(out, clock)
        self._marks = marks_for(getattr(out, "encoding", None) or "utf-8", symbols=options.symbols)
        self._options = options
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._told = 0
        self._waiting: list[CaseResult] = []
        self._flushed = clock()

    def run_started(self, run: RunResult, trials: int) -> None:
        """Show the bar, or make it longer."""
        del run
        self._tally.total += trials
        self._tally.open_runs += 1
        if self._bar is None:
            self._bar = self._new_bar()
            self._task = self._bar.add_task("", total=self._tally.total)
            self._bar.start()

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Count; the bar reads the counts when it is drawn."""
        del eval_set_id, eval_id
        self._tally.add(outcome)
        if self._waiting:
            self._flush_in_time()

    def case_finished(self, result: CaseResult) -> None:
        """Remember what did not pass, to print it above the bar."""
        if result.outcome in TELLING:
            self._waiting.append(result)
            self._flush_in_time()

    def run_finished(self, run: RunResult) -> None:
        """Remove the bar when no run is left."""
        del run
        self._tally.open_runs -= 1
        if self._tally.open_runs <= 0:
            self.close()

    def warned(self, text: str) -> None:
        """Print it above the bar."""
        self._print(None, f"warning: {text}")

    def close(self) -> None:
        """Print what waits, and take the bar away."""
        if self._bar is not None:
            self._flush()
            self._bar.stop()
            self._bar = None

    def _new_bar(self) -> RichProgress:
        from proctor.reports.terminal.progress_bar import new_bar

        return new_bar(self._out, self._options, self._sync, self._outcome_counts)

    def _sync(self) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._tally.done, total=self._tally.total)

    def _outcome_counts(self) -> Text:
        from proctor.reports.terminal.progress_bar import counts_text

        done = f"{self._tally.done}/{self._tally.total}"
        signs = [(f"{n} {self._marks.outcome(outcome)}", outcome) for outcome, n in self._counts()]
        return counts_text(done, signs, self._speed())

    def _flush_in_time(self) -> None:
        if self._tally.clock() - self._flushed >= _FLUSH_EVERY:
            self._flush()

    def _flush(self) -> None:
        if self._tally.elapsed < PATIENCE:
            return
        self._flushed = self._tally.clock()
        waiting, self._waiting = self._waiting, []
        for result in waiting[: max(0, MOST_FAILURES - self._told)]:
            self._print(result.outcome, f"{result.eval_id}  {reason_of(result)}")
        if self._told <= MOST_FAILURES < self._told + len(waiting):
            self._print(None, "more failures are not shown here; the report has all of them")
        self._told += len(waiting)

    def _print(self, outcome: Outcome | None, text: str) -> None:
        from proctor.reports.terminal.progress_bar import print_above

        sign = self._marks.outcome(outcome) if outcome is not None else self._marks.cut
        safe = encodable(clean(text), getattr(self._out, "encoding", None))
        if self._bar is not None:
            print_above(self._bar, sign, safe, outcome)


def watch(out: TextIO, options: ReportOptions = DEFAULTS) -> LineWatch | BarWatch:
    """Return what suits `out`, usually stderr: a bar on a terminal with colour, lines elsewhere.

    Without colour no escape sequence may be written, and a bar cannot move without one.
    """
    return BarWatch(out, options) if is_terminal(out) and wants_color(options) else LineWatch(out)
