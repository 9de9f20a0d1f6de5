"""Spans made fit to be kept: bounded, without secrets, readable by everyone. Nothing that is judged depends on them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from pydantic import ValidationError

from proctor.bounds import MAX_SPAN_TEXT, MAX_SPANS, MAX_TEXT
from proctor.causes import safe_repr
from proctor.engine.intake import Caps, Intake
from proctor.errors import AgentError
from proctor.redaction import HIDDEN, names_secret, without_secrets
from proctor.schema.span import Span, TurnTrace

_CAPS = Caps(max_text=MAX_SPAN_TEXT)
_MOST_ATTRIBUTES = 200
_DEEPEST = 10
"""Levels of an attribute; OpenTelemetry knows lists of plain values."""
_TEXTS = (
    "id",
    "trace_id",
    "parent_id",
    "name",
    "agent",
    "error",
    "call_id",
    "request",
    "response",
)


def trace_of(given: object) -> TurnTrace:
    """Return the spans of a turn as they are kept; what cannot be kept is told in the notes.

    The first 1,000 are kept, of each at most 200 attributes. A text has at most `MAX_SPAN_TEXT` characters.
    """
    trace = TurnTrace()
    intake = Intake(_CAPS, trace.notes)
    intake.begin("spans")
    if not isinstance(given, Iterable):
        trace.notes.append(f"expected a list of spans, got {safe_repr(given)}")
        return trace
    spans = iter(given)
    for one in islice(spans, MAX_SPANS):
        try:
            trace.spans.append(_kept(Span.model_validate(one), intake))
        except (AgentError, ValidationError) as error:
            trace.left_out += 1
            trace.notes.append(f"a span cannot be kept: {_reason(error)}")
    trace.left_out += sum(1 for _ in spans)
    return trace


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
    return str(error)


def _kept(given: Span, intake: Intake) -> Span:
    span = given.model_copy()
    for name in _TEXTS:
        if (text := getattr(given, name)) is not None:
            setattr(span, name, _text(text, intake, f"{name} of a span: "))
    listed = list(given.attributes.items())
    told = {name: _without(name, value) for name, value in listed[:_MOST_ATTRIBUTES]}
    if (more := len(listed) - _MOST_ATTRIBUTES) > 0:
        told["…"] = f"{more:,} more attributes"
    span.attributes = intake.object(told, "attributes of a span: ")
    return span


def _text(text: str, intake: Intake, what: str) -> str:
    """A text without secrets, and cut; of an endless one only the beginning is looked through, as no more of it is kept."""
    known = without_secrets(text[:MAX_TEXT])
    return intake.text(known.ljust(len(known) + len(text) - MAX_TEXT), what)


def _without(name: str, value: Any, depth: int = 0) -> Any:
    """A value of an attribute without secrets: those that its name tells, and those of known shapes."""
    if isinstance(value, str):
        return HIDDEN if value and names_secret(name) else without_secrets(value[:MAX_TEXT])
    if depth > _DEEPEST:
        return safe_repr(value)
    if isinstance(value, list | tuple):
        return [_without(name, one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {key: _without(str(key), one, depth + 1) for key, one in value.items()}
    return value if value is None or isinstance(value, int | float) else safe_repr(value)
