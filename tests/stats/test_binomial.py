"""The binomial distribution, held against scipy's and at its edges."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.stats.intervals import at_most, exactly


def scipy_binom() -> Any:
    return pytest.importorskip(
        "scipy.stats", reason="scipy, the oracle of the statistics, is not installed"
    ).binom


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
    binom = scipy_binom()
    assert exactly(passed, trials, rate) == pytest.approx(float(binom.pmf(passed, trials, rate)), rel=1e-8)
    assert at_most(passed, trials, rate) == pytest.approx(float(binom.cdf(passed, trials, rate)), rel=1e-8)


@given(st.integers(-1, 60), st.integers(0, 300), st.floats(0, 1))
def test_any_number_of_passes_is_as_likely_as_in_scipy(most: int, trials: int, rate: float) -> None:
    assert at_most(most, trials, rate) == pytest.approx(scipy_binom().cdf(most, trials, rate), abs=1e-9)


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
        exactly(0, trials, rate)
