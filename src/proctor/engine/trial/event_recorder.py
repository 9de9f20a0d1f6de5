"""Record evidence as it arrives: check the agent's events, copy them, and put them into turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any

from pydantic import BaseModel

from proctor.agents.base import Session
from proctor.common.error_text import safe_repr
from proctor.engine.trial.deadlines import TrialSlot
from proctor.engine.trial.evidence_limits import EvidenceLimiter
from proctor.engine.trial.failure_attribution import reported_error
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event, WaitingEvent, recipe_of, waiting_event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, Part, UsageMetadata
from proctor.schema.format.wire_model import defaults, maker, twin

_CHECKED = -1  # the size of an event whose size does not matter any more
_put = object.__setattr__  # a model's own way costs ten times as much, and this runs for every event


async def record_turn(
    answer: AsyncIterator[Event],
    turn: Turn,
    session: Session,
    limiter: EvidenceLimiter,
    slot: TrialSlot | None = None,
) -> None:
    """Put all events of an `answer` and its duration into `turn`, and apply state changes to `session` as they come.

    Raises:
        AgentError: the agent emitted an object that is not an event or not JSON, or too many events.
        TimeoutError: the deadline of `slot` has passed, even if the agent ignored its cancellation.
        ReportedError: the last event is an error.
    """
    began = time.perf_counter()
    try:
        limiter.begin()
        events, take_waiting = turn.events, limiter.take_waiting
        room = most = limiter.caps.max_events
        async for event in answer:
            if not room:
                raise AgentError(f"the agent emitted more than {most} events in one turn and was stopped")
            room -= 1
            if not room & 15 and slot is not None and slot.deadline <= time.monotonic():
                await _yield_to_timer(slot)
            if type(event) is not WaitingEvent:
                events.append(_record_event(event, session, limiter))
            else:
                events.append(
                    take_waiting(event)
                    or _still_waiting(event, limiter)
                    or _record_event(event, session, limiter)
                )
        if slot is not None and slot.expired:  # the agent ignored its cancellation
            raise TimeoutError
        if events and type(events[-1]) is not WaitingEvent and (error := reported_error(turn)) is not None:
            raise error
    finally:
        fields = turn.__dict__  # a model's own way to set a field costs ten times as much
        fields["duration"] = seconds_since(began)
        if session.memory:
            _record_memory(fields, session.memory)


async def _yield_to_timer(slot: TrialSlot) -> None:
    """Let the timer end an answer whose deadline has passed although it never waits."""
    await asyncio.sleep(0)
    if slot.expired:
        raise TimeoutError


def _record_event(original: Event, session: Session, limiter: EvidenceLimiter) -> Event:
    """Return a limited copy of an event, and apply its state changes to `session`."""
    if not isinstance(original, Event):
        raise AgentError(f"the agent yielded {safe_repr(original)}; an agent yields proctor.Event objects")
    event = _copy_event(original)
    fields = event.__dict__  # one look-up in place of one per field, here and below
    if (content := fields["content"]) is not None and (parts := content.__dict__["parts"]):
        for part in parts:
            _limit_part(part, limiter)
    if fields["state_delta"]:
        fields["state_delta"] = delta = limiter.object(fields["state_delta"], "state: ")
        session.state.update(copy_json(delta))
    if fields["usage_metadata"] is not None:
        _check_usage(fields["usage_metadata"])
    if (
        fields["error_code"]
        or fields["error_message"]
        or fields["model_version"]
        or ((author := fields["author"]) != "agent" and not author.isidentifier())
    ):
        _limit_texts(fields, _WORDS_OF_EVENT, limiter)
    for model in (event, content, fields["usage_metadata"]):
        if model is not None and model.__pydantic_extra__:
            _limit_unknown_fields(model, limiter)
    return event


def _copy_event(original: Event) -> Event:
    """Copy an event with its models, so that an agent that changes or reuses the event changes no evidence."""
    event = twin(original)
    fields = event.__dict__
    if (content := fields["content"]) is not None:
        fields["content"] = content = twin(content)
        if parts := content.__dict__["parts"]:
            content.__dict__["parts"] = [_copy_part(part) for part in parts]
    if (usage := fields["usage_metadata"]) is not None:
        fields["usage_metadata"] = twin(usage)
    return event


def _copy_part(original: Part) -> Part:
    part = twin(original)
    fields = part.__dict__
    for name in _INSIDE:
        if (inside := fields[name]) is not None:
            fields[name] = twin(inside)
    return part


def _still_waiting(event: Event, limiter: EvidenceLimiter) -> Event | None:
    """Return a limited copy of an event whose models do not exist yet; `None` if they must be made for that."""
    recipe = recipe_of(event)
    if recipe is None:
        return None
    kind, author = recipe[0], recipe[1]
    if author != "agent" and not author.isidentifier():
        return None
    if kind == "text":
        return waiting_event((kind, author, _CHECKED, limiter.text(recipe[3], "")))
    _, _, _, name, its_id, value = recipe
    if not name.isidentifier() or (its_id and not its_id.isalnum()):
        return None
    inside = limiter.own(value, "arguments: " if kind == "function_call" else "response: ")
    return waiting_event((kind, author, _CHECKED, name, its_id, inside))


def _limit_part(part: Part, limiter: EvidenceLimiter) -> None:
    """Limit the texts and values of one part of the copy."""
    fields = part.__dict__
    if text := fields["text"]:
        fields["text"] = limiter.text(text, "")
    if (call := fields["function_call"]) is not None:
        _limit_json(call.__dict__, "args", "arguments: ", limiter)
    if (answer := fields["function_response"]) is not None:
        _limit_json(answer.__dict__, "response", "response: ", limiter)
    if fields["executable_code"] or fields["code_execution_result"] or fields["inline_data"]:
        _limit_code_and_media(fields, limiter)
    if part.__pydantic_extra__:
        _limit_unknown_fields(part, limiter)
    for name in _INSIDE:
        if (inside := fields[name]) is not None and inside.__pydantic_extra__:
            _limit_unknown_fields(inside, limiter)


def _limit_unknown_fields(model: BaseModel, limiter: EvidenceLimiter) -> None:
    """Limit the fields that a model does not know."""
    _put(model, "__pydantic_extra__", limiter.object(model.__pydantic_extra__ or {}, "unknown fields: "))


def _limit_json(fields: dict[str, Any], field: str, what: str, limiter: EvidenceLimiter) -> None:
    """Limit the arguments of a call, or its response, and the name of the tool."""
    if value := fields[field]:
        fields[field] = limiter.object(value, what)
    name, its_id = fields["name"], fields["id"]
    if (name and not name.isidentifier()) or (its_id and not its_id.isalnum()):
        _limit_texts(fields, ("name", "id"), limiter)


def _limit_code_and_media(fields: dict[str, Any], limiter: EvidenceLimiter) -> None:
    if (code := fields["executable_code"]) is not None:
        _limit_texts(code.__dict__, ("code",), limiter)
    if (result := fields["code_execution_result"]) is not None:
        _limit_texts(result.__dict__, ("output",), limiter)
    if (blob := fields["inline_data"]) is not None and blob.data:
        blob.__dict__["data"] = limiter.media(blob.data)


def _limit_texts(fields: dict[str, Any], names: Iterable[str], limiter: EvidenceLimiter) -> None:
    for name in names:
        if fields[name]:
            fields[name] = limiter.text(fields[name], f"{name.replace('_', ' ')}: ")


_INSIDE = (
    "function_call",
    "function_response",
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
)
"""Fields of a part that hold models."""
_WORDS_OF_EVENT = ("author", "error_code", "error_message", "model_version")


def _check_usage(usage: UsageMetadata) -> None:
    for name, value in usage.__dict__.items():
        if type(value) is int and not 0 <= value < 2**63:
            what = "it is negative" if value < 0 else f"it has {value.bit_length()} bits"
            raise AgentError(f"usage_metadata.{name} is not a number of tokens: {what}")


def copy_json(value: Any) -> Any:
    """Return a copy of a value that is known to be JSON, without limits."""
    if isinstance(value, dict):
        return {key: copy_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) for item in value]
    return value


def seconds_since(began: float) -> float:
    """Return the seconds since `began` (of `time.perf_counter`, which never goes back), rounded to milliseconds."""
    return round(time.perf_counter() - began, 3)


def copy_message(message: Content) -> Content:
    """Return a copy of the user's message for the agent: changes of it change neither the case nor the evidence."""
    copied = twin(message)
    fields = copied.__dict__
    if parts := fields["parts"]:
        fields["parts"] = [twin(parts[0])] if len(parts) == 1 else [twin(part) for part in parts]
    return copied


def new_turn(message: Content) -> Turn:
    """Return an empty turn that begins now."""
    return _turn({**_TURN, "user_content": message, "events": [], "started_at": time.time()})


def _record_memory(fields: dict[str, Any], memory: dict[str, Any]) -> None:
    """Record what an adapter put into the session's memory about a turn."""
    if (durations := memory.get("durations")) is not None:
        fields["model_duration"] = durations.get("model")
        fields["tool_duration"] = durations.get("tool")
    fields["app_details"] = memory.get("app_details")
    if spans := memory.pop("spans", None):
        from proctor.engine.trial.evidence_limits import trace_of

        fields["trace"] = trace_of(spans)


_turn = maker(Turn)
_TURN = defaults(Turn)
