"""What a process writes: lines of bounded length, one after the other, and the last words of its standard error."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from proctor.common.secrets import redact_values

MOST_LINE = 2**25
"""Bytes of one line. All texts of a turn may have 8 MiB by default, and JSON writes a character in up to four bytes."""

_MOST_WAITING = 2**20  # bytes of complete lines that are not read yet
_TAIL = 4_096


class LineTooLongError(Exception):
    """A line has more than `MOST_LINE` bytes; the rest of it is not read."""

    def __init__(self, beginning: bytes) -> None:
        super().__init__()
        self.beginning = beginning


class Lines(asyncio.Protocol):
    """Takes a pipe apart into lines. A writer that is faster than its reader has to wait."""

    def __init__(self, most: int = MOST_LINE) -> None:
        """Take how many bytes one line may have."""
        self._most = most
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._waiting = 0
        self._transport: asyncio.ReadTransport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._paused = self._ended = self._too_long = False

    @property
    def unread(self) -> bytes:
        """The first unexpected line, complete or not."""
        return self._lines[0] if self._lines else bytes(self._rest)

    @property
    def has_ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._ended

    async def next(self) -> bytes | None:
        """Return the next line without its end; `None` at the end. An incomplete last line is dropped.

        Raises:
            LineTooLongError: it is longer than a line may be.
        """
        while not self._lines:
            if self._too_long:
                raise LineTooLongError(bytes(self._rest[:1_000]))
            if self._ended:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        line = self._lines.popleft()
        self._waiting -= len(line)
        if self._paused and self._waiting < _MOST_WAITING and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return line

    def close(self) -> None:
        """Read no more."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read."""
        assert isinstance(transport, asyncio.ReadTransport)  # noqa: S101 - as asyncio documents
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Receive data."""
        self._rest += data
        if b"\n" in data:
            *whole, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
            self._lines.extend(line for line in whole if line.strip())  # empty lines are ignored
            self._waiting += sum(map(len, whole))
        if len(self._rest) > self._most:
            self._too_long = True
        if self._too_long or self._waiting > _MOST_WAITING:
            self._pause()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing will come any more."""
        self._transport = None
        self.end()

    def end(self) -> None:
        """Stop waiting for further data."""
        self._ended = True
        self._wake()

    def _pause(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Tail(asyncio.Protocol):
    """Keeps the last text that is written to it."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        """Take the secrets to hide."""
        self._kept = bytearray()
        self._secrets = secrets
        self._is_cut = False
        self._transport: asyncio.BaseTransport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when nothing will come any more."""

    def forget(self) -> None:
        """Clear it: the content belongs to another conversation."""
        self._kept.clear()
        self._is_cut = False

    def text(self, most_lines: int = 10) -> str:
        """Return the last lines."""
        text = self._kept.decode("utf-8", "replace")
        if self._is_cut:
            text = _without_rest_of(text, self._secrets)
        lines = redact_values(text, self._secrets).strip().splitlines()
        return "\n".join(lines[-most_lines:])

    def close(self) -> None:
        """Read no more."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Receive data."""
        self._kept += data
        self._is_cut = self._is_cut or len(self._kept) > _TAIL
        del self._kept[:-_TAIL]

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing will come any more."""
        self._transport = None
        if not self.ended.done():
            self.ended.set_result(None)


def _without_rest_of(text: str, secrets: Sequence[str]) -> str:
    """Return a text that begins somewhere, without the rest of a secret that was cut there."""
    rests = (secret[start:] for secret in secrets for start in range(1, len(secret)))
    longest = max((rest for rest in rests if text.startswith(rest)), key=len, default="")
    return text.removeprefix(longest)
