"""Spans made fit to be kept: bounded, without secrets, readable by everyone. Nothing that is judged depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from pydantic import ValidationError

from proctor.bounds import MAX_SPAN_TEXT, MAX_SPANS
from proctor.causes import safe_repr
from proctor.engine.intake import MOST_NOTES, Caps, Intake
from proctor.errors import AgentError
from proctor.redaction import HIDDEN, names_secret, secrets_hidden
from proctor.schema.span import Span, TurnTrace

_CAPS = Caps(max_text=MAX_SPAN_TEXT)
_MOST_ATTRIBUTES = 200
_DEEPEST = 10
"""Levels of an attribute; OpenTelemetry knows lists of plain values."""
_IDS = ("id", "trace_id", "parent_id")
_ID = 64
"""Characters of an id that needs no second look: OpenTelemetry's have 32."""
_LEAST = 1_000
"""Characters that every text has room for, and that a secret may have."""
_TEXTS = (*_IDS, "name", "agent", "error", "call_id", "request", "response")


def trace_of(given: object) -> TurnTrace:
    """Return the spans of a turn as they are kept; what cannot be kept is told in the notes.

    The first 1,000 are kept, of each at most 200 attributes. A text has at most `MAX_SPAN_TEXT` characters.
    """
    trace = TurnTrace()
    if not isinstance(given, Iterable):
        trace.notes.append(f"expected a list of spans, got {safe_repr(given)}")
        return trace
    keeper, spans = _Keeper(trace.notes), iter(given)
    for one in islice(spans, MAX_SPANS):
        try:
            trace.spans.append(keeper.kept(Span.model_validate(one)))
        except (AgentError, ValidationError) as error:
            trace.left_out += 1
            if len(trace.notes) <= MOST_NOTES:
                trace.notes.append(f"a span cannot be kept: {_reason(error)}")
    trace.left_out += sum(1 for _ in spans)
    return trace


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
    return str(error)


class _Keeper:
    """Makes the spans of one turn fit to be kept."""

    def __init__(self, notes: list[str]) -> None:
        self._intake = Intake(_CAPS, notes)
        self._intake.begin("spans")
        self._hidden = secrets_hidden()

    def kept(self, given: Span) -> Span:
        """Return what is kept of a span.

        Raises:
            AgentError: an attribute is a number without end.
        """
        said = {
            name: self._text(text, f"{name} of a span: ")
            for name in _TEXTS
            if (text := getattr(given, name)) and not (name in _IDS and len(text) <= _ID and text.isalnum())
        }
        return given.model_copy(update={**said, "attributes": self._attributes(given.attributes)})

    def _attributes(self, given: dict[str, Any]) -> dict[str, Any]:
        if given and self._intake.left <= 0:
            return {"…": f"{len(given):,} attributes, for which there was no room"}
        told = {name: self._value(name, value) for name, value in islice(given.items(), _MOST_ATTRIBUTES)}
        if (more := len(given) - _MOST_ATTRIBUTES) > 0:
            told["…"] = f"{more:,} more attributes"
        return self._intake.object(told, "attributes of a span: ")

    def _text(self, text: str, what: str) -> str:
        return self._intake.text(self._safe(text), what)

    def _safe(self, text: str) -> str:
        """A text without secrets; of one that will be cut only what may be kept, and a bit more, is looked through."""
        head = max(min(self._intake.left, MAX_SPAN_TEXT), _LEAST) + _LEAST
        known = self._hidden(text[:head])
        return known.ljust(len(known) + len(text) - head)

    def _value(self, name: str, value: Any, depth: int = 0) -> Any:
        """A value of an attribute without secrets: those that its name tells, and those of known shapes."""
        if isinstance(value, str):
            return HIDDEN if value and names_secret(name) else self._safe(value)
        if depth > _DEEPEST:
            return safe_repr(value)
        if isinstance(value, list | tuple):
            return [self._value(name, one, depth + 1) for one in value]
        if isinstance(value, dict):
            return {key: self._value(str(key), one, depth + 1) for key, one in value.items()}
        return value if value is None or isinstance(value, int | float) else safe_repr(value)
