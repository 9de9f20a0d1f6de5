"""Open the agent once for a run, read its description of itself, and close it: in one task, with deadlines."""

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
from proctor.engine.planning.plan import Plan
from proctor.engine.planning.set_plan import SetPlan, in_case
from proctor.engine.trial.conversation import BLOCKED_BY_STEP
from proctor.engine.trial.deadlines import Deadlines, LoopBlocked, TrialSlot, is_running
from proctor.errors import AgentLoadError, CriterionError, ProctorError, SetupError, SetupProblems
from proctor.metrics.base import AgentDeclaration
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import AppDetails

_Outcome = TypeVar("_Outcome")

PATIENCE = 30.0
"""Seconds that opening may take even if a turn may take less (models are loaded, servers started), and that closing may
take at most, because the user waits for the verdict."""
_STEPS = ("open", "describe", "close")


class AgentLifecycle:
    """An agent from its opening to its closing, in a separate task.

    Both happen in the same task, because a task must leave what it entered (a task group of anyio, an exit stack of MCP
    servers). Context variables that `open` sets are copied to the caller.
    """

    def __init__(self, agent: Agent | None, label: str, timeout: float | None) -> None:
        """Keep the agent (`None`: there is nothing to open), its name, and the seconds that one turn may take."""
        self._agent, self._label = agent, label
        self._seconds: dict[str, float | None] = {
            "open": None if timeout is None else max(timeout, PATIENCE),
            "close": PATIENCE,
        }
        self._slot = TrialSlot()
        self._step = ""
        self._wanted: asyncio.Future[None] | None = None
        self._closed: asyncio.Future[str] | None = None

    async def open(self, plan: Plan) -> AgentInfo | None:
        """Open the agent and return its description of itself; `None` if it gives none, or there is no agent.

        Raises:
            AgentLoadError: it raised, took too long, or its description cannot be read.
            SetupProblems: cases or criteria name calls that it cannot make, by its own description; it is closed again.
        """
        if not any(hasattr(self._agent, step) for step in _STEPS):
            return None
        loop = asyncio.get_running_loop()
        opened: asyncio.Future[AgentInfo | None] = loop.create_future()
        self._wanted, self._closed = loop.create_future(), loop.create_future()
        context = copy_context()
        self._slot.task = loop.create_task(self._live(opened, self._wanted, self._closed), context=context)
        try:
            info = await self._finish_in_time("open", opened)
        except asyncio.CancelledError:
            self._slot.task.cancel()
            raise
        for variable, value in context.items():
            if variable.get(_UNSET) is not value:
                variable.set(value)
        if problems := find_contradictions(plan, info):
            await self.close()
            raise SetupProblems(problems)
        return info

    async def close(self) -> str:
        """Close the agent; return a warning for the user if that failed (the verdicts count), or an empty text."""
        if self._wanted is None or self._closed is None:
            return ""
        if not self._wanted.done():
            self._wanted.set_result(None)
        try:
            return await self._finish_in_time("close", self._closed)
        except RuntimeError as error:
            # an agent may have broken threads, which deadlines need: the verdicts count anyway
            await asyncio.wait([self._closed], timeout=PATIENCE)
            return (
                self._closed.result() if self._closed.done() else f"closing the agent: {_error_text(error)}"
            )

    # --- in the separate task -----------------------------------------------------------------------------------------

    async def _live(
        self,
        opened: asyncio.Future[AgentInfo | None],
        close_request: asyncio.Future[None],
        closed: asyncio.Future[str],
    ) -> None:
        warning = ""
        try:
            _settle(opened, await self._begin())
            with suppress(asyncio.CancelledError):
                # a task group that `open` entered failed: `close` leaves it
                await asyncio.wait([close_request])
            warning = await self._end()
        except BaseException as error:  # noqa: BLE001 - any error of an agent is reported
            self._pass_on(error)
            explained = self._load_error(error)
            if self._step == "describe":
                await self._end()
            _settle(opened, error=explained)
        finally:
            _settle(closed, warning)

    async def _begin(self) -> AgentInfo | None:
        agent = self._agent
        with contained_exits():  # also in tasks that it starts here
            if (opener := getattr(agent, "open", None)) is not None:
                self._step = "open"
                await settle(opener())
            if (describe := getattr(agent, "describe", None)) is not None:
                self._step = "describe"
                return _check_info(await settle(describe()), self._label)
        return None

    async def _end(self) -> str:
        """Close the agent; an error becomes a warning."""
        self._step = "close"
        if (close := getattr(self._agent, "close", None)) is None:
            return ""
        try:
            with contained_exits():
                await settle(close())
        except BaseException as error:  # noqa: BLE001 - the error becomes a warning, and the verdicts count
            self._pass_on(error)
            if (late := self._late_text(error)) is not None:
                return f"closing the agent: {late}"
            return f"closing the agent raised {_error_text(error)}"
        return ""

    def _pass_on(self, error: BaseException) -> None:
        """Raise `error` if the interpreter closes this task after the loop has ended."""
        if isinstance(error, GeneratorExit) and not is_running(self._slot.task):
            raise error

    def _load_error(self, error: BaseException) -> BaseException:
        if isinstance(error, ProctorError):
            return error
        why = self._late_text(error) or _error_text(error)
        explained = AgentLoadError(f"the agent {self._label} could not be opened: {why}")
        explained.__cause__ = error
        return explained

    def _late_text(self, error: BaseException) -> str | None:
        """Return which deadline caused `error`; `None` if none did."""
        if isinstance(error, LoopBlocked):
            return f"{self._step}() {BLOCKED_BY_STEP}{self._limit}"
        return f"{self._step}() did not end in time{self._limit}" if self._slot.expired else None

    @property
    def _limit(self) -> str:
        seconds = self._seconds["close" if self._step == "close" else "open"]
        return "" if seconds is None else f" ({seconds:g} s)"

    # --- in the caller's task -----------------------------------------------------------------------------------------

    async def _finish_in_time(self, step: str, outcome: asyncio.Future[_Outcome]) -> _Outcome:
        """Return the outcome of opening or closing, or an error if it ignores its cancellation."""
        seconds = self._seconds[step]

        def abandon(_: TrialSlot) -> None:
            late = f"{self._step}() did not end in time, and ignored its cancellation: it was left behind"
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
    if outcome is None or outcome.done():  # the caller does not wait any more
        return
    if error is None:
        outcome.set_result(value)
    else:
        outcome.set_exception(error)


