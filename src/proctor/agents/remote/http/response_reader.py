"""An answer of an agent's server, read within bounds: as JSON, as an event stream, as bytes."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from proctor.agents.remote.http.address import Address
from proctor.agents.remote.http.errors import broke, excerpt, from_httpx, truncation_error
from proctor.common.error_text import safe_repr
from proctor.errors import AgentError, AgentTruncatedError

if TYPE_CHECKING:
    import httpx

    from proctor.common.json_values import Json

T = TypeVar("T")


JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one answer may be, and how long nothing may happen. The turn's deadline is the engine's, and shorter."""

    max_body: int = 64 * 2**20
    """Bytes of one answer, unpacked; those of a stream all together."""
    max_piece: int = 32 * 2**20
    """Bytes of one JSON document, and of one event of a stream."""
    connect: float = 10.0
    """Seconds to connect."""
    silence: float = 600.0
    """Seconds between one byte and the next."""
    longest: float = 3600.0
    """Seconds that one answer may take, however steadily it trickles."""
    patience: float = 60.0
    """Seconds that one request waits in total because the server asks to (429, 503)."""


class HttpResponse:
    """An answer with its head. Its body is read once, by one of `json`, `events` and `chunks`."""

    __slots__ = ("_address", "_bounds", "_response", "content_type", "headers", "status")

    def __init__(self, response: httpx.Response, address: Address, bounds: Bounds) -> None:
        """Take the response of httpx; created by `HttpClient.send`."""
        self._response = response
        self._address = address
        self._bounds = bounds
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        """Case does not matter in their names."""
        self.content_type: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_stream(self) -> bool:
        """Whether it is an event stream."""
        return self.content_type == EVENTS

    async def json(self) -> Json:
        """Read the whole answer as JSON; `None` if it is empty.

        Raises:
            AgentError: it is not JSON, too large, or incomplete.
        """
        body = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > self._bounds.max_piece:
                    raise self._too_large("JSON", self._bounds.max_piece)
        if not body.strip():
            return None
        try:
            value: Json = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self.not_understood(bytes(body), error) from None
        return value

    async def answer(self) -> Json:
        """Read it as `json`, as evidence: without secrets of the address that the server repeats."""
        return self.hide(await self.json())

    def hide(self, value: T) -> T:
        """Return text of the server without the secrets of its address."""
        return self._address.hide_in_answer(value)

    async def events(self) -> AsyncGenerator[ServerEvent, None]:
        """Read it as an event stream, one event as soon as it has come.

        Raises:
            AgentError: it is none, has too much in it, or broke off.
        """
        if not self.is_stream:
            async with aclosing(self.chunks()) as chunks:
                beginning = await anext(chunks, b"")
            raise self.not_understood(beginning, None)
        reader = StreamReader(self._bounds.max_piece)
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                try:
                    for event in reader.feed(chunk):
                        yield event
                except EventTooLargeError:
                    raise self._too_large("an event", self._bounds.max_piece) from None
        if reader.is_unfinished:
            raise self.truncation_error(
                "ended its stream within an event (the last one has no blank line after it)"
            )

    def data_of(self, event: ServerEvent) -> Json:
        """Read the data of one of its events as JSON, without secrets of the address.

        Raises:
            AgentError: it is none.
        """
        try:
            data: Json = json.loads(event.data)
            return self.hide(data)
        except (ValueError, RecursionError):
            raise self.broke(f"sent an event that is not JSON: {safe_repr(event.data)}") from None

    async def wait_for_stream_end(self, events: AsyncIterator[ServerEvent]) -> None:
        """Wait briefly for the end of a stream after its last event, so that its connection can be reused.

        The answer is complete, even if the server leaves the stream open or breaks it off.

        Raises:
            AgentError: there was more.
        """
        with suppress(TimeoutError, AgentTruncatedError):
            async with asyncio.timeout(_AFTER_THE_LAST):
                async for event in events:
                    raise self.broke(f"sent an event behind its last one: {safe_repr(event.data)}")

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Read it as bytes, unpacked, as they come.

        Raises:
            AgentError: it is packed wrongly, too large, or broke off.
        """
        import httpx

        unpack = self._unpacking()
        room = self._bounds.max_body
        try:
            async with aclosing(aiter(self._response.stream)) as raw:
                async for packed in raw:
                    for chunk in (packed,) if unpack is None else self._decompress(unpack, packed):
                        room -= len(chunk)
                        if room < 0:
                            raise self._too_large("an answer", self._bounds.max_body)
                        yield chunk
        except httpx.HTTPError as error:
            raise from_httpx(error, self._address, answering=True) from None
        if unpack is not None and not unpack.eof:
            raise self.truncation_error("broke off in the middle of its packed answer")
        await self._reject_trailing_bytes()

    async def close(self) -> None:
        """End the answer: keep the connection if it was read to the end, otherwise close it."""
        await self._response.aclose()

    def truncation_error(self, what: str) -> AgentError:
        """Return the error for an answer that ended too early; `what` follows "the agent at …"."""
        return truncation_error(self._address, what)

    def broke(self, what: str) -> AgentError:
        """Return the error for an answer that violates the protocol; `what` follows "the agent at …"."""
        return broke(self._address, what)

    def not_understood(self, body: bytes, error: Exception | None) -> AgentError:
        """Return the error for a body of the wrong kind; `error` is the exception of its parser."""
        kind = (
            "an HTML page" if "html" in self.content_type else self.content_type or "a body of no stated type"
        )
        expected = "an event stream" if error is None else "JSON"
        why = (
            f" ({'nested too deep' if isinstance(error, RecursionError) else error})"
            if error is not None
            else ""
        )
        return self.broke(f"answered with {kind} where {expected} was expected{why}: {excerpt(body)}")

    def _too_large(self, what: str, most: int) -> AgentError:
        return self.broke(f"sends too much: more than {most:,} bytes in {what}")

    # --- compressed bodies, although the request excludes them

    def _unpacking(self) -> zlib._Decompress | None:
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        if encoding in {"identity", ""}:
            return None
        if encoding in {"gzip", "x-gzip"}:
            return zlib.decompressobj(wbits=31)
        if encoding == "deflate":
            return zlib.decompressobj()
        raise self.broke(
            f"packs its answer as {safe_repr(encoding)}; it was asked for none (Accept-Encoding: identity)"
        )

    def _decompress(self, unpack: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
        """Decompress in small steps, so that a decompression bomb is noticed early."""
        try:
            while packed:
                yield unpack.decompress(packed, _AT_ONCE)
                packed = unpack.unconsumed_tail
        except zlib.error as error:
            raise self.broke(f"declares a compressed answer, but it is not ({error})") from None

    async def _reject_trailing_bytes(self) -> None:
        """Reject bytes after the answer's end: the next trial would read them as its answer."""
        connection = self._response.stream
        for name in ("_stream", "_httpcore_stream", "_stream", "_connection"):
            connection = getattr(connection, name, None)
        behind = getattr(getattr(connection, "_h11_state", None), "trailing_data", (b"",))[0]
        if behind:
            await self._response.aclose()  # this returns the connection to the pool after it was closed
            await connection.aclose()
            raise self.broke(f"sent more behind the end of its answer: {excerpt(behind)}")


_AT_ONCE = 2**20
_AFTER_THE_LAST = 0.05
"""Seconds for a stream to end by itself."""


# --- Server-sent events (text/event-stream of the HTML standard, 9.2), read from bytes as they come -------------------


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
            if (event := self._add_line(whole)) is not None:
                yield event

    def _add_line(self, line: bytes) -> ServerEvent | None:
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
