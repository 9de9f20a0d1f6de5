"""Run or score until the end or a signal, with progress on stderr; show the result, write the reports, suggest the next command."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO, TypeVar

from proctor.cli.messages import notify, show_setup_error
from proctor.cli.outputs import RunOutput, RunTargets, report_for, write_outputs
from proctor.cli.own_process import end_now, preserve_import_path, report_run
from proctor.engine.execution.run_control import CANCELLED_FROM_WITHIN, DRAIN, StopRequest, abandon_tasks
from proctor.errors import EvalError, ProctorError, StoreError
from proctor.reports.base import ReportOptions, is_terminal
from proctor.reports.content.case_digest import TELLING, WorstCases
from proctor.reports.content.summary import exit_code_of_runs, passed_share
from proctor.reports.terminal.progress import watch
from proctor.runs.storage.open import store_option
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.run_result import CaseResult, Outcome, RunKind, RunResult

if TYPE_CHECKING:
    from proctor.schema.results.model_usage import Estimate

Start = Callable[[dict[str, Any]], Coroutine[object, object, Sequence[RunResult]]]
"""Coroutine function that takes the options `progress`, `stop`, `explain` and `keep_evidence`, and runs."""


_NO_TARGETS = RunTargets()


class Execution:
    """One execution of one agent, or of several agents."""

    def __init__(
        self,
        stdout: TextIO,
        outputs: Sequence[RunOutput],
        options: ReportOptions,
        targets: RunTargets = _NO_TARGETS,
        resume_hint: str = "`proctor resume {run}{store}` resumes it",
    ) -> None:
        """`outputs` and `targets`: where the result goes; `options`: how the terminal shows it.

        `resume_hint`: the message after an interrupted run, with the command that continues it.
        """
        self.stdout, self.options = stdout, options
        self._outputs, self._targets = outputs, targets
        self.stdout_is_free = not any(output.path is None for output in outputs)
        """Whether stdout has only the terminal report, and no other report."""
        self.after_runs: Callable[[Sequence[RunResult]], None] = lambda _: None
        """Called after the result has been shown, unless the run was interrupted."""
        self.code_of: Callable[[Sequence[RunResult]], int] = exit_code_of_runs
        """Returns the exit code for the runs."""
        self.resume_hint: Callable[[RunResult], str] = lambda run: resume_hint.format(
            run=run.run_id, store=store_option(targets.store)
        )
        """Returns the sentence how an unfinished run is resumed."""
        self._screen = Screen(sys.stderr, options)

    @property
    def has_run(self) -> bool:
        """Whether any run has begun."""
        return bool(self._screen.runs)

    @property
    def _needs_evidence(self) -> bool:
        """Whether any output shows the evidence of every trial."""
        flags = (getattr(output.report, "needs_evidence", True) for output in self._outputs)
        return self.options.verbose or bool(self._targets.adk) or any(flags)

    def carry_out(self, start: Start) -> int:
        """Run until the end or until a signal stops the run, show the result, and return the exit code."""
        try:
            return self._carried_out(start)
        except StoreError as error:
            if not self.has_run:
                raise
            # the store failed while its result was read: do not report that nothing was run
            show_setup_error(error)
            return ExitCode.ERROR

    def _carried_out(self, start: Start) -> int:
        request = StopRequest()
        stop = Stop(
            request,
            has_begun=lambda: bool(self._screen.runs),
            before_run=lambda: self._screen.if_interrupted,
            farewell=self._suggest_resume,
        )
        options: dict[str, Any] = {
            "progress": self._screen,
            "stop": request,
            "explain": "all" if self.options.verbose else "failures",
            "keep_evidence": "all" if self._needs_evidence else "failures",
        }
        try:
            with self._screen, preserve_import_path():
                runs = run_until_signal(lambda: start(options), stop)
            code, problem = self._code_or_problem(runs) if stop.code is None else (stop.code, None)
            is_written = self._show(runs, code)
        except KeyboardInterrupt:  # the run has ended, and the user interrupts its report
            self._suggest_resume()
            raise
        self._report_broken(runs)
        if stop.code is not None:
            notify(_progress_sentence(runs, self._screen.trials_left))
            self._suggest_resume()
            return stop.code
        if code is None:
            raise problem or RuntimeError("there is neither an exit code nor an error")
        self.after_runs(runs)
        self._report_poor_audits(runs)
        self._suggest_next_command(runs, code)
        return code if is_written or code == ExitCode.FAILED else ExitCode.ERROR

    def _code_or_problem(self, runs: Sequence[RunResult]) -> tuple[int | None, ProctorError | None]:
        """Return the exit code, or the error that is raised once the reports, with the code of the outcomes, are written."""
        try:
            return self.code_of(runs), None
        except ProctorError as error:
            return None, error

    def _show(self, runs: Sequence[RunResult], code: int | None) -> bool:
        """Show the runs and write their reports; return whether all reports were written."""
        if self.stdout_is_free:
            self._screen.show(runs, self.stdout)
        reported = write_outputs(
            self._outputs,
            runs,
            self.stdout,
            verbose=self.options.verbose,
            exit_code=code,
            store=self._targets.store,
        )
        return self._targets.write_results(runs) and reported

    # --- Closing messages --------------------------------------------------------------------------------------------

    def _report_broken(self, runs: Sequence[RunResult]) -> None:
        broken = [(run, run.failure) for run in runs if run.failure is not None]
        for message in dict.fromkeys(failure.message for _, failure in broken):
            notify(f"error: {message}")
        for run, failure in broken:
            if failure.where == "agent" and run.run_id:
                notify(self.resume_hint(run))

    def _report_poor_audits(self, runs: Sequence[RunResult]) -> None:
        """Report which sets are known to catch little. A store that broke during the run is reported with the run."""
        store = self._targets.store
        try:
            if store is None or not store.index(RunKind.AUDIT):
                return
            from proctor.authoring.audit.stored_audit import poor_audits

            lines = [line for run in runs if run.run_id for line in poor_audits(store, run.run_id)]
        except StoreError:
            return
        for line in dict.fromkeys(lines):
            notify(line)

    def _suggest_resume(self) -> None:
        for run in self._screen.resumable:
            notify(self.resume_hint(run))

    def _suggest_next_command(self, runs: Sequence[RunResult], code: int) -> None:
        """Suggest `proctor resume` for interrupted runs, and on a terminal the commands that show details."""
        if any(run.stopped_by for run in runs):
            self._suggest_resume()
        if not is_terminal(sys.stderr):
            return
        for line in _show_commands(runs, store_option(self._targets.store)):
            notify(line)
        if code and not any(run.run_id for run in runs):
            self._suggest_rerun()

    def _suggest_rerun(self) -> None:
        """Suggest --failed with a written JSON report, for runs that are in no store."""
        written = (output.path for output in self._outputs if output.name == "json" and output.path)
        if (report := next(written, None)) is not None:
            notify(f"The same command with --failed {report} runs again only what did not pass.")


def _show_commands(runs: Sequence[RunResult], store: str) -> Iterator[str]:
    for run in runs:
        if not run.run_id:
            continue
        worst_cases = WorstCases(1)
        if run.counts.keys() & TELLING:  # skip a long search if every case passed
            for case in run.cases:
                worst_cases.add(case)
                if case.outcome is Outcome.FAILED and not passed_share(case):  # no other case is worse
                    break
        worst = "".join(f" {shlex.quote(case.eval_id)}" for case in worst_cases.problem_cases())
        yield f"  run {run.run_id} · proctor show {run.run_id}{worst}{store}"


def _progress_sentence(runs: Sequence[RunResult], trials_left: int) -> str:
    """Return how many cases are complete, and how many trials are done if cases have several."""
    cases = sum(sum(run.counts.values()) for run in runs)
    left = sum(run.counts.get(Outcome.NOT_RUN, 0) for run in runs)
    if not left:
        return f"stopped: all {cases} cases had finished"
    complete = _share_text(cases - left, cases, "cases", "complete")
    trials = sum(one.cases * one.num_runs for run in runs for one in run.sets)
    if trials > cases and not any(run.at_most for run in runs):
        complete = f"{_share_text(max(0, trials - trials_left), trials, 'trials', 'done')}, {complete}"
    return f"stopped: {complete}; the others were not run"


def _share_text(count: int, total: int, noun: str, state: str) -> str:
    return f"{count} of {total} {noun} {'is' if count == 1 else 'are'} {state}"


# --- Progress on stderr and result on stdout --------------------------------------------------------------------------


class Screen:
    """Displays the progress of runs and remembers them, so that an interrupted run can still be shown.

    An error of the display never affects the run. Use as a context manager.
    """

    def __init__(self, progress_to: TextIO, options: ReportOptions) -> None:
        """Start with no runs; `progress_to` is the stream of the progress display."""
        self.runs: list[RunResult] = []
        """All runs so far, including the current one."""
        self.if_interrupted = NOTHING_RUN
        """The message if a signal arrives before the run begins."""
        self.trials_left = 0  # trials of these runs that have not finished
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
            report_for(stdout).write(runs, stdout, options=self._options)
            stdout.flush()

    def run_started(self, run: RunResult, trials: int) -> None:
        """Register the run that begins."""
        self.runs.append(run)
        self._under_way.append(run)
        self.trials_left += trials
        report_run(run.run_id, trials)
        with suppress(Exception):
            self._watch.run_started(run, trials)

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Forward the event to the progress display."""
        self.trials_left -= 1
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

    def noted(self, text: str) -> None:
        """Print what the user should know before the run begins."""
        notify(text)

    def waiting(self, if_interrupted: str) -> None:
        """Remember what an interruption means while the command waits before the run begins."""
        self.if_interrupted = if_interrupted

    def estimated(self, usage: Estimate) -> None:
        """Print the estimate of the run that begins."""
        from proctor.reports.content.estimate import brief

        notify(f"{usage.trials} trials: {brief(usage)}, by {usage.seen} cases of run {usage.run_id}")

    @property
    def resumable(self) -> list[RunResult]:
        """The stored runs that are not finished."""
        left = (run for run in self.runs if _is_cut_short(run) or any(run is one for one in self._under_way))
        return [run for run in left if run.run_id]


