"""Any Python function as an agent: plain or async, generator or not, also objects that can be called."""

from __future__ import annotations

import inspect
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from functools import partial
from types import UnionType
from typing import Annotated, Union, cast, get_args, get_origin

from pydantic import BaseModel

from proctor.agents.base import AgentInfo, Session
from proctor.agents.function_results import convert_answer
from proctor.common.async_tools import THREADS
from proctor.common.error_text import safe_repr
from proctor.errors import AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

Give = Callable[[Content, Session], object]
"""What one parameter gets."""


class FunctionAgent:
    """A function that gets the user's message and returns or yields the agent's answer.

    Parameters are recognised by name or annotation: `content` or `Content` gets the whole message, `session` or
    `Session` the session, `state` the session's state; the first other one gets the message's text. `proctor.agents.function_results`
    lists the accepted answers; a list, an iterator or a generator of them is accepted too, and the return value of a generator
    is its last answer.

    Plain functions and generators run in a separate thread; async ones in the event loop.
    """

    def __init__(self, function: Callable[..., object], *, name: str = "") -> None:
        """Take the function, and its name in messages.

        Raises:
            AgentLoadError: nothing takes the user's message, or a parameter is none that Proctor fills.
        """
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self._bind = _Binding(function, self.name)
        self._runs_nothing = _is_lazy(function)

    def describe(self) -> AgentInfo:
        """Return the function's name and the first line of its docstring."""
        lines = (inspect.getdoc(self.function) or "").splitlines()
        return AgentInfo(name=self.name, description=lines[0] if lines else "")

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Call the function and yield its answer.

        Raises:
            AgentError: it answered with something that is not an answer.
        """
        call = self._bind(message, session)
        answer = call() if self._runs_nothing else await THREADS.call(call)
        if inspect.isawaitable(answer):
            answer = await answer
        stream = _stream(answer)
        if stream is None:
            for item in answer if isinstance(answer, list | tuple) else (answer,):
                for event in convert_answer(item):
                    yield event
            return
        async with aclosing(stream):
            async for item in stream:
                for event in convert_answer(item):
                    yield event


def _is_lazy(function: Callable[..., object]) -> bool:
    """Return whether a call only creates a coroutine or a generator, so that it needs no thread."""
    for one in (function, getattr(function, "__call__", None)):  # noqa: B004 -- the method itself is inspected
        if (
            inspect.iscoroutinefunction(one)
            or inspect.isasyncgenfunction(one)
            or inspect.isgeneratorfunction(one)
        ):
            return True
    return False


_SINGLE = (list, tuple, str, bytes, bytearray, Mapping, BaseModel, set, frozenset)
"""Iterable types that are one answer; a pydantic model can be iterated, too."""


def _stream(answer: object) -> AsyncGenerator[object, None] | None:
    """Return what yields one answer after the other, if `answer` does."""
    if isinstance(answer, AsyncIterable):
        has_close = hasattr(type(answer), "aclose")
        return cast("AsyncGenerator[object, None]", answer) if has_close else _iterate(answer)
    if isinstance(answer, Iterable) and not isinstance(answer, _SINGLE):
        return _pull(answer)
    return None


async def _iterate(answer: AsyncIterable[object]) -> AsyncGenerator[object, None]:
    async for item in answer:
        yield item


async def _pull(iterable: Iterable[object]) -> AsyncGenerator[object, None]:
    """Take one item after the other on request, all of them in one thread."""
    worker = THREADS.acquire()
    iterator: Iterator[object] | None = None
    ended = False
    try:
        if isinstance(iterable, Iterator):
            iterator = iterable
        else:
            outcome = await worker.call(iter, iterable)
            ended = outcome.error is not None
            iterator = outcome.get()
        while True:
            outcome = await worker.call(_next, iterator)
            ended = outcome.error is not None or outcome.value.last
            item = outcome.get()
            if not item.last or item.value is not None:
                yield item.value
            if ended:
                return
    finally:
        if ended:
            THREADS.release(worker)
        else:  # cancelled or left early: the thread closes the generator later, without anyone waiting
            worker.dismiss(getattr(iterator, "close", None))


class _Item:
    __slots__ = ("last", "value")

    def __init__(self, value: object, *, last: bool) -> None:
        self.value, self.last = value, last


def _next(iterator: Iterator[object]) -> _Item:
    try:
        return _Item(next(iterator), last=False)
    except StopIteration as stop:
        return _Item(stop.value, last=True)


class _Binding:
    """The mapping of message and session to the parameters of a function."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._function = function
        self._positional: list[Give] = []
        self._named: dict[str, Give] = {}
        self._fill(_parameters(function), name)

    def __call__(self, message: Content, session: Session) -> Callable[[], object]:
        """Return the bound call."""
        args = [give(message, session) for give in self._positional]
        if not self._named:
            return partial(self._function, *args)
        return partial(
            self._function, *args, **{name: give(message, session) for name, give in self._named.items()}
        )

    def _fill(self, parameters: list[inspect.Parameter], name: str) -> None:
        has_message = False
        for parameter in parameters:
            give = _source_of(parameter)
            if give is None and not has_message and parameter.kind is not parameter.VAR_KEYWORD:
                give = _text
            has_message = has_message or give in (_text, _content)
            if give is not None:
                self._bind_parameter(parameter, give)
            elif parameter.default is parameter.empty and parameter.kind not in _VARIABLE:
                raise AgentLoadError(
                    f"The function {name!r} has the parameter {parameter.name!r}, and Proctor does not know what to "
                    "give it. It fills: the user's text (the first parameter), `content`, `session`, `state`."
                )
        if not has_message:
            raise AgentLoadError(
                f"The function {name!r} has no parameter for the user's message. Write: def {name}(text): ..."
            )

    def _bind_parameter(self, parameter: inspect.Parameter, give: Give) -> None:
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL}:
            self._positional.append(give)
        else:
            self._named[parameter.name] = give


