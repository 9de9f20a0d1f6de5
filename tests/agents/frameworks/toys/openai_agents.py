"""The toy as an agent of the OpenAI Agents SDK that hands over to another."""

import json
from typing import Any, TypeAlias

from agents import (
    Agent,
    Model,
    ModelResponse,
    RunContextWrapper,
    Usage,
    function_tool,
    handoff,
    set_tracing_disabled,
)
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tests.agents.frameworks.behaviour import (
    MODEL,
    ROOT,
    SUB_AGENT,
    TOKENS_IN,
    TOKENS_OUT,
    TRANSFER,
    Answer,
    instructions,
    next_step,
    respond,
    state_in,
)

set_tracing_disabled(True)
Context: TypeAlias = RunContextWrapper[dict[str, Any]]


class Script(Model):
    """Answer by the behaviour."""

    model = MODEL

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        items = [item if isinstance(item, dict) else item.model_dump() for item in kwargs["input"]]
        asked = max(i for i, item in enumerate(items) if item.get("role") == "user")
        kinds = [item.get("type") for item in items[asked:]]
        outputs = {"function_call_output"}
        done = sum(kind in outputs and kinds[i - 1] not in outputs for i, kind in enumerate(kinds))
        step = next_step(items[asked]["content"], state_in(kwargs["system_instructions"]), done)
        usage = Usage(
            requests=1, input_tokens=TOKENS_IN, output_tokens=TOKENS_OUT, total_tokens=TOKENS_IN + TOKENS_OUT
        )
        output = (
            [_message(step)]
            if isinstance(step, Answer)
            else [_called(call, f"c{len(items)}p{i}") for i, call in enumerate(step)]
        )
        return ModelResponse(output=output, usage=usage, response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _message(step: Answer) -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text=step.text, annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])


def _called(call: Any, call_id: str) -> ResponseFunctionToolCall:
    name = (
        f"{TRANSFER.removesuffix('agent')}{call.args['agent_name']}" if call.name == TRANSFER else call.name
    )
    args = {} if call.name == TRANSFER else call.args
    return ResponseFunctionToolCall(
        type="function_call", call_id=call_id, name=name, arguments=json.dumps(args)
    )


@function_tool
def get_weather(ctx: Context, city: str) -> Any:
    """Reports the weather."""
    return respond("get_weather", {"city": city}, ctx.context)


@function_tool
def convert(ctx: Context, amount: int, unit: str) -> Any:
    """Converts units."""
    return respond("convert", {"amount": amount, "unit": unit}, ctx.context)


@function_tool
def remember(ctx: Context, key: str, value: str) -> Any:
    """Remembers."""
    return respond("remember", {"key": key, "value": value}, ctx.context)


def model_instructions(ctx: Context, agent: Any) -> str:
    """Return the instructions of the model."""
    return instructions(ctx.context)


units = Agent(name=SUB_AGENT, instructions=model_instructions, model=Script(), tools=[convert])
root_agent = Agent(
    name=ROOT,
    instructions=model_instructions,
    model=Script(),
    tools=[get_weather, remember],
    handoffs=[handoff(units)],
)
