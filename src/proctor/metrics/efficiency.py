"""What a trial cost: tool calls, model calls, tokens, seconds. Always reported, never deciding.

Definitions are google-adk's. A value that was not reported differs from 0: a metric is not applicable to an invocation
without any recorded value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import informational_error
from proctor.schema.evidence.convert_events import TurnFacts
from proctor.schema.format.content import UsageMetadata
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore, Score, mean_score

Figures = dict[str, float | None]

REPORTED = {
    "prompt_tokens": "prompt_token_count",
    "cached_tokens": "cached_content_token_count",
    "tool_use_tokens": "tool_use_prompt_token_count",
    "candidates_tokens": "candidates_token_count",
    "reasoning_tokens": "thoughts_token_count",
}

NO_TURNS = "there are no turns"
NO_EVENTS = "no events were recorded"
NO_DURATION = "no duration was recorded"
NO_USAGE = "no token usage was reported"


def _facts(name: str, description: str) -> MetricFacts:
    return MetricFacts(
        name=name,
        description=description,
        maximum=None,
        gates=False,
        source="google-adk's informational metric of this name",
    )


class _Informational:
    """Base of the four metrics."""

    facts: ClassVar[MetricFacts]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        if criterion is not None:
            raise informational_error(self.facts)


class ToolCallCount(_Informational):
    """Tool calls per invocation; overall the mean."""

    facts = _facts("tool_call_count_v1", "Tool calls per turn.")

    def score(self, case: CaseView) -> MetricScore:
        """Return the score of each invocation and of the trial."""
        return mean_score([Score(float(len(turn.tool_calls))) for turn in case.turns])


class InferenceCallCount(_Informational):
    """Model calls per invocation: events with token usage or a model's version; overall the mean where known.

    As in google-adk, usage of 0 tokens counts as a call. The older form of recorded data has no events to count.
    """

    facts = _facts("inference_call_count_v1", "Model calls per turn, if events were recorded.")

    def score(self, case: CaseView) -> MetricScore:
        """Return the score of each invocation and of the trial."""
        counts = [turn.model_calls for turn in case.turns]
        return mean_score(
            [Score(None, NO_EVENTS, None, True) if count is None else Score(float(count)) for count in counts]
        )


class TokenUsage(_Informational):
    """Input and output tokens per invocation, summed over its model calls; overall the mean over all invocations.

    `details["token_usage_details"]` holds the parts: input = prompt + tool use, output = candidates + reasoning; null
    is "not reported". The total that models report themselves is not used.
    """

    facts = _facts("token_usage_v1", "Tokens per turn, input and output together.")

    def score(self, case: CaseView) -> MetricScore:
        """Return the score of each invocation and of the trial. One without a report counts as 0 in the mean, as in ADK."""
        turns = case.turns
        return _total_score(
            [_tokens(turn.usages) for turn in turns],
            total="total_tokens",
            missing=NO_USAGE,
            key="token_usage_details",
            combine=lambda tokens: sum(tokens) / len(turns),
        )


class InvocationDuration(_Informational):
    """Seconds of wall-clock time per invocation; overall the mean where known, to the millisecond.

    `details["duration_details"]` splits them into the time of the model, of the tools, and of the framework (the rest).
    """

    facts = _facts("invocation_duration_v1", "Seconds per turn, in all and by model, tools and framework.")

    def score(self, case: CaseView) -> MetricScore:
        """Return the score of each invocation and of the trial."""
        return _total_score(
            [_seconds(turn) for turn in case.turns],
            total="total_seconds",
            missing=NO_DURATION,
            key="duration_details",
            combine=lambda seconds: round(sum(seconds) / len(seconds), 3),
        )


def _total_score(
    parts: list[Figures], *, total: str, missing: str, key: str, combine: Callable[[list[float]], float]
) -> MetricScore:
    """Return the score of the figure `total` of each turn, with all figures under `key` in the details."""
    if not parts:
        return MetricScore(None, [], NO_TURNS, None, True)
    scores = [_turn_score(part[total], missing, {key: part}) for part in parts]
    overall = _combine(parts, combine)
    is_missing = overall[total] is None
    return MetricScore(overall[total], scores, missing if is_missing else "", {key: overall}, is_missing)


def _tokens(usages: Sequence[UsageMetadata]) -> Figures:
    sums = {name: _sum(getattr(usage, field) for usage in usages) for name, field in REPORTED.items()}
    input_tokens = _sum([sums["prompt_tokens"], sums["tool_use_tokens"]])
    output_tokens = _sum([sums["candidates_tokens"], sums["reasoning_tokens"]])
    return {
        "total_tokens": _sum([input_tokens, output_tokens]),
        "input_tokens": input_tokens,
        "prompt_tokens": sums["prompt_tokens"],
        "cached_tokens": sums["cached_tokens"],
        "tool_use_tokens": sums["tool_use_tokens"],
        "output_tokens": output_tokens,
        "candidates_tokens": sums["candidates_tokens"],
        "reasoning_tokens": sums["reasoning_tokens"],
    }


def _seconds(turn: TurnFacts) -> Figures:
    total, model, tool = turn.duration, turn.model_duration, turn.tool_duration
    if total is None:  # as in ADK, the parts of a turn without a duration are unknown
        return dict.fromkeys(["total_seconds", "model_seconds", "tool_seconds", "framework_seconds"])
    rest = None
    if model is not None and tool is not None:
        rest = round(max(total - model - tool, 0.0), 3)
    return {"total_seconds": total, "model_seconds": model, "tool_seconds": tool, "framework_seconds": rest}


def _sum(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; `None` if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _turn_score(value: float | None, missing: str, details: dict[str, object]) -> Score:
    if value is None:
        return Score(None, missing, details, True)
    return Score(float(value), "", details)


def _combine(parts: list[Figures], combine: Callable[[list[float]], float]) -> Figures:
    """Combine each figure over all invocations; `None` if no invocation has it."""
    return {
        name: combine(known)
        if (known := [value for part in parts if (value := part[name]) is not None])
        else None
        for name in parts[0]
    }
