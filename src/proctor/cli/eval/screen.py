"""What is seen of a run: its progress on stderr, its result on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from proctor.cli.status_file import tell_run
from proctor.reports.base import ReportOptions
from proctor.reports.terminal.choose import show
from proctor.reports.terminal.progress import watch
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from proctor.schema.results.estimate import Estimate


class Screen:
    """Follows runs and remembers them, so that a run that is stopped can still be shown.

    Nothing that goes wrong with a display reaches the run. Use as a context manager.
    """

    def __init__(self, progress_to: TextIO, options: ReportOptions) -> None:
        """Take where the progress goes, and how much is shown."""
        self.runs: list[RunResult] = []
        """Every run so far, the one under way included."""
        self._under_way: list[RunResult] = []
        self._options = options
        self._watch = watch(progress_to, options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):
            self._watch.close()

    def show(self, runs: Sequence[RunResult], stdout: TextIO) -> None:
        """Write the result for people."""
        with suppress(BrokenPipeError):
            show(runs, stdout, options=self._options)
            stdout.flush()

    def run_started(self, run: RunResult, trials: int) -> None:
        """Follow the next run."""
        self.runs.append(run)
        self._under_way.append(run)
        tell_run(run.run_id, trials)
        with suppress(Exception):
            self._watch.run_started(run, trials)

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._watch.trial_finished(eval_set_id, eval_id, outcome)

    def case_finished(self, result: CaseResult) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._watch.case_finished(result)

    def run_finished(self, run: RunResult) -> None:
        """Pass it on."""
        self._under_way = [one for one in self._under_way if one is not run]
        with suppress(Exception):
            self._watch.run_finished(run)

    def warned(self, text: str) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._watch.warned(text)

    def estimated(self, found: Estimate) -> None:
        """Say what the run that begins will take."""
        from proctor.cli.errors import say
        from proctor.reports.content.estimate import brief

        say(f"{found.trials} trials: {brief(found)}, by {found.seen} cases of run {found.run_id}")

    @property
    def resumable(self) -> list[RunResult]:
        """The runs that are kept and of which something is left to run."""
        left = (run for run in self.runs if _is_cut_short(run) or any(run is one for one in self._under_way))
        return [run for run in left if run.run_id]


def _is_cut_short(run: RunResult) -> bool:
    """Tell whether a run ended early; one whose store failed says itself what to do."""
    return run.failure is None and bool(run.interrupted or run.stopped_by)
