"""Run the cases of eval-set files: consecutive cases of a session form one batch."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import pytest

from proctor.engine.execution.run_control import CANCELLED_FROM_WITHIN, NoProgress, OwnLoop, StopRequest
from proctor.errors import EvalError, StoreError
from proctor.pytest_plugin.failures import ItemResult
from proctor.pytest_plugin.project import Project, project_of
from proctor.runs.setup.settings import relative_to_working_folder
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.schema.results.score import Outcome

_ONE_FILE = frozenset({"loadfile", "loadscope"})
"""Distribution modes of pytest-xdist that keep the tests of a file together."""


class BatchItem(pytest.Item):
    """What a batch needs to know of a test item that is one case."""

    eval_set_id = eval_id = ""
    position = 0
    """Position of the case in its set."""

    @property
    def key(self) -> tuple[str, str]:
        """Set id and case id, which identify the case in a run."""
        return self.eval_set_id, self.eval_id

    @property
    def options(self) -> dict[str, object]:
        """Options of `proctor.evaluate` for this case only, from markers that a conftest.py has added."""
        marked = [mark.kwargs for mark in self.iter_markers("proctor")]
        return {name: value for kwargs in reversed(marked) for name, value in kwargs.items()}


class Batches:
    """Starts a batch when its first case is requested, and returns the results one by one."""

    def __init__(self, project: Project) -> None:
        """Set the project whose cases are run."""
        self._project = project
        self._current: Batch | None = None
        self._taken: set[BatchItem] = set()

    def take(self, item: BatchItem) -> ItemResult:
        """Return the result of the case of `item`; a case that is requested again is run again.

        Raises:
            SetupError: nothing could be run.
            EvalError: the run was aborted.
        """
        if item in self._taken:
            return self._alone(item)
        self._taken.add(item)
        if self._current is None or not self._current.has(item):
            self._begin(item)
        result = self._current.take(item) if self._current else None
        if result is None:  # the run stopped at the failure limit before this case, but the session continues
            result = self._begin(item).take(item)
        if result is None:
            raise EvalError(f"the case {item.eval_id} was not run")
        return result

    def _begin(self, item: BatchItem) -> Batch:
        self.close()
        self._current = Batch(self._project, batch_items(item), failures_left=_failures_left(item))
        return self._current

    def _alone(self, item: BatchItem) -> ItemResult:
        batch = Batch(self._project, [item], failures_left=None)
        try:
            result = batch.take(item)
        finally:
            batch.close()
        if result is None:
            raise EvalError(f"the case {item.eval_id} was not run")
        return result

    def close(self) -> None:
        """End the current batch; no further case of it will be requested."""
        if self._current is not None:
            self._project.unfinished += self._current.close()
            self._current = None


_KEY = pytest.StashKey[Batches]()


def batches_of(config: pytest.Config) -> Batches:
    """Return the batches of this session, created on first use and closed before its store."""
    if (known := config.stash.get(_KEY, None)) is None:
        project = project_of(config)
        known = config.stash[_KEY] = Batches(project)
        project.close_later(known.close)
    return known


def batch_items(first: BatchItem) -> list[BatchItem]:
    """Return the cases that run in one batch: `first` and the cases that follow it in the session.

    No other test runs during a batch. With pytest-xdist, a batch has only cases that are certain to run in this process;
    with a debugger, one case.
    """
    config = first.config
    distribution = getattr(config, "workerinput", {}).get("proctor_dist", "no")
    if config.getoption("usepdb", default=False) or distribution not in {"no", "each", *_ONE_FILE}:
        return [first]
    items: list[BatchItem] = []
    paths: dict[str, Path] = {}  # a result cannot distinguish the cases of two files with the same set id
    for item in _following(first):
        if item.get_closest_marker("skip"):
            continue
        fits = item.options == first.options and paths.setdefault(item.eval_set_id, item.path) == item.path
        is_elsewhere = distribution in _ONE_FILE and item.path != first.path
        if not fits or is_elsewhere or not _in_order(items, item):
            break
        items.append(item)
    return items or [first]


def _in_order(items: Sequence[BatchItem], item: BatchItem) -> bool:
    """Return whether a run that stops at a failure limit executes `item` after all of `items`, as the session does."""
    if not items or _failures_left(item) is None:
        return True
    if item.path == items[-1].path:
        return item.position > items[-1].position
    return all(item.path != other.path for other in items)


def _following(first: BatchItem) -> Iterator[BatchItem]:
    items = first.session.items
    start = next((number for number, item in enumerate(items) if item is first), len(items))
    for item in islice(items, start, None):
        if not isinstance(item, type(first)):
            return
        yield item


def _failures_left(item: BatchItem) -> int | None:
    """Return how many cases may still fail before the session stops (`-x`, `--maxfail`); `None` means no limit."""
    limit = item.config.getoption("maxfail", default=0)
    return max(1, limit - item.session.testsfailed) if limit else None


class Batch(NoProgress):
    """Cases of one run, on an event loop that advances only while the session waits for one of them."""

    def __init__(self, project: Project, members: Sequence[BatchItem], *, failures_left: int | None) -> None:
        """Start the run of `members`; after `failures_left` of them have not passed, it starts no further case."""
        self._project = project
        self._loop = OwnLoop()
        self._awaited = {member.key: self._loop.new_future() for member in members}
        self._results: dict[tuple[str, str], ItemResult] = {}
        self._stop = StopRequest()
        self._run: RunResult | None = None
        self._warned = 0
        self._has_timed_out = False
        self._failures_left = failures_left
        self._output = BufferedOutput(project.config)
        self._task = self._loop.start(self._evaluate(members))
        self._task.add_done_callback(self._wake_all)

    async def _evaluate(self, members: Sequence[BatchItem]) -> RunResult:
        from proctor.runs.evaluate import evaluate

        only: dict[str, list[str]] = {}
        for member in members:
            only.setdefault(member.eval_set_id, []).append(member.eval_id)
        options: dict[str, Any] = {**self._project.options, **members[0].options}
        INSIDE.set(True)
        return await evaluate(
            self._project.agent_ref,
            list(dict.fromkeys(relative_to_working_folder(str(member.path)) for member in members)),
            **{
                **options,
                "only": only,
                "progress": self,
                "stop": self._stop,
                "store": self._project.store,
                **({} if self._failures_left is None else {"max_failures": self._failures_left}),
            },
        )

    def has(self, item: BatchItem) -> bool:
        """Return whether the result of `item` has not been requested yet."""
        return item.key in self._awaited

    def take(self, item: BatchItem) -> ItemResult | None:
        """Wait for the result of the case of `item`; return `None` if the failure limit was reached before it.

        Raises:
            SetupError: nothing could be run.
            EvalError: the run was aborted.
        """
        self._output.flush_to_test()
        try:
            self._loop.wait_for(self._awaited[item.key])
            del self._awaited[item.key]
            if not self._awaited:
                self._wait_for_the_end()
            run = self._task.result() if self._task.done() else self._run
        except asyncio.CancelledError:
            raise EvalError(CANCELLED_FROM_WITHIN) from None
        finally:  # still present if the wait was interrupted
            self._has_timed_out |= self._awaited.pop(item.key, None) is not None
        result = self._results.pop(item.key, None)
        if result is None and run is not None:
            case = run.case(item.eval_id, item.eval_set_id)
            if case.outcome is Outcome.NOT_RUN and self._failures_left is not None and run.failure is None:
                return None
            result = ItemResult(_not_run(case, run), run.agent, run_id=run.run_id)
        if result is not None and run is not None:
            result.warnings, self._warned = run.warnings[self._warned :], len(run.warnings)
            if not self._awaited:
                self._finish(run, result)
        return result

    def _wait_for_the_end(self) -> None:
        """Wait until the run ends; if the wait for a case was interrupted (a timeout), stop the run instead."""
        if self._has_timed_out:
            self._stop("a time limit", drain=0.0)
        self._loop.wait_for(self._task)

    def _finish(self, run: RunResult, last: ItemResult) -> None:
        """Write the results to the `adk:` folders; attach write errors to the last case as warnings.

        Raises:
            StoreError: something could not be written, and the last case passed.
        """
        problems = [run.failure.message] if run.failure is not None else []
        for place in self._project.results:
            try:
                place.write(run)
            except StoreError as error:
                problems.append(str(error))
        if problems and last.case.passed:
            raise StoreError("\n".join(problems))
        last.warnings += problems

    def close(self) -> list[str]:
        """End the run if necessary, and close the loop; return the id of a stored run that is not finished."""
        self._awaited.clear()
        if not self._task.done():
            self._stop("the end of the test session", drain=0.0)
            with suppress(Exception, asyncio.CancelledError):  # no test is left to report it
                self._loop.wait_for(self._task)
        elif not self._task.cancelled():
            self._task.exception()  # mark the exception as retrieved; the cases have reported it
        self._loop.close()
        self._output.end()
        run = self._run
        return [run.run_id] if run is not None and run.run_id and run.stopped_by else []

    # --- Callbacks of the run ---------------------------------------------------------------------------------------------

    def run_started(self, run: RunResult, trials: int) -> None:
        """Store the run, which has an id and the warnings about its configuration."""
        self._run = run

    def case_finished(self, result: CaseResult) -> None:
        """Make the result of a case available to the waiting item."""
        key = result.eval_set_id, result.eval_id
        agent, run_id = (self._run.agent, self._run.run_id) if self._run is not None else ("", "")
        self._results[key] = ItemResult(result, agent, _seconds(result), run_id)
        self._wake(key)

    def _wake_all(self, _task: object) -> None:
        for key in self._awaited:
            self._wake(key)

    def _wake(self, key: tuple[str, str]) -> None:
        future = self._awaited.get(key)
        if future is not None and not future.done():
            future.set_result(None)


def _seconds(case: CaseResult) -> float:
    """Return the duration of a case, from the start of its first trial until now, when its verdict is known."""
    first = case.trials[0].trial if case.trials else None
    return max(0.0, time.time() - first.started_at) if first is not None and first.started_at else 0.0


def _not_run(case: CaseResult, run: RunResult) -> CaseResult:
    """Add the reason why a case was not run."""
    case.reason = case.reason or (run.failure.message if run.failure is not None else run.stopped_by or "")
    return case


# --- Output of agents belongs to the tests, even if a thread prints while pytest itself writes and captures nothing -------


INSIDE: ContextVar[bool] = ContextVar("proctor_inside_a_run", default=False)
"""Whether the current code belongs to a run: to its agent, a metric or a hook."""
_LIMIT = 2**20  # maximum number of buffered characters between two tests


class BufferedStream:
    """Stream that buffers the output of code inside a run; other code writes through."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Write or buffer a text."""
        if not INSIDE.get():
            length: int = self.stream.write(text)
            return length
        if self._size < _LIMIT:
            self._kept.append(text)
            self._size += len(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write or buffer several texts."""
        for line in lines:
            self.write(line)

    def take(self) -> str:
        """Return the buffered text and clear the buffer."""
        text, self._kept, self._size = "".join(self._kept), [], 0
        return text

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class BufferedOutput:
    """Replaces the original streams during a run, because pytest restores them between two tests, when it suspends its capture.

    It buffers only text that goes through `sys.stdout` and `sys.stderr`. Without pytest's capture, or with an unknown
    implementation of it, it does nothing.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Install the buffering streams."""
        capture = getattr(config.pluginmanager.get_plugin("capturemanager"), "_global_capturing", None)
        sides = [getattr(capture, name, None) for name in ("out", "err")]
        captures: list[Any] = [getattr(side, "syscapture", side) for side in sides]
        self._guards: list[tuple[Any, BufferedStream]] = []
        for one in captures:
            if hasattr(one, "_old"):  # the stream that pytest restores: pytest has no hook for that moment
                one._old = BufferedStream(one._old)  # noqa: SLF001 - see above
                self._guards.append((one, one._old))  # noqa: SLF001 - see above

    def flush_to_test(self) -> None:
        """Print the buffered text while pytest captures, so that it becomes part of the test's output."""
        for stream, (_, guard) in zip((sys.stdout, sys.stderr), self._guards, strict=False):
            if text := guard.take():
                stream.write(text)

    def end(self) -> None:
        """Restore the original streams."""
        for one, guard in self._guards:
            if getattr(one, "_old", None) is guard:
                one._old = guard.stream  # noqa: SLF001 - see above
            for name in ("stdout", "stderr"):
                if getattr(sys, name) is guard:
                    setattr(sys, name, guard.stream)
        self._guards = []
