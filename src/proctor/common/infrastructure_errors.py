"""Infrastructure errors: exceptions about connections, rate limits or servers, after which a retry may succeed."""

from __future__ import annotations

from proctor.errors import AgentError, AgentRaisedError

_INFRASTRUCTURE_NAMES = (
    "ratelimit",
    "connection",
    "timeout",
    "serviceunavailable",
    "internalserver",
    "overloaded",
    "resourceexhausted",
    "toomanyrequests",
    "gaierror",
    "sslerror",
    "remoteprotocol",
    "unavailable",
    "deadlineexceeded",
)
_INFRASTRUCTURE_CODES = frozenset({408, 429, 500, 502, 503, 504, 529})


def is_infrastructure(error: BaseException | None) -> bool:
    """Return whether an exception (or its cause) is about connections, rate limits or servers, not about the agent.

    It is recognised by type (`ConnectionError`, `TimeoutError`), by the name of its classes as provider SDKs spell them, or by
    an HTTP status of 408, 429, 500, 502, 503, 504 or 529 that it carries.
    """
    for _ in range(10):
        if error is None:
            return False
        if _is_infrastructure_itself(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_infrastructure_itself(error: BaseException) -> bool:
    if isinstance(error, AgentError) and error.infrastructure:
        return True
    if isinstance(error, AgentRaisedError) and is_infrastructure_code(error.type):
        return True
    has_type = isinstance(error, ConnectionError | TimeoutError)
    return has_type or _has_infrastructure_name(error) or _has_infrastructure_code(error)


def is_infrastructure_code(code: str) -> bool:
    """Return whether an error code of an agent or a server is one of those: `429`, `rate_limit`."""
    if code.isdigit():
        return int(code) in _INFRASTRUCTURE_CODES
    return _is_infrastructure_name(code.replace("_", "").lower())


def _is_infrastructure_name(name: str) -> bool:
    return any(part in name for part in _INFRASTRUCTURE_NAMES)


def _has_infrastructure_name(error: BaseException) -> bool:
    return any(_is_infrastructure_name(cls.__name__.lower()) for cls in type(error).__mro__[:-3])


def _has_infrastructure_code(error: BaseException) -> bool:
    for attribute in ("status_code", "code", "status"):
        code = getattr(error, attribute, None)
        if isinstance(code, int) and code in _INFRASTRUCTURE_CODES:
            return True
    return False
