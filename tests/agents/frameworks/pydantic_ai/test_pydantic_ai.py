"""Agents of pydantic-ai: the real library, its runs, tools and deps; only the model is a script."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, ImageUrl, ModelRetry, RunContext
from pydantic_ai.exceptions import UnexpectedModelBehavior, UsageLimitExceeded
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

import proctor
from proctor.agents.adapt import as_agent
from proctor.agents.base import Session
from proctor.agents.frameworks.pydantic_ai import PydanticAiAgent
from proctor.agents.load import agent_folder, load_agent
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Blob, Content, FileData, FunctionResponse, Part, user_text
from tests.agents.conftest import ask, new_session, read
from tests.agents.frameworks.conversations import answer_of, calls, conversation

Step = str | list[Any]


def script(*turns: list[Step]) -> FunctionModel:
    """A model that answers turn by turn: a text, or a list of calls `(name, args)`, texts, or parts."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        users = [
            i
            for i, message in enumerate(messages)
            if any(isinstance(p, UserPromptPart) for p in message.parts)
        ]
        done = sum(isinstance(message, ModelResponse) for message in messages[users[-1] :])
        step = turns[len(users) - 1][done]
        parts = [_part(one) for one in ([step] if isinstance(step, str) else step)]
        return ModelResponse(
            parts=parts, usage=RequestUsage(input_tokens=3, output_tokens=2), model_name="script-1"
        )

    return FunctionModel(answer, model_name="script-1")


def _part(one: Any) -> Any:
    if isinstance(one, str):
        return TextPart(one)
    return ToolCallPart(one[0], one[1]) if isinstance(one, tuple) else one


def test_it_is_recognised_by_its_type() -> None:
    assert isinstance(as_agent(Agent(script(["hi"])), label="a"), PydanticAiAgent)


def test_parallel_calls_are_paired_with_their_responses_in_any_order() -> None:
    agent = Agent(script([[("wait", {"ms": 30}), ("wait", {"ms": 1})], "Done."]), name="bot")

    @agent.tool_plain
    async def wait(ms: int) -> int:
        await asyncio.sleep(ms / 1000)
        return ms

    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert calls(events) == [("wait", {"ms": 30}, {"result": 30}), ("wait", {"ms": 1}, {"result": 1})]
    assert answer_of(events) == "Done."
    assert {event.author for event in events} == {"bot"}


def test_the_tokens_and_the_model_of_each_answer() -> None:
    agent = Agent(script([[("now", {})], "It is late."]))
    agent.tool_plain(name="now")(lambda: "late")
    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert [usage.total_token_count for usage in read(events).usage_metadata] == [5, 5]
    assert [event.model_version for event in events if event.usage_metadata] == ["script-1", "script-1"]


def test_tokens_of_agents_within_tools_are_not_lost() -> None:
    inner = Agent(script(["4"]))
    agent = Agent(script([[("add", {})], "It is 4."]))

    @agent.tool
    async def add(ctx: RunContext[Any]) -> str:
        return str((await inner.run("2 + 2", usage=ctx.usage)).output)

    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert sum(usage.total_token_count or 0 for usage in read(events).usage_metadata) == 15


def test_conversation_keeps_its_state() -> None:
    _, second = conversation(PydanticAiAgent(Agent(script(["One."], ["Two."]))), "first", "second")
    assert answer_of(second) == "Two."


def test_text_before_a_call_is_not_an_answer_and_thoughts_are_thoughts() -> None:
    agent = Agent(script([[ThinkingPart("Hm."), "Let me see.", ("now", {})], "It is late."]))
    agent.tool_plain(name="now")(lambda: "late")
    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert answer_of(events) == "It is late."
    (first, *_) = [event.content for event in events if event.content]
    assert [(part.text, part.thought) for part in first.parts or () if part.text] == [
        ("Hm.", True),
        ("Let me see.", None),
    ]


# --- state -----------------------------------------------------------------------------------------------------------


class Shop(BaseModel):
    city: str
    visits: int = 0


@dataclass
class Plain:
    city: str
    visits: int = 0


def _counting(kind: Any) -> Agent[Any, str]:
    agent: Agent[Any, str] = Agent(script([[("visit", {})], "Done."]), deps_type=kind)

    @agent.tool
    def visit(ctx: RunContext[Any]) -> str:
        if isinstance(ctx.deps, dict):
            ctx.deps["visits"] = ctx.deps.get("visits", 0) + 1
            return str(ctx.deps["city"])
        ctx.deps.visits += 1
        return str(ctx.deps.city)

    return agent


