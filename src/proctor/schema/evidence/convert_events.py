"""Conversion between events and invocations: evidence is stored as events, metrics read invocations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, overload

from proctor.schema.evidence.event import Event, WaitingEvent, call_of, recipe_of
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, FunctionCall, FunctionResponse, Part, UsageMetadata
from proctor.schema.format.invocation import (
    AppDetails,
    IntermediateData,
    Invocation,
    InvocationEvent,
    InvocationEvents,
)
from proctor.schema.format.wire_model import maker


def to_invocations(events: Iterable[Event]) -> list[Invocation]:
    """Group the events of a session by invocation id, in order of appearance, and read each group as one turn.

    The content of a group's last user event is its user content (no parts when it has no user event).
    """
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.invocation_id, []).append(event)
    return [_invocation_of_group(invocation_id, group) for invocation_id, group in groups.items()]


def invocation_of(
    turn: Turn, *, invocation_id: str, app_details: AppDetails | dict[str, Any] | None = None
) -> Invocation:
    """Return the invocation of `turn`, with its durations. Contents are shared with the events, not copied.

    `app_details` is the agent's description of itself, as a model or as plain data.
    """
    invocation = _build_invocation(invocation_id, turn.user_content, turn.started_at, turn.events, turn)
    if app_details is not None:
        invocation.app_details = AppDetails.model_validate(app_details)
    return invocation


def invocations_of(
    turns: Iterable[Turn],
    app_details: dict[str, Any] | None,
    invocations: Mapping[int, Invocation] = MappingProxyType({}),
) -> list[Invocation]:
    """Return the invocations of a trial, one per turn; those that are in `invocations`, by their index, are not built."""
    return [
        invocations.get(index)
        or invocation_of(turn, invocation_id=f"e-{index}", app_details=turn.app_details or app_details)
        for index, turn in enumerate(turns)
    ]


@dataclass(slots=True)
class TurnFacts:
    """The figures of one turn that metrics count. Durations are in seconds; `None` is "not recorded"."""

    tool_calls: list[FunctionCall]
    """The tool calls in order."""
    usages: list[UsageMetadata]
    """The reported token usages, in order."""
    model_calls: int | None
    """The number of events with token usage or a model version; `None` without events."""
    duration: float | None
    model_duration: float | None
    tool_duration: float | None


def facts_of_turn(turn: Turn) -> TurnFacts:
    """Read a turn's facts in one pass over its events; equal to the facts of its invocation."""
    calls: list[FunctionCall] = []
    usages: list[UsageMetadata] = []
    model_calls = 0
    for event in turn.events:
        if type(event) is WaitingEvent and (recipe := recipe_of(event)) is not None:
            if recipe[0] == "function_call":
                calls.append(call_of(recipe))
            continue
        if event.author.lower() == "user":
            continue
        usage = event.usage_metadata
        asks = usage is not None or event.model_version is not None
        if _shows(event, calls, asks=asks) and asks:
            model_calls += 1
            if usage is not None:
                usages.append(usage)
    return TurnFacts(calls, usages, model_calls, turn.duration, turn.model_duration, turn.tool_duration)


def _shows(event: Event, calls: list[FunctionCall], *, asks: bool) -> bool:
    """Return whether an event has content, where `asks` means that it calls a model; append its calls to `calls`."""
    shows = event.grounding_metadata is not None
    for part in (event.content and event.content.parts) or ():
        if part.function_call is not None:
            calls.append(part.function_call)
            shows = True
        elif asks and (part.text or part.function_response or part.inline_data):
            shows = True
    return shows


def facts_of_invocation(invocation: Invocation) -> TurnFacts:
    """Read an invocation's facts; the older form of intermediate data has no events, so no model calls are counted."""
    data = invocation.intermediate_data
    model_calls = None
    if isinstance(data, InvocationEvents):
        model_calls = sum(
            event.usage_metadata is not None or event.model_version is not None
            for event in data.invocation_events
        )
    return TurnFacts(
        invocation.tool_calls,
        invocation.usage_metadata,
        model_calls,
        invocation.duration,
        invocation.model_duration,
        invocation.tool_duration,
    )


class RecordedInvocations(Sequence[Invocation]):
    """The invocations of recorded turns, built on first access: many metrics need only the facts."""

    __slots__ = ("_app_details", "_invocations", "_made", "_turns")

    def __init__(
        self,
        turns: Sequence[Turn],
        app_details: dict[str, Any] | None,
        invocations: Mapping[int, Invocation] = MappingProxyType({}),
    ) -> None:
        """Keep the turns, the agent's description of itself, and the invocations that exist already, by their index."""
        self._turns, self._app_details, self._invocations = turns, app_details, invocations
        self._made: list[Invocation] | None = None

    def facts(self) -> list[TurnFacts]:
        """The facts of each turn."""
        return [facts_of_turn(turn) for turn in self._turns]

    @overload
    def __getitem__(self, index: int) -> Invocation: ...

    @overload
    def __getitem__(self, index: slice) -> list[Invocation]: ...

    def __getitem__(self, index: int | slice) -> Invocation | list[Invocation]:
        if self._made is None:
            self._made = invocations_of(self._turns, self._app_details, self._invocations)
        return self._made[index]

    def __len__(self) -> int:
        return len(self._turns)


