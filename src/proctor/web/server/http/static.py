"""The built page: its files, and `index.html` for every address that the page itself understands."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool

from proctor.web.pages.built_page import HOW_TO_BUILD_THE_PAGE, page_folder
from proctor.web.server.http.errors import answer

HOW_TO_BUILD = (
    f"The web page is not built: this is a checkout, or an installation from one. {HOW_TO_BUILD_THE_PAGE}. "
    "The API answers all the same: /api/about, /api/openapi.json"
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
"""What is served, and as what: neither the system's tables nor a file's content decide."""

SCREENS = frozenset(
    ("", "runs", "compare", "matrix", "history", "judges", "start", "eval-sets", "chat", "login")
)
"""How the addresses of the page begin (`ui/src/app/routes.tsx`)."""
PAGE = "page"
"""The name of the route of every address that no other route has."""
NOTHING = "there is nothing at this address"
_IMMUTABLE = "public, max-age=31536000, immutable"
_ASSETS = "assets"
"""Where the build puts what has a hash in its name."""


def add_page(app: FastAPI) -> None:
    """Serve the page at every address that no route has. To be added last."""

    @app.get("/{path:path}", include_in_schema=False, name=PAGE)
    async def page(request: Request, path: str) -> Response:
        return await run_in_threadpool(_answer, path, request.headers.get("accept", ""))


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
    """Tell a page of ours from what is not there: ids may have dots, and browsers ask for pages as such.

    A program that asks for just anything gets a page where one is, and hears elsewhere that nothing is.
    """
    if "text/html" in accept:
        return True
    is_one = path.partition("/")[0] in SCREENS and not Path(path).suffix
    return is_one and (not accept or "*/*" in accept)


def file_of(folder: Path, path: str) -> Path | None:
    """Return the file of the page that `path` names; `None` where there is none, or it is not within `folder`."""
    parts = path.split("/")
    if any(part in {"", ".", ".."} or part.startswith(".") or not part.isprintable() for part in parts):
        return None
    if any(sign in path for sign in '\\:"<>|*?\0') or Path(path).suffix.lower() not in TYPES:
        return None
    try:
        root, found = folder.resolve(), folder.joinpath(*parts).resolve()
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError):  # a name that no file can have
        return None
