"""Agents of google-adk: the real library, its Runner, tools, state and hand-over; only the model is a script."""

import asyncio
import importlib
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from proctor.agents.adk.events import event_of
from proctor.agents.base import Agent, Session
from proctor.agents.load import load_agent
from proctor.common.registry import METRICS
from proctor.errors import AgentError, AgentLoadError
from proctor.metrics.base import CaseView
from proctor.schema.evidence.convert_events import to_invocations
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.content import Content, Part
from tests.agents.conftest import ask, new_session, read, write

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

AGENT = '''
import asyncio
import time
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import LongRunningFunctionTool, ToolContext
from google.genai import types

seen = []


def add(a: int, b: int) -> dict[str, Any]:
    """Adds."""
    time.sleep(0.05)
    return {"sum": a + b}


def remember(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Remembers."""
    tool_context.state[key] = value
    tool_context.state["temp:" + key] = "gone soon"
    return {"stored": True}


def recall(tool_context: ToolContext) -> dict[str, Any]:
    """Recalls."""
    return {k: v for k, v in tool_context.state.to_dict().items() if not k.startswith("temp:")}


def boom() -> dict[str, Any]:
    """Raises."""
    raise LookupError("no such thing")


def approve() -> dict[str, Any]:
    """Takes long."""
    return {"status": "pending"}


def call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Script(BaseLlm):
    """Do what the user's text requests: JSON, one list of parts for each model call of the turn."""

    async def generate_content_async(self, llm_request, stream=False):
        await asyncio.sleep(0.02)
        texts = [c.parts[0].text for c in llm_request.contents if c.role == "user" and c.parts[0].text]
        script = __import__("json").loads([t for t in texts if t.startswith("[")][-1])
        asked = max(i for i, c in enumerate(llm_request.contents) if c.parts[0].text and c.parts[0].text.startswith("["))
        step = sum(1 for c in llm_request.contents[asked:] for p in c.parts if p.function_response or
                   (p.text or "").startswith("For context:") and "returned" in (c.parts[-1].text or ""))
        line = script[min(step, len(script) - 1)]
        if line == "raise":
            raise ConnectionError("the model is away")
        if line == "error":
            yield LlmResponse(error_code="SAFETY", error_message="refused")
            return
        if isinstance(line, str):
            part = types.Part(text=line)
        else:
            part = call(line[0], **line[1])
        yield LlmResponse(
            content=types.Content(role="model", parts=[part]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=3, total_token_count=5),
            model_version="script-1",
        )


helper = LlmAgent(name="helper", model=Script(model="script"), description="Adds.", instruction="Add.", tools=[add])
root_agent = LlmAgent(
    name="root",
    model=Script(model="script"),
    description="Does things.",
    instruction="Do what you are asked to.",
    tools=[remember, recall, boom, add, LongRunningFunctionTool(approve)],
    sub_agents=[helper],
)


class Counting(BasePlugin):
    async def on_user_message_callback(self, *, invocation_context, user_message):
        seen.append(user_message.parts[0].text)
'''
APP = "\napp = App(name='my_app', root_agent=root_agent, plugins=[Counting(name='counting')])\n"


@pytest.fixture
def bot(project: Path) -> Path:
    write(project, {"bot/__init__.py": "from . import agent", "bot/agent.py": AGENT})
    return project


@pytest.fixture
def agent(bot: Path) -> Agent:
    return load_agent("bot")


def turn(*steps: Any) -> str:
    """The user's text that makes the scripted model do these things, one per model call."""
    return json.dumps(steps)


def run(agent: Agent, *messages: str, session: Session | None = None) -> list[list[Event]]:
    async def main() -> list[list[Event]]:
        own = session or new_session()
        return [await ask(agent, message, own) for message in messages]

    return asyncio.run(main())


def state_after(agent: Any, session: Session, *messages: str) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        for message in messages:
            await ask(agent, message, session)
        state: dict[str, Any] = await agent.final_state(session)
        return state

    return asyncio.run(main())


