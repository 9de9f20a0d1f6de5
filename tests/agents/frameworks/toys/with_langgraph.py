"""The toy as a graph of two of LangChain's agents: `assistant` hands over to `units` by a command."""

from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import dynamic_prompt
from langchain.tools import InjectedToolCallId, ToolRuntime, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from tests.agents.frameworks.behaviour import (
    MODEL,
    ROOT,
    SUB_AGENT,
    TOKENS_IN,
    TOKENS_OUT,
    Answer,
    instructions,
    next_step,
    respond,
    state_in,
)


class State(AgentState[Any]):
    """What is remembered."""

    colour: str
    home: str


class Script(BaseChatModel):
    """Answer by the behaviour."""

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=[{"name": getattr(one, "name", "")} for one in tools])

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        asked = max(i for i, message in enumerate(messages) if message.type == "human")
        state = state_in(next((m.text for m in messages if isinstance(m, SystemMessage)), ""))
        done = sum(isinstance(message, AIMessage) for message in messages[asked:])
        step = next_step(messages[asked].text, state, done)
        calls = (
            []
            if isinstance(step, Answer)
            else [(f"c{len(messages)}p{i}", call) for i, call in enumerate(step)]
        )
        reply = AIMessage(
            content=step.text if isinstance(step, Answer) else "",
            tool_calls=[{"name": call.name, "args": call.args, "id": its_id} for its_id, call in calls],
            usage_metadata={
                "input_tokens": TOKENS_IN,
                "output_tokens": TOKENS_OUT,
                "total_tokens": TOKENS_IN + TOKENS_OUT,
            },
            response_metadata={"model_name": MODEL},
        )
        return ChatResult(generations=[ChatGeneration(message=reply)])


@dynamic_prompt
def prompt(request: Any) -> str:
    """Return the prompt of the model."""
    known = {key: value for key, value in request.state.items() if key in ("colour", "home")}
    return instructions(known)


@tool
def get_weather(city: str) -> Any:
    """Reports the weather."""
    return respond("get_weather", {"city": city}, {})


@tool
def convert(amount: int, unit: str) -> Any:
    """Converts units."""
    return respond("convert", {"amount": amount, "unit": unit}, {})


@tool
def remember(key: str, value: str, call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Remembers."""
    state: dict[str, Any] = {}
    response = respond("remember", {"key": key, "value": value}, state)
    import json

    message = ToolMessage(json.dumps(response), tool_call_id=call_id, name="remember")
    return Command(update={**state, "messages": [message]})


@tool
def transfer_to_agent(agent_name: str, runtime: ToolRuntime) -> Any:
    """Hands over."""
    done = ToolMessage("handed over", tool_call_id=runtime.tool_call_id, name="transfer_to_agent")
    last = runtime.state["messages"][-1]
    return Command(goto=agent_name, graph=Command.PARENT, update={"messages": [last, done]})


def _agent(name: str, *tools: Any) -> Any:
    return create_agent(Script(), [*tools], middleware=[prompt], state_schema=State, name=name)


graph = StateGraph(State)
graph.add_node(ROOT, _agent(ROOT, get_weather, remember, transfer_to_agent), destinations=(SUB_AGENT,))
graph.add_node(SUB_AGENT, _agent(SUB_AGENT, convert))
graph.add_edge(START, ROOT)
root_agent = graph.compile(name=ROOT)
