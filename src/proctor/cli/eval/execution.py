"""Carrying out what runs or judges: progress on stderr, the result on stdout, reports, and how it goes on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TextIO

from proctor.cli.errors import ERROR, say, show_setup_error
from proctor.cli.eval.interrupts import Stop, run_until_stopped
from proctor.cli.eval.screen import Screen
from proctor.cli.eval.stores import Keeping
from proctor.cli.report_outputs import Output, write_outputs
from proctor.cli.streams import imports_go_on
from proctor.common.quick_dataclasses import dataclass, field
from proctor.engine.execution.stop_request import StopRequest
from proctor.errors import ProctorError, StoreError
from proctor.reports.base import ReportOptions
from proctor.reports.content.summary import exit_code
from proctor.reports.terminal.choose import is_terminal
from proctor.schema.results.run_result import Outcome, RunResult

Start = Callable[[dict[str, Any]], Coroutine[Any, Any, Sequence[RunResult]]]
"""Takes the options `progress`, `stop`, `explain` and `keep_evidence`, and runs."""


@dataclass(slots=True)
class Shown:
    """How the result is shown, and where it goes."""

    outputs: Sequence[Output] = ()
    verbose: bool = False
    only_different: bool = False
    color: bool | None = None
    keeping: Keeping = field(default_factory=Keeping)
    way_on: str = "`proctor resume {run}` goes on with it"
    """What is said of a run that did not come to its end."""

    @property
    def needs_evidence(self) -> bool:
        """Whether the evidence of every trial is shown somewhere."""
        wanted = (getattr(output.report, "needs_evidence", True) for output in self.outputs)
        return self.verbose or bool(self.keeping.adk) or any(wanted)


class Execution:
    """One execution, of one agent or of several."""

    def __init__(self, shown: Shown, stdout: TextIO) -> None:
        self._shown = shown
        self.stdout = stdout
        self.stdout_is_free = not any(output.path is None for output in shown.outputs)
        """Whether nothing but the result for people goes to stdout."""
        self.afterwards: Callable[[Sequence[RunResult]], None] = lambda _: None
        """Called when the result of something that was not stopped has been shown."""
        self.code_of: Callable[[Sequence[RunResult]], int] = exit_code
        """Says what the runs come to as an exit code; called before reports are written, and after that."""
        options = ReportOptions(verbose=shown.verbose, only_different=shown.only_different, color=shown.color)
        self._screen = Screen(sys.stderr, options)

    @property
    def has_run(self) -> bool:
        """Whether anything was run at all."""
        return bool(self._screen.runs)

    def carry_out(self, start: Start) -> int:
        """Run until it ends or somebody stops it, show what came of it, and return the exit code."""
        try:
            return self._carried_out(start)
        except StoreError as error:
            if not self.has_run:
                raise
            # the store broke when its result was read: that nothing was run is not true
            show_setup_error(error)
            return ERROR

    def _carried_out(self, start: Start) -> int:
        request = StopRequest()
        stop = Stop(request, has_begun=lambda: bool(self._screen.runs), farewell=self._say_how_to_resume)
        options: dict[str, Any] = {
            "progress": self._screen,
            "stop": request,
            "explain": "all" if self._shown.verbose else "failures",
            "keep_evidence": "all" if self._shown.needs_evidence else "failures",
        }
        try:
            with self._screen, imports_go_on():
                runs = run_until_stopped(lambda: start(options), stop)
            is_written = self._show(runs, self._reported_code(runs) if stop.code is None else stop.code)
        except KeyboardInterrupt:  # the run is over, and somebody has no patience with its report
            self._say_how_to_resume()
            raise
        self._say_what_broke(runs)
        if stop.code is not None:
            say(_how_far(runs))
            self._say_how_to_resume()
            return stop.code
        self.afterwards(runs)
        code = self.code_of(runs)
        self._say_how_to_go_on(runs, code)
        return code if is_written or code == 1 else ERROR

    def _reported_code(self, runs: Sequence[RunResult]) -> int | None:
        """The exit code that reports tell; `None`: that of the outcomes."""
        try:
            return self.code_of(runs)
        except ProctorError:  # said when it is asked for again, once everything is written
            return None

    def _show(self, runs: Sequence[RunResult], code: int | None) -> bool:
        """Show the runs and write their reports; returns whether all reports were written."""
        if self.stdout_is_free:
            self._screen.show(runs, self.stdout)
        reported = write_outputs(
            self._shown.outputs,
            runs,
            self.stdout,
            verbose=self._shown.verbose,
            exit_code=code,
            store=self._shown.keeping.store,
        )
        return self._shown.keeping.write_results(runs) and reported

    # --- closing lines -----------------------------------------------------------------------------------------------

    def _say_what_broke(self, runs: Sequence[RunResult]) -> None:
        broken = [(run, run.failure) for run in runs if run.failure is not None]
        for message in dict.fromkeys(failure.message for _, failure in broken):
            say(f"error: {message}")
        for run, failure in broken:
            if failure.where == "agent" and run.run_id:
                say(self._shown.way_on.format(run=run.run_id))

    def _say_how_to_resume(self) -> None:
        for run in self._screen.resumable:
            say(self._shown.way_on.format(run=run.run_id))

    def _say_how_to_go_on(self, runs: Sequence[RunResult], code: int) -> None:
        """Name the command that goes on with what was left out, and at a terminal those that look closer."""
        if any(run.stopped_by for run in runs):
            self._say_how_to_resume()
        if not is_terminal(sys.stderr):
            return
        for line in _ways_on(runs):
            say(line)
        written = [one.path for one in self._shown.outputs if one.name == "json" and one.path]
        if code and written and not any(run.run_id for run in runs):
            say(f"The same command with --failed {written[0]} runs again only what did not pass.")


_TELLING = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}


def _ways_on(runs: Sequence[RunResult]) -> Iterator[str]:
    for run in runs:
        if not run.run_id:
            continue
        looks_closer = run.counts.keys() & _TELLING  # or nothing would be found in all of a large run
        failed = (
            next((case.eval_id for case in run.cases if case.outcome in _TELLING), "") if looks_closer else ""
        )
        yield f"  run {run.run_id} · proctor show {run.run_id}{f' {shlex.quote(failed)}' if failed else ''}"


def _how_far(runs: Sequence[RunResult]) -> str:
    total = sum(sum(run.counts.values()) for run in runs)
    left = sum(run.counts.get(Outcome.NOT_RUN, 0) for run in runs)
    if not left:
        return f"stopped: all {total} cases had finished"
    return f"stopped: {total - left} of {total} cases had finished; the others were not run"
