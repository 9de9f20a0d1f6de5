"""Accept only requests of this server's own page or of programs: the checks of Host, Origin and Sec-Fetch-*.

A page of another site can make a browser send requests here, by DNS rebinding even under that site's name. Browsers set
`Host`, `Origin` and `Sec-Fetch-Site` truthfully. Other programs may send any values; the token protects against them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from proctor.web.server.context import Access

Headers = Sequence[tuple[bytes, bytes]]

SAFE = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""

_HOST = re.compile(rb"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?")
_DOTTED = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_OWN_SITES = frozenset({"same-origin", "none"})
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused."""

    status: int
    detail: str


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The parts of a request that show its origin."""

    method: str
    headers: Headers
    scheme: str
    server: tuple[str, int | None]
    """The address at which the server received it."""
    path: str = "/"
    is_websocket: bool = False

    def all(self, name: bytes) -> list[bytes]:
        """Return every value of a header."""
        return [value.strip() for key, value in self.headers if key.lower() == name]

    def one(self, name: bytes) -> str:
        """Return the value of a header; empty if it is missing, and several values joined by commas."""
        return b", ".join(self.all(name)).decode("latin-1")


def refusal(request: RequestInfo, access: Access) -> Refusal | None:
    """Return why a request is refused independently of its token; `None` if it is allowed."""
    return _wrong_host(request, access) or _wrong_origin(request) or _wrong_site(request)


# --- Host --------------------------------------------------------------------------------------------------


def _wrong_host(request: RequestInfo, access: Access) -> Refusal | None:
    hosts = request.all(b"host")
    if len(hosts) != 1:
        return Refusal(400, f"a request has one Host header, this one has {len(hosts)}")
    host = _HOST.fullmatch(hosts[0])
    if host is not None and _is_ours(host, request, access):
        return None
    return Refusal(
        421,
        f"unknown host {hosts[0].decode('latin-1')!r}: call this server localhost or 127.0.0.1 with its port, or start it "
        "with --allow-host NAME[:PORT]",
    )


def _is_ours(host: re.Match[bytes], request: RequestInfo, access: Access) -> bool:
    name, port_text = host["name"].decode().lower(), host["port"]
    port = int(port_text) if port_text else _PORTS.get(request.scheme, 80)
    if (name, port) in access.hosts or (name, None) in access.hosts:
        return True
    return port == request.server[1] and (name == "localhost" or _is_own_address(name, request.server[0]))


def _is_own_address(name: str, server: str) -> bool:
    """Return whether `name` is a loopback address, or the address at which the server received the request.

    An address cannot be forged by DNS rebinding, because no name server resolves it.
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


# --- Origin and Sec-Fetch-Site ------------------------------------------------------------------------------------------------


def _wrong_origin(request: RequestInfo) -> Refusal | None:
    """Refuse a foreign Origin for every method; only browsers send that header."""
    origins = request.all(b"origin")
    if not origins:
        return None
    if len(origins) == 1 and _is_same(origins[0].decode("latin-1"), request.one(b"host")):
        return None
    return Refusal(
        403,
        f"request of a page of {request.one(b'origin')!r}: only this server's own page, and programs without a browser, are allowed",
    )


def _is_same(origin: str, host: str) -> bool:
    """Return whether `origin` is that of `host`; behind a proxy its scheme may be https."""
    try:
        url = urlsplit(origin)
        port = url.port or _PORTS.get(url.scheme)
        called = urlsplit(f"//{host}")
        expected = called.port or _PORTS.get(url.scheme)
    except ValueError:
        return False
    plain = url.scheme in {"http", "https"} and origin == f"{url.scheme}://{url.netloc}"
    return plain and "@" not in origin and url.hostname == called.hostname and port == expected


def _wrong_site(request: RequestInfo) -> Refusal | None:
    """Refuse requests of other sites' pages, except links that open a page."""
    site = request.one(b"sec-fetch-site")
    if not site or site in _OWN_SITES:
        return None
    opens = request.one(b"sec-fetch-mode") == "navigate" and request.one(b"sec-fetch-dest") == "document"
    if request.method in SAFE and opens and not request.is_websocket and not request.path.startswith("/api/"):
        return None
    return Refusal(
        403,
        f"request of another site's page (Sec-Fetch-Site: {site}): only this server's own page is allowed",
    )
