"""Stopping a run early in a comparison: the rest would hardly decide it."""

from random import Random
from statistics import NormalDist

import pytest

from proctor.analysis.compare.futility import RemainingTrials, chance_to_decide
from proctor.analysis.compare.interim_looks import look_at, remaining_trials
from proctor.schema.analysis.comparison import PASSED, InGeneral, Look, Measured

LAST = Look(5, 5, 0.045, 0.046)
NORMAL = NormalDist()


def measured(difference: float, error: float, name: str = PASSED) -> Measured:
    """What shows such a difference with such a standard error, with the interval that the last look asks for."""
    half = NORMAL.inv_cdf(1 - LAST.two_sided / 2) * error
    return Measured(
        name, 0.8, 0.8 + difference, difference, difference - half, difference + half, 0.5, 60,
        confidence=1 - LAST.two_sided, decides=True,
    )  # fmt: skip


def chance(*measures: Measured, share: float = 0.5, margin: float = 0.05) -> float:
    passed = measures[0]
    general = InGeneral(passed.difference, passed.low, passed.high, passed.confidence, 0.5, passed.low)
    return chance_to_decide(measures, general, margin, RemainingTrials(LAST, share))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("difference", [-0.1, -0.04, 0.0, 0.03])
@pytest.mark.parametrize("error", [0.02, 0.04, 0.08])
def test_it_is_as_probable_as_when_it_is_drawn(difference: float, error: float, share: float) -> None:
    """Draw the final difference around the current one, and compare it with the final limits."""
    random, by_then, decided = Random(1), error * share**0.5, 0
    far = NORMAL.inv_cdf(1 - LAST.two_sided / 2) * by_then
    near = NORMAL.inv_cdf(1 - LAST.one_sided) * by_then
    for _ in range(4_000):
        then = random.gauss(difference, error * (1 - share) ** 0.5)
        decided += abs(then) >= far or then - near >= -0.05
    assert chance(measured(difference, error), share=share) == pytest.approx(decided / 4_000, abs=0.03)


def test_what_is_certain_now_stays_so_and_what_is_out_of_reach_too() -> None:
    assert chance(measured(-0.3, 0.03)) > 0.999
    assert chance(measured(-0.025, 0.02), share=0.99) < 0.01
    assert chance(measured(0.0, 0.2), share=0.9) < 0.01  # too few cases: their trials decide nothing


def test_a_metric_that_may_decide_yet_keeps_it_going() -> None:
    undecided = measured(-0.025, 0.02)
    alone = chance(undecided, share=0.95)
    assert alone < 0.2 < chance(undecided, measured(-0.09, 0.04, "response_match_score"), share=0.95)


@pytest.mark.parametrize("made", [1, 4])
def test_there_is_something_ahead_but_after_the_last_look(made: int) -> None:
    ahead = remaining_trials(5, 5, made, 0.95)
    assert ahead is not None
    assert ahead.last == look_at(5, 5, 5, 0.95)
    assert ahead.share == pytest.approx((1 / 5 + 1 / 5) / (1 / made + 1 / 5))
    assert remaining_trials(5, 5, 5, 0.95) is None
