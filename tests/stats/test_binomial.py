"""The binomial distribution, held against scipy's and at its edges."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.stats.intervals import at_most, binomial_probability, most_lost


def scipy_stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy, the oracle of the statistics, is not installed")


@pytest.mark.parametrize("rate", [0.0, 1e-12, 0.03, 0.5, 0.97, 1 - 1e-12, 1.0])
@pytest.mark.parametrize(
    ("passed", "trials"),
    [
        (-1, 5),
        (-1, 0),
        (0, 0),
        (0, 1),
        (0, 5),
        (2, 5),
        (5, 5),
        (6, 5),
        (40, 60),
        (450, 10_000),
        (10_000, 10_000),
    ],
)
def test_both_are_scipys(passed: int, trials: int, rate: float) -> None:
    binom = scipy_stats().binom
    assert binomial_probability(passed, trials, rate) == pytest.approx(
        float(binom.pmf(passed, trials, rate)), rel=1e-8
    )
    assert at_most(passed, trials, rate) == pytest.approx(float(binom.cdf(passed, trials, rate)), rel=1e-8)


@given(st.integers(-1, 60), st.integers(0, 300), st.floats(0, 1))
def test_any_number_of_passes_is_as_likely_as_in_scipy(most: int, trials: int, rate: float) -> None:
    assert at_most(most, trials, rate) == pytest.approx(scipy_stats().binom.cdf(most, trials, rate), abs=1e-9)


@pytest.mark.parametrize(
    ("most", "rate", "expected"),
    [
        pytest.param(-1, 0.0, 0.0, id="fewer than none, never"),
        pytest.param(-1, 1.0, 0.0, id="fewer than none, always"),
        pytest.param(0, 0.0, 1.0, id="none, never"),
        pytest.param(4, 1.0, 0.0, id="all but one, always"),
        pytest.param(5, 1.0, 1.0, id="all, always"),
    ],
)
def test_edges_are_exact(most: int, rate: float, expected: float) -> None:
    assert at_most(most, 5, rate) == expected


@pytest.mark.parametrize(("trials", "rate"), [(5, -0.1), (5, 1.1), (5, float("nan")), (-1, 0.5)])
def test_rates_and_trials_are_checked(trials: int, rate: float) -> None:
    with pytest.raises(ValueError, match="expected trials >= 0 and 0 <= rate <= 1"):
        binomial_probability(0, trials, rate)


# --- what may be lost ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.05, 0.025, 1e-6])
@pytest.mark.parametrize(("lost", "cases"), [(0, 1), (0, 45), (1, 60), (7, 60), (59, 60), (450, 10_000)])
def test_what_may_be_lost_is_clopper_and_pearsons_bound(lost: int, cases: int, error: float) -> None:
    expected = float(scipy_stats().beta.ppf(1 - error, lost + 1, cases - lost))
    assert most_lost(lost, cases, error=error) == pytest.approx(expected, rel=1e-9)


def test_where_all_are_lost_all_may_be_and_parts_of_a_case_lie_between() -> None:
    assert most_lost(8, 8, error=0.05) == 1
    none, part, one = (most_lost(lost, 60, error=0.05) for lost in (0, 0.25, 1))
    assert part == pytest.approx(0.75 * none + 0.25 * one)


@pytest.mark.parametrize(
    ("lost", "cases", "error"), [(-0.5, 3, 0.05), (4, 3, 0.05), (0, 0, 0.05), (0, 3, 0.0)]
)
def test_what_may_be_lost_is_of_cases(lost: float, cases: int, error: float) -> None:
    with pytest.raises(ValueError, match="expected 0 <= lost <= cases"):
        most_lost(lost, cases, error=error)
