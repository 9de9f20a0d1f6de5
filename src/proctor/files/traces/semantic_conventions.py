"""How instrumentation spells what a span is: the GenAI conventions of OpenTelemetry first, then others that are in use.

Sources: OpenTelemetry's semantic conventions for generative AI (`gen_ai.*`; span, agent and tool pages), those of OpenInference
(`openinference.span.kind`, `llm.*`), of Langfuse (`langfuse.*`), of OpenLLMetry (`traceloop.*`), and what google-adk and
pydantic-ai write besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from proctor.files.traces.span_tree import TraceSpan


class TraceSpanKind(StrEnum):
    """What a span is about, as far as evidence is concerned."""

    AGENT = "agent"
    MODEL = "model"
    TOOL = "tool"
    OTHER = ""


_OPERATIONS = {
    "invoke_agent": TraceSpanKind.AGENT,
    "invoke_workflow": TraceSpanKind.AGENT,
    "chat": TraceSpanKind.MODEL,
    "generate_content": TraceSpanKind.MODEL,
    "text_completion": TraceSpanKind.MODEL,
    "execute_tool": TraceSpanKind.TOOL,
}
_KIND_ATTRIBUTES = (
    (
        "openinference.span.kind",
        {"agent": TraceSpanKind.AGENT, "llm": TraceSpanKind.MODEL, "tool": TraceSpanKind.TOOL},
    ),
    (
        "langfuse.observation.type",
        {"agent": TraceSpanKind.AGENT, "generation": TraceSpanKind.MODEL, "tool": TraceSpanKind.TOOL},
    ),
    (
        "traceloop.span.kind",
        {"agent": TraceSpanKind.AGENT, "workflow": TraceSpanKind.AGENT, "tool": TraceSpanKind.TOOL},
    ),
)
"""The attributes that state the kind of a span, with their values."""
_ADK = "gcp.vertex.agent"
_ADK_NAMES = {"invocation": TraceSpanKind.AGENT, "call_llm": TraceSpanKind.MODEL}

MERGED_TOOLS = "(merged tools)"
"""google-adk's name for the span that only marks the end of parallel calls."""


def kind_of(span: TraceSpan) -> TraceSpanKind:
    """Return the kind of a span."""
    if span.kind is None:
        span.kind = _kind_of(span)
    kind: TraceSpanKind = span.kind
    return kind


def _kind_of(span: TraceSpan) -> TraceSpanKind:
    attributes = span.attributes
    if (operation := attributes.get("gen_ai.operation.name")) is not None:
        return _kind_of_operation(span, str(operation).lower())
    for name, kinds in _KIND_ATTRIBUTES:
        if (kind := attributes.get(name)) is not None:
            return kinds.get(str(kind).lower(), TraceSpanKind.OTHER)
    if "llm.request.type" in attributes:  # OpenLLMetry's model calls
        return (
            TraceSpanKind.MODEL
            if attributes["llm.request.type"] in ("chat", "completion")
            else TraceSpanKind.OTHER
        )
    if span.scope == _ADK or any(name.startswith(_ADK) for name in attributes):
        return _kind_of_adk_span(span)
    return _kind_of_tool(span)


def _kind_of_operation(span: TraceSpan, operation: str) -> TraceSpanKind:
    kind = _OPERATIONS.get(operation) or _kind_of_tool(span)
    return TraceSpanKind.OTHER if kind is TraceSpanKind.TOOL and tool_name(span) == MERGED_TOOLS else kind


def _kind_of_tool(span: TraceSpan) -> TraceSpanKind:
    """Whether a span is that of a tool: it names one, whichever operation it states."""
    return TraceSpanKind.TOOL if "gen_ai.tool.name" in span.attributes else TraceSpanKind.OTHER


def _kind_of_adk_span(span: TraceSpan) -> TraceSpanKind:
    if span.name.startswith("agent_run"):
        return TraceSpanKind.AGENT
    return _ADK_NAMES.get(span.name, TraceSpanKind.OTHER)


