"""What google-adk's agents emit beyond calls and texts, as evidence; the real library, only the model is a script."""

import asyncio
from typing import Any

import pytest

import proctor
from proctor.agents.adk.agent import AdkAgent
from proctor.agents.adk.events import event_of_json
from proctor.common.secrets import HIDDEN
from proctor.schema.evidence.convert_events import facts_of_turn
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.turn import Turn
from tests.agents.conftest import ask, new_session, read

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself


def add(a: int, b: int) -> dict[str, Any]:
    """Adds."""
    return {"sum": a + b}


def one_turn(agent: Any, session: Any = None) -> list[Event]:
    return asyncio.run(ask(agent, "hi", session))


def turn_of(events: list[Event]) -> Turn:
    return Turn(user_content=proctor.Content(parts=[]), events=events)


def texts(events: list[Event]) -> list[tuple[str, str]]:
    return [
        (event.author, event.content.joined_text())
        for event in events
        if event.content and event.content.joined_text() and not event.partial
    ]


@pytest.mark.parametrize(
    ("finish", "code"), [("STOP", None), ("MAX_TOKENS", "MAX_TOKENS"), ("SAFETY", "SAFETY"), (None, None)]
)
def test_an_answer_that_is_not_whole_is_an_error(finish: str | None, code: str | None) -> None:
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm
    from google.genai import types

    from tests.agents.adk.adk_script import response, text

    class Ends(BaseLlm):
        async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
            reason = None if finish is None else types.FinishReason(finish)
            yield response(text("Half of it"), finish_reason=reason)

    events = one_turn(AdkAgent(LlmAgent(name="bot", model=Ends(model="m"))))
    assert texts(events) == [("bot", "Half of it")]
    assert events[-1].error_code == code


# --- streaming -------------------------------------------------------------------------------------------------------


def streaming(*steps: Any, **fields: Any) -> AdkAgent:
    from google.adk.agents import RunConfig
    from google.adk.agents.run_config import StreamingMode

    from tests.agents.adk.adk_script import scripted_agent

    return AdkAgent(scripted_agent(*steps, **fields), run_config=RunConfig(streaming_mode=StreamingMode.SSE))


def test_what_is_streamed_counts_once() -> None:
    """Pieces of calls and of texts are there to be seen, and the calls, tokens and model calls of the turn are two."""
    from tests.agents.adk.adk_script import call, text

    events = one_turn(streaming(call("add", a=1, b=2), text("It is three."), tools=[add]))
    assert [event.partial for event in events if event.partial] == [True, True, True]
    found = read(events)
    assert [(one.name, one.args) for one in found.tool_calls] == [("add", {"a": 1, "b": 2})]
    assert found.final_response is not None
    assert found.final_response.joined_text() == "It is three."
    facts = facts_of_turn(turn_of(events))
    assert (len(facts.tool_calls), facts.model_calls) == (1, 2)
    assert [usage.total_token_count for usage in facts.usages] == [5, 5]


def test_streamed_or_not_is_the_same_verdict() -> None:
    from tests.agents.adk.adk_script import call, scripted_agent, text

    steps = (call("add", a=1, b=2), text("It is three."))
    case = {
        "eval_id": "c",
        "conversation": [
            {
                "user_content": {"parts": [{"text": "hi"}]},
                "final_response": {"parts": [{"text": "It is three."}]},
                "intermediate_data": {"tool_uses": [{"name": "add", "args": {"a": 1, "b": 2}}]},
            }
        ],
    }
    criteria = {"tool_trajectory_avg_score": 1.0, "response_match_score": 1.0}
    found = [
        proctor.evaluate_sync(
            agent, {"eval_set_id": "s", "eval_cases": [case]}, config={"criteria": criteria}
        )
        for agent in (streaming(*steps, tools=[add]), scripted_agent(*steps, tools=[add]))
    ]
    scores = [
        {
            name: (one.score, one.status)
            for name, one in run.case("c").metrics.items()
            if "duration" not in name
        }
        for run in found
    ]
    assert scores[0] == scores[1]
    assert all(run.passed for run in found)


# --- artifacts -------------------------------------------------------------------------------------------------------


async def save(name: str, body: str, tool_context: Any) -> dict[str, Any]:
    """Saves."""
    from google.genai import types

    return {"version": await tool_context.save_artifact(name, types.Part(text=body))}


async def load(name: str, tool_context: Any) -> dict[str, Any]:
    """Loads."""
    part = await tool_context.load_artifact(name)
    return {"body": part.text if part else None}


@pytest.fixture
def keeper() -> Any:
    from google.adk.tools import ToolContext

    from tests.agents.adk.adk_script import call, scripted_agent, text

    for tool in (save, load):
        tool.__annotations__["tool_context"] = ToolContext
    steps = [call("save", name="note", body="v0"), call("load", name="note"), text("Saved.")]
    return lambda: AdkAgent(scripted_agent(*steps, tools=[save, load]))


