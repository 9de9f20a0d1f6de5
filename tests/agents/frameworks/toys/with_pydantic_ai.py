"""The toy as an agent of pydantic-ai. One run of such an agent has no other agent in it: the root converts units itself."""

from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from tests.agents.frameworks.behaviour import (
    MODEL,
    ROOT,
    TOKENS_IN,
    TOKENS_OUT,
    Answer,
    instructions as model_instructions,
    next_step,
    respond,
    state_in,
)

Deps = dict[str, Any]


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer by the behaviour."""
    asked = max(
        i for i, message in enumerate(messages) if any(isinstance(p, UserPromptPart) for p in message.parts)
    )
    (text,) = [part.content for part in messages[asked].parts if isinstance(part, UserPromptPart)]
    done = sum(isinstance(message, ModelResponse) for message in messages[asked:])
    step = next_step(str(text), state_in(info.instructions or ""), done)
    usage = RequestUsage(input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT)
    if isinstance(step, Answer):
        return ModelResponse(parts=[TextPart(step.text)], usage=usage, model_name=MODEL)
    calls = [ToolCallPart(call.name, call.args) for call in step]
    return ModelResponse(parts=calls, usage=usage, model_name=MODEL)


root_agent = Agent(FunctionModel(script, model_name=MODEL), name=ROOT, deps_type=dict)


@root_agent.instructions
def instructions(ctx: RunContext[Deps]) -> str:
    """Return the instructions of the model."""
    return model_instructions(ctx.deps)


@root_agent.tool
def get_weather(ctx: RunContext[Deps], city: str) -> Any:
    """Reports the weather."""
    return respond("get_weather", {"city": city}, ctx.deps)


@root_agent.tool
def convert(ctx: RunContext[Deps], amount: int, unit: str) -> Any:
    """Converts units."""
    return respond("convert", {"amount": amount, "unit": unit}, ctx.deps)


@root_agent.tool
def remember(ctx: RunContext[Deps], key: str, value: str) -> Any:
    """Remembers."""
    return respond("remember", {"key": key, "value": value}, ctx.deps)


@root_agent.tool_plain
def transfer_to_agent(agent_name: str) -> None:
    """Represent a hand-over."""
