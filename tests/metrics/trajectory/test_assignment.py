"""The cheapest pairs, against all ways of pairing."""

from itertools import permutations

import pytest
from hypothesis import given, strategies as st

from proctor.metrics.trajectory.min_cost_assignment import assign

TABLES = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 9), min_size=columns, max_size=columns), min_size=1, max_size=5
    )
)


def least(costs: list[list[int]]) -> int:
    rows, columns = len(costs), len(costs[0])
    if rows > columns:
        return least([list(column) for column in zip(*costs, strict=True)])
    return min(sum(costs[row][way[row]] for row in range(rows)) for way in permutations(range(columns), rows))


@given(TABLES)
def test_no_other_pairs_cost_less(costs: list[list[int]]) -> None:
    pairs = assign(costs)
    assert len(pairs) == min(len(costs), len(costs[0]))
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert sum(costs[row][column] for row, column in pairs) == least(costs)
    assert pairs == sorted(pairs)


@pytest.mark.parametrize("costs", [[], [[]], [[], []]])
def test_empty_lists_have_no_pairs(costs: list[list[int]]) -> None:
    assert assign(costs) == []


def test_more_rows_than_columns() -> None:
    assert assign([[3], [1], [2]]) == [(1, 0)]
