"""What an agent says, made fit to be kept: copied, within bounds, and text that every store holds and everyone can read.

Whatever is cut or replaced says so where it stands, and in a note on the trial.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.common.error_text import safe_repr
from proctor.common.limits import MAX_DEPTH, MAX_EVENTS, MAX_TEXT
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event, WaitingEvent, get_recipe, new_event, put_recipe
from proctor.schema.evidence.fast_models import flat_size

MOST_NOTES = 20

_LONGEST_NUMBER = 4_000  # digits; Python itself refuses to write or read 4,300
_MAX_BITS = int(_LONGEST_NUMBER / math.log10(2))
_ALWAYS = 1_000  # characters that every text has room for: a huge tool response does not silence the answer
_OF_A_NUMBER = 8  # characters, about, so that long lists of numbers have their bound, too
_UNREADABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much one turn may say."""

    max_text: int = MAX_TEXT
    """Characters of one text; all texts of a turn together may have eight times as many."""
    max_events: int = MAX_EVENTS


class Intake:
    """Takes in what one trial's agent says.

    Every method returns what is to be kept in place of what it was given; `notes` gets a sentence for each change.
    """

    __slots__ = ("_left", "_most", "_place", "_turn", "caps", "notes")

    def __init__(self, caps: Caps, notes: list[str]) -> None:
        """Take the bounds, and where to put the notes."""
        self.caps = caps
        self.notes = notes
        self._turn = 0
        self._place = "before the first turn"
        self._left = 8 * caps.max_text
        self._most = caps.max_text
        """Characters that the next text may have."""

    def begin(self, place: str = "") -> None:
        """Begin with the next turn, or with what is not part of one (`place` says what)."""
        self._turn += not place
        self._place = place
        self._left = 8 * self.caps.max_text
        self._most = self.caps.max_text

    @property
    def left(self) -> int:
        """Characters that are left; below 0 each text has only the least that every text has."""
        return self._left

    def unseen(self, event: Event) -> Event | None:
        """Return what is to be kept of an event that nobody has looked at yet; `None` where that takes a closer look."""
        try:
            recipe = get_recipe(event)
        except AttributeError:  # another thread has just looked at it
            return None
        size: int = recipe[2]
        if not 0 <= size <= self._most:
            return None
        self._left = left = self._left - size  # as `_spend`, without the call
        if left < self._most:
            self._spend(0)
        # an event of its own: what the agent makes of the one that it yielded is no evidence
        kept = new_event(WaitingEvent)  # as `waiting_event`, without the call
        put_recipe(kept, recipe)
        return kept

    def text(self, text: str, what: str) -> str:
        """Return `text` as it can be kept; `what` it is goes into the note."""
        size = len(text)
        if size <= self._most and text.isascii() and "\0" not in text:  # nearly always, and cheap to find out
            self._left = left = self._left - size  # as `_spend`, without the call
            if left < self._most:
                self._spend(0)
            return text
        return self._fitted(text, size, what)

    def readable(self, text: str, what: str) -> str:
        """Return `text`, which somebody else keeps short, with what no store holds as U+FFFD."""
        if _is_readable(text):
            return text
        kept, unreadable = _UNREADABLE.subn("\ufffd", text)
        self._note_unreadable(unreadable, what)
        return kept

    def media(self, data: bytes) -> bytes | None:
        """Return the bytes of an image or the like; `None` where the turn has no room for them (they cannot be cut)."""
        if len(data) <= self._left:
            self._spend(len(data))
            return data
        self._note(f"media of {len(data):,} bytes left out", "")
        return None

    def object(self, given: dict[str, Any], what: str) -> dict[str, Any]:
        """Return a copy of a JSON object.

        Raises:
            AgentError: as for `value`.
        """
        kept = self.own(given, what) if type(given) is dict else self.value(given, what)
        copied: dict[str, Any] = kept.copy() if kept is given else kept
        return copied

    def own(self, given: dict[str, Any], what: str) -> dict[str, Any]:
        """As `object`, of a dict that nobody else has: it is returned itself where nothing in it can be changed, or has to be."""
        if 0 <= (size := flat_size(given)) <= self._most:
            self._left = left = self._left - size  # as `_spend`, without the call
            if left < self._most:
                self._spend(0)
            return given
        copied: dict[str, Any] = self.value(given, what)
        return copied

    def value(self, value: Any, what: str, _depth: int = 0) -> Any:
        """Return a copy of a JSON value; tuples and sets become lists, NaN and Infinity become text.

        Texts and numbers of the agent's own classes become plain ones: such a class may say that it equals anything.

        Raises:
            AgentError: something inside is not JSON, is nested deeper than 100 levels (or in a circle), or is a whole
                number of more than 4,000 digits.
        """
        if isinstance(value, str):
            return self.text(value if type(value) is str else str.__str__(value), what)
        if value is None or isinstance(value, int | float):
            self._spend(_OF_A_NUMBER)
            return self._number(value, what)
        if _depth > MAX_DEPTH:
            raise AgentError(
                f"a tool argument, tool response or state value is nested deeper than {MAX_DEPTH} levels"
            )
        if isinstance(value, dict):
            return self._items(value, what, _depth)
        if isinstance(value, list | tuple | set | frozenset):
            return self._elements(value, what, _depth)
        if hasattr(value, "model_dump"):
            return self.value(value.model_dump(mode="json"), what, _depth + 1)
        raise AgentError(
            f"{safe_repr(value)} stands in a tool argument, tool response or state value; it is not JSON"
        )

    def _items(self, given: dict[Any, Any], what: str, depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in given.items():
            if self._left <= 0:
                return {**copied, "…": self._cut_off(len(given), "keys", what)}
            name = self.text(str.__str__(key) if isinstance(key, str) else str(key), what)
            copied[name] = self.value(item, what, depth + 1)
        return copied

    def _elements(self, given: Collection[Any], what: str, depth: int) -> list[Any]:
        copied: list[Any] = []
        for item in given:
            if self._left <= 0:
                return [*copied, self._cut_off(len(given), "elements", what)]
            copied.append(self.value(item, what, depth + 1))
        return copied

    def _number(self, value: float | None, what: str) -> float | str | None:
        if isinstance(value, float):
            if math.isfinite(value):
                return float.__float__(value)
            name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            self._note(f"{name} became text", what)
            return name
        if value is None or isinstance(value, bool):
            return value
        number = int.__int__(value)
        if number.bit_length() > _MAX_BITS:
            raise AgentError(
                "a tool argument, tool response or state value is a whole number of more than "
                f"{_LONGEST_NUMBER} digits"
            )
        return number

    def _fitted(self, text: str, size: int, what: str) -> str:
        most = self._most
        if size <= most and _is_readable(text):
            self._spend(size)
            return text
        mark = "" if size <= most else f"… [cut: {size:,} characters in all]"
        kept, unreadable = _UNREADABLE.subn("\ufffd", text[: max(most - len(mark), 0)] if mark else text)
        self._spend(len(kept) + len(mark))
        if unreadable:
            self._note_unreadable(unreadable, what)
        if mark:
            self._note(f"text of {size:,} characters cut to {most:,}", what)
        return kept + mark

    def _cut_off(self, count: int, things: str, what: str) -> str:
        self._note(f"{count:,} {things}, of which the turn has no room for all", what)
        return f"… [cut: {count:,} {things} in all]"

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < self._most:
            self._most = max(self._left, min(_ALWAYS, self.caps.max_text))

    def _note_unreadable(self, count: int, what: str) -> None:
        self._note(f"unreadable characters (NUL, half a surrogate pair) replaced by U+FFFD: {count:,}", what)

    def _note(self, change: str, what: str) -> None:
        place = self._place or f"turn {self._turn}"
        if len(self.notes) < MOST_NOTES:
            self.notes.append(f"{place}: {what}{change}")
        elif len(self.notes) == MOST_NOTES:
            self.notes.append("and more of the kind")


def _is_readable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return "\0" not in text


_LOSSES = (" cut to ", " left out", " has no room for all")


def what_was_lost(notes: Sequence[str]) -> str:
    """Return the first of a trial's notes that says that something is missing; empty when all is there.

    What only reads differently (half a character, NaN) can be judged, and what is missing cannot.
    """
    return next((note for note in notes if any(loss in note for loss in _LOSSES)), "")