def _error_text(error: BaseException) -> str:
    message = hide_secrets(safe_str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _check_info(info: Any, label: str) -> AgentInfo | None:
    """Check that the store and metrics can read what `describe()` returned."""
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


# --- The agent's description of its tools, compared with the calls that cases and criteria name -----------------------


AgentCheck = Callable[[EvalCase | None, AgentDeclaration], Iterable[str]]


def find_contradictions(plan: Plan, info: AgentInfo | None) -> list[SetupError]:
    """Return the problems of cases and criteria that name calls that the agent cannot make, each once."""
    if info is None or not info.app_details:
        return []
    described = AgentDeclaration(info.app_details, is_complete=not info.has_more_tools)
    problems = [problem for chosen in plan.sets for problem in _set_problems(chosen, described)]
    return [*{str(problem): problem for problem in problems}.values()]


def _set_problems(chosen: SetPlan, described: AgentDeclaration) -> Iterator[SetupError]:
    checks: dict[str, AgentCheck] = {
        bound.name: check for bound in chosen.metrics if (check := getattr(bound.metric, "check_agent", None))
    }
    source = chosen.summary.config_source
    for name, check in checks.items():
        for message in check(None, described):
            problem = CriterionError(f"{source}: The criterion of {name!r} does not fit: {message}.")
            problem.file, problem.path, problem.parts = source, ("criteria", name), [message]
            yield problem
    for index in chosen.cases if checks else ():
        case = chosen.source.case(index)
        for check in checks.values():
            yield from (in_case(message, chosen.source, index) for message in check(case, described))
