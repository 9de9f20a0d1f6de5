"""The application: routes, and what all of them have in common."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute

from proctor.common.version import __version__
from proctor.web.server.adk.app_state import lifespan as adk_lifespan
from proctor.web.server.adk.routes import adk_router
from proctor.web.server.context import ServerContext
from proctor.web.server.http.errors import add_handlers
from proctor.web.server.http.middleware import ETags, HeadRequests
from proctor.web.server.http.not_found import add_not_found
from proctor.web.server.http.static import add_page
from proctor.web.server.routes import ROUTES
from proctor.web.server.security.guard import SecurityMiddleware


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
    add_handlers(app)
    app.router.routes.extend(_routes())
    add_page(app)
    add_not_found(app)
    app.add_middleware(ETags)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=3)
    app.add_middleware(HeadRequests)
    app.add_middleware(SecurityMiddleware, access=context.access)  # the last one is the outermost
    return app


@cache  # FastAPI takes a third of a second to work them out, and the tests create an application each
def _routes() -> list[BaseRoute]:
    """Return the routes of every application of this process: what they serve is in the state of theirs."""
    api = APIRouter(prefix="/api", generate_unique_id_function=_operation_id)
    for name in ROUTES:
        api.include_router(
            import_module(f"proctor.web.server.routes.{name}").router,
            generate_unique_id_function=_operation_id,
        )
    every = APIRouter()
    every.include_router(api, generate_unique_id_function=_operation_id)
    every.include_router(adk_router(), include_in_schema=False)
    routes: list[BaseRoute] = every.routes
    return routes


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Let go of whatever the routes hold when the server ends."""
    async with adk_lifespan(app):
        yield
        if (live := getattr(app.state, "active_runs", None)) is not None:
            await live.close()
        if (chats := getattr(app.state, "chats", None)) is not None:
            await chats.close_all()


def _operation_id(route: APIRoute) -> str:
    return str(route.name)
