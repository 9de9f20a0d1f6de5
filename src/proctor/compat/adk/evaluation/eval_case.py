"""As `google.adk.evaluation.eval_case`."""

from typing import Any, TypeAlias

from proctor.compat.adk.argument_errors import a_model
from proctor.schema.format.case import ConversationScenario, EvalCase, SessionInput
from proctor.schema.format.content import FunctionCall, FunctionResponse, UsageMetadata
from proctor.schema.format.invocation import (
    AppDetails,
    IntermediateData,
    Invocation,
    InvocationEvent,
    InvocationEvents,
    tool_calls_of,
    tool_responses_of,
)

__all__ = [
    "AppDetails",
    "ConversationScenario",
    "EvalCase",
    "IntermediateData",
    "IntermediateDataType",
    "Invocation",
    "InvocationEvent",
    "InvocationEvents",
    "SessionInput",
    "SessionState",
    "StaticConversation",
    "ToolCallAndResponse",
    "get_all_tool_calls",
    "get_all_tool_calls_with_responses",
    "get_all_tool_responses",
    "get_all_usage_metadata",
]

IntermediateDataType: TypeAlias = IntermediateData | InvocationEvents
StaticConversation: TypeAlias = list[Invocation]
SessionState: TypeAlias = dict[str, Any]
ToolCallAndResponse: TypeAlias = tuple[FunctionCall, FunctionResponse | None]


def get_all_tool_calls(intermediate_data: IntermediateDataType | None) -> list[FunctionCall]:
    """Return all tool calls in order; none for null. The data may be google-adk's."""
    return tool_calls_of(_ours(intermediate_data))


def get_all_tool_responses(intermediate_data: IntermediateDataType | None) -> list[FunctionResponse]:
    """Return all tool responses in order; none for null. The data may be google-adk's."""
    return tool_responses_of(_ours(intermediate_data))


def get_all_tool_calls_with_responses(
    intermediate_data: IntermediateDataType | None,
) -> list[tuple[FunctionCall, FunctionResponse | None]]:
    """Pair each call with the response of the same id."""
    return Invocation(user_content={}, intermediate_data=intermediate_data).calls_with_responses


def get_all_usage_metadata(invocation: Invocation) -> list[UsageMetadata]:
    """Return the usage of every event that reported one."""
    return a_model(Invocation, invocation, "invocation").usage_metadata


def _ours(data: Any) -> IntermediateData | InvocationEvents | None:
    if data is None or isinstance(data, IntermediateData | InvocationEvents):
        return data
    return Invocation(user_content={}, intermediate_data=data).intermediate_data
