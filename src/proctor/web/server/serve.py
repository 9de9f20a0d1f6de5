"""The uvicorn server with limits: slow clients are disconnected, and shutdown waits for clients only briefly."""

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
"""The limit of concurrent connections; further ones receive 503."""
MOST_HEADERS = 64 * 1024
"""The most bytes of a request before its body."""
HEADERS_WITHIN = 15.0
"""Seconds that a client has to send a request's headers, from its first byte or from a new connection on."""
READ_WITHIN = 60.0
"""Seconds after which a client that does not read is disconnected."""
GRACE = 1
"""Seconds that clients have to finish when the server shuts down."""


class BoundedProtocol(H11Protocol):
    """A connection that ends if the client sends its headers too slowly, or does not read."""

    _headers_due: asyncio.TimerHandle | None = None
    _read_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Receive data, which belongs to the headers of the next request if no request is running."""
        super().data_received(data)
        if not _is_idle(self.cycle):
            self._headers_due = _cancel(self._headers_due)
        elif self._headers_due is None and self.transport.get_protocol() is self:
            self._wait_for_headers()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop waiting for headers: a web socket may be silent, and is pinged."""
        self._headers_due = _cancel(self._headers_due)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Start to wait again if a part of the next request has already arrived."""
        super().on_response_complete()
        if _is_idle(self.cycle) and self._headers_due is None and self.conn.trailing_data[0]:
            self._wait_for_headers()

    def pause_writing(self) -> None:
        """Start the time limit of a client that does not read."""
        super().pause_writing()
        self._read_due = self._read_due or self.loop.call_later(READ_WITHIN, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit: the client has read."""
        super().resume_writing()
        self._read_due = _cancel(self._read_due)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all time limits."""
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
    """Cancel a timer, and return `None` as its replacement."""
    if timer is not None:
        timer.cancel()
    return None


class PageServer(uvicorn.Server):
    """A server that ends normally on a signal, because that is how users stop it; `should_exit = True` ends it, too."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle SIGINT and SIGTERM; only the main thread can."""
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
    """Return the server of `app`, with its limits; `run(sockets=[...])` starts it."""
    logging.getLogger("uvicorn.error").setLevel(
        logging.CRITICAL
    )  # its messages on shutdown are not for users
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