def test_artifacts_are_saved_loaded_and_named_in_the_evidence(keeper: Any) -> None:
    events = one_turn(keeper())
    assert [one.response for one in read(events).tool_responses] == [{"version": 0}, {"body": "v0"}]
    named = [event.model_extra for event in events if event.model_extra]
    assert named == [{"artifact_delta": {"note": 0}}]
    kept = Event.model_validate_json(events[1].model_dump_json(exclude_none=True))
    assert kept.model_extra == {"artifact_delta": {"note": 0}}


def test_artifacts_of_one_trial_are_not_those_of_another(keeper: Any) -> None:
    agent = keeper()
    for _ in range(2):
        agent._root.model.asked.clear()
        assert read(one_turn(agent)).tool_responses[0].response == {"version": 0}


# --- who did it ------------------------------------------------------------------------------------------------------


def test_agents_one_after_another_and_over_again() -> None:
    from google.adk.agents import LoopAgent, SequentialAgent

    from tests.agents.adk.adk_script import scripted_agent, text

    first = scripted_agent(text("draft"), name="writer")
    loop = LoopAgent(
        name="loop", max_iterations=2, sub_agents=[scripted_agent(text("better"), name="editor")]
    )
    agent = AdkAgent(SequentialAgent(name="team", sub_agents=[first, loop]))
    events = one_turn(agent)
    assert texts(events) == [("writer", "draft"), ("editor", "better"), ("editor", "better")]
    details = asyncio.run(agent.describe()).app_details
    assert details is not None
    assert list(details["agent_details"]) == ["team", "writer", "loop", "editor"]


def test_parallel_agents_are_distinguished() -> None:
    from google.adk.agents import ParallelAgent

    from tests.agents.adk.adk_script import call, scripted_agent, text

    def adder(number: int) -> Any:
        steps = (call("add", a=number, b=0), text(f"It is {number}."))
        return scripted_agent(*steps, name=f"adder_{number}", tools=[add])

    session = new_session()
    events = one_turn(AdkAgent(ParallelAgent(name="p", sub_agents=[adder(1), adder(2)])), session)
    assert sorted(texts(events)) == [("adder_1", "It is 1."), ("adder_2", "It is 2.")]
    called = {
        event.author: part.function_call.args
        for event in events
        for part in (event.content and event.content.parts) or ()
        if part.function_call
    }
    assert called == {"adder_1": {"a": 1, "b": 0}, "adder_2": {"a": 2, "b": 0}}
    assert set(session.memory["app_details"]["agent_details"]) == {"adder_1", "adder_2"}


def test_a_workflow_of_agents_and_functions() -> None:
    from google.adk.workflow import Workflow

    from tests.agents.adk.adk_script import call, scripted_agent, text

    def shout(node_input: str) -> str:
        return node_input.upper()

    model = scripted_agent(call("add", a=1, b=2), text("three"), name="adder", tools=[add])
    agent = AdkAgent(Workflow(name="flow", edges=[("START", model, shout)]))
    events = one_turn(agent)
    assert texts(events) == [("adder", "three")]
    assert [event.model_extra for event in events if event.model_extra] == [{"output": "THREE"}]
    info = asyncio.run(agent.describe())
    assert info.app_details is not None
    assert list(info.app_details["agent_details"]) == ["flow", "adder"]


def test_an_agent_as_a_tool_is_one_call() -> None:
    from google.adk.tools import AgentTool

    from tests.agents.adk.adk_script import call, scripted_agent, text

    inner = scripted_agent(text("three"), name="adder")
    agent = AdkAgent(scripted_agent(call("adder", request="1+2"), text("3"), tools=[AgentTool(agent=inner)]))
    assert [one.name for one in read(one_turn(agent)).tool_calls] == ["adder"]


# --- forms of answers ------------------------------------------------------------------------------------------------


