"""The user gives away what the agent was to find out: an expected value, the text of a rubric, a key of the state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.schema.evidence.simulator_fault import FaultKind, UserFault
from proctor.simulation.faults.base import Heard, fault
from proctor.simulation.faults.text_features import sentences, squashed, words
from proctor.simulation.faults.values import numbers_in

__all__ = ["about_the_agent", "leaked_answer"]

_ABOUT_AGENT = re.compile(
    r"\b(?:agent|assistant|(?:chat)?bot|(?:the|this) system)\b[^.?!]{0,40}\b(?:should|must|shall|will|has to|is (?:expected|supposed) to|"
    r"ought to)\b|\b(?:expected|correct|right|reference) (?:answer|result|outcome|reply|response|value|total|state)\b|"
    r"\bthe answer (?:is|should|must|will)\b",
    re.IGNORECASE,
)
_LONG_QUOTE = 6
"""Words in a row that nobody has in common by chance."""


def about_the_agent(plan: str) -> list[str]:
    """Return the sentences of a plan that say what the agent is to do: the user knows them, and must not tell them."""
    return [one for one in sentences(plan) if _ABOUT_AGENT.search(one)]


def leaked_answer(heard: Heard) -> Iterator[UserFault]:
    """Find expected values that the user said before anybody had told them."""
    told: set[str] = set()
    hidden = about_the_agent(heard.plan)
    plan = "\n".join(one for one in sentences(heard.plan) if one not in hidden)
    values = [*_values(heard.expected_state), *(value for one in hidden for value in _literals(one))]
    before = "\n".join([plan, heard.briefing, heard.manner, *map(str, _leaves(heard.initial_state))])
    for turn, text in heard.own_turns():
        for value, why in (*_said(text, values), *_quoted(heard, text)):
            known = "\n".join([before, *heard.answers[:turn]])
            if value not in told and not _says(known, value, anywhere=True):
                told.add(value)
                yield fault(FaultKind.LEAKED_ANSWER, turn, text, f"{value!r} is {why}")


def _said(text: str, values: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for value, where in values:
        if _says(text, value):
            yield value, f"{where}, and neither the plan nor the agent had told the user"


def _quoted(heard: Heard, text: str) -> Iterator[tuple[str, str]]:
    """Keys of the state, which only the case has, and passages of rubrics."""
    for key in heard.expected_state:
        if "_" in key and key in text:
            yield key, "a key of the expected final state"
    for rubric in heard.rubrics:
        if passage := _common_passage(text, rubric):
            yield passage, "the wording of a rubric"


def _common_passage(text: str, rubric: str) -> str:
    said, asked = words(text), f" {' '.join(words(rubric))} "
    for start in range(len(said) - _LONG_QUOTE + 1):
        passage = " ".join(said[start : start + _LONG_QUOTE])
        if f" {passage} " in asked:
            return passage
    return ""


def _values(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values of a state that nobody says by chance: with two digits, of several words, or names."""
    for value in _leaves(state):
        text = str(value)
        if not isinstance(value, bool) and _is_telling(text):
            yield text, "an expected value of the final state"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inside in value.values():
            yield from _leaves(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _leaves(inside)
    elif value is not None:
        yield value


def _literals(sentence: str) -> Iterator[tuple[str, str]]:
    """What stands in a sentence about the agent as a value: quoted, a number, a name in the middle of it."""
    found = re.findall(
        r"\"([^\"]{3,80})\"|“([^”]{3,80})”|(?<![\w.])([$€£]?\w*\d[\w.,:/-]*\w|\d)(?!\w)", sentence
    )
    for quoted, curled, number in found:
        text = (quoted or curled or number).strip(".,")
        if _is_telling(text):
            yield text, "what the plan says the agent is to tell"


def _is_telling(text: str) -> bool:
    digits = sum(char.isdigit() for char in text)
    if digits:
        return digits >= 2
    return (len(words(text)) > 1 and len(text) >= 8) or (text[:1].isupper() and len(text) >= 4)


def _says(text: str, value: str, *, anywhere: bool = False) -> bool:
    """Whether a text has a value, however a number is written; names of one word as names, unless `anywhere` will do."""
    if any(char.isdigit() for char in value):
        if (number := _number(value)) is not None:
            return number in numbers_in(text)
        return squashed(value) in squashed(text)
    if anywhere or len(words(value)) > 1:
        return f" {' '.join(words(value))} " in f" {' '.join(words(text))} "
    return re.search(rf"(?<=[\w,;:] ){re.escape(value)}\b", text) is not None


def _number(value: str) -> float | None:
    try:
        return float(value.replace(",", "").lstrip("$€£"))
    except ValueError:
        return None
