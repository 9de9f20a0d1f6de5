"""Responses to requests for an unknown address, or with a method that the address does not support."""

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
"""The name of the fallback route for google-adk's addresses."""


def add_not_found(app: FastAPI) -> None:
    """Register the handler that reports unknown addresses and unsupported methods; call it after all routes were added."""
    app.state.addresses = list(_addresses(app))

    async def respond(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException) or error.status_code != 405:
            return await http_exception_handler(request, error)
        methods = methods_at(request)
        if not methods and request.url.path.startswith("/api/"):
            return answer(404, NOTHING)
        allowed = ", ".join(methods or ["GET"])
        response = answer(405, f"this address does not support {request.method}: it supports {allowed}")
        response.headers["Allow"] = allowed
        return response

    app.add_exception_handler(HTTPException, respond)


def methods_at(request: Request) -> list[str]:
    """Return the methods that the address of a request supports, sorted; none for an unknown address."""
    path = request.url.path
    return sorted({method for pattern, method in request.app.state.addresses if pattern.match(path)})


def _addresses(app: FastAPI) -> Iterator[tuple[re.Pattern[str], str]]:
    for route in iter_route_contexts(app.routes):
        if route.name not in {PAGE, NOT_SERVED}:  # these match every address
            for method in getattr(route, "methods", None) or ():
                yield compile_path(str(route.path))[0], method