_VARIABLE = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:  # written in C: it gets the text
        return [inspect.Parameter("text", inspect.Parameter.POSITIONAL_ONLY)]
    except TypeError as error:
        raise AgentLoadError(f"{safe_repr(function)} cannot be called: {error}") from error


def _source_of(parameter: inspect.Parameter) -> Give | None:
    """Return the source of a parameter by its annotation or name; annotations may be unevaluated text."""
    matches = (_BY_TYPE[name] for name in _type_names(parameter.annotation) if name in _BY_TYPE)
    return next(matches, None) or _BY_NAME.get(parameter.name)


def _type_names(annotation: object) -> Iterator[str]:
    """The names of the types that an annotation allows: of `Content | None` and the like each."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
    if isinstance(text, str):
        text = text.strip("'\" ")
        inner = _OF_SEVERAL.fullmatch(text)
        for one in re.split(r"[|,]", inner[1] if inner else text):
            yield one.strip("'\" ").rpartition(".")[2]
    elif get_origin(annotation) in {Union, UnionType, Annotated}:
        for one in get_args(annotation):
            yield from _type_names(one)
    else:
        yield getattr(annotation, "__name__", "")


def _text(message: Content, _session: Session) -> str:
    return message.joined_text()


def _content(message: Content, _session: Session) -> Content:
    return message


def _session(_message: Content, session: Session) -> Session:
    return session


def _state(_message: Content, session: Session) -> dict[str, object]:
    return session.state


_OF_SEVERAL = re.compile(r"(?:\w+\.)*(?:Optional|Union|Annotated)\[(.+)\]", re.DOTALL)
_BY_NAME: dict[str, Give] = {"content": _content, "session": _session, "state": _state}
_BY_TYPE: dict[str, Give] = {"Content": _content, "Session": _session}
