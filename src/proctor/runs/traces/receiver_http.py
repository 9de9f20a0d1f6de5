"""Handler of OTLP/HTTP requests: reads each body within limits and passes it on."""

from __future__ import annotations

import base64
import socket
import zlib
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from threading import BoundedSemaphore, Timer
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import from_json

from proctor.common.optional_packages import import_extra
from proctor.errors import MissingExtraError
from proctor.files.traces.otlp_json import Malformed, is_request

_SECONDS = 30.0
"""Seconds in which a request must arrive, and for which a connection may be idle."""
_AT_ONCE = 32
"""Number of requests that are read at a time; further ones are asked to retry."""
_LONGEST_LINE = 1_000
_PATHS = {"/v1/traces": "trace", "/v1/logs": "logs"}
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1")


class RefusedRequest(Exception):  # noqa: N818 - a response, not an error of the program
    """The response to a request that is not accepted."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class OtlpHandler(BaseHTTPRequestHandler):
    """Handler of `POST /v1/traces` and `POST /v1/logs`. A subclass authorizes and processes the requests."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "proctor", ""
    timeout = _SECONDS
    most_body = 1 << 20
    loopback_only = True
    most_seconds = _SECONDS
    _room = BoundedSemaphore(_AT_ONCE)

    def is_allowed(self, authorization: str) -> bool:
        """Return whether a request with this header is authorized."""
        raise NotImplementedError

    def take(self, request: dict[str, Any]) -> None:
        """Process a request; raises `Malformed` or `OSError`."""
        raise NotImplementedError

    def record_refusal(self, why: str) -> None:
        """Record a request that was not accepted."""
        raise NotImplementedError

    def do_POST(self) -> None:
        """Process one request, or answer why it is refused."""
        if not self._room.acquire(blocking=False):
            self._answer(503, b"too many requests at once: try again", "text/plain")
            return
        try:
            self._receive_request()
        finally:
            self._room.release()

    def handle_one_request(self) -> None:
        """Read and answer one request, including its first line and headers, within the time limit."""
        patience = Timer(self.most_seconds, self._disconnect)  # a read's timeout restarts with each byte
        patience.daemon = True
        patience.start()
        try:
            super().handle_one_request()
        finally:
            patience.cancel()

    def _disconnect(self) -> None:
        """Disconnect a client that takes too long."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def do_GET(self) -> None:
        """Answer with a description of the endpoint."""
        self._answer(
            405, b"this takes POST /v1/traces and /v1/logs, as OTLP/HTTP exporters send them\n", "text/plain"
        )

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Log nothing: the receiver counts requests."""

    def _receive_request(self) -> None:
        kind = self.headers.get_content_type()
        try:
            self._check()
            body = self._unpacked(self._body())
            request = _parse_body(body, kind, _PATHS[self.path])
            self.take(request)
        except RefusedRequest as refused:
            self._refuse(refused.status, refused.message)
        except Malformed as error:
            self._refuse(400, f"{'.'.join(map(str, error.finding.path))}: {error.finding.message}")
        except MissingExtraError as error:
            self._refuse(
                415, f"{error}, or let the exporter send JSON: OTEL_EXPORTER_OTLP_PROTOCOL=http/json"
            )
        except OSError as error:
            self._refuse(503, str(error))
        else:
            is_json = kind == "application/json"
            self._answer(200, b"{}" if is_json else b"", kind)

    def _check(self) -> None:
        """Refuse requests to other paths or hosts, from web pages, or without authorization."""
        if self.path not in _PATHS:
            raise RefusedRequest(404, "there is /v1/traces and /v1/logs")
        host, origin = _host(f"//{self.headers.get('Host', '')}"), self.headers.get("Origin")
        if self.loopback_only and host not in _LOCAL:
            raise RefusedRequest(
                403, "this listens for this machine only, and the request names another host"
            )
        if origin is not None and _host(origin) not in _LOCAL:
            raise RefusedRequest(403, "pages of other origins are not listened to")
        if not self.is_allowed(self.headers.get("Authorization", "")):
            raise RefusedRequest(401, "expected the header Authorization: Bearer TOKEN")

    # --- the body -----------------------------------------------------------------------------------------------------

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise RefusedRequest(411, "expected Content-Length")
        if len(length) > 12 or int(length) > self.most_body:
            raise self._too_large()
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise RefusedRequest(400, "the body ended before its length")
        return body

    def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            size = self.rfile.readline(_LONGEST_LINE).split(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                raise RefusedRequest(400, "a chunk without a size") from None
            if length < 0 or len(body) + length > self.most_body:
                raise self._too_large()
            piece = self.rfile.read(length)
            self.rfile.readline(_LONGEST_LINE)
            if len(piece) < length:
                raise RefusedRequest(400, "the body ended within a chunk")
            if not length:
                return bytes(body)
            body += piece

    def _unpacked(self, body: bytes) -> bytes:
        encoding = self.headers.get("Content-Encoding", "identity").lower()
        if encoding == "identity":
            return body
        if encoding not in ("gzip", "deflate"):
            raise RefusedRequest(415, f"expected gzip, got {encoding!r}")
        unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            data = unpacker.decompress(body, self.most_body + 1)
        except zlib.error:
            raise RefusedRequest(400, "the body does not match its Content-Encoding") from None
        if len(data) > self.most_body:
            raise self._too_large()
        if not unpacker.eof:
            raise RefusedRequest(400, "the compressed body is cut off")
        if unpacker.unused_data:
            raise RefusedRequest(400, "there is data after the compressed body: send one request at a time")
        return data

    def _too_large(self) -> RefusedRequest:
        return RefusedRequest(
            413, f"at most {self.most_body >> 20} MiB at a time; let the exporter send smaller batches"
        )

    # --- the answer ---------------------------------------------------------------------------------------------------

    def _refuse(self, status: int, message: str) -> None:
        self.record_refusal(message)
        self.close_connection = True  # the rest of the body is not read
        self._answer(status, f"{message}\n".encode(errors="replace"), "text/plain")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)


