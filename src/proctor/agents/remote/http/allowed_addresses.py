"""The allowed addresses of agents that a web page names: a page can make this machine connect, and must not reach what only
this machine can.

`proctor web` sets the variable for itself and for its runs. For a host that is not listed in
it, every address of the name is checked, and the connection uses the checked address, even if the name server returns another
one later. No proxy is used, and redirects are never followed.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from proctor.errors import AgentError

if TYPE_CHECKING:
    import httpx


TARGETS = "PROCTOR_AGENT_TARGETS"
"""The variable: `host`, `host:port`, separated by blanks, that agents may be at although they are private; may be empty."""

Target = tuple[str, int | None]
"""A host, in lower case and without brackets, and a port; `None`: any."""
IP = IPv4Address | IPv6Address

_METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"))
)
"""Metadata addresses of clouds, which return secrets of a machine."""
_NAT64 = [ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48")]
_COMPATIBLE = ip_network("::/96")


@dataclass(frozen=True, slots=True)
class Targets:
    """The addresses that are allowed besides the public network."""

    allowed: frozenset[Target] = frozenset()

    def allows(self, host: str, port: int) -> bool:
        """Return whether a host is listed by this exact name."""
        return bool({(host.lower(), port), (host.lower(), None)} & self.allowed)

    def check(self, host: str, port: int, resolved: Iterable[str]) -> str:
        """Return the first of the addresses `resolved` for a host; all of them must be allowed.

        Raises:
            AgentError: an address is not allowed, or there is none.
        """
        addresses = [text.partition("%")[0] for text in resolved]
        for text in addresses:
            why = reason_not_allowed(ip_address(text))
            if why and not (why in _PRIVATE and (self.allows(text, port) or self.allows(host, port))):
                hint = (
                    ""
                    if why not in _PRIVATE
                    else f" `proctor web --allow-target {target_text(host, port)}` allows it."
                )
                at = "" if text == host else f" is at {text}, which"
                raise AgentError(
                    f"the agent's host {host}{at} is {why}: no agent named by a page may be there.{hint}"
                )
        if not addresses:
            raise AgentError(f"the agent's host {host} has no address")
        return addresses[0]

    async def look_up(self, host: str, port: int) -> str:
        """Return the address to connect to; raises as `check`, and OSError if the name is unknown."""
        loop = asyncio.get_running_loop()
        infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return self.check(host, port, (str(place[0]) for *_, place in infos))


_PRIVATE = ("an address of this machine", "an address of a private network")


def reason_not_allowed(address: IP) -> str:
    """Return the kind of a non-public address; empty for a public one.

    Addresses that contain another one (mapped, translated, tunnelled) have the kind of that one.
    """
    carried = _embedded_ipv4(address)
    if carried is not None:
        return reason_not_allowed(carried)
    if address in _METADATA:
        return "an address where a cloud returns its secrets"
    if address.is_link_local:
        return "a link-local address"
    if address.is_unspecified or address.is_multicast:
        return "no address of a single machine"
    if address.is_loopback:
        return _PRIVATE[0]
    if not address.is_global or getattr(address, "is_site_local", False):
        return _PRIVATE[1]
    return ""


def _embedded_ipv4(address: IP) -> IPv4Address | None:
    """Return the IPv4 address in an IPv6 address, if there is one."""
    if isinstance(address, IPv4Address):
        return None
    if address.teredo is not None:
        return address.teredo[1]
    embedded = address.ipv4_mapped or address.sixtofour
    if embedded is not None:
        return embedded
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in _NAT64) or (address in _COMPATIBLE and int(address) > 1):
        return last
    return None


_of_project: ContextVar[bool] = ContextVar("named_by_project", default=False)


@contextmanager
def named_by_project() -> Iterator[None]:
    """Allow all addresses for agents created within: a file of the project names them, not a page."""
    token = _of_project.set(True)
    try:
        yield
    finally:
        _of_project.reset(token)


def allowed_targets() -> Targets | None:
    """Return the restriction of this process; `None` if there is none."""
    if _of_project.get():
        return None
    setting = os.environ.get(TARGETS)
    return None if setting is None else Targets(frozenset(map(read_target, setting.split())))


def read_target(text: str) -> Target:
    """Return the host and the port of `host`, `host:port`, `[::1]:port`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or (":" in host and not host.endswith("]")):
        host, port = text, ""
    return host.strip("[]").lower(), int(port) if port else None


def target_text(host: str, port: int | None) -> str:
    """Return the text that `read_target` reads: `host`, `host:port`, `[::1]:port`."""
    bare = f"[{host}]" if ":" in host else host
    return bare if port is None else f"{bare}:{port}"


def checked_transport(targets: Targets, **options: object) -> httpx.AsyncBaseTransport:
    """Return a transport of httpx that connects to the addresses that were checked, and to no other."""
    import httpx

    class AddressCheckTransport(httpx.AsyncHTTPTransport):  # type: ignore[misc]  # httpx is optional, and not followed by mypy
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            url = request.url
            port = url.port or (443 if url.scheme == "https" else 80)
            try:
                ip = await targets.look_up(url.host, port)
            except (OSError, UnicodeError) as error:
                raise httpx.ConnectError(f"{url.host}: {error}", request=request) from None
            ip_request = httpx.Request(
                request.method,
                url.copy_with(host=ip),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": url.host},
            )
            return await super().handle_async_request(ip_request)

    return AddressCheckTransport(**options)
