"""What is asked at an address where nothing is, or by a method that the address does not take."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import Response
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from proctor.web.server.http.errors import answer
from proctor.web.server.http.static import NOTHING, PAGE

NOT_SERVED = "adk_not_served"
"""The name of the route of all of google-adk's addresses that no other route has."""


def add_not_found(app: FastAPI) -> None:
    """Say which methods an address takes, and whether it is one. To be added when all routes are."""
    app.state.addresses = list(_addresses(app))

    async def say(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException) or error.status_code != 405:
            return await http_exception_handler(request, error)
        takes = methods_at(request)
        if not takes and request.url.path.startswith("/api/"):
            return answer(404, NOTHING)
        told = ", ".join(takes or ["GET"])
        no = answer(405, f"{request.method} is not what this address takes: it takes {told}")
        no.headers["Allow"] = told
        return no

    app.add_exception_handler(HTTPException, say)


def methods_at(request: Request) -> list[str]:
    """Return the methods that the address of a request takes, sorted; none where nothing is."""
    path = request.url.path
    return sorted({method for pattern, method in request.app.state.addresses if pattern.match(path)})


def _addresses(app: FastAPI) -> Iterator[tuple[re.Pattern[str], str]]:
    for route in iter_route_contexts(app.routes):
        if route.name not in {PAGE, NOT_SERVED}:  # which are everywhere
            for method in getattr(route, "methods", None) or ():
                yield compile_path(str(route.path))[0], method
