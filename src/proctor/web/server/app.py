"""The FastAPI application: all routes, error handlers and middleware.

`python -m proctor.web.server.app` writes its OpenAPI description.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.common.version import __version__
from proctor.web.server.adk.app_state import AdkState
from proctor.web.server.adk.routes import adk_router
from proctor.web.server.chat.chats import Chats
from proctor.web.server.context import ServerContext
from proctor.web.server.http.errors import add_handlers
from proctor.web.server.http.static import add_not_found, add_page
from proctor.web.server.routes import ROUTES
from proctor.web.server.runs.active_runs import ActiveRuns
from proctor.web.server.security.middleware import SecurityMiddleware


def create_app(context: ServerContext) -> FastAPI:
    """Return the application that serves `context`."""
    app = FastAPI(
        title="Proctor",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    app.state.context = context
    app.state.active_runs, app.state.chats, app.state.adk = (
        ActiveRuns(context),
        Chats(context),
        AdkState(context),
    )
    add_handlers(app)
    app.router.routes.extend(_routes())
    add_page(app)
    add_not_found(app)
    app.add_middleware(ETags)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=3)
    app.add_middleware(HeadRequests)
    app.add_middleware(SecurityMiddleware, access=context.access)  # the last one added is the outermost
    return app


@cache  # FastAPI takes a third of a second for them, and each test creates an application
def _routes() -> list[BaseRoute]:
    """Return the routes, which all applications of this process share; each application's state has its own data."""
    api = APIRouter(prefix="/api", generate_unique_id_function=_operation_id)
    for name in ROUTES:
        api.include_router(
            import_module(f"proctor.web.server.routes.{name}").router,
            generate_unique_id_function=_operation_id,
        )
    root = APIRouter()
    root.include_router(api, generate_unique_id_function=_operation_id)
    root.include_router(adk_router(), include_in_schema=False)
    routes: list[BaseRoute] = root.routes
    return routes


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Release the resources of the application when the server ends."""
    yield
    await app.state.active_runs.close()
    await app.state.chats.close_all()
    await asyncio.to_thread(app.state.adk.close)


def _operation_id(route: APIRoute) -> str:
    return str(route.name)


# --- middleware: ETags of JSON responses (304 if the client has the same), and HEAD: the headers of GET -----------------


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


# --- `python -m proctor.web.server.app` ---------------------------------------------------------------------------------


def main() -> None:
    """Write the OpenAPI document as JSON to standard output, for the types of the page."""
    document = create_app(ServerContext(root=Path())).openapi()
    document["info"].pop("version", None)  # a new version alone changes no type
    json.dump(document, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
