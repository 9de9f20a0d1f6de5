"""The response to an exception: a status, and one clear sentence."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from proctor.analysis.calibration.labels import LabelChangedError
from proctor.common.safe_text import clean
from proctor.errors import ProctorError, SetupError, StoreError, UnknownNameError
from proctor.runs.setup.settings import relative_to_working_folder
from proctor.runs.storage.open import NoRunsError
from proctor.schema.format.wire_model import PageModel
from proctor.web.server.runs.run_command import InvalidRunError, problems_response

STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (LabelChangedError, 412),
    (UnknownNameError, 404),
    (NoRunsError, 404),
    (StoreError, 409),
    (SetupError, 400),
    (ProctorError, 409),
)
"""The status of each type of error; the first match applies."""


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
    """Register the handlers that turn an exception of a route into a response."""
    app.add_exception_handler(ProctorError, _proctor_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(InvalidRunError, problems_response)
    app.add_exception_handler(OSError, _system_error)


class Detail(BaseModel):
    """The reason of a refusal."""

    detail: str


def answer(status: int, text: str) -> JSONResponse:
    """Return a response with the message `text`: the expected and the actual value, and what to do next."""
    return JSONResponse({"detail": clean(text, lines=True)}, status_code=status)


def status_of(error: Exception) -> int:
    """Return the status of one of Proctor's errors."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


async def _proctor_error(_request: Request, error: Exception) -> JSONResponse:
    return answer(status_of(error), str(error))


async def _system_error(_request: Request, error: Exception) -> JSONResponse:
    """Respond to a missing or read-only folder and to a full disk; any other system error is a bug, so raise it."""
    if _folder_is_gone():
        return answer(409, _FOLDER_GONE)
    if not isinstance(error, OSError) or error.errno not in _USER_ERRNOS:
        raise error
    place = f"{relative_to_working_folder(str(error.filename))}: " if error.filename else ""
    return answer(
        409,
        f"{place}{error.strerror}. Nothing was done: make the project's folder writable, or free disk space",
    )


_FOLDER_GONE = (
    "the folder in which this server was started was removed, so nothing can be read or stored: "
    "end the server, and start it again in the project's folder (even if there is a new folder at the same path)"
)


def _folder_is_gone() -> bool:
    """Return whether the working folder was removed, so that no relative path can be resolved."""
    try:
        Path.cwd().stat()
    except FileNotFoundError:
        return True
    return False


async def _validation_error(_request: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else ()
    return answer(422, _sentence(problems))


def _sentence(problems: Sequence[Any]) -> str:
    texts = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}{_input_text(one)}" for one in problems]
    return "; ".join(texts) or "the request is invalid"


def _input_text(problem: Mapping[str, object]) -> str:
    value = problem.get("input")
    return f", got {value!r:.80}" if isinstance(value, str | int | float | bool) else ""


# --- large pages: pydantic writes the JSON directly ---------------------------------------------------------------------


def as_json(page: PageModel) -> Response:
    """Return a page as a response, for a route whose `response_model` is the page's model."""
    return Response(page.model_dump_json(), media_type="application/json")
