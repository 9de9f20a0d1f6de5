"""A weather agent written for google-adk, with a sub-agent, tools and state, whose model is a script.

Everything is google-adk's: agents, tools, state, the hand-over between agents. Only the model is ours: `Script`
reads the conversation as any model does and answers by rules, so nothing is asked over the network.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types

WEATHER = {
    "Paris": {"sky": "sunny", "celsius": 24},
    "London": {"sky": "rainy", "celsius": 15},
    "Oslo": {"sky": "snowy", "celsius": -2},
}

# --- tools -----------------------------------------------------------------------------------------------------------


def get_weather(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Tell the weather of a city and remember the city."""
    if city not in WEATHER:
        return {"error": f"no weather for {city}"}
    tool_context.state["city"] = city
    return {"city": city, **WEATHER[city]}


def pack_bag(items: list[str], tool_context: ToolContext) -> dict[str, Any]:
    """Put things into the bag."""
    tool_context.state["bag"] = [*tool_context.state.get("bag", []), *items]
    return {"bag": tool_context.state["bag"]}


# --- the model -------------------------------------------------------------------------------------------------------


class Script(BaseLlm):
    """A model that follows rules: it sees the conversation and the tools on offer, and nothing else."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - google-adk's signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer with a tool call or a text."""
        parts = [part for content in llm_request.contents for part in content.parts or []]
        respond = _pack if "pack_bag" in llm_request.tools_dict else _forecast
        part = respond(_asked(llm_request.contents), parts)
        content = types.Content(role="model", parts=[part])
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=sum(_words(p) for p in parts), candidates_token_count=_words(part)
        )
        yield LlmResponse(content=content, usage_metadata=usage)


def _asked(contents: list[types.Content]) -> str:
    """Return the user's last message; google-adk repeats the actions of other agents as texts "For context:"."""
    texts = [c.parts[0].text for c in contents if c.role == "user" and c.parts and c.parts[0].text]
    return next((text for text in reversed(texts) if not text.startswith("For context:")), "")


def _forecast(asked: str, parts: list[types.Part]) -> types.Part:
    """Tell the weather; hand over to the packer when it comes to packing."""
    report = _response(parts[-1])
    if "error" in report:
        return types.Part(text=f"Sorry, I have {report['error']}.")
    if "sky" in report:
        return types.Part(text=f"It is {report['sky']} in {report['city']}, {report['celsius']} degrees.")
    if _PACKING.search(asked):
        return _call("transfer_to_agent", agent_name="packer")
    city = re.search(r"\b(?:in|about|for) ([A-Z]\w+)", asked)
    if city is None:
        return types.Part(text="For which city would you like the weather?")
    return _call("get_weather", city=city[1])


def _pack(asked: str, parts: list[types.Part]) -> types.Part:
    """Pack for the weather that was reported last; hand back what is not about packing."""
    if "bag" in (packed := _response(parts[-1])):
        return types.Part(text=f"Your bag holds: {', '.join(packed['bag'])}.")
    if not _PACKING.search(asked):
        return _call("transfer_to_agent", agent_name="weather")
    skies = _SKIES.findall(" ".join(part.text or "" for part in parts))
    if not skies:
        return types.Part(text="Ask about the weather first, then I know what to pack.")
    return _call("pack_bag", items=_THINGS[skies[-1]])


_PACKING = re.compile(r"\b(pack|take)\b", re.IGNORECASE)
_SKIES = re.compile(r"\b(sunny|rainy|snowy)\b")
_THINGS = {"sunny": ["sunglasses", "a hat"], "rainy": ["an umbrella", "boots"], "snowy": ["a coat", "gloves"]}


def _call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def _response(part: types.Part) -> dict[str, Any]:
    return (part.function_response.response or {}) if part.function_response else {}


def _words(part: types.Part) -> int:
    return len((part.text or "").split()) or 1


# --- the agents ------------------------------------------------------------------------------------------------------

packer = LlmAgent(
    name="packer",
    model=Script(model="script"),
    description="Packs a bag for the weather.",
    instruction="Pack for the weather that was reported last.",
    tools=[pack_bag],
)

root_agent = LlmAgent(
    name="weather",
    model=Script(model="script"),
    description="Tells the weather.",
    instruction="Tell the weather of the city that is asked for. Hand over to the packer for packing.",
    tools=[get_weather],
    sub_agents=[packer],
)
