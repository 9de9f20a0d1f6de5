"""A chat model that calls a user's function, for example from `judge=`."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from proctor.common.async_tools import THREADS, settle
from proctor.common.error_text import safe_repr, safe_str
from proctor.common.secrets import hide_secrets
from proctor.errors import SetupError
from proctor.models.base import ChatModel, Finish, Message, ModelError, ModelFault, ModelOptions, Reply, Usage

Answer = object
"""The answer of a function or a script: a text; data (a mapping or an object with `model_dump`); a `Reply`; or an
exception, which is raised."""

AnswerFunction = Callable[..., Any]
"""A plain or async function that gets the messages, or the messages and the `ModelOptions`, and returns an answer."""


class FunctionModel:
    """A chat model that calls a function.

    The function gets the messages, and the `ModelOptions` if it takes a second argument. A plain function runs in a separate
    thread. It must repeat the fields of `ModelOptions.echo` itself, as in `{**options.echo, "verdict": "valid", …}`: Proctor
    cannot know whether it copied its answer from the data.
    """

    def __init__(self, function: AnswerFunction, *, name: str = "", has_schemas: bool = False) -> None:
        """Take the function. `has_schemas`: it returns data and needs no instructions for JSON."""
        if not callable(function):
            raise SetupError(f"The function of a model must be callable; got {type(function).__name__}.")
        self.name = name or getattr(function, "__name__", "") or type(function).__name__
        self.has_schemas = has_schemas
        self.function = function
        self._wants_options = takes_options(function)
        self._is_async = _is_async(function)

    async def complete(self, messages: Sequence[Message], *, options: ModelOptions) -> Reply:
        """Call the function.

        Raises:
            ModelError: the function raised, exceeded the timeout, or returned no valid answer.
        """
        began = time.monotonic()
        limit = asyncio.timeout(options.timeout)
        try:
            async with limit:
                answer = await self._call(tuple(messages), options)
        except ModelError:
            raise
        except BaseException as error:  # SystemExit would end the event loop and the run
            if limit.expired():
                message = f"{self.name} did not answer within {options.timeout:g} s"
                raise ModelError(message, fault=ModelFault.TIMED_OUT) from error
            if _is_cancelled_by_caller(error):
                raise
            raise error_of_exception(self.name, error) from error
        return reply_of(answer, self.name, options, as_data=True, seconds=time.monotonic() - began)

    async def _call(self, messages: tuple[Message, ...], options: ModelOptions) -> Answer:
        arguments = (messages, options) if self._wants_options else (messages,)
        if self._is_async:
            return await self.function(*arguments)
        return await settle(await THREADS.call(self.function, *arguments))


# --- replies ----------------------------------------------------------------------------------------------------------


def reply_of(answer: Answer, name: str, options: ModelOptions, *, as_data: bool, seconds: float) -> Reply:
    """Convert an answer to a reply. `as_data`: with a schema, data becomes the structured answer, not only text.

    Raises:
        ModelError: the answer is an exception, or has no valid type.
    """
    if isinstance(answer, ModelError):
        raise answer
    if isinstance(answer, BaseException):
        raise error_of_exception(name, answer) from answer
    if isinstance(answer, Reply):
        return dataclasses.replace(answer, model=answer.model or name, seconds=answer.seconds or seconds)
    if isinstance(answer, str):
        return Reply(text=answer, model=name, seconds=seconds)
    data = _as_json_object(answer)
    if data is None:
        message = f"{name} answered with {type(answer).__name__}; expected a text, a mapping or a Reply"
        raise ModelError(message, fault=ModelFault.BROKE_PROTOCOL)
    text = json.dumps(data, ensure_ascii=False, default=repr)
    structured = data if as_data and options.schema is not None else None
    return Reply(text=text, structured=structured, model=name, seconds=seconds)


_GRACE = 1.0
"""Seconds after its timeout in which a model may report the timeout itself, and seconds to end after it was cancelled."""


async def complete_safely(model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
    """Call a model that may raise any exception, return anything, or ignore its timeout and its cancellation.

    Raises:
        ModelError: there is no valid reply.
    """
    task = asyncio.ensure_future(_checked_answer(model, messages, options))
    try:
        limit = None if options.timeout is None else options.timeout + _GRACE
        done, _ = await asyncio.wait({task}, timeout=limit)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_GRACE)
    if not done:
        message = f"{model.name} did not answer within {options.timeout:g} s"
        raise ModelError(message, fault=ModelFault.TIMED_OUT)
    if task.cancelled():
        raise ModelError(f"{model.name} cancelled itself", fault=ModelFault.RAISED)
    return task.result()


async def _checked_answer(model: ChatModel, messages: Sequence[Message], options: ModelOptions) -> Reply:
    try:
        reply = await model.complete(messages, options=options)
    except (ModelError, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit would end the event loop and the run
        raise error_of_exception(model.name, error) from error
    return _checked_reply(reply, model.name)


def _checked_reply(reply: object, name: str) -> Reply:
    """Return the reply of a user's model if it is a `Reply` with valid fields.

    Raises:
        ModelError: it is not.
    """
    if not isinstance(reply, Reply):
        message = f"{name} answered with {type(reply).__name__}, not with a Reply"
        raise ModelError(message, fault=ModelFault.BROKE_PROTOCOL)
    invalid = [field for field, is_valid in _FIELDS.items() if not is_valid(getattr(reply, field))]
    if invalid:
        fields = ", ".join(f"{field}={safe_repr(getattr(reply, field))}" for field in invalid)
        raise ModelError(f"{name} answered with a Reply of {fields}", fault=ModelFault.BROKE_PROTOCOL)
    return reply


def _is_amount(value: object) -> bool:
    return _is_count(value) or (isinstance(value, float) and isfinite(value) and value >= 0)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_usage(value: object) -> bool:
    if not isinstance(value, Usage):
        return value is None
    counts: tuple[object, ...] = (value.input_tokens, value.output_tokens, value.cached_tokens)
    return all(count is None or _is_count(count) for count in counts)


_FIELDS: dict[str, Callable[[object], bool]] = {
    "text": lambda value: isinstance(value, str),
    "model": lambda value: isinstance(value, str),
    "finish": lambda value: isinstance(value, Finish),
    "usage": _is_usage,
    "cost": lambda value: value is None or _is_amount(value),
    "seconds": _is_amount,
    "requests": _is_count,
}


def _as_json_object(answer: object) -> dict[str, object] | None:
    """Return an answer as a dict; `None` if it is not a JSON object."""
    if callable(dump := getattr(answer, "model_dump", None)) and not isinstance(answer, type):
        answer = dump(mode="json")
    elif dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        answer = dataclasses.asdict(answer)
    return dict(answer) if isinstance(answer, Mapping) else None


def error_of_exception(name: str, error: BaseException) -> ModelError:
    """Return the error for an exception of the user's code."""
    detail = hide_secrets(safe_str(error))
    message = f"{name} raised {type(error).__name__}" + (f": {detail}" if detail else "")
    return ModelError(message, fault=ModelFault.RAISED)


def _is_cancelled_by_caller(error: BaseException) -> bool:
    """Whether the caller cancelled this task, not the function itself."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


# --- functions --------------------------------------------------------------------------------------------------------


def _is_async(function: AnswerFunction) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself may be async
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


_POSITIONAL = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def takes_options(function: AnswerFunction) -> bool:
    """Return whether a function takes a second argument; false if its signature is unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    required = [each for each in parameters if each.kind in _POSITIONAL and each.default is each.empty]
    return len(required) >= 2 or any(each.kind is each.VAR_POSITIONAL for each in parameters)
