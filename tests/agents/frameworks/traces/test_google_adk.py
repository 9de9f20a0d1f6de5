"""Spans of google-adk: agents that are called as tools, and its own file of spans."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.telemetry.sqlite_span_exporter import SqliteSpanExporter
from google.adk.tools import AgentTool
from google.genai import types
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from proctor.files.traces.conversations import TracedConversation, read_conversations

pytestmark = pytest.mark.filterwarnings("ignore")  # google-adk warns about itself

OLD, NEW = "as it traced before it followed the conventions", "as it traces today"
VARIABLES = {
    NEW: {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
    },
    OLD: {"ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1"},
}


class Scripted(BaseLlm):
    """Ask the first of its tools, and repeat its answer."""

    model: str = "scripted"

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[Any]:
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            part = types.Part(text=f"It is {json.dumps(last.function_response.response)}.")
        else:
            (name,) = llm_request.tools_dict
            args = {"request": "convert 3"} if name == "units" else {"amount": 3}
            part = types.Part(function_call=types.FunctionCall(name=name, args=args))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def convert(amount: int) -> dict[str, int]:
    """Converts."""
    return {"value": amount * 3}


units = LlmAgent(name="units", model=Scripted(), tools=[convert])
root = LlmAgent(name="root", model=Scripted(), tools=[AgentTool(units)])


@pytest.fixture(params=[NEW, OLD])
def telling(
    request: pytest.FixtureRequest, provider: TracerProvider, monkeypatch: pytest.MonkeyPatch
) -> TracerProvider:
    """The provider, with the tracing of google-adk."""
    for name, value in VARIABLES[request.param].items():
        monkeypatch.setenv(name, value)
    return provider


def run(provider: TracerProvider, exporter: SpanExporter) -> None:
    """Ask the root twice in one session, its spans handed to `exporter`."""
    processor = SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)
    try:
        asyncio.run(_asked("How much?", "And now?"))
    finally:
        processor.shutdown()


async def _asked(*texts: str) -> None:
    runner = InMemoryRunner(root, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s-1")
    for text in texts:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id="s-1", new_message=message):
            pass


def check(conversation: TracedConversation) -> None:
    """Two turns, with the calls of both agents, each its own."""
    assert (conversation.id, conversation.is_trace, conversation.failure) == ("s-1", False, None)
    assert [turn.text for turn in conversation.turns] == ["How much?", "And now?"]
    for turn in conversation.turns:
        parts = [
            (event, part) for event in turn.events for part in (event.content and event.content.parts) or ()
        ]
        calls = [(event.author, part.function_call.name) for event, part in parts if part.function_call]
        assert calls == [("root", "units"), ("units", "convert")]
        answers = [part.function_response.name for _, part in parts if part.function_response]
        assert answers == ["convert", "units"]
        final = [event for event in turn.events if event.is_final_response()]
        assert [event.author for event in final] == ["root"]


def test_calls_of_an_agent_that_is_a_tool_are_its_own(telling: TracerProvider, tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    run(telling, exporter)
    file = tmp_path / "spans.jsonl"
    file.write_text(
        "".join(one.to_json(indent=None).replace("\n", " ") + "\n" for one in exporter.get_finished_spans())
    )
    (conversation,) = read_conversations([file]).conversations
    check(conversation)


def test_google_adk_s_own_file_of_spans_is_read(telling: TracerProvider, tmp_path: Path) -> None:
    run(telling, SqliteSpanExporter(db_path=str(tmp_path / "spans.db")))
    (conversation,) = read_conversations([tmp_path / "spans.db"]).conversations
    check(conversation)
