"""Comparisons of builds that do the same: false alarms stay at their rate, and so does "no worse" of a real drop."""

import pytest

from benchmarks.false_alarms import (
    BUILDS,
    DROP,
    LEVEL,
    MODELS,
    Build,
    Model,
    exactly_wrong,
    outcomes,
    plans,
    power,
    simulate,
)
from benchmarks.fixed_cases import FIXED, GREEN, Candidate, FixedCases, half_alike, simulate as simulate_fixed
from proctor.schema.analysis.comparison import Change
from proctor.stats.intervals import wilson

pytestmark = pytest.mark.slow
COMPARISONS = 400
MOST = wilson(round(LEVEL * COMPARISONS), COMPARISONS, confidence=0.999)[1]
"""What a rate of 5 % may show as in so few comparisons."""


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("model", [one for one in MODELS if one.cases <= 100], ids=lambda model: model.name)
def test_rates(model: Model) -> None:
    found = simulate(model, COMPARISONS)
    assert found.alarms <= MOST
    assert found.wrongly_fine <= MOST
    assert found.covered >= 1 - MOST


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(("cases", "gained"), [(80, 0.02), (100, 0.0085)])
def test_no_regression_is_wrong_in_at_most_five_percent_of_single_trials_exactly(
    cases: int, gained: float
) -> None:
    assert exactly_wrong(cases, gained, gained + DROP) <= LEVEL
    assert exactly_wrong(cases, gained, gained) > 0.5  # and equal builds are found


def test_the_planned_number_of_cases_finds_a_drop_of_five_points() -> None:
    name, draw, deviation = [*plans()][-1]
    cases, found = power(draw, deviation, 100)
    assert (name, cases > 6) == ("scores", True)
    assert found >= 0.65  # 0.8 in truth; so few comparisons show it from 0.67 on


@pytest.mark.nightly
@pytest.mark.parametrize("build", BUILDS[:2], ids=lambda build: build.name)
def test_equal_runs_are_called_worse_no_more_often_than_promised(build: Build) -> None:
    found = outcomes(build, 150)
    assert found[Change.REGRESSION] + found[Change.IMPROVEMENT] <= wilson(8, 150, confidence=0.999)[1]


@pytest.mark.nightly
def test_runs_worse_by_the_margin_are_seldom_called_no_worse() -> None:
    found = outcomes(BUILDS[1], 150, DROP)
    assert found[Change.NO_REGRESSION] + found[Change.IMPROVEMENT] <= wilson(8, 150, confidence=0.999)[1]


FEW = 150
MOST_OF_FEW = wilson(8, FEW, confidence=0.999)[1]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("fixed", FIXED[:8], ids=lambda fixed: fixed.name)
def test_equal_builds_are_seldom_called_a_regression_on_fixed_cases(fixed: FixedCases) -> None:
    found = simulate_fixed(fixed, FEW, Candidate())
    assert found.share(Change.REGRESSION) <= MOST_OF_FEW
    assert found.covered >= (1 - MOST_OF_FEW) * FEW


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("cases", "trials"), [(2, 10), (3, 10), (4, 4), (4, 10), (5, 5), (5, 10), (7, 5), (7, 10)]
)
def test_few_cases_of_which_half_of_the_trials_are_alike_are_seldom_called_a_regression(
    cases: int, trials: int
) -> None:
    alike = half_alike(cases, trials)
    assert simulate_fixed(alike, 800, Candidate()).share(Change.REGRESSION) <= 0.075  # at 5 %, with 99.9 %


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("where_wrong", [False, True], ids=["at random", "where wrong"])
@pytest.mark.parametrize("fixed", [FIXED[0], FIXED[4]], ids=lambda fixed: fixed.name)
def test_missing_verdicts_do_not_hide_broken_cases(fixed: FixedCases, where_wrong: bool) -> None:
    broken = dict.fromkeys(range(len(fixed.rates) * 2 // 5), 0.0)
    missing = Candidate(rates=broken, missing=1.0 if where_wrong else 0.4, where_wrong=where_wrong)
    assert simulate_fixed(fixed, FEW, missing).share(*GREEN) <= 0.05


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("drop", [0.0, 0.15], ids=["equal build", "15 points lower"])
def test_a_few_missing_verdicts_seldom_change_the_outcome(drop: float) -> None:
    found = simulate_fixed(FIXED[0], FEW, Candidate(missing=0.02, exactly=True, drop=drop))
    assert found.same >= 0.9 * FEW


def test_the_interval_contains_the_difference_if_half_of_the_trials_are_alike() -> None:
    found = simulate_fixed(half_alike(20, 10), 300, Candidate(drop=0.15))
    assert found.covered >= 0.93 * 300
