"""What is seen of a run while it is under way and at its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from proctor.cli.common import common
from proctor.engine.progress import Progress, Silent
from proctor.reports.base import Report, ReportOptions
from proctor.schema.verdict import CaseResult, Outcome, RunResult


class Screen:
    """Follows a run: a live display on a terminal, lines elsewhere, nothing where stdout is a report's.

    Nothing that goes wrong with the display reaches the run.
    """

    def __init__(self, stdout: TextIO, *, details: bool, only_different: bool, is_taken: bool) -> None:
        """Take the `stdout` to draw on; `is_taken` when a report goes there."""
        self.runs: list[RunResult] = []
        """Every run so far, the one under way included."""
        color = False if common().no_color else None
        self._options = ReportOptions(verbose=details, only_different=only_different, color=color)
        self._stdout = stdout
        self._is_taken = is_taken
        self._progress = self._choose_progress()

    def _choose_progress(self) -> Progress:
        out = sys.stderr if self._is_taken else self._stdout
        if _is_terminal(out):
            from proctor.reports.live import LiveProgress

            return LiveProgress(out, self._options)
        return Silent()

    def write(self, runs: Sequence[RunResult]) -> None:
        """Write the result for people, unless stdout is a report's."""
        if self._is_taken:
            return
        with suppress(BrokenPipeError):
            self._report().write(runs, self._stdout, options=self._options)
            self._stdout.flush()

    def _report(self) -> Report:
        if _is_terminal(self._stdout):
            from proctor.reports.terminal import TerminalReport

            return TerminalReport()
        from proctor.reports.plain import PlainReport

        return PlainReport()

    # --- Progress ----------------------------------------------------------------------------------------------------

    def run_started(self, run: RunResult, trials: int) -> None:
        """Follow the next run."""
        self.runs.append(run)
        with suppress(Exception):
            self._progress.run_started(run, trials)

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._progress.trial_finished(eval_set_id, eval_id, outcome)

    def case_finished(self, result: CaseResult) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._progress.case_finished(result)

    def run_finished(self, run: RunResult) -> None:
        """Pass it on."""
        with suppress(Exception):
            self._progress.run_finished(run)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (OSError, ValueError):
        return False
