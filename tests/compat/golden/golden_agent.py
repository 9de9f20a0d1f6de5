"""The agent of google-adk that its recorded runs used: the real library, only the model is the recorded script."""

from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import ToolContext
from google.genai import types


def get_weather(city: str) -> dict[str, Any]:
    """Gets the weather of a city."""
    return {"city": city, "weather": "sunny", "temp": 21}


def add(a: int, b: int) -> dict[str, Any]:
    """Adds two numbers."""
    return {"sum": a + b}


def remember(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Stores a value in the session state."""
    tool_context.state[key] = value
    return {"stored": True}


def boom() -> dict[str, Any]:
    """Always fails."""
    raise RuntimeError("tool failed")


class Scripted(BaseLlm):
    """Answers by the last text of the user, one step after the other."""

    script: dict[str, list[dict[str, Any]]]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        contents = llm_request.contents
        asked = max(i for i, c in enumerate(contents) if c.role == "user" and c.parts[0].text)
        steps = self.script.get(contents[asked].parts[0].text, self.script["*"])
        step = steps[min(sum(c.role == "model" for c in contents[asked:]), len(steps) - 1)]
        if "raise" in step:
            raise RuntimeError(step["raise"])
        yield LlmResponse(
            content=types.Content.model_validate({"role": "model", "parts": step["parts"]}),
            usage_metadata=step.get("usage"),
            model_version=step.get("model_version"),
        )


def golden_agent(script: dict[str, list[dict[str, Any]]]) -> Any:
    """Return the agent."""
    return LlmAgent(
        name="helper",
        model=Scripted(model="scripted", script=script),
        description="A scripted helper",
        instruction="You are a scripted helper.",
        tools=[get_weather, add, remember, boom],
    )
