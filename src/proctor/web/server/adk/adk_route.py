"""The common parts of ADK-compatible routes: the restriction of changes to local clients, and error responses."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError

from proctor.agents.chat_host import NotPossibleError, SessionExistsError
from proctor.common.error_text import safe_str
from proctor.common.network import is_loopback_ip
from proctor.errors import AgentLoadError, MissingExtraError, SetupError, UnknownNameError
from proctor.files.eval_sets.selectors import require_path_segment
from proctor.web.server.adk.eval_files import MissingEvalError
from proctor.web.server.adk.requests import FiniteRequest
from proctor.web.server.adk.wire import answer

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host")
_OPENED_BY = "ADK_ALLOW_REMOTE_AGENT_BUILDER"
_NAMES_OF_FILES = {
    "app_name": "the app name",
    "eval_set_id": "the eval set id",
    "eval_result_id": "the result id",
}
"""Parameters of addresses that name a file or a folder, each with its name in messages."""


class AdkRoute(APIRoute):
    """A route whose errors are JSON: `{"detail": ...}`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which turns errors into responses."""
        handle = super().get_route_handler()

        async def respond(request: Request) -> Response:
            try:
                _require_ids(request)
                return await handle(FiniteRequest(request.scope, request.receive))
            except RequestValidationError as error:
                problems = [{name: one[name] for name in ("type", "loc", "msg")} for one in error.errors()]
                return answer({"detail": problems}, status_code=422)
            except Exception as error:
                if (status := status_of(error)) is None:
                    raise
                return answer({"detail": _error_message(error)}, status_code=status)

        return respond


def _require_ids(request: Request) -> None:
    """Refuse an id in the address that could lead to another file. Raises SetupError."""
    for name, what in _NAMES_OF_FILES.items():
        if name in request.path_params:
            require_path_segment(request.path_params[name], what)


def status_of(error: BaseException) -> int | None:
    """Return the status of the response to an error; `None` for an unexpected error."""
    if isinstance(error, AgentLoadError | MissingExtraError):
        return 500  # the request is valid, but the agent cannot be loaded: as google-adk's server responds
    if isinstance(error, UnknownNameError | MissingEvalError):
        return 404
    if isinstance(error, SessionExistsError):
        return 409
    return 400 if isinstance(error, SetupError | NotPossibleError) else None


def _error_message(error: BaseException) -> str:
    return f"Session already exists: {error}" if isinstance(error, SessionExistsError) else safe_str(error)


def body_error(error: ValidationError, *place: str) -> RequestValidationError:
    """Return the error (422) for a body that a route validates itself; `place`: the validated part of the body."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    return RequestValidationError([{**one, "loc": ("body", *place, *one["loc"])} for one in problems])


def require_local(request: Request) -> None:
    """Refuse clients on other machines or behind a proxy, as google-adk's development server does.

    Raises:
        HTTPException: 403.
    """
    if os.environ.get(_OPENED_BY, "").lower() in {"1", "true", "yes"}:
        return
    host = request.client.host if request.client else ""
    if not is_loopback_ip(host) or any(name in request.headers for name in _FORWARDED):
        raise HTTPException(
            403,
            "This changes files of the project, or runs evaluations: only clients on this machine may do that, and not "
            f"through a proxy. {_OPENED_BY}=1 in the server's environment opens it to others.",
        )


LOCAL = [Depends(require_local)]
"""`dependencies` of routes for clients on this machine only."""
