"""Limit the evidence of a trial before it is stored: copies of bounded size, in text that every store can hold.

Each text that is cut or replaced has a note, and so does the trial.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import ValidationError

from proctor.common.error_text import safe_repr, safe_str
from proctor.common.limits import MAX_DEPTH, MAX_EVENTS, MAX_SPAN_TEXT, MAX_SPANS, MAX_TEXT
from proctor.common.secrets import HIDDEN, hide_secrets, names_secret, secret_hider
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event, WaitingEvent, flat_size, get_recipe, new_event, put_recipe
from proctor.schema.evidence.turn import Span, TurnTrace

MOST_NOTES = 20

_LONGEST_NUMBER = 4_000  # digits; Python itself refuses to write or read 4,300
_MAX_BITS = int(_LONGEST_NUMBER / math.log10(2))
_ALWAYS = 1_000  # characters that every text has room for: a huge tool response does not silence the answer
_OF_A_NUMBER = 8  # characters, about, so that long lists of numbers have their bound, too
_UNREADABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCaps:
    """The limits of one turn."""

    max_text: int = MAX_TEXT
    """Characters of one text; all texts of a turn together may have eight times as many."""
    max_events: int = MAX_EVENTS


class EvidenceLimiter:
    """Copies and limits the evidence of one trial; `notes` gets a sentence for each change."""

    __slots__ = ("_left", "_most", "_place", "_turn", "caps", "notes")

    def __init__(self, caps: TurnCaps, notes: list[str]) -> None:
        """Keep the limits, and the list for the notes."""
        self.caps = caps
        self.notes = notes
        self._turn = 0
        self._place = "before the first turn"
        self._left = 8 * caps.max_text
        self._most = caps.max_text
        """Characters that the next text may have."""

    def begin(self, place: str = "") -> None:
        """Begin the next turn, or a `place` outside of the turns; each has its own limit of characters."""
        self._turn += not place
        self._place = place
        self._left = 8 * self.caps.max_text
        self._most = self.caps.max_text

    @property
    def remaining(self) -> int:
        """Characters that are left; below 0 each text has only the minimum of every text."""
        return self._left

    def take_waiting(self, event: Event) -> Event | None:
        """Return a copy of an event whose models do not exist yet; `None` if its content must be limited."""
        try:
            recipe = get_recipe(event)
        except AttributeError:  # another thread has just made its models
            return None
        size: int = recipe[2]
        if not 0 <= size <= self._most:
            return None
        self._left = left = self._left - size  # as `_spend`, without the call
        if left < self._most:
            self._spend(0)
        # a copy: changes that the agent makes to the event that it yielded are not evidence
        event_copy = new_event(WaitingEvent)  # as `waiting_event`, without the call
        put_recipe(event_copy, recipe)
        return event_copy

    def text(self, text: str, what: str) -> str:
        """Return `text` within the limits; the note of a change names `what` it is."""
        size = len(text)
        if size <= self._most and text.isascii() and "\0" not in text:  # nearly always, and cheap to find out
            self._left = left = self._left - size  # as `_spend`, without the call
            if left < self._most:
                self._spend(0)
            return text
        return self._cut_text(text, size, what)

    def readable(self, text: str, what: str) -> str:
        """Return `text` with U+FFFD in place of characters that no store can hold; its length is limited elsewhere."""
        if _is_readable(text):
            return text
        clean_text, unreadable = _UNREADABLE.subn("\ufffd", text)
        self._note_unreadable(unreadable, what)
        return clean_text

    def media(self, data: bytes) -> bytes | None:
        """Return the bytes of an image or other media; `None` if the turn has no room for them (they cannot be cut)."""
        if len(data) <= self._left:
            self._spend(len(data))
            return data
        self._note(f"media of {len(data):,} bytes left out", "")
        return None

    def object(self, value: dict[str, Any], what: str) -> dict[str, Any]:
        """Return a copy of a JSON object.

        Raises:
            AgentError: as for `value`.
        """
        result = self.own(value, what) if type(value) is dict else self.value(value, what)
        copied: dict[str, Any] = result.copy() if result is value else result
        return copied

    def own(self, value: dict[str, Any], what: str) -> dict[str, Any]:
        """Do what `object` does for a dict that no other code refers to: return it if it is flat and within the limits."""
        if 0 <= (size := flat_size(value)) <= self._most:
            self._left = left = self._left - size  # as `_spend`, without the call
            if left < self._most:
                self._spend(0)
            return value
        copied: dict[str, Any] = self.value(value, what)
        return copied

    def value(self, value: Any, what: str, _depth: int = 0) -> Any:
        """Return a copy of a JSON value; tuples and sets become lists, NaN and Infinity become text.

        Texts and numbers of subclasses become plain ones: such a class may compare equal to anything.

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
        raise AgentError(f"{safe_repr(value)} in a tool argument, tool response or state value is not JSON")

    def _items(self, mapping: dict[Any, Any], what: str, depth: int) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in mapping.items():
            if self._left <= 0:
                return {**copied, "…": self._cut_off(len(mapping), "keys", what)}
            name = self.text(str.__str__(key) if isinstance(key, str) else str(key), what)
            copied[name] = self.value(item, what, depth + 1)
        return copied

    def _elements(self, items: Collection[Any], what: str, depth: int) -> list[Any]:
        copied: list[Any] = []
        for item in items:
            if self._left <= 0:
                return [*copied, self._cut_off(len(items), "elements", what)]
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

    def _cut_text(self, text: str, size: int, what: str) -> str:
        most = self._most
        if size <= most and _is_readable(text):
            self._spend(size)
            return text
        mark = "" if size <= most else f"… [cut: {size:,} characters in all]"
        clean_text, unreadable = _UNREADABLE.subn(
            "\ufffd", text[: max(most - len(mark), 0)] if mark else text
        )
        self._spend(len(clean_text) + len(mark))
        if unreadable:
            self._note_unreadable(unreadable, what)
        if mark:
            self._note(f"text of {size:,} characters cut to {most:,}", what)
        return clean_text + mark

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
            self.notes.append("and further notes of this kind")