@pytest.mark.parametrize("kind", [Shop, Plain, dict, type(None)], ids=lambda kind: kind.__name__)
def test_state_goes_in_as_deps_and_comes_out(kind: Any) -> None:
    agent, session = PydanticAiAgent(_counting(kind)), new_session(city="Rome", other=1)
    (events,) = conversation(agent, "go", session=session)
    assert calls(events) == [("visit", {}, {"result": "Rome"})]
    assert agent.final_state(session) == {"city": "Rome", "visits": 1, "other": 1}


def test_deps_that_the_state_lacks_are_reported() -> None:
    with pytest.raises(
        AgentError, match=r"deps \(Shop\) cannot be made of the session's state: city: .*session_input"
    ):
        conversation(PydanticAiAgent(_counting(Shop)), "go")


class Client:
    def __init__(self, user: str) -> None:
        self.city, self.visits, self._user = user, 0, user


async def _client(session: Session) -> Client:
    return Client(session.user_id)


@pytest.mark.parametrize("make", [_client, lambda session: Client(session.user_id)], ids=["async", "plain"])
def test_deps_that_are_no_data_are_made_by_a_function(make: Callable[[Session], Any]) -> None:
    (events,) = conversation(PydanticAiAgent(_counting(Client), deps=make), "go")
    assert calls(events) == [("visit", {}, {"result": "user"})]


def test_deps_may_be_the_session() -> None:
    agent: Agent[Session, str] = Agent(script([[("who", {})], "Done."]), deps_type=Session)

    @agent.tool
    def who(ctx: RunContext[Session]) -> str:
        ctx.deps.state["asked"] = True
        return str(ctx.deps.user_id)

    adapter, session = PydanticAiAgent(agent), new_session()
    (events,) = conversation(adapter, "go", session=session)
    assert calls(events) == [("who", {}, {"result": "user"})]
    assert adapter.final_state(session) == {"asked": True}


@pytest.mark.parametrize("kind", [Client, str], ids=lambda kind: kind.__name__)
def test_deps_that_are_no_data_ask_for_a_function(kind: Any) -> None:
    expected = rf"type {kind.__name__}; give a function .*PydanticAiAgent\(agent, deps=make\)"
    with pytest.raises(AgentError, match=expected):
        conversation(PydanticAiAgent(_counting(kind)), "go")


@pytest.mark.nightly
@pytest.mark.slow
def test_two_hundred_conversations_at_once_do_not_mix() -> None:
    agent: Agent[dict[str, Any], str] = Agent(
        script([[("own", {})], "Done."], [[("own", {})], "Done."]), deps_type=dict
    )

    @agent.tool
    async def own(ctx: RunContext[dict[str, Any]]) -> int:
        await asyncio.sleep(0)
        ctx.deps["seen"] = ctx.deps.get("seen", 0) + 1
        return int(ctx.deps["n"])

    adapter = PydanticAiAgent(agent)

    async def one(number: int) -> Any:
        session = Session(f"s{number}", "app", "user", {"n": number})
        events = [await ask(adapter, "go", session) for _ in range(2)]
        return [calls(turn)[0][2] for turn in events], adapter.final_state(session)

    async def main() -> list[Any]:
        return list(await asyncio.gather(*map(one, range(200))))

    assert asyncio.run(main()) == [([{"result": n}] * 2, {"n": n, "seen": 2}) for n in range(200)]


# --- output ------------------------------------------------------------------------------------------------------------


class Place(BaseModel):
    city: str
    country: str


def test_structured_output_is_json_and_its_tool_is_not_a_call() -> None:
    agent = Agent(script([[("final_result", {"city": "Rome", "country": "Italy"})]]), output_type=Place)
    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert answer_of(events) == '{"city": "Rome", "country": "Italy"}'
    assert calls(events) == []


def test_output_function_gives_the_answer() -> None:
    def shout(text: str) -> str:
        return text.upper()

    agent = Agent(script([[("final_result", {"text": "hey"})]]), output_type=shout)
    (events,) = conversation(PydanticAiAgent(agent), "go")
    assert answer_of(events) == "HEY"
    assert calls(events) == []