def test_an_answer_by_schema_is_text_and_state() -> None:
    from pydantic import BaseModel

    from tests.agents.adk.adk_script import scripted_agent, text

    class Place(BaseModel):
        city: str

    session = new_session()
    agent = AdkAgent(scripted_agent(text('{"city": "Rome"}'), output_schema=Place, output_key="place"))
    (event,) = one_turn(agent, session)
    assert event.state_delta == {"place": {"city": "Rome"}}
    assert texts([event]) == [("bot", '{"city": "Rome"}')]
    assert asyncio.run(agent.final_state(session)) == {"place": {"city": "Rome"}}


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_credentials_that_an_agent_asks_for_are_not_evidence(spelling: str) -> None:
    """The arguments of google-adk's own request hold what the app is registered with."""
    oauth = {"clientId": "me", "clientSecret": "hush", "authUri": "https://x/?a"}
    if spelling == "snake":
        oauth = {"client_id": "me", "client_secret": "hush", "auth_uri": "https://x/?a"}
    args = {"authConfig": {"rawAuthCredential": {"authType": "oauth2", "oauth2": oauth}}}
    inside = {"name": "adk_request_credential", "id": "1", "args": args}
    event = event_of_json({"author": "bot", "content": {"parts": [{"functionCall": inside}]}})
    text = event.model_dump_json()
    assert "hush" not in text
    assert HIDDEN in text
    assert "https://x/?a" in text
    other = event_of_json(
        {"author": "b", "content": {"parts": [{"functionCall": {**inside, "name": "login"}}]}}
    )
    assert "hush" in other.model_dump_json()  # a tool's own argument is what is to be scored


# --- plug-ins --------------------------------------------------------------------------------------------------------


def test_plug_ins_of_an_app_see_each_call_and_may_answer_in_its_place() -> None:
    from google.adk.apps import App
    from google.adk.plugins.base_plugin import BasePlugin

    from tests.agents.adk.adk_script import call, response, scripted_agent, text

    seen: list[str] = []

    class Guard(BasePlugin):
        async def before_run_callback(self, *, invocation_context: Any) -> None:
            seen.append("run")

        async def before_tool_callback(
            self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
        ) -> dict[str, Any] | None:
            seen.append(f"tool {tool.name}")
            return {"sum": 99} if tool_args["a"] == 0 else None

        async def after_tool_callback(
            self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
        ) -> None:
            seen.append(f"returned {result}")

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
            seen.append("model")
            parts = llm_response.content.parts
            return response(text("Checked.")) if parts[0].text else None

        async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
            seen.append("event")

        async def after_run_callback(self, *, invocation_context: Any) -> None:
            seen.append("end")

    agent = scripted_agent(call("add", a=1, b=2), call("add", a=0, b=2), text("Three."), tools=[add])
    session = new_session()
    app = App(name="guarded", root_agent=agent, plugins=[Guard(name="guard")])
    events = one_turn(AdkAgent(app), session)
    assert [one.response for one in read(events).tool_responses] == [{"sum": 3}, {"sum": 99}]
    assert texts(events) == [("bot", "Checked.")]
    assert seen[0] == "run"
    assert seen[-1] == "end"
    assert seen.count("model") == 3
    assert seen.count("event") == 5
    assert [one for one in seen if one.startswith(("tool", "returned"))] == [
        "tool add", "returned {'sum': 3}", "tool add", "returned {'sum': 99}",
    ]  # fmt: skip
    assert session.memory["durations"]["model"] >= 0
    assert list(session.memory["app_details"]["agent_details"]) == ["bot"]


def test_answer_of_a_plug_in_is_not_a_model_call() -> None:
    from google.adk.apps import App
    from google.adk.models import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types

    from tests.agents.adk.adk_script import scripted_agent, text

    class Cache(BasePlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
            return LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Cached.")]))

    agent = scripted_agent(text("Fresh."))
    session = new_session()
    events = one_turn(AdkAgent(App(name="a", root_agent=agent, plugins=[Cache(name="cache")])), session)
    assert texts(events) == [("bot", "Cached.")]
    assert agent.model.asked == []
    assert session.memory["app_details"]["agent_details"] == {}
    assert facts_of_turn(turn_of(events)).model_calls == 0


# --- an end before the end -------------------------------------------------------------------------------------------


def test_cancelled_turn_ends_its_tasks_and_the_next_trial_is_clean() -> None:
    from tests.agents.adk.adk_script import call, scripted_agent, text

    begun, ended = asyncio.Event(), list[str]()

    async def wait() -> dict[str, Any]:
        """Waits."""
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("tool")
        return {}

    agent = AdkAgent(scripted_agent(call("wait"), text("Done."), tools=[wait]))

    async def main() -> None:
        asking = asyncio.ensure_future(ask(agent, "hi"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.2)
        assert ended == ["tool"]
        assert len(asyncio.all_tasks()) == 1
        assert texts(await ask(agent, "hi", new_session()))[-1] == ("bot", "Done.")

    asyncio.run(main())


def test_limit_of_model_calls_is_a_separate_error() -> None:
    from google.adk.agents import RunConfig

    from tests.agents.adk.adk_script import call, scripted_agent

    agent = AdkAgent(
        scripted_agent(call("add", a=1, b=2), tools=[add]), run_config=RunConfig(max_llm_calls=3)
    )
    with pytest.raises(Exception, match="number of llm calls limit"):
        one_turn(agent)
