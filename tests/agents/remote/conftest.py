"""Agents at local servers: one turn, or a whole run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from proctor.agents.base import Session
from proctor.agents.load import load_agent
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import user_text


@pytest.fixture
def talk() -> Callable[..., tuple[list[Event], Session]]:
    """Send messages to an agent, one after the other, in one session."""

    def run(agent: str, *texts: str, **session: Any) -> tuple[list[Event], Session]:
        return asyncio.run(_talk(agent, texts, session))

    return run


async def _talk(agent: str, texts: tuple[str, ...], given: dict[str, Any]) -> tuple[list[Event], Session]:
    loaded: Any = load_agent(agent)
    session = Session(**{"id": "s-1", "app_name": "shop", "user_id": "ann", **given})
    events = []
    try:
        for text in texts:
            async for event in loaded.answer(user_text(text), session):
                if event.state_delta:
                    session.state.update(event.state_delta)
                events.append(event)
    finally:
        await loaded.close()
    return events, session
