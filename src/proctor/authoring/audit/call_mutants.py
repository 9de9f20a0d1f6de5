"""Mutation operators for tool calls: a call is missing, added, repeated, out of order, of another tool or with other arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from proctor.authoring.audit.mutant import (
    CallPlace,
    Events,
    Operator,
    PlantedFault,
    Recording,
    calls_in,
    parts_of,
    replace_call,
    with_parts,
)
from proctor.common.inline_code import code_mark
from proctor.common.json_values import equal_json
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import FunctionCall, Part

_ADDED = "unexpected_tool"
_ACTING = frozenset(
    "add append book buy cancel charge click create delete deposit email insert issue order pay place post publish purchase "
    "refund register remove reserve roll schedule send submit withdraw".split()
)
"""Words in names of tools that act: to call one twice is a fault. To read or to compute twice may be harmless."""
_READING = frozenset(
    "get list search find lookup look read load fetch check calculate compute estimate infer detect query retrieve access show "
    "view status info".split()
)
"""Words in names of tools that only read: the order of two of them may mean nothing."""
_CHANGING = _ACTING | frozenset(
    "apply approve assign change close confirm exchange execute grant make modify move open process reset return save set "
    "start stop transfer turn update upload write".split()
)
"""Words in names of tools before which a check belongs: a policy has it as a step."""
_HANDOVER = "transfer_to_agent"
_LAST_DIGIT = re.compile(r"[0-9](?=[^0-9]*$)")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def _mark(call: FunctionCall) -> str:
    return code_mark(call.name or "(no name)")


def _dropped(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Leave out a call; not one that is a step before an action by itself: `_no_step` makes that mutant."""
    steps = [id(step.places[0][1].call) for step in _steps(recording) if len(step.places) == 1]
    for turn, place in _all_calls(recording):
        if id(place.call) not in steps:
            fault = f"{_mark(place.call)} is not called"
            yield PlantedFault(turn, fault, partial(_without, recording, [(turn, place)]))


class _Step(NamedTuple):
    """The calls of one tool that come before an action, as a policy demands it."""

    turn: int
    """The turn of the action."""
    action: str
    places: Sequence[tuple[int, CallPlace]]


def _steps(recording: Recording) -> Iterator[_Step]:
    """Yield what is called before each call that changes something: reads, checks, entries in a log."""
    before: dict[str, list[tuple[int, CallPlace]]] = {}
    known: set[tuple[str, int]] = set()
    for turn, place in _all_calls(recording):
        name = place.call.name or ""
        if name == _HANDOVER:
            continue
        if not _changes(place.call):
            before.setdefault(name, []).append((turn, place))
            continue
        for tool, places in before.items():
            if (tool, len(places)) not in known:
                known.add((tool, len(places)))
                yield _Step(turn, name, tuple(places))


def _changes(call: FunctionCall) -> bool:
    return _is_named(call, _CHANGING) and not _is_named(call, _READING)


