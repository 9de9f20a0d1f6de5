"""Agents that the page names itself: none, unless the server was started so; and where those may be that are URLs."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable

from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.allowed_addresses import TARGETS, Target, Targets
from proctor.errors import AgentError, AgentLoadError, SetupError
from proctor.runs.settings import load_settings
from proctor.web.server.access import Access
from proctor.web.server.context import ServerContext

_URL = re.compile(
    r"(?P<kind>[a-z][a-z0-9]*(?:\+[a-z0-9]+)*):(?P<url>(?:[a-z][a-z0-9+.-]*:)?//.*)",
    re.IGNORECASE | re.DOTALL,
)


def address_of(reference: str) -> Address | None:
    """Return where an AGENT string that has a URL says that its agent is; `None` for any other.

    Raises:
        AgentLoadError: its URL is none of http or https.
    """
    found = _URL.match(reference.strip())
    return read_address(found["url"], kind=found["kind"]) if found else None


def check_agent(reference: str, access: Access) -> None:
    """See that the page may name an agent itself, and that it is nowhere where only this machine can reach.

    The connection is checked once more when it is made: until then a name may come to stand for something else.

    Raises:
        SetupError: it may not; the message says what does.
    """
    if not access.any_agent:
        raise SetupError(
            f"{reference!r} is no agent of this server: start it with the agent's folder, name the agent in the project's "
            "settings, or start it with --allow-any-agent"
        )
    address = address_of(reference)
    if address is None:
        return
    try:
        Targets(_bare(access.targets)).check(address.host, address.port, _look_up(address))
    except AgentError as error:
        raise AgentLoadError(str(error)) from None


def _look_up(address: Address) -> list[str]:
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AgentLoadError(f"the agent's host {address.host} is not known: {error}") from None
    return [str(place[0]) for *_, place in found]


def guard_targets(access: Access, known: Iterable[str]) -> None:
    """Have this process, and those that it starts, check where agents are that were not `known` when it was started."""
    allowed = set(_bare(access.targets))
    for reference in known:
        try:
            address = address_of(reference)
        except AgentLoadError:  # it says so itself when somebody starts it
            continue
        if address is not None:
            allowed.add((address.host, address.port))
    os.environ[TARGETS] = " ".join(sorted(_host_text(*target) for target in allowed))


def guard_targets_now(context: ServerContext) -> None:
    """As `guard_targets`, with the agents that the settings name now: they may have changed since the start."""
    if TARGETS in os.environ:
        guard_targets(context.access, load_settings(context.root).agent)


def _bare(targets: Iterable[Target]) -> frozenset[Target]:
    return frozenset((host.strip("[]"), port) for host, port in targets)


def _host_text(host: str, port: int | None) -> str:
    bare = f"[{host}]" if ":" in host else host
    return bare if port is None else f"{bare}:{port}"
