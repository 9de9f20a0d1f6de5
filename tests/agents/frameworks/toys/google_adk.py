"""The toy in google-adk: an LlmAgent with tools and a sub-agent, whose model is the behaviour."""

from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types

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


class Toy(BaseLlm):
    """Answer by the behaviour, from the prompt of a model: instructions, the conversation, calls and responses."""

    model: str = MODEL

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        texts, done = _since_the_user(llm_request.contents)
        step = next_step(texts, state_in(llm_request.config.system_instruction), done)
        if isinstance(step, Answer):
            parts = [types.Part(text=step.text)]
        else:
            parts = [
                types.Part(function_call=types.FunctionCall(name=call.name, args=call.args)) for call in step
            ]
        yield LlmResponse(
            content=types.Content(role="model", parts=parts),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=TOKENS_IN,
                candidates_token_count=TOKENS_OUT,
                total_token_count=TOKENS_IN + TOKENS_OUT,
            ),
            model_version=MODEL,
        )


def _since_the_user(contents: list[Any]) -> tuple[str, int]:
    """Return the user's last message and the number of answers since; a sub-agent sees others in a user's words."""
    message, done = "", 0
    for content in contents:
        text = "\n".join(part.text for part in content.parts if part.text)
        is_context = text.startswith("For context:")
        if content.role == "model" or (is_context and " called tool `" in text):
            done += 1
        elif text and not is_context:
            message, done = text, 0
    return message, done


def get_weather(city: str) -> dict[str, Any] | None:
    """Reports the weather."""
    return respond("get_weather", {"city": city}, {})


def convert(amount: int, unit: str) -> dict[str, Any] | None:
    """Converts an amount."""
    return respond("convert", {"amount": amount, "unit": unit}, {})


def remember(key: str, value: str, tool_context: ToolContext) -> dict[str, Any] | None:
    """Remembers."""
    state: dict[str, Any] = {}
    answer = respond("remember", {"key": key, "value": value}, state)
    for name, kept in state.items():
        tool_context.state[name] = kept
    return answer


def _instructions(context: Any) -> str:
    return instructions(dict(context.state))


units = LlmAgent(
    name=SUB_AGENT, model=Toy(), description="Converts units.", instruction=_instructions, tools=[convert]
)
root_agent = LlmAgent(
    name=ROOT,
    model=Toy(),
    description="Helps.",
    instruction=_instructions,
    tools=[get_weather, remember],
    sub_agents=[units],
)
