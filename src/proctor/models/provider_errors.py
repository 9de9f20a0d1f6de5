"""From whatever a provider's client raises to one kind of fault, and one line that says it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from proctor.common.error_text import safe_str
from proctor.common.network import read_retry_after
from proctor.common.secrets import without_secrets
from proctor.models.base import ModelError, ModelFault

__all__ = ["model_error"]

_PHRASES = {529: "Overloaded"} | {one.value: one.phrase for one in HTTPStatus}

_LONGEST = 300
"""Characters of a provider's own message that are passed on."""


def model_error(error: Exception, model: str) -> ModelError:
    """Return what an exception of pydantic-ai, or of a client below it, comes to. `model`: as users name it."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _http(error, status, model)
    fault = _fault(error)
    said = _first_line(safe_str(error))
    if fault is ModelFault.BROKE_PROTOCOL or not said:  # only the kind of error may tell whose mistake it is
        said = f"{type(error).__name__}: {said}".removesuffix(": ")
    return ModelError(f"{model} {_WORDS[fault]}: {said}", fault=fault)


def _http(error: Exception, status: int, model: str) -> ModelError:
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    named = f"{status} {_PHRASES.get(status, '')}".rstrip()
    said = _said(getattr(error, "body", None))
    message = f"{model} answered {named}" + (f": {said}" if said else "")
    wait = read_retry_after(headers, now=time.time())
    if wait is None:  # Gemini says it in the body
        wait = _positive(getattr(error, "retry_after", None))
    return ModelError(message, fault=_fault_of_status(error, status), status=status, retry_after=wait)


def _fault_of_status(error: Exception, status: int) -> ModelFault:
    kinds = _kinds(error)
    if "ModelQuotaExceededError" in kinds:
        return ModelFault.QUOTA
    if "ModelAuthenticationError" in kinds:
        return ModelFault.UNAUTHORIZED
    known = {401: ModelFault.UNAUTHORIZED, 403: ModelFault.UNAUTHORIZED, 404: ModelFault.NOT_FOUND,
             408: ModelFault.TIMED_OUT, 429: ModelFault.RATE_LIMITED}  # fmt: skip
    if status in known:
        return known[status]
    if status >= 500:
        return ModelFault.UNAVAILABLE
    return ModelFault.REJECTED if status >= 400 else ModelFault.BROKE_PROTOCOL


_TRANSPORT = frozenset(
    {"ModelConnectionError", "TransportError", "ConnectionError", "OSError", "HTTPClientError"}
)
_TIMEOUT = frozenset({"ModelTimeoutError", "ModelRequestTimeout", "TimeoutException", "TimeoutError"})
_KEYS = frozenset(
    {"GoogleAuthError", "NoCredentialsError", "CredentialRetrievalError", "PartialCredentialsError"}
)


def _fault(error: Exception) -> ModelFault:
    """Tell by the names of its classes: they come from packages that need not be installed."""
    kinds = _kinds(error)
    if kinds & _TIMEOUT:
        return ModelFault.TIMED_OUT
    if kinds & _KEYS:
        return ModelFault.UNAUTHORIZED
    if kinds & _TRANSPORT:
        return ModelFault.UNAVAILABLE
    return ModelFault.REJECTED if "UserError" in kinds else ModelFault.BROKE_PROTOCOL


_WORDS = {
    ModelFault.TIMED_OUT: "did not answer in time",
    ModelFault.UNAUTHORIZED: "cannot be asked without credentials",
    ModelFault.UNAVAILABLE: "cannot be reached",
    ModelFault.REJECTED: "cannot be asked this",
    ModelFault.BROKE_PROTOCOL: "gave an answer that is not what its protocol says",
}


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _said(body: Any) -> str:
    """Return what a body of an error says, from `error.message`, `message` or the body itself."""
    for _ in range(3):
        if isinstance(body, Mapping):
            body = next((body[key] for key in ("error", "message", "Message", "detail") if body.get(key)), "")
        elif isinstance(body, list) and body:
            body = body[0]
    return _first_line(body) if isinstance(body, str) else ""


def _first_line(text: str) -> str:
    """Return a text as one line of some length, without secrets: providers repeat keys that they do not know."""
    line = " ".join(without_secrets(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None
