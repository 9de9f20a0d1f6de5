"""Mutation operators for the final state of the session, and for the course of a conversation over its turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from proctor.authoring.audit.answer_spans import states_something
from proctor.authoring.audit.call_mutants import Path, dotted_path, leaves, other_value, replace_at
from proctor.authoring.audit.mutant import (
    NO_WORK,
    Events,
    Operator,
    PlantedFault,
    Recording,
    answer_with,
    calls_in,
    only_text,
    shorten_change,
)
from proctor.common.inline_code import code_mark
from proctor.common.json_values import equal_json
from proctor.metrics.matchers.base import ABSENT, holds_matcher
from proctor.metrics.matchers.parse import MatcherReader

_CHANGED, _UNEXPECTED = "changed", "unexpected"

# --- State -----------------------------------------------------------------------------------------------------------


def _missing_key(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    for key in recording.state_keys:
        if not _is_accepted(recording, key, ABSENT):
            yield PlantedFault(None, f"the state has no {code_mark(key)}", state=partial(_without_key, key))


def _is_accepted(recording: Recording, key: str, value: object) -> bool:
    """Return whether a matcher of the case accepts a value of a key (`ABSENT`: none), which is no fault then."""
    expected = (recording.case.final_session_state or {}).get(key)
    return holds_matcher(expected) and MatcherReader().template(expected, key).fits(value)


def _without_key(key: str, state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != key}


def _with_value(path: Path, value: Any, state: dict[str, Any]) -> Any:
    return replace_at(state, path, value)


def _wrong_value(recording: Recording, random: Random) -> Iterator[PlantedFault]:
    """Change one value, at any depth; an empty list or object has none."""
    for key in recording.state_keys:
        value = (recording.state or {})[key]
        is_whole = value is None or value == ""
        for path, before in [((key,), value)] if is_whole else leaves({key: value}):
            changed = _CHANGED if is_whole else other_value(before, random)
            fault = f"state {code_mark(dotted_path(path))}: {shorten_change(repr(before))} → {shorten_change(repr(changed))}"
            if not _is_accepted(recording, key, replace_at({key: value}, path, changed)[key]):
                yield PlantedFault(None, fault, state=partial(_with_value, path, changed))


def _stale(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Keep the value that a key has at the beginning, where the case expects another."""
    for key in recording.state_keys:
        if key in recording.initial_state:
            before = recording.initial_state[key]
            is_right = equal_json(before, (recording.state or {})[key]) or _is_accepted(
                recording, key, before
            )
            if not is_right:
                fault = f"state {code_mark(key)} is still {shorten_change(repr(before))}"
                yield PlantedFault(None, fault, state=partial(_with_value, (key,), before))


def _extra_entry(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Add an entry to a list or an object; not where a matcher may allow it, and no key of the state itself: others may have any."""
    expected_state = recording.case.final_session_state or {}
    for key in recording.state_keys:
        for path, value in (
            ()
            if holds_matcher(expected_state.get(key))
            else _containers((recording.state or {})[key], (key,))
        ):
            if isinstance(value, dict):
                changed: Any = {**value, _UNEXPECTED: True}
                fault = f"state {code_mark(dotted_path(path))} has {code_mark(_UNEXPECTED)}, too"
            else:
                changed = [*value, value[-1] if value else _UNEXPECTED]
                fault = (
                    f"state {code_mark(dotted_path(path))} has {shorten_change(repr(changed[-1]))} once more"
                )
            yield PlantedFault(None, fault, state=partial(_with_value, path, changed))


def _containers(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the lists and objects in a value, from the outside in."""
    if isinstance(value, dict | list):
        yield path, value
        items: Any = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _containers(item, (*path, key))


# --- Course of the conversation --------------------------------------------------------------------------------------


def _skipped(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Do nothing in one of several turns: no call, and an answer without content. Not where the recorded one has none, too."""
    for turn, events in enumerate(recording.turns):
        has_content = calls_in(events) or states_something(recording.answers[turn])
        if len(recording.turns) > 1 and has_content:
            yield PlantedFault(turn, f"only {NO_WORK!r}, and no call", partial(_answer_alone, turn, NO_WORK))


def _asked_again(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Ask for the user's message again instead of acting on it; not where the recorded answer is a question, too."""
    for turn, message in enumerate(recording.messages):
        answer = recording.answers[turn].strip()
        if message.strip() and (answer or calls_in(recording.turns[turn])) and not answer.endswith("?"):
            text = f"Before I can do that: what exactly do you mean by {shorten_change(message)}?"
            yield PlantedFault(
                turn, "a question about what the user stated", partial(_answer_alone, turn, text)
            )


def _answer_alone(turn: int, text: str) -> dict[int, Events]:
    return {turn: only_text(text)}


def _not_asked(recording: Recording, _: Random) -> Iterator[PlantedFault]:
    """Act one turn early, without the question that the recorded agent asks first."""
    for turn, answer in enumerate(recording.answers[:-1]):
        following = recording.turns[turn + 1]
        if answer.rstrip().endswith("?") and not calls_in(recording.turns[turn]) and calls_in(following):
            fault = "the calls of the next turn, without asking first"
            yield PlantedFault(turn, fault, partial(_early, recording, turn))


def _early(recording: Recording, turn: int) -> dict[int, Events]:
    following = recording.turns[turn + 1]
    return {turn: following, turn + 1: answer_with([], recording.answers[turn + 1] or NO_WORK)}


OPERATORS = (
    Operator("state-missing", "missing state", "state", _missing_key),
    Operator("state-wrong", "wrong state", "state", _wrong_value),
    Operator("state-stale", "stale state", "state", _stale),
    Operator("state-extra", "additional state", "state", _extra_entry),
    Operator("turn-skipped", "skipped turns", "conversation", _skipped),
    Operator("asked-again", "needless questions", "conversation", _asked_again),
    Operator("not-asked", "missing clarifications", "conversation", _not_asked),
)
