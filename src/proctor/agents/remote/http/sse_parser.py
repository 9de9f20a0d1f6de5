"""Server-sent events (text/event-stream of the HTML standard, 9.2), read from bytes as they come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["EventTooLargeError", "ServerEvent", "StreamReader"]

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its `data` lines joined with line feeds, and its name (`message` by default)."""

    data: str
    name: str = "message"


class EventTooLargeError(ValueError):
    """One event, or one line, is larger than allowed."""


class StreamReader:
    """Takes chunks of bytes, cut anywhere, and returns their events.

    Lines end with LF, CR or CR LF. Comments, `id` and `retry` are ignored, and so are events without data except `error`. What has
    no blank line after it is incomplete: see `is_unfinished`. Bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self, max_event: int) -> None:
        """Take the most bytes that one event may have."""
        self._max = max_event
        self._line = bytearray()
        self._size = 0
        """Bytes of the event so far, those of the line that has not ended included."""
        self._data: list[str] = []
        self._name = ""
        self._after_cr = False
        self._at_start = True

    @property
    def is_unfinished(self) -> bool:
        """Whether something has come that would belong to an event, and no blank line after it."""
        return bool(self._line or self._data)

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Give the events that `chunk` completes.

        Raises:
            EventTooLargeError: the event that is under way has become larger than allowed.
        """
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        for line in chunk.splitlines(keepends=True):
            self._size += len(line)
            if self._size > self._max:
                raise EventTooLargeError
            if not line.endswith((b"\n", b"\r")):
                self._line += line
                return
            whole = bytes(self._line + line.rstrip(b"\r\n")) if self._line else line.rstrip(b"\r\n")
            self._line.clear()
            if (event := self._take(whole)) is not None:
                yield event

    def _take(self, line: bytes) -> ServerEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value.decode(errors="replace"))
        elif field == b"event":
            self._name = value.decode(errors="replace")
        elif not self._data and not self._name:
            self._size = 0  # comments and the like keep a stream alive for hours, and are kept nowhere
        return None

    def _dispatch(self) -> ServerEvent | None:
        is_one = (
            self._data or self._name == "error"
        )  # by the standard none without data; but no failure is passed over
        event = ServerEvent("\n".join(self._data), self._name or "message") if is_one else None
        self._data.clear()
        self._name, self._size = "", 0
        return event
