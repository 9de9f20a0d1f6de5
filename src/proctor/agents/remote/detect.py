"""A plain `http(s)://…`: the kind of the agent is detected when the run opens, by a few GETs to that host.

| found by | runs as |
|---|---|
| `/.well-known/agent-card.json` (or `agent.json` of old): an agent card | `a2a+http:` |
| `/list-apps`: a list of names | `adk+http:` |
| `/v1/models`: a list of models | `openai+http:…/v1` |
| the URL itself: an object with `"protocol": 1` | `http+sse:` |

If several kinds match, the message lists the spellings; if none matches, the attempts and what to do with an ordinary JSON API.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from proctor.agents.adapt import FactoryAgent
from proctor.agents.base import Agent
from proctor.agents.json_protocol import PROTOCOL
from proctor.agents.remote.http.address import TOKEN, Address, read_address
from proctor.agents.remote.http.client import HttpClient
from proctor.agents.remote.http.errors import NotConnectedError
from proctor.common.json_values import Json
from proctor.common.registry import AGENTS
from proctor.errors import AgentError, AgentLoadError

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
    models = data.get("data") if isinstance(data, dict) else None
    return isinstance(models, list) and all(isinstance(one, dict) and "id" in one for one in models)


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


async def detect_agent(text: str) -> Agent:
    """Detect the kind of the agent at a URL, and create it.

    Raises:
        AgentLoadError: the server does not answer, or no kind or several kinds match.
    """
    address = read_address(text, kind="http+sse")
    responses = await asyncio.gather(*(_probe(address, look) for look in _LOOKS))
    matches: dict[str, str] = {}
    for look, (data, _) in zip(_LOOKS, responses, strict=True):
        if data is not None and look.is_it(data):
            matches.setdefault(look.kind, look.meant(address.path))
    if len(matches) != 1:
        tried = [
            (look.path(address.path), answer) for look, (_, answer) in zip(_LOOKS, responses, strict=True)
        ]
        raise AgentLoadError(_ambiguity(address, matches) if matches else _unknown_kind(address, tried))
    ((kind, path),) = matches.items()
    if path != address.path:  # user and password stay in the URL
        text = f"{text.rstrip('/').removesuffix(address.path)}{path}"
    agent: Agent = AGENTS.get(kind)(text)
    return agent


async def _probe(address: Address, look: _Look) -> tuple[Json, str]:
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
        answer = str(error).partition(f"{http.address.shown} ")[2] or str(error)
        return None, _short_answer(answer.partition(". ")[0])  # the final message has the hint, once
    except TimeoutError:
        return None, f"no answer within {_SECONDS:g} s"
    finally:
        await http.close()


_REFUSAL = re.compile(r"refuses the request with status (\d{3})\b")


def _short_answer(answer: str) -> str:
    """Return a description of an answer; of a refusal only the status, because its body is a page for a browser."""
    if (refusal := _REFUSAL.match(answer)) is None:
        return answer
    status = int(refusal[1])
    reason = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    return f"{status} ({reason})" if reason else str(status)


def _ambiguity(address: Address, matches: Mapping[str, str]) -> str:
    spellings = " or ".join(f"{kind}:{address.at(path).shown}" for kind, path in matches.items())
    return f"At {address.shown} more than one kind of agent answers. Write one of: {spellings}"


_COMPLETIONS = "/chat/completions"


def _unknown_kind(address: Address, tried: Sequence[tuple[str, str]]) -> str:
    answers = {answer for _, answer in tried}
    first = tried[0][1]
    if len(answers) == 1 and first[:1].isdecimal():
        attempts = f"tried {len(tried)} addresses: all answered {first}."
    else:
        attempts = "tried" + "".join(f"\n  {path}: {answer}" for path, answer in tried)
    key = (
        f"A server that needs a key? Set {TOKEN}\n"
        if any(one[:3] in ("401", "403") for one in answers)
        else ""
    )
    return (
        f"The server at {address.shown} is not a known kind of agent: {attempts}\n{key}{_base_url_hint(address)}"
        "Your own JSON API? Call it from a Python function: docs/how-to/agents/remote.md#any-other-http-api\n"
        "A kind that was not recognised? Write its prefix before the URL: openai+http:, a2a+http:, adk+http: or http+sse:"
    )


def _base_url_hint(address: Address) -> str:
    """Return the AGENT for a URL of chat completions; empty for another URL."""
    if not address.path.rstrip("/").endswith(_COMPLETIONS):
        return ""
    base = address.at(address.path.rstrip("/").removesuffix(_COMPLETIONS)).shown
    return f"Chat completions? Write the base URL: openai+http:{base}?model=NAME\n"


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
    return FactoryAgent(partial(detect_agent, text), label=address.shown)
