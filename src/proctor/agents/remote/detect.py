"""A bare `http(s)://…`: what lives there is found out when the run opens, by a few GETs to that host.

| found by | runs as |
|---|---|
| `/.well-known/agent-card.json` (or `agent.json` of old): an agent card | `a2a+http:` |
| `/list-apps`: a list of names | `adk+http:` |
| `/v1/models`: a list of models | `openai+http:…/v1` |
| the URL itself: an object with `"protocol": 1` | `http+sse:` |

The agent's name says what was found. Where several answer, or none, the message has the spellings to choose from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from proctor.agents.base import Agent
from proctor.agents.factory_agent import LateAgent
from proctor.agents.json_protocol import PROTOCOL
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.errors import NotConnectedError
from proctor.common.quick_dataclasses import dataclass
from proctor.errors import AgentError, AgentLoadError
from proctor.registry import AGENTS

__all__ = ["http_agent", "https_agent"]

_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class _Look:
    """One place to look at, and what would be there."""

    kind: str
    """The prefix that goes with it."""
    path: Callable[[str], str]
    """From the URL's path to the one to look at."""
    is_it: Callable[[Any], bool]
    """Tells whether the JSON that came is what is meant."""
    meant: Callable[[str], str] = str
    """From the URL's path to that of the agent."""


def _is_card(data: Any) -> bool:
    return isinstance(data, dict) and "name" in data and not _CARD.isdisjoint(data)


def _are_apps(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(name, str) for name in data)


def _are_models(data: Any) -> bool:
    listed = data.get("data") if isinstance(data, dict) else None
    return isinstance(listed, list) and all(isinstance(one, dict) and "id" in one for one in listed)


def _is_ours(data: Any) -> bool:
    return isinstance(data, dict) and data.get("protocol") == PROTOCOL


def _versioned(path: str) -> str:
    return path if path.endswith("/v1") else f"{path}/v1"


_CARD = frozenset({"url", "skills", "capabilities", "protocolVersion", "supportedInterfaces"})
_LOOKS = (
    _Look("a2a+http", lambda path: f"{path}/.well-known/agent-card.json", _is_card),
    _Look("a2a+http", lambda path: f"{path}/.well-known/agent.json", _is_card),
    _Look("adk+http", lambda path: f"{path}/list-apps", _are_apps),
    _Look("openai+http", lambda path: f"{_versioned(path)}/models", _are_models, _versioned),
    _Look("http+sse", lambda path: path or "/", _is_ours),
)


async def find(text: str) -> Agent:
    """Look what lives at a URL, and make its agent.

    Raises:
        AgentLoadError: nobody is there, nothing is recognised, or more than one thing.
    """
    address = read_address(text, kind="http+sse")
    came = await asyncio.gather(*(_look(address, look) for look in _LOOKS))
    found: dict[str, str] = {}
    for look, (data, _) in zip(_LOOKS, came, strict=True):
        if data is not None and look.is_it(data):
            found.setdefault(look.kind, look.meant(address.path))
    if len(found) != 1:
        tried = [f"{look.path(address.path)}: {said}" for look, (_, said) in zip(_LOOKS, came, strict=True)]
        raise AgentLoadError(_undecided(address, found, tried))
    ((kind, path),) = found.items()
    agent: Agent = AGENTS.get(kind)(_at(text, address, path))
    return agent


async def _look(address: Address, look: _Look) -> tuple[Any, str]:
    """Return the JSON at one place (`None`: there is none), and what came in words.

    Raises:
        AgentLoadError: nobody is there.
    """
    http = HttpClient(address.at(look.path(address.path)))
    try:
        async with asyncio.timeout(_SECONDS):
            data = await http.ask()
        return data, "something else"
    except NotConnectedError as error:
        raise error.at_opening() from None
    except AgentError as error:
        said = str(error).partition(f"{http.address.shown} ")[2] or str(error)
        return None, said.partition(". ")[0]  # what to do about it is said once, below
    except TimeoutError:
        return None, f"no answer within {_SECONDS:g} s"
    finally:
        await http.close()


def _undecided(address: Address, found: dict[str, str], tried: list[str]) -> str:
    if found:
        spellings = " or ".join(f"{kind}:{address.at(path).shown}" for kind, path in found.items())
        return f"At {address.shown} more than one kind of agent answers. Write which is meant: {spellings}"
    looked = "\n".join(f"  {one}" for one in tried)
    return (
        f"At {address.shown} is a server, and no kind of agent that is recognised. Tried:\n{looked}\n"
        f"If it speaks one all the same, write which: http+sse:{address.shown} (docs/agent-protocol.md), adk+http:, a2a+http: "
        "or openai+http:"
    )


def _at(text: str, address: Address, path: str) -> str:
    """Return the URL as it was written, user and password too, with another path."""
    return text if path == address.path else f"{text.rstrip('/').removesuffix(address.path)}{path}"


def http_agent(rest: str) -> LateAgent:
    """Make the agent of `http:REST`, found out when the run opens.

    Raises:
        AgentLoadError: it is no URL.
        MissingExtraError: httpx is not installed.
    """
    return _late(f"http:{rest}")


def https_agent(rest: str) -> LateAgent:
    """Make the agent of `https:REST`; see `http_agent`."""
    return _late(f"https:{rest}")


def _late(text: str) -> LateAgent:
    address = HttpClient(read_address(text, kind="http+sse")).address
    return LateAgent(partial(find, text), label=address.shown)
