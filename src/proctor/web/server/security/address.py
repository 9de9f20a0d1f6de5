"""Where the server listens: on this machine only, unless a token keeps others out."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from typing import Any

from proctor.errors import SetupError


@dataclass(frozen=True, slots=True)
class Address:
    """A host that was named, and the address that it comes down to."""

    host: str
    family: socket.AddressFamily
    ip: str
    port: int
    scope: int = 0
    """Of an IPv6 address within one network."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.ip).is_loopback

    @property
    def is_any(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return ipaddress.ip_address(self.ip).is_unspecified

    def url(self, port: int) -> str:
        """Return where a browser on this machine finds the server that listens at `port`."""
        host = "127.0.0.1" if self.is_any else self.host if self.is_loopback else self.ip
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def find_address(host: str, port: int) -> Address:
    """Return the address that `host` comes down to.

    Raises:
        SetupError: there is none.
    """
    try:
        found: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise SetupError(f"--host {host}: this names no address of this machine: {error}") from None
    family, _, _, _, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    ip = str(place[0]).partition("%")[0]
    return Address(host, family, ip, port, place[3] if len(place) > 3 else 0)


def listen(address: Address, *, has_token: bool) -> socket.socket:
    """Return a socket that listens at `address`; port 0 takes any that is free.

    Raises:
        SetupError: others could reach it and there is no token, or it cannot be listened at.
    """
    if not address.is_loopback and not has_token:
        raise SetupError(
            f"--host {address.host}: others could reach the server there, and it would run agents and show all runs to "
            "anybody. Give it a token (--token-file FILE, or PROCTOR_WEB_TOKEN in the environment), or leave --host out "
            "and only this machine reaches it"
        )
    listening = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if address.family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind(_place(address))
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise SetupError(_why_not(address, error)) from None
    return listening


def _place(address: Address) -> tuple[Any, ...]:
    place = (address.ip, address.port)
    return (*place, 0, address.scope) if address.family == socket.AF_INET6 else place


def _why_not(address: Address, error: OSError) -> str:
    import errno

    if error.errno == errno.EADDRINUSE:
        return (
            f"port {address.port} of {address.host} is taken by another program (maybe by another `proctor web`): "
            "give another --port, or --port 0 for any that is free"
        )
    if error.errno == errno.EACCES:
        return f"port {address.port} may not be used by you: give another --port (from 1024 on, or 0 for any free one)"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--host {address.host}: {address.ip} is no address of this machine"
    return f"cannot listen at {address.host}:{address.port}: {error.strerror}"
