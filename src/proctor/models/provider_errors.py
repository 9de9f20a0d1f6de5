"""Convert the exceptions of providers' clients to `ModelError`: a kind of fault and a message of one line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http import HTTPStatus

from proctor.common.error_text import safe_str
from proctor.common.network import read_retry_after
from proctor.common.safe_text import one_line
from proctor.common.secrets import hide_secrets
from proctor.models.base import ModelError, ModelFault

_PHRASES = {529: "Overloaded"} | {status.value: status.phrase for status in HTTPStatus}

_LONGEST = 300
"""The maximum length of a provider's message in an error."""


def model_error(error: Exception, model: str) -> ModelError:
    """Convert an exception of pydantic-ai or of a client below it. `model`: the name as users write it."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _status_error(error, status, model)
    fault = _fault(error)
    detail = _first_line(safe_str(error))
    if fault is ModelFault.BROKE_PROTOCOL or not detail:  # the exception type may identify the cause
        detail = f"{type(error).__name__}: {detail}".removesuffix(": ")
    return ModelError(f"{model} {_DESCRIPTIONS[fault]}: {detail}", fault=fault)


def _status_error(error: Exception, status: int, model: str) -> ModelError:
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    phrase = f"{status} {_PHRASES.get(status, '')}".rstrip()
    detail = _message_in_body(getattr(error, "body", None))
    message = f"{model} answered {phrase}" + (f": {detail}" if detail else "")
    wait = read_retry_after(headers, now=time.time())
    if wait is None:  # Gemini sends it in the body
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
    {
        "APIConnectionError",
        "ModelConnectionError",
        "TransportError",
        "ConnectionError",
        "OSError",
        "HTTPClientError",
    }
)
_TIMEOUT = frozenset(
    {"APITimeoutError", "ModelTimeoutError", "ModelRequestTimeout", "TimeoutException", "TimeoutError"}
)
_KEYS = frozenset(
    {"GoogleAuthError", "NoCredentialsError", "CredentialRetrievalError", "PartialCredentialsError"}
)


def _fault(error: Exception) -> ModelFault:
    """Return the fault by the names of the exception's classes, because their packages may not be installed."""
    kinds = _kinds(error)
    if kinds & _TIMEOUT:
        return ModelFault.TIMED_OUT
    if kinds & _KEYS:
        return ModelFault.UNAUTHORIZED
    if kinds & _TRANSPORT:
        return ModelFault.UNAVAILABLE
    return ModelFault.REJECTED if "UserError" in kinds else ModelFault.BROKE_PROTOCOL


_DESCRIPTIONS = {
    ModelFault.TIMED_OUT: "did not answer in time",
    ModelFault.UNAUTHORIZED: "cannot be asked without credentials",
    ModelFault.UNAVAILABLE: "cannot be reached",
    ModelFault.REJECTED: "cannot be asked this",
    ModelFault.BROKE_PROTOCOL: "gave an answer that violates its protocol",
}


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _message_in_body(body: object) -> str:
    """Return the message in the body of an error: `error.message`, `message` or the body itself."""
    for _ in range(3):
        if isinstance(body, Mapping):
            body = next((body[key] for key in ("error", "message", "Message", "detail") if body.get(key)), "")
        elif isinstance(body, list) and body:
            body = body[0]
    return _first_line(body) if isinstance(body, str) else ""


def _first_line(text: str) -> str:
    """Return a text as one line of limited length, without secrets: providers repeat unknown keys."""
    return one_line(hide_secrets(text), _LONGEST)


def _positive(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None
