"""Spans of the last turns of all sessions of an app, as many as there is room for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from proctor.schema.evidence.span import Span

_MOST_CHARACTERS = 32 * 1024 * 1024
_OF_A_SPAN = 1_000
"""Characters that a span counts for besides its texts."""
_INVOCATION = "gcp.vertex.agent.invocation_id"

_Turn = tuple[str, str, str]
"""User, session, invocation."""


class KeptSpans:
    """What was traced, turn by turn; the oldest turns make room."""

    def __init__(self, most: int = _MOST_CHARACTERS) -> None:
        """Take how many characters the texts of all spans may have."""
        self._most, self._held = most, 0
        self._turns: OrderedDict[_Turn, list[Span]] = OrderedDict()

    def keep(self, user_id: str, session_id: str, invocation_id: str, spans: Sequence[Span]) -> None:
        """Keep the spans of a turn, behind those of the same invocation; without its id the spans say it, or nobody."""
        invocation_id = invocation_id or next(
            (str(span.attributes[_INVOCATION]) for span in spans if _INVOCATION in span.attributes), ""
        )
        if not spans or not invocation_id:
            return
        turn = user_id, session_id, invocation_id
        whole = [*self._turns.pop(turn, ()), *spans]
        self._turns[turn] = whole
        self._held += _size(spans)
        while self._held > self._most:
            self._held -= _size(self._turns.popitem(last=False)[1])

    def of(self, user_id: str, session_id: str) -> dict[str, Sequence[Span]]:
        """Return the spans of a session's turns by their invocations."""
        return {
            invocation: spans
            for (user, session, invocation), spans in self._turns.items()
            if (user, session) == (user_id, session_id)
        }

    def forget(self, user_id: str, session_id: str) -> None:
        """Forget a session."""
        for invocation in self.of(user_id, session_id):
            self._held -= _size(self._turns.pop((user_id, session_id, invocation)))


def _size(spans: Sequence[Span]) -> int:
    return sum(
        _OF_A_SPAN
        + len(span.request or "")
        + len(span.response or "")
        + len(span.error or "")
        + sum(len(value) for value in span.attributes.values() if isinstance(value, str))
        for span in spans
    )
