"""As `google.adk.evaluation.llm_as_judge_utils`: texts and scores for judges of one's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum, unique
from statistics import mean
from typing import Any

from proctor.compat.adk.argument_errors import a_model
from proctor.compat.adk.evaluation.eval_case import IntermediateDataType, get_all_tool_calls_with_responses
from proctor.compat.adk.evaluation.evaluator import EvalStatus
from proctor.schema.format.content import Content
from proctor.schema.format.invocation import AppDetails, IntermediateData, Invocation, InvocationEvents
from proctor.schema.format.rubric import RubricScore
from proctor.schema.format.wire_model import plain_data

__all__ = [
    "Label",
    "get_average_rubric_score",
    "get_eval_status",
    "get_grounding_metadata_as_json_str",
    "get_text_from_content",
    "get_tool_calls_and_responses_as_json_str",
    "get_tool_declarations_as_json_str",
]


@unique
class Label(Enum):
    """What a judge's answer may be labelled with."""

    TRUE = "true"
    INVALID = "invalid"
    VALID = "valid"
    PARTIALLY_VALID = ("partially_valid", "partially valid", "partially")
    ALMOST = "almost"
    FALSE = "false"
    NOT_FOUND = "label field not found"


def get_text_from_content(
    content: Any, *, include_intermediate_responses_in_final: bool = False
) -> str | None:
    """Return the text of a content, or of an invocation's final response; `None` without a content that has parts.

    `include_intermediate_responses_in_final`: put the texts before the final response in front of it.
    """
    if content is None:
        return None
    if not hasattr(content, "user_content"):
        return _text_of(content)
    invocation = a_model(Invocation, content, "content")
    if not include_intermediate_responses_in_final:
        return _text_of(invocation.final_response)
    texts = [*map(_text_of, _before(invocation)), _text_of(invocation.final_response)]
    return "\n".join(text for text in texts if text) or None


def _before(invocation: Invocation) -> list[Content | None]:
    data = invocation.intermediate_data
    if isinstance(data, InvocationEvents):
        return [event.content for event in data.invocation_events]
    if isinstance(data, IntermediateData):
        return [Content(parts=parts) for _, parts in data.intermediate_responses]
    return []


def _text_of(content: Any) -> str | None:
    if content is None or not content.parts:
        return None
    return "\n".join(part.text for part in content.parts if part.text)


def get_eval_status(score: float | None, threshold: float) -> EvalStatus:
    """Return what a score means: passed from the threshold on; not evaluated without a score."""
    if score is None:
        return EvalStatus.NOT_EVALUATED
    return EvalStatus.PASSED if score >= threshold else EvalStatus.FAILED


def get_average_rubric_score(rubric_scores: Sequence[RubricScore]) -> float | None:
    """Return the mean of the scores that have a value; `None` without any."""
    scores = [one.score for one in rubric_scores if one.score is not None]
    return mean(scores) if scores else None


def get_tool_declarations_as_json_str(app_details: AppDetails) -> str:
    """Return the tools of each agent as JSON text, for a prompt."""
    tools = a_model(AppDetails, app_details, "app_details").get_tools_by_agent_name()
    return _json({"tool_declarations": _without_nulls(tools)})


def get_tool_calls_and_responses_as_json_str(intermediate_data: IntermediateDataType | None) -> str:
    """Return the calls in order, each with its response, as JSON text, for a prompt."""
    pairs = get_all_tool_calls_with_responses(intermediate_data)
    if not pairs:
        return "No intermediate steps were taken."
    steps = [
        {
            "step": step,
            "tool_call": _without_nulls(call),
            "tool_response": "None" if answer is None else _without_nulls(answer),
        }
        for step, (call, answer) in enumerate(pairs)
    ]
    return _json({"tool_calls_and_response": steps})


def get_grounding_metadata_as_json_str(intermediate_data: IntermediateDataType | None) -> str:
    """Return the grounding metadata of the events as JSON text, for a prompt."""
    invocation = Invocation(user_content={}, intermediate_data=intermediate_data)
    data = invocation.intermediate_data
    events = data.invocation_events if isinstance(data, InvocationEvents) else []
    entries = [
        {"step": step, "author": event.author, "grounding_metadata": _without_nulls(event.grounding_metadata)}
        for step, event in enumerate(events)
        if event.grounding_metadata is not None
    ]
    return _json({"grounding_metadata": entries}) if entries else "No grounding metadata was provided."


def _without_nulls(value: Any) -> Any:
    """Return models as JSON data, without nulls."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items()}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else plain_data(value)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
