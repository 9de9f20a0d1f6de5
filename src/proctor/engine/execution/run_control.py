"""How callers run, observe (`Progress`) and stop (`StopRequest`) a run: also on an event loop that ends even if the agent's code does not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from proctor.common.async_tools import is_within_a_loop
from proctor.errors import EvalError

if TYPE_CHECKING:
    from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

Answer = TypeVar("Answer")

_LAST_WORDS = 1.0
"""Seconds that leftover tasks get to end once they are cancelled."""


def run_sync(main: Callable[[], Coroutine[object, object, Answer]]) -> Answer:
    """Run `main()` on a new event loop and return its result; inside a running loop, in a thread.

    Unlike `asyncio.run`, this does not wait forever for tasks that swallow their cancellation, nor for threads, and
    continues when user code stops the loop.

    Raises:
        EvalError: code of an agent, a tool or a metric cancelled the run itself.
    """
    return _in_a_thread(lambda: _run(main)) if is_within_a_loop() else _run(main)


class OwnLoop:
    """An event loop that runs only while a caller waits for something on it."""

    def __init__(self) -> None:
        """Make the loop; nothing is run yet."""
        self._runner = asyncio.Runner()

    def start(self, main: Coroutine[object, object, Answer]) -> asyncio.Task[Answer]:
        """Start `main`; it makes progress while a caller waits."""
        return self._runner.get_loop().create_task(main)

    def new_future(self) -> asyncio.Future[Any]:
        """Return something to wait for."""
        return self._runner.get_loop().create_future()

    def wait_for(self, awaited: asyncio.Future[Answer]) -> Answer:
        """Let the loop go on until `awaited` is there, and return it; from inside a running loop, in a thread."""
        if is_within_a_loop():
            return _in_a_thread(lambda: self._wait_for(awaited))
        return self._wait_for(awaited)

    def _wait_for(self, awaited: asyncio.Future[Answer]) -> Answer:
        while True:
            try:
                self._runner.run(_wait(awaited))
                return awaited.result()
            except (RuntimeError, SystemExit):
                if awaited.done():
                    raise  # of what was waited for; else an agent stopped the loop, and the others wait for it
                # (SystemExit: in a task of a framework; the code that awaits that task receives it, too)

    def close(self) -> None:
        """Cancel what is left, and wait neither for what does not listen nor for threads."""
        if is_within_a_loop():
            _in_a_thread(lambda: _stop_runner(self._runner))
        else:
            _stop_runner(self._runner)


def _in_a_thread(work: Callable[[], Answer]) -> Answer:
    outcome: list[Answer] = []
    errors: list[BaseException] = []

    def target() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - carried to the caller
            errors.append(error)

    thread = threading.Thread(target=target, name="proctor-run", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def _run(main: Callable[[], Coroutine[object, object, Answer]]) -> Answer:
    loop = OwnLoop()
    task = loop.start(main())
    try:
        return loop.wait_for(task)
    except asyncio.CancelledError:
        raise EvalError(CANCELLED_FROM_WITHIN) from None
    finally:
        loop.close()


CANCELLED_FROM_WITHIN = "the run was cancelled from within: code of an agent, a tool or a metric cancelled all tasks of the event loop"


async def _wait(awaited: asyncio.Future[Any]) -> None:
    await awaited  # and no answer: giving the signal for Ctrl-C back makes Python ask for the `repr` of whatever is returned


def _stop_runner(runner: asyncio.Runner) -> None:
    loop = runner.get_loop()
    stuck = loop.run_until_complete(_end_tasks())
    executor = getattr(loop, "_default_executor", None)
    if executor is not None:
        executor.shutdown(wait=False, cancel_futures=True)
        loop._default_executor = None  # type: ignore[attr-defined]  # noqa: SLF001 - or closing would wait for its threads
    if not stuck:
        runner.close()
        return
    abandon_tasks(stuck)
    for task in stuck:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - it was reported as the trial's error
    loop.close()  # not the runner's own way, which would wait for them
    asyncio.set_event_loop(None)


def abandon_tasks(stuck: Collection[asyncio.Task[Any]]) -> None:
    """Keep tasks that ignore their cancellation out of the interpreter's reach, to its very end.

    It would close their coroutines, and those ignore that, too: `while True: try: … except: pass` then continues for ever,
    and nothing can interrupt it. What the stack of a daemon thread holds is never closed.
    """
    if stuck:
        with suppress(RuntimeError):
            # no thread can be started any more: what was scored is reported anyway
            threading.Thread(
                target=_wait_forever, args=(stuck,), name="proctor-left-behind", daemon=True
            ).start()


def _wait_forever(_stuck: Collection[asyncio.Task[Any]]) -> None:
    threading.Event().wait()


async def _end_tasks() -> set[asyncio.Task[Any]]:
    """Cancel what is left and return what would not end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if not others:
        return set()
    _, stuck = await asyncio.wait(others, timeout=_LAST_WORDS)
    return stuck


