"""The outermost middleware: it accepts only requests of this server's page or of programs, with a bounded size.

It covers every route, static file, stream and web socket, so that no new route can be missed. It also adds the security
headers to every response.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from proctor.web.server.adk.dev_ui import AT, PAGE_CSP
from proctor.web.server.context import Access
from proctor.web.server.security.origins import SAFE, Headers, Refusal, RequestInfo, refusal

LOGIN = "/login"
_MONTH = 30 * 24 * 3600
_MOST_COOKIES = 20


def is_authenticated(request: RequestInfo, token: str) -> bool:
    """Return whether a request has the token or the cookie of a login, in constant time."""
    scheme, _, credentials = request.one(b"authorization").partition(" ")
    by_header = is_same_token(credentials.strip(), token) and scheme.lower() == "bearer"
    by_cookie = [is_same_token(credentials, _secret(token)) for credentials in _cookies_in(request)]
    return by_header or any(by_cookie)


def is_same_token(candidate: str, token: str) -> bool:
    """Compare two texts in constant time."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (candidate, token))
    return hmac.compare_digest(*digests)


def cookie_for(token: str, request: RequestInfo) -> bytes:
    """Return the header that sets a browser's cookie."""
    secure = "; Secure" if request.scheme == "https" else ""
    return (
        f"{_name(request)}={_secret(token)}; HttpOnly; SameSite=Strict; Path=/; Max-Age={_MONTH}{secure}"
    ).encode()


def _secret(token: str) -> str:
    """Return the value of the cookie, from which the token cannot be derived."""
    return hmac.new(token.encode(), b"proctor web: a browser's cookie", hashlib.sha256).hexdigest()


def _name(request: RequestInfo) -> str:
    """Return the name of the cookie, one per port, because a browser sends cookies to all ports of a host."""
    return f"proctor_{request.server[1]}"


def _cookies_in(request: RequestInfo) -> list[str]:
    """Return all values of this server's cookie; other servers of this host may add cookies of any form."""
    parts = (part.partition("=") for part in request.one(b"cookie").replace(",", ";").split(";"))
    return [value.strip().strip('"') for name, _, value in parts if name.strip() == _name(request)][
        :_MOST_COOKIES
    ]


MOST_BODY = 32 * 1024 * 1024
"""The most bytes of a request's body."""
BODY_WITHIN = 30.0
"""Seconds that a client has to send the body."""
MOST_LOGIN = 4096
MOST_HEADERS = 200

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    b"content-security-policy": CSP.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
}
_FOLDER = Path(__file__).parent / "login"
_LOGIN_FILES = {
    LOGIN: ("login.html", "text/html; charset=utf-8"),
    "/login.js": ("login.js", "text/javascript; charset=utf-8"),
    "/login.css": ("login.css", "text/css; charset=utf-8"),
}
_log = logging.getLogger("proctor.web.server")


@dataclass(frozen=True, slots=True)
class SecurityMiddleware:
    """The middleware around an application."""

    app: ASGIApp
    access: Access = field(default_factory=Access)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the requests that are allowed."""
        if scope["type"] == "http":
            await self._http(scope, receive, _HeaderSender(send, csp_at(scope["path"])))
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: _HeaderSender) -> None:
        request = _request_info(scope)
        if no := refusal(request, self.access) or _unusable(request):
            await _refuse(send, no)
            return
        body = await _body(request, receive)
        if isinstance(body, Refusal):
            await _refuse(send, body)
        elif self.access.token and (
            request.path in _LOGIN_FILES or not is_authenticated(request, self.access.token)
        ):
            await _login_response(request, body, self.access.token, send)
        else:
            await self._answer(scope, _replay_body(body, receive), send)

    async def _answer(self, scope: Scope, receive: Receive, send: _HeaderSender) -> None:
        try:
            await self.app(scope, receive, send)
        except Exception as error:
            _log.exception("%s %s broke", scope["method"], scope["path"])
            if send.has_begun:
                raise
            message = f"{type(error).__name__}: this is a bug in Proctor; the server's log has the traceback"
            await _refuse(send, Refusal(500, message))

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _request_info(scope)
        no = refusal(request, self.access)
        if no is None and self.access.token and not is_authenticated(request, self.access.token):
            no = _NO_TOKEN
        if no is None:
            await self.app(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": no.detail[:120]})


def _request_info(scope: Scope) -> RequestInfo:
    return RequestInfo(
        method=scope.get("method", "GET"),
        headers=scope["headers"],
        scheme=scope.get("scheme", "http"),
        server=scope.get("server") or ("", None),
        path=scope["path"],
        is_websocket=scope["type"] == "websocket",
    )


# --- requests ---------------------------------------------------------------------------------------------------


def _unusable(request: RequestInfo) -> Refusal | None:
    """Return why no route accepts a request: a preflight, a compressed body, a body that is not JSON."""
    if request.method == "OPTIONS":
        return Refusal(405, "pages of other sites are not served: every preflight is refused")
    if len(request.headers) > MOST_HEADERS:
        return Refusal(
            431, f"a request has {MOST_HEADERS} headers at most, this one has {len(request.headers)}"
        )
    if request.one(b"content-encoding").lower() not in {"", "identity"}:
        return Refusal(415, "the body of a request is not to be compressed (Content-Encoding)")
    if request.method in SAFE or not _has_body(request):
        return None
    kind = request.one(b"content-type").partition(";")[0].strip().lower()
    if kind == "application/json":
        return None
    return Refusal(
        415, f"the body of a request is JSON (Content-Type: application/json), got {kind or 'none'!r}"
    )


def _has_body(request: RequestInfo) -> bool:
    return bool(request.all(b"transfer-encoding")) or request.one(b"content-length") not in {"", "0"}


async def _body(request: RequestInfo, receive: Receive) -> bytes | Refusal:
    """Read a request's body; return why it is refused if it is too large or too slow."""
    if not _has_body(request):
        return b""
    most = MOST_LOGIN if request.path == LOGIN else MOST_BODY
    length = request.one(b"content-length")
    if length.isdecimal() and int(length) > most:
        return _too_large(most)
    try:
        return await asyncio.wait_for(_read_body(receive, most), BODY_WITHIN)
    except TimeoutError:
        return Refusal(408, f"the body of a request is to be sent within {BODY_WITHIN:g} seconds")


