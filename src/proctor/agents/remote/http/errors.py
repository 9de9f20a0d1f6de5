"""Errors between Proctor and an agent's server: the responsible side, the response, and a hint."""

from __future__ import annotations

import errno
import json
import socket
import ssl
from collections.abc import Iterator

from proctor.agents.json_protocol import MOST_SHOWN
from proctor.agents.remote.http.address import TOKEN, Address
from proctor.common.error_text import safe_repr, safe_str
from proctor.common.secrets import redact_text
from proctor.errors import (
    AgentError,
    AgentLoadError,
    AgentRaisedError,
    AgentTruncatedError,
    AgentUnreachableError,
)


class NotConnectedError(AgentUnreachableError):
    """There was no connection: every further request fails the same way."""

    def at_opening(self) -> AgentLoadError:
        """Return the same as a mistake of the set-up, seen before the first turn."""
        message = str(self)
        return AgentLoadError(f"{message[:1].upper()}{message[1:]}")


def broke(address: Address, what: str) -> AgentError:
    """Return the error for an answer that violates the protocol."""
    return AgentError(address.hide(f"the agent at {address.shown} {what}"))


def truncation_error(address: Address, what: str) -> AgentTruncatedError:
    """Return the error for an answer that broke off."""
    return AgentTruncatedError(address.hide(f"the agent at {address.shown} {what}"))


def unreachable(address: Address, what: str) -> AgentUnreachableError:
    """Return the error for a server that takes no request."""
    return AgentUnreachableError(address.hide(f"the agent at {address.shown} {what}"))


def excerpt(body: bytes, content_type: str = "") -> str:
    """Return the beginning of a body for a message: its text, or the message in its JSON."""
    text = " ".join(body[: 20 * MOST_SHOWN].decode("utf-8", "replace").split())
    if "json" in content_type:
        text = _message_in_json(body) or text
    return safe_repr(text, MOST_SHOWN).removeprefix("str ") if text else "nothing"


def _message_in_json(body: bytes) -> str:
    """Return the message of an error in JSON: `{"error": {"message"}}`, `{"detail"}`, `{"message"}` and similar."""
    try:
        content: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for _ in range(3):
        if not isinstance(content, dict):
            break
        content = next(
            (content[key] for key in ("error", "message", "detail", "title") if content.get(key)), ""
        )
    return content if isinstance(content, str) else ""


# --- no answer, or half of one ----------------------------------------------------------------------------------------


def from_httpx(error: Exception, address: Address, *, answering: bool) -> AgentError:
    """Convert an exception of httpx; `answering`: whether the head of the answer had arrived."""
    import httpx

    none = httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.ProxyError | UnicodeError
    if isinstance(error, none):  # UnicodeError: a host name that no resolver accepts
        why = f"{_connection_problem(error, address)}{_proxy_hint(address)}"
        return NotConnectedError(address.hide(f"the agent at {address.shown} cannot be reached: {why}"))
    if isinstance(error, httpx.TimeoutException):
        if answering:
            return truncation_error(address, "began to answer and then sent nothing for too long")
        return unreachable(address, "took the connection and sent no answer")
    if isinstance(error, httpx.NetworkError) or _is_connection_lost(error):
        if answering:
            return truncation_error(
                address, f"broke off in the middle of its answer ({safe_str(error) or 'connection reset'})"
            )
        return truncation_error(address, "closed the connection without an answer")
    return broke(address, f"does not speak HTTP as it should: {safe_str(error)}")


def _is_connection_lost(error: Exception) -> bool:
    """Return whether the connection ended too early; httpx has one class for this and for invalid data."""
    import httpx

    return isinstance(error, httpx.RemoteProtocolError) and (
        "disconnected" in str(error) or "peer closed connection" in str(error)
    )


def _connection_problem(error: Exception, address: Address) -> str:
    import httpx

    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its TLS certificate is not trusted ({cause.verify_message}); name its authority in SSL_CERT_FILE"
        if isinstance(cause, ssl.SSLError):
            return (
                f"no TLS connection ({cause.reason or safe_str(cause)}); is it http:// rather than https://?"
            )
        if isinstance(cause, socket.gaierror | UnicodeError):
            return f"the host name {address.host!r} is not known (DNS)"
        if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
            return "nothing listens there; is it running?"
    if isinstance(error, httpx.TimeoutException):
        return "it did not take the connection in time"
    return safe_str(error) or type(error).__name__


def _proxy_hint(address: Address) -> str:
    """Return the proxy for the agent from the variables that httpx reads."""
    from urllib.request import getproxies, proxy_bypass

    if address.is_loopback or proxy_bypass(address.host):
        return ""
    proxies = getproxies()
    scheme = address.url.partition(":")[0]
    proxy = proxies.get(scheme) or proxies.get("all")
    return (
        f" (by the proxy {redact_text(proxy)} of the environment; NO_PROXY takes hosts out)" if proxy else ""
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the exception, its causes, and the members of exception groups."""
    waiting, count = [error], 0
    while waiting and count < 50:
        one = waiting.pop(0)
        if one is None:
            continue
        count += 1
        yield one
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


# --- an answer that is none -------------------------------------------------------------------------------------------


def from_status(
    address: Address, status: int, *, location: str, content_type: str, body: bytes, retry_after: float | None
) -> AgentError:
    """Return the error for a status other than 2xx; `retry_after`: the seconds that the server asks to wait."""
    detail = excerpt(body, content_type)
    if status < 300:
        return broke(address, f"answered with status {status}, which is not a complete answer: {detail}")
    if 300 <= status < 400:
        where = location or "nowhere"
        return broke(
            address, f"redirects ({status}) to {where}, which is not followed; name that address instead"
        )
    if status in {408, 429, 503}:
        wait = f", and asks to wait {retry_after:.3g} s" if retry_after is not None else ""
        return unreachable(address, f"accepts no request now: status {status}{wait}: {detail}")
    if status >= 500:
        text = address.hide(f"the agent at {address.shown} failed with status {status}: {detail}")
        return AgentRaisedError(text, type=str(status))
    return broke(address, f"refuses the request with status {status}: {detail}{_HINTS.get(status, '')}")


_HINTS = {
    401: f". Set {TOKEN}, or write user:password@ before its host",
    403: f". Is what {TOKEN} holds good for it?",
    404: ". Is the path right?",
    405: ". Is the path right? It takes no such request there",
    407: ". A proxy is in between: see HTTPS_PROXY and NO_PROXY",
}
