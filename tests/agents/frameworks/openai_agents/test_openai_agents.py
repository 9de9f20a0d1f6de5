"""Agents of the OpenAI Agents SDK: the real Runner, tools, hand-overs and approvals; only the model is a script."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    Model,
    ModelResponse,
    RunContextWrapper,
    Usage,
    function_tool,
    handoff,
    input_guardrail,
    set_tracing_disabled,
)
from agents.exceptions import ModelRefusalError
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseReasoningItem,
)
from pydantic import BaseModel

import proctor
from proctor.agents.adapt import as_agent
from proctor.agents.base import Session
from proctor.agents.frameworks.openai_agents import OpenAiAgent
from proctor.agents.load import load_agent
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.format.content import Blob, Content, FunctionResponse, Part
from tests.agents.conftest import ask, new_session, read
from tests.agents.frameworks.conversations import answer_of, calls, conversation

set_tracing_disabled(True)


class Script(Model):
    """Answers turn by turn: a text, or a list of calls `(name, args)` and items."""

    model = "script-1"

    def __init__(self, *turns: list[Any]) -> None:
        self.turns = turns
        self.asked: list[Any] = []

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        items = [item if isinstance(item, dict) else item.model_dump() for item in kwargs["input"]]
        self.asked.append(items)
        users = [i for i, item in enumerate(items) if item.get("role") == "user"]
        outputs = [item.get("type") == "function_call_output" for item in items[users[-1] :]]
        done = sum(one and not outputs[i - 1] for i, one in enumerate(outputs))
        step = self.turns[len(users) - 1][done]
        given = [step] if isinstance(step, str) else step
        output = [_item(one, f"c{len(items)}p{place}") for place, one in enumerate(given)]
        usage = Usage(requests=1, input_tokens=3, output_tokens=2, total_tokens=5)
        return ModelResponse(output=output, usage=usage, response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _item(one: Any, call_id: str) -> Any:
    if isinstance(one, str):
        text = ResponseOutputText(type="output_text", text=one, annotations=[])
        return ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        )
    if isinstance(one, tuple):
        args = one[1] if isinstance(one[1], str) else json.dumps(one[1])
        return ResponseFunctionToolCall(type="function_call", call_id=call_id, name=one[0], arguments=args)
    return one


def bot(*turns: list[Any], **fields: Any) -> Agent[Any]:
    return Agent(name="bot", model=Script(*turns), **fields)


@function_tool
async def wait(ms: int) -> int:
    """Waits."""
    await asyncio.sleep(ms / 1000)
    return ms


@function_tool
def visit(ctx: RunContextWrapper[Any]) -> str:
    """Count, in any context."""
    if isinstance(ctx.context, dict):
        ctx.context["visits"] = ctx.context.get("visits", 0) + 1
        return str(ctx.context["city"])
    ctx.context.visits += 1
    return str(ctx.context.city)


def test_it_is_recognised_by_its_type() -> None:
    assert isinstance(as_agent(bot(["hi"]), label="a"), OpenAiAgent)


def test_parallel_calls_are_paired_with_their_responses_in_any_order() -> None:
    agent = bot([[("wait", {"ms": 30}), ("wait", {"ms": 1})], "Done."], tools=[wait])
    (events,) = conversation(OpenAiAgent(agent), "go")
    assert calls(events) == [("wait", {"ms": 30}, {"result": 30}), ("wait", {"ms": 1}, {"result": 1})]
    assert answer_of(events) == "Done."
    assert {event.author for event in events} == {"bot"}


def test_the_tokens_and_the_model_of_each_answer() -> None:
    (events,) = conversation(OpenAiAgent(bot([[("wait", {"ms": 0})], "Done."], tools=[wait])), "go")
    assert [usage.total_token_count for usage in read(events).usage_metadata] == [5, 5]
    assert [event.model_version for event in events if event.usage_metadata] == ["script-1", "script-1"]


def test_tokens_of_agents_within_tools_are_not_lost() -> None:
    inner = Agent(name="inner", model=Script(["4"]))
    agent = bot([[("add", {"input": "2 + 2"})], "It is 4."], tools=[inner.as_tool("add", "Adds.")])
    (events,) = conversation(OpenAiAgent(agent), "go")
    assert calls(events) == [("add", {"input": "2 + 2"}, {"result": "4"})]
    assert sum(usage.total_token_count or 0 for usage in read(events).usage_metadata) == 15


def test_conversation_keeps_its_state() -> None:
    agent = bot(["One."], ["Two."])
    _, second = conversation(OpenAiAgent(agent), "first", "second")
    assert answer_of(second) == "Two."
    assert [item["content"] for item in agent.model.asked[-1] if item.get("role") == "user"] == [
        "first",
        "second",
    ]


def test_hand_over_is_a_call_and_the_other_agent_keeps_the_conversation() -> None:
    other = Agent(name="Other one", model=Script(["x", "I am the other."], ["Still me."]))
    agent = bot([[("transfer_to_other_one", {})], "x"], handoffs=[other])
    first, second = conversation(OpenAiAgent(agent), "go", "and?")
    assert calls(first) == [("transfer_to_agent", {"agent_name": "Other one"}, {"result": None})]
    assert [(event.author, event.content.role if event.content else "") for event in first] == [
        ("bot", "model"),
        ("bot", "user"),
        ("Other one", "model"),
    ]
    assert answer_of(first) == "I am the other."
    assert {event.author for event in second} == {"Other one"}


class Reason(BaseModel):
    why: str


def test_input_of_a_hand_over_is_in_its_arguments() -> None:
    async def noted(ctx: Any, given: Reason) -> None:
        ctx.context["why"] = given.why

    other = Agent(name="other", model=Script(["x", "Hello."]))
    agent = bot(
        [[("ask_other", {"why": "units"})], "x"],
        handoffs=[handoff(other, tool_name_override="ask_other", on_handoff=noted, input_type=Reason)],
    )
    session = new_session()
    (events,) = conversation(OpenAiAgent(agent), "go", session=session)
    assert calls(events)[0][:2] == ("transfer_to_agent", {"agent_name": "other", "why": "units"})
    assert session.state == {"why": "units"}


def test_hosted_tools_are_visible_and_do_not_hide_the_answer() -> None:
    search = ResponseFunctionWebSearch.model_validate(
        {
            "id": "w",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "rain"},
        }
    )
    thinking = ResponseReasoningItem.model_validate(
        {"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    )
    (events,) = conversation(OpenAiAgent(bot([[search, thinking, "It rains."]])), "go")
    assert calls(events)[0][:2] == ("web_search", {"action": {"type": "search", "query": "rain"}})
    assert answer_of(events) == "It rains."


def test_a_refusal_is_an_error_as_the_library_has_it() -> None:
    refusal = ResponseOutputRefusal(type="refusal", refusal="I will not.")
    message = ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[refusal]
    )
    with pytest.raises(ModelRefusalError, match="I will not"):
        conversation(OpenAiAgent(bot([[message]])), "go")


# --- state -----------------------------------------------------------------------------------------------------------


class Shop(BaseModel):
    city: str
    visits: int = 0


@dataclass
class Plain:
    city: str
    visits: int = 0


@pytest.mark.parametrize("kind", [None, dict, Shop, Plain], ids=str)
def test_state_goes_in_as_context_and_comes_out(kind: Any) -> None:
    agent = OpenAiAgent(bot([[("visit", {})], "Done."], tools=[visit]), context=kind)
    session = new_session(city="Rome", other=1)
    (events,) = conversation(agent, "go", session=session)
    assert calls(events) == [("visit", {}, {"result": "Rome"})]
    assert agent.final_state(session) == {"city": "Rome", "visits": 1, "other": 1}


def test_context_that_the_state_lacks_is_reported() -> None:
    with pytest.raises(AgentError, match=r"context \(Shop\) cannot be made of the session's state: city"):
        conversation(OpenAiAgent(bot(["hi"]), context=Shop), "go")


def test_a_context_is_made_by_a_function_of_the_session() -> None:
    agent = OpenAiAgent(
        bot([[("visit", {})], "Done."], tools=[visit]), context=lambda session: Plain(city=session.user_id)
    )
    (events,) = conversation(agent, "go")
    assert calls(events) == [("visit", {}, {"result": "user"})]


def test_two_hundred_conversations_at_once_do_not_mix() -> None:
    @function_tool
    async def own(ctx: RunContextWrapper[Any]) -> int:
        """Its own number."""
        await asyncio.sleep(0)
        ctx.context["seen"] = ctx.context.get("seen", 0) + 1
        return int(ctx.context["n"])

    adapter = OpenAiAgent(bot(*[[[("own", {})], "Done."]] * 2, tools=[own]))

    async def one(number: int) -> Any:
        session = Session(f"s{number}", "app", "user", {"n": number})
        events = [await ask(adapter, "go", session) for _ in range(2)]
        return [calls(turn)[0][2] for turn in events], adapter.final_state(session)

    async def main() -> list[Any]:
        return list(await asyncio.gather(*map(one, range(200))))

    assert asyncio.run(main()) == [([{"result": n}] * 2, {"n": n, "seen": 2}) for n in range(200)]


# --- output ------------------------------------------------------------------------------------------------------------


def test_structured_output_is_json() -> None:
    text = '{"city": "Rome", "visits": 3}'
    (events,) = conversation(OpenAiAgent(bot([text], output_type=Shop)), "go")
    assert json.loads(answer_of(events)) == {"city": "Rome", "visits": 3}
    assert len(events) == 1


def test_a_tool_whose_result_is_the_answer() -> None:
    agent = bot([[("wait", {"ms": 1})]], tools=[wait], tool_use_behavior="stop_on_first_tool")
    (events,) = conversation(OpenAiAgent(agent), "go")
    assert calls(events) == [("wait", {"ms": 1}, {"result": 1})]
    assert answer_of(events) == "1"


# --- what goes wrong -----------------------------------------------------------------------------------------------------


@function_tool(failure_error_function=None)
def boom() -> str:
    """Raises."""
    raise LookupError("no such thing")


@function_tool
def told() -> str:
    """Raise, and report it to the model."""
    raise LookupError("no such thing")


def test_what_a_tool_raises_passes_through_after_what_was_done() -> None:
    turn = {"user_content": {"parts": [{"text": "go"}]}, "final_response": {"parts": [{"text": "x"}]}}
    result = proctor.evaluate_sync(
        bot([[("boom", {})], "Never."], tools=[boom]),
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]},
        config={"criteria": {"response_match_score": 0.5}},
    )
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert trial.failure is not None
    assert trial.failure.where == "agent"
    assert "no such thing" in trial.failure.cause
    assert [call.name for call in trial.invocations[0].tool_calls] == ["boom"]


def test_error_reported_to_the_model_is_the_response_of_the_tool() -> None:
    (events,) = conversation(OpenAiAgent(bot([[("told", {})], "Sorry."], tools=[told])), "go")
    assert "An error occurred while running the tool" in str(calls(events)[0][2])
    assert answer_of(events) == "Sorry."


def test_arguments_that_are_no_json_are_kept_as_they_are() -> None:
    (events,) = conversation(OpenAiAgent(bot([[("wait", '{"ms": ')], "Sorry."], tools=[wait])), "go")
    assert calls(events)[0][1] == {"input": '{"ms": '}


def test_too_many_turns_are_an_error() -> None:
    agent = bot([[("wait", {"ms": 0})] for _ in range(9)], tools=[wait])
    with pytest.raises(MaxTurnsExceeded):
        conversation(OpenAiAgent(agent, max_turns=2), "go")


def test_a_guardrail_that_trips_is_an_error() -> None:
    @input_guardrail
    async def never(ctx: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(output_info=None, tripwire_triggered=True)

    with pytest.raises(InputGuardrailTripwireTriggered):
        conversation(OpenAiAgent(bot(["hi"], input_guardrails=[never])), "go")


def test_cancellation_ends_the_work_at_once() -> None:
    begun, ended = asyncio.Event(), list[str]()

    @function_tool
    async def hang() -> str:
        """Hangs."""
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")
        return ""

    async def main() -> None:
        asking = asyncio.ensure_future(ask(OpenAiAgent(bot([[("hang", {})], "never"], tools=[hang])), "go"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.2)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert ended == ["tool"]


# --- approvals -------------------------------------------------------------------------------------------------------------


@function_tool(needs_approval=True)
def delete(file: str) -> str:
    """Deletes."""
    return f"{file} is gone"


def _answer(name: str, response: dict[str, Any]) -> Content:
    return Content(
        role="user", parts=[Part(function_response=FunctionResponse(name=name, response=response))]
    )


@pytest.mark.parametrize(("confirmed", "result"), [(True, "a is gone"), (False, "not approved")])
def test_an_approval_ends_the_turn_and_is_answered_in_the_next(confirmed: bool, result: str) -> None:
    agent = bot([[("delete", {"file": "a"})], "So it is."], tools=[delete])
    first, second = conversation(OpenAiAgent(agent), "go", _answer("delete", {"confirmed": confirmed}))
    assert [call.name for call in read(first).tool_calls] == ["delete"]
    assert [event.long_running_tool_ids for event in first if event.long_running_tool_ids] != []
    assert read(first).final_response is None
    (back,) = read(second).tool_responses
    assert (
        second.index(next(event for event in second if event.content and event.content.role == "user")) == 0
    )
    assert (back.name, result in str(back.response)) == ("delete", True)
    assert answer_of(second) == "So it is."


@pytest.mark.parametrize("message", ["yes", _answer("delete", {"yes": 1})], ids=["text", "unclear"])
def test_no_clear_answer_to_an_approval_is_an_error(message: str | Content) -> None:
    agent = bot([[("delete", {"file": "a"})], "So it is."], tools=[delete])
    with pytest.raises(
        AgentError, match=r"call of 'delete' waits for an approval; expected .*\"confirmed\": true"
    ):
        conversation(OpenAiAgent(agent), "go", message)


# --- messages, descriptions, time --------------------------------------------------------------------------------------------


def test_media_of_the_user_reach_the_model() -> None:
    agent = bot(["Nice."])
    parts = [Part(text="What?"), Part(inline_data=Blob(data=b"png", mime_type="image/png"))]
    conversation(OpenAiAgent(agent), Content(role="user", parts=parts))
    assert agent.model.asked[0][0]["content"] == [
        {"type": "input_text", "text": "What?"},
        {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"},
    ]


def test_description_has_all_hand_overs_and_each_turn_its_prompt() -> None:
    def from_where(ctx: RunContextWrapper[Any], agent: Any) -> str:
        return f"The user is from {ctx.context['city']}."

    other = Agent(name="other", instructions="Be brief.", model=Script(["x"]))
    agent = bot(["Hello."], instructions=from_where, tools=[wait], handoffs=[other])
    other.handoffs.append(agent)
    adapter, session = OpenAiAgent(agent), new_session(city="Rome")
    info = adapter.describe()
    assert info.app_details is not None
    details = info.app_details["agent_details"]
    assert {name: one["instructions"] for name, one in details.items()} == {"bot": "", "other": "Be brief."}
    names = [one["function_declarations"][0]["name"] for one in details["bot"]["tool_declarations"]]
    assert names == ["wait", "transfer_to_agent"]
    assert not info.has_more_tools
    conversation(adapter, "go", session=session)
    assert session.memory["app_details"]["agent_details"]["bot"]["instructions"] == "The user is from Rome."


def test_model_and_tools_are_timed_and_tools_at_once_not_twice() -> None:
    session = new_session()
    agent = bot([[("wait", {"ms": 1000}), ("wait", {"ms": 1000})], "Done."], tools=[wait])
    conversation(OpenAiAgent(agent), "go", session=session)
    durations = session.memory["durations"]
    assert 1 <= durations["tool"] < 1.9
    assert 0 <= durations["model"] < 0.9


def test_a_sub_agent_is_picked_by_its_name() -> None:
    other = Agent(name="other", model=Script(["Me."]))
    agent = bot(["x"], handoffs=[other])
    (events,) = conversation(load_agent(agent, agent_name="other"), "go")
    assert answer_of(events) == "Me."
    with pytest.raises(AgentLoadError, match=r"no sub-agent 'othr'.*Did you mean 'other'"):
        load_agent(agent, agent_name="othr")


def test_agent_of_a_foreign_package_of_that_name_is_not_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    monkeypatch.setitem(sys.modules, "agents", types.ModuleType("agents"))
    with pytest.raises(AgentLoadError):
        as_agent(bot(["hi"]), label="a")


@pytest.mark.parametrize(("status", "code"), [("completed", None), ("incomplete", "incomplete")])
def test_an_answer_that_is_not_whole_is_an_error(status: Any, code: str | None) -> None:
    text = ResponseOutputText(type="output_text", text="Half of it", annotations=[])
    message = ResponseOutputMessage(id="m", type="message", role="assistant", status=status, content=[text])
    (events,) = conversation(OpenAiAgent(bot([[message]])), "go")
    assert events[0].content is not None
    assert events[-1].error_code == code
