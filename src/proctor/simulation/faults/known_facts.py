"""What the user of a conversation knows, turn by turn: read once, however long the conversation is."""

from __future__ import annotations

from functools import cached_property

from proctor.simulation.faults.base import Heard
from proctor.simulation.faults.text_features import content_words, is_english, squashed, words
from proctor.simulation.faults.values import (
    dates_in,
    is_clock_of,
    is_day_near,
    is_made_of,
    is_rounded,
    numbers_in,
    numbers_in_words,
)

__all__ = ["Known"]


class Known:
    """All that the user was told, and what the agent had said up to a turn. Turns are asked for in their order."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._turn = 0
        self._folded: list[str] = []
        self._squashed: list[str] = []
        self.numbers: set[float] = set()
        self.dates: set[tuple[int, int]] = set()
        self.words: set[str] = set()
        self.content: set[str] = set()
        self._take(f"{heard.plan}\n{heard.briefing}\n{heard.manner}")

    def before(self, turn: int) -> Known:
        """Go on to a turn, and return this."""
        for answer in self._heard.answers[self._turn : turn]:
            self._take(answer)
        self._turn = max(self._turn, turn)
        return self

    def says(self, text: str) -> bool:
        """Tell whether that was said, word for word but for capitals."""
        return any(text.casefold() in said for said in self._folded)

    def has(self, reference: str) -> bool:
        """Tell whether a number or a reference was said, or can be worked out of numbers that were."""
        wanted = squashed(reference)
        if any(wanted in said for said in self._squashed):
            return True
        if is_clock_of(reference, self.numbers, self.words) or is_rounded(reference, self.numbers):
            return True
        return is_made_of(reference, self.numbers)

    def has_day(self, month: int, day: int) -> bool:
        """Tell whether a date was said, in either reading, or can be counted from one that was."""
        if {(month, day), (day, month)} & self.dates or (day in self.numbers and not self.dates):
            return True
        return is_day_near(month, day, self.dates, self._folded)

    @cached_property
    def is_english(self) -> bool:
        """Whether what the user was told is English."""
        return is_english(self._heard.plan)

    def _take(self, text: str) -> None:
        self._folded.append(text.casefold())
        self._squashed.append(squashed(text))
        self.numbers |= numbers_in(text)
        self.numbers = self.numbers.union(*map(numbers_in_words, text.split("\n")))
        self.dates |= dates_in(text)
        self.words.update(words(text))
        self.content |= content_words(text)
