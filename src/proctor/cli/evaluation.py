"""The work of `proctor eval`: run what was asked for, show what came of it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from proctor import api
from proctor.cli.asking import Asking
from proctor.cli.common import common
from proctor.cli.failures import ERROR, Stopped, say
from proctor.cli.outputs import write_outputs
from proctor.cli.process import imports_go_on, stdout_is_ours
from proctor.cli.request import prepare_process
from proctor.cli.running import run_until_stopped
from proctor.cli.screen import Screen
from proctor.reports.base import ReportOptions
from proctor.reports.show import is_terminal
from proctor.reports.summary import exit_code
from proctor.schema.verdict import Outcome, RunResult
from proctor.settings import load_settings


def run_and_show(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for; nothing was run.
        Stopped: somebody stopped the run; what had finished is shown and in the reports.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    _show_logs(given["log_level"])
    with stdout_is_ours() as stdout:
        asking = Asking(words, given, settings)
        if asking.is_empty:
            say(f"nothing to run: every case passed in {given['failed']}")
            return 0
        return _Evaluation(asking, stdout).carry_out()


class _Evaluation:
    """One evaluation, of one agent or of several."""

    def __init__(self, asking: Asking, stdout: TextIO) -> None:
        self._asking = asking
        self._stdout = stdout
        self._stdout_is_free = not any(output.path is None for output in asking.outputs)
        options = ReportOptions(
            verbose=asking.details,
            only_different=asking.only_different,
            color=False if common().no_color else None,
        )
        self._screen = Screen(sys.stderr, options)

    def carry_out(self) -> int:
        try:
            with self._screen, imports_go_on():
                runs = run_until_stopped(self._evaluate, lambda: bool(self._screen.runs))
        except Stopped:
            if self._screen.runs:
                self._show(self._screen.runs)
                say(_how_far(self._screen.runs))
            raise
        is_written = self._show(runs)
        code = exit_code(runs)
        if is_written and code:
            self._say_how_to_go_on()
        return code if is_written or code == 1 else ERROR

    async def _evaluate(self) -> list[RunResult]:
        agents, sets = self._asking.chosen.agents, self._asking.chosen.sets
        options: dict[str, Any] = {
            **self._asking.options,
            "progress": self._screen,
            "explain": "all" if self._asking.details else "failures",
            "keep_evidence": "all" if self._needs_evidence() else "failures",
        }
        if len(agents) == 1:
            return [await api.evaluate(agents[0], sets, **options)]
        return await api.evaluate_matrix(agents, sets, **options)

    def _needs_evidence(self) -> bool:
        wanted = [getattr(output.report, "needs_evidence", True) for output in self._asking.outputs]
        return self._asking.details or any(wanted)

    def _show(self, runs: Sequence[RunResult]) -> bool:
        """Show the runs and write their reports; returns whether all reports were written."""
        if self._stdout_is_free:
            self._screen.show(runs, self._stdout)
        return write_outputs(self._asking.outputs, runs, self._stdout, verbose=self._asking.details)

    def _say_how_to_go_on(self) -> None:
        """At a terminal, where a report was written that `--failed` can read."""
        written = [one.path for one in self._asking.outputs if one.name == "json" and one.path]
        if written and is_terminal(sys.stderr):
            say(f"The same command with --failed {written[0]} runs again only what did not pass.")


def _how_far(runs: Sequence[RunResult]) -> str:
    cases = [case for run in runs for case in run.cases]
    done = sum(case.outcome is not Outcome.NOT_RUN for case in cases)
    return f"stopped: {done} of {len(cases)} cases had finished; the others were not run"


def _show_logs(level: str | None) -> None:
    """Let libraries log to stderr from `level` on; without one, as loud as `-v` says."""
    chosen = level or ("DEBUG" if common().verbose > 1 else None)
    if chosen:
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )
