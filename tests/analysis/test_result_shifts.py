"""Shifts of the results over runs of the same code: found where they are, and rarely where none is."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from proctor.analysis.history.result_shifts import LEVEL, Results, find_shifts
from proctor.stats.intervals import wilson

RATES = [1.0, 0.95, 0.9, 0.7, 0.5, 0.2, 0.0]


def draw_run(rates: list[float], trials: int, random: Random) -> Results:
    return {
        (f"case{number}", 0): (sum(random.random() < rate for _ in range(trials)), trials)
        for number, rate in enumerate(rates)
    }


def even_run(*passed: int, trials: int = 5) -> Results:
    return {(f"case{number}", 0): (each, trials) for number, each in enumerate(passed)}


GOOD, BAD = even_run(5, 5, 5, 4), even_run(5, 2, 1, 2)
SEQUENCES = {
    "one run": ([GOOD], []),
    "equal runs": ([GOOD] * 4, []),
    "one shift": ([GOOD, GOOD, BAD, BAD, BAD], [2]),
    "there and back": ([GOOD] * 3 + [BAD] * 3 + [GOOD] * 3, [3, 6]),
    "one case broke, another was fixed": ([even_run(0, 5)] * 3 + [even_run(5, 0)] * 3, [3]),
    "nothing in common": ([{("a", 0): (5, 5)}, {("b", 0): (0, 5)}], []),
    "a case without a verdict": ([even_run(0, trials=0), even_run(5)], []),
    "too few trials": ([even_run(1, trials=1), even_run(0, trials=1)], []),
}


@pytest.mark.parametrize(("runs", "places"), SEQUENCES.values(), ids=SEQUENCES)
def test_a_shift_is_found_where_it_is(runs: list[Results], places: list[int]) -> None:
    found = find_shifts(runs)
    assert [one.place for one in found] == places
    assert all(one.p_value <= LEVEL for one in found)


def test_a_shift_has_the_pass_rates_on_both_sides() -> None:
    (shift,) = find_shifts([GOOD, GOOD, BAD, BAD])
    assert (shift.before, shift.now) == pytest.approx((0.95, 0.5))


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=6))
def test_places_are_in_order_and_inside(passed: list[list[int]]) -> None:
    runs = [even_run(*each, trials=4) for each in passed]
    places = [one.place for one in find_shifts(runs)]
    assert places == sorted({*places})
    assert all(0 < place < len(runs) for place in places)


@pytest.mark.nightly(check=1)
@pytest.mark.slow
@pytest.mark.parametrize(("count", "trials"), [(2, 5), (6, 3), (12, 1)], ids=str)
def test_without_a_shift_few_histories_have_one(count: int, trials: int) -> None:
    random, histories = Random(f"{count} {trials}"), 400
    false = sum(
        bool(find_shifts([draw_run(RATES, trials, random) for _ in range(count)])) for _ in range(histories)
    )
    assert wilson(false, histories, confidence=0.999)[0] <= LEVEL