def agent_name(span: TraceSpan) -> str:
    """Return the name of the agent of a span: the agent that it is about, or the one it belongs to."""
    if name := span.text("gen_ai.agent.name", "gen_ai.workflow.name", "agent_name", "traceloop.entity.name"):
        return name
    head, _, tail = span.name.partition(" ")
    return tail.strip("[]") if head in ("invoke_agent", "agent_run") and tail else ""


def tool_name(span: TraceSpan) -> str:
    """Return the name of the tool that was executed."""
    name = span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
    return name or span.name.removeprefix("execute_tool ").removeprefix("running tool: ") or "tool"


def call_id(span: TraceSpan) -> str | None:
    """Return the id of the call that a tool was executed for."""
    text = span.text("gen_ai.tool.call.id", "tool_call.id", "tool.id")
    return None if text in ("", "<not specified>") else text


def conversation_id(span: TraceSpan) -> str:
    """Return the id of the conversation that a span belongs to."""
    for name in _CONVERSATION:
        if (value := span.attributes.get(name)) is not None and (text := _id(value)):
            return text
    return ""


_CONVERSATION = (
    "gen_ai.conversation.id", "gcp.vertex.agent.session_id", "session.id", "langfuse.session.id",
    "traceloop.association.properties.session_id",
)  # fmt: skip


CASE = "proctor.eval_id"
"""The attribute that names the case that was being run."""


def _id(value: object) -> str:
    """An id, which may be a number."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def case_id_of(spans: Sequence[TraceSpan]) -> tuple[str, bool]:
    """Return the id of the case that was run, if the trace states it, and whether Proctor's attribute states it."""
    for name in (CASE, "test.case.name"):
        for span in spans:
            for attributes in (span.attributes, span.resource):
                if text := _id(attributes.get(name)):
                    return text, name == CASE
    return "", False


def user_id(span: TraceSpan) -> str:
    """Return the id of the user."""
    return span.text("user.id", "enduser.id", "langfuse.user.id")


def model_of(span: TraceSpan) -> str | None:
    """Return the model that answered, else the one that was asked."""
    model = span.text(
        "gen_ai.response.model", "llm.response.model_name", "llm.model_name", "langfuse.observation.model.name",
        "gen_ai.request.model",
    )  # fmt: skip
    return model or None


_USAGE = {
    "prompt": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "answer": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "thought": ("gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"),
    "cached": ("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
    "total": ("llm.usage.total_tokens", "gen_ai.usage.total_tokens", "llm.token_count.total"),
}


def usage_of(span: TraceSpan) -> dict[str, int] | None:
    """Return the tokens of a model call in the format's words; output tokens include those of thoughts there, not here."""
    usage = {name: _count(span.first(*spelled)) for name, spelled in _USAGE.items()}
    prompt, answer, thought = usage["prompt"], usage["answer"], usage["thought"]
    if prompt is None and answer is None:
        return None
    total = usage["total"]
    counts = {
        "prompt_token_count": prompt,
        "candidates_token_count": _without_thoughts(answer, thought),
        "thoughts_token_count": thought,
        "cached_content_token_count": usage["cached"],
        "total_token_count": (prompt or 0) + (answer or 0) if total is None else total,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _without_thoughts(answer: int | None, thought: int | None) -> int | None:
    return None if answer is None else answer - min(thought or 0, answer)


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 53:
        return None
    return int(value)


def error_of(span: TraceSpan) -> tuple[str, str] | None:
    """Return the class and the message of the error that a span ended in; `None` where it did not."""
    kind = span.text("error.type")
    if not span.is_error and not kind:
        return None
    raised = next((event.attributes for event in reversed(span.events) if event.name == "exception"), {})
    message = str(
        raised.get("exception.message") or span.status or span.text("error.message", "exception.message")
    )
    kind = kind or str(raised.get("exception.type") or "")
    return kind, message or "the span ended in an error without a message"
