"""Conversion of invocations to events, as an agent would have emitted them."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part
from proctor.schema.format.invocation import IntermediateData, Invocation, InvocationEvents


def events_of(invocation: Invocation) -> list[Event]:
    """Return events that read back as the same calls, responses and final text; they share no objects with `invocation`."""
    data = invocation.intermediate_data
    if isinstance(data, InvocationEvents):
        events = [Event.model_validate(step.model_dump(exclude_none=True)) for step in data.invocation_events]
    else:
        events = _from_older(data or IntermediateData())
    for event in events:
        if event.author.lower() == "user":  # otherwise its calls would count as the user's
            event.author = "agent"
    own = [event for event in events if event.content is None]
    final = _final_event(invocation.final_response, own[-1] if own else None)
    if final is not None and own:
        events = [event for event in events if event is not own[-1]]
    if final is None or not text_parts(final):
        _hold_back(events)
    return [*events, final] if final is not None else events


def _from_older(data: IntermediateData) -> list[Event]:
    """Return texts first, then each call with its response, then responses without a call. The form does not record the order."""
    events = [
        Event(author=author or "agent", content=Content(role="model", parts=_copied(parts)))
        for author, parts in data.intermediate_responses
    ]
    waiting = list(data.tool_responses)
    for call in data.tool_uses:
        events.append(_event("model", Part(function_call=call.model_copy(deep=True))))
        response = next((one for one in waiting if one.id == call.id and _may_answer(one, call)), None)
        if response is not None:
            waiting.remove(response)
            events.append(_event("user", Part(function_response=response.model_copy(deep=True))))
    events += [_event("user", Part(function_response=one.model_copy(deep=True))) for one in waiting]
    return events


def _may_answer(response: FunctionResponse, call: FunctionCall) -> bool:
    return call.id is not None or response.name in {None, call.name}


def _event(role: str, part: Part) -> Event:
    return Event(content=Content(role=role, parts=[part]))


def _final_event(content: Content | None, own: Event | None) -> Event | None:
    """Return the event of the final response, with usage and model version of its recorded event `own`.

    Calls within a final response are recorded as separate events; here they would count twice.
    """
    parts = [
        p for p in (content.parts or () if content else ()) if not (p.function_call or p.function_response)
    ]
    if content is None or not parts:
        return None
    event = own or Event()
    event.content = Content(role=content.role, parts=_copied(parts))
    if not event.is_final_response():  # it ends in a code result
        event.skip_summarization = True
    return event


def _hold_back(events: list[Event]) -> None:
    """Mark intermediate texts so that none is read as the final text, if no final text is expected."""
    for event in events:
        if event.is_final_response() and text_parts(event):
            event.partial = True
            event.long_running_tool_ids = event.skip_summarization = None


def _copied(parts: Sequence[Part]) -> list[Part]:
    return [part.model_copy(deep=True) for part in parts]


def text_parts(event: Event) -> list[Part]:
    """Return the parts of an event that have text."""
    return [part for part in (event.content and event.content.parts) or () if part.text]
