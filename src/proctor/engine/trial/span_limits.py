"""Spans made fit to be kept: bounded, without secrets, readable by everyone. Nothing that is judged depends on them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from pydantic import ValidationError

from proctor.common.error_text import safe_repr, safe_str
from proctor.common.limits import MAX_SPAN_TEXT, MAX_SPANS
from proctor.common.secrets import HIDDEN, hide_secrets, names_secret, secret_hider
from proctor.engine.trial.evidence_limits import MOST_NOTES, Caps, Intake
from proctor.errors import AgentError
from proctor.schema.evidence.span import Span, TurnTrace

_CAPS = Caps(max_text=MAX_SPAN_TEXT)
_MOST_ATTRIBUTES = 200
_DEEPEST = 10
"""Levels of an attribute; OpenTelemetry knows lists of plain values."""
_IDS = ("id", "trace_id", "parent_id")
_HEX = re.compile(r"[0-9a-fA-F]{1,32}")
"""An id as OpenTelemetry's are, which needs no second look."""
_BOUNDS = {"started_at": 1e11, "duration": 1e9, "input_tokens": 1e15, "output_tokens": 1e15}
"""What a time or a count is at most; beyond it, or below 0, a clock was set meanwhile or nobody counted."""
_SHOWN = 2_000
"""Characters of what is no JSON; secrets in it are whole."""
_LEAST = 1_000
"""Characters that every text has room for, and that a secret may have."""
_TEXTS = (*_IDS, "name", "agent", "error", "call_id", "request", "response")


def trace_of(given: object) -> TurnTrace:
    """Return the spans of a turn as they are kept; what cannot be kept is told in the notes.

    The first 1,000 are kept, of each at most 200 attributes. A text has at most `MAX_SPAN_TEXT` characters.
    """
    trace = TurnTrace()
    if not isinstance(given, Iterable):
        trace.notes.append(f"expected a list of spans, got {type(given).__name__}")
        return trace
    try:
        _keep(given, trace)
    except Exception as error:  # noqa: BLE001 - whatever an adapter left there: its spans are no reason to lose a turn
        trace.notes.append(f"the rest of the spans cannot be read: {hide_secrets(safe_str(error))[:200]}")
    return trace


def _keep(given: Iterable[object], trace: TurnTrace) -> None:
    keeper, spans = _Keeper(trace.notes), iter(given)
    for one in islice(spans, MAX_SPANS):
        try:
            trace.spans.append(keeper.kept(Span.model_validate(one)))
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


class _Keeper:
    """Makes the spans of one turn fit to be kept."""

    def __init__(self, notes: list[str]) -> None:
        self._intake = Intake(_CAPS, notes)
        self._intake.begin("spans")
        self._notes = notes
        self._hidden = secret_hider()
        self._names: dict[str, tuple[str, bool]] = {}
        """Names of attributes, which come again and again: without secrets, and whether they tell of one."""

    def kept(self, given: Span) -> Span:
        """Return what is kept of a span.

        Raises:
            AgentError: an attribute is a number without end.
        """
        said = {
            name: self._text(text, f"{name} of a span: ")
            for name in _TEXTS
            if (text := getattr(given, name)) and not (name in _IDS and _HEX.fullmatch(text))
        }
        beyond = {name: None for name, most in _BOUNDS.items() if not self._is_sane(given, name, most)}
        return given.model_copy(update={**said, **beyond, "attributes": self._attributes(given.attributes)})

    def _is_sane(self, given: Span, name: str, most: float) -> bool:
        value = getattr(given, name)
        if value is None or 0 <= value <= most:
            return True
        _note(self._notes, f"{name} of a span: below 0 or beyond reason, and not kept")
        return False

    def _attributes(self, given: dict[str, Any]) -> dict[str, Any]:
        if given and self._intake.left <= 0:
            return {"…": f"{len(given):,} attributes, for which there was no room"}
        told = {}
        for given_name, value in islice(given.items(), _MOST_ATTRIBUTES):
            name, secret = self._named(given_name)
            told[name] = self._value(value, secret=secret)
        if (more := len(given) - _MOST_ATTRIBUTES) > 0:
            told["…"] = f"{more:,} more attributes"
        return self._intake.object(told, "attributes of a span: ")

    def _named(self, name: str) -> tuple[str, bool]:
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = self._safe(name), names_secret(name)
        return known

    def _text(self, text: str, what: str) -> str:
        return self._intake.text(self._safe(text), what)

    def _safe(self, text: str) -> str:
        """A text without secrets; of one that will be cut only what may be kept, and a bit more, is looked through."""
        head = max(min(self._intake.left, MAX_SPAN_TEXT), _LEAST) + _LEAST
        known = self._hidden(text[:head])
        return known.ljust(len(known) + len(text) - head)

    def _value(self, value: Any, depth: int = 0, *, secret: bool = False) -> Any:
        """A value of an attribute without secrets: those of known shapes, and all that a name says is one."""
        if isinstance(value, dict | list | tuple) and depth <= _DEEPEST:
            return self._inside(value, depth + 1, secret=secret)
        if value is None or isinstance(value, bool):
            return value
        if secret and value != "":
            return HIDDEN
        if isinstance(value, str):
            return self._safe(value)
        return value if isinstance(value, int | float) else self._safe(safe_repr(value, _SHOWN))

    def _inside(self, value: Any, depth: int, *, secret: bool) -> Any:
        if not isinstance(value, dict):
            return [self._value(one, depth, secret=secret) for one in value]
        told = {}
        for key, one in value.items():
            name, is_one = self._named(str(key))
            told[name] = self._value(one, depth, secret=secret or is_one)
        return told
