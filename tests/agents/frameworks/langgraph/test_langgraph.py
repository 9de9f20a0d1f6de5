"""Graphs of LangGraph and agents of LangChain: the real libraries; only the chat model is a script."""

import asyncio
import json
import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel, Field

import proctor
from proctor.agents.adapt import as_agent
from proctor.agents.base import Session
from proctor.agents.frameworks.langgraph import LangGraphAgent, RunnableAgent
from proctor.errors import AgentError, AgentLoadError
from proctor.schema.format.content import Blob, Content, FunctionResponse, Part
from tests.agents.conftest import ask, new_session, read
from tests.agents.frameworks.conversations import answer_of, calls, conversation


class Script(BaseChatModel):
    """Answers turn by turn: a text, or a list of calls `(name, args)` and texts."""

    turns: list[list[Any]]
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[{"name": one.name, "description": one.description} for one in tools])

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked.append(messages)
        users = [i for i, message in enumerate(messages) if message.type == "human"]
        done = sum(isinstance(message, AIMessage) for message in messages[users[-1] :])
        step = self.turns[len(users) - 1][done]
        given = [step] if isinstance(step, str) else step
        calls = [
            {"name": one[0], "args": one[1], "id": uuid4().hex} for one in given if isinstance(one, tuple)
        ]
        reply = AIMessage(
            content=" ".join(one for one in given if isinstance(one, str)),
            tool_calls=calls,
            usage_metadata={"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
            response_metadata={"model_name": "script-1"},
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


def script(*turns: list[Any]) -> Script:
    return Script(turns=[*turns], asked=[])


def final_state(agent: Any, session: Session) -> dict[str, Any]:
    state: dict[str, Any] = asyncio.run(agent.final_state(session))
    return state


@tool
async def wait(ms: int) -> dict[str, int]:
    """Waits."""
    await asyncio.sleep(ms / 1000)
    return {"waited": ms}


@tool
def word() -> str:
    """Answer with one word."""
    return "{word"


# --- LangChain's agents --------------------------------------------------------------------------------------------------


def test_it_is_recognised_by_its_type() -> None:
    assert isinstance(as_agent(create_agent(script(["hi"])), label="a"), LangGraphAgent)


def test_graph_that_is_not_compiled_gives_the_remedy() -> None:
    with pytest.raises(
        AgentLoadError, match=r"a is a StateGraph that is not compiled; expose what graph\.compile\(\)"
    ):
        as_agent(StateGraph(MessagesState), label="a")


def test_calls_of_one_step_are_paired_with_their_responses() -> None:
    model = script([["Let me see.", ("wait", {"ms": 30}), ("wait", {"ms": 1}), ("word", {})], "Done."])
    (events,) = conversation(as_agent(create_agent(model, [wait, word], name="bot"), label="a"), "go")
    assert calls(events) == [
        ("wait", {"ms": 30}, {"waited": 30}),
        ("wait", {"ms": 1}, {"waited": 1}),
        ("word", {}, {"result": "{word"}),
    ]
    assert answer_of(events) == "Done."
    assert {event.author for event in events} == {"bot"}
    assert [usage.total_token_count for usage in read(events).usage_metadata] == [5, 5]
    assert [event.model_version for event in events if event.usage_metadata] == ["script-1", "script-1"]


def test_conversation_keeps_its_state_without_a_checkpointer_of_the_graph() -> None:
    model = script(["One."], ["Two."])
    _, second = conversation(as_agent(create_agent(model), label="a"), "first", "second")
    assert answer_of(second) == "Two."
    assert [message.text for message in model.asked[-1]] == ["first", "One.", "second"]


def test_checkpointer_of_the_graph_carries_nothing_to_the_next_trial() -> None:
    model = script(["One."], ["Two."])
    graph = create_agent(model, checkpointer=InMemorySaver())
    for _ in range(2):
        (events,) = conversation(as_agent(graph, label="a"), "first")
        assert answer_of(events) == "One."


class Place(BaseModel):
    """A place."""

    city: str


def test_structured_output_is_json() -> None:
    model = script([[("Place", {"city": "Rome"})]])
    (events,) = conversation(as_agent(create_agent(model, response_format=Place), label="a"), "go")
    assert json.loads(answer_of(events)) == {"city": "Rome"}


def test_tools_that_are_agents_speak_under_their_own_name() -> None:
    inner = create_agent(script([[("wait", {"ms": 0})], "4"]), [wait], name="calculator")

    @tool
    async def calculate(what: str) -> str:
        """Asks the calculator."""
        found = await inner.ainvoke({"messages": [HumanMessage(what)]})
        return str(found["messages"][-1].content)

    outer = create_agent(script([[("calculate", {"what": "2 + 2"})], "It is 4."]), [calculate], name="bot")
    (events,) = conversation(as_agent(outer, label="a"), "go")
    assert calls(events) == [
        ("calculate", {"what": "2 + 2"}, {"result": "4"}),
        ("wait", {"ms": 0}, {"waited": 0}),
    ]
    assert [event.author for event in events] == ["bot", *["calculator"] * 3, "bot", "bot"]
    assert answer_of(events) == "It is 4."


# --- graphs ----------------------------------------------------------------------------------------------------------------


class Shop(MessagesState):
    city: str
    visits: Annotated[int, operator.add]


def _node(state: Shop) -> dict[str, Any]:
    return {"messages": [AIMessage(f"You are in {state.get('city')}.")], "visits": 1}


def _shop(**compiled: Any) -> Any:
    graph = StateGraph(Shop)
    graph.add_node("greet", _node)
    graph.add_edge(START, "greet")
    return graph.compile(**compiled)


def test_state_goes_in_and_comes_out_without_the_messages() -> None:
    agent, session = LangGraphAgent(_shop()), new_session(city="Rome", other=1)
    first, second = conversation(agent, "go", "again", session=session)
    assert answer_of(first) == answer_of(second) == "You are in Rome."
    assert final_state(agent, session) == {"city": "Rome", "visits": 2, "other": 1}


def test_state_before_any_turn_is_what_it_began_with() -> None:
    assert final_state(LangGraphAgent(_shop()), new_session(city="Rome")) == {"city": "Rome"}


def test_what_the_graph_has_no_place_for_is_in_its_configuration() -> None:
    seen: list[Any] = []

    def look(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        seen.append(
            {key: config["configurable"].get(key) for key in ("tenant", "thread_id", "user_id", "app_name")}
        )
        return {"messages": [AIMessage("Hi.")]}

    graph = StateGraph(MessagesState).add_node("look", look).add_edge(START, "look").compile()
    conversation(LangGraphAgent(graph), "go", session=new_session(tenant="t"))
    assert seen == [{"tenant": "t", "thread_id": "session-1", "user_id": "user", "app_name": "app"}]


@dataclass
class Wallet:
    city: str
    visits: int = 0


def test_a_context_is_made_of_the_state_and_comes_back() -> None:
    @tool
    def visit(runtime: ToolRuntime[Wallet]) -> str:
        """Counts."""
        runtime.context.visits += 1
        return str(runtime.context.city)

    graph = create_agent(script([[("visit", {})], "Done."]), [visit], context_schema=Wallet)
    agent, session = LangGraphAgent(graph), new_session(city="Rome")
    (events,) = conversation(agent, "go", session=session)
    assert calls(events) == [("visit", {}, {"result": "Rome"})]
    assert final_state(agent, session) == {"city": "Rome", "visits": 1}
    with pytest.raises(AgentError, match=r"context \(Wallet\) cannot be made of the session's state: city"):
        conversation(agent, "go")


async def _wallet(session: Session) -> Wallet:
    return Wallet(city=session.user_id)


def test_context_that_is_not_data_is_created_by_a_function() -> None:
    @tool
    def where(runtime: ToolRuntime[Wallet]) -> str:
        """Tells."""
        return str(runtime.context.city)

    graph = create_agent(script([[("where", {})], "Done."]), [where], context_schema=Wallet)
    (events,) = conversation(LangGraphAgent(graph, context=_wallet), "go")
    assert calls(events) == [("where", {}, {"result": "user"})]


class Question(TypedDict):
    question: str
    answer: str


def _of_question(state: Question) -> dict[str, Any]:
    return {"answer": f"{state['question']}? Yes."}


def test_a_graph_without_messages_names_its_keys() -> None:
    graph = (
        StateGraph(Question).add_node("reply", _of_question).add_edge(START, "reply").compile(name="oracle")
    )
    with pytest.raises(
        AgentLoadError, match=r"no 'messages' in its state; it has: question, answer\. .*message_key="
    ):
        as_agent(graph, label="a")
    (events,) = conversation(LangGraphAgent(graph, message_key="question", answer_key="answer"), "Rain")
    assert answer_of(events) == "Rain? Yes."
    assert [event.author for event in events] == ["oracle"]


def test_sub_graphs_speak_once_and_under_their_own_name() -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("first", create_agent(script(["From the first."]), name="first"))
    graph.add_node("second", _shop())
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    (events,) = conversation(LangGraphAgent(graph.compile(name="team")), "go")
    assert [(event.author, event.content.joined_text() if event.content else "") for event in events] == [
        ("first", "From the first."),
        ("second", "You are in None."),
    ]


def test_a_node_speaks_under_its_name_where_the_graph_has_none() -> None:
    (events,) = conversation(LangGraphAgent(_shop()), "go", session=new_session(city="Rome"))
    assert [event.author for event in events] == ["greet"]


def test_two_hundred_conversations_at_once_do_not_mix() -> None:
    adapter = LangGraphAgent(_shop())

    async def one(number: int) -> Any:
        session = Session(f"s{number % 3}", "app", "user", {"city": f"city {number}"})
        events = [await ask(adapter, "go", session) for _ in range(2)]
        return [answer_of(turn) for turn in events], await adapter.final_state(session)

    async def main() -> list[Any]:
        return list(await asyncio.gather(*map(one, range(200))))

    expected = [([f"You are in city {n}."] * 2, {"city": f"city {n}", "visits": 2}) for n in range(200)]
    assert asyncio.run(main()) == expected


# --- interrupts --------------------------------------------------------------------------------------------------------------


def _asking(*values: Any) -> Any:
    def ask_user(state: MessagesState) -> dict[str, Any]:
        answers = [interrupt(value) for value in values]
        return {"messages": [AIMessage(f"Got {answers}.")]}

    return StateGraph(MessagesState).add_node("ask", ask_user).add_edge(START, "ask").compile(name="bot")


def _answer(response: dict[str, Any]) -> Content:
    return Content(
        role="user", parts=[Part(function_response=FunctionResponse(name="interrupt", response=response))]
    )


def test_interrupt_is_the_answer_and_the_next_message_resumes_it() -> None:
    first, second, third = conversation(
        LangGraphAgent(_asking("Which city?", {"sure": None})), "go", "Rome", _answer({"yes": 1})
    )
    assert answer_of(first) == "Which city?"
    assert json.loads(answer_of(second)) == {"sure": None}
    assert answer_of(third) == "Got ['Rome', {'yes': 1}]."


def test_interrupts_at_once_are_answered_in_their_order() -> None:
    class Both(MessagesState):
        got: Annotated[list[str], operator.add]

    graph = StateGraph(Both)
    for name in ("one", "two"):
        graph.add_node(name, lambda state, name=name: {"got": [f"{name} {interrupt(name)}"]})
        graph.add_edge(START, name)
    agent, session = LangGraphAgent(graph.compile()), new_session()
    parts = [
        Part(function_response=FunctionResponse(name=n, response={"result": n.upper()}))
        for n in ("one", "two")
    ]
    conversation(agent, "go", Content(role="user", parts=parts), session=session)
    assert sorted(final_state(agent, session)["got"]) == ["one ONE", "two TWO"]


def test_an_approval_of_a_tool_by_langchain_s_middleware() -> None:
    guard = HumanInTheLoopMiddleware(interrupt_on={"wait": True})
    graph = create_agent(script([[("wait", {"ms": 0})], "Done."]), [wait], middleware=[guard])
    first, second = conversation(LangGraphAgent(graph), "go", _answer({"decisions": [{"type": "approve"}]}))
    assert json.loads(answer_of(first))["action_requests"][0]["name"] == "wait"
    assert [call.name for call in read(first).tool_calls] == ["wait"]
    assert [back.response for back in read(second).tool_responses] == [{"waited": 0}]
    assert answer_of(second) == "Done."


def test_an_answer_that_nothing_waits_for_is_an_error() -> None:
    with pytest.raises(AgentError, match="answers 'interrupt', and nothing waits for an answer"):
        conversation(LangGraphAgent(_shop()), _answer({"yes": 1}))


# --- what goes wrong -----------------------------------------------------------------------------------------------------------


def test_what_a_node_raises_passes_through_after_what_was_done() -> None:
    @tool
    def boom() -> str:
        """Raises."""
        raise LookupError("no such thing")

    turn = {"user_content": {"parts": [{"text": "go"}]}, "final_response": {"parts": [{"text": "x"}]}}
    result = proctor.evaluate_sync(
        create_agent(script([[("boom", {})], "Never."]), [boom]),
        {"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]},
        config={"criteria": {"response_match_score": 0.5}},
    )
    trial = result.cases[0].trials[0].trial
    assert trial is not None
    assert trial.failure is not None
    assert trial.failure.cause.startswith("agent raised in turn 1: LookupError: no such thing")
    assert [call.name for call in trial.invocations[0].tool_calls] == ["boom"]


def test_arguments_that_do_not_fit_are_the_tool_s_error() -> None:
    (events,) = conversation(
        LangGraphAgent(create_agent(script([[("wait", {"ms": "x"})], "Sorry."]), [wait])), "go"
    )
    assert "ms" in str(calls(events)[0][2]["error"])
    assert answer_of(events) == "Sorry."


def test_a_graph_that_never_ends_is_ended_by_the_library() -> None:
    graph = (
        StateGraph(Shop)
        .add_node("greet", _node)
        .add_edge(START, "greet")
        .add_edge("greet", "greet")
        .compile()
    )
    with pytest.raises(GraphRecursionError):
        conversation(LangGraphAgent(graph.with_config(recursion_limit=20)), "go")


def test_cancellation_ends_the_work_at_once() -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def hang(state: MessagesState) -> dict[str, Any]:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("node")
        return {}

    graph = StateGraph(MessagesState).add_node("hang", hang).add_edge(START, "hang").compile()

    async def main() -> None:
        asking = asyncio.ensure_future(ask(LangGraphAgent(graph), "go"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.2)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert ended == ["node"]


# --- messages, descriptions, time ------------------------------------------------------------------------------------------------


def test_media_of_the_user_reach_the_model() -> None:
    model = script(["Nice."])
    parts = [Part(text="What?"), Part(inline_data=Blob(data=b"png", mime_type="image/png"))]
    conversation(LangGraphAgent(create_agent(model)), Content(role="user", parts=parts))
    assert model.asked[0][0].content == [
        {"type": "text", "text": "What?"},
        {"type": "image", "base64": "cG5n", "mime_type": "image/png"},
    ]


def test_graph_describes_its_tools_and_each_turn_its_prompt() -> None:
    graph = create_agent(
        script([[("wait", {"ms": 1000})], "Done."]), [wait], system_prompt="Be patient.", name="bot"
    )
    agent, session = LangGraphAgent(graph), new_session()
    info = agent.describe()
    assert info.app_details is not None
    (described,) = info.app_details["agent_details"]["bot"]["tool_declarations"]
    (declared,) = described["function_declarations"]
    assert (declared["name"], declared["description"]) == ("wait", "Waits.")
    assert list(declared["parameters_json_schema"]["properties"]) == ["ms"]
    conversation(agent, "go", session=session)
    turn = session.memory["app_details"]["agent_details"]["bot"]
    assert turn["instructions"] == "Be patient."
    assert [one["function_declarations"][0]["name"] for one in turn["tool_declarations"]] == ["wait"]
    durations = session.memory["durations"]
    assert 1 <= durations["tool"] < 60
    assert 0 <= durations["model"] < 1


def test_end_of_a_graph_without_a_text_is_not_an_answer() -> None:
    graph = StateGraph(MessagesState).add_node("quiet", lambda state: {}).add_edge(START, "quiet")
    (events,) = conversation(LangGraphAgent(graph.add_edge("quiet", END).compile()), "go")
    assert events == []


# --- other runnables --------------------------------------------------------------------------------------------------------------


def test_a_chat_model_has_the_conversation() -> None:
    model = script(["One."], ["Two."])
    agent = as_agent(model, label="m")
    assert isinstance(agent, RunnableAgent)
    _, second = conversation(agent, "first", "second")
    assert answer_of(second) == "Two."
    assert len(second) == 1
    assert [usage.total_token_count for usage in read(second).usage_metadata] == [5]
    assert [message.text for message in model.asked[-1]] == ["first", "One.", "second"]


PROMPT = ChatPromptTemplate.from_messages(
    [("system", "You are in {city}."), MessagesPlaceholder("history"), ("human", "{question}")]
)


def test_a_chain_gets_text_history_and_state_by_their_names() -> None:
    model = script(["One."], ["Two."])
    session = new_session(city="Rome")
    _, second = conversation(
        as_agent(PROMPT | model | StrOutputParser(), label="c"), "first", "second", session=session
    )
    assert answer_of(second) == "Two."
    assert len(second) == 1
    assert [message.text for message in model.asked[-1]] == ["You are in Rome.", "first", "One.", "second"]


def test_a_chain_of_a_text() -> None:
    def shout(text: str) -> str:
        return text.upper()

    (events,) = conversation(as_agent(RunnableLambda(shout), label="c"), "hey")
    assert answer_of(events) == "HEY"


def test_chain_without_a_text_key_asks_for_a_function() -> None:
    prompt = ChatPromptTemplate.from_messages([("human", "{here} {there}")])
    with pytest.raises(AgentError, match=r"takes here, there; Proctor does not know .* def agent\(text\)"):
        conversation(as_agent(prompt | script(["hi"]), label="c"), "go")


class Account(MessagesState):
    """A conversation, and one key that a case need not have."""

    owner: str


def test_graph_in_a_runnable_gets_the_messages_without_other_keys() -> None:
    asked: list[Any] = []

    def look(state: Account) -> dict[str, Any]:
        asked.append(([message.text for message in state["messages"]], state.get("owner")))
        return {"messages": [AIMessage(f"{len(asked)}.")]}

    builder = StateGraph(Account)
    builder.add_node("look", look)
    builder.add_edge(START, "look")
    agent = as_agent(builder.compile().with_retry(), label="r")
    _, second = conversation(agent, "first", "second")
    assert answer_of(second) == "2."
    conversation(agent, "third", session=new_session(owner="ann"))
    assert asked == [(["first"], None), (["first", "1.", "second"], None), (["third"], "ann")]


def test_tools_that_a_chain_calls_are_seen() -> None:
    model = script([[("wait", {"ms": 0})], "x"])

    async def chain(text: str, config: RunnableConfig) -> str:
        reply = await model.ainvoke(text, config)
        result = await wait.ainvoke(reply.tool_calls[0], config)
        return f"It took {result.content}."

    (events,) = conversation(as_agent(RunnableLambda(chain), label="c"), "go")
    assert calls(events) == [("wait", {"ms": 0}, {"waited": 0})]
    assert answer_of(events) == 'It took {"waited": 0}.'


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({}, None),
        ({"finish_reason": "stop"}, None),
        ({"finish_reason": "length"}, "length"),
        ({"finish_reason": "MAX_TOKENS"}, "MAX_TOKENS"),
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"done_reason": "length"}, "length"),
    ],
)
@pytest.mark.parametrize("kind", ["graph", "chain"])
def test_an_answer_that_is_not_whole_is_an_error(
    kind: str, metadata: dict[str, str], code: str | None
) -> None:
    answer = AIMessage(content="Half of it", response_metadata=metadata)
    model = RunnableLambda(lambda _: answer)
    agent: Any = RunnableAgent(model)
    if kind == "graph":
        graph = StateGraph(MessagesState)
        graph.add_node("bot", lambda _: {"messages": [answer]})
        graph.add_edge(START, "bot")
        agent = LangGraphAgent(graph.compile())
    (events,) = conversation(agent, "go")
    assert events[0].content is not None
    assert events[-1].error_code == code
