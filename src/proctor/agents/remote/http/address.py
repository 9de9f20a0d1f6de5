"""The address of a remote agent: its URL and credentials. The printed form contains no secret."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from proctor.common.network import is_loopback_ip
from proctor.common.secrets import HIDDEN, hide_in_value, hide_secrets, is_secret_value, redact_text
from proctor.errors import AgentLoadError

T = TypeVar("T")

TOKEN = "PROCTOR_AGENT_TOKEN"  # noqa: S105 - the name of the variable
"""The variable with the token for `Authorization: Bearer …`, sent only to the host that AGENT names."""


class Address:
    """The URL of an agent. Created by `read_address`.

    `url` is the URL for requests: without user, password and fragment, with its query. `shown` is the form to
    print: secrets of its query are hidden. `authorization` is the value of that header, or empty.
    """

    __slots__ = ("_echoed", "_parts", "_secrets", "authorization", "shown", "url")

    def __init__(self, parts: SplitResult, authorization: str = "", secrets: tuple[str, ...] = ()) -> None:
        """Take the parts of a URL that `read_address` has validated."""
        self._parts = parts
        self._secrets = secrets
        self._echoed = [secret for secret in secrets if is_secret_value(secret)]
        self.authorization = authorization
        self.url = parts.geturl()
        self.shown = self.hide(redact_text(self.url))

    def __repr__(self) -> str:
        return f"Address({self.shown})"

    @property
    def host(self) -> str:
        """The host's name, or its IP address without brackets, in lower case."""
        return self._parts.hostname or ""

    @property
    def port(self) -> int:
        """The port; the default of the scheme if the URL has none."""
        return self._parts.port or (443 if self._parts.scheme == "https" else 80)

    @property
    def path(self) -> str:
        """The path, without a slash at its end; empty at the root."""
        return self._parts.path.rstrip("/")

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine: `localhost` or a loopback address. Proxies do not apply to it."""
        return self.host == "localhost" or self.host.endswith(".localhost") or is_loopback_ip(self.host)

    def join(self, path: str) -> str:
        """Return the URL of `path` below this address (`""`: the address itself), with its query.

        `path` is constant text or quoted: `quote(session_id, safe="")`.
        """
        if not path:
            return self.url
        return self._parts._replace(path=f"{self.path}/{path.lstrip('/')}").geturl()

    def at(self, path: str) -> Address:
        """Return the address of another path on the same host (`/` at its beginning), for the same asker."""
        return Address(self._parts._replace(path=path), self.authorization, self._secrets)

    def take(self, *names: str) -> tuple[dict[str, str], Address]:
        """Take options for Proctor out of the query: their values by name, and the address without them."""
        query = parse_qsl(self._parts.query, keep_blank_values=True)
        options = {name: value for name, value in query if name in names}
        if not options:
            return {}, self
        left = urlencode([(name, value) for name, value in query if name not in names], quote_via=quote)
        return options, Address(self._parts._replace(query=left), self.authorization, self._secrets)

    def as_asker(self, token: str) -> Address:
        """Return the same address with `token`, unless AGENT or the environment has a credential."""
        if self.authorization or not token:
            return self
        return Address(self._parts, f"Bearer {_header(token, 'The key')}", (*self._secrets, token))

    def hide(self, text: str) -> str:
        """Return `text`, an error of a server or of a library, without the secrets of this address and of others."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return hide_secrets(text)

    def hide_in_answer(self, value: T) -> T:
        """Return the JSON of an answer without the secrets of this address, which a server may repeat."""
        hidden: T = hide_in_value(value, self._echoed) if self._echoed else value
        return hidden


def read_address(text: str, *, kind: str) -> Address:
    """Parse the text after the colon of `http+sse:` and similar prefixes; `kind` is the prefix, for messages.

    `http://user:password@host` is sent as HTTP Basic; otherwise PROCTOR_AGENT_TOKEN, if set, as a bearer token.
    `//host:port` is read as `http://host:port`.

    Raises:
        AgentLoadError: it is not an http or https URL with a host, its secret was redacted, or the token is invalid.
    """
    text = text.strip()
    if text.startswith("//"):
        text = f"http:{text}"
    try:
        parts = _split(text)
    except ValueError as error:
        agent = redact_text(f"{kind}:{text}")
        raise AgentLoadError(
            f"The agent {agent} has no address after its colon ({error}). Write, for example: {kind}:http://127.0.0.1:8000"
        ) from None
    if HIDDEN in text:
        raise AgentLoadError(
            f"The agent {kind}:{text} has lost its secret: none is kept with a run. Leave it out of AGENT and set {TOKEN}, "
            "or give the whole AGENT again."
        )
    authorization, secrets = _asker(parts)
    secrets = tuple(
        sorted({*secrets, *_secrets_in(parts.query)}, key=len, reverse=True)
    )  # one may be part of another
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
    return Address(bare, authorization, secrets)


def _split(text: str) -> SplitResult:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
        raise ValueError("expected http:// or https://, a host, and a port or none")
    if any(not character.isprintable() or character.isspace() for character in text):
        raise ValueError("it has a blank or a control character in it")
    return parts


def _asker(parts: SplitResult) -> tuple[str, tuple[str, ...]]:
    """Return the authorization header, and its secrets, which must not be printed."""
    if parts.username is not None:
        user, password = unquote(parts.username), unquote(parts.password or "")
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        secrets = (encoded, password, parts.password or "") if password else (encoded, user, parts.username)
        return f"Basic {encoded}", tuple(one for one in secrets if one)
    token = os.environ.get(TOKEN, "").strip()
    return (f"Bearer {_header(token, TOKEN)}", (token,)) if token else ("", ())


def _secrets_in(query: str) -> Iterator[str]:
    """Return the values of a query with the names of secrets, as written and decoded."""
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        text = f"?{name}={value}"
        if value and hide_secrets(redact_text(text)) != text:
            yield from (value, unquote(value))


def _header(token: str, name: str) -> str:
    if token.isascii() and token.isprintable() and " " not in token:
        return token
    raise AgentLoadError(
        f"{name} is not a valid token: it has a blank or another character that headers do not allow."
    )
