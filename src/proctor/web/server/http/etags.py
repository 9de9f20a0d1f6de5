"""Answers that have not changed need not be sent again: an ETag on every answer in JSON, and 304 for who has it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class ETags:
    """An ASGI application around another one. Answers that come in pieces, or have an ETag, are left alone."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with an ETag where one can be made."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        else:
            known = b",".join(value for name, value in scope["headers"] if name == b"if-none-match")
            await self.app(scope, receive, _Tagging(send, known))


class _Tagging:
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
                start, message = self._tagged(start, message)
            await self._send(start)
            await self._send(message)

    def _tagged(self, start: Message, message: Message) -> tuple[Message, Message]:
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
