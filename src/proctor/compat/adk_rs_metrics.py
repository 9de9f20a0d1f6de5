"""adk-rs's scores and its two metrics, for one invocation each; `adk_rs` runs them over a set."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from proctor.compat.adk.argument_errors import a_model, set_up
from proctor.schema.format.content import text_of
from proctor.schema.format.invocation import Invocation, tool_calls_of

__all__ = ["BuiltIn", "EvalScore", "EvalStatus", "ResponseMatch", "TrajectoryMatch"]


class EvalStatus(StrEnum):
    """The outcome of a metric or a case."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    ERROR = "ERROR"

    def __bool__(self) -> bool:
        return self is EvalStatus.PASSED


class _Awaitable(Coroutine[object, object, "EvalScore"]):
    """A value that may also be awaited, and passed to `asyncio.run`: adk-rs awaits each score."""

    __slots__ = ()

    def __await__(self) -> Any:
        yield from ()
        return self

    def send(self, value: Any) -> Any:
        raise StopIteration(self)

    def throw(self, *error: Any) -> Any:
        raise error[0]

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


@dataclass(slots=True)
class EvalScore(_Awaitable):
    """The result of an evaluator for one invocation, or of a runner for all invocations of a case."""

    score: float
    status: EvalStatus
    details: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.status)


class BuiltIn:
    """A metric of the engine with adk-rs's arithmetic."""

    metric: str
    options: dict[str, Any]

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def name(self) -> str:
        """Return the key in the scores."""
        return self.metric

    @property
    def criterion(self) -> dict[str, Any]:
        """The criterion that scores as adk-rs does: an invocation below the threshold fails the case."""
        return {"threshold": self.threshold, "aggregate": "every_invocation", **self.options}

    def evaluate(self, expected: Invocation, actual: Invocation) -> EvalScore:
        """Score one invocation as adk-rs does. The score may be used directly or awaited.

        Raises:
            ValueError: an argument is not an invocation, or the threshold cannot fail or cannot pass.
        """
        from proctor.common.registry import METRICS
        from proctor.metrics.base import CaseView
        from proctor.schema.format.criterion import BaseCriterion

        where = f"{type(self).__name__}.evaluate"
        expected_turn = a_model(Invocation, expected, f"{where}: expected")
        actual_turn = a_model(Invocation, actual, f"{where}: actual")
        with set_up():
            metric = METRICS.get(self.metric)(BaseCriterion.model_validate(self.criterion))
        scored: Any = metric.score(CaseView(eval_id="", actual=[actual_turn], expected=[expected_turn]))
        score = float(scored.per_invocation[0].value)
        status = EvalStatus.PASSED if score >= self.threshold else EvalStatus.FAILED
        return EvalScore(score, status, self._details(expected_turn, actual_turn, score))

    def _details(self, expected: Invocation, actual: Invocation, score: float) -> dict[str, Any]:
        """Return what adk-rs reports with the score."""
        raise NotImplementedError


class TrajectoryMatch(BuiltIn):
    """The share of positions at which the expected tool was called with the expected arguments."""

    metric = "tool_trajectory_avg_score"
    options = {"reading": "adk-rs"}  # noqa: RUF012  (never changed)

    def __init__(self, threshold: float = 1.0) -> None:
        """Take the least share of every invocation."""
        super().__init__(threshold)

    def _details(self, expected: Invocation, actual: Invocation, score: float) -> dict[str, Any]:
        expected_count, actual_count = (
            len(tool_calls_of(each.intermediate_data)) for each in (expected, actual)
        )
        return {
            "matched": round(score * max(expected_count, actual_count)),
            "expected": expected_count,
            "actual": actual_count,
        }


class ResponseMatch(BuiltIn):
    """The share of the expected words that the answer has."""

    metric = "final_response_match_v1"
    options = {"compat": "adk"}  # noqa: RUF012  (never changed)

    def __init__(self, threshold: float = 0.8) -> None:
        """Take the least share of every invocation."""
        super().__init__(threshold)

    def _details(self, expected: Invocation, actual: Invocation, score: float) -> dict[str, Any]:
        from proctor.metrics.text.token_match import FinalResponseMatch

        tokens = len(FinalResponseMatch.tokens(text_of(expected.final_response, thoughts=True)))
        if not tokens:
            return {"reason": "empty expected"}
        return {"expected_tokens": tokens, "hit": round(score * tokens)}