def _is_readable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return "\0" not in text


_LOSSES = (" cut to ", " left out", " has no room for all")


def first_loss(notes: Sequence[str]) -> str:
    """Return the first of a trial's notes about missing evidence; empty if the evidence is complete.

    Replaced characters and NaN do not count: such evidence can be scored.
    """
    return next((note for note in notes if any(loss in note for loss in _LOSSES)), "")


# --- Spans: limited, without secrets. No score depends on them --------------------------------------------------------


_CAPS = TurnCaps(max_text=MAX_SPAN_TEXT)
_MOST_ATTRIBUTES = 200
_DEEPEST = 10
"""Levels of an attribute; OpenTelemetry has lists of plain values only."""
_IDS = ("id", "trace_id", "parent_id")
_HEX = re.compile(r"[0-9a-fA-F]{1,32}")
"""An id of OpenTelemetry, which needs no limits."""
_BOUNDS = {"started_at": 1e11, "duration": 1e9, "input_tokens": 1e15, "output_tokens": 1e15}
"""The largest plausible times and counts; a value beyond them or below 0 is dropped."""
_SHOWN = 2_000
"""Characters of a value that is not JSON."""
_LEAST = 1_000
"""Characters that every text has room for, and that a secret may have."""
_TEXTS = (*_IDS, "name", "agent", "error", "call_id", "request", "response")


def trace_of(raw_spans: object) -> TurnTrace:
    """Return the limited spans of a turn; the notes name spans that cannot be kept.

    The first 1,000 are kept, of each at most 200 attributes. A text has at most `MAX_SPAN_TEXT` characters.
    """
    trace = TurnTrace()
    if not isinstance(raw_spans, Iterable):
        trace.notes.append(f"expected a list of spans, got {type(raw_spans).__name__}")
        return trace
    try:
        _limit_spans(raw_spans, trace)
    except Exception as error:  # noqa: BLE001 - spans of an adapter are no reason to lose a turn
        trace.notes.append(f"the rest of the spans cannot be read: {hide_secrets(safe_str(error))[:200]}")
    return trace


