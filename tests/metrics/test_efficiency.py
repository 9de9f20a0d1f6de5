"""The informational metrics have ADK's numbers and never take part in a verdict."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proctor.engine.planning.criteria import bind
from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.score_trial import score_trial
from proctor.errors import CriterionError
from proctor.metrics.efficiency import InferenceCallCount, InvocationDuration, TokenUsage, ToolCallCount
from proctor.schema.format.config import EvalConfig
from proctor.schema.format.content import user_text
from proctor.schema.format.criterion import EFFICIENCY_METRICS, BaseCriterion
from proctor.schema.format.invocation import Invocation, InvocationEvent, InvocationEvents
from proctor.schema.results.score import MetricScore, Score
from tests.metrics.invocations import turn, view
from tests.metrics.recorded import equal, vectors, view as recorded_view

METRICS = {
    each.facts.name: each for each in (ToolCallCount, InferenceCallCount, TokenUsage, InvocationDuration)
}
PARTS = ("token_usage_details", "duration_details")


def as_recorded(score: MetricScore) -> dict[str, Any]:
    def parts(of: MetricScore | Score, prefix: str = "") -> dict[str, Any]:
        return {prefix + part: (of.details or {}).get(part) for part in PARTS}

    each = [{"score": one.value, "status": "INFORMATIONAL", **parts(one)} for one in score.per_invocation]
    overall = {"overall_score": score.value, "overall_status": "INFORMATIONAL"}
    return {**overall, "per_invocation": each, **parts(score, "overall_")}


def test_they_are_the_four_of_the_format() -> None:
    assert list(METRICS) == [name.value for name in EFFICIENCY_METRICS]
    assert not any(metric.facts.gates for metric in METRICS.values())


@pytest.mark.parametrize("name", METRICS)
def test_recorded(shared: Path, name: str) -> None:
    compared = 0
    for vector in vectors(shared, "efficiency.json", 72):
        if "metric" in vector or name not in vector["results"]:
            continue
        theirs = vector["results"][name]
        assert equal({"ok": as_recorded(METRICS[name]().score(recorded_view(vector)))}, theirs), vector
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("name", METRICS)
def test_a_threshold_is_a_setup_error(name: str) -> None:
    with pytest.raises(CriterionError, match=f"'{name}' is informational"):
        METRICS[name](BaseCriterion(threshold=1))


def test_what_was_not_recorded_is_not_zero() -> None:
    case = view([turn(calls=[("f", {})]), turn(duration=1.5)])
    assert ToolCallCount().score(case).value == 0.5
    for metric in (InferenceCallCount(), TokenUsage()):
        score = metric.score(case)
        assert (score.value, score.not_applicable) == (None, True)
        assert score.reason
    assert InvocationDuration().score(case).value == 1.5


def test_number_beyond_float_is_a_failure_of_the_metric() -> None:
    events = InvocationEvents(
        invocation_events=[InvocationEvent(author="agent", usage_metadata={"prompt_token_count": 10**400})]
    )
    case = view([Invocation(user_content=user_text("q"), intermediate_data=events)])
    metrics = [one for one in bind(EvalConfig(), RunOptions()).metrics if one.name == "token_usage_v1"]
    (score,) = asyncio.run(score_trial(metrics, case))
    assert score.failure is not None
    assert score.failure.cause.startswith("metric raised: OverflowError")
    assert score.value is None


def test_the_parts_of_a_turn_that_was_not_measured_count_for_nothing() -> None:
    """As in google-adk: parts without a whole are left out of the means, too."""
    measured = turn(duration=2.0, model_duration=1.0, tool_duration=0.5)
    scored = InvocationDuration().score(view([measured, turn(model_duration=9.0, tool_duration=9.0)]))
    whole = {"total_seconds": 2.0, "model_seconds": 1.0, "tool_seconds": 0.5, "framework_seconds": 0.5}
    assert scored.details == {"duration_details": whole}
    assert scored.per_invocation[1].details == {"duration_details": dict.fromkeys(whole)}
