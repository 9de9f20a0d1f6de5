"""The FastAPI application: all routes, error handlers and middleware."""

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
    """Release the resources of the routes when the server ends."""
    async with adk_lifespan(app):
        yield
        if (active := getattr(app.state, "active_runs", None)) is not None:
            await active.close()
        if (chats := getattr(app.state, "chats", None)) is not None:
            await chats.close_all()


def _operation_id(route: APIRoute) -> str:
    return str(route.name)
