"""Collect the spans of google-adk, turn by turn.

google-adk traces with OpenTelemetry to the tracer provider of the process. If the agent's own code has set one, it gets one
more processor and exports as before, with contents only if configured. Otherwise Proctor sets a provider that exports
nothing, and configures google-adk to capture contents. A span belongs to the turn in whose context it began: tasks and
threads of asyncio inherit the context, so that concurrent trials are separated. `OTEL_SDK_DISABLED=true` disables it, as all tracing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from proctor.agents.adk.spans import told_spans
from proctor.common.limits import MAX_SPANS
from proctor.schema.evidence.trial import Span

_MOST_HELD = 2 * MAX_SPANS
"""Spans of one turn; the excess only shows that there were more."""

_gathering: ContextVar[list[Any] | None] = ContextVar("proctor_adk_spans", default=None)
_watched: list[Any] = []
_own: list[Any] = []
"""The provider that exports nothing, once it was needed."""
_lock = threading.Lock()
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Gathered:
    """The spans that began in one turn."""

    def __init__(self) -> None:
        """Begin with none."""
        self.held: list[Any] = []

    def spans(self) -> list[Span]:
        """Return the spans so far, in the order of their start."""
        return told_spans(self.held)


@contextmanager
def gathering(gathered: Gathered) -> Iterator[None]:
    """Collect the spans that begin in this context and in contexts derived from it."""
    if not _is_watching():
        yield
        return
    before = _gathering.get()
    _gathering.set(gathered.held)
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


def capturing(run_config: Any) -> Any:
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
    told = import_module("google.adk.telemetry.context")
    telemetry = told.TelemetryConfig(capture_message_content=told.ContentCapturingMode.SPAN_ONLY)
    return (run_config or configs.RunConfig()).model_copy(update={"telemetry": telemetry})


def _processor(sdk: Any) -> Any:
    class Gatherer(sdk.SpanProcessor):
        """Puts each span that begins to the others of its turn."""

        def on_start(self, span: Any, parent_context: Mapping[str, Any] | None = None) -> None:
            held = _gathering.get()
            if held is not None and len(held) < _MOST_HELD:
                held.append(span)

    return Gatherer()
