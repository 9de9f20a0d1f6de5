"""The built page: its files, `index.html` for every address of one of its screens, and the responses elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import FileResponse, PlainTextResponse, Response
from fastapi.routing import iter_route_contexts
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from proctor.web.pages.built_page import HOW_TO_BUILD_THE_PAGE, page_folder
from proctor.web.server.http.errors import answer

HOW_TO_BUILD = (
    f"The web page is not built: this is a checkout, or an installation from one. {HOW_TO_BUILD_THE_PAGE}. "
    "The API works without it: /api/about, /api/openapi.json"
)

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
"""The served file types, independent of the system's tables and of a file's content."""

SCREENS = frozenset(
    ("", "runs", "audits", "compare", "matrix", "history", "judges", "start", "eval-sets", "chat", "login")
)
"""The first parts of the page's addresses (`ui/src/app/routes.tsx`)."""
PAGE = "page"
"""The name of the fallback route for all addresses."""
NOTHING = "there is nothing at this address"
_IMMUTABLE = "public, max-age=31536000, immutable"
_ASSETS = "assets"
"""The folder of the built files that have a hash in their name."""


def add_page(app: FastAPI) -> None:
    """Add the fallback route, which serves the page; call it after all other routes were added."""

    @app.get("/{path:path}", include_in_schema=False, name=PAGE)
    async def page(request: Request, path: str) -> Response:
        response = await run_in_threadpool(_answer, path, request.headers.get("accept", ""))
        if (run := _RUN.fullmatch(path)) and not request.url.query:
            response.headers["link"] = _FIRST_ROWS.format(run=run[1])
        return response


_RUN = re.compile(r"runs/([\w.~-]+)", re.ASCII)
_FIRST_ROWS = ", ".join(
    f"<{path}>; rel=preload; as=fetch; crossorigin"
    for path in ("/api/runs/{run}?brief=true", "/api/runs/{run}/cases?brief=true")
)
"""Lets a browser read the first rows of a run while it loads the script (`ui/src/screens/run/RunScreen.tsx`)."""


def _answer(path: str, accept: str) -> Response:
    folder = page_folder()
    file = file_of(folder, path)
    if file is not None:
        cache = _IMMUTABLE if path.startswith(f"{_ASSETS}/") else "no-cache"
        return FileResponse(file, media_type=TYPES[file.suffix.lower()], headers={"cache-control": cache})
    if path.partition("/")[0] in {"api", _ASSETS} or not _is_page(path, accept):
        return answer(404, NOTHING)
    index = file_of(folder, "index.html")
    if index is None:
        return PlainTextResponse(HOW_TO_BUILD + "\n", 404)
    return FileResponse(index, media_type=TYPES[".html"], headers={"cache-control": "no-cache"})


def _is_page(path: str, accept: str) -> bool:
    """Return whether an address is one of the page: ids may contain dots, and browsers accept `text/html`.

    A program that accepts any type receives the page at the addresses of its screens, and 404 elsewhere.
    """
    if "text/html" in accept:
        return True
    is_one = path.partition("/")[0] in SCREENS and not Path(path).suffix
    return is_one and (not accept or "*/*" in accept)


def file_of(folder: Path, path: str) -> Path | None:
    """Return the file of the page at `path`; `None` if there is none, or if it is not below `folder`."""
    if not _is_file_name(path):
        return None
    try:
        root, file = folder.resolve(), folder.joinpath(*path.split("/")).resolve()
        return file if file.is_relative_to(root) and file.is_file() else None
    except (OSError, ValueError):  # an invalid file name
        return None


def _is_file_name(path: str) -> bool:
    """Return whether a path names a visible file of a served type, without a step upwards or a special character."""
    if any(not part.isprintable() or part.startswith(".") or not part for part in path.split("/")):
        return False
    return not any(sign in path for sign in '\\:"<>|*?\0') and Path(path).suffix.lower() in TYPES


# --- unknown addresses, and methods that an address does not support --------------------------------------------------


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
