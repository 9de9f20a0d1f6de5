"""An agent is opened once for a run, tells what it is, and is closed again: all of it in one task, and in bounded time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from pydantic import ValidationError

from proctor.agents.base import Agent, AgentInfo
from proctor.common.async_tools import settle
from proctor.common.error_text import safe_repr, safe_str
from proctor.common.process_exit import contained_exits
from proctor.common.secrets import hide_secrets
from proctor.engine.planning.case_problems import in_case
from proctor.engine.planning.plan import Plan, SetPlan
from proctor.engine.trial.deadlines import Deadlines, LoopBlocked, Slot, is_running
from proctor.engine.trial.trial_runner import BLOCKED_BY_STEP
from proctor.errors import AgentLoadError, CriterionError, ProctorError, SetupError, SetupProblems
from proctor.metrics.base import Described
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import AppDetails

__all__ = ["OpenedAgent", "contradicted"]

_Outcome = TypeVar("_Outcome")

PATIENCE = 30.0
"""Seconds that opening may take where a turn may take less (models are loaded, servers started), and that closing may
take at most: all is done, and somebody waits for the verdict."""
_STEPS = ("open", "describe", "close")


class OpenedAgent:
    """An agent from its opening to its closing, in a task of its own.

    One task for both: what `open` enters (a task group of anyio, an exit stack of MCP servers), `close` must leave in
    the same one. Context variables that `open` sets are there for whoever opened it.
    """

    def __init__(self, agent: Agent | None, label: str, timeout: float | None) -> None:
        """Take the agent (`None`: there is nothing to open), its name, and the seconds that one turn may take."""
        self._agent, self._label = agent, label
        self._seconds: dict[str, float | None] = {
            "open": None if timeout is None else max(timeout, PATIENCE),
            "close": PATIENCE,
        }
        self._slot = Slot()
        self._step = ""
        self._wanted: asyncio.Future[None] | None = None
        self._closed: asyncio.Future[str] | None = None

    async def open(self, plan: Plan) -> AgentInfo | None:
        """Open the agent and hear what it says about itself; `None` where there is none, or it says nothing.

        Raises:
            AgentLoadError: it raised, took too long, or what it says about itself cannot be read.
            SetupProblems: what is stated about calls that it, by its own account, can never make; it is closed again.
        """
        if not any(hasattr(self._agent, step) for step in _STEPS):
            return None
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[AgentInfo | None] = loop.create_future()
        self._wanted, self._closed = loop.create_future(), loop.create_future()
        context = copy_context()
        self._slot.task = loop.create_task(self._live(opened, self._wanted, self._closed), context=context)
        try:
            info = await self._in_time("open", opened)
        except asyncio.CancelledError:
            self._slot.task.cancel()
            raise
        for variable, value in context.items():
            if variable.get(_UNSET) is not value:
                variable.set(value)
        if problems := contradicted(plan, info):
            await self.close()
            raise SetupProblems(problems)
        return info

    async def close(self) -> str:
        """Close the agent; returns what went wrong, in words for the user (the verdicts stand), usually empty."""
        if self._wanted is None or self._closed is None:
            return ""
        if not self._wanted.done():
            self._wanted.set_result(None)
        try:
            return await self._in_time("close", self._closed)
        except RuntimeError as error:
            # an agent can break threads, which time limits need: that costs no verdict
            await asyncio.wait([self._closed], timeout=PATIENCE)
            return self._closed.result() if self._closed.done() else f"closing the agent: {_told(error)}"

    # --- in the task of its own ---------------------------------------------------------------------------------------

    async def _live(
        self,
        opened: asyncio.Future[AgentInfo | None],
        wanted: asyncio.Future[None],
        closed: asyncio.Future[str],
    ) -> None:
        said = ""
        try:
            _settle(opened, await self._begin())
            with suppress(asyncio.CancelledError):
                # a task group that `open` entered broke: `close` leaves it
                await asyncio.wait([wanted])
            said = await self._end()
        except BaseException as error:  # noqa: BLE001 - whatever an agent raises is told
            self._pass_on(error)
            explained = self._explained(error)
            if self._step == "describe":
                await self._end()
            _settle(opened, error=explained)
        finally:
            _settle(closed, said)

    async def _begin(self) -> AgentInfo | None:
        agent = self._agent
        with contained_exits():  # of tasks that it starts now and that live on
            if (opener := getattr(agent, "open", None)) is not None:
                self._step = "open"
                await settle(opener())
            if (describe := getattr(agent, "describe", None)) is not None:
                self._step = "describe"
                return _as_told(await settle(describe()), self._label)
        return None

    async def _end(self) -> str:
        """Close it; whatever it raises changes no verdict."""
        self._step = "close"
        if (close := getattr(self._agent, "close", None)) is None:
            return ""
        try:
            with contained_exits():
                await settle(close())
        except BaseException as error:  # noqa: BLE001 - the verdicts stand; the user is told
            self._pass_on(error)
            if (late := self._late(error)) is not None:
                return f"closing the agent: {late}"
            return f"closing the agent raised {_told(error)}"
        return ""

    def _pass_on(self, error: BaseException) -> None:
        """Raise what ends this task itself: the interpreter closes it, after the loop."""
        if isinstance(error, GeneratorExit) and not is_running(self._slot.task):
            raise error

    def _explained(self, error: BaseException) -> BaseException:
        if isinstance(error, ProctorError):
            return error
        why = self._late(error) or _told(error)
        explained = AgentLoadError(f"the agent {self._label} could not be opened: {why}")
        explained.__cause__ = error
        return explained

    def _late(self, error: BaseException) -> str | None:
        """What ran out, where `error` came of that."""
        if isinstance(error, LoopBlocked):
            return f"{self._step}() {BLOCKED_BY_STEP}{self._limit}"
        return f"{self._step}() did not end in time{self._limit}" if self._slot.expired else None

    @property
    def _limit(self) -> str:
        seconds = self._seconds["close" if self._step == "close" else "open"]
        return "" if seconds is None else f" ({seconds:g} s)"

    # --- beside it ----------------------------------------------------------------------------------------------------

    async def _in_time(self, step: str, outcome: asyncio.Future[_Outcome]) -> _Outcome:
        """Return what comes of opening or closing, or say that it goes on though its time is over."""
        seconds = self._seconds[step]

        def abandon(_: Slot) -> None:
            late = (
                f"{self._step}() did not end in time, and went on when it was cancelled: it was left behind"
            )
            if step == "close":
                _settle(self._closed, f"closing the agent: {late}{self._limit}")
            else:
                why = f"the agent {self._label} could not be opened: {late}{self._limit}"
                _settle(outcome, error=AgentLoadError(why))

        with Deadlines(seconds, abandon) as deadlines:
            self._slot.begin_turn(seconds)
            deadlines.add(self._slot)
            return await outcome


_UNSET: Any = object()


def _settle(
    outcome: asyncio.Future[Any] | None, value: Any = None, error: BaseException | None = None
) -> None:
    if outcome is None or outcome.done():  # whoever waited has gone
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)


def _told(error: BaseException) -> str:
    said = hide_secrets(safe_str(error))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _as_told(info: Any, label: str) -> AgentInfo | None:
    """Return what `describe()` gave, which goes into the store and to metrics, if it can be read there."""
    if info is None:
        return None
    if not isinstance(info, AgentInfo):
        raise AgentLoadError(
            f"the agent {label}: describe() returned {safe_repr(info)}; expected a proctor.AgentInfo, or None"
        )
    texts = {"name": info.name, "description": info.description, "version": info.version or ""}
    for field, value in texts.items():
        if not isinstance(value, str):
            raise AgentLoadError(
                f"the agent {label}: {field} of describe() is {safe_repr(value)}; expected a text"
            )
    if info.app_details is not None:
        _check_details(info.app_details, label)
    return info


def _check_details(details: Any, label: str) -> None:
    try:
        if not isinstance(details, dict):
            raise TypeError(safe_repr(details))
        json.dumps(details)
        AppDetails.model_validate(details)
    except (TypeError, ValueError) as error:
        why = _first_problem(error) if isinstance(error, ValidationError) else safe_str(error)
        raise AgentLoadError(
            f"the agent {label}: app_details of describe() cannot be read: {why}; expected JSON of the form "
            "{'agent_details': {NAME: {'name': NAME, 'instructions': …, 'tool_declarations': […]}}}"
        ) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


# --- What the agent says about its tools, beside what cases and criteria say about calls: the last look before it is asked anything ---


Ask = Callable[[EvalCase | None, Described], Iterable[str]]


def contradicted(plan: Plan, info: AgentInfo | None) -> list[SetupError]:
    """What is stated about calls that the agent, by its own account, can never make; each thing once."""
    if info is None or not info.app_details:
        return []
    described = Described(info.app_details, is_complete=not info.has_more_tools)
    found = [problem for chosen in plan.sets for problem in _of_set(chosen, described)]
    return [*{str(problem): problem for problem in found}.values()]


def _of_set(chosen: SetPlan, described: Described) -> Iterator[SetupError]:
    asked: dict[str, Ask] = {
        one.name: ask for one in chosen.metrics if (ask := getattr(one.metric, "check_agent", None))
    }
    source = chosen.summary.config_source
    for name, ask in asked.items():
        for said in ask(None, described):
            problem = CriterionError(f"{source}: The criterion of {name!r} does not fit: {said}.")
            problem.file, problem.path, problem.parts = source, ("criteria", name), [said]
            yield problem
    for index in chosen.cases if asked else ():
        case = chosen.source.case(index)
        for ask in asked.values():
            yield from (in_case(said, chosen.source, index) for said in ask(case, described))
