"""What a mistake becomes on its way out: a status, and one clear sentence."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from proctor.common.safe_text import clean
from proctor.errors import ProctorError, SetupError, StoreError, UnknownNameError
from proctor.runs.queries import NoRunsError
from proctor.runs.setup.project_defaults import as_seen_from_here
from proctor.schema.results.page_model import PageModel
from proctor.web.server.runs.form_errors import ProblemsError, problems_response

STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (UnknownNameError, 404),
    (NoRunsError, 404),
    (StoreError, 409),
    (SetupError, 400),
    (ProctorError, 409),
)
"""What each of our errors is for a client; the first that fits."""


_USER_ERRNOS = frozenset(
    (
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EEXIST,
    )
)


def add_handlers(app: FastAPI) -> None:
    """Have whatever is raised in a route become an answer."""
    app.add_exception_handler(ProctorError, _proctor_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(ProblemsError, problems_response)
    app.add_exception_handler(OSError, _system_error)


def answer(status: int, text: str) -> JSONResponse:
    """Return the answer that says `text`: what came, what was expected, what to do next."""
    return JSONResponse({"detail": clean(text, lines=True)}, status_code=status)


def status_of(error: Exception) -> int:
    """Return the status that one of our errors has."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


async def _proctor_error(_request: Request, error: Exception) -> JSONResponse:
    return answer(status_of(error), str(error))


async def _system_error(_request: Request, error: Exception) -> JSONResponse:
    """A folder that is gone or may not be written, or a full disk, is nobody's bug; any other error of the system is ours."""
    if _folder_is_gone():
        return answer(409, _FOLDER_GONE)
    if not isinstance(error, OSError) or error.errno not in _USER_ERRNOS:
        raise error
    place = f"{as_seen_from_here(str(error.filename))}: " if error.filename else ""
    return answer(
        409,
        f"{place}{error.strerror}. Nothing was done: make the project's folder writable, or make room",
    )


_FOLDER_GONE = (
    "the folder that this server was started in is no longer there, so nothing can be read or kept: "
    "end the server, and start it again in the project's folder (one at the same place is another folder)"
)


def _folder_is_gone() -> bool:
    """Whether the working folder was removed: then no relative path can be told, whatever it names."""
    try:
        Path.cwd().stat()
    except FileNotFoundError:
        return True
    return False


async def _validation_error(_request: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else ()
    return answer(422, _sentence(problems))


def _sentence(problems: Sequence[Any]) -> str:
    told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}{_input_text(one)}" for one in problems]
    return "; ".join(told) or "the request is not what was expected"


def _input_text(problem: Any) -> str:
    given = problem.get("input")
    return f", got {given!r:.80}" if isinstance(given, str | int | float | bool) else ""


# --- Pages of many rows: sent as pydantic writes them, without going through Python's own JSON ------------------------


def as_json(page: PageModel) -> Response:
    """Return a page as an answer. Of a route that has the page's model as its `response_model`."""
    return Response(page.model_dump_json(), media_type="application/json")
