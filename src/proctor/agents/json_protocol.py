"""The JSON of agents elsewhere, for `cmd:` (a line each) and `http+sse:` (a `data:` each): docs/reference/agent-protocol.md.

The agent gets one request for each turn and returns any number of answers, then `{"type": "done"}`. An answer that ends
without `done` is truncated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from pydantic import ValidationError

from proctor.agents.base import Session
from proctor.agents.function_results import convert_answer, first_problem
from proctor.common.error_text import safe_repr
from proctor.common.json_values import Json, JsonObject
from proctor.errors import AgentError, AgentRaisedError, did_you_mean
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content

PROTOCOL = 1
"""The version of the requests. It increases with each change that breaks existing clients."""

TOLD_AT_END = ("durations", "app_details", "spans")
"""The fields at the end of a turn for the session's memory."""

MOST_SHOWN = 200
"""The maximum length of received text in an error message."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One object that an agent sent, read."""

    events: Sequence[Event] = ()
    done: bool = False
    """Whether the turn is over, and the answer whole."""
    state: JsonObject | None = None
    """The session's state after the turn, if the agent returns it."""
    durations: dict[str, float] | None = None
    """Seconds of model and tool calls in this turn, for `session.memory["durations"]`."""
    app_details: JsonObject | None = None
    """Instructions and tools of the agents of this turn, for `session.memory["app_details"]`."""
    spans: list[Json] | None = None
    """What was traced in this turn, for `session.memory["spans"]`."""

    def keep(self, session: Session) -> None:
        """Store the session data from the end of a turn for the engine."""
        if self.state is not None:
            session.state = self.state
        for name in TOLD_AT_END:
            value = getattr(self, name)
            if value is not None:
                session.memory[name] = value


# --- to the agent ----------------------------------------------------------------------------------------------------


def session_data(session: Session) -> JsonObject:
    """Return the session data for the agent."""
    return {
        "id": session.id,
        "app_name": session.app_name,
        "user_id": session.user_id,
        "state": session.state,
        "trial": session.trial,
    }


def turn_request(message: Content, session: Session, turn: int) -> JsonObject:
    """Return the request of one turn (they count from 0): the message whole, and its text."""
    return {
        "type": "turn",
        "protocol": PROTOCOL,
        "turn": turn,
        "session": session_data(session),
        "message": message.model_dump(mode="json", exclude_none=True),
        "text": message.joined_text(),
    }


def notice(kind: str, session: Session) -> JsonObject:
    """Return the request before a trial's first turn (`begin`) or after its last (`end`)."""
    return {"type": kind, "protocol": PROTOCOL, "session": session_data(session)}


# --- from the agent --------------------------------------------------------------------------------------------------


def parse_agent_json(text: str | bytes, what: str) -> Json:
    """Parse one JSON value; `what` names it in the message (`a line`, `the data of an event`).

    Raises:
        AgentError: it is not JSON; the message shows its beginning.
    """
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else str(error)
        content = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        raise AgentError(f"{what} is not JSON ({why}): {safe_repr(content, MOST_SHOWN)}") from None
    return value


def read_answer(data: object, *, kind: str = "") -> Answer:
    """Parse one object of an agent. `kind` is its type if the transport has it (`event:` of SSE).

    Raises:
        AgentError: it is not an answer, `done` or `error`.
        AgentRaisedError: it is an `error`.
    """
    type_field = data.get("type") if isinstance(data, Mapping) else None
    kind = _kind(type_field if type_field is not None else kind)
    if kind == "error":
        raise _error(data)
    return _parse_done(data) if kind == "done" else _parse_events(data)


def _parse_events(data: object) -> Answer:
    if isinstance(data, Mapping) and "type" in data:
        data = {key: value for key, value in data.items() if key != "type"}
    if isinstance(data, Mapping) and set(data) == {"event"}:
        return Answer([_whole_event(data["event"])])
    return Answer(convert_answer(data))


def read_body(data: object) -> Answer:
    """Read a whole answer that came in one piece: one object or a list of them; it is complete by itself.

    Raises:
        AgentError, AgentRaisedError: as `read_answer`.
    """
    answers = [read_answer(one) for one in (data if isinstance(data, list) else [data])]
    if any(answer.done for answer in answers[:-1]):
        raise AgentError("the agent's answer continues after its 'done'; nothing may follow it")
    last = answers[-1] if answers and answers[-1].done else Answer()
    return replace(last, events=[event for answer in answers for event in answer.events], done=True)


_KINDS = ("event", "done", "error")


def _kind(value: object) -> str:
    if value in ("", "message"):  # Server-Sent Events without a name have these types
        return "event"
    if isinstance(value, str) and value in _KINDS:
        return value
    meant = did_you_mean(value, _KINDS) if isinstance(value, str) else ""
    raise AgentError(
        f"the agent's answer has the unknown type {safe_repr(value, MOST_SHOWN)}.{meant} "
        f"Known: {', '.join(_KINDS)}; an answer needs none"
    )


def _error(data: object) -> AgentRaisedError:
    fields = data if isinstance(data, Mapping) else {"message": data}
    code, message = fields.get("code"), fields.get("message")
    text = message if isinstance(message, str) else "" if message is None else safe_repr(message, MOST_SHOWN)
    return AgentRaisedError(
        text or "the agent reported a failure without a message", type="" if code is None else str(code)
    )


_DONE = ("type", "state", *TOLD_AT_END)


def _parse_done(data: object) -> Answer:
    fields = {} if data in (None, "", "[DONE]") else data  # `event: done` of SSE cannot come without
    if not isinstance(fields, Mapping):
        raise AgentError(f"the agent's done is {safe_repr(data, MOST_SHOWN)}; expected an object")
    for key in fields:
        if key not in _DONE:
            known = ", ".join(_DONE[1:])
            raise AgentError(
                f"the agent's done has the unknown key {safe_repr(key, MOST_SHOWN)}.{did_you_mean(str(key), _DONE)} "
                f"Known: {known}; texts and calls of the agent belong into an answer before it"
            )
    spans = fields.get("spans")
    if spans is not None and not isinstance(spans, list):
        raise AgentError(f"'spans' of the agent's done is {safe_repr(spans, MOST_SHOWN)}; expected a list")
    return Answer(
        done=True,
        state=_optional_object(fields, "state"),
        durations=_durations(fields),
        app_details=_optional_object(fields, "app_details"),
        spans=spans,
    )


def _optional_object(fields: Mapping[str, Json], name: str) -> JsonObject | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, dict):
        raise AgentError(
            f"'{name}' of the agent's done is {safe_repr(value, MOST_SHOWN)}; expected an object"
        )
    return value


def _durations(fields: Mapping[str, Json]) -> dict[str, float] | None:
    durations = _optional_object(fields, "durations")
    if durations is None:
        return None
    seconds: dict[str, float] = {}
    for name, value in durations.items():
        if name not in ("model", "tool") or not _is_duration(value):
            raise AgentError(
                f"'durations' of the agent's done has {name!r}: {safe_repr(value, MOST_SHOWN)}; "
                "expected seconds of 'model' and 'tool'"
            )
        seconds[name] = value
    return seconds


def _is_duration(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _whole_event(fields: object) -> Event:
    if not isinstance(fields, dict):
        raise AgentError(
            f"'event' of the agent's answer is {safe_repr(fields, MOST_SHOWN)}; expected an object"
        )
    try:
        return Event.model_validate(fields)
    except ValidationError as error:
        raise AgentError(f"the agent's event does not fit: {first_problem(error)}") from None
