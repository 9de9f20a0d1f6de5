"""A trial's evidence as google-adk keeps sessions, and models as plain data that ADK's strict readers take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial, Turn
from proctor.schema.format.wire_model import unknown_keys


def plain(model: BaseModel) -> dict[str, Any]:
    """Return every field of `model` as JSON data, without the keys that it does not know: ADK refuses those."""
    document: dict[str, Any] = model.model_dump(mode="json")
    for path, _ in unknown_keys(model):
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place.pop(path[-1], None)
    return document


def session_details(trial: Trial) -> dict[str, Any]:
    """Return the trial as the session that ADK would have kept."""
    events = [event for index, turn in enumerate(trial.turns) for event in _events(turn, index)]
    for number, event in enumerate(events):
        event["id"] = f"{trial.session_id or trial.eval_id}-{number}"
    return {
        "id": trial.session_id or trial.eval_id,
        "app_name": trial.app_name,
        "user_id": trial.user_id,
        "state": trial.final_state or {},
        "events": events,
        "last_update_time": trial.started_at + trial.duration,
    }


def _events(turn: Turn, index: int) -> Iterator[dict[str, Any]]:
    invocation_id = f"e-{index}"
    yield {
        "content": plain(turn.user_content),
        "invocation_id": invocation_id,
        "author": "user",
        "actions": {},
        "timestamp": turn.started_at,
    }
    for event in turn.events:
        if not event.partial:  # ADK's sessions have only whole answers
            yield _event(event, invocation_id, turn.started_at)


def _event(event: Event, invocation_id: str, started_at: float) -> dict[str, Any]:
    fields = {name: value for name, value in plain(event).items() if value is not None}
    actions = {name: fields.pop(name) for name in ("state_delta", "skip_summarization") if name in fields}
    timestamp = event.timestamp if event.timestamp is not None else started_at
    return {**fields, "invocation_id": invocation_id, "actions": actions, "timestamp": timestamp}
