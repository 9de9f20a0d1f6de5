"""Evidence as it arrives: what an agent emits, checked, detached from the agent, put into turns."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from typing import Any

from proctor.agents.base import Session
from proctor.causes import safe_repr
from proctor.errors import AgentError
from proctor.schema.content import Content, Part, UsageMetadata
from proctor.schema.event import Event
from proctor.schema.making import defaults, maker, twin
from proctor.schema.trial import Turn

MAX_EVENTS = 10_000
"""Events that one turn may emit; an agent that never ends must not fill the memory."""

_MAX_DEPTH = 100
_LONGEST_NUMBER = 4_000  # digits; Python itself refuses to write or read 4,300
_MAX_BITS = int(_LONGEST_NUMBER / math.log10(2))
_PLAIN = frozenset({str, bool, type(None)})
_LONG = 2**63
_put = object.__setattr__  # a model's own way costs ten times as much, and this runs for every event


async def record_turn(events: AsyncIterator[Event], turn: Turn, session: Session) -> None:
    """Put everything that `events` yields into `turn`, applying state changes to `session` as they come.

    Raises:
        AgentError: something came that is not an event, is not JSON inside, or never ended.
    """
    kept = turn.events
    async for event in events:
        if type(event) is not Event and not isinstance(event, Event):
            raise AgentError(f"the agent yielded {safe_repr(event)}; an agent yields proctor.Event objects")
        if len(kept) >= MAX_EVENTS:
            raise AgentError(f"the agent emitted more than {MAX_EVENTS} events in one turn and was stopped")
        fields = event.__dict__  # one look-up in place of one per field, here and below
        content = fields["content"]
        if content is not None and content.parts:
            for part in content.parts:
                _detach_part(part)
        if fields["state_delta"]:
            fields["state_delta"] = copy_json(fields["state_delta"])
            session.state.update(copy_json(fields["state_delta"]))
        if fields["usage_metadata"] is not None:
            _check_usage(fields["usage_metadata"])
        if event.__pydantic_extra__:
            _put(event, "__pydantic_extra__", copy_json(event.__pydantic_extra__))
        kept.append(event)


def _detach_part(part: Part) -> None:
    """Copy the mutable JSON inside, so that the agent cannot change the evidence afterwards."""
    fields = part.__dict__
    call, answer = fields["function_call"], fields["function_response"]
    if call is not None and call.args:
        call.__dict__["args"] = copy_json(call.args)
    if answer is not None and answer.response:
        answer.__dict__["response"] = copy_json(answer.response)
    if part.__pydantic_extra__:
        _put(part, "__pydantic_extra__", copy_json(part.__pydantic_extra__))


def _check_usage(usage: UsageMetadata) -> None:
    for name, value in usage.__dict__.items():
        if type(value) is int and value.bit_length() > 63:
            raise AgentError(
                f"usage_metadata.{name} is no number of tokens: it has {value.bit_length()} bits"
            )


def copy_json(value: Any, _depth: int = 0) -> Any:
    """Return a copy of a JSON value; tuples and sets become lists, NaN and Infinity become text.

    Raises:
        AgentError: something inside is not JSON, is nested deeper than 100 levels (or in a circle), or is a whole
            number of more than 4,000 digits.
    """
    if type(value) in _PLAIN or isinstance(value, str):
        return value
    if type(value) is dict and _is_flat(value):
        return value.copy()
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise AgentError(
                "a tool argument, tool response or state value is a whole number of more than "
                f"{_LONGEST_NUMBER} digits"
            )
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if _depth > _MAX_DEPTH:
        raise AgentError(
            f"a tool argument, tool response or state value is nested deeper than {_MAX_DEPTH} levels"
        )
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else str(key): copy_json(item, _depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [copy_json(item, _depth + 1) for item in value]
    if hasattr(value, "model_dump"):
        return copy_json(value.model_dump(mode="json"), _depth + 1)
    raise AgentError(
        f"{safe_repr(value)} stands in a tool argument, tool response or state value; it is not JSON"
    )


def _is_flat(value: dict[Any, Any]) -> bool:
    """Texts, small whole numbers and the like under texts, as most arguments of most calls are."""
    for key, item in value.items():  # a loop, not any(...): this runs for every call of every trial
        if type(key) is not str:
            return False
        if type(item) not in _PLAIN and not (type(item) is int and -_LONG < item < _LONG):
            return False
    return True


def seconds_since(began: float) -> float:
    """Return the seconds since `began` (of `time.perf_counter`, which never goes back), rounded to milliseconds."""
    return int((time.perf_counter() - began) * 1000 + 0.5) / 1000  # a third of what `round` takes


def copy_message(message: Content) -> Content:
    """Return a copy of what the user says for the agent: neither the case nor the evidence changes with it."""
    copied = twin(message)
    if message.parts:
        copied.__dict__["parts"] = [twin(part) for part in message.parts]
    return copied


def new_turn(message: Content) -> Turn:
    """Return an empty turn that begins now."""
    return _turn({**_TURN, "user_content": message, "events": [], "started_at": time.time()})


def finish_turn(turn: Turn, began: float, memory: dict[str, Any]) -> None:
    """Put down how long the turn took, and what an adapter left in the session's memory about it."""
    fields = turn.__dict__  # a model's own way to set a field costs ten times as much
    fields["duration"] = seconds_since(began)
    if memory:
        if (durations := memory.get("durations")) is not None:
            fields["model_duration"] = durations.get("model")
            fields["tool_duration"] = durations.get("tool")
        fields["app_details"] = memory.get("app_details")


_turn = maker(Turn)
_TURN = defaults(Turn)
