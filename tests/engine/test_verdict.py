"""Scores become verdicts here, and nowhere else."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engine.criteria import BoundMetric
from proctor.engine.verdict import decide
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.score import MetricScore, Score
from proctor.schema.trial import Failure
from proctor.schema.verdict import Outcome, worst


class Measure:
    """A metric that is never asked: its scores are given."""

    facts: ClassVar[MetricFacts] = MetricFacts(name="measure", description="")

    def score(self, case: CaseView) -> MetricScore:
        raise AssertionError("not asked here")


class EveryTrial(Measure):
    facts = MetricFacts(name="state", description="", every_trial=True)


class Info(Measure):
    facts = MetricFacts(name="info", description="", gates=False)


def bound(kind: type[Measure] = Measure, threshold: float | None = 0.5, *, gate: bool = True) -> BoundMetric:
    return BoundMetric(kind(), threshold, gate)


def scored(value: float) -> MetricScore:
    return MetricScore(value=value, per_invocation=[Score(value, reason="because")])


BROKEN = MetricScore(failure=Failure(where="metric", type="ValueError", message="boom"))
SILENT = MetricScore(not_applicable=True, reason="no reference")
AGENT_DOWN = Failure(where="agent", type="RuntimeError", message="down", turn=1)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        pytest.param([1.0], Outcome.PASSED, id="above"),
        pytest.param([0.5], Outcome.PASSED, id="at the threshold"),
        pytest.param([0.499], Outcome.FAILED, id="below"),
        pytest.param([0.0, 1.0], Outcome.PASSED, id="the mean over trials decides"),
        pytest.param([0.0, 0.9], Outcome.FAILED, id="the mean over trials decides, downwards"),
    ],
)
def test_one_metric(values: list[float], outcome: Outcome) -> None:
    verdict = decide([bound()], [[scored(value)] for value in values], [None] * len(values))
    assert verdict.outcome is outcome


@pytest.mark.parametrize("value", [0.1, 0.7, 0.3, 1 / 3, 0.8])
def test_the_mean_of_equal_scores_is_that_score(value: float) -> None:
    verdict = decide([bound(threshold=value)], [[scored(value)]] * 3, [None] * 3)
    assert verdict.metrics["measure"].score == value
    assert verdict.outcome is Outcome.PASSED


def test_a_broken_metric_is_an_error_with_its_cause() -> None:
    verdict = decide([bound()], [[BROKEN]], [None])
    assert verdict.outcome is Outcome.ERROR
    assert "ValueError: boom" in verdict.reason


def test_a_broken_metric_does_not_hide_another_ones_failure() -> None:
    verdict = decide([bound(), bound(EveryTrial)], [[BROKEN, scored(0.0)]], [None])
    assert verdict.outcome is Outcome.FAILED
    assert verdict.metrics["measure"].outcome is Outcome.ERROR


def test_what_only_informs_never_decides() -> None:
    verdict = decide([bound(), bound(Info, None, gate=False)], [[scored(1.0), scored(0.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["info"].outcome is Outcome.INFORMATIONAL


def test_a_metric_without_gate_is_judged_and_does_not_decide() -> None:
    verdict = decide([bound(), bound(EveryTrial, gate=False)], [[scored(1.0), scored(0.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["state"].outcome is Outcome.FAILED


def test_nothing_that_applies_is_an_error_not_a_pass() -> None:
    assert decide([bound()], [[SILENT]], [None]).outcome is Outcome.ERROR
    assert decide([], [[]], [None]).outcome is Outcome.ERROR


def test_what_does_not_apply_leaves_the_decision_to_the_others() -> None:
    verdict = decide([bound(), bound(EveryTrial)], [[SILENT, scored(1.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["measure"].outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("others", "outcome"),
    [
        pytest.param([1.0, 1.0], Outcome.ERROR, id="the others pass: the case is an error"),
        pytest.param([0.0, 0.0], Outcome.FAILED, id="even a perfect third trial could not save it"),
        pytest.param([0.0, 1.0], Outcome.ERROR, id="it depends on the trial that broke"),
    ],
)
def test_a_trial_in_error(others: list[float], outcome: Outcome) -> None:
    rows: list[list[MetricScore] | None] = [[scored(value)] for value in others]
    verdict = decide([bound()], [*rows, None], [None, None, AGENT_DOWN])
    assert verdict.outcome is outcome
    assert verdict.trials[-1] is Outcome.ERROR


def test_what_must_hold_in_every_trial_fails_with_one() -> None:
    verdict = decide([bound(EveryTrial, 1.0)], [[scored(1.0)], [scored(0.0)], None], [None, None, AGENT_DOWN])
    assert verdict.outcome is Outcome.FAILED


def test_the_reason_names_metric_numbers_and_why() -> None:
    assert decide([bound()], [[scored(0.25)]], [None]).reason == "measure 0.25 < 0.5: because"


def test_the_reason_names_the_turn_where_there_are_several() -> None:
    two = MetricScore(value=0.25, per_invocation=[Score(1.0), Score(0.0, reason="no call")])
    assert decide([bound()], [[two]], [None]).reason == "measure 0.25 < 0.5: turn 2: no call"


@given(st.lists(st.sampled_from(Outcome), max_size=8))
def test_only_a_pass_with_nothing_worse_beside_it_is_green(outcomes: list[Outcome]) -> None:
    green = worst(outcomes) is Outcome.PASSED
    worse = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN}
    assert green == (Outcome.PASSED in outcomes and not worse & set(outcomes))
