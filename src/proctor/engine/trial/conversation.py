"""The conversation of one trial: a new session, the user's messages (recorded or simulated), all events as evidence, and the hooks around it."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import _AsyncGeneratorContextManager, _GeneratorContextManager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from types import AsyncGeneratorType
from typing import Any, Protocol

from proctor.agents.base import Agent, Session
from proctor.common.async_tools import forget_cancellation, settle
from proctor.engine.trial.deadlines import LoopBlocked, TrialSlot, is_running
from proctor.engine.trial.event_recorder import copy_json, copy_message, new_turn, record_turn, seconds_since
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.engine.trial.failure_attribution import (
    failure_from,
    is_retryable,
    timed_out,
    user_failure,
    user_timed_out,
)
from proctor.errors import AgentError, SetupError
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.simulated_user import FaultKind, UserFault, UserReply
from proctor.schema.evidence.trial import Attempt, Failure, FailureKind, Trial
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.wire_model import defaults, maker
from proctor.simulation.base import WHERE as SIMULATOR, NoMessageError, UserSimulator

Hook = Callable[..., object]


def check_hook(hook: Hook | None, name: str) -> list[SetupError]:
    """Return what is wrong with a hook: it must be callable with some of `case` and `session`, by name."""
    if hook is None:
        return []
    if not callable(hook):
        return [SetupError(f"the {name} hook must be a function, got {type(hook).__name__}")]
    if _yields(hook):
        return [SetupError(f"the {name} hook is a generator, of which nothing would be run; {_NO_YIELD}")]
    try:
        parameters = inspect.signature(hook).parameters.values()
    except (TypeError, ValueError) as error:
        return [SetupError(f"the {name} hook: its parameters cannot be inspected ({error})")]
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in ("case", "session")
    ]
    message = f"the {name} hook asks for {', '.join(needed)}; it may take `case` and `session`"
    return [SetupError(message)] if needed else []


_NEVER_RUN = (Generator, AsyncGenerator, _GeneratorContextManager, _AsyncGeneratorContextManager)
_NO_YIELD = (
    "a hook has no `yield`: what comes before it belongs into set-up, what comes after it into tear-down"
)


def _yields(hook: Hook) -> bool:
    return any(
        inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one)
        for one in (hook, type(hook).__call__)  # an object may be a hook
    )


async def call_hook(hook: Hook, *, case: EvalCase, session: Session) -> None:
    """Call a hook, plain or async, with what it asks for. A plain one runs in a thread: it may talk to a database.

    Raises:
        TypeError: it gave back something of which nothing has been run: a generator, or a context manager made of one.
    """
    offered = {"case": case, "session": session}
    accepted = inspect.signature(hook).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    arguments = {name: value for name, value in offered.items() if takes_all or name in accepted}
    if inspect.iscoroutinefunction(hook):
        left = await hook(**arguments)
    else:
        from proctor.common.async_tools import THREADS

        left = await settle(await THREADS.call(partial(hook, **arguments)))
    if isinstance(left, _NEVER_RUN):
        raise TypeError(f"it gave back a {type(left).__name__}, of which nothing was run; {_NO_YIELD}")


DEFAULT_APP = "EvaluationGenerator"
DEFAULT_USER = "test_user_id"
SESSION_PREFIX = "adk-eval-session-"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLimits:
    """The limits of one trial, and the hooks around it."""

    timeout: float | None
    trial_timeout: float | None
    retry_errors: int = 0
    setup: Hook | None = None
    teardown: Hook | None = None
    caps: TurnCaps = field(default_factory=TurnCaps)


class EvidenceHolder(Protocol):
    """Holds the evidence of a trial while it is recorded."""

    trial: Trial | None


class ConversationRecorder:
    """Talks to one agent, trial by trial, and records the evidence."""

    def __init__(self, agent: Agent, limits: TrialLimits, app_details: dict[str, Any] | None = None) -> None:
        """Keep the agent, the limits of each trial, and the agent's description of itself."""
        self._agent = agent
        self._limits = limits
        self._app_details = app_details
        self._take_process = getattr(agent, "take_process", None)  # of agents in child processes
        self._begin = getattr(agent, "begin", None)
        self._end = getattr(agent, "end", None)
        self._final_state = getattr(agent, "final_state", None)
        # one random number per run, and a count: random numbers per trial take time
        self._session_prefix = f"{SESSION_PREFIX}{uuid.uuid4()}-"
        self._sessions = itertools.count(1)
        self._leaves = self._end is not None or limits.teardown is not None
        self._shows_case = any(hook is not None for hook in (self._begin, limits.setup, limits.teardown))

    async def record(
        self,
        case: EvalCase,
        eval_set_id: str,
        number: int,
        slot: TrialSlot,
        holder: EvidenceHolder | None = None,
        play: Play | None = None,
    ) -> Trial:
        """Make one attempt at `case`, and further ones after infrastructure errors; keep every attempt.

        Any error of the agent becomes the trial's `failure`; only cancellation from outside passes through.
        `holder` gets each attempt's evidence from its beginning. `play` gives the user of a scenario, one for each
        attempt.
        """
        attempts: list[Attempt] = []
        while True:
            session = new_session(case, f"{self._session_prefix}{next(self._sessions)}")
            session.trial = number
            trial = self._new_trial(case, eval_set_id, number, session)
            if holder is not None:
                holder.trial = trial
            await self._attempt(case, session, trial, slot, play)
            failure = trial.failure if play is None else play.failure_of(trial)
            if failure is None or len(attempts) >= self._limits.retry_errors or not is_retryable(failure):
                if attempts:
                    trial.attempts = attempts
                return trial
            attempts.append(_as_attempt(trial, failure))

    def _new_trial(self, case: EvalCase, eval_set_id: str, number: int, session: Session) -> Trial:
        return _trial(
            {
                **_TRIAL,
                "eval_set_id": eval_set_id,
                "eval_id": case.eval_id,
                "number": number,
                "session_id": session.id,
                "app_name": session.app_name,
                "user_id": session.user_id,
                "turns": [],
                "app_details": self._app_details,
                "started_at": time.time(),
                "attempts": [],
                "notes": [],
            }
        )

    async def _attempt(
        self, case: EvalCase, session: Session, trial: Trial, slot: TrialSlot, play: Play | None
    ) -> None:
        """Set up, talk, read the final state, tear down; the first failure is the failure of the trial."""
        began = time.perf_counter()
        limiter = EvidenceLimiter(self._limits.caps, trial.notes)
        if self._limits.trial_timeout is not None:
            slot.trial_deadline = time.monotonic() + self._limits.trial_timeout
        where, turn = "setup", None
        hook_case = (
            case.model_copy(deep=True) if self._shows_case else case
        )  # what they do to it changes no expectation
        try:
            if self._limits.setup is not None:
                slot.begin_turn(self._limits.timeout, "setup")
                await call_hook(self._limits.setup, case=hook_case, session=session)
            where = "agent"
            if self._begin is not None:
                await self._enter(self._begin, hook_case, session, slot)
            for turn, invocation in enumerate(case.conversation or ()):  # noqa: B007 - read when it raises
                await self._turn(invocation.__dict__["user_content"], session, trial, slot, limiter)
            player = None if play is None else Player(play(), trial, slot)
            while player is not None:
                where, turn = SIMULATOR, len(trial.turns)
                message = await player.next()
                where = "agent"
                if message is None:
                    break
                await self._turn(message, session, trial, slot, limiter)
            turn = None
            state = session.state if self._final_state is None else await self._final_state_of(session, slot)
            trial.__dict__["final_state"] = _state_copy(state, limiter)
            if player is not None:
                where = SIMULATOR
                await player.record_user_faults()
        except BaseException as error:  # noqa: BLE001 - any error of an agent is evidence
            trial.failure = _readable(self._blame(error, slot, where, turn), limiter)
        finally:
            slot.trial_deadline = inf  # the tear-down and the metrics have their own deadlines
            if self._leaves:
                await self._end_session(hook_case, session, trial, slot, limiter)
            slot.begin_turn(None)  # the conversation is over: no turn is under way
        trial.__dict__["duration"] = seconds_since(began)

    async def _enter(
        self, begin: Callable[..., object], case: EvalCase, session: Session, slot: TrialSlot
    ) -> None:
        """Call the agent's `begin`; if it runs in a child process, after that has started."""
        if self._take_process is not None:
            with slot.exclude_time():  # the start of a process has its own deadline
                await self._take_process(session)
        slot.begin_turn(self._limits.timeout, "begin()")
        await settle(begin(session, case))

    def _turn(
        self, message: Content, session: Session, trial: Trial, slot: TrialSlot, limiter: EvidenceLimiter
    ) -> Coroutine[object, object, None]:
        """Begin a turn; return the coroutine that records it."""
        turn = new_turn(message)
        trial.turns.append(turn)
        slot.begin_turn(self._limits.timeout)
        return record_turn(self._events(copy_message(message), session), turn, session, limiter, slot)

    def _events(self, message: Content, session: Session) -> Any:
        events = self._agent.answer(message, session)
        if type(events) is AsyncGeneratorType or hasattr(events, "__aiter__"):
            return events
        if inspect.iscoroutine(events):
            events.close()
        raise AgentError(
            f"answer() returned {type(events).__name__}; it must be an async generator (use `yield` in an `async def`)"
        )

    async def _final_state_of(self, session: Session, slot: TrialSlot) -> Any:
        slot.begin_turn(self._limits.timeout, "final_state()")
        return await settle(self._final_state(session)) if self._final_state is not None else None

    async def _end_session(
        self, case: EvalCase, session: Session, trial: Trial, slot: TrialSlot, limiter: EvidenceLimiter
    ) -> None:
        """Call the agent's `end` and the tear-down hook, even after a failure, with their own deadlines."""
        where = "agent"
        try:
            if self._end is not None:
                slot.begin_turn(self._limits.timeout, "end()")
                await settle(self._end(session))
            where = "teardown"
            if self._limits.teardown is not None:
                slot.begin_turn(self._limits.timeout, "teardown")
                await call_hook(self._limits.teardown, case=case, session=session)
        except BaseException as error:  # noqa: BLE001 - any error of an agent is evidence
            failure = self._blame(error, slot, where, None)
            if trial.failure is None:
                limiter.begin("when it was over")
                trial.failure = _readable(failure, limiter)

    def _blame(self, error: BaseException, slot: TrialSlot, where: str, turn: int | None) -> Failure:
        """Return the failure that `error` means; the cancellation of the whole run passes through."""
        if isinstance(error, GeneratorExit) and not is_running(slot.task):
            raise error  # the interpreter closes this coroutine, which may not await any more
        if slot.expired or isinstance(error, LoopBlocked):
            return self._timeout(error, slot, where, turn)
        if isinstance(error, asyncio.CancelledError):
            if slot.stopping:
                raise error
            forget_cancellation()  # the agent cancelled its own task
        failure = failure_from(error, where=where, turn=turn)
        if where in HOOKS:
            failure.kind = FailureKind.HOOK
        return failure

    def _timeout(self, error: BaseException, slot: TrialSlot, where: str, turn: int | None) -> Failure:
        """Return the failure of a step whose deadline has passed, or that blocked the event loop."""
        is_blocked = isinstance(error, LoopBlocked)
        if where == SIMULATOR and slot.expired:
            forget_cancellation()
            return user_timed_out(turn, is_blocked=is_blocked)
        if is_blocked:
            what = _BLOCKED if turn is not None else f"{step_of(slot)} {BLOCKED_BY_STEP}"
        else:
            forget_cancellation()
            late = "no answer" if turn is not None else f"{step_of(slot)} did not end"
            what = (
                f"{late} within the time of one turn" if slot.expired == "turn" else "the trial took too long"
            )
        limits = self._limits
        limit = limits.trial_timeout if slot.expired == "trial" else limits.timeout
        return timed_out(what, limit, where=where, turn=turn)


