"""Run or score, with progress on stderr and the result on stdout; write the reports and suggest the next command."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from proctor.cli.errors import ERROR, say, show_setup_error
from proctor.cli.eval.interrupts import Stop, run_until_stopped
from proctor.cli.eval.stores import Keeping
from proctor.cli.report_outputs import Output, write_outputs
from proctor.cli.status_file import tell_run
from proctor.cli.streams import imports_go_on
from proctor.engine.execution.run_control import StopRequest
from proctor.errors import ProctorError, StoreError
from proctor.reports.base import ReportOptions
from proctor.reports.content.summary import exit_code
from proctor.reports.terminal.choose import is_terminal, show
from proctor.reports.terminal.progress import watch
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

if TYPE_CHECKING:
    from proctor.schema.analysis.comparison import Comparison
    from proctor.schema.results.model_usage import Estimate
    from proctor.stores.base import Store

Start = Callable[[dict[str, Any]], Coroutine[Any, Any, Sequence[RunResult]]]
"""Coroutine function that takes the options `progress`, `stop`, `explain` and `keep_evidence`, and runs."""


@dataclass(slots=True)
class Shown:
    """How the result is shown, and where it is written."""

    outputs: Sequence[Output] = ()
    verbose: bool = False
    only_different: bool = False
    color: bool | None = None
    keeping: Keeping = field(default_factory=Keeping)
    way_on: str = "`proctor resume {run}` goes on with it"
    """Message after an interrupted run: the command that continues it."""

    @property
    def needs_evidence(self) -> bool:
        """Whether any output shows the evidence of every trial."""
        wanted = (getattr(output.report, "needs_evidence", True) for output in self.outputs)
        return self.verbose or bool(self.keeping.adk) or any(wanted)


class Execution:
    """One execution of one agent, or of several agents."""

    def __init__(self, shown: Shown, stdout: TextIO) -> None:
        self._shown = shown
        self.stdout = stdout
        self.stdout_is_free = not any(output.path is None for output in shown.outputs)
        """Whether stdout has only the terminal report, and no other report."""
        self.afterwards: Callable[[Sequence[RunResult]], None] = lambda _: None
        """Called after the result has been shown, unless the run was interrupted."""
        self.code_of: Callable[[Sequence[RunResult]], int] = exit_code
        """Returns the exit code for the runs; called before the reports are written, and again after that."""
        options = ReportOptions(verbose=shown.verbose, only_different=shown.only_different, color=shown.color)
        self._screen = Screen(sys.stderr, options)

    @property
    def has_run(self) -> bool:
        """Whether any run has begun."""
        return bool(self._screen.runs)

    def carry_out(self, start: Start) -> int:
        """Run until the end or until a signal stops the run, show the result, and return the exit code."""
        try:
            return self._carried_out(start)
        except StoreError as error:
            if not self.has_run:
                raise
            # the store failed while its result was read: do not report that nothing was run
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
        except KeyboardInterrupt:  # the run has ended, and the user interrupts its report
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
        """Return the exit code for the reports; `None` means the exit code of the outcomes."""
        try:
            return self.code_of(runs)
        except ProctorError:  # raised again, and reported, by the second call after the reports
            return None

    def _show(self, runs: Sequence[RunResult], code: int | None) -> bool:
        """Show the runs and write their reports; return whether all reports were written."""
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

    # --- Closing messages --------------------------------------------------------------------------------------------

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
        """Suggest `proctor resume` for interrupted runs, and on a terminal the commands that show details."""
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
        looks_closer = run.counts.keys() & _TELLING  # skip a long search if every case passed
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


# --- Progress on stderr and result on stdout --------------------------------------------------------------------------


class Screen:
    """Displays the progress of runs and remembers them, so that an interrupted run can still be shown.

    An error of the display never affects the run. Use as a context manager.
    """

    def __init__(self, progress_to: TextIO, options: ReportOptions) -> None:
        """Start with no runs; `progress_to` is the stream of the progress display."""
        self.runs: list[RunResult] = []
        """All runs so far, including the current one."""
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
        """Write the terminal report."""
        with suppress(BrokenPipeError):
            show(runs, stdout, options=self._options)
            stdout.flush()

    def run_started(self, run: RunResult, trials: int) -> None:
        """Register the run that begins."""
        self.runs.append(run)
        self._under_way.append(run)
        tell_run(run.run_id, trials)
        with suppress(Exception):
            self._watch.run_started(run, trials)

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Forward the event to the progress display."""
        with suppress(Exception):
            self._watch.trial_finished(eval_set_id, eval_id, outcome)

    def case_finished(self, result: CaseResult) -> None:
        """Forward the event to the progress display."""
        with suppress(Exception):
            self._watch.case_finished(result)

    def run_finished(self, run: RunResult) -> None:
        """Forward the event to the progress display."""
        self._under_way = [one for one in self._under_way if one is not run]
        with suppress(Exception):
            self._watch.run_finished(run)

    def warned(self, text: str) -> None:
        """Forward the warning to the progress display."""
        with suppress(Exception):
            self._watch.warned(text)

    def estimated(self, found: Estimate) -> None:
        """Print the estimate of the run that begins."""
        from proctor.cli.errors import say
        from proctor.reports.content.estimate import brief

        say(f"{found.trials} trials: {brief(found)}, by {found.seen} cases of run {found.run_id}")

    @property
    def resumable(self) -> list[RunResult]:
        """The stored runs that are not finished."""
        left = (run for run in self.runs if _is_cut_short(run) or any(run is one for one in self._under_way))
        return [run for run in left if run.run_id]


def _is_cut_short(run: RunResult) -> bool:
    """Return whether a run was interrupted; a failed run has its own message."""
    return run.failure is None and bool(run.interrupted or run.stopped_by)


# --- Runs that are compared with a baseline (`--against RUN`) ----------------------------------------------------------

_WORST_FIRST = (1, 3, 4, 0)


def carry_out_against(
    execution: Execution, start: Start, store: Store | None, against: str, margin: float | None = None
) -> int:
    """Run, show the result and its comparison with the baseline run `against`, and return the exit code.

    The exit code is that of the comparison (with several agents the worst one), unless a run stopped early or an output
    could not be written.
    """
    from proctor.analysis.compare.until_decided import compared_as_begun

    comparisons: list[Comparison] = []

    def compare(runs: Sequence[RunResult]) -> list[Comparison]:
        if not comparisons:
            ended = [run for run in runs if not (run.stopped_by or run.failure)]
            comparisons.extend(compared_as_begun(run, against, store, margin) for run in ended)
        return comparisons

    def code_of(runs: Sequence[RunResult]) -> int:
        if len(compare(runs)) < len(runs) or not comparisons:
            return exit_code(runs) or ERROR
        return min((comparison.exit_code for comparison in comparisons), key=_WORST_FIRST.index)

    execution.afterwards, execution.code_of = (
        lambda runs: _show_comparisons(compare(runs), execution),
        code_of,
    )
    return execution.carry_out(start)


def _show_comparisons(comparisons: Sequence[Comparison], execution: Execution) -> None:
    from proctor.analysis.compare.reports.write import write_comparison

    for comparison in comparisons:
        if execution.stdout_is_free:
            execution.stdout.write("\n")
            write_comparison(comparison, execution.stdout)
        else:
            say(comparison.sentence)
