"""`aggregate`: what makes the score of a case of those of its turns, for every metric."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st

import proctor
from proctor import Invocation
from proctor.engine.planning.bound_metric import AGGREGATES, BoundMetric
from proctor.engine.scoring.score_trial import score_trial
from proctor.engine.scoring.verdict import decide
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.results.run_result import Outcome
from proctor.schema.results.score import MetricScore, Score, mean_score

UNIT = st.floats(0.0, 1.0)


class Given:
    """A metric whose scores are known."""

    facts = MetricFacts(name="given", description="Known.")

    def __init__(self, values: Sequence[float | None]) -> None:
        self._values = values

    def score(self, case: CaseView) -> MetricScore:
        return mean_score([Score(value, not_applicable=value is None) for value in self._values])


class Later(Given):
    async def score(self, case: CaseView) -> MetricScore:  # type: ignore[override]  # either is a metric
        return super().score(case)


CASE = CaseView(eval_id="case", actual=[])


def value(values: Sequence[float | None], how: str, threshold: float = 0.5) -> float | None:
    found = BoundMetric(Given(values), threshold, gate=True, aggregate=how).score(CASE)
    assert isinstance(found, MetricScore)
    return found.value


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([1.0, 0.5, 0.6], "mean", 0.7),
        ([1.0, 0.5, 0.6], "min", 0.5),
        ([1.0, 0.5, 0.6], "every_invocation", 0.7),
        ([1.0, 0.4, 0.7], "every_invocation", 0.4),
        ([1.0, None, 0.8], "min", 0.8),
        ([None, None], "min", None),
        ([None, None], "every_invocation", None),
    ],
)
def test_values(values: list[float | None], how: str, expected: float | None) -> None:
    assert value(values, how) == (None if expected is None else pytest.approx(expected))


@given(st.lists(UNIT | st.none(), max_size=5), UNIT)
def test_every_invocation_passes_exactly_when_every_turn_does(
    values: list[float | None], threshold: float
) -> None:
    found = value(values, "every_invocation", threshold)
    applying = [each for each in values if each is not None]
    assert (found is None) == (not applying)
    if found is not None:
        assert (found >= threshold) == all(each >= threshold for each in applying)


@given(st.lists(UNIT, min_size=1, max_size=5))
def test_one_is_as_hard_as_the_next_or_harder(values: list[float]) -> None:
    mean, every, lowest = (value(values, how) for how in AGGREGATES)
    assert mean is not None
    assert every is not None
    assert lowest is not None
    assert mean >= every >= lowest


@pytest.mark.parametrize("how", ["every_invocation", "min"])
def test_metrics_that_wait_are_aggregated_likewise(how: str) -> None:
    bound = BoundMetric(Later([1.0, 0.2]), 0.5, gate=True, aggregate=how)
    (found,) = asyncio.run(score_trial([bound], CASE))
    assert found.value == 0.2


def test_a_metric_of_whole_cases_keeps_its_score() -> None:
    class Whole(Given):
        def score(self, case: CaseView) -> MetricScore:
            return MetricScore(0.7)

    for how in AGGREGATES:
        found = BoundMetric(Whole([]), 0.5, gate=True, aggregate=how).score(CASE)
        assert isinstance(found, MetricScore)
        assert found.value == 0.7


def test_with_repeats_every_turn_of_every_trial_counts() -> None:
    trials = [[1.0, 1.0], [1.0, 0.4]]
    outcomes = {}
    for how in AGGREGATES:
        bounds = [BoundMetric(Given(values), 0.6, gate=True, aggregate=how) for values in trials]
        scores = [[bound.score(CASE)] for bound in bounds]
        outcomes[how] = decide(bounds[:1], scores, [None, None]).outcome  # type: ignore[arg-type]  # none is awaited here
    assert outcomes == {"mean": Outcome.PASSED, "min": Outcome.PASSED, "every_invocation": Outcome.FAILED}


# --- as users meet it ----------------------------------------------------------------------------------------------------


def turns(*names: str) -> list[dict[str, Any]]:
    return [
        {
            "user_content": {},
            "intermediate_data": {"tool_uses": [{"name": name, "args": {}} for name in each]},
        }
        for each in names
    ]


@pytest.mark.parametrize(
    ("aggregate", "score", "outcome"),
    [
        (None, 0.75, "passed"),
        ("mean", 0.75, "passed"),
        ("min", 0.5, "failed"),
        ("every_invocation", 0.5, "failed"),
    ],
)
@pytest.mark.parametrize("name", ["trajectory_recall", "tool_trajectory_avg_score", "own"])
def test_any_metric_takes_it(name: str, aggregate: str | None, score: float, outcome: str) -> None:
    @proctor.metric("own", threshold=0.5)
    def own(actual: Invocation, expected: Invocation) -> float:
        return len(actual.tool_calls) / len(expected.tool_calls)

    criterion: dict[str, Any] = {"threshold": 0.6}
    if name == "tool_trajectory_avg_score":
        criterion["credit"] = "partial"
    if aggregate:
        criterion["aggregate"] = aggregate
    (found,) = proctor.score_sync(turns("ab", "c"), turns("ab", "cd"), criteria={name: criterion}).values()
    assert (found.score, found.outcome.value) == (score, outcome)
    assert [each.score for each in found.per_invocation] == [1.0, 0.5]


def test_the_reason_names_the_turn() -> None:
    criteria = {"trajectory_recall": {"threshold": 0.6, "aggregate": "every_invocation"}}
    (found,) = proctor.score_sync(turns("ab", "c"), turns("ab", "cd"), criteria=criteria).values()
    assert found.reason == "turn 2: 1 of 2 expected calls were made; `d()` was not called"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("every_invocaton", "Did you mean 'every_invocation'"),
        ("max", "`aggregate` must be 'mean', 'every_invocation', 'min', got 'max'"),
        (None, "got None"),
        (["min"], r"got \['min'\]"),
    ],
)
def test_another_value_is_a_setup_error(given: object, message: str) -> None:
    with pytest.raises(proctor.SetupError, match=message):
        proctor.score_sync([], [], criteria={"trajectory_recall": {"threshold": 1, "aggregate": given}})
