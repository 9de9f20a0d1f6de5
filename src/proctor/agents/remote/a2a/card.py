"""The agent card of A2A: the address of an agent and its version of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from proctor.agents.base import AgentInfo
from proctor.agents.remote.a2a.versions import DIALECTS, Dialect
from proctor.agents.remote.http.address import Address
from proctor.agents.remote.http.client import HttpClient
from proctor.common.error_text import safe_repr
from proctor.errors import AgentLoadError

_KIND = "a2a+http"
_PLACES = (".well-known/agent-card.json", ".well-known/agent.json")
"""Where the card is; the second in versions before 0.3."""


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a card."""

    rpc: Address
    """The URL for JSON-RPC. Always on the user's host: only the path comes from the card."""
    dialect: Dialect
    streams: bool
    name: str
    info: AgentInfo


async def read_card(given: Address) -> Card:
    """Fetch and parse the card of the agent at an address, or the card at that address.

    Raises:
        AgentLoadError: the server does not answer, has no card, or supports no known protocol.
    """
    card = await _fetch(given)
    if not isinstance(card, Mapping):
        raise AgentLoadError(
            f"The agent {_KIND}:{given.shown} has no agent card at {given.shown.rstrip('/')}/{_PLACES[0]}. "
            "Is it an A2A server? The address may also be that of its card."
        )
    spoken = [*_spoken(card)]
    for url, transport, version in spoken:
        dialect = next((one for one in DIALECTS if one.speaks(version)), None)
        if transport.upper() == "JSONRPC" and dialect is not None:
            info = _info(given.hide_in_answer(card))
            return Card(
                rpc=given.at(urlsplit(url).path or "/"),
                dialect=dialect,
                streams=bool((_object(card, "capabilities")).get("streaming")),
                name=info.name,
                info=info,
            )
    known = ", ".join(f"{transport} {version}".strip() for _, transport, version in spoken) or "nothing"
    raise AgentLoadError(
        f"The agent {_KIND}:{given.shown} speaks {known}; understood are JSONRPC in versions 0.2, 0.3 and 1."
    )


async def _fetch(given: Address) -> Any:
    places = [""] if given.path.endswith(".json") else [*_PLACES]
    if not given.path.endswith(".json") and given.path:
        places += [f"/{place}" for place in _PLACES]
    for place in places:
        http = HttpClient(given.at("") if place.startswith("/") else given)
        try:
            if isinstance(card := await http.glance(place), Mapping):
                return card
        finally:
            await http.close()
    return None


def _spoken(card: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield URL, transport and version of an agent's interfaces, in the form of 1.0 and of 0.3."""
    version = str(card.get("protocolVersion") or "0.3")
    for one in _objects(card.get("supportedInterfaces")):
        interface_version = str(one.get("protocolVersion") or version)
        yield str(one.get("url") or ""), str(one.get("protocolBinding") or ""), interface_version
    if card.get("url"):
        yield str(card["url"]), str(card.get("preferredTransport") or "JSONRPC"), version
    for one in _objects(card.get("additionalInterfaces")):
        yield str(one.get("url") or ""), str(one.get("transport") or ""), version


def _info(card: Mapping[str, Any]) -> AgentInfo:
    version = card.get("version")
    return AgentInfo(
        name=str(card.get("name") or "agent"),
        description=str(card.get("description") or ""),
        version=version if isinstance(version, str) else None,
        has_more_tools=True,  # skills are no tools
    )


def _object(card: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = card.get(key)
    if found is not None and not isinstance(found, Mapping):
        raise AgentLoadError(
            f"The agent card of {card.get('name')!r}: {key} is {safe_repr(found)}; expected an object."
        )
    return found or {}


def _objects(found: Any) -> list[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