# --- How callers observe a run (`Progress`) and end it early (`StopRequest`) ------------------------------------------


class Progress(Protocol):
    """Observes a run. Called on the engine's thread; must be quick and must not raise.

    An optional method `warned(text)` receives warnings that cannot wait for the report, such as a limit without effect
    (without it they are logged as `proctor`);
    `Notes` and `WaitObserver` are optional, too.
    """

    def run_started(self, run: RunResult, trials: int) -> None:
        """The plan is complete: `run` has its sets and no case yet; `trials` trials will be made."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """One attempt ended (in any order)."""

    def case_finished(self, result: CaseResult) -> None:
        """All trials of one case ended (in the order in which cases end)."""

    def run_finished(self, run: RunResult) -> None:
        """The run is complete; `run` holds all cases in the order of the sets."""


@runtime_checkable
class Notes(Protocol):
    """Observes notes that are not warnings, such as the other processes that the run waits for."""

    def noted(self, text: str) -> None:
        """Receive a sentence."""


@runtime_checkable
class WaitObserver(Protocol):
    """Observes that the run waits to begin."""

    def waiting(self, if_interrupted: str) -> None:
        """Receive what an interruption means until it begins."""


class NoProgress:
    """Ignores all notifications."""

    def run_started(self, run: RunResult, trials: int) -> None:
        """Do nothing."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Do nothing."""

    def case_finished(self, result: CaseResult) -> None:
        """Do nothing."""

    def run_finished(self, run: RunResult) -> None:
        """Do nothing."""


# --- Ending a run early, in order: nothing new begins, what is under way may finish, everything else can be resumed ---


DRAIN = 10.0
"""Seconds that trials under way have to finish after a request to stop."""

Listener = Callable[[str, float | None], None]


class StopRequest:
    """Asks the run that received it (`evaluate(…, stop=request)`) to end early.

    Call it with a reason, from any thread; before the run has begun, too. Only the first call counts.
    """

    def __init__(self) -> None:
        """Make a request that is not active yet."""
        self.reason = ""
        self._drain: float | None = None
        self._listener: Listener | None = None

    def __call__(self, reason: str, *, drain: float | None = DRAIN) -> None:
        """Stop because of `reason`; trials under way get `drain` seconds (`None`: as long as they take)."""
        if self.reason:
            return
        self.reason, self._drain = reason, drain
        if self._listener is not None:
            self._listener(reason, drain)

    def listen(self, listener: Listener) -> None:
        """Call `listener` when a stop is requested; immediately if it was requested before."""
        self._listener = listener
        if self.reason:
            listener(self.reason, self._drain)


class StoppingRule(Protocol):
    """Decides after each round of trials whether the run continues.

    A round is one more trial of every case. `analysis.compare.interim_looks` has the rule that compares with another run.
    """

    @property
    def base_run_id(self) -> str:
        """The run that this one is compared with."""
        ...

    def next_round(self, trials: int) -> int:
        """Return how many trials each case has at the next decision, after `trials` trials; 0: there is none."""
        ...

    def is_decided(self, cases: Iterable[tuple[str, CaseResult]], trials: int) -> bool:
        """Return whether cases (each with the hash of its content) with `trials` trials each end the run."""
        ...

    def manifest_options(self) -> Mapping[str, object]:
        """Return what the manifest of the run keeps, so that it resumes with the same rule."""
        ...
