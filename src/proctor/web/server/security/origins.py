"""Which requests come from this server's own page, or from no page at all: Host, Origin and Sec-Fetch-*.

A page of another site can make a browser send requests here, and by DNS rebinding even under a name of its own. Browsers
say truly by which name they called (`Host`) and which page made them (`Origin`, `Sec-Fetch-Site`); others may say what they
like, and have a token to show where that matters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from proctor.web.server.access import Access

Headers = Sequence[tuple[bytes, bytes]]

SAFE = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""

_HOST = re.compile(rb"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
_DOTTED = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_OWN_SITES = frozenset({"same-origin", "none"})
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """What a request says about where it comes from."""

    method: str
    headers: Headers
    scheme: str
    server: tuple[str, int | None]
    """The address that it came in at."""
    path: str = "/"
    is_websocket: bool = False

    def all(self, name: bytes) -> list[bytes]:
        """Return every value of a header."""
        return [value.strip() for key, value in self.headers if key.lower() == name]

    def one(self, name: bytes) -> str:
        """Return a header that is there once; empty where it is missing, and of several all."""
        return b", ".join(self.all(name)).decode("latin-1")


def refusal(asked: RequestInfo, access: Access) -> Refusal | None:
    """Return why a request must not be answered, before anybody looks at who it is from; `None` where it may be."""
    return _wrong_host(asked, access) or _wrong_origin(asked) or _wrong_site(asked)


# --- by which name --------------------------------------------------------------------------------------------------


def _wrong_host(asked: RequestInfo, access: Access) -> Refusal | None:
    given = asked.all(b"host")
    if len(given) != 1:
        return Refusal(400, f"a request has one Host header, this one has {len(given)}")
    found = _HOST.fullmatch(given[0])
    if found is not None and _is_ours(found, asked, access):
        return None
    return Refusal(
        421,
        f"this server is not called {given[0].decode('latin-1')!r}: call it localhost or 127.0.0.1 with its port, or start it "
        "with --allow-host NAME[:PORT]",
    )


def _is_ours(host: re.Match[bytes], asked: RequestInfo, access: Access) -> bool:
    name, stated = host["name"].decode().lower(), host["port"]
    port = int(stated) if stated else _PORTS.get(asked.scheme, 80)
    if (name, port) in access.hosts or (name, None) in access.hosts:
        return True
    return port == asked.server[1] and (name == "localhost" or _is_own_address(name, asked.server[0]))


def _is_own_address(name: str, server: str) -> bool:
    """Tell whether `name` is an address of this machine: of its own network, or the one that was called.

    No name stands for it, so no name server can have made it one.
    """
    bare = name[1:-1] if name.startswith("[") else name
    if not name.startswith("[") and not _DOTTED.fullmatch(name):
        return False
    try:
        address = ip_address(bare)
        return (
            str(address) == "::1"
            or (address.version == 4 and address.is_loopback)
            or address == ip_address(server)
        )
    except ValueError:
        return False


# --- from which page ------------------------------------------------------------------------------------------------


def _wrong_origin(asked: RequestInfo) -> Refusal | None:
    """An Origin is said by browsers alone: it must be ours, whatever the method."""
    given = asked.all(b"origin")
    if not given:
        return None
    if len(given) == 1 and _is_same(given[0].decode("latin-1"), asked.one(b"host")):
        return None
    return Refusal(
        403,
        f"a page of {asked.one(b'origin')!r} asked: only this server's own page, and programs without a browser, may do that",
    )


def _is_same(origin: str, host: str) -> bool:
    """Tell whether a page of `origin` was served by `host`; behind a proxy it may have come by https."""
    try:
        found = urlsplit(origin)
        port = found.port or _PORTS.get(found.scheme)
        called = urlsplit(f"//{host}")
        expected = called.port or _PORTS.get(found.scheme)
    except ValueError:
        return False
    plain = found.scheme in {"http", "https"} and origin == f"{found.scheme}://{found.netloc}"
    return plain and "@" not in origin and found.hostname == called.hostname and port == expected


def _wrong_site(asked: RequestInfo) -> Refusal | None:
    """A browser says from where a request comes; a link from elsewhere may open a page, and nothing more."""
    site = asked.one(b"sec-fetch-site")
    if not site or site in _OWN_SITES:
        return None
    opens = asked.one(b"sec-fetch-mode") == "navigate" and asked.one(b"sec-fetch-dest") == "document"
    if asked.method in SAFE and opens and not asked.is_websocket and not asked.path.startswith("/api/"):
        return None
    return Refusal(
        403, f"a page of another site asked (Sec-Fetch-Site: {site}): only this server's own page may do that"
    )
