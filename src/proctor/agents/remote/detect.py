"""A plain `http(s)://…`: the kind of the agent is detected when the run opens, by a few GETs to that host.

| found by | runs as |
|---|---|
| `/.well-known/agent-card.json` (or `agent.json` of old): an agent card | `a2a+http:` |
| `/list-apps`: a list of names | `adk+http:` |
| `/v1/models`: a list of models | `openai+http:…/v1` |
| the URL itself: an object with `"protocol": 1` | `http+sse:` |

The agent's name contains the detected kind. If several kinds match, or none, the message lists the spellings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from proctor.agents.adapt import FactoryAgent
from proctor.agents.base import Agent
from proctor.agents.json_protocol import PROTOCOL
from proctor.agents.remote.http.address import Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.errors import NotConnectedError
from proctor.common.json_values import Json
from proctor.common.registry import AGENTS
from proctor.errors import AgentError, AgentLoadError

__all__ = ["http_agent", "https_agent"]

_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class _Look:
    """One path to request, and the kind of agent that it indicates."""

    kind: str
    """The prefix that goes with it."""
    path: Callable[[str], str]
    """From the URL's path to the one to look at."""
    is_it: Callable[[Json], bool]
    """Returns whether the JSON indicates this kind."""
    meant: Callable[[str], str] = str
    """From the URL's path to that of the agent."""


def _is_card(data: Json) -> bool:
    return isinstance(data, dict) and "name" in data and not _CARD.isdisjoint(data)


def _are_apps(data: Json) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(name, str) for name in data)


def _are_models(data: Json) -> bool:
    listed = data.get("data") if isinstance(data, dict) else None
    return isinstance(listed, list) and all(isinstance(one, dict) and "id" in one for one in listed)


def _is_ours(data: Json) -> bool:
    return isinstance(data, dict) and data.get("protocol") == PROTOCOL


def _versioned_path(path: str) -> str:
    return path if path.endswith("/v1") else f"{path}/v1"


_CARD = frozenset({"url", "skills", "capabilities", "protocolVersion", "supportedInterfaces"})
_LOOKS = (
    _Look("a2a+http", lambda path: f"{path}/.well-known/agent-card.json", _is_card),
    _Look("a2a+http", lambda path: f"{path}/.well-known/agent.json", _is_card),
    _Look("adk+http", lambda path: f"{path}/list-apps", _are_apps),
    _Look("openai+http", lambda path: f"{_versioned_path(path)}/models", _are_models, _versioned_path),
    _Look("http+sse", lambda path: path or "/", _is_ours),
)


async def find(text: str) -> Agent:
    """Detect the kind of the agent at a URL, and create it.

    Raises:
        AgentLoadError: the server does not answer, or no kind or several kinds match.
    """
    address = read_address(text, kind="http+sse")
    responses = await asyncio.gather(*(_look(address, look) for look in _LOOKS))
    matches: dict[str, str] = {}
    for look, (data, _) in zip(_LOOKS, responses, strict=True):
        if data is not None and look.is_it(data):
            matches.setdefault(look.kind, look.meant(address.path))
    if len(matches) != 1:
        tried = [
            f"{look.path(address.path)}: {said}" for look, (_, said) in zip(_LOOKS, responses, strict=True)
        ]
        raise AgentLoadError(_ambiguity(address, matches, tried))
    ((kind, path),) = matches.items()
    if path != address.path:  # user and password stay in the URL
        text = f"{text.rstrip('/').removesuffix(address.path)}{path}"
    agent: Agent = AGENTS.get(kind)(text)
    return agent


async def _look(address: Address, look: _Look) -> tuple[Json, str]:
    """Return the JSON at one path (`None`: there is none), and a description of the response.

    Raises:
        AgentLoadError: the server does not answer.
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
        return None, said.partition(". ")[0]  # the final message has the hint, once
    except TimeoutError:
        return None, f"no answer within {_SECONDS:g} s"
    finally:
        await http.close()


def _ambiguity(address: Address, matches: dict[str, str], tried: list[str]) -> str:
    if matches:
        spellings = " or ".join(f"{kind}:{address.at(path).shown}" for kind, path in matches.items())
        return f"At {address.shown} more than one kind of agent answers. Write one of: {spellings}"
    requests = "\n".join(f"  {each}" for each in tried)
    return (
        f"The server at {address.shown} is not a known kind of agent. Tried:\n{requests}\n"
        f"If it is one, write which: http+sse:{address.shown} (docs/reference/agent-protocol.md), adk+http:, a2a+http: "
        "or openai+http:"
    )


def http_agent(rest: str) -> Agent:
    """Create the agent of `http:REST`; its kind is detected when the run opens.

    Raises:
        AgentLoadError: the URL is invalid.
        MissingExtraError: httpx is not installed.
    """
    return _agent_at_url(f"http:{rest}")


def https_agent(rest: str) -> Agent:
    """Create the agent of `https:REST`; see `http_agent`."""
    return _agent_at_url(f"https:{rest}")


def _agent_at_url(text: str) -> Agent:
    address = HttpClient(read_address(text, kind="http+sse")).address
    return FactoryAgent(partial(find, text), label=address.shown)
