"""Running the cases of eval-set files: those that stand together in a session run together."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor import api
from proctor.common.safe_text import clean
from proctor.engine.execution.event_loop import CANCELLED_FROM_WITHIN, OwnLoop
from proctor.engine.execution.run_control import NoProgress, StopRequest
from proctor.errors import EvalError, StoreError
from proctor.runs.setup.project_defaults import as_seen_from_here
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.run_result import CaseResult, RunResult

if TYPE_CHECKING:
    import pytest

    from proctor.pytest_plugin.collection import CaseItem
    from proctor.pytest_plugin.project import Project

_ONE_FILE = frozenset({"loadfile", "loadscope"})
"""Ways of pytest-xdist to deal tests out that keep those of a file together."""


@dataclass(slots=True)
class Ended:
    """What a case came to."""

    case: CaseResult
    agent: str
    seconds: float = 0.0
    """From the begin of its first trial to its verdict."""
    run_id: str = ""
    warnings: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """Return what the summary says of it, as JSON: it may come from another process."""
        case = self.case
        return {
            "agent": clean(self.agent),
            "set": clean(case.eval_set_id),
            "case": clean(case.eval_id),
            "outcome": case.outcome.value,
            "flaky": case.flaky,
            "run": self.run_id,
            "warnings": [clean(warning) for warning in self.warnings],
        }

    def properties(self) -> list[tuple[str, object]]:
        """Return what JUnit XML and other reports keep of it."""
        scored = [(name, metric.score) for name, metric in self.case.metrics.items() if metric.gate]
        return [
            ("proctor_outcome", self.case.outcome.value),
            *([("proctor_run", self.run_id)] if self.run_id else []),
            *((clean(name), round(score, 6)) for name, score in scored if score is not None),
        ]


class Batches:
    """Runs cases when the first of them is asked for, and gives them out one by one."""

    def __init__(self, project: Project) -> None:
        """Take what is run."""
        self._project = project
        self._current: Batch | None = None
        self._taken: set[CaseItem] = set()

    def take(self, item: CaseItem) -> Ended:
        """Return what the case of `item` came to; one that was taken before is run again.

        Raises:
            SetupError: nothing could be run.
            EvalError: the run broke off.
        """
        if item in self._taken:
            return self._alone(item)
        self._taken.add(item)
        if self._current is None or not self._current.has(item):
            self._begin(item)
        ended = self._current.take(item) if self._current else None
        if (
            ended is None
        ):  # as many had not passed before its turn came as the session bears, and it bears more
            ended = self._begin(item).take(item)
        if ended is None:
            raise EvalError(f"the case {item.eval_id} was not run")
        return ended

    def _begin(self, item: CaseItem) -> Batch:
        self.close()
        self._current = Batch(self._project, together(item), bears=_bears(item))
        return self._current

    def _alone(self, item: CaseItem) -> Ended:
        batch = Batch(self._project, [item], bears=None)
        try:
            ended = batch.take(item)
        finally:
            batch.close()
        if ended is None:
            raise EvalError(f"the case {item.eval_id} was not run")
        return ended

    def close(self) -> None:
        """End what is under way: nobody asks for it any more."""
        if self._current is not None:
            self._project.unfinished += self._current.close()
            self._current = None


def together(first: CaseItem) -> list[CaseItem]:
    """Return the cases that run together, beginning with `first`: those that follow it in the session.

    No other test runs while they are under way. With pytest-xdist, only cases that surely come to this process do;
    with a debugger, one case at a time.
    """
    config = first.config
    dealt = getattr(config, "workerinput", {}).get("proctor_dist", "no")
    if config.getoption("usepdb", default=False) or dealt not in {"no", "each", *_ONE_FILE}:
        return [first]
    found: list[CaseItem] = []
    paths: dict[
        str, Path
    ] = {}  # two sets of one id in two files: the result could not tell their cases apart
    for item in _following(first):
        if item.get_closest_marker("skip"):
            continue
        if dealt in _ONE_FILE and item.path != first.path:
            break
        if item.options != first.options or paths.setdefault(item.eval_set_id, item.path) != item.path:
            break
        if found and _bears(item) is not None and not _in_order(found, item):
            break
        found.append(item)
    return found or [first]


def _in_order(found: Sequence[CaseItem], item: CaseItem) -> bool:
    """Tell whether a run comes to `item` after all of `found`, so that what stops it stops the session before that."""
    if item.path == found[-1].path:
        return item.position > found[-1].position
    return all(item.path != one.path for one in found)


def _following(first: CaseItem) -> Iterator[CaseItem]:
    items = first.session.items
    start = next((number for number, item in enumerate(items) if item is first), len(items))
    for item in islice(items, start, None):
        if not isinstance(item, type(first)):
            return
        yield item


def _bears(item: CaseItem) -> int | None:
    """Return how many cases may still fail before the session stops (`-x`, `--maxfail`); `None`: any number."""
    most = item.config.getoption("maxfail", default=0)
    return max(1, most - item.session.testsfailed) if most else None


class Batch(NoProgress):
    """Cases that run together, on a loop that goes on only while the session waits for one of them."""

    def __init__(self, project: Project, members: Sequence[CaseItem], *, bears: int | None) -> None:
        """Start to run `members`; once `bears` of them have not passed, no further one is begun."""
        self._project = project
        self._loop = OwnLoop()
        self._awaited = {member.key: self._loop.new_future() for member in members}
        self._ended: dict[tuple[str, str], Ended] = {}
        self._stop = StopRequest()
        self._run: RunResult | None = None
        self._warned = 0
        self._given_up = False
        self._bears = bears
        self._prints = Prints(project.config)
        self._task = self._loop.start(self._evaluate(members))
        self._task.add_done_callback(self._wake_all)

    async def _evaluate(self, members: Sequence[CaseItem]) -> RunResult:
        only: dict[str, list[str]] = {}
        for member in members:
            only.setdefault(member.eval_set_id, []).append(member.eval_id)
        options: dict[str, Any] = {**self._project.options, **members[0].options}
        INSIDE.set(True)
        return await api.evaluate(
            self._project.agent_ref,
            list(dict.fromkeys(as_seen_from_here(str(member.path)) for member in members)),
            **{
                **options,
                "only": only,
                "progress": self,
                "stop": self._stop,
                "store": self._project.store,
                **({} if self._bears is None else {"max_failures": self._bears}),
            },
        )

    def has(self, item: CaseItem) -> bool:
        """Tell whether `item` is still to be taken."""
        return item.key in self._awaited

    def take(self, item: CaseItem) -> Ended | None:
        """Wait for the case of `item`; `None` when it was left out because enough had failed.

        Raises:
            SetupError: nothing could be run.
            EvalError: the run broke off.
        """
        self._prints.tell()
        try:
            self._loop.wait_for(self._awaited[item.key])
            del self._awaited[item.key]
            if not self._awaited:
                self._wait_for_the_end()
            run = self._task.result() if self._task.done() else self._run
        except asyncio.CancelledError:
            raise EvalError(CANCELLED_FROM_WITHIN) from None
        finally:  # still there: somebody's patience with this case was at its end
            self._given_up |= self._awaited.pop(item.key, None) is not None
        ended = self._ended.pop(item.key, None)
        if ended is None and run is not None:
            case = run.case(item.eval_id, item.eval_set_id)
            if case.outcome is Outcome.NOT_RUN and self._bears is not None and run.failure is None:
                return None
            ended = Ended(_not_run(case, run), run.agent, run_id=run.run_id)
        if ended is not None and run is not None:
            ended.warnings, self._warned = run.warnings[self._warned :], len(run.warnings)
            if not self._awaited:
                self._finish(run, ended)
        return ended

    def _wait_for_the_end(self) -> None:
        """Let the run come to its end; it does not wait for a case that nobody waits for any more."""
        if self._given_up:
            self._stop("a time limit", drain=0.0)
        self._loop.wait_for(self._task)

    def _finish(self, run: RunResult, last: Ended) -> None:
        """Write the results where they are also wanted; what could not be kept is told with the last case.

        Raises:
            StoreError: something could not be written, and the last case itself is fine.
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
        """End the run, if it is still under way, and let go of the loop; return its id if something is left to do."""
        self._awaited.clear()
        if not self._task.done():
            self._stop("the end of the test session", drain=0.0)
            with suppress(Exception, asyncio.CancelledError):  # no test is left that could tell of it
                self._loop.wait_for(self._task)
        elif not self._task.cancelled():
            self._task.exception()  # it was told with the cases
        self._loop.close()
        self._prints.end()
        run = self._run
        return [run.run_id] if run is not None and run.run_id and run.stopped_by else []

    # --- what the run tells while it goes on ------------------------------------------------------------------------------

    def run_started(self, run: RunResult, trials: int) -> None:
        """Keep the run: it has its id, and what is to be said about its set-up."""
        self._run = run

    def case_finished(self, result: CaseResult) -> None:
        """Give a case to whoever waits for it."""
        key = result.eval_set_id, result.eval_id
        agent, run_id = (self._run.agent, self._run.run_id) if self._run is not None else ("", "")
        self._ended[key] = Ended(result, agent, _seconds(result), run_id)
        self._wake(key)

    def _wake_all(self, _task: object) -> None:
        for key in self._awaited:
            self._wake(key)

    def _wake(self, key: tuple[str, str]) -> None:
        future = self._awaited.get(key)
        if future is not None and not future.done():
            future.set_result(None)


