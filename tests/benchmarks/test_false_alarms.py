"""Comparisons of builds that do the same: false alarms stay at their rate, and so does "no worse" of a real drop."""

import pytest

from benchmarks.false_alarms import (
    BUILDS,
    DROP,
    LEVEL,
    MODELS,
    Build,
    Model,
    outcomes,
    plans,
    power,
    simulate,
)
from proctor.schema.analysis.comparison import Change
from proctor.stats.intervals import wilson

pytestmark = pytest.mark.slow
COMPARISONS = 400
MOST = wilson(round(LEVEL * COMPARISONS), COMPARISONS, confidence=0.999)[1]
"""What a rate of 5 % may show as in so few comparisons."""


@pytest.mark.parametrize("model", [one for one in MODELS if one.cases <= 100], ids=lambda model: model.name)
def test_rates(model: Model) -> None:
    found = simulate(model, COMPARISONS)
    assert found.alarms <= MOST
    assert found.wrongly_fine <= MOST
    assert found.covered >= 1 - MOST


def test_the_planned_number_of_cases_finds_a_drop_of_five_points() -> None:
    name, draw, deviation = [*plans()][-1]
    cases, found = power(draw, deviation, 100)
    assert (name, cases > 6) == ("scores", True)
    assert found >= 0.65  # 0.8 in truth; so few comparisons show it from 0.67 on


@pytest.mark.parametrize("build", BUILDS[:2], ids=lambda build: build.name)
def test_equal_runs_are_called_worse_no_more_often_than_promised(build: Build) -> None:
    found = outcomes(build, 150)
    assert found[Change.REGRESSION] + found[Change.IMPROVEMENT] <= wilson(8, 150, confidence=0.999)[1]


def test_runs_worse_by_the_margin_are_seldom_called_no_worse() -> None:
    found = outcomes(BUILDS[1], 150, DROP)
    assert found[Change.NO_REGRESSION] + found[Change.IMPROVEMENT] <= wilson(8, 150, confidence=0.999)[1]
