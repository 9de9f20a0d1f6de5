"""`adk+http:` against google-adk's own REST server, in a separate process."""

from __future__ import annotations

import asyncio
import itertools
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from proctor.agents.base import AgentInfo, Session
from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentLoadError, AgentRaisedError
from proctor.schema.evidence.convert_events import facts_of_turn
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, user_text
from tests.agents.conftest import read
from tests.agents.frameworks.toys.adk_http import AGENT, serving, write_app

pytest.importorskip("httpx", reason="the extra `http` is not installed")
pytestmark = [pytest.mark.needs_adk, pytest.mark.slow]

KEEPER = '''
import asyncio
from typing import Any
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types
from tests.agents.adk.adk_script import LlmAgent, Scripted, call, response, text

class Model(Scripted):
    """Call what the user's text names; then answer that it is done."""
    steps: list[Any] = []
    async def generate_content_async(self, request: Any, stream: bool = False):
        last = request.contents[-1].parts[-1]
        if last.function_response is not None:
            step = text(f"done: {last.function_response.response}")
        elif last.text.startswith("call "):
            name, *args = last.text.split()[1:]
            step = call(name, **dict(one.split("=") for one in args))
        else:
            step = text(f"You sent {last.text}")
        self.steps = [step]
        self.asked.clear()
        async for one in super().generate_content_async(request, stream):
            yield one

async def save(name: str, tool_context: ToolContext) -> dict[str, Any]:
    """Saves."""
    tool_context.state["user:last"] = name
    tool_context.state["temp:x"] = 1
    return {"version": await tool_context.save_artifact(name, types.Part(text="v"))}

def approve(what: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}

def boom() -> dict[str, Any]:
    """Raises."""
    raise LookupError("no such thing")

async def wait(seconds: str) -> dict[str, Any]:
    """Waits."""
    await asyncio.sleep(float(seconds))
    return {}

root_agent = LlmAgent(name="keeper", model=Model(), description="Keeps.", instruction="Keep.",
                      tools=[save, LongRunningFunctionTool(approve), boom, wait])
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Two apps, below a prefix of the URL."""
    folder = tmp_path_factory.mktemp("apps")
    write_app(folder, "toy", AGENT)
    write_app(folder, "keeper", KEEPER)
    with serving(folder) as url:
        yield url


@pytest.fixture(params=["", "?via=run"])
def keeper(server: str, request: pytest.FixtureRequest) -> str:
    return f"adk+http:{server}/keeper{request.param}"


Said = str | Content
IDS = itertools.count()
"""A server keeps the artifacts of a session that is deleted."""


def talk(
    agent: str, *messages: Said, end: bool = True, **given: Any
) -> tuple[list[list[Event]], dict[str, Any]]:
    """The events of each turn of one trial, and the state after it."""

    async def main() -> tuple[list[list[Event]], dict[str, Any]]:
        loaded: Any = load_agent(agent)
        session = Session(**{"id": f"s-{next(IDS)}", "app_name": "shop", "user_id": "ann", **given})
        await loaded.open()
        await loaded.begin(session, None)
        try:
            turns = [[event async for event in loaded.answer(_as_content(one), session)] for one in messages]
            return turns, await loaded.final_state(session)
        finally:
            if end:
                await loaded.end(session)
            await loaded.close()

    return asyncio.run(main())


async def _all(turn: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in turn]


def _as_content(message: Said) -> Content:
    return user_text(message) if isinstance(message, str) else message


def sessions(server: str, user: str = "ann") -> list[str]:
    with urllib.request.urlopen(f"{server}/apps/keeper/users/{user}/sessions") as reply:
        return [one["id"] for one in json.load(reply)]


def test_a_call_its_response_the_answer_and_the_tokens(keeper: str) -> None:
    ((*events,),), _ = talk(keeper, "call save name=note")
    found = read(events)
    assert [(call.name, call.args) for call in found.tool_calls] == [("save", {"name": "note"})]
    assert [one.response for one in found.tool_responses] == [{"version": 0}]
    assert found.final_response is not None
    assert found.final_response.joined_text() == "done: {'version': 0}"
    facts = facts_of_turn(Turn(user_content=Content(parts=[]), events=events))
    assert (facts.model_calls, [one.total_token_count for one in facts.usages]) == (2, [5, 5])
    assert sum(event.usage_metadata is not None for event in events) == 2
    assert {event.author for event in events} == {"keeper"}
    assert [event.model_extra for event in events if event.model_extra] == [{"artifact_delta": {"note": 0}}]


def test_state_goes_in_and_comes_out(keeper: str) -> None:
    state = {"start": {"deep": [1, None]}, "app:a": 1, "temp:gone": 1}
    _, after = talk(keeper, "call save name=note", state=state, user_id="bob ö")
    assert after == {"start": {"deep": [1, None]}, "app:a": 1, "user:last": "note"}


def test_what_is_streamed_counts_once(server: str) -> None:
    ((*events,),), _ = talk(f"adk+http:{server}/keeper?streaming=true", "call save name=note")
    assert any(event.partial for event in events)
    assert [one.name for one in read(events).tool_calls] == ["save"]
    facts = facts_of_turn(Turn(user_content=Content(parts=[]), events=events))
    assert (facts.model_calls, len(facts.usages)) == (2, 2)


@pytest.mark.nightly(check=1)
def test_a_long_running_call_is_answered_by_the_next_turn(keeper: str) -> None:
    answer = {"function_response": {"name": "approve", "response": {"status": "yes"}}}
    (first, second), _ = talk(
        keeper, "call approve what=trip", Content.model_validate({"role": "user", "parts": [answer]})
    )
    assert any(event.long_running_tool_ids for event in first)
    final = read(second).final_response
    assert final is not None
    assert final.joined_text() == "done: {'status': 'yes'}"


@pytest.mark.nightly(check=1)
def test_sessions_are_deleted_after_the_trial(server: str, keeper: str) -> None:
    talk(keeper, "hi", end=False, user_id="left", id="s-left")
    assert sessions(server, "left") == ["s-left"]
    talk(keeper, "hi", user_id="tidy")
    assert sessions(server, "tidy") == []
    talk(keeper, "hi", user_id="left", id="s-left")  # it existed before: continued, and kept
    assert sessions(server, "left") == ["s-left"]


@pytest.mark.parametrize(("via", "kind"), [("", "LookupError"), ("?via=run", "500")])
def test_exception_of_a_tool_is_reported(server: str, via: str, kind: str) -> None:
    """`run` answers with status 500 alone; the stream contains the cause."""
    with pytest.raises(AgentRaisedError) as caught:
        talk(f"adk+http:{server}/keeper{via}", "call boom")
    assert caught.value.type == kind
    assert via or str(caught.value) == "no such thing"


@pytest.mark.nightly
def test_pinned_sessions_at_the_same_time_wait_for_each_other(server: str) -> None:
    """Twenty trials of one pinned session: each begins with the state of the case."""
    case = {
        "eval_id": "c",
        "session_input": {"app_name": "x", "user_id": "pin", "session_id": "pinned", "state": {"n": 1}},
        "conversation": [
            {
                "user_content": {"parts": [{"text": "hi"}]},
                "final_response": {"parts": [{"text": "You sent hi"}]},
            }
        ],
        "final_session_state": {"n": 1},
    }
    result = proctor.evaluate_sync(
        f"adk+http:{server}/keeper",
        {"eval_set_id": "s", "eval_cases": [case]},
        config={"criteria": {"response_match_score": 1.0}},
        num_runs=20,
    )
    assert result.passed, result.cases[0].reason
    assert sessions(server, "pin") == []
    user_texts = [len(trial.trial.turns) for trial in result.cases[0].trials if trial.trial]
    assert user_texts == [1] * 20


def test_a_deadline_ends_the_turn_and_the_next_trial_is_clean(server: str) -> None:
    async def main() -> None:
        loaded: Any = load_agent(f"adk+http:{server}/keeper")
        session = Session("slow", "a", "slow")
        await loaded.open()
        await loaded.begin(session, None)
        turn = loaded.answer(user_text("call wait seconds=60"), session)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_all(turn), 0.5)
        await loaded.end(session)
        await loaded.close()

    asyncio.run(main())
    assert sessions(server, "slow") == []
    ((*events,),), _ = talk(f"adk+http:{server}/keeper", "hi", id="slow", user_id="slow")
    assert events


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/keper", r"has no app 'keper'. Did you mean 'keeper'\? It has: keeper, toy."),
        ("", r"names no app, and its server has 2: keeper, toy. Name one: adk\+http:http.*/keeper"),
        ("/", "names no app, and its server has 2"),
        ("/keeper?via=ws", "expected via=run_sse or via=run"),
        ("/keeper?streaming=yes", "streaming=true or streaming=false"),
    ],
)
def test_choice_of_the_app(server: str, path: str, message: str) -> None:
    with pytest.raises(AgentLoadError, match=message):
        talk(f"adk+http:{server}{path}", "hi")


@pytest.mark.nightly
def test_the_only_app_need_not_be_named_also_below_a_prefix(tmp_path: Path) -> None:
    write_app(tmp_path, "keeper", KEEPER)
    with serving(tmp_path, "adk_server.py", "/pre/fix") as url:
        for path in ("/pre/fix", "/pre/fix/", "/pre/fix/keeper"):
            ((*events,),), _ = talk(f"adk+http:{url}{path}", "hi")
            assert read(events).final_response is not None


def test_server_describes_its_agent(server: str) -> None:
    async def main() -> AgentInfo:
        loaded: Any = load_agent(f"adk+http:{server}/keeper")
        await loaded.open()
        info: AgentInfo = await loaded.describe()
        await loaded.close()
        return info

    info = asyncio.run(main())
    assert (info.name, info.description) == ("keeper", "Keeps.")
    assert info.app_details is not None
    assert info.app_details["agent_details"]["keeper"]["instructions"] == "Keep."
    assert "save" in json.dumps(info.app_details)


@pytest.mark.nightly(check=1)
def test_refusal_of_a_message_by_the_server_is_reported(keeper: str) -> None:
    bad = Content.model_validate({"role": "user", "parts": [{"function_call": {"name": "x"}}]})
    with pytest.raises(AgentError):
        talk(keeper, bad)
