"""From events to invocations: evidence is stored as events, metrics look at invocations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from proctor.schema.base import WireModel
from proctor.schema.content import Content, Part
from proctor.schema.event import Event
from proctor.schema.invocation import AppDetails, Invocation, InvocationEvent, InvocationEvents
from proctor.schema.trial import Turn

_Model = TypeVar("_Model", bound=WireModel)


def to_invocations(events: Iterable[Event]) -> list[Invocation]:
    """Group the events of a session by invocation id, in order of appearance, and read each group as one turn.

    The content of a group's last user event is its user content (no parts when it has no user event).
    """
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.invocation_id, []).append(event)
    return [_of_group(invocation_id, group) for invocation_id, group in groups.items()]


def invocation_of(
    turn: Turn, *, invocation_id: str, app_details: AppDetails | dict[str, Any] | None = None
) -> Invocation:
    """Return what the agent did in `turn`, with its timings. Contents are those of the events, not copies.

    `app_details` is what the agent said about itself, as a model or as plain data.
    """
    invocation = _built(invocation_id, turn.user_content, turn.started_at, turn.events, turn)
    if app_details is not None:
        invocation.app_details = AppDetails.model_validate(app_details)
    return invocation


def _of_group(invocation_id: str, events: Sequence[Event]) -> Invocation:
    user, time = Content(parts=[]), 0.0
    for event in events:
        if event.author.lower() == "user":
            user, time = event.content or user, event.timestamp or 0.0
    return _built(invocation_id, user, time, events)


def _read(events: Iterable[Event]) -> tuple[Content | None, list[InvocationEvent]]:
    """Return the final response and the events that led to it. What the user said is neither.

    The final response is the content of the last final event that has parts; once one with text is found, only
    another with text takes its place. Its event stays as a step without content, because its usage counts; one
    that also calls a tool (a long-running one) keeps its content.
    """
    final: Event | None = None
    final_says_text = False
    steps: list[Event] = []
    for event in events:
        if event.author.lower() == "user":
            continue
        parts = (event.content and event.content.parts) or ()
        if event.grounding_metadata is not None or _has_step(parts):
            steps.append(event)
        if parts and event.is_final_response():
            says_text = any(part.text for part in parts)
            if says_text or not final_says_text:
                final, final_says_text = event, says_text
    return final.content if final else None, [_step(event, is_final=event is final) for event in steps]


def _has_step(parts: Iterable[Part]) -> bool:
    for part in parts:  # a loop, not any(...): this runs for every event of every trial
        if part.function_call or part.function_response or part.text or part.inline_data:
            return True
    return False


def _step(event: Event, *, is_final: bool) -> InvocationEvent:
    content = event.content
    if is_final and content and not any(part.function_call for part in content.parts or ()):
        content = None
    return _made(
        InvocationEvent,
        {
            "author": event.author,
            "content": content,
            "grounding_metadata": event.grounding_metadata,
            "usage_metadata": event.usage_metadata,
            "model_version": event.model_version,
        },
    )


def _built(
    invocation_id: str, user: Content, time: float, events: Iterable[Event], turn: Turn | None = None
) -> Invocation:
    final, steps = _read(events)
    return _made(
        Invocation,
        {
            "invocation_id": invocation_id,
            "user_content": user,
            "final_response": final,
            "intermediate_data": _made(InvocationEvents, {"invocation_events": steps}),
            "creation_timestamp": time,
            "duration": turn and turn.duration,
            "model_duration": turn and turn.model_duration,
            "tool_duration": turn and turn.tool_duration,
            "rubrics": None,
            "app_details": None,
        },
    )


def _made(model: type[_Model], fields: dict[str, Any]) -> _Model:
    """Make a model of values that are valid already; `fields` names all of its fields, in their order.

    What `model_construct` does, at a fifth of its cost: this runs for every event of every trial.
    """
    made = model.__new__(model)
    fill = object.__setattr__
    fill(made, "__dict__", fields)
    fill(made, "__pydantic_fields_set__", set(fields))
    fill(made, "__pydantic_extra__", {})
    fill(made, "__pydantic_private__", None)
    return made
