"""The replay agent: returns what the case expects, optionally with one fault. It tests the metrics.

`replay` should pass every recorded case; `replay:drop-call` and the like should fail every case they apply to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from copy import deepcopy
from itertools import pairwise

from proctor.agents.base import AgentInfo, Session
from proctor.errors import AgentError, AgentLoadError, did_you_mean
from proctor.schema.evidence.convert_events import events_of, text_parts
from proctor.schema.evidence.event import Event
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Content, Part

_MEMORY = "replay"
_ADDED_CALL = "call_added_by_replay"
_CHANGED = "changed by replay"


class ReplayAgent:
    """Emits the expected events of each turn, through the same interface as any agent, with `faults` built in.

    Only the number of the turn counts, not the user's message. It shares no object with the case. A fault is built into every
    turn that it applies to (see `applies`).
    """

    def __init__(self, faults: Sequence[str] = ()) -> None:
        """Take the names of faults (`FAULTS`).

        Raises:
            AgentLoadError: there is no fault of that name.
        """
        for fault in faults:
            if fault not in FAULTS:
                raise AgentLoadError(
                    f"The agent replay has no fault {fault!r}.{did_you_mean(fault, FAULTS)} Known: {', '.join(FAULTS)}."
                )
        self.faults = tuple(faults)

    def describe(self) -> AgentInfo:
        """Return the name, with the faults."""
        name = f"replay:{','.join(self.faults)}" if self.faults else "replay"
        return AgentInfo(name=name, description="Does what each case expects.")

    def begin(self, session: Session, case: EvalCase) -> None:
        """Learn what the case expects.

        Raises:
            AgentError: the case is a scenario, which expects no particular conversation.
        """
        if case.conversation is None:
            raise AgentError(
                f"the case {case.eval_id!r} is a scenario: nothing is recorded that could be replayed"
            )
        session.memory[_MEMORY] = (case, 0)

    async def answer(self, message: Content, session: Session) -> AsyncIterator[Event]:
        """Yield what the case expects of this turn; after the last one, its final session state.

        Raises:
            AgentError: the case has no such turn.
        """
        case, index = session.memory.get(_MEMORY, (None, 0))
        turns = (case.conversation or []) if case is not None else []
        if index >= len(turns):
            raise AgentError(f"replay was asked for turn {index + 1} of a case that has {len(turns)}")
        session.memory[_MEMORY] = (case, index + 1)
        events = events_of(turns[index])
        for fault in self.faults:
            FAULTS[fault](events)
        for event in events:
            yield event
        if case.final_session_state and index + 1 == len(turns):
            yield Event.changed(deepcopy(case.final_session_state))


def replay_agent(faults: str) -> ReplayAgent:
    """Make the agent of `replay:FAULT,FAULT`; no fault for an empty text."""
    return ReplayAgent([fault.strip() for fault in faults.split(",")] if faults.strip() else [])


def applies(fault: str, case: EvalCase) -> bool:
    """Return whether `fault` changes anything that is expected of `case`."""
    build_in = FAULTS[fault]
    return any(build_in(events_of(invocation)) for invocation in case.conversation or ())


# --- faults: each adds itself to one turn, and returns whether it could ----------------------------------------------


def _drop_call(events: list[Event]) -> bool:
    """Leave out the turn's first call and its response."""
    calls = _calls(events)
    if not calls:
        return False
    event, part = calls[0]
    call = part.function_call
    _remove(event, part)
    for other in events:
        for answer in list((other.content and other.content.parts) or ()):
            response = answer.function_response
            if response and call and call.id is not None and response.id == call.id:
                _remove(other, answer)
    return True


def _add_call(events: list[Event]) -> bool:
    """Call one more tool before the final response."""
    at = len(events) - 1 if events and events[-1].is_final_response() else len(events)
    events.insert(at, Event.called(_ADDED_CALL))
    return True


def _swap_calls(events: list[Event]) -> bool:
    """Exchange the first two neighbouring calls that differ."""
    parts = [part for _, part in _calls(events)]
    for first, second in pairwise(parts):
        one, other = first.function_call, second.function_call
        if one and other and (one.name, one.args or {}) != (other.name, other.args or {}):
            first.function_call, second.function_call = other, one
            return True
    return False


def _change_arg(events: list[Event]) -> bool:
    """Change one argument of the turn's first call with arguments; without any, give the first call one."""
    calls = [part.function_call for _, part in _calls(events) if part.function_call]
    call = next((call for call in calls if call.args), calls[0] if calls else None)
    if call is None:
        return False
    name, value = next(iter(call.args.items())) if call.args else ("changed", None)
    call.args = {**(call.args or {}), name: _other_value(value)}
    return True


def _other_text(events: list[Event]) -> bool:
    """Answer something else, without a word of the expected answer."""
    event = events[-1] if events and events[-1].is_final_response() else None
    texts = text_parts(event) if event is not None else []
    if event is None or event.content is None or not texts:
        return False
    text = _unrelated_word(" ".join(part.text or "" for part in texts))
    rest = [part for part in event.content.parts or () if part.text is None]
    event.content.parts = [Part(text=text), *rest]
    event.skip_summarization = True  # final, even if another part comes last now
    return True


FAULTS: dict[str, Callable[[list[Event]], bool]] = {
    "drop-call": _drop_call,
    "add-call": _add_call,
    "swap-calls": _swap_calls,
    "change-arg": _change_arg,
    "other-text": _other_text,
}


def _calls(events: list[Event]) -> list[tuple[Event, Part]]:
    return [
        (event, part)
        for event in events
        for part in (event.content and event.content.parts) or ()
        if part.function_call is not None
    ]


def _remove(event: Event, part: Part) -> None:
    if event.content is not None and event.content.parts is not None:
        event.content.parts = [one for one in event.content.parts if one is not part]


def _other_value(value: object) -> object:
    """Return a value of the same type that is clearly another."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return -value if value else 1.0
    if isinstance(value, list):
        return [*value, _CHANGED]
    if isinstance(value, dict):
        return {**value, "changed": True}
    return f"{value} ({_CHANGED})" if isinstance(value, str) and value else _CHANGED


def _unrelated_word(text: str) -> str:
    """Return a word that `text` does not contain, not even within another word."""
    lower, number = text.lower(), 0
    for word in ("Umbrella", "Quartz", "Zebra"):
        if word.lower() not in lower:
            return f"{word}!"
    while f"zq{number}" in lower:
        number += 1
    return f"zq{number}"