def _invocation_of_group(invocation_id: str, events: Sequence[Event]) -> Invocation:
    user, time = Content(parts=[]), 0.0
    for event in events:
        if event.author.lower() == "user":
            user, time = event.content or user, event.timestamp or 0.0
    return _build_invocation(invocation_id, user, time, events)


def _split_response(events: Iterable[Event]) -> tuple[Content | None, list[InvocationEvent]]:
    """Return the final response and the events before it. The user's messages are in neither.

    The final response is the content of the last final event that has parts; after a final event with text, only
    another one with text replaces it. Its event remains as a step without content, because its usage counts; an event
    that also calls a (long-running) tool keeps its content.
    """
    final: Event | None = None
    final_has_text = final_calls = False
    steps: list[Event] = []
    for event in events:
        if event.author.lower() == "user":
            continue
        parts = (event.content and event.content.parts) or ()
        has_text = calls = other = False
        for part in parts:  # one plain loop for all checks: this runs for every event of every trial
            if part.text:
                has_text = True
            if part.function_call:
                calls = True
            elif part.function_response or part.inline_data:
                other = True
        if has_text or calls or other or event.grounding_metadata is not None:
            steps.append(event)
        if parts and (has_text or not final_has_text) and event.is_final_response():
            final, final_has_text, final_calls = event, has_text, calls
    without_content = None if final_calls else final
    fields = [
        {
            "author": event.author,
            "content": None if event is without_content else event.content,
            "grounding_metadata": event.grounding_metadata,
            "usage_metadata": event.usage_metadata,
            "model_version": event.model_version,
        }
        for event in steps
    ]
    return final.content if final else None, list(map(_made_event, fields))


def _build_invocation(
    invocation_id: str, user: Content, time: float, events: Iterable[Event], turn: Turn | None = None
) -> Invocation:
    final, steps = _split_response(events)
    return _made_invocation(
        {
            "invocation_id": invocation_id,
            "user_content": user,
            "final_response": final,
            "intermediate_data": _made_events({"invocation_events": steps}),
            "creation_timestamp": time,
            "duration": turn and turn.duration,
            "model_duration": turn and turn.model_duration,
            "tool_duration": turn and turn.tool_duration,
            "rubrics": None,
            "app_details": None,
        }
    )


_made_event = maker(InvocationEvent)
_made_events = maker(InvocationEvents)
_made_invocation = maker(Invocation)


# --- Invocations to events, as an agent would have emitted them ------------------------------------------------------


def events_of(invocation: Invocation) -> list[Event]:
    """Return events that read back as the same calls, responses and final text; they share no objects with `invocation`."""
    events = _intermediate_events(invocation.intermediate_data or IntermediateData())
    own = next((event for event in reversed(events) if event.content is None), None)
    final = _final_event(invocation.final_response, own)
    if final is not None:
        events = [event for event in events if event is not own]
    if final is None or not text_parts(final):
        _hold_back(events)
    return [*events, final] if final is not None else events


def _intermediate_events(data: InvocationEvents | IntermediateData) -> list[Event]:
    if isinstance(data, InvocationEvents):
        events = [Event.model_validate(step.model_dump(exclude_none=True)) for step in data.invocation_events]
    else:
        events = _from_older(data)
    for event in events:
        if event.author.lower() == "user":  # otherwise its calls would count as the user's
            event.author = "agent"
    return events


def _from_older(data: IntermediateData) -> list[Event]:
    """Return texts first, then each call with its response, then responses without a call. The form does not record the order."""
    events = [
        Event(author=author or "agent", content=Content(role="model", parts=_copy_parts(parts)))
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
    event.content = Content(role=content.role, parts=_copy_parts(parts))
    if not event.is_final_response():  # it ends in a code result
        event.skip_summarization = True
    return event


def _hold_back(events: list[Event]) -> None:
    """Mark intermediate texts so that none is read as the final text, if no final text is expected."""
    for event in events:
        if event.is_final_response() and text_parts(event):
            event.partial = True
            event.long_running_tool_ids = event.skip_summarization = None


def _copy_parts(parts: Sequence[Part]) -> list[Part]:
    return [part.model_copy(deep=True) for part in parts]


def text_parts(event: Event) -> list[Part]:
    """Return the parts of an event that have text."""
    return [part for part in (event.content and event.content.parts) or () if part.text]
