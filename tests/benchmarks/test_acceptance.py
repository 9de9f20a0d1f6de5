"""Searches in which no candidate is better: the gate accepts one of them no more often than promised; and it finds improvements."""

import pytest

from benchmarks.acceptance import SEARCHES, Search, accepted_share, wrong_searches

pytestmark = pytest.mark.slow
RUNS, MOST = 60, 9
"""Of 60 searches of which each is wrong with a probability of 5 %, more than 9 are wrong with a probability of 0.1 %."""
SHORT = [search for search in SEARCHES if search.cases <= 60 and search.trials < 5]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("search", SHORT, ids=lambda search: search.name)
def test_a_search_seldom_accepts_a_candidate_that_is_not_better(search: Search) -> None:
    assert wrong_searches(search, RUNS) <= MOST


def test_without_a_budget_most_searches_accept_a_candidate_that_is_not_better() -> None:
    assert wrong_searches(SEARCHES[4], RUNS, budget=1) > MOST


def test_large_improvements_are_accepted() -> None:
    assert accepted_share(50, 0.4, 30) > 0.8
