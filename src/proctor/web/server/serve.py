"""Serving the application until somebody ends it: connections with bounds, and an end that waits for nobody for long."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST_CONNECTIONS = 1_000
"""At once; what comes beyond is told to come back."""
MOST_HEADERS = 64 * 1024
"""Bytes of a request before its body."""
HEADERS_WITHIN = 15.0
"""Seconds that a client may take to send a request's headers, from its first byte on; as long for a new connection."""
READ_WITHIN = 60.0
"""Seconds that a client may leave what it is sent unread."""
GRACE = 1
"""Seconds that clients have to finish once the server is to end."""


class BoundedProtocol(H11Protocol):
    """A connection that lets go of clients that send headers byte by byte, or read nothing."""

    _headers_due: asyncio.TimerHandle | None = None
    _read_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Take what came; while no request is under way it belongs to the headers of the next one."""
        super().data_received(data)
        if not _is_idle(self.cycle):
            self._headers_due = _cancel(self._headers_due)
        elif self._headers_due is None and self.transport.get_protocol() is self:
            self._wait_for_headers()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """The headers are here; a web socket may be silent for as long as it likes, and is pinged."""
        self._headers_due = _cancel(self._headers_due)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """The next request may have come in part already."""
        super().on_response_complete()
        if _is_idle(self.cycle) and self._headers_due is None and self.conn.trailing_data[0]:
            self._wait_for_headers()

    def pause_writing(self) -> None:
        """The client is slow: from now on it has a time."""
        super().pause_writing()
        self._read_due = self._read_due or self.loop.call_later(READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read."""
        super().resume_writing()
        self._read_due = _cancel(self._read_due)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the times."""
        self._headers_due, self._read_due = _cancel(self._headers_due), _cancel(self._read_due)
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        self._headers_due = self.loop.call_later(HEADERS_WITHIN, self._too_slow)

    def _too_slow(self) -> None:
        self._headers_due = None
        if _is_idle(self.cycle):
            self.transport.abort()


def _is_idle(cycle: RequestResponseCycle | None) -> bool:
    return cycle is None or cycle.response_complete


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Return nothing, which is what is left of a timer."""
    if timer is not None:
        timer.cancel()
    return None


class PageServer(uvicorn.Server):
    """Ends by a signal as by a word: that is how a server is ended, and no failure. `should_exit = True` ends it, too."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Hear of SIGINT and SIGTERM; only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._handle_signal) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def server_of(app: FastAPI) -> PageServer:
    """Return what serves `app`, with its bounds; `run(sockets=[...])` does it."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # its words at the end are not for users
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="websockets-sansio",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=MOST_HEADERS,
        backlog=1024,
    )
    return PageServer(config)