@pytest.mark.slow
def test_a_call_its_response_and_the_answer(agent: Agent) -> None:
    (events,) = run(agent, turn(["add", {"a": 1, "b": 2}], "It is 3."))
    found = read(events)
    assert [
        (pair[0].name, pair[0].args, pair[1] and pair[1].response) for pair in found.calls_with_responses
    ] == [("add", {"a": 1, "b": 2}, {"sum": 3})]
    assert found.final_response is not None
    assert found.final_response.joined_text() == "It is 3."
    assert [usage.total_token_count for usage in found.usage_metadata] == [5, 5]
    assert {event.model_version for event in events if event.usage_metadata} == {"script-1"}
    assert {event.author for event in events} == {"root"}


def test_the_events_group_into_one_invocation(agent: Agent) -> None:
    (events,) = run(agent, turn(["add", {"a": 1, "b": 2}], "It is 3."))
    assert len(to_invocations(events)) == 1


def test_events_hold_nothing_that_json_does_not(agent: Agent) -> None:
    (events,) = run(agent, turn(["remember", {"key": "k", "value": "v"}], "Done."))
    for event in events:
        assert Event.model_validate_json(event.model_dump_json(exclude_none=True)) == event
        assert not event.model_extra


def test_conversation_keeps_its_state(agent: Agent) -> None:
    _, second = run(
        agent, turn(["remember", {"key": "k", "value": "v"}], "Done."), turn(["recall", {}], "You sent v.")
    )
    assert read(second).tool_responses[0].response == {"k": "v"}


def test_state_goes_in_and_comes_out_without_what_is_temporary(agent: Agent) -> None:
    session = new_session(start=1, **{"user:name": "x", "app:name": "y"})
    state = state_after(agent, session, turn(["remember", {"key": "k", "value": "v"}], "Done."))
    assert state == {"start": 1, "user:name": "x", "app:name": "y", "k": "v"}


def test_state_changes_are_seen_on_the_events(agent: Agent) -> None:
    (events,) = run(agent, turn(["remember", {"key": "k", "value": "v"}], "Done."))
    assert [event.state_delta for event in events if event.state_delta] == [{"k": "v"}]


def test_temporary_state_on_an_event_is_left_out() -> None:
    events = importlib.import_module("google.adk.events")
    actions = events.EventActions(state_delta={"temp:k": 1, "k": 2})
    assert event_of(events.Event(author="bot", actions=actions)).state_delta == {"k": 2}
    only = events.EventActions(state_delta={"temp:k": 1})
    assert event_of(events.Event(author="bot", actions=only)).state_delta is None


def test_final_state_before_any_turn_is_the_state_it_began_with(agent: Agent) -> None:
    assert state_after(agent, new_session(start=1)) == {"start": 1}


@pytest.mark.slow
def test_sessions_at_the_same_time_do_not_mix(agent: Any) -> None:
    """Fifty trials of one app and one user: not even state of the user or the app crosses."""

    async def one(number: int) -> dict[str, Any]:
        session = Session(f"s{number % 3}", "app", "user", {"user:n": number, "app:n": number})
        await ask(agent, turn(["remember", {"key": "user:k", "value": str(number)}], "Done."), session)
        state: dict[str, Any] = await agent.final_state(session)
        return state

    async def main() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(one(number) for number in range(50))))

    expected = [{"user:n": n, "app:n": n, "user:k": str(n)} for n in range(50)]
    assert asyncio.run(main()) == expected


def test_calls_of_sub_agents_count_with_their_author(agent: Agent) -> None:
    (events,) = run(
        agent,
        turn(["transfer_to_agent", {"agent_name": "helper"}], ["add", {"a": 1, "b": 2}], "It is 3."),
    )
    called = [
        (event.author, part.function_call.name)
        for event in events
        for part in (event.content and event.content.parts) or ()
        if part.function_call
    ]
    assert called == [("root", "transfer_to_agent"), ("helper", "add")]
    assert events[-1].author == "helper"