# --- what goes wrong -----------------------------------------------------------------------------------------------------


def _raises(error: Exception) -> Agent[Any, str]:
    agent: Agent[Any, str] = Agent(script([[("boom", {})], "Recovered."]))

    @agent.tool_plain
    def boom() -> str:
        raise error

    return agent


def test_what_a_tool_raises_passes_through() -> None:
    with pytest.raises(LookupError, match="no such thing"):
        conversation(PydanticAiAgent(_raises(LookupError("no such thing"))), "go")


def test_a_tool_that_asks_for_another_try_has_answered_with_an_error() -> None:
    agent = Agent(script([[("pick", {"n": 1})], [("pick", {"n": 2})], "Two."]))

    @agent.tool_plain
    def pick(n: int) -> int:
        if n == 1:
            raise ModelRetry("not one")
        return n

    (events,) = conversation(PydanticAiAgent(agent), "go")
    (_, _, first), (_, _, second) = calls(events)
    assert "not one" in str(first)
    assert second == {"result": 2}


def test_an_unknown_tool_that_the_model_insists_on_is_an_error() -> None:
    agent = Agent(script([[("nothing", {})], [("nothing", {})], [("nothing", {})]]))
    with pytest.raises(UnexpectedModelBehavior):
        conversation(PydanticAiAgent(agent), "go")


@pytest.mark.slow
def test_an_endless_loop_ends_by_the_limit_of_the_library() -> None:
    def again(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart("now", {})])

    agent = Agent(FunctionModel(again))
    agent.tool_plain(name="now")(lambda: "late")
    with pytest.raises(UsageLimitExceeded):
        conversation(PydanticAiAgent(agent), "go")


def test_what_was_done_before_an_error_is_evidence() -> None:
    result = proctor.evaluate_sync(
        _raises(LookupError("no such thing")),
        _set("go", "anything"),
        config={"criteria": {"response_match_score": 0.5}},
    )
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert trial.failure is not None
    assert trial.failure.cause == "agent raised in turn 1: LookupError: no such thing"
    assert [call.name for call in trial.invocations[0].tool_calls] == ["boom"]


ENDING = """
import sys
from pydantic_ai import Agent, RunContext
from pydantic_ai.models.test import TestModel

root_agent = Agent(TestModel(custom_output_text="Hello."), deps_type=dict)


@root_agent.tool
async def leave(ctx: RunContext[dict]) -> str:
    if ctx.deps.get("leaves"):
        raise {error}
    return "stayed"
"""


@pytest.mark.slow
@pytest.mark.parametrize("error", ["SystemExit(0)", "KeyboardInterrupt"])
def test_a_tool_that_ends_the_program_ends_its_own_trial_only(error: str, tmp_path: Path) -> None:
    """Tools are run in tasks of the library's own: what they raise of this kind comes out of the event loop."""
    (tmp_path / "bot.py").write_text(ENDING.replace("{error}", error))
    cases = _set("go", "Hello.")
    (case,) = cases["eval_cases"]
    session = {"app_name": "a", "user_id": "u", "state": {"leaves": True}}
    cases["eval_cases"] = [
        {**case, "eval_id": "leaves", "session_input": session},
        {**case, "eval_id": "stays"},
    ]
    (tmp_path / "s.evalset.json").write_text(json.dumps(cases))
    (tmp_path / "c.json").write_text('{"criteria": {"response_match_score": 0.5}}')
    command = [
        "-m",
        "proctor",
        "eval",
        "bot.py",
        "s.evalset.json",
        "--config",
        "c.json",
        "--store",
        "memory:",
    ]
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "PASSED  s/stays" in done.stdout
    assert f"agent raised in turn 1: {error.partition('(')[0]}" in done.stdout


def _set(text: str, answer: str) -> dict[str, Any]:
    turn = {"user_content": {"parts": [{"text": text}]}, "final_response": {"parts": [{"text": answer}]}}
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}