def _no_step(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Act without a step that comes before: no call of that tool is left before the action."""
    for turn, action, places in _steps(recording):
        fault = f"{code_mark(action)} is called without {_mark(places[0][1].call)} before it"
        yield PlantedFault(turn, fault, partial(_without, recording, places))


def _added(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    for turn, events in enumerate(recording.turns):
        yield PlantedFault(
            turn,
            f"{code_mark(_ADDED)} is called, too",
            partial(_with_more, turn, events, FunctionCall(name=_ADDED, args={})),
        )


def _is_named(call: FunctionCall, words: frozenset[str]) -> bool:
    """Return whether the name of a tool has one of these words, in any spelling."""
    return not words.isdisjoint(word.lower() for word in re.findall(r"[A-Za-z][a-z]*", call.name or ""))


def _repeated(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Call a tool that acts twice."""
    for turn, place in _all_calls(recording):
        if _is_named(place.call, _READING) or not _is_named(place.call, _ACTING):
            continue
        call = place.call.model_copy(update={"id": None})
        yield PlantedFault(
            turn,
            f"{_mark(call)} is called twice",
            partial(_with_more, turn, recording.turns[turn], call, place.event + 1),
        )


def _reordered(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Exchange neighbouring calls of different tools, unless both only read; calls in one event are parallel, without order."""
    for turn, events in enumerate(recording.turns):
        for first, second in pairwise(calls_in(events)):
            if first.event == second.event or first.call.name == second.call.name:
                continue
            if _is_named(first.call, _READING) and _is_named(second.call, _READING):
                continue
            text = f"{_mark(second.call)} is called before {_mark(first.call)}"
            yield PlantedFault(turn, text, partial(_exchanged, turn, events, first, second))


def _other_tool(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    for turn, place in _all_calls(recording):
        name = place.call.name or ""
        others = sorted({other.call.name or "" for _, other in _all_calls(recording)} - {name, ""})
        other = others[0] if others else f"{name}_v2"
        yield _new_call(
            recording,
            turn,
            place,
            {"name": other},
            f"{code_mark(other)} is called instead of {code_mark(name)}",
        )


def _other_argument(recording: Recording, random: Random) -> Iterator[PlantedFault]:
    for turn, place in _all_calls(recording):
        for path, value in leaves(place.call.args or {}):
            changed = other_value(value, random)
            args = replace_at(place.call.args, path, changed)
            text = f"{_mark(place.call)}: {dotted_path(path)} {_short(value)} → {_short(changed)}"
            yield _new_call(recording, turn, place, {"args": args}, text)


def _missing_argument(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    for turn, place in _all_calls(recording):
        args = place.call.args or {}
        for name in args:
            rest = {key: value for key, value in args.items() if key != name}
            yield _new_call(
                recording,
                turn,
                place,
                {"args": rest},
                f"{_mark(place.call)} without {code_mark(name)}",
            )


OPERATORS = (
    Operator("call-missing", "missing calls", "calls", _dropped),
    Operator("step-missing", "missing steps before an action", "calls", _no_step),
    Operator("call-added", "additional calls", "calls", _added),
    Operator("call-repeated", "repeated calls", "calls", _repeated),
    Operator("call-order", "calls in another order", "calls", _reordered),
    Operator("call-tool", "calls of another tool", "calls", _other_tool),
    Operator("argument-changed", "wrong arguments", "calls", _other_argument),
    Operator("argument-missing", "missing arguments", "calls", _missing_argument),
)


# --- Events ----------------------------------------------------------------------------------------------------------


def _all_calls(recording: Recording) -> Iterator[tuple[int, CallPlace]]:
    for turn, events in enumerate(recording.turns):
        for place in calls_in(events):
            yield turn, place


def _new_call(
    recording: Recording, turn: int, place: CallPlace, update: dict[str, Any], text: str
) -> PlantedFault:
    def make() -> dict[int, Events]:
        return {turn: replace_call(recording.turns[turn], place, place.call.model_copy(update=update))}

    return PlantedFault(turn, text, make)


def _without(recording: Recording, places: Sequence[tuple[int, CallPlace]]) -> dict[int, Events]:
    """Remove calls, and their responses."""
    parts_by_turn: dict[int, list[Part]] = {}
    for turn, place in places:
        parts_by_turn.setdefault(turn, []).extend(_with_response(recording.turns[turn], place))
    return {turn: [*_pruned(recording.turns[turn], parts)] for turn, parts in parts_by_turn.items()}


def _with_response(events: Events, place: CallPlace) -> list[Part]:
    """Return the part of a call, and that of its response."""
    pair: list[Part] = []
    for event in events[place.event :]:
        for part in parts_of(event):
            if part.function_call is place.call or (len(pair) == 1 and _answers(part, place.call)):
                pair.append(part)
    return pair


def _pruned(events: Events, removed_parts: Sequence[Part]) -> Iterator[Event]:
    for event in events:
        parts = parts_of(event)
        rest = [part for part in parts if not any(part is each for each in removed_parts)]
        if len(rest) == len(parts):
            yield event
        elif rest:
            yield with_parts(event, rest)


def _answers(part: Part, call: FunctionCall) -> bool:
    response = part.function_response
    if response is None:
        return False
    return response.id == call.id if call.id is not None else response.name == call.name


def _with_more(turn: int, events: Events, call: FunctionCall, at: int | None = None) -> dict[int, Events]:
    if at is None:
        at = len(events) - 1 if events and events[-1].is_final_response() else len(events)
    return {turn: [*events[:at], Event.called(call.name or "", call.args or {}), *events[at:]]}


def _exchanged(turn: int, events: Events, first: CallPlace, second: CallPlace) -> dict[int, Events]:
    return {turn: replace_call(replace_call(events, first, second.call), second, first.call)}


def _same(one: FunctionCall, other: FunctionCall) -> bool:
    return one.name == other.name and equal_json(one.args or {}, other.args or {})


# --- Values ----------------------------------------------------------------------------------------------------------

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the values inside of arguments that can be changed, with their places."""
    items: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))
        elif item is not None and item != "":
            yield (*path, key), item


def replace_at(value: Any, path: Path, changed: Any) -> Any:
    """Return a copy of a value with another one at a place in it."""
    if not path:
        return changed
    copy = value.copy()
    copy[path[0]] = replace_at(value[path[0]], path[1:], changed)
    return copy


def other_value(value: Any, random: Random) -> Any:
    """Return another value of the same kind: a number, a date, an id, a word or a text."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        changed = value + random.choice((1, 2, 3, 5, 7))
        return changed if changed != value else -value  # a large float does not change by a few
    return _other_text(str(value), random)


def _other_text(text: str, random: Random) -> str:
    if _ISO_DATE.fullmatch(text):
        try:
            return (date.fromisoformat(text) + timedelta(days=random.randint(1, 20))).isoformat()
        except (ValueError, OverflowError):
            return "1999-01-01"
    if " " in text:
        return "something else"
    last = _LAST_DIGIT.search(text)
    if last is None:
        return f"other_{text}"
    return f"{text[: last.start()]}{(int(last[0]) + random.randint(1, 9)) % 10}{text[last.end() :]}"


def dotted_path(path: Path) -> str:
    """Return a place in a value as text: `items[0].id`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 32 else f"{text[:31]}…"
