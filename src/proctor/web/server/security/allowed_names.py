"""The agents and the models that a request may name.

Other agents than those of the server need its permission, and allowed addresses. A model may be any of a known provider,
but none with a URL and none that reads a file: its API key is sent to the model's address, so a request must not choose it.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator

from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.allowed_addresses import TARGETS, Target, Targets, target_text
from proctor.common.registry import MODELS
from proctor.errors import AgentError, AgentLoadError, SetupError
from proctor.models.names import parse_name
from proctor.runs.setup.judge_and_user import default_judge
from proctor.runs.setup.settings import Settings, load_settings
from proctor.web.server.context import Access, ServerContext

_URL = re.compile(
    r"(?P<kind>[a-z][a-z0-9]*(?:\+[a-z0-9]+)*):(?P<url>(?:[a-z][a-z0-9+.-]*:)?//.*)",
    re.IGNORECASE | re.DOTALL,
)


def address_of(reference: str) -> Address | None:
    """Return the address in an AGENT string with a URL; `None` for any other.

    Raises:
        AgentLoadError: its URL is not http or https.
    """
    match = _URL.match(reference.strip())
    return read_address(match["url"], kind=match["kind"]) if match else None


def check_agent(reference: str, access: Access) -> None:
    """Check that a request may name an agent, and that the agent's address is not a private one of this machine.

    The address is checked again when a connection is made, because the host name may then resolve differently.

    Raises:
        SetupError: the agent is not allowed; the message explains how to allow it.
    """
    if not access.any_agent:
        raise SetupError(
            f"{reference!r} is not an agent of this server: start it with the agent's folder, name the agent in the project's "
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
        addresses = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AgentLoadError(f"the agent's host {address.host} is not known: {error}") from None
    return [str(place[0]) for *_, place in addresses]


def guard_targets(access: Access, known: Iterable[str]) -> None:
    """Make this process and its children check the addresses of agents that were not `known` at the start."""
    allowed = set(_bare(access.targets))
    for reference in known:
        try:
            address = address_of(reference)
        except AgentLoadError:  # the error is reported when the agent is started
            continue
        if address is not None:
            allowed.add((address.host, address.port))
    os.environ[TARGETS] = " ".join(sorted(target_text(*target) for target in allowed))


def guard_targets_now(context: ServerContext) -> None:
    """Do the same as `guard_targets` with the present settings, which may have changed since the start."""
    if TARGETS in os.environ:
        guard_targets(context.access, load_settings(context.root).agent)


def _bare(targets: Iterable[Target]) -> frozenset[Target]:
    return frozenset((host.strip("[]"), port) for host, port in targets)


# --- models -----------------------------------------------------------------------------------------------------------


_KEYS = frozenset({"judgemodel", "model", "audiomodel"})
"""Keys of criteria and of the simulated user that name a model, in a normalized spelling."""


def model_problem(name: str, settings: Settings) -> str:
    """Return why a request may not name a model; empty if it may, or if the run reports the problem."""
    same = settings.override({"judge": name}, settings.root).judge if settings.root else name
    if default_judge(None, settings.judge) in (name, same):
        return ""  # the project's own judge is allowed at any address
    try:
        model = parse_name(name, MODELS.names())
    except SetupError:
        return ""  # the command reports it together with all other problems
    if model.url:
        return (
            f"{name}: the page may not name a judge with a URL, because its key would be sent there: "
            "name it as `judge` in proctor.toml"
        )
    if model.provider == "scripted":
        return f"{name}: a scripted judge reads a file; name it as `judge` in proctor.toml"
    return ""


def model_problems(document: object, settings: Settings) -> list[str]:
    """Return the problems of all models in a part of a config, at any depth."""
    names = dict.fromkeys(_model_names(document))
    return [problem for name in names if (problem := model_problem(name, settings))]


def _model_names(document: object) -> Iterator[str]:
    left = [document]  # no recursion: a request may be nested deeply
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            left += value.values()
            yield from (
                each
                for key, each in value.items()
                if isinstance(each, str) and str(key).replace("_", "").lower() in _KEYS
            )
