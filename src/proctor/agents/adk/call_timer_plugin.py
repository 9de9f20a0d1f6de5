"""A plug-in of google-adk that watches the model and tool calls of one trial."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from proctor.agents.frameworks.framework_events import TimedCall, TurnTimings
from proctor.common.optional_packages import import_extra

if TYPE_CHECKING:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models import LlmRequest, LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools import BaseTool, ToolContext
    from google.genai.types import GenerateContentConfig

    from proctor.common.json_values import JsonObject

_FEATURE = "An agent of google-adk"


@dataclass(slots=True)
class CallTimer(TurnTimings):
    """The watch of the turns of one trial, and why google-adk ended a turn."""

    cancelled: str = ""
    """The tool that raised CancelledError; google-adk ends such a turn without a word."""
    _heard: float = 0.0

    def restart(self) -> None:
        """Begin with the next turn."""
        self.models, self.tools, self.details, self.cancelled = [], [], {}, ""

    def note_event(self) -> None:
        """Take in that an event came."""
        self._heard = time.perf_counter()

    def incomplete_reason(self) -> str:
        """Return why the turn ended without a result, for example a cancellation; empty for a complete turn."""
        if self.cancelled:
            return f"the tool {self.cancelled!r} cancelled itself"
        last = self.models[-1] if self.models else None
        if last is None or last.ended is not None or self._heard > last.began:
            return ""
        return f"the model of {last.key!r} cancelled itself, or gave no answer and no error"

    def surround(self, plugins: Iterable[BasePlugin]) -> list[BasePlugin]:
        """Return an app's plug-ins between the two that measure its calls.

        google-adk calls plug-ins in order until one answers. The plug-in for beginnings comes last, so it does not see calls
        that another plug-in answered; the one for ends comes first, before another plug-in replaces the result.
        """
        return [_ends_class()(self), *plugins, _begins_class()(self)]


@cache
def _ends_class() -> type[BasePlugin]:
    plugins = import_extra("google.adk.plugins.base_plugin", extra="adk", feature=_FEATURE)

    class CallEndPlugin(plugins.BasePlugin):  # type: ignore[name-defined]  # known when it runs
        """Sees each model and tool call end, and changes none."""

        def __init__(self, watch: CallTimer) -> None:
            super().__init__(name="proctor_watch_ends")
            self.watch = watch

        async def after_model_callback(
            self, *, callback_context: CallbackContext, llm_response: LlmResponse
        ) -> None:
            self.watch.end(callback_context.agent_name)

        async def on_model_error_callback(
            self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
        ) -> None:
            self.watch.end(callback_context.agent_name)

        async def after_tool_callback(
            self, *, tool: BaseTool, tool_args: JsonObject, tool_context: ToolContext, result: object
        ) -> None:
            self.watch.end(str(tool_context.function_call_id))

        async def on_tool_error_callback(
            self, *, tool: BaseTool, tool_args: JsonObject, tool_context: ToolContext, error: BaseException
        ) -> None:
            if isinstance(error, asyncio.CancelledError):
                self.watch.cancelled = tool.name
            self.watch.end(str(tool_context.function_call_id))

    return CallEndPlugin


@cache
def _begins_class() -> type[BasePlugin]:
    plugins = import_extra("google.adk.plugins.base_plugin", extra="adk", feature=_FEATURE)

    class CallBeginPlugin(plugins.BasePlugin):  # type: ignore[name-defined]  # known when it runs
        """Sees each model and tool call begin, and changes none."""

        def __init__(self, watch: CallTimer) -> None:
            super().__init__(name="proctor_watch_begins")
            self.watch = watch

        async def before_model_callback(
            self, *, callback_context: CallbackContext, llm_request: LlmRequest
        ) -> None:
            name = callback_context.agent_name
            self.watch.details[name] = _request_details(name, llm_request.config)
            self.watch.models.append(TimedCall(name))

        async def before_tool_callback(
            self, *, tool: BaseTool, tool_args: JsonObject, tool_context: ToolContext
        ) -> None:
            self.watch.tools.append(TimedCall(str(tool_context.function_call_id)))

    return CallBeginPlugin


def _request_details(name: str, config: GenerateContentConfig) -> JsonObject:
    """Instructions and tools of one model call, as the model got them."""
    instruction = getattr(config, "system_instruction", None)
    tools = getattr(config, "tools", None) or []
    return {
        "name": name,
        "instructions": instruction if isinstance(instruction, str) else "",
        "tool_declarations": [
            tool.model_dump(mode="json", exclude_none=True) for tool in tools if hasattr(tool, "model_dump")
        ],
    }