def _host(url: str) -> str:
    """Return the host that a header names; empty if it names none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


# --- the content ------------------------------------------------------------------------------------------------------


def _parse_body(body: bytes, kind: str, signal: str) -> dict[str, Any]:
    if kind == "application/x-protobuf":
        return _json_of_protobuf(body, signal)
    if kind != "application/json":
        raise RefusedRequest(415, f"expected application/json or application/x-protobuf, got {kind!r}")
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise RefusedRequest(400, f"the body is not JSON: {error}") from None
    if value == {}:
        return {}
    if not is_request(value):
        raise RefusedRequest(400, "expected an object with `resourceSpans` (or `resourceLogs`)")
    request: dict[str, Any] = value
    return request


def _json_of_protobuf(body: bytes, signal: str) -> dict[str, Any]:
    """Return a request in protobuf as its JSON, with ids in hex.

    Raises:
        MissingExtraError: the package that reads protobuf is not installed.
    """
    name = f"opentelemetry.proto.collector.{signal}.v1.{signal}_service_pb2"
    messages = import_extra(name, extra="traces", feature="taking traces as protobuf")
    formats = import_extra("google.protobuf.json_format", extra="traces", feature="taking traces as protobuf")
    errors = import_extra("google.protobuf.message", extra="traces", feature="taking traces as protobuf")
    request = getattr(messages, f"Export{signal.capitalize()}ServiceRequest")()
    try:
        request.ParseFromString(body)
    except errors.DecodeError:
        raise RefusedRequest(400, "the body is not an OTLP request in protobuf") from None
    value: dict[str, Any] = formats.MessageToDict(request)
    _ids_in_hex(value)
    return value


def _ids_in_hex(value: Any) -> None:
    """Convert ids from base64, as in protobuf's JSON, to hex, as in OTLP's JSON."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            for key in ("traceId", "spanId", "parentSpanId"):
                if isinstance(one.get(key), str):
                    one[key] = base64.b64decode(one[key]).hex()
            waiting += one.values()
