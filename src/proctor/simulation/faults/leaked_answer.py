"""Find expected values, wording of rubrics and keys of the state that the user reveals to the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.text_features import about_the_agent, normalize, sentences, words
from proctor.simulation.faults.values import numbers_in

_LONG_QUOTE = 6
"""Consecutive words; texts do not share so many by chance."""


def leaked_answer(conversation: UserConversation) -> Iterator[UserFault]:
    """Find expected values in the user's messages that it had no source for."""
    reported: set[str] = set()
    hidden = about_the_agent(conversation.plan)
    plan = "\n".join(sentence for sentence in sentences(conversation.plan) if sentence not in hidden)
    values = [*_values(conversation.expected_state), *(value for each in hidden for value in _literals(each))]
    before = "\n".join(
        [plan, conversation.briefing, conversation.behavior, *map(str, _leaves(conversation.initial_state))]
    )
    for turn, text in conversation.own_turns():
        for value, why in (*_expected_values(text, values), *_case_wording(conversation, text)):
            known = "\n".join([before, *conversation.answers[:turn]])
            if value not in reported and not _contains(known, value, anywhere=True):
                reported.add(value)
                yield new_fault(FaultKind.LEAKED_ANSWER, turn, text, f"{value!r} is {why}")


def _expected_values(text: str, values: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for value, where in values:
        if _contains(text, value):
            yield value, f"{where} that appears neither in the plan nor in an earlier answer of the agent"


def _case_wording(conversation: UserConversation, text: str) -> Iterator[tuple[str, str]]:
    """Return keys of the state and passages of rubrics: only the case contains them."""
    for key in conversation.expected_state:
        if "_" in key and key in text:
            yield key, "a key of the expected final state"
    for rubric in conversation.rubrics:
        if passage := _common_passage(text, rubric):
            yield passage, "the wording of a rubric"


def _common_passage(text: str, rubric: str) -> str:
    text_words, rubric_words = words(text), f" {' '.join(words(rubric))} "
    for start in range(len(text_words) - _LONG_QUOTE + 1):
        passage = " ".join(text_words[start : start + _LONG_QUOTE])
        if f" {passage} " in rubric_words:
            return passage
    return ""


def _values(state: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Return the values of a state that texts do not share by chance: with two digits, of several words, or names."""
    for value in _leaves(state):
        text = str(value)
        if not isinstance(value, bool) and _is_distinctive(text):
            yield text, "an expected value of the final state"


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for inside in value.values():
            yield from _leaves(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from _leaves(inside)
    elif value is not None:
        yield value


def _literals(sentence: str) -> Iterator[tuple[str, str]]:
    """Return the quoted texts and the numbers in a sentence about the agent."""
    matches = re.findall(
        r"\"([^\"]{3,80})\"|“([^”]{3,80})”|(?<![\w.])([$€£]?\w*\d[\w.,:/-]*\w|\d)(?!\w)", sentence
    )
    for quoted, curled, number in matches:
        text = (quoted or curled or number).strip(".,")
        if _is_distinctive(text):
            yield text, "an answer that the plan expects from the agent"


def _is_distinctive(text: str) -> bool:
    digits = sum(char.isdigit() for char in text)
    if digits:
        return digits >= 2
    return (len(words(text)) > 1 and len(text) >= 8) or (text[:1].isupper() and len(text) >= 4)


def _contains(text: str, value: str, *, anywhere: bool = False) -> bool:
    """Whether a text contains a value in any notation. A single word must look like a name, except with `anywhere`."""
    if any(char.isdigit() for char in value):
        if (number := _number(value)) is not None:
            return number in numbers_in(text)
        return normalize(value) in normalize(text)
    if anywhere or len(words(value)) > 1:
        return f" {' '.join(words(value))} " in f" {' '.join(words(text))} "
    return re.search(rf"(?<=[\w,;:] ){re.escape(value)}\b", text) is not None


def _number(value: str) -> float | None:
    try:
        return float(value.replace(",", "").lstrip("$€£"))
    except ValueError:
        return None