async def _read_body(receive: Receive, most: int) -> bytes | Refusal:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return Refusal(400, "the client left before the end of the body")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return _too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body of a request has {most:,} bytes at most")


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields the body that was already read, then further messages."""
    left = [body]

    async def receive_again() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return receive_again


# --- the token -------------------------------------------------------------------------------------------------------

_NO_TOKEN = Refusal(
    401,
    "this server requires a token: Authorization: Bearer TOKEN, or log in at /login. The token is in the address that "
    "`proctor web` printed, or in the file or variable with which it was started",
)


async def _login_response(request: RequestInfo, body: bytes, token: str, send: _HeaderSender) -> None:
    """Respond to a client without a token: with the login page, with a cookie after a login, or with a refusal."""
    if request.path == LOGIN and request.method == "POST":
        if is_same_token(_token_in(body), token):
            await _respond(send, 204, b"", [(b"set-cookie", cookie_for(token, request))])
        else:
            await _refuse(send, Refusal(401, "this is not the token of the server"))
        return
    if request.method not in SAFE or (request.path not in _LOGIN_FILES and not _opens_page(request)):
        await _refuse(send, _NO_TOKEN, [(b"www-authenticate", b'Bearer realm="proctor"')])
        return
    name, kind = _LOGIN_FILES.get(request.path, _LOGIN_FILES[LOGIN])
    status = 200 if request.path in _LOGIN_FILES else 401
    content = (_FOLDER / name).read_bytes() if request.method == "GET" else b""
    await _respond(send, status, content, [(b"content-type", kind.encode())])


def _opens_page(request: RequestInfo) -> bool:
    return "text/html" in request.one(b"accept") and not request.path.startswith("/api/")


def _token_in(body: bytes) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    token = document.get("token") if isinstance(document, dict) else None
    return token if isinstance(token, str) else ""


# --- responses ---------------------------------------------------------------------------------------------------


class _HeaderSender:
    """Sends messages, and adds the security headers to every response."""

    def __init__(self, send: Send, csp: str) -> None:
        self._send = send
        self._csp = csp
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            message = {
                **message,
                "headers": list(_with_security_headers(message.get("headers", ()), self._csp)),
            }
        await self._send(message)


def csp_at(path: str) -> str:
    """Return the Content-Security-Policy of a page; that of google-adk's own page is looser."""
    return PAGE_CSP if path.startswith(f"{AT}/") else CSP


def _with_security_headers(headers: Headers, csp: str) -> Iterable[tuple[bytes, bytes]]:
    present = {name.lower() for name, _ in headers}
    yield from ((name, value) for name, value in headers if name.lower() not in _ALWAYS)
    yield from {**_ALWAYS, b"content-security-policy": csp.encode()}.items()
    if b"cache-control" not in present:
        yield b"cache-control", b"no-store"


async def _refuse(send: _HeaderSender, no: Refusal, more: Headers = ()) -> None:
    body = json.dumps({"detail": no.detail}).encode()
    await _respond(send, no.status, body, [(b"content-type", b"application/json"), *more])


async def _respond(send: _HeaderSender, status: int, body: bytes, headers: Headers) -> None:
    length = [(b"content-length", str(len(body)).encode())] if status != 204 else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await send({"type": "http.response.body", "body": body})
