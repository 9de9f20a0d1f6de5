"""The facts that the user knows at each turn, extracted from each text once."""

from __future__ import annotations

from functools import cached_property

from proctor.simulation.faults.conversation import UserConversation
from proctor.simulation.faults.text_features import content_words, is_english, normalize, words
from proctor.simulation.faults.values import (
    dates_in,
    is_clock_of,
    is_day_near,
    is_made_of,
    is_rounded,
    numbers_in,
    numbers_in_words,
)

__all__ = ["KnownFacts"]


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
        wanted = normalize(reference)
        if any(wanted in known for known in self._normalized):
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
