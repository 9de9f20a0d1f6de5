"""Looking at trials while they come in: all looks together err no more often than one would."""

from functools import cache
from math import log
from random import Random

import pytest
import scipy
from hypothesis import example, given, settings, strategies as st

from proctor.stats.sequential import FUTILE, ShareBounds, alpha_spent, look_levels, share_bounds


def chances(
    rate: float, most: int, confidence: float, truth: float, *, give_up: bool = True
) -> tuple[float, float, float]:
    """The probabilities to end below and above, and the trials that are expected, where so many pass in truth."""
    bounds = share_bounds(rate, most, confidence)
    undecided, ended, trials = {0: 1.0}, {-1: 0.0, 1: 0.0}, 0.0
    for total in range(1, most + 1):
        trials += sum(undecided.values())
        after: dict[int, float] = {}
        for passed, chance in undecided.items():
            for more, share in ((0, 1 - truth), (1, truth)):
                after[passed + more] = after.get(passed + more, 0.0) + chance * share
        undecided = {}
        for passed, chance in after.items():
            if side := bounds.side(passed, total):
                ended[side] += chance
            elif not (give_up and passed in bounds.futile[total]):
                undecided[passed] = chance
    return ended[-1], ended[1], trials


@settings(deadline=None)
@given(
    st.floats(0.05, 0.95),
    st.integers(1, 80),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
    st.floats(0, 1),
    st.booleans(),
)
def test_error_rate_of_decisions_is_within_the_confidence(
    rate: float, most: int, confidence: float, truth: float, give_up: bool
) -> None:
    """Whether trials end where the rest is futile, or are made all the same."""
    below, above, _ = chances(rate, most, confidence, truth, give_up=give_up)
    wrong = below if truth >= rate else above
    assert wrong <= (1 - confidence) / 2 + 1e-9


def at_best(bounds: ShareBounds, passed: int, total: int) -> float:
    """Return the chance that it is decided yet, by enumeration of all outcomes, with a uniform prior."""

    @cache
    def chance(passed: int, total: int) -> float:
        if total and bounds.side(passed, total):
            return 1.0
        if total == bounds.most:
            return 0.0
        share = (passed + 1) / (total + 2)
        return share * chance(passed + 1, total + 1) + (1 - share) * chance(passed, total + 1)

    return chance(passed, total)


@pytest.mark.slow
@given(st.floats(0.05, 0.95), st.integers(1, 40), st.sampled_from([0.8, 0.95]))
def test_trials_are_given_up_where_the_rest_would_hardly_decide(
    rate: float, most: int, confidence: float
) -> None:
    bounds, undecided = share_bounds(rate, most, confidence), {0}
    for total in range(1, most + 1):
        undecided = {passed + more for passed in undecided for more in (0, 1)}
        undecided = {passed for passed in undecided if not bounds.side(passed, total)}
        for passed in undecided:
            chance = at_best(bounds, passed, total)
            if abs(chance - FUTILE) > 1e-9:
                assert (passed in bounds.futile[total]) == (chance < FUTILE), (passed, total)