def test_cancellation_ends_the_work_at_once() -> None:
    begun, ended = asyncio.Event(), list[str]()
    agent = Agent(script([[("hang", {})], "never"]))

    @agent.tool_plain
    async def hang() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")

    async def main() -> None:
        asking = asyncio.ensure_future(ask(PydanticAiAgent(agent), "go"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert ended == ["tool"]


# --- calls that wait -------------------------------------------------------------------------------------------------------


def _careful() -> Agent[Any, Any]:
    agent: Agent[Any, Any] = Agent(
        script([[("delete", {"file": "a"})], "Deleted."], ["It was told so."]),
        output_type=[str, DeferredToolRequests],
    )

    @agent.tool_plain(requires_approval=True)
    def delete(file: str) -> str:
        return f"{file} is gone"

    return agent


def _answer(name: str, response: dict[str, Any]) -> Content:
    return Content(
        role="user", parts=[Part(function_response=FunctionResponse(name=name, response=response))]
    )


@pytest.mark.parametrize(
    ("response", "result"),
    [
        ({"confirmed": True}, "a is gone"),
        ({"confirmed": False}, "The tool call was denied."),
        ({"confirmed": False, "message": "Not this one."}, "Not this one."),
    ],
)
def test_an_approval_ends_the_turn_and_is_answered_in_the_next(response: dict[str, Any], result: str) -> None:
    first, second = conversation(PydanticAiAgent(_careful()), "go", _answer("delete", response))
    assert [call.name for call in read(first).tool_calls] == ["delete"]
    assert [event.long_running_tool_ids for event in first if event.long_running_tool_ids] != []
    assert read(first).final_response is None
    (back,) = read(second).tool_responses
    assert result in str(back.response)
    assert answer_of(second) == "Deleted."


def test_turn_that_answers_an_approval_does_not_repeat_the_turn_before() -> None:
    agent = Agent(
        script([[("delete", {"file": "a"}), ("delete", {"file": "b"}), ("look", {})], "Done."], ["Done."]),
        output_type=[str, DeferredToolRequests],
    )
    agent.tool_plain(requires_approval=True, name="delete")(_delete)
    agent.tool_plain(name="look")(_look)
    answers = [part for sure in (True, False) for part in _answer("delete", {"confirmed": sure}).parts or []]
    first, second = conversation(PydanticAiAgent(agent), "go", Content(role="user", parts=answers))
    assert [call.name for call in read(first).tool_calls] == ["delete", "delete", "look"]
    assert [back.name for back in read(first).tool_responses] == ["look"]
    assert read(second).tool_calls == []
    responses = [(back.name, (back.response or {})["result"]) for back in read(second).tool_responses]
    assert responses == [("delete", "a is gone"), ("delete", "The tool call was denied.")]
    assert [len(read(turn).usage_metadata) for turn in (first, second)] == [1, 1]


def _delete(file: str) -> str:
    return f"{file} is gone"


def _look() -> int:
    return 1


def test_an_unclear_answer_to_an_approval_is_an_error() -> None:
    with pytest.raises(AgentError, match=r"approval of 'delete' .*expected \{\"confirmed\": true\}"):
        conversation(PydanticAiAgent(_careful()), "go", _answer("delete", {"yes": 1}))


def test_an_answer_to_a_call_that_was_not_made_is_an_error() -> None:
    with pytest.raises(AgentError, match="calls that wait for an answer: delete"):
        conversation(PydanticAiAgent(_careful()), "go", _answer("remove", {"confirmed": True}))


# --- messages, descriptions, time --------------------------------------------------------------------------------------------


def test_media_of_the_user_reach_the_model() -> None:
    seen: list[Any] = []

    def look(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(part.content for part in messages[-1].parts if isinstance(part, UserPromptPart))
        return ModelResponse(parts=[TextPart("Nice.")])

    parts = [
        Part(text="What is this?"),
        Part(inline_data=Blob(data=b"png", mime_type="image/png")),
        Part(file_data=FileData(file_uri="https://example.com/a.jpg", mime_type="image/jpeg")),
    ]
    conversation(PydanticAiAgent(Agent(FunctionModel(look))), Content(role="user", parts=parts))
    (text, png, url) = seen[0]
    assert text == "What is this?"
    assert isinstance(png, BinaryContent)
    assert (png.data, png.media_type) == (b"png", "image/png")
    assert isinstance(url, ImageUrl)


def test_a_part_that_has_no_place_is_an_error() -> None:
    part = Part.model_validate({"function_call": {"name": "x"}})
    with pytest.raises(AgentError, match=r"pydantic-ai has no place for a part .* it has function_call"):
        conversation(PydanticAiAgent(Agent(script(["hi"]))), Content(role="user", parts=[part]))


def test_agent_describes_itself_and_each_turn_its_prompt() -> None:
    agent: Agent[Any, str] = Agent(
        script([[("add", {"a": 1, "b": 2})], "3"]), name="calc", instructions="Be exact.", deps_type=dict
    )

    @agent.instructions
    def who(ctx: RunContext[Any]) -> str:
        return f"The user is from {ctx.deps['city']}."

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    adapter, session = PydanticAiAgent(agent), new_session(city="Rome")
    info = adapter.describe()
    assert (info.name, info.has_more_tools) == ("calc", False)
    assert info.app_details is not None
    described = info.app_details["agent_details"]["calc"]
    assert described["instructions"] == "Be exact."
    (tool,) = described["tool_declarations"][0]["function_declarations"]
    assert (tool["name"], tool["description"], list(tool["parameters_json_schema"]["properties"])) == (
        "add",
        "Adds.",
        ["a", "b"],
    )
    conversation(adapter, "go", session=session)
    turn = session.memory["app_details"]["agent_details"]["calc"]
    assert turn["instructions"] == "Be exact.\n\nThe user is from Rome."
    assert turn["tool_declarations"] == described["tool_declarations"]


def test_model_and_tools_are_timed_and_tools_at_once_not_twice() -> None:
    agent = Agent(script([[("wait", {}), ("wait", {})], "Done."]))

    @agent.tool_plain
    async def wait() -> str:
        await asyncio.sleep(1)
        return "waited"

    session = new_session()
    conversation(PydanticAiAgent(agent), "go", session=session)
    durations = session.memory["durations"]
    assert 1 <= durations["tool"] < 1.9
    assert 0 <= durations["model"] < 0.9


def test_an_agent_of_another_class_with_the_same_contract_is_recognised() -> None:
    from pydantic_ai.agent import WrapperAgent

    (events,) = conversation(as_agent(WrapperAgent(Agent(script(["hi"]))), label="w"), "go")
    assert answer_of(events) == "hi"


def test_the_user_s_text_is_one_text() -> None:
    seen: list[Any] = []

    async def look(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(part.content for part in messages[-1].parts)
        return ModelResponse(parts=[TextPart("Yes.")])

    conversation(PydanticAiAgent(Agent(FunctionModel(look))), user_text("Hello?"))
    assert seen == ["Hello?"]


def test_a_stream_that_is_left_early_is_closed() -> None:
    agent = Agent(script([[("now", {})], "Done."]))
    agent.tool_plain(name="now")(lambda: "late")

    async def main() -> None:
        events: AsyncIterator[Event] = PydanticAiAgent(agent).answer(user_text("go"), new_session())
        async for _ in events:
            break
        await events.aclose()  # type: ignore[attr-defined]  # an async generator

    asyncio.run(main())


FILE = """
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

helper = Agent(TestModel())
Kind = Agent
"""


@pytest.mark.slow
def test_file_with_another_agent_name_gives_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        AgentLoadError,
        match=r"Did you mean 'helper'\? Add the line `root_agent = helper` .* or give bot\.py:helper as the agent\.",
    ):
        load_agent("bot.py")
    assert isinstance(load_agent("bot.py:helper"), PydanticAiAgent)
    with pytest.raises(
        AgentLoadError, match=r"is the class Agent; expected an instance of it: Agent\(\.\.\.\)"
    ):
        load_agent("bot.py:Kind")


@pytest.mark.slow
def test_file_with_the_name_of_the_library_is_reported(tmp_path: Path) -> None:
    (tmp_path / "pydantic_ai.py").write_text(FILE)
    program = f"from proctor.agents.load import load_agent; load_agent({str(tmp_path / 'pydantic_ai.py')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "a package called pydantic_ai, too? Then this file hides it" in done.stderr


def test_its_own_library_is_not_its_folder() -> None:
    assert agent_folder(Agent(TestModel())) is None


@pytest.mark.parametrize(
    ("finish", "code"),
    [("stop", None), (None, None), ("length", "length"), ("content_filter", "content_filter")],
)
def test_an_answer_that_is_not_whole_is_an_error(finish: Any, code: str | None) -> None:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("Half of it")], finish_reason=finish)

    (events,) = conversation(PydanticAiAgent(Agent(FunctionModel(answer))), "go")
    assert events[0].content is not None
    assert events[-1].error_code == code
