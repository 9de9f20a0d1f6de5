"""ASGI middleware: an ETag for every JSON response (304 if the client has it already), and HEAD requests."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class ETags:
    """Adds ETags to the responses of an application, except those that are streamed or already have one."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        else:
            known = b",".join(value for name, value in scope["headers"] if name == b"if-none-match")
            await self.app(scope, receive, _ETagSender(send, known))


class _ETagSender:
    def __init__(self, send: Send, known: bytes) -> None:
        self._send, self._known = send, known
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_data(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            start, self._start = self._start, None
            if not message.get("more_body", False):
                start, message = self._add_tag(start, message)
            await self._send(start)
            await self._send(message)

    def _add_tag(self, start: Message, message: Message) -> tuple[Message, Message]:
        body = message.get("body", b"")
        tag = b'W/"%s"' % blake2b(body, digest_size=16).hexdigest().encode()
        headers = [*start["headers"], (b"etag", tag)]
        if not _knows(self._known, tag):
            return {**start, "headers": headers}, message
        headers = [(name, value) for name, value in headers if name.lower() not in _OF_THE_BODY]
        return {**start, "status": 304, "headers": headers}, {**message, "body": b""}


_OF_THE_BODY = {b"content-length", b"content-type"}


def _is_data(start: Message) -> bool:
    headers = {name.lower(): value for name, value in start["headers"]}
    kind = headers.get(b"content-type", b"").partition(b";")[0]
    return start["status"] == 200 and kind == b"application/json" and b"etag" not in headers


def _knows(known: bytes, tag: bytes) -> bool:
    return known.strip() == b"*" or tag in (one.strip() for one in known.split(b","))


# --- HEAD: the response to GET without its body --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HeadRequests:
    """Handles HEAD for an application whose routes know only GET."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; HEAD gets the headers of GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
        else:
            head = _HeadClient(receive, send)
            await self.app({**scope, "method": "GET"}, head.receive, head.send)


class _HeadClient:
    """A client that disconnects after the headers, because an event stream would never end."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._is_over = False

    async def receive(self) -> Message:
        return {"type": "http.disconnect"} if self._is_over else await self._receive()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._send(message)
        elif not self._is_over:
            self._is_over = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