@pytest.mark.parametrize("truth", [0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("most", [40, 100, 200])
def test_a_third_of_the_trials_is_saved_at_any_rate(truth: float, most: int) -> None:
    """And it costs little: of what would be decided at all, at most one in ten."""
    below, above, trials = chances(0.8, most, 0.95, truth)
    all_below, all_above, _ = chances(0.8, most, 0.95, truth, give_up=False)
    assert trials <= 0.7 * most
    assert below + above >= all_below + all_above - 0.041


@pytest.mark.parametrize("truth", [0.7, 0.9])
def test_near_the_rate_at_least_a_quarter_of_the_trials_is_saved(truth: float) -> None:
    """Wald's bound for any number of trials: the mean information of a trial must add up to the final information."""
    below, above, trials = chances(0.8, 100, 0.95, truth)
    errors = chances(0.8, 100, 0.95, 0.8)
    right, wrong = (below, errors[0]) if truth < 0.8 else (above, errors[1])
    information = right * log(right / wrong) + (1 - right) * log((1 - right) / (1 - wrong))
    least = information / (truth * log(truth / 0.8) + (1 - truth) * log((1 - truth) / 0.2))
    beforehand = fixed_number(0.8, truth, right)
    assert trials <= 0.77 * beforehand
    assert least >= 0.63 * beforehand


@pytest.mark.parametrize("truth", [0.6, 0.65, 0.92, 0.95])
def test_it_needs_a_third_fewer_trials_than_an_equal_fixed_number(
    truth: float,
) -> None:
    below, above, trials = chances(0.8, 100, 0.95, truth)
    assert trials <= 0.7 * fixed_number(0.8, truth, above if truth > 0.8 else below)


def fixed_number(rate: float, truth: float, right: float, each: float = 0.025) -> int:
    """Return the smallest fixed number of trials whose exact test is right as often and errs no more than `each`."""

    def power(number: int) -> float:
        if truth > rate:
            least = scipy.stats.binom.isf(each, number, rate) + 1
            return float(scipy.stats.binom.sf(least - 1, number, truth))
        most = scipy.stats.binom.ppf(each, number, rate) - 1
        return float(scipy.stats.binom.cdf(most, number, truth))

    return next(number for number in range(1, 400) if power(number) >= right)


@given(st.floats(0.1, 0.9), st.integers(1, 60), st.lists(st.booleans(), max_size=80))
def test_the_first_time_that_it_is_known_counts(rate: float, most: int, passes: list[bool]) -> None:
    bounds = share_bounds(rate, most, 0.95)
    side, analysed = bounds.decided(passes)
    assert analysed <= most
    assert bounds.decided(passes[:analysed]) == (side, analysed)
    for total in range(1, analysed):
        assert bounds.side(sum(passes[:total]), total) == 0


@given(st.floats(0.1, 0.9), st.integers(1, 60), st.data())
def test_trials_are_added_only_up_to_the_next_possible_decision(
    rate: float, most: int, data: st.DataObject
) -> None:
    bounds = share_bounds(rate, most, 0.95)
    total = data.draw(st.integers(0, most))
    passed = data.draw(st.integers(0, total))
    more = bounds.more(passed, total)
    reachable = [
        count
        for count in range(1, most - total + 1)
        if any(
            bounds.side(passed + passes, total + count) or passed + passes in bounds.futile[total + count]
            for passes in range(count + 1)
        )
    ]
    futile = passed in bounds.futile[total]
    assert more == (reachable[0] if reachable and not futile else 0)


@pytest.mark.parametrize("arguments", [(0.0, 10, 0.95), (1.0, 10, 0.95), (0.5, 0, 0.95), (0.5, 10, 1.0)])
def test_bounds_of_nothing_are_refused(arguments: tuple[float, int, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        share_bounds(*arguments)


# --- interim analyses of a mean ---------------------------------------------------------------------------------------------------

PUBLISHED = (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)
"""Five equidistant analyses, two-sided at 5 %, from the program of Lan and DeMets and R's ldbounds."""


def test_five_looks_have_the_published_bounds() -> None:
    levels = look_levels([0.2, 0.4, 0.6, 0.8, 1.0], 0.05)
    assert [scipy.stats.norm.isf(level / 2) for level in levels] == pytest.approx(PUBLISHED, abs=2e-3)


def test_one_look_is_the_test_itself() -> None:
    assert look_levels([1.0], 0.05) == pytest.approx([0.05], rel=1e-6)
    assert look_levels([1.0], 0.05, sides=1) == pytest.approx([0.05], rel=1e-6)


def test_looks_agree_with_the_multivariate_normal_distribution() -> None:
    shares = [0.3, 0.6, 1.0]
    bounds = [scipy.stats.norm.isf(level) for level in look_levels(shares, 0.05, sides=1)]
    correlated = [[(min(a, b) / max(a, b)) ** 0.5 for b in shares] for a in shares]
    below = scipy.stats.multivariate_normal(cov=correlated).cdf(bounds)
    assert 1 - below == pytest.approx(0.05, abs=2e-4)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([1, 2]))
@example(0.9999999999999999, 1.0, 1)
def test_the_error_is_spent_bit_by_bit(first: float, second: float, sides: int) -> None:
    less, more = sorted((first, second))
    assert 0 <= alpha_spent(less, 0.05, sides=sides) <= alpha_spent(more, 0.05, sides=sides) <= 0.05 + 1e-12


@pytest.mark.parametrize("sides", [1, 2])
def test_a_path_crosses_as_often_as_was_asked(sides: int) -> None:
    random, shares = Random(sides), [0.25, 0.5, 0.75, 1.0]
    bounds = [scipy.stats.norm.isf(level / sides) for level in look_levels(shares, 0.05, sides=sides)]
    crossed, times = 0, 20_000
    for _ in range(times):
        score = before = 0.0
        for share, bound in zip(shares, bounds, strict=True):
            score += random.gauss(0, (share - before) ** 0.5)
            before = share
            z = score / share**0.5
            if z >= bound or (sides == 2 and z <= -bound):
                crossed += 1
                break
    assert crossed / times == pytest.approx(0.05, abs=0.006)


@pytest.mark.parametrize("shares", [[0.5, 0.4], [0.0, 1.0], [0.5, 1.2]])
def test_looks_out_of_order_are_refused(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="rising"):
        look_levels(shares, 0.05)
