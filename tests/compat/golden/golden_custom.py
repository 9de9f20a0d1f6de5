"""The two custom metrics of the recorded runs, in the form that google-adk calls."""

from typing import Any


def always(score: float, actual_invocations: list[Any]) -> dict[str, Any]:
    """The same score for every invocation and overall."""
    return {"overall_score": score, "per_invocation_results": [{"score": score} for _ in actual_invocations]}


def always_07(
    eval_metric: Any, actual_invocations: Any, expected_invocations: Any, conversation_scenario: Any
) -> Any:
    """Return 0.7, always."""
    return always(0.7, actual_invocations)


def always_03(
    eval_metric: Any, actual_invocations: Any, expected_invocations: Any, conversation_scenario: Any
) -> Any:
    """Return 0.3, always."""
    return always(0.3, actual_invocations)
