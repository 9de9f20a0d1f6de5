"""What the tests of agents share: a project folder of one's own, and talking to an agent."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.agents import import_user_code
from proctor.agents.base import Agent, Session
from proctor.schema.evidence.convert_events import invocation_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, text_of, user_text
from proctor.schema.format.invocation import Invocation


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder; its imported modules are removed at the end."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(import_user_code, "_roots", set())
    monkeypatch.setattr(import_user_code, "_packages", {})
    before = set(sys.modules)
    yield tmp_path
    new = set(sys.modules) - before
    for name in [name for name in new if _is_in(sys.modules[name], tmp_path)]:
        del sys.modules[name]


def _is_in(module: Any, folder: Path) -> bool:
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", None) or []), "")
    return bool(file) and Path(file).is_relative_to(folder)


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files by their relative paths."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def new_session(**state: Any) -> Session:
    return Session("session-1", "app", "user", dict(state))


async def ask(agent: Agent, message: str | Content = "hi", session: Session | None = None) -> list[Event]:
    """The events of one turn."""
    content = user_text(message) if isinstance(message, str) else message
    return [event async for event in agent.answer(content, session or new_session())]


def ask_sync(agent: Agent, message: str | Content = "hi", session: Session | None = None) -> list[Event]:
    return asyncio.run(ask(agent, message, session))


def last_text(agent: Agent, message: str | Content = "hi", session: Session | None = None) -> str:
    """Return the final text of an agent in one turn."""
    return text_of(read(ask_sync(agent, message, session)).final_response)


def read(events: list[Event]) -> Invocation:
    return invocation_of(Turn(user_content=user_text("hi"), events=events), invocation_id="i")