def _is_cut_short(run: RunResult) -> bool:
    """Return whether a run was interrupted; a failed run has its own message."""
    return run.failure is None and bool(run.interrupted or run.stopped_by)


# --- Run until a signal: the first Ctrl-C or SIGTERM stops the run in order, the second one immediately ---------------


_Result = TypeVar("_Result")
NOTHING_RUN = "interrupted: nothing was run"

GRACE = 5.0
"""Seconds that a run has to end in order, after the time limit for its current trials."""
_TIDY = 1.0  # seconds for cancelled tasks that an agent has left behind
_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM", signal.SIGHUP: "SIGHUP"}


class Stop:
    """Handler for Ctrl-C, SIGTERM and a closed terminal. `code` is the exit code of the first signal."""

    def __init__(
        self,
        request: StopRequest,
        has_begun: Callable[[], bool],
        farewell: Callable[[], None],
        before_run: Callable[[], str] = lambda: NOTHING_RUN,
    ) -> None:
        """Set what the handler calls.

        `request` stops the run, `farewell` prints the last message before an immediate exit, `before_run` returns the message
        of an exit before the run.
        """
        self.code: int | None = None
        self._request = request
        self._has_begun = has_begun
        self._before_run = before_run
        self._close_hosts = farewell
        self._is_handling = False
        self._came_again = False

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal. It must not raise: the exception would appear in the agent code that happens to run."""
        if self._is_handling:  # a second signal during the first handler, which may hold the lock of stderr
            self._came_again = True
            return
        self._is_handling = True
        try:
            self._handle(number)
        finally:
            self._is_handling = False
        if self._came_again:
            self._end()

    def _handle(self, number: int) -> None:
        if self.code is not None:
            self._end()
        self.code = ExitCode(128 + number)  # the convention of shells
        if not self._has_begun():
            try:
                notify(self._before_run())
            except RuntimeError:  # the signal has interrupted a write to stderr
                os.write(2, f"{self._before_run()}\n".encode())
            end_now(self.code)
        self._request(_NAMES[signal.Signals(number)])
        timer = threading.Timer(DRAIN + GRACE, self._end)
        timer.daemon = True
        timer.start()
        with suppress(
            RuntimeError
        ):  # the signal has interrupted a write to stderr; the run stops without the message
            notify(f"stopping: running trials get {DRAIN:g} seconds to finish (Ctrl-C again stops at once)")

    def _end(self) -> None:
        """End the process immediately; reported cases are already on disk."""
        with suppress(Exception):
            self._close_hosts()
        end_now(self.code or ExitCode.ERROR)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle signals inside the block, except those that the process was started to ignore."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = [number for number in _NAMES if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self) for number in signals}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_until_signal(start: Callable[[], Coroutine[object, object, _Result]], stop: Stop) -> _Result:
    """Run the coroutine that `start` creates and return its result; `stop.code` is set if a signal stopped it.

    Before the first trial (while the agent is loaded and files are validated) a signal ends the process immediately.

    Raises:
        EvalError: code of an agent, a tool or a metric cancelled the coroutine.
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(start())
    try:
        with stop.listening():
            return _answer_of(task, loop)
    except asyncio.CancelledError:
        raise EvalError(CANCELLED_FROM_WITHIN) from None
    finally:
        _tidy(loop)


def _answer_of(task: asyncio.Task[_Result], loop: asyncio.AbstractEventLoop) -> _Result:
    while True:
        try:
            return loop.run_until_complete(task)
        except (RuntimeError, SystemExit, KeyboardInterrupt):
            if task.done():
                raise
            # the agent has stopped the loop, or one of its tasks raised SystemExit or KeyboardInterrupt (Ctrl-C itself raises
            # nothing, see `Stop`): the error belongs to that task, and the other tasks still need the loop


def _tidy(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the remaining tasks of the loop, without waiting for those that ignore the cancellation."""
    left = [task for task in asyncio.all_tasks(loop) if not task.done()]
    loop.set_exception_handler(lambda *_: None)  # their trials have reported these errors
    for task in left:
        task.cancel()
    with suppress(BaseException):  # an exception in the cleanup of an agent changes no verdict
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=_TIDY))
        loop.run_until_complete(asyncio.wait_for(loop.shutdown_asyncgens(), _TIDY))
    stuck = [task for task in left if not task.done()]
    if not stuck:
        loop.close()
    abandon_tasks(stuck)
