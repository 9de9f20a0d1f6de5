"""Requests as no client would send them: every header as given, straight into the application."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

HOST = "127.0.0.1:8000"
Headers = Sequence[tuple[str, str]]


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def detail(self) -> str:
        """The sentence that states why not."""
        return str(json.loads(self.body)["detail"])


def ask(
    app: Any,
    method: str,
    path: str,
    headers: Headers = (("host", HOST),),
    body: bytes = b"",
    *,
    scheme: str = "http",
    server: tuple[str, int] = ("127.0.0.1", 8000),
) -> Answer:
    """Send one request; a body is sent with its length unless the headers state otherwise."""
    names = {name.lower() for name, _ in headers}
    length = (
        [("content-length", str(len(body)))]
        if body and not names & {"content-length", "transfer-encoding"}
        else []
    )
    plain, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": scheme,
        "path": plain, "raw_path": plain.encode(), "query_string": query.encode(), "root_path": "", "server": server,
        "client": ("127.0.0.1", 50_000), "state": {},
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in [*headers, *length]],
    }  # fmt: skip
    return asyncio.run(_asked(app, scope, body))


async def _asked(app: Any, scope: dict[str, Any], body: bytes) -> Answer:
    answer = Answer()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()  # a client that stays
        return waiting.pop(0)

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer


async def open_socket(app: Any, path: str, headers: Headers) -> str:
    """Open a web socket, and return what the application reported first."""
    scope = {
        "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "ws", "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50_000), "subprotocols": [], "state": {},
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
    }  # fmt: skip
    output: list[str] = []
    waiting = [{"type": "websocket.connect"}]

    async def receive() -> dict[str, Any]:
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect", "code": 1001}

    async def send(message: dict[str, Any]) -> None:
        output.append(message["type"])

    await app(scope, receive, send)
    return output[0] if output else ""


_PARAMETER = re.compile(r"\{[^}]*\}")


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Every route of an application as method and an address; web sockets as `WEBSOCKET`."""
    for route in iter_route_contexts(app.routes):
        path = _PARAMETER.sub("1", str(route.path))
        methods = getattr(route, "methods", None)
        for method in sorted(methods) if methods else ["WEBSOCKET"]:
            yield method, path
