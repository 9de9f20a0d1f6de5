"""Agents that must fail: they call no tool, and their answers have nothing to do with the question.

An agent that does nothing passed 38 % of the tasks of tau-bench airline (Zhu et al., "Establishing Best Practices for
Building Rigorous Agentic Benchmarks", 2025). A case that one of them passes is passed by any agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from random import Random
from typing import Any

from proctor.authoring.audit.mutant import Change, Events, Operator, Recording, only_text
from proctor.schema.analysis.audit_result import AGENTS
from proctor.schema.format.invocation import states_silence

_APOLOGY = "I'm sorry, but I can't help with that."
_FIXED = "Your request has been completed."
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|unable|unfortunately|cannot|can't|can’t|could not|couldn't|couldn’t|not able)\b",
    re.IGNORECASE,
)
_ALIKE = 0.5
"""The share of common words from which the answers of two cases may both be right."""
_NEAR = 100
"""How many cases are compared, so that the time does not grow with the square of their number."""

Answer = Callable[[Recording, int], str]
"""Gives the text of one turn."""


def _empty(_: Recording, __: int) -> str:
    return ""


def _filler(_: Recording, __: int) -> str:
    return "..."


def _apology(_: Recording, __: int) -> str:
    return _APOLOGY


def _fixed(_: Recording, __: int) -> str:
    return _FIXED


def _echo(recording: Recording, turn: int) -> str:
    return recording.messages[turn]


def _other(recording: Recording, turn: int) -> str:
    return recording.other[min(turn, len(recording.other) - 1)]


def _agent(answer: Answer, text: str, recording: Recording, _: Random) -> Iterator[Change]:
    """Yield the conversation with an agent, unless it may be the right behaviour."""
    turns = recording.case.conversation or []
    if not turns or all(map(states_silence, turns)) or not _is_wrong(answer, recording):
        return
    events = partial(_in_every_turn, answer, recording)
    yield Change(None, text, events, partial(_initial_state, recording))


def _is_wrong(answer: Answer, recording: Recording) -> bool:
    if answer is _apology:
        return not any(map(_REFUSAL.search, recording.answers))
    return answer is not _other or any(text.strip() for text in recording.other)


def _in_every_turn(answer: Answer, recording: Recording) -> Mapping[int, Events]:
    return {turn: only_text(answer(recording, turn)) for turn in range(len(recording.turns))}


def _initial_state(recording: Recording, _: dict[str, Any]) -> dict[str, Any]:
    return recording.initial_state


class OtherCases:
    """The recorded cases of a set in a circle whose order depends on the seed and on their ids."""

    def __init__(self, recorded: Sequence[Recording], seed: int) -> None:
        self._circle = sorted(recorded, key=lambda each: _rank(f"{seed}\0{each.case.eval_id}"))
        self._places = {id(recording): place for place, recording in enumerate(self._circle)}

    def answers(self, recording: Recording) -> Sequence[str]:
        """Return the answers of the next case in the circle whose answers have other words; none if no near one has."""
        size, place = len(self._circle), self._places[id(recording)]
        for step in range(1, min(_NEAR, size)):
            other = self._circle[(place + step) % size]
            if _share(recording.words, other.words) < _ALIKE:
                return other.answers
        return ()


def _rank(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (min(len(one), len(other)) or 1)


def _operator(name: str, label: str, answer: Answer, text: str) -> Operator:
    return Operator(name, label, AGENTS, partial(_agent, answer, text))


OPERATORS = (
    _operator("empty", "an empty answer", _empty, "answers '' and calls no tool"),
    _operator("filler", 'an agent that answers "..."', _filler, "answers '...' and calls no tool"),
    _operator(
        "apology", "an agent that only apologizes", _apology, f"answers {_APOLOGY!r} and calls no tool"
    ),
    _operator("echo", "an agent that repeats the question", _echo, "repeats the question and calls no tool"),
    _operator("fixed-answer", "an agent with one answer", _fixed, f"answers {_FIXED!r} and calls no tool"),
    _operator(
        "other-answers", "the answers of another case", _other, "answers as in another case and calls no tool"
    ),
)
