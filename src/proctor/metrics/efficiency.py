"""What a run cost: tool calls, model calls, tokens, seconds. Always reported, never deciding.

Definitions are google-adk's. "Not reported" stays apart from 0: a metric is not applicable to an invocation that
recorded nothing of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from proctor.metrics.base import CaseView, MetricFacts
from proctor.metrics.criterion_check import refuse_criterion
from proctor.schema.evidence.to_invocations import TurnFacts
from proctor.schema.evidence.trial import Failure
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.results.score import MetricScore, Score, mean_score, put_off

__all__ = ["InferenceCallCount", "InvocationDuration", "TokenUsage", "ToolCallCount"]

Figures = dict[str, float | None]

REPORTED = {
    "prompt_tokens": "prompt_token_count",
    "cached_tokens": "cached_content_token_count",
    "tool_use_tokens": "tool_use_prompt_token_count",
    "candidates_tokens": "candidates_token_count",
    "reasoning_tokens": "thoughts_token_count",
}

TOKEN_FIGURES = (
    "total_tokens",
    "input_tokens",
    "prompt_tokens",
    "cached_tokens",
    "tool_use_tokens",
    "output_tokens",
    "candidates_tokens",
    "reasoning_tokens",
)
NO_TURNS = "there are no turns"
NO_EVENTS = "no events were recorded"
NO_DURATION = "no duration was recorded"
NO_USAGE = "no token usage was reported"
_UNREPORTED: Figures = dict.fromkeys(TOKEN_FIGURES)


def _facts(name: str, description: str) -> MetricFacts:
    return MetricFacts(
        name=name,
        description=description,
        maximum=None,
        gates=False,
        source="google-adk's informational metric of this name",
    )


class _Informational:
    """One of the four. What they count is taken down when the first of them is asked, and made scores of when somebody looks."""

    facts: ClassVar[MetricFacts]
    place: ClassVar[int]

    def __init__(self, criterion: BaseCriterion | None = None) -> None:
        refuse_criterion(self.facts, criterion)

    def score(self, case: CaseView) -> MetricScore:
        """Say what was counted, or measured, in each invocation and over all of them."""
        counted = case.counted
        if counted is None:
            counted = case.counted = Counted(case.turns)
        return put_off(counted, self.place)


class ToolCallCount(_Informational):
    """Tool calls per invocation; overall the mean."""

    facts = _facts("tool_call_count_v1", "Tool calls per turn.")
    place = 0


class InferenceCallCount(_Informational):
    """Model calls per invocation: events with token usage or a model's version; overall the mean where known.

    The older form of recorded data has no events to count.
    """

    facts = _facts("inference_call_count_v1", "Model calls per turn, as far as the events tell.")
    place = 1


class TokenUsage(_Informational):
    """Input and output tokens per invocation, summed over its model calls; overall the mean over all invocations.

    `details["token_usage_details"]` holds the parts: input = prompt + tool use, output = candidates + reasoning; null
    is "nobody reported it". The total that models report themselves is not used.
    """

    facts = _facts("token_usage_v1", "Tokens per turn, input and output together.")
    place = 2


class InvocationDuration(_Informational):
    """Seconds per invocation on the clock; overall the mean where known, to the millisecond.

    `details["duration_details"]` splits them into the model's, the tools' and the framework's (what remains).
    """

    facts = _facts("invocation_duration_v1", "Seconds per turn, in all and by model, tools and framework.")
    place = 3


class _Turn(NamedTuple):
    """What is counted in one turn, and nothing that would keep its evidence in memory."""

    calls: int
    model_calls: int | None
    usages: Sequence[Sequence[int | None]]
    """Of each model call what it reported, in the order of `REPORTED`."""
    duration: float | None
    model_duration: float | None
    tool_duration: float | None


_tokens_of = itemgetter(*REPORTED.values())


class Counted:
    """What there is to count in one trial; called with the place of one of the four, it makes that score."""

    __slots__ = ("_turns",)

    def __init__(self, turns: Sequence[TurnFacts]) -> None:
        """Take the figures of these turns, and leave the rest."""
        # plain tuples in the order of `_Turn`: hardly anybody asks
        self._turns = [
            (
                len(turn.tool_calls),
                turn.model_calls,
                [_tokens_of(usage.__dict__) for usage in turn.usages] if turn.usages else (),
                turn.duration,
                turn.model_duration,
                turn.tool_duration,
            )
            for turn in turns
        ]

    def __call__(self, place: int) -> MetricScore:
        """Make the score; of numbers that no float holds, a failure."""
        try:
            return _MAKERS[place]([_Turn(*turn) for turn in self._turns])
        except OverflowError as error:
            return MetricScore(failure=Failure(where="metric", type="OverflowError", message=str(error)))


def _tool_calls(turns: Sequence[_Turn]) -> MetricScore:
    return mean_score([Score(float(turn.calls)) for turn in turns])


def _model_calls(turns: Sequence[_Turn]) -> MetricScore:
    return mean_score(
        [
            Score(None, NO_EVENTS, None, True) if turn.model_calls is None else Score(float(turn.model_calls))
            for turn in turns
        ]
    )


def _nothing(reason: str) -> MetricScore:
    return MetricScore(None, [], reason, None, True)


def _token_usage(turns: Sequence[_Turn]) -> MetricScore:
    if not turns:
        return _nothing(NO_TURNS)
    if not any(turn.usages for turn in turns):
        return _nothing_reported(len(turns))
    usages = [_tokens(turn.usages) for turn in turns]
    scores = [_reported(usage["total_tokens"], NO_USAGE, {"token_usage_details": usage}) for usage in usages]
    # An invocation without a report counts as 0 here, as in ADK: the figure is tokens per turn of the conversation.
    overall = _combine(usages, lambda values: sum(values) / len(usages))
    return _overall(scores, overall["total_tokens"], {"token_usage_details": overall})


def _nothing_reported(turns: int) -> MetricScore:
    """The score where no turn has any usage, as of most plain functions: said once for all of them."""
    details: dict[str, Any] = {"token_usage_details": _UNREPORTED.copy()}
    scores = [Score(None, NO_USAGE, details, True) for _ in range(turns)]
    return MetricScore(None, scores, NO_USAGE, details, True)


def _durations(turns: Sequence[_Turn]) -> MetricScore:
    if not turns:
        return _nothing(NO_TURNS)
    if all(turn.model_duration is None and turn.tool_duration is None for turn in turns):
        return _whole_durations(turns)
    durations = [_seconds(turn) for turn in turns]
    scores = [_reported(each["total_seconds"], NO_DURATION, {"duration_details": each}) for each in durations]
    overall = _combine(durations, _mean_seconds)
    return _overall(scores, overall["total_seconds"], {"duration_details": overall})


def _whole_durations(turns: Sequence[_Turn]) -> MetricScore:
    """The same where nobody tells the model's time from the tools', as of most plain functions."""
    scores, known = [], []
    for turn in turns:
        total = turn.duration
        details: dict[str, Any] = {"duration_details": _undivided(total)}
        if total is None:
            scores.append(Score(None, NO_DURATION, details, True))
        else:
            scores.append(Score(float(total), "", details))
            known.append(total)
    seconds = _mean_seconds(known) if known else None
    return _overall(scores, seconds, {"duration_details": _undivided(seconds)})


def _undivided(total: float | None) -> Figures:
    return {"total_seconds": total, "model_seconds": None, "tool_seconds": None, "framework_seconds": None}


def _tokens(usages: Sequence[Sequence[int | None]]) -> Figures:
    sums = {name: _sum(usage[place] for usage in usages) for place, name in enumerate(REPORTED)}
    taken = _sum([sums["prompt_tokens"], sums["tool_use_tokens"]])
    given = _sum([sums["candidates_tokens"], sums["reasoning_tokens"]])
    return {
        "total_tokens": _sum([taken, given]),
        "input_tokens": taken,
        "prompt_tokens": sums["prompt_tokens"],
        "cached_tokens": sums["cached_tokens"],
        "tool_use_tokens": sums["tool_use_tokens"],
        "output_tokens": given,
        "candidates_tokens": sums["candidates_tokens"],
        "reasoning_tokens": sums["reasoning_tokens"],
    }


def _seconds(turn: _Turn) -> Figures:
    total, model, tool = turn.duration, turn.model_duration, turn.tool_duration
    if total is None:  # the turn was not measured: its parts are parts of nothing, as in ADK
        return _undivided(None)
    rest = None
    if model is not None and tool is not None:
        rest = round(max(total - model - tool, 0.0), 3)
    return {"total_seconds": total, "model_seconds": model, "tool_seconds": tool, "framework_seconds": rest}


def _mean_seconds(values: list[float]) -> float:
    seconds = sum(values) / len(values)
    thousandths = seconds * 1000
    # `round` takes as long as all the rest, and says the same of what is whole milliseconds
    is_exact = thousandths.is_integer() and thousandths < 1e15
    return thousandths / 1000 if is_exact else round(seconds, 3)


def _sum(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; `None` where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _reported(value: float | None, otherwise: str, details: dict[str, Any]) -> Score:
    if value is None:
        return Score(None, otherwise, details, True)
    return Score(float(value), "", details)


def _combine(parts: list[Figures], combine: Callable[[list[float]], float]) -> Figures:
    """Each figure over all invocations; `None` where no invocation has it."""
    combined = parts[0].copy() if parts else {}  # what nobody has stays null
    for name in combined:
        known = []
        for part in parts:  # a loop, which takes half as long as a comprehension for a few turns
            value = part[name]
            if value is not None:
                known.append(value)
        if known:
            combined[name] = combine(known)
    return combined


def _overall(scores: list[Score], value: float | None, details: dict[str, Any]) -> MetricScore:
    if value is not None:
        return MetricScore(value, scores, "", details)
    for score in scores:
        if score.reason:
            return MetricScore(None, scores, score.reason, details, True)
    return MetricScore(None, scores, NO_TURNS, None, not_applicable=True)


_MAKERS = (_tool_calls, _model_calls, _token_usage, _durations)
"""In the order of their places."""
