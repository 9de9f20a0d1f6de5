"""Receiver of traces from OTLP exporters: writes `POST /v1/traces` and `/v1/logs`, JSON or protobuf, to a file.

Only data about agents is written, not the headers of requests, which may contain secrets. Source: the OpenTelemetry protocol's
specification, OTLP/HTTP.
"""

from __future__ import annotations

import hmac
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proctor.common.network import is_loopback_ip
from proctor.errors import SetupError
from proctor.files.traces.otlp_json import LogRecord, keep_agent_attributes, spans_in
from proctor.runs.output_guard import OutputGuard
from proctor.runs.storage.open import default_store
from proctor.runs.traces.receiver_http import OtlpHandler

LISTEN = "127.0.0.1:4318"
"""The standard port of OTLP/HTTP, on this machine only."""

TOKEN = "PROCTOR_TRACE_TOKEN"  # noqa: S105 - the name of the variable, not a token
"""The variable with the token that exporters must send if other machines can reach the receiver."""

MOST_BODY = 16 << 20
"""The maximum size of a request in bytes, decompressed."""

MOST_CONNECTIONS = 128
"""The maximum number of connected clients; further clients are disconnected at once."""

_MOST_REASONS = 10

MOST_FILE = 1 << 30
"""The maximum size of the file in bytes."""


@dataclass(frozen=True, slots=True)
class Received:
    """The counts of received requests."""

    path: Path
    requests: int
    spans: int
    refused: int
    """Requests that were not accepted."""


class TraceReceiver:
    """An OTLP/HTTP endpoint that appends requests to a file, one per line. Use as a context manager.

    It listens on this machine only, unless `token` (or the variable PROCTOR_TRACE_TOKEN) is set: then exporters must send
    `Authorization: Bearer TOKEN`.

    Raises:
        SetupError: the address is invalid, in use, or reachable from other machines without a token; the file cannot be
            written.
    """

    def __init__(self, path: str | Path, listen: str = LISTEN, *, token: str | None = None) -> None:
        """Take the file and the address, `HOST:PORT`; port 0 selects a free port."""
        self._path = Path(path)
        OutputGuard(stores=[default_store()]).check(self._path, "traces")
        self._token = token or os.environ.get(TOKEN, "")
        self._host, port = _address(listen)
        if not _is_loopback(self._host) and not self._token:
            raise SetupError(
                f"{listen} can be reached from other machines: set {TOKEN} to a token that exporters must send "
                f"(OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20TOKEN), or listen on {LISTEN}"
            )
        self._lock, self._changed = threading.Lock(), threading.Condition()
        self._requests = self._spans = self._refused = 0
        self.reasons: list[str] = []
        """The reasons for refused requests, each once."""
        self._server = _bind_server(self._host, port, listen, self._handler())
        try:
            self._file = self._path.open("ab")
        except OSError as error:
            self._server.server_close()
            raise SetupError(f"{path}: {(error.strerror or str(error)).lower()}") from None

    @property
    def url(self) -> str:
        """The value of OTEL_EXPORTER_OTLP_ENDPOINT for exporters."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._server.server_address[1]}"

    @property
    def received(self) -> Received:
        """The counts so far."""
        return Received(self._path, self._requests, self._spans, self._refused)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening; accepted requests are in the file."""
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            self._file.close()

    def wait(
        self,
        *,
        count: int | None = None,
        seconds: float | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Received:
        """Wait until `count` requests were accepted, `seconds` have passed, or `stopped()` is true."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._changed:
            while not stopped() and (count is None or self._requests < count):
                left = 0.2 if end is None else min(0.2, end - time.monotonic())
                if left <= 0:
                    break
                self._changed.wait(left)
        return self.received

    def _handler(self) -> type[OtlpHandler]:
        receiver = self

        class Handler(OtlpHandler):
            most_body = MOST_BODY
            loopback_only = _is_loopback(receiver._host)

            def is_allowed(self, authorization: str) -> bool:
                return receiver.is_allowed(authorization)

            def take(self, request: dict[str, Any]) -> None:
                receiver.take(request)

            def record_refusal(self, why: str) -> None:
                receiver.record_refusal(why)

        return Handler

    def is_allowed(self, authorization: str) -> bool:
        """Return whether a request with this header is authorized."""
        expected = f"Bearer {self._token}"
        return not self._token or hmac.compare_digest(authorization.encode(), expected.encode())

    def take(self, request: dict[str, Any]) -> None:
        """Write a request to the file.

        Raises:
            Malformed: the request is not valid OTLP.
            OSError: the request cannot be written.
        """
        spans = sum(not isinstance(one, LogRecord) for one in spans_in(request))
        line = (
            json.dumps(keep_agent_attributes(request), ensure_ascii=True, separators=(",", ":")).encode()
            + b"\n"
        )
        with self._lock:
            if self._file.tell() + len(line) > MOST_FILE:
                raise OSError(f"the file has reached {MOST_FILE >> 20} MiB")
            self._file.write(line)
            self._file.flush()
        with self._changed:
            self._requests += 1
            self._spans += spans
            self._changed.notify_all()

    def record_refusal(self, why: str) -> None:
        """Count a refused request, and keep the reason."""
        with self._changed:
            self._refused += 1
            if len(self.reasons) < _MOST_REASONS and why not in self.reasons:
                self.reasons.append(why)


def _address(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (port.isascii() and port.isdigit() and int(port) < 1 << 16) or (colon and "/" in host):
        raise SetupError(f"{listen}: expected an address to listen on, HOST:PORT, such as {LISTEN}")
    return host, int(port)


def _is_loopback(host: str) -> bool:
    return host == "localhost" or is_loopback_ip(host)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[OtlpHandler]) -> None:
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a client in its own thread if the limit on clients allows it."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a client until it disconnects."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report nothing: a client that disconnects is not an error of the receiver."""


class _Server6(_Server):
    address_family = socket.AF_INET6


def _bind_server(host: str, port: int, listen: str, handler: type[OtlpHandler]) -> _Server:
    try:
        return (_Server6 if ":" in host else _Server)((host, port), handler)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SetupError(
            f"{listen} cannot be listened on: {why.lower()}; is another receiver at work?"
        ) from None


def receive_traces(
    path: str | Path,
    *,
    listen: str = LISTEN,
    count: int | None = None,
    seconds: float | None = None,
    token: str | None = None,
) -> Received:
    """Receive traces from OTLP exporters into a file until `count` requests were accepted or `seconds` have passed.

    Raises:
        SetupError: the address cannot be used, or the file cannot be written.
    """
    with TraceReceiver(path, listen, token=token) as receiver:
        return receiver.wait(count=count, seconds=seconds)
