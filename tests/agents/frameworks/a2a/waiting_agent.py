"""An agent of google-adk with a tool that takes long."""

from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.tools import LongRunningFunctionTool

from tests.agents.adk.adk_script import Scripted, call, response, text


class Model(Scripted):
    """Call the tool, and repeat its answer."""

    async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncIterator[Any]:
        last = request.contents[-1].parts[-1]
        answered = last.function_response
        step = text(f"done: {answered.response}") if answered else call("approve", what="trip")
        yield response(step)


def approve(what: str) -> dict[str, Any]:
    """Ask a person."""
    return {"status": "pending"}


root_agent = LlmAgent(name="patient", model=Model(steps=[]), tools=[LongRunningFunctionTool(approve)])
