"""Collect the spans of google-adk, turn by turn.

google-adk traces with OpenTelemetry to the tracer provider of the process. If the agent's own code has set one, it gets one
more processor and exports as before, with contents only if configured. Otherwise Proctor sets a provider that exports
nothing, and configures google-adk to capture contents. A span belongs to the turn in whose context it began: tasks and
threads of asyncio inherit the context, so that concurrent trials are separated. `OTEL_SDK_DISABLED=true` disables it, as all tracing.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from proctor.common.limits import MAX_SPANS, MAX_TEXT
from proctor.schema.evidence.turn import Span, SpanKind

if TYPE_CHECKING:
    from google.adk.agents.run_config import RunConfig
    from opentelemetry.sdk.trace import Span as SdkSpan, SpanProcessor, TracerProvider

_MOST_HELD = 2 * MAX_SPANS
"""Spans of one turn; the excess only shows that there were more."""

_gathering: ContextVar[list[SdkSpan] | None] = ContextVar("proctor_adk_spans", default=None)
_watched: list[TracerProvider] = []
_own: list[TracerProvider] = []
"""The provider that exports nothing, once it was needed."""
_lock = threading.Lock()
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class SpanCollection:
    """The spans that began in one turn."""

    def __init__(self) -> None:
        """Begin with none."""
        self.held: list[SdkSpan] = []

    def spans(self) -> list[Span]:
        """Return the spans so far, in the order of their start."""
        return stored_spans(self.held)


@contextmanager
def gathering(collection: SpanCollection) -> Iterator[None]:
    """Collect the spans that begin in this context and in contexts derived from it."""
    if not _is_watching():
        yield
        return
    before = _gathering.get()
    _gathering.set(collection.held)
    try:
        yield
    finally:
        _gathering.set(before)  # no token: a generator may be closed in another context than it began in


def _is_watching() -> bool:
    """Add a processor to the tracer provider of the process; return whether the provider supports it."""
    try:
        trace = import_module("opentelemetry.trace")
        sdk = import_module("opentelemetry.sdk.trace")
    except ImportError:
        return False
    with _lock:
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):
            provider = sdk.TracerProvider(shutdown_on_exit=False)
            trace.set_tracer_provider(provider)
            _own.append(provider)
        if not isinstance(provider, sdk.TracerProvider):
            return False
        if not any(one is provider for one in _watched):
            provider.add_span_processor(_processor(sdk))
            _watched.append(provider)
    return True


def capturing(run_config: RunConfig | None) -> RunConfig | None:
    """Return google-adk's RunConfig with the inputs and outputs of models in spans.

    Only if nothing exports these spans, and the user did not configure the capture.
    """
    if not (_is_watching() and _own) or os.environ.get(_CAPTURE) is not None:
        return run_config
    configs = import_module("google.adk.agents.run_config")
    if "telemetry" not in configs.RunConfig.model_fields:  # older releases capture by default
        return run_config
    if getattr(run_config, "telemetry", None) is not None:
        return run_config
    context = import_module("google.adk.telemetry.context")
    telemetry = context.TelemetryConfig(capture_message_content=context.ContentCapturingMode.SPAN_ONLY)
    return (run_config or configs.RunConfig()).model_copy(update={"telemetry": telemetry})


def _processor(sdk: ModuleType) -> SpanProcessor:
    class SpanCollector(sdk.SpanProcessor):  # type: ignore[name-defined]  # known when it runs
        """Puts each span that begins to the others of its turn."""

        def on_start(self, span: SdkSpan, parent_context: Mapping[str, object] | None = None) -> None:
            spans = _gathering.get()
            if spans is not None and len(spans) < _MOST_HELD:
                spans.append(span)

    return SpanCollector()


# --- Convert spans of google-adk, which have its own names and attributes (`google.adk.telemetry`), in both of its schemas ---


_OPERATIONS = {
    "invoke_agent": SpanKind.AGENT,
    "invoke_workflow": SpanKind.AGENT,
    "generate_content": SpanKind.MODEL,
    "execute_tool": SpanKind.TOOL,
}
_NAMES = {"invocation": SpanKind.AGENT, "call_llm": SpanKind.MODEL}
_MERGED = "(merged tools)"
_ADK = "gcp.vertex.agent"
_REQUEST = {
    SpanKind.MODEL: (f"{_ADK}.llm_request",),
    SpanKind.TOOL: (f"{_ADK}.tool_call_args", "gen_ai.tool.call.arguments"),
}
_RESPONSE = {
    SpanKind.MODEL: (f"{_ADK}.llm_response", "gen_ai.output.messages"),
    SpanKind.TOOL: (f"{_ADK}.tool_response", "gen_ai.tool.call.result"),
}
_ASKED = {
    "instructions": "gen_ai.system_instructions",
    "messages": "gen_ai.input.messages",
    "tools": "gen_ai.tool.definitions",
}
"""The attributes with the input of a model in the current schema; each is JSON."""
_TABLES = (_REQUEST, _RESPONSE)
_CONTENTS = {*_ASKED.values(), *(name for table in _TABLES for names in table.values() for name in names)}
_ALL_TEXTS = 4 * MAX_TEXT
"""Characters of all texts of a turn: more is cut here already, so that the answer of a worker is never too long a line."""
_ALWAYS = 1_000


def stored_spans(spans: Iterable[SdkSpan]) -> list[Span]:
    """Convert spans of OpenTelemetry's SDK, which may not all have ended, to stored spans."""
    room, agents, stored = _Room(), dict[str, str](), list[Span]()
    for span in spans:
        one = _stored_span(span, room)
        if one.kind is SpanKind.AGENT and one.agent:
            agents[one.id] = one.agent
        elif one.parent_id in agents:
            one.agent = one.agent or agents[one.parent_id]
            agents[one.id] = one.agent
        stored.append(one)
    return stored