def _seconds(case: CaseResult) -> float:
    """Return how long a case took, from the begin of its first trial until now, when its verdict is there."""
    first = case.trials[0].trial if case.trials else None
    return max(0.0, time.time() - first.started_at) if first is not None and first.started_at else 0.0


def _not_run(case: CaseResult, run: RunResult) -> CaseResult:
    """Say why a case was not reached."""
    why = run.failure.message if run.failure is not None else run.stopped_by
    case.reason = case.reason or (f"not reached: {why}" if why else "not reached")
    return case


# --- What agents print stays with the tests, also what a thread prints while pytest itself writes and captures nothing ---


INSIDE: ContextVar[bool] = ContextVar("proctor_inside_a_run", default=False)
"""Whether the code that runs belongs to a run: to its agent, a metric, a hook."""
_MOST = 2**20  # characters that are kept of what is printed between two tests


class Guarded:
    """A stream that keeps for later what code inside a run writes to it; others write through."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._kept: list[str] = []
        self._size = 0

    def write(self, text: str) -> int:
        """Write, or keep."""
        if not INSIDE.get():
            written: int = self.stream.write(text)
            return written
        if self._size < _MOST:
            self._kept.append(text)
            self._size += len(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts, or keep them."""
        for line in lines:
            self.write(line)

    def give_up(self) -> str:
        """Return what was kept, and forget it."""
        kept, self._kept, self._size = "".join(self._kept), [], 0
        return kept

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Prints:
    """Guards the streams that are there between two tests, when pytest's capture lets go, while a run is under way.

    Only text that goes through `sys.stdout` and `sys.stderr` is kept back. Where pytest has no capture, or one of
    another kind than is known here, everything is as it was.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Put the guards up."""
        capture = getattr(config.pluginmanager.get_plugin("capturemanager"), "_global_capturing", None)
        sides = [getattr(capture, name, None) for name in ("out", "err")]
        captures: list[Any] = [getattr(side, "syscapture", side) for side in sides]
        self._guards: list[tuple[Any, Guarded]] = []
        for one in captures:
            if hasattr(one, "_old"):  # where it puts the stream back from: pytest has no hook for that moment
                one._old = Guarded(one._old)  # noqa: SLF001 - see above
                self._guards.append((one, one._old))  # noqa: SLF001 - see above

    def tell(self) -> None:
        """Print what was kept: called while pytest captures, so that it becomes part of the test's output."""
        for stream, (_, guard) in zip((sys.stdout, sys.stderr), self._guards, strict=False):
            if kept := guard.give_up():
                stream.write(kept)

    def end(self) -> None:
        """Take the guards down."""
        for one, guard in self._guards:
            if getattr(one, "_old", None) is guard:
                one._old = guard.stream  # noqa: SLF001 - see above
            for name in ("stdout", "stderr"):
                if getattr(sys, name) is guard:
                    setattr(sys, name, guard.stream)
        self._guards = []