def test_a_long_running_call_is_the_answer_and_a_call(agent: Agent) -> None:
    (events,) = run(agent, turn(["approve", {}], "Waiting."))
    assert any(event.long_running_tool_ids for event in events)
    assert all(event.long_running_tool_ids is None or event.long_running_tool_ids for event in events)
    assert [call.name for call in read(events).tool_calls] == ["approve"]


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        ([["boom", {}], "Done."], LookupError, "no such thing"),
        (["raise"], ConnectionError, "the model is away"),
    ],
)
def test_exceptions_of_tools_and_models_are_raised_unchanged(
    agent: Agent, steps: list[Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(agent, turn(*steps))


def test_error_of_the_model_is_in_the_event(agent: Agent) -> None:
    (events,) = run(agent, turn("error"))
    assert [(event.error_code, event.error_message) for event in events] == [("SAFETY", "refused")]


def test_durations_of_models_and_tools(agent: Agent) -> None:
    session = new_session()
    run(agent, turn(["add", {"a": 1, "b": 2}], "It is 3."), session=session)
    durations = session.memory["durations"]
    assert 0.04 <= durations["model"] < 60
    assert 0.05 <= durations["tool"] < 60
    run(agent, turn("Hello."), session=session)
    assert session.memory["durations"]["tool"] == 0.0


def test_details_of_the_agents_that_were_asked(agent: Agent) -> None:
    session = new_session()
    run(agent, turn(["add", {"a": 1, "b": 2}], "It is 3."), session=session)
    details = session.memory["app_details"]["agent_details"]
    assert list(details) == ["root"]
    assert details["root"]["instructions"].startswith("Do what you are asked to.")
    declared = [
        one["name"] for tool in details["root"]["tool_declarations"] for one in tool["function_declarations"]
    ]
    assert {"add", "boom", "recall", "remember", "approve", "transfer_to_agent"} == set(declared)
    json.dumps(details)


def test_it_describes_itself(agent: Any) -> None:
    info = asyncio.run(agent.describe())
    assert (info.name, info.description) == ("root", "Does things.")
    assert not info.has_more_tools
    details = info.app_details["agent_details"]
    assert {name: one["instructions"] for name, one in details.items()} == {
        "root": "Do what you are asked to.",
        "helper": "Add.",
    }
    (tool,) = details["helper"]["tool_declarations"]
    (declared,) = tool["function_declarations"]
    assert (declared["name"], declared["description"]) == ("add", "Adds.")
    json.dumps(details)


def test_declared_tools_are_those_sent_to_the_model(agent: Any) -> None:
    """The tools of `describe()` are those that google-adk puts into each request."""
    session = new_session()
    run(agent, turn("Hello."), session=session)
    asked = _declared(session.memory["app_details"], "root")
    before = _declared(asyncio.run(agent.describe()).app_details, "root")
    assert before == {name: one for name, one in asked.items() if name != "transfer_to_agent"}
    assert before["add"]["parameters_json_schema"]["required"] == ["a", "b"]


def _declared(details: dict[str, Any], agent: str) -> dict[str, Any]:
    tools = details["agent_details"][agent]["tool_declarations"]
    return {one["name"]: one for tool in tools for one in tool["function_declarations"]}


TOOLS = """
from typing import Literal, Optional
from google.adk.tools import AgentTool, FunctionTool, google_search


def book(city: str, nights: int = 1, board: Literal["none", "half"] = "none", guests: Optional[list[str]] = None) -> dict[str, Any]:
    \"\"\"Books.\"\"\"
    return {}


def odd(x: complex) -> dict[str, Any]:
    return {}


class Pay:
    def __call__(self, amount: float) -> dict[str, Any]:
        return {}


asker = LlmAgent(name="asker", model=Script(model="script"), description="Asks.")
root_agent = LlmAgent(
    name="clerk", model=Script(model="script"), tools=[book, odd, FunctionTool(Pay()), AgentTool(agent=asker), google_search]
)
"""


@pytest.fixture
def clerk(bot: Path) -> Any:
    write(bot, {"bot/agent.py": AGENT + TOOLS})
    return load_agent("bot")


def test_tools_of_every_kind_are_declared(clerk: Any) -> None:
    declared = _declared(asyncio.run(clerk.describe()).app_details, "clerk")
    assert {"book", "odd", "Pay", "asker", "google_search"} == set(declared)
    assert set(declared["book"]["parameters_json_schema"]["properties"]) == {
        "city",
        "nights",
        "board",
        "guests",
    }
    assert declared["asker"]["parameters_json_schema"]["required"] == ["request"]
    assert "parameters_json_schema" not in declared["google_search"]


@pytest.mark.parametrize(
    ("call", "known", "reason"),
    [
        (("book", {"city": "Rome", "nights": 2, "board": "half", "guests": ["A"]}), 1.0, ""),
        (("book", {"city": "Rome"}), 1.0, ""),
        (("book", {"nights": 2}), 1.0, "city is missing, expected text"),
        (("book", {"city": "Rome", "nights": "two"}), 1.0, 'nights is "two", expected an integer'),
        (("book", {"city": "Rome", "board": "full"}), 1.0, 'board is "full", expected one of "none", "half"'),
        (("book", {"city": "Rome", "night": 1}), 1.0, "Did you mean 'nights'?"),
        (("Pay", {"amount": "much"}), 1.0, 'amount is "much", expected a number'),
        (("bok", {"city": "Rome"}), 0.0, "there is no tool of this name. Did you mean 'book'?"),
    ],
    ids=repr,
)
def test_calls_are_checked_against_describe(
    clerk: Any, call: tuple[str, dict[str, Any]], known: float, reason: str
) -> None:
    """Without a model call a turn has no details about tools (a replayed run, a recorded one)."""
    name, args = call
    events = [
        Event.model_validate(
            {
                "author": "clerk",
                "content": {"role": "model", "parts": [{"function_call": {"name": name, "args": args}}]},
            }
        )
    ]
    trial = Trial(eval_set_id="s", eval_id="c", app_details=asyncio.run(clerk.describe()).app_details)
    view = CaseView(eval_id="c", actual=to_invocations(events), trial=trial)
    assert METRICS.get("known_tools")().score(view).value == known
    metric = METRICS.get("tool_schema")()
    score = metric.score(view)
    assert score.value == float(not reason)
    assert reason in metric.explain(view, score, 0).reason


def test_an_app_brings_its_plug_ins(bot: Path) -> None:
    write(bot, {"bot/agent.py": AGENT + APP})
    agent = load_agent("bot")
    run(agent, turn("Hello."))
    assert sys.modules["bot.agent"].seen == [turn("Hello.")]


def test_an_app_alone_loads_too(bot: Path) -> None:
    write(bot, {"bot/agent.py": AGENT + APP + "\ndel root_agent\n"})
    (events,) = run(load_agent("bot"), turn("Hello."))
    assert events[-1].author == "root"


@pytest.mark.slow
@pytest.mark.parametrize("app", ["", APP])
def test_a_sub_agent_is_picked_by_its_name(bot: Path, app: str) -> None:
    write(bot, {"bot/agent.py": AGENT + app})
    (events,) = run(load_agent("bot", agent_name="helper"), turn(["add", {"a": 1, "b": 2}], "It is 3."))
    assert {event.author for event in events} == {"helper"}
    with pytest.raises(AgentLoadError, match="It has: root, helper"):
        load_agent("bot", agent_name="helpr")


def test_an_agent_made_late_with_its_stack(bot: Path) -> None:
    late = (
        "\nfrom contextlib import AsyncExitStack\nasync def get_agent_async():\n"
        "    stack = AsyncExitStack()\n    stack.callback(seen.append, 'closed')\n    return agent, stack\n"
        "agent = root_agent\ndel root_agent\n"
    )
    write(bot, {"bot/agent.py": AGENT + late})
    agent: Any = load_agent("bot")

    async def main() -> list[Event]:
        await agent.open()
        events = await ask(agent, turn("Hello."))
        await agent.close()
        return events

    assert asyncio.run(main())[-1].author == "root"
    assert sys.modules["bot.agent"].seen == ["closed"]


def test_closing_closes_what_tools_hold_open(bot: Path) -> None:
    toolset = (
        "\nfrom google.adk.tools.base_toolset import BaseToolset\n"
        "class Tools(BaseToolset):\n"
        "    async def get_tools(self, readonly_context=None): return []\n"
        "    async def close(self): seen.append('closed')\n"
        "root_agent.tools.append(Tools())\n"
    )
    write(bot, {"bot/agent.py": AGENT + toolset})
    agent: Any = load_agent("bot")
    assert asyncio.run(agent.describe()).has_more_tools  # the content of the toolset is unknown

    async def main() -> None:
        await ask(agent, turn("Hello."))
        assert sys.modules["bot.agent"].seen == []
        await agent.close()
        await agent.close()

    asyncio.run(main())
    assert sys.modules["bot.agent"].seen == ["closed"]


def test_an_agent_of_ones_own_that_streams(bot: Path) -> None:
    own = """
from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
class Streaming(BaseAgent):
    async def _run_async_impl(self, ctx):
        for piece in ("Hel", "lo"):
            yield Event(author=self.name, partial=True, content=types.Content(parts=[types.Part(text=piece)]))
        yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text="Hello")]))
root_agent = Streaming(name="streaming")
"""
    write(bot, {"bot/agent.py": AGENT + own})
    (events,) = run(load_agent("bot"), "hi")
    assert [event.partial for event in events] == [True, True, None]
    final = read(events).final_response
    assert final is not None
    assert final.joined_text() == "Hello"


def test_tool_response_outside_json_does_not_break_the_event(bot: Path) -> None:
    own = """
from google.adk.agents import BaseAgent
from google.adk.events import Event
class Odd(BaseAgent):
    async def _run_async_impl(self, ctx):
        answer = types.FunctionResponse(name="f", response={"when": __import__("datetime").date(2026, 1, 2)})
        yield Event(author=self.name, content=types.Content(parts=[types.Part(function_response=answer)]))
        yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text="Done")]))
root_agent = Odd(name="odd")
"""
    write(bot, {"bot/agent.py": AGENT + own})
    (events,) = run(load_agent("bot"), "hi")
    assert len(events) == 2


def test_message_with_media_arrives_and_an_unreadable_one_is_reported(agent: Agent, bot: Path) -> None:
    picture = Part(inline_data={"mime_type": "image/png", "data": "AAEC"})
    message = Content(parts=[Part(text=turn("I see.")), picture])
    events = asyncio.run(ask(agent, message))
    assert read(events).final_response is not None
    with pytest.raises(AgentError, match="cannot read the user's message"):
        asyncio.run(ask(agent, Content(parts=[Part.model_validate({"text": "x", "hologram": 1})])))


def test_objects_of_google_genai_are_answers_of_functions() -> None:
    types = importlib.import_module("google.genai.types")

    async def answers(text: str) -> AsyncIterator[Any]:
        yield types.FunctionCall(name="f", args={"a": 1})
        yield types.Part(function_response=types.FunctionResponse(name="f", response={"b": 2}))
        yield types.Content(role="model", parts=[types.Part(text="done")])

    found = read(asyncio.run(ask(load_agent(answers))))
    assert [(call.name, call.args) for call in found.tool_calls] == [("f", {"a": 1})]
    assert [response.response for response in found.tool_responses] == [{"b": 2}]
    assert found.final_response is not None
    assert found.final_response.joined_text() == "done"


def test_warning_of_google_adk_about_an_app_is_printed_once(
    agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        run(agent, turn("Hello."))
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("google_adk")]
    assert len(messages) == len(set(messages))


@pytest.mark.parametrize("app_name", ["EvaluationGenerator", "my-app", "my app", "user"])
def test_any_name_of_an_app(agent: Agent, app_name: str) -> None:
    (events,) = run(agent, turn("Hello."), session=Session("s", app_name, "u"))
    assert events[-1].author == "root"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("set_up", [False, True])
def test_tracebacks_of_the_error_are_not_printed_twice(
    agent: Agent, bot: Path, tmp_path: Path, root: Path, set_up: bool
) -> None:
    """google-adk logs them again; users who configure logging get them."""
    code = f"""
import asyncio, logging, sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{str(root)!r}, {str(bot)!r}]
if {set_up}:
    logging.basicConfig(level="ERROR")
from proctor.agents.load import load_agent
from tests.agents.conftest import ask
try:
    asyncio.run(ask(load_agent("bot"), '["raise"]'))
except ConnectionError:
    print("raised")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "raised\n"
    assert ("Traceback" in done.stderr) is set_up
