"""The common parts of ADK-compatible routes: error responses, checks of bodies, and which changes only local clients may make."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from proctor.agents.chat_host import NotPossibleError, SessionExistsError
from proctor.common.error_text import safe_str
from proctor.common.network import is_loopback_ip
from proctor.errors import AgentLoadError, MissingExtraError, SetupError, UnknownNameError
from proctor.files.eval_sets.selectors import require_path_segment
from proctor.schema.format.wire_model import to_camel
from proctor.web.server.adk.eval_files import MissingEvalError
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

    def get_route_handler(self) -> Callable[[Request], Coroutine[object, object, Response]]:
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


# --- the bodies of requests -------------------------------------------------------------------------------------------


_DEEPEST = 200
"""The most levels of a body, which google-adk's sessions can return, too (pydantic writes 255)."""


class FiniteRequest(Request):  # type: ignore[misc]  # starlette is optional, and not followed by mypy
    """A request that refuses infinite numbers and NaN, which would silently become `null` in a file."""

    async def json(self) -> Any:
        """Return the body.

        Raises:
            HTTPException: 422, with the place of such a number.
        """
        body = await super().json()
        if (place := _non_finite_path(body)) is not None:
            message = "Input should be a finite number: JSON has no other (write one, or null)"
            raise HTTPException(422, [{"type": "finite_number", "loc": ["body", *place], "msg": message}])
        return body


def _non_finite_path(data: object) -> list[str | int] | None:
    """Return the path of the first number that is infinite or NaN; without recursion, because a body may be deep."""
    left: list[tuple[Any, Any]] = [(data, None)]
    while left:
        value, way = left.pop()
        if isinstance(value, float) and not math.isfinite(value):
            place: list[str | int] = []
            while way is not None:
                way, step = way
                place.insert(0, step)
            return place
        if isinstance(value, dict | list):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            left += [(one, (way, step)) for step, one in inner if isinstance(one, dict | list | float)]
    return None


class AdkRequest(BaseModel):
    """A body in either spelling; unknown keys are ignored, because google-adk's page sends some."""

    model_config = ConfigDict(
        extra="ignore", alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _each_once(cls, value: Any) -> Any:
        for name in cls.model_fields if isinstance(value, dict) else ():
            if name in value and to_camel(name) in value and name != to_camel(name):
                raise PydanticCustomError(
                    "given_twice",
                    "expected {field} once, got it in both spellings ({field} and {camel})",
                    {"field": name, "camel": to_camel(name)},
                )
        if _is_deeper(value, _DEEPEST):
            raise PydanticCustomError("too_deep", "expected at most {most} levels", {"most": _DEEPEST})
        return value


def _is_deeper(value: object, most: int) -> bool:
    """Return whether a value has more than `most` levels of lists and objects."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
    return bool(level)
