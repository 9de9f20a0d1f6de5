"""From an exception to a `Failure`: attributed once, at the border it crossed."""

from __future__ import annotations

from proctor.causes import safe_str, traceback_text
from proctor.errors import AgentError, MissingExtraError
from proctor.schema.trial import Failure, FailureKind

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
)
_INFRASTRUCTURE_CODES = frozenset({408, 429, 500, 502, 503, 504, 529})


def failure_from(error: BaseException, *, where: str, turn: int | None = None) -> Failure:
    """Describe what `error` was and where it happened; never raises, whatever the exception does."""
    broken = isinstance(error, AgentError)
    return Failure(
        where=where,
        kind=FailureKind.BROKE_CONTRACT if broken else FailureKind.RAISED,
        type="" if broken else type(error).__name__,
        message=safe_str(error),
        traceback=None if broken or isinstance(error, MissingExtraError) else traceback_text(error),
        turn=turn,
        infrastructure=is_infrastructure(error),
    )


def timed_out(what: str, seconds: float | None, *, where: str = "agent", turn: int | None = None) -> Failure:
    """Describe a deadline that ran out."""
    limit = f" ({seconds:g} s)" if seconds is not None else ""
    return Failure(
        where=where, kind=FailureKind.TIMED_OUT, message=f"{what}{limit}", turn=turn, infrastructure=True
    )


def is_infrastructure(error: BaseException | None) -> bool:
    """Tell whether an exception (or its cause) is about connections, rate limits or servers, not about the agent.

    Known by type (`ConnectionError`, `TimeoutError`), by the name of its classes as provider SDKs spell them, or by
    an HTTP status of 408, 429, 500, 502, 503, 504 or 529 that it carries.
    """
    for _ in range(10):
        if error is None:
            return False
        if isinstance(error, ConnectionError | TimeoutError) or _named_so(error) or _coded_so(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _named_so(error: BaseException) -> bool:
    names = [cls.__name__.lower() for cls in type(error).__mro__[:-3]]
    return any(part in name for name in names for part in _INFRASTRUCTURE_NAMES)


def _coded_so(error: BaseException) -> bool:
    for attribute in ("status_code", "code", "status"):
        code = getattr(error, attribute, None)
        if isinstance(code, int) and code in _INFRASTRUCTURE_CODES:
            return True
    return False
