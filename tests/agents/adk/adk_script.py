"""Agents of the real google-adk whose model is a list of steps, made inside a test."""

from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


def text(content: str) -> types.Part:
    return types.Part(text=content)


def call(name: str, /, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Scripted(BaseLlm):
    """Gives one step for each call of a model; the last one over and over. Streams in halves where it is asked to."""

    model: str = "scripted"
    steps: list[Any]
    asked: list[Any] = []  # noqa: RUF012 - pydantic copies it

    async def generate_content_async(self, request: Any, stream: bool = False) -> AsyncIterator[Any]:
        self.asked.append(request)
        step = self.steps[min(len(self.asked), len(self.steps)) - 1]
        if isinstance(step, BaseException):
            raise step
        if stream:
            for piece in pieces(step):
                yield response(piece, partial=True)
        yield response(step)


def response(part: Any, **fields: Any) -> Any:
    return LlmResponse(
        content=types.Content(role="model", parts=[part]),
        usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=5),
        model_version="script-1",
        **fields,
    )


def pieces(part: Any) -> list[Any]:
    if part.text:
        half = len(part.text) // 2
        return [text(part.text[:half]), text(part.text[half:])]
    name = part.function_call.name
    return [types.Part(function_call=types.FunctionCall(name=name, args={}, will_continue=True))]


def scripted_agent(*steps: Any, name: str = "bot", **fields: Any) -> Any:
    """Return an LlmAgent that does these things, one per call of its model."""
    return LlmAgent(name=name, model=Scripted(steps=list(steps)), **fields)
