"""A model that is a function of the user's: `judge=` may be one."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from proctor.common.async_tools import settle
from proctor.common.error_text import safe_repr, safe_str
from proctor.common.secrets import without_secrets
from proctor.common.threads import THREADS
from proctor.errors import SetupError
from proctor.models.base import Finish, Message, ModelError, ModelFault, ModelOptions, Reply, Usage

__all__ = ["Answering", "FunctionModel", "Said", "raised", "reply_of", "sound_reply", "takes_options"]

Said = Any
"""What a function or a script may answer with: a text; the answer as data (a mapping, or an object with `model_dump`);
a whole `Reply`; or an exception, which is raised."""

Answering = Callable[..., Any]
"""A plain or async function from the messages, or from the messages and the `ModelOptions`, to what is said."""


class FunctionModel:
    """A model that is a function: `judge=` may be one.

    The function gets the messages, and the `ModelOptions` too if it takes a second argument. It may be plain (then it
    runs in a thread of its own) or async. What the call wants repeated (`ModelOptions.echo`) it must repeat itself, as
    in `{**options.echo, "verdict": "valid", …}`: it may well have found its answer in the data that it was shown.
    """

    def __init__(self, function: Answering, *, name: str = "", has_schemas: bool = False) -> None:
        """Take the function. `has_schemas`: it answers with data, and wants no instructions on how to write JSON."""
        if not callable(function):
            raise SetupError(f"A model's function must be callable, and {type(function).__name__} is not.")
        self.name = name or getattr(function, "__name__", "") or type(function).__name__
        self.has_schemas = has_schemas
        self.function = function
        self._wants_options = takes_options(function)
        self._is_async = _is_async(function)

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Call the function.

        Raises:
            ModelError: it raised, took longer than the options allow, or returned what is no answer.
        """
        began = time.monotonic()
        limit = asyncio.timeout(options.timeout)
        try:
            async with limit:
                said = await self._call(tuple(messages), options)
        except ModelError:
            raise
        except BaseException as error:  # SystemExit, too: in an event loop it would end the run
            if limit.expired():
                message = f"{self.name} did not answer within {options.timeout:g} s"
                raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
            if _cancelled(error):
                raise
            raise raised(self.name, error) from error
        return reply_of(said, self.name, options, as_data=True, seconds=time.monotonic() - began)

    async def _call(self, messages: tuple[Message, ...], options: ModelOptions) -> Said:
        arguments = (messages, options) if self._wants_options else (messages,)
        if self._is_async:
            return await self.function(*arguments)
        return await settle(await THREADS.call(self.function, *arguments))


# --- replies ----------------------------------------------------------------------------------------------------------


def reply_of(said: Said, name: str, options: ModelOptions, *, as_data: bool, seconds: float) -> Reply:
    """Make a reply of what was said. `as_data`: data is given as data where a schema asks for it, not only as text.

    Raises:
        ModelError: it is an exception, or nothing that an answer can be.
    """
    if isinstance(said, ModelError):
        raise said
    if isinstance(said, BaseException):
        raise raised(name, said) from said
    if isinstance(said, Reply):
        return dataclasses.replace(said, model=said.model or name, seconds=said.seconds or seconds)
    if isinstance(said, str):
        return Reply(text=said, model=name, seconds=seconds)
    data = _data(said)
    if data is None:
        what = f"{name} answered with {type(said).__name__}; expected a text, a mapping or a Reply"
        raise ModelError(what, fault=ModelFault.BROKE_PROTOCOL)
    text = json.dumps(data, ensure_ascii=False, default=repr)
    structured = data if as_data and options.schema is not None else None
    return Reply(text=text, structured=structured, model=name, seconds=seconds)


def sound_reply(said: object, name: str) -> Reply:
    """Return what a model of somebody's own answered, if it is a `Reply` whose fields are what they must be.

    Raises:
        ModelError: it is not.
    """
    if not isinstance(said, Reply):
        what = f"{name} answered with {type(said).__name__}, not with a Reply"
        raise ModelError(what, fault=ModelFault.BROKE_PROTOCOL)
    wrong = [field for field, fits in _FIELDS.items() if not fits(getattr(said, field))]
    if wrong:
        told = ", ".join(f"{field}={safe_repr(getattr(said, field))}" for field in wrong)
        raise ModelError(f"{name} answered with a Reply of {told}", fault=ModelFault.BROKE_PROTOCOL)
    return said


def _is_amount(value: object) -> bool:
    return _is_count(value) or (isinstance(value, float) and isfinite(value) and value >= 0)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_usage(value: object) -> bool:
    if not isinstance(value, Usage):
        return value is None
    counts: tuple[object, ...] = (value.input_tokens, value.output_tokens, value.cached_tokens)
    return all(count is None or _is_count(count) for count in counts)


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "model": lambda value: isinstance(value, str),
    "finish": lambda value: isinstance(value, Finish),
    "usage": _is_usage,
    "cost": lambda value: value is None or _is_amount(value),
    "seconds": _is_amount,
    "requests": _is_count,
}


def _data(said: Said) -> dict[str, Any] | None:
    """Return an answer as a dict; `None` where it is no object of JSON."""
    if callable(dump := getattr(said, "model_dump", None)) and not isinstance(said, type):
        said = dump(mode="json")
    elif dataclasses.is_dataclass(said) and not isinstance(said, type):
        said = dataclasses.asdict(said)
    return dict(said) if isinstance(said, Mapping) else None


def raised(name: str, error: BaseException) -> ModelError:
    """Return what becomes of an exception of the user's code."""
    told = without_secrets(safe_str(error))
    message = f"{name} raised {type(error).__name__}" + (f": {told}" if told else "")
    return ModelError(message, fault=ModelFault.RAISED)


def _cancelled(error: BaseException) -> bool:
    """Tell whether it is the caller who does not want the answer any more."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


# --- functions --------------------------------------------------------------------------------------------------------


def _is_async(function: Answering) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - its own code is wanted, not whether there is any
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


_POSITIONAL = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def takes_options(function: Answering) -> bool:
    """Tell whether a function takes the options as well; one whose signature cannot be told takes the messages."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [one for one in parameters if one.kind in _POSITIONAL and one.default is one.empty]
    return len(needed) >= 2 or any(one.kind is one.VAR_POSITIONAL for one in parameters)
