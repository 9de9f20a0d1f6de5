"""What tests of every framework ask of an adapter: a conversation, and what is read out of its events."""

from __future__ import annotations

import asyncio
from typing import Any

from proctor.agents.base import Session
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content
from tests.agents.conftest import ask, new_session, read


def conversation(agent: Any, *messages: str | Content, session: Session | None = None) -> list[list[Event]]:
    """Send one message after the other; return the events of each turn."""

    async def main() -> list[list[Event]]:
        own = session or new_session()
        return [await ask(agent, message, own) for message in messages]

    return asyncio.run(main())


def answer_of(events: list[Event]) -> str:
    """The final response of a turn, thoughts left out."""
    final = read(events).final_response
    return final.joined_text(thoughts=False) if final else ""


def calls(events: list[Event]) -> list[tuple[str | None, Any, Any]]:
    """Name, arguments and response of a turn's calls."""
    return [
        (call.name, call.args, back and back.response) for call, back in read(events).calls_with_responses
    ]
