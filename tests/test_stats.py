"""Small statistics, held against published figures and their own laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats import wilson

COUNTS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I: method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_intervals(successes: int, total: int, low: float, high: float) -> None:
    assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)


@given(COUNTS)
def test_the_share_lies_inside(counts: tuple[int, int]) -> None:
    successes, total = counts
    low, high = wilson(successes, total)
    assert 0 <= low <= successes / total <= high <= 1


@given(COUNTS)
def test_failures_mirror_successes(counts: tuple[int, int]) -> None:
    successes, total = counts
    low, high = wilson(successes, total)
    assert wilson(total - successes, total) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(COUNTS, st.floats(0.5, 0.9), st.floats(0.01, 0.09))
def test_more_confidence_is_wider(counts: tuple[int, int], confidence: float, more: float) -> None:
    low, high = wilson(*counts, confidence=confidence)
    lower, higher = wilson(*counts, confidence=confidence + more)
    assert lower <= low
    assert high <= higher


def test_without_trials_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("successes", "total", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (1, 1, 1.0), (1, 1, 0.0)]
)
def test_impossible_counts_are_refused(successes: int, total: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="expected 0 <= successes <= total"):
        wilson(successes, total, confidence=confidence)
