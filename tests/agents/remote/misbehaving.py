"""A server on this machine that answers byte by byte under control of a test: for faults that no proper server has.

::

    with serving(lambda exchange: exchange.send(head(200, JSON) + b"{}")) as server:
        ... server.url, server.requests
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

CRLF = b"\r\n"


@dataclass
class Exchange:
    """One request, and the connection to answer on. It is closed when what answers returns `False`; these methods return whether it can go on."""

    number: int
    """From 0, over all connections."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    sock: socket.socket
    over: threading.Event
    """Set when the test is over: hanging answers wait for this."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def send(self, data: bytes) -> bool:
        self.sock.sendall(data)
        return True

    def reset(self) -> bool:
        """Close with RST instead of FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        return False

    def hang(self) -> bool:
        """Send nothing until the client closes the connection."""
        self.sock.settimeout(0.05)
        while not self.over.is_set():
            with suppress(TimeoutError):
                if not self.sock.recv(1):
                    break
        return False

    def trickle(self, data: bytes, seconds: float = 1.0) -> bool:
        """Send one byte, wait, the next."""
        for byte in data:
            self.send(bytes([byte]))
            if self.over.wait(seconds):
                return False
        return True

    def answer(
        self, body: bytes | Any, kind: str = "application/json", status: int = 200, **headers: str
    ) -> bool:
        """Answer properly."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send(head(status, kind, length=len(content), **headers) + content)
        return True


EVENT_STREAM = "text/event-stream"
Script = Callable[[Exchange], object]


def stream(*objects: Any) -> bytes:
    """Objects as the events of a stream."""
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in objects)


def streaming(*objects: Any) -> Script:
    """Answer properly, with a stream."""
    return lambda exchange: exchange.answer(stream(*objects), EVENT_STREAM)


def closing(*data: bytes) -> Script:
    """Send this, and close the connection."""

    def run(exchange: Exchange) -> bool:
        for one in data:
            exchange.send(one)
        return False

    return run


def resetting(*data: bytes) -> Script:
    """Send this, and reset the connection."""

    def run(exchange: Exchange) -> None:
        for one in data:
            exchange.send(one)
        exchange.reset()

    return run


def head(status: int, kind: str = "", *, length: int | None = None, **headers: str) -> bytes:
    """The head of an answer; `length=None`: it lasts until the connection ends. `_` in a header's name is `-`."""
    fields = {"Content-Type": kind} if kind else {}
    if length is not None:
        fields["Content-Length"] = str(length)
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@cache
def gzip_bomb() -> bytes:
    """Return 80 MB of blanks, packed: more than a client reads."""
    return gzip.compress(b" " * 80_000_000, 1)


def chunk(data: bytes) -> bytes:
    """One chunk of a body with `Transfer_Encoding="chunked"`; an empty one ends it."""
    return f"{len(data):x}".encode() + CRLF + data + CRLF


@dataclass
class Server:
    """A running one."""

    port: int
    script: Script
    tls: ssl.SSLContext | None = None
    requests: list[Exchange] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def all_closed(self, within: float = 30.0) -> bool:
        """Whether every client has let go within that time."""
        until = time.monotonic() + within
        while self.open_connections and time.monotonic() < until:
            time.sleep(0.01)
        return not self.open_connections

    def _connection(self, sock: socket.socket) -> None:
        self.connections += 1
        self.open_connections += 1
        try:
            with suppress(OSError), sock, self._dressed(sock) as spoken:
                while (exchange := self._read(spoken)) is not None:
                    self.requests.append(exchange)
                    if self.script(exchange) is False:
                        break
                    if exchange.sock.fileno() < 0:
                        break
        finally:
            self.open_connections -= 1

    def _dressed(self, sock: socket.socket) -> socket.socket:
        return sock if self.tls is None else self.tls.wrap_socket(sock, server_side=True)

    def _read(self, sock: socket.socket) -> Exchange | None:
        data = b""
        while b"\r\n\r\n" not in data:
            came = sock.recv(65536)
            if not came:
                return None
            data += came
            if data[:1] == b"\x16":  # the client speaks TLS
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return None
        top, _, body = data.partition(b"\r\n\r\n")
        first, *lines = top.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(body) < length:
            body += sock.recv(65536)
        return Exchange(len(self.requests), method, path, headers, body, sock, self.over)


@contextmanager
def serving(script: Script, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Run a server that answers every request by `script`, each connection in a separate thread."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    server = Server(listening.getsockname()[1], script, tls)

    def accept() -> None:
        with suppress(OSError):
            while True:
                sock, _ = listening.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=server._connection, args=(sock,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(60)


def unused_port() -> int:
    """A port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port