def _limit_spans(raw_spans: Iterable[object], trace: TurnTrace) -> None:
    keeper, spans = _SpanLimiter(trace.notes), iter(raw_spans)
    for span in islice(spans, MAX_SPANS):
        try:
            trace.spans.append(keeper.limit_span(Span.model_validate(span)))
        except (AgentError, ValidationError) as error:
            trace.left_out += 1
            _note(trace.notes, f"a span cannot be kept: {_reason(error)}")
    trace.left_out += sum(1 for _ in spans)


def _note(notes: list[str], note: str) -> None:
    if len(notes) <= MOST_NOTES:
        notes.append(note)


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
    return str(error)


class _SpanLimiter:
    """Limits the spans of one turn."""

    def __init__(self, notes: list[str]) -> None:
        self._intake = EvidenceLimiter(_CAPS, notes)
        self._intake.begin("spans")
        self._notes = notes
        self._hidden = secret_hider()
        self._names: dict[str, tuple[str, bool]] = {}
        """Name of an attribute -> the name without secrets, and whether its value is a secret."""

    def limit_span(self, span: Span) -> Span:
        """Return a limited copy of a span.

        Raises:
            AgentError: an attribute is a number with too many digits.
        """
        texts = {
            name: self._text(text, f"{name} of a span: ")
            for name in _TEXTS
            if (text := getattr(span, name)) and not (name in _IDS and _HEX.fullmatch(text))
        }
        beyond = {name: None for name, most in _BOUNDS.items() if not self._is_sane(span, name, most)}
        return span.model_copy(update={**texts, **beyond, "attributes": self._attributes(span.attributes)})

    def _is_sane(self, span: Span, name: str, most: float) -> bool:
        value = getattr(span, name)
        if value is None or 0 <= value <= most:
            return True
        _note(self._notes, f"{name} of a span: below 0 or beyond reason, and not kept")
        return False

    def _attributes(self, attributes: dict[str, Any]) -> dict[str, Any]:
        if attributes and self._intake.remaining <= 0:
            return {"…": f"{len(attributes):,} attributes, for which there was no room"}
        result = {}
        for raw_name, value in islice(attributes.items(), _MOST_ATTRIBUTES):
            name, secret = self._attribute_name(raw_name)
            result[name] = self._value(value, secret=secret)
        if (more := len(attributes) - _MOST_ATTRIBUTES) > 0:
            result["…"] = f"{more:,} more attributes"
        return self._intake.object(result, "attributes of a span: ")

    def _attribute_name(self, name: str) -> tuple[str, bool]:
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self._safe(name), names_secret(name)
        return known

    def _text(self, text: str, what: str) -> str:
        return self._intake.text(self._safe(text), what)

    def _safe(self, text: str) -> str:
        """Return a text without secrets; only the part that may be kept, and a little more, is searched for them."""
        head = max(min(self._intake.remaining, MAX_SPAN_TEXT), _LEAST) + _LEAST
        known = self._hidden(text[:head])
        return known.ljust(len(known) + len(text) - head)

    def _value(self, value: object, depth: int = 0, *, secret: bool = False) -> Any:
        """Return a value without secrets: texts of known shapes, and all values below the name of a secret."""
        if isinstance(value, dict | list | tuple) and depth <= _DEEPEST:
            return self._limit_nested(value, depth + 1, secret=secret)
        if value is None or isinstance(value, bool):
            return value
        if secret and value != "":
            return HIDDEN
        if isinstance(value, str):
            return self._safe(value)
        return value if isinstance(value, int | float) else self._safe(safe_repr(value, _SHOWN))

    def _limit_nested(self, value: Any, depth: int, *, secret: bool) -> Any:
        if not isinstance(value, dict):
            return [self._value(item, depth, secret=secret) for item in value]
        result = {}
        for key, item in value.items():
            name, is_secret = self._attribute_name(str(key))
            result[name] = self._value(item, depth, secret=secret or is_secret)
        return result
