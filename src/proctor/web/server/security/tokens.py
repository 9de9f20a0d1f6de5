"""Who may ask, where a token says so: programs show it, a browser gets a cookie for it that no script can read."""

from __future__ import annotations

import hashlib
import hmac

from proctor.web.server.security.origins import Asked

LOGIN = "/login"
_MONTH = 30 * 24 * 3600
_MOST_COOKIES = 20


def may_ask(asked: Asked, token: str) -> bool:
    """Tell whether a request shows the token, or the cookie that was given for it; takes as long either way."""
    scheme, _, shown = asked.one(b"authorization").partition(" ")
    by_header = same(shown.strip(), token) and scheme.lower() == "bearer"
    by_cookie = [same(shown, _secret(token)) for shown in _cookies_in(asked)]
    return by_header or any(by_cookie)


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


def _cookies_in(asked: Asked) -> list[str]:
    """Every value that a browser has by our name. Other servers of this host have cookies of any form beside it."""
    parts = (part.partition("=") for part in asked.one(b"cookie").replace(",", ";").split(";"))
    return [value.strip().strip('"') for name, _, value in parts if name.strip() == _name(asked)][
        :_MOST_COOKIES
    ]
