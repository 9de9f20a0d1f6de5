"""Who may ask, where a token says so: programs show it, a browser gets a cookie for it that no script can read."""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie

from proctor.server.origins import Asked

LOGIN = "/login"
_MONTH = 30 * 24 * 3600


def may_ask(asked: Asked, token: str) -> bool:
    """Tell whether a request shows the token, or the cookie that was given for it; takes as long either way."""
    scheme, _, shown = asked.one(b"authorization").partition(" ")
    by_header = same(shown.strip(), token) and scheme.lower() == "bearer"
    by_cookie = same(_cookie_in(asked), _secret(token))
    return by_header or by_cookie


def same(shown: str, token: str) -> bool:
    """Compare in a time that does not tell where the two part."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (shown, token))
    return hmac.compare_digest(*digests)


def cookie_for(token: str, asked: Asked) -> bytes:
    """Return the header that gives a browser its cookie."""
    secure = "; Secure" if asked.scheme == "https" else ""
    return (
        f"{_name(asked)}={_secret(token)}; HttpOnly; SameSite=Strict; Path=/; Max-Age={_MONTH}{secure}"
    ).encode()


def _secret(token: str) -> str:
    """What stands for the token in a cookie: nobody learns the token from it."""
    return hmac.new(token.encode(), b"proctor web: a browser's cookie", hashlib.sha256).hexdigest()


def _name(asked: Asked) -> str:
    """A name for each port: a browser sends cookies to all ports of a host."""
    return f"proctor_{asked.server[1]}"


def _cookie_in(asked: Asked) -> str:
    try:
        found = SimpleCookie(asked.one(b"cookie").replace(", ", "; ")).get(_name(asked))
    except CookieError:
        return ""
    return found.value if found is not None else ""
