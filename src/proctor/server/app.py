"""The application: routes, and what all of them have in common."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from proctor.server.adk.routes import adk_router
from proctor.server.context import ServerContext
from proctor.server.errors import add_handlers
from proctor.server.routes import ROUTES
from proctor.version import __version__


def create_app(context: ServerContext) -> FastAPI:
    """Return the application that serves `context`."""
    app = FastAPI(
        title="Proctor", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json"
    )
    app.state.context = context
    add_handlers(app)
    api = APIRouter(prefix="/api", generate_unique_id_function=_operation_id)
    for name in ROUTES:
        api.include_router(
            import_module(f"proctor.server.routes.{name}").router, generate_unique_id_function=_operation_id
        )
    app.include_router(api, generate_unique_id_function=_operation_id)
    app.include_router(adk_router(), include_in_schema=False)
    return app


def _operation_id(route: APIRoute) -> str:
    return str(route.name)
