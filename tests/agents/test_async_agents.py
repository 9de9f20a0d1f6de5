"""`get_agent_async`: made when the run opens, in its own event loop; what came with it is closed at the end."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.adapt import FactoryAgent
from proctor.agents.base import AgentInfo
from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentLoadError
from tests.agents.conftest import ask, new_session, read, write

STACKED = """
from contextlib import {stack}
closed = []
def root(text): return "late " + text
{define} get_agent_async():
    stack = {stack}()
    stack.callback(closed.append, "closed")
    return root, stack
"""


async def _one_run(agent: Any, message: str = "hi") -> str:
    await agent.open()
    events = await ask(agent, message)
    await agent.close()
    final = read(events).final_response
    return final.joined_text() if final else ""


@pytest.mark.parametrize("define", ["def", "async def"])
@pytest.mark.parametrize("stack", ["ExitStack", "AsyncExitStack"])
def test_the_agent_and_its_stack(project: Path, define: str, stack: str) -> None:
    write(project, {"bot/__init__.py": "from . import agent"})
    write(project, {"bot/agent.py": STACKED.format(stack=stack, define=define)})
    agent = load_agent("bot")
    assert asyncio.run(_one_run(agent)) == "late hi"
    import sys

    assert sys.modules["bot.agent"].closed == ["closed"]


@pytest.mark.parametrize("define", ["def", "async def"])
def test_the_agent_alone(project: Path, define: str) -> None:
    write(project, {"bot.py": f"{define} get_agent_async():\n    return lambda text: 'alone ' + text"})
    assert asyncio.run(_one_run(load_agent("bot"))) == "alone hi"


@pytest.mark.parametrize("define", ["@asynccontextmanager\nasync def", "@contextmanager\ndef"])
def test_context_manager_that_was_not_entered_is_not_an_agent(project: Path, define: str) -> None:
    write(
        project,
        {"bot.py": f"from contextlib import *\n{define} get_agent_async():\n    yield lambda text: text"},
    )
    with pytest.raises(AgentLoadError, match=r"enter it into an AsyncExitStack, and return \(agent, stack\)"):
        asyncio.run(_one_run(load_agent("bot")))


def test_it_may_be_named_as_an_attribute(project: Path) -> None:
    write(
        project, {"bot.py": "def root_agent(text): ...\nasync def get_agent_async():\n    return str.upper"}
    )
    assert asyncio.run(_one_run(load_agent("bot:get_agent_async"))) == "HI"


class Full:
    """An agent with all optional parts, which writes down what is asked of it."""

    name = "full"

    def __init__(self) -> None:
        self.log: list[str] = []

    async def open(self) -> None:
        self.log.append("open")

    def close(self) -> None:
        self.log.append("close")

    def begin(self, session: Any, case: Any) -> None:
        self.log.append(f"begin {case}")

    async def end(self, session: Any) -> None:
        self.log.append("end")

    def describe(self) -> AgentInfo:
        return AgentInfo(name="described")

    def final_state(self, session: Any) -> dict[str, Any]:
        return {"final": True}

    async def answer(self, message: Any, session: Any) -> Any:
        self.log.append("answer")
        return
        yield


def test_every_optional_part_is_passed_on() -> None:
    full = Full()

    async def main() -> tuple[AgentInfo, dict[str, Any]]:
        agent, session = FactoryAgent(lambda: full, label="x"), new_session(a=1)
        await agent.open()
        await agent.begin(session, "case")  # type: ignore[arg-type]  # it is only passed on
        await ask(agent)
        state = await agent.final_state(session)
        await agent.end(session)
        info = await agent.describe()
        await agent.close()
        return info, state

    info, state = asyncio.run(main())
    assert info.name == "described"
    assert state == {"final": True}
    assert full.log == ["open", "begin case", "answer", "end", "close"]


def test_an_agent_without_optional_parts_needs_none() -> None:
    async def main() -> tuple[AgentInfo, dict[str, Any]]:
        agent, session = FactoryAgent(lambda: str.upper, label="x"), new_session(a=1)
        await agent.open()
        await agent.begin(session, None)  # type: ignore[arg-type]  # it is only passed on
        await agent.end(session)
        state, info = await agent.final_state(session), await agent.describe()
        await agent.close()
        return info, state

    info, state = asyncio.run(main())
    assert info.name == "x"
    assert state == {"a": 1}


@pytest.mark.parametrize(
    ("factory", "error", "message"),
    [
        (lambda: 42, AgentLoadError, "int 42"),
        (lambda: None, AgentLoadError, "NoneType"),
        (lambda: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_a_factory_that_makes_no_agent(
    factory: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        asyncio.run(FactoryAgent(factory, label="late").open())


@pytest.mark.parametrize("stack", [ExitStack, AsyncExitStack])
def test_the_stack_is_closed_even_when_the_agent_is_none(stack: Any) -> None:
    closed: list[str] = []
    held = stack()
    held.callback(closed.append, "closed")
    with pytest.raises(AgentLoadError):
        asyncio.run(FactoryAgent(lambda: (42, held), label="late").open())
    assert closed == ["closed"]


def test_it_answers_only_while_it_is_open() -> None:
    agent = FactoryAgent(lambda: str.upper, label="late")
    with pytest.raises(AgentError, match="late is not open"):
        asyncio.run(ask(agent))


def test_a_sub_agent_is_picked_when_it_is_made() -> None:
    root = Full()
    root.sub_agents = [below := Full()]  # type: ignore[attr-defined]  # as agents of google-adk have it
    below.name = "below"
    agent = FactoryAgent(lambda: root, label="late", agent_name="below")
    asyncio.run(agent.open())
    assert below.log == ["open"]
    assert root.log == []
    with pytest.raises(AgentLoadError, match="It has: full, below"):
        asyncio.run(FactoryAgent(lambda: root, label="late", agent_name="belo").open())
