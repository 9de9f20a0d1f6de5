"""Server-sent events to clients that may be slow or may disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

PATIENCE = 20.0
"""Seconds that a client may take to accept a chunk; a slower one is disconnected, and may reconnect."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


def event(name: str, data: bytes, place: str) -> bytes:
    """Return one event; `data`: JSON in one line; `place`: its id, which a client sends back as `Last-Event-ID`."""
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (place.encode(), name.encode(), data)


def number_in(place: str) -> int:
    """Return the number in a `Last-Event-ID`; 0 if it is not one."""
    return int(place) if len(place) < 16 and place.isdecimal() else 0


COMMENT = b": still here\n\n"
"""Keeps proxies between server and client from closing a silent connection."""


class EventResponse(Response):  # type: ignore[misc]  # starlette is optional, and not followed by mypy
    """A response (an ASGI application) that sends the chunks of an iterator.

    Unlike a plain stream it stops as soon as the client disconnects, and it disconnects a client that does not read. A chunk
    waits until the previous one is sent, so at most one is in memory per client.
    """

    media_type = "text/event-stream"

    def __init__(
        self, chunks: AsyncIterator[bytes], status_code: int = 200, *, patience: float = PATIENCE
    ) -> None:
        """`chunks` is closed (`aclose`) at the end in any case; FastAPI needs `status_code` to describe a route."""
        super().__init__(status_code=status_code)
        self._chunks, self._patience = chunks, patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the chunks end or the client disconnects."""
        del scope
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(wait_for_disconnect(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            with suppress(BaseException):
                await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        try:
            await self._send_message(
                send, {"type": "http.response.start", "status": 200, "headers": _HEADERS}
            )
            async for chunk in self._chunks:
                await self._send_message(
                    send, {"type": "http.response.body", "body": chunk, "more_body": True}
                )
            await self._send_message(send, {"type": "http.response.body", "body": b"", "more_body": False})
        except (TimeoutError, OSError):  # too slow, or disconnected
            return
        finally:
            if (close := getattr(self._chunks, "aclose", None)) is not None:
                await close()

    async def _send_message(self, send: Send, message: Message) -> None:
        async with asyncio.timeout(self._patience):  # `wait_for` of Python 3.11 may lose a cancellation
            await send(message)


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client disconnects, after its request was read."""
    while (await receive())["type"] != "http.disconnect":
        pass
