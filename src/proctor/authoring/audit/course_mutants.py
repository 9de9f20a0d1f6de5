"""Mutation operators for the final state of the session, and for the course of a conversation over its turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

from proctor.authoring.audit.answer_spans import states_something
from proctor.authoring.audit.mutant import (
    NO_WORK,
    Change,
    Events,
    Operator,
    Recording,
    answer_with,
    calls_in,
    only_text,
    shorten_change,
)
from proctor.common.json_values import equal_json

_CHANGED = "changed"

# --- State -----------------------------------------------------------------------------------------------------------


def _missing_key(recording: Recording, _: Random) -> Iterator[Change]:
    for key in _keys(recording):
        yield Change(None, f"the state has no `{key}`", state=partial(_without_key, key))


def _without_key(key: str, state: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name != key}


def _with_value(key: str, value: Any, state: dict[str, Any]) -> dict[str, Any]:
    return {**state, key: value}


def _wrong_value(recording: Recording, _: Random) -> Iterator[Change]:
    for key in _keys(recording):
        value = (recording.state or {})[key]
        changed = _other(value)
        fault = f"state `{key}`: {shorten_change(repr(value))} → {shorten_change(repr(changed))}"
        yield Change(None, fault, state=partial(_with_value, key, changed))


def _stale(recording: Recording, _: Random) -> Iterator[Change]:
    """Keep the value that a key has at the beginning, where the case expects another."""
    for key in _keys(recording):
        if key in recording.initial_state:
            before = recording.initial_state[key]
            if not equal_json(before, (recording.state or {})[key]):
                fault = f"state `{key}` is still {shorten_change(repr(before))}"
                yield Change(None, fault, state=partial(_with_value, key, before))


def _keys(recording: Recording) -> list[str]:
    return recording.state_keys


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, _CHANGED]
    if isinstance(value, dict):
        return {**value, _CHANGED: True}
    return f"{value} {_CHANGED}" if value else _CHANGED


# --- Course of the conversation --------------------------------------------------------------------------------------


def _skipped(recording: Recording, _: Random) -> Iterator[Change]:
    """Do nothing in one of several turns: no call, and an answer without content. Not where the recorded one has none, too."""
    for turn, events in enumerate(recording.turns):
        has_content = calls_in(events) or states_something(recording.answers[turn])
        if len(recording.turns) > 1 and has_content:
            yield Change(turn, f"only {NO_WORK!r}, and no call", partial(_only_saying, turn, NO_WORK))


def _asked_again(recording: Recording, _: Random) -> Iterator[Change]:
    """Ask for the user's message again instead of acting on it; not where the recorded answer is a question, too."""
    for turn, message in enumerate(recording.messages):
        answer = recording.answers[turn].strip()
        if message.strip() and (answer or calls_in(recording.turns[turn])) and not answer.endswith("?"):
            text = f"Before I can do that: what exactly do you mean by {shorten_change(message)}?"
            yield Change(turn, "a question about what the user stated", partial(_only_saying, turn, text))


def _only_saying(turn: int, text: str) -> dict[int, Events]:
    return {turn: only_text(text)}


def _not_asked(recording: Recording, _: Random) -> Iterator[Change]:
    """Act one turn early, without the question that the recorded agent asks first."""
    for turn, answer in enumerate(recording.answers[:-1]):
        following = recording.turns[turn + 1]
        if answer.rstrip().endswith("?") and not calls_in(recording.turns[turn]) and calls_in(following):
            fault = "the calls of the next turn, without asking first"
            yield Change(turn, fault, partial(_early, recording, turn))


def _early(recording: Recording, turn: int) -> dict[int, Events]:
    following = recording.turns[turn + 1]
    return {turn: following, turn + 1: answer_with([], recording.answers[turn + 1] or NO_WORK)}


OPERATORS = (
    Operator("state-missing", "missing state", "state", _missing_key),
    Operator("state-wrong", "wrong state", "state", _wrong_value),
    Operator("state-stale", "stale state", "state", _stale),
    Operator("turn-skipped", "skipped turns", "conversation", _skipped),
    Operator("asked-again", "needless questions", "conversation", _asked_again),
    Operator("not-asked", "missing clarifications", "conversation", _not_asked),
)