def _stored_span(span: SdkSpan, room: _Room) -> Span:
    raw: Mapping[str, object] = span.attributes or {}
    attributes, context, kind = dict(raw), span.context, _kind(span.name, raw)
    began, ended = span.start_time, span.end_time
    return Span(
        id=f"{context.span_id:016x}",
        trace_id=f"{context.trace_id:032x}",
        parent_id=f"{span.parent.span_id:016x}" if span.parent is not None else None,
        name=room.clip(span.name),
        kind=kind,
        agent=_text_attribute(attributes, "gen_ai.agent.name"),
        started_at=began / 1e9 if began is not None else None,
        duration=(ended - began) / 1e9 if began is not None and ended is not None else None,
        error=_error(span, room),
        call_id=_call_id(attributes) if kind is SpanKind.TOOL else None,
        input_tokens=_count(attributes.get("gen_ai.usage.input_tokens")),
        output_tokens=_count(attributes.get("gen_ai.usage.output_tokens")),
        request=_content(attributes, _REQUEST.get(kind, ()), room) or _model_input(attributes, room),
        response=_content(attributes, _RESPONSE.get(kind, ()), room),
        attributes={name: room.fit(value) for name, value in attributes.items() if name not in _CONTENTS},
    )


def _text_attribute(attributes: Mapping[str, object], name: str) -> str | None:
    return str(attributes[name]) if name in attributes else None


def _call_id(attributes: Mapping[str, object]) -> str | None:
    call_id = _text_attribute(attributes, "gen_ai.tool.call.id")
    return None if call_id in ("", "<not specified>") else call_id


def _kind(name: str, attributes: Mapping[str, object]) -> SpanKind:
    if attributes.get("gen_ai.tool.name") == _MERGED:
        return SpanKind.STEP
    kind = _OPERATIONS.get(str(attributes.get("gen_ai.operation.name"))) or _NAMES.get(name)
    return kind or SpanKind.STEP


def _content(attributes: Mapping[str, object], names: Iterable[str], room: _Room) -> str | None:
    """Return the first attribute that exists; google-adk writes `{}` if contents are not captured."""
    texts = (str(attributes[name]) for name in names if attributes.get(name))
    return next((room.clip(text) for text in texts if text != "{}"), None)


def _model_input(attributes: Mapping[str, object], room: _Room) -> str | None:
    """Return one JSON text with all inputs of a model."""
    values = ((name, str(attributes[spelled])) for name, spelled in _ASKED.items() if attributes.get(spelled))
    pieces = [f'"{name}": {text}' for name, text in values]
    return room.clip(f"{{{', '.join(pieces)}}}") if pieces else None


def _error(span: SdkSpan, room: _Room) -> str | None:
    if getattr(span.status.status_code, "value", 0) != _STATUS_ERROR:
        return None
    raised = next(
        (dict(event.attributes or {}) for event in reversed(span.events) if event.name == "exception"), {}
    )
    details = [raised.get("exception.type"), raised.get("exception.message")]
    return room.clip(": ".join(str(each) for each in details if each) or span.status.description or "error")


_STATUS_ERROR = 2


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class _Room:
    """What is left for the texts of a turn."""

    def __init__(self) -> None:
        self._left = _ALL_TEXTS

    def clip(self, text: str) -> str:
        """Return a text, or its beginning if the limit does not suffice for all of it."""
        most = max(self._left, _ALWAYS)
        self._left -= min(len(text), most)
        return text if len(text) <= most else f"{text[:most]}… [cut: {len(text):,} characters in all]"

    def fit(self, value: object) -> object:
        """Return an attribute: a plain value, or a list of them."""
        if isinstance(value, str):
            return self.clip(value)
        return [self.fit(one) for one in value] if isinstance(value, list | tuple) else value


# --- google-adk logs the traceback of an agent's exception twice; the trial's error already contains it ---------------


_LOGGED_TWICE = ("google_adk.google.adk.workflow._node_runner", "google_adk.google.adk.runners")


@cache
def hide_repeated_tracebacks() -> None:
    """Suppress these tracebacks on the terminal unless logging is configured."""
    for name in _LOGGED_TWICE:
        logging.getLogger(name).addFilter(
            lambda record: not record.exc_info or logging.getLogger(record.name).hasHandlers()
        )
