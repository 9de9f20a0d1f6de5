"""Find values that the user cannot know: numbers, dates, addresses and names that appear nowhere before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from proctor.schema.evidence.simulated_user import FaultKind, UserFault
from proctor.simulation.faults.conversation import UserConversation, new_fault
from proctor.simulation.faults.text_features import content_words, is_english, normalize, words
from proctor.simulation.faults.values import (
    addresses,
    dates_in,
    is_clock_of,
    is_day_near,
    is_made_of,
    is_rounded,
    numbers_in,
    numbers_in_words,
    references,
)


class KnownFacts:
    """The facts in the user's instructions and in the agent's answers before a turn. Turns must be visited in order."""

    def __init__(self, conversation: UserConversation) -> None:
        self._heard = conversation
        self._turn = 0
        self._folded: list[str] = []
        self._normalized: list[str] = []
        self.numbers: set[float] = set()
        self.dates: set[tuple[int, int]] = set()
        self.words: set[str] = set()
        self.content: set[str] = set()
        self._add(f"{conversation.plan}\n{conversation.briefing}\n{conversation.behavior}")

    def before(self, turn: int) -> KnownFacts:
        """Add the answers before a turn, and return self."""
        for answer in self._heard.answers[self._turn : turn]:
            self._add(answer)
        self._turn = max(self._turn, turn)
        return self

    def contains(self, text: str) -> bool:
        """Return whether a known text contains this text, ignoring case."""
        return any(text.casefold() in known for known in self._folded)

    def has(self, reference: str) -> bool:
        """Return whether a number or a reference is known, or can be computed from known numbers."""
        normal_form = normalize(reference)
        if any(normal_form in known for known in self._normalized):
            return True
        if is_clock_of(reference, self.numbers, self.words) or is_rounded(reference, self.numbers):
            return True
        return is_made_of(reference, self.numbers)

    def has_day(self, month: int, day: int) -> bool:
        """Return whether a date is known in either reading, or can be counted from a known date."""
        if {(month, day), (day, month)} & self.dates or (day in self.numbers and not self.dates):
            return True
        return is_day_near(month, day, self.dates, self._folded)

    @cached_property
    def is_english(self) -> bool:
        """Whether the plan is English."""
        return is_english(self._heard.plan)

    def _add(self, text: str) -> None:
        self._folded.append(text.casefold())
        self._normalized.append(normalize(text))
        self.numbers |= numbers_in(text)
        self.numbers = self.numbers.union(*map(numbers_in_words, text.split("\n")))
        self.dates |= dates_in(text)
        self.words.update(words(text))
        self.content |= content_words(text)


_MAY_INVENT = re.compile(
    r"\b(make (?:\w+ )?up|made[- ]up|invent\w*|fictional|fake|random\w*|plausible|imaginary|of your (?:own )?choice|"
    r"improvise|come up with|any \w+ (?:you like|will do|is fine)|whatever you (?:like|want))\b",
    re.IGNORECASE,
)
_NAME = r"((?:[A-Z][\w'’-]+)(?:\s+[A-Z][\w'’-]+)*)"
_STATED_NAMES = (
    re.compile(rf"\b(?:is|are|was) (?:called|named)\s+{_NAME}"),
    re.compile(
        rf"\b(?:[Mm]y (?:full |first |last |sur|middle |user)?name(?:['’]s| is)|I(?:['’]m| am) called)\s+{_NAME}"
    ),
    re.compile(rf"\bI (?:live|work|am based|am staying|am) (?:in|at)\s+{_NAME}"),
    re.compile(
        rf"\b\d{{1,4}}[a-z]? {_NAME} (?:Street|St|Road|Rd|Lane|Close|Court|Avenue|Ave|Drive|Square|Place|Terrace|Gardens)\b"
    ),
)
_NO_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december i the a".split()
)


def invented_fact(conversation: UserConversation) -> Iterator[UserFault]:
    """Find values in the user's messages that are neither in its instructions nor in an earlier answer of the agent.

    Numbers that can be computed from known numbers are known. A plan that allows invented values permits all of them.
    """
    if _MAY_INVENT.search(f"{conversation.plan}\n{conversation.briefing}\n{conversation.behavior}"):
        return
    reported: set[str] = set()
    known = KnownFacts(conversation)
    for turn, text in conversation.own_turns():
        for value in _unknown_values(text, known.before(turn)):
            if value.casefold() not in reported:
                reported.add(value.casefold())
                why = f"{value!r} appears neither in the plan nor in an earlier answer of the agent"
                yield new_fault(FaultKind.INVENTED_FACT, turn, text, why)
                break


def _unknown_values(text: str, known: KnownFacts) -> Iterator[str]:
    for address in addresses(text):
        if not known.contains(address):
            yield address
    for month, day in sorted(dates_in(text) - known.dates):
        if not known.has_day(month, day):
            yield f"{month:02d}-{day:02d}"
    for reference in references(text):
        if not known.has(reference):
            yield reference
    if known.is_english:
        yield from _names(text, known)


def _names(text: str, known: KnownFacts) -> Iterator[str]:
    for pattern in _STATED_NAMES:
        for name in pattern.findall(text):
            parts = [part for part in words(name) if part not in _NO_NAMES]
            is_known = known.words.intersection(parts) or any(known.contains(part[:5]) for part in parts)
            if parts and not is_known:
                yield name
