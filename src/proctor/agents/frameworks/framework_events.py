"""What frameworks hand over, in the words of events: tool calls, responses, tokens, instructions, time."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic_core import PydanticSerializationError, to_jsonable_python

from proctor.common.error_text import safe_repr
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event, incomplete_answer_reason
from proctor.schema.format.content import Content, FunctionCall, Part, UsageMetadata


def as_json(value: Any) -> Any:
    """Return a value of any kind as JSON has it: models, data classes and enumerations by their fields and values.

    Bytes become base64; other objects become their text.
    """
    try:
        return to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")
    except (PydanticSerializationError, ValueError):  # it contains itself, or its repr fails
        return safe_repr(value)


def as_response(value: Any) -> dict[str, Any]:
    """Return a tool's result as the object of a `function_response`; as in google-adk, another value is under `result`."""
    plain = as_json(value)
    return plain if isinstance(plain, dict) else {"result": plain}


def as_text(value: Any) -> str:
    """Return a text as it is, and another value as the text of its JSON."""
    plain = as_json(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def response_from_text(value: Any) -> dict[str, Any]:
    """Return the same for the text of a framework; the text of a JSON object becomes the object."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(ValueError):
            return as_response(json.loads(value))
    return as_response(value)


def model_answer_event(
    author: str,
    parts: Iterable[Part],
    *,
    usage: UsageMetadata | None = None,
    model: str | None = None,
    **fields: Any,
) -> Event:
    """Return one answer of a model as an event."""
    content = Content(role="model", parts=[*parts])
    return Event(author=author, content=content, usage_metadata=usage, model_version=model or None, **fields)


def incomplete_event(finish: object, author: str) -> Event | None:
    """Return the event that ends a turn with an incomplete last answer; `None` if it is complete."""
    why = incomplete_answer_reason(str(finish or ""))
    return Event(author=author, error_code=str(finish), error_message=why) if why else None


def call_part(name: str, args: Any, call_id: str | None) -> Part:
    """Return a tool call as a part; arguments that are not an object are under `input`."""
    plain = as_json(args)
    arguments = plain if isinstance(plain, dict) else {} if plain is None else {"input": plain}
    return Part(function_call=FunctionCall(id=call_id or None, name=name, args=arguments))


def reasoning_part(text: str) -> Part:
    """Return a model's reasoning, which does not belong to its answer."""
    return Part(text=text, thought=True)


def tokens(
    prompt: int | None,
    candidates: int | None,
    *,
    total: int | None = None,
    cached: int | None = None,
    thoughts: int | None = None,
) -> UsageMetadata | None:
    """Return the tokens of one model call; `None` if none were reported (all zero)."""
    if not (prompt or candidates or total):
        return None
    return UsageMetadata(
        prompt_token_count=prompt,
        candidates_token_count=candidates,
        total_token_count=total or (prompt or 0) + (candidates or 0),
        cached_content_token_count=cached or None,
        thoughts_token_count=thoughts or None,
    )


def tool_declaration(name: str, description: str | None, schema: Any) -> dict[str, Any]:
    """Return the declaration of a tool, in the shape of AppDetails."""
    declaration: dict[str, Any] = {"name": name, "description": description or ""}
    if schema:
        declaration["parameters_json_schema"] = as_json(schema)
    return {"function_declarations": [declaration]}


def details_of(name: str, instructions: str, tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the instructions and tools of one agent, in the shape of AgentDetails."""
    return {"name": name, "instructions": instructions, "tool_declarations": [*tools]}


def no_place_for(part: Part, framework: str) -> AgentError:
    """Return the error for a part of a user's message that a framework has no place for."""
    fields = [name for name in part.model_fields_set if getattr(part, name) is not None]
    what = ", ".join(fields) or "nothing"
    return AgentError(f"{framework} has no place for a part of the user's message: it has {what}")


# --- time ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TimedCall:
    """One call, in seconds of `time.perf_counter`."""

    key: object
    began: float = field(default_factory=time.perf_counter)
    ended: float | None = None


@dataclass(slots=True)
class TurnTimings:
    """The durations of models and tools in one turn, and the instructions and tools of the agents."""

    models: list[TimedCall] = field(default_factory=list)
    tools: list[TimedCall] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def end(self, key: object) -> None:
        """End the last call of this key; a streamed answer ends it again with each piece."""
        for span in (*reversed(self.models), *reversed(self.tools)):
            if span.key == key:
                span.ended = time.perf_counter()
                return

    def report(self, memory: dict[str, Any]) -> None:
        """Store this turn's durations and details in the session's memory for the engine."""
        memory["durations"] = {"model": _total_seconds(self.models), "tool": _total_seconds(self.tools)}
        if self.details:
            memory["app_details"] = {"agent_details": self.details}


@contextmanager
def measure(spans: list[TimedCall]) -> Iterator[None]:
    """Time one call, which is added to `models` or `tools` of a `TurnTimings`."""
    span = TimedCall(None)
    spans.append(span)
    try:
        yield
    finally:
        span.ended = time.perf_counter()


def _total_seconds(spans: Iterable[TimedCall]) -> float:
    """Return the seconds in which at least one ended call was open, rounded to milliseconds."""
    total, until = 0.0, 0.0
    for began, ended in sorted((span.began, span.ended) for span in spans if span.ended is not None):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return round(total, 3)


# --- Merge the run of a framework and the events of its hooks into one stream -----------------------------------------


Item = TypeVar("Item")

_PATIENCE = 1.0
"""Seconds that a cancelled run gets to end; afterwards it is abandoned."""


class Pump(Generic[Item]):
    """Runs a coroutine in a separate task and yields the posted items as they come; then `result` is set.

    If the reader stops or is cancelled, the task is cancelled before the stream is closed.
    """

    def __init__(self) -> None:
        """Start empty; create it in the event loop of the reader."""
        self._loop = asyncio.get_running_loop()
        self._posted: asyncio.Queue[Item | None] = asyncio.Queue()
        self.result: Any = None

    def post(self, item: Item) -> None:
        """Hand something over, from any thread."""
        self._loop.call_soon_threadsafe(self._posted.put_nowait, item)

    async def run(self, work: Coroutine[object, object, Any]) -> AsyncIterator[Item]:
        """Yield the posted items while `work` runs; its exception is raised afterwards."""
        task = asyncio.ensure_future(_outcome(work))
        task.add_done_callback(lambda _: self._loop.call_soon(self._posted.put_nowait, None))
        try:
            while (item := await self._posted.get()) is not None:
                yield item
            self.result, error = task.result()
            if error is not None:
                raise error
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=_PATIENCE)


async def _outcome(work: Coroutine[object, object, Any]) -> tuple[Any, BaseException | None]:
    """Return the result. An event loop does not allow a task to catch SystemExit, so it is passed on here."""
    try:
        return await work, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - raised where the events are read
        return None, error