def step_of(slot: TrialSlot) -> str:
    """Name the step that is under way outside of the turns."""
    return "the hook" if slot.step in HOOKS else slot.step


HOOKS = ("setup", "teardown")
BLOCKED_BY_STEP = (
    "blocked the event loop and was interrupted; write it as `async def`, and await what it waits for"
)
_BLOCKED = (
    "the agent blocked the event loop and was interrupted; write it as a plain `def` (it then runs in a thread), "
    "or await what it waits for"
)


def new_session(case: EvalCase, unique: str) -> Session:
    """Return a new session for one trial of `case`, with a copy of the initial state."""
    session_input = case.session_input
    if session_input is None:
        return Session(unique, DEFAULT_APP, DEFAULT_USER)
    return Session(
        session_input.session_id or unique,
        session_input.app_name or DEFAULT_APP,
        session_input.user_id or DEFAULT_USER,
        copy_json(session_input.state or {}),
    )


def _as_attempt(trial: Trial, failure: Failure) -> Attempt:
    return Attempt(turns=trial.turns, failure=failure, duration=trial.duration, played_user=trial.played_user)


def _state_copy(state: Any, limiter: EvidenceLimiter) -> dict[str, Any]:
    if not isinstance(state, dict):
        raise AgentError(f"final_state() returned {type(state).__name__}; it must be a dict")
    if not state:
        return {}
    limiter.begin("final state")
    return limiter.object(state, "")


