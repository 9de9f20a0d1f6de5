"""Searches in which no candidate is better: the gate accepts one of them no more often than promised; and it finds improvements."""

import pytest

from benchmarks.acceptance import ALPHA, SEARCHES, Search, accepted_share, wrong_searches
from proctor.stats.intervals import wilson

pytestmark = pytest.mark.slow
RUNS = 30
MOST = wilson(round(ALPHA * RUNS), RUNS, confidence=0.999)[1] * RUNS
"""As how many of so few searches a probability of 5 % may show."""
SHORT = [search for search in SEARCHES if search.cases <= 60 and search.trials < 5]


@pytest.mark.parametrize("search", SHORT, ids=lambda search: search.name)
def test_a_search_seldom_accepts_a_candidate_that_is_not_better(search: Search) -> None:
    assert wrong_searches(search, RUNS) <= MOST


def test_without_a_budget_most_searches_accept_a_candidate_that_is_not_better() -> None:
    assert wrong_searches(SEARCHES[0], 2 * RUNS, budget=1) > 2 * MOST


def test_large_improvements_are_accepted() -> None:
    assert accepted_share(50, 0.4, 30) > 0.8