def _readable(failure: Failure, limiter: EvidenceLimiter) -> Failure:
    """Make the message of a failure storable; the notes of the trial record a change."""
    failure.message = limiter.readable(failure.message, "error message: ")
    return failure


_trial = maker(Trial)
_TRIAL = defaults(Trial)


# --- Conversations with a simulated user: it is asked for one message after the other ---------------------------------


class Play:
    """Makes simulated users for the conversations of one case, and detects conversations that a user spoiled."""

    def __init__(
        self, play: Callable[[EvalCase, EvalConfig], UserSimulator], case: EvalCase, config: EvalConfig
    ) -> None:
        self._play, self._case, self.config = play, case, config

    def __call__(self) -> UserSimulator:
        """Return a simulated user for one conversation."""
        return self._play(self._case, self.config)

    def failure_of(self, trial: Trial) -> Failure | None:
        """Return the failure of a trial, or of its simulated user; `None` without one."""
        return trial.failure or user_failure(trial, self.config)


class Player:
    """Asks the simulated user of one attempt, with its own deadline, and records its replies as evidence."""

    def __init__(self, simulator: UserSimulator, trial: Trial, slot: TrialSlot) -> None:
        self._simulator, self._trial, self._slot = simulator, trial, slot
        self._so_far: list[Invocation] = []
        trial.__dict__["played_user"] = simulator.simulated_user

    async def next(self) -> Content | None:
        """Return the user's next message; `None` if the conversation is over.

        Raises:
            SimulatorError: the simulator failed.
        """
        turns, so_far = self._trial.turns, self._so_far
        for index in range(len(so_far), len(turns)):
            so_far.append(invocation_of(turns[index], invocation_id=f"e-{index}"))
        with self._slot.exclude_time(getattr(self._simulator, "patience", None)):
            try:
                message = await self._simulator.next_message(so_far)
            except NoMessageError as error:
                self._record_reply(error.reply)
                self._note_failure(error.failure, len(so_far))
                raise
        self._record_reply(message.reply)
        return message.message

    async def record_user_faults(self) -> None:
        """Record the faults of the user, now that the conversation is over and the final state is known."""
        trial = self._trial
        if trial.played_user is not None:
            with self._slot.exclude_time(getattr(self._simulator, "patience", None)):
                faults = await self._simulator.find_faults(self._so_far, trial.final_state)
            trial.played_user.faults.extend(faults)

    def _note_failure(self, failure: Failure, turn: int) -> None:
        if self._trial.played_user is not None and failure.kind is not FailureKind.NOT_ASKED:
            fault = UserFault(kind=FaultKind.NO_MESSAGE, turn=turn, why=failure.message)
            self._trial.played_user.faults.append(fault)

    def _record_reply(self, reply: UserReply | None) -> None:
        if reply is not None and self._trial.played_user is not None:
            self._trial.played_user.replies.append(reply)
