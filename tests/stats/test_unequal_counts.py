"""Cases that two runs tried differently often: the test within cases, and the interval by trials."""

from collections.abc import Sequence
from itertools import product
from math import comb, erfc, prod, sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.stats import unequal_counts
from proctor.stats.unequal_counts import (
    TwoCounts,
    case_test,
    excess_of_difference,
    least_p_values,
    squared_correlation,
    trial_permutation_test,
    two_shares_interval,
)


def scipy_stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy, the oracle of the statistics, is not installed")


def by_hand(cases: Sequence[TwoCounts]) -> float:
    """All ways of dealing out, each with its probability: the definition."""
    dealt = []
    for case in cases:
        passed, before, now = round(case.before + case.now), case.trials_before, case.trials_now
        ways = [
            (x / now - (passed - x) / before, comb(passed, x) * comb(before + now - passed, now - x))
            for x in range(max(0, passed - before), min(passed, now) + 1)
        ]
        dealt.append([(value, count / comb(before + now, now)) for value, count in ways])
    seen = sum(case.now / case.trials_now - case.before / case.trials_before for case in cases)
    sums = [(sum(v for v, _ in each), prod(p for _, p in each)) for each in product(*dealt)]
    above = sum(p for value, p in sums if value >= seen - 1e-9)
    below = sum(p for value, p in sums if value <= seen + 1e-9)
    return min(1.0, 2 * min(above, below))


@st.composite
def counts(draw: st.DrawFn) -> TwoCounts:
    before, now = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return TwoCounts(draw(st.integers(0, before)), before, draw(st.integers(0, now)), now)


@st.composite
def parts(draw: st.DrawFn) -> TwoCounts:
    one = draw(counts())
    return TwoCounts(
        one.before * draw(st.sampled_from([1, 0.5, 0.75])), one.trials_before, one.now / 2, one.trials_now
    )


@given(st.lists(counts(), min_size=1, max_size=4))
def test_the_test_is_the_share_of_all_ways_of_dealing_out(cases: list[TwoCounts]) -> None:
    assert trial_permutation_test(cases) == pytest.approx(by_hand(cases), abs=1e-9)


@given(st.lists(counts() | parts(), min_size=1, max_size=12))
def test_swapped_runs_have_the_same_p(cases: list[TwoCounts]) -> None:
    assert trial_permutation_test([one.swap() for one in cases]) == trial_permutation_test(cases)


@pytest.mark.parametrize(
    "one", [TwoCounts(90, 100, 5, 10), TwoCounts(900, 1000, 0, 1), TwoCounts(3, 7, 6, 6)]
)
def test_one_case_is_fishers_exact_test_to_both_sides(one: TwoCounts) -> None:
    table = [[one.now, one.trials_now - one.now], [one.before, one.trials_before - one.before]]
    tails = [scipy_stats().fisher_exact(table, alternative=way).pvalue for way in ("less", "greater")]
    assert trial_permutation_test([one]) == pytest.approx(min(1.0, 2 * min(tails)))


@given(counts())
def test_the_test_of_a_case_is_fishers_and_its_smallest_p_value_that_of_the_extreme_division(
    one: TwoCounts,
) -> None:
    def fisher(now: int) -> float:
        table = [[now, one.trials_now - now], [passed - now, one.trials_before - passed + now]]
        return float(scipy_stats().fisher_exact(table, alternative="less").pvalue)

    passed = round(one.before + one.now)
    divisions = range(max(0, passed - one.trials_before), min(passed, one.trials_now) + 1)
    p_value, least = case_test(one)
    assert p_value == pytest.approx(fisher(round(one.now)))
    assert least == pytest.approx(min(map(fisher, divisions)))


def test_the_smallest_p_value_is_that_of_any_number_of_passes_in_between() -> None:
    steady, broken = TwoCounts(5, 5, 5, 5), TwoCounts(5, 5, 0, 5)
    assert case_test(steady)[1] == 1.0
    assert least_p_values(steady, broken) == least_p_values(broken, steady)
    assert least_p_values(steady, broken) == pytest.approx((1 / comb(10, 5), 1.0))


@given(st.lists(st.sampled_from([(0, 1), (1, 0), (1, 1), (0, 0)]), min_size=1, max_size=40))
def test_with_single_trials_the_test_is_mcnemars(found: list[tuple[int, int]]) -> None:
    cases = [TwoCounts(before, 1, now, 1) for before, now in found]
    changed = [now for before, now in found if before != now]
    expected = scipy_stats().binomtest(sum(changed), len(changed)).pvalue if changed else 1.0
    assert trial_permutation_test(cases) == pytest.approx(expected)


@pytest.mark.parametrize(("before", "now", "passed"), [(5, 5, 3), (5, 5, 8), (7, 2, 4), (1, 9, 5)])
def test_independent_trials_differ_by_as_much_as_they_explain(before: int, now: int, passed: int) -> None:
    whole = 0.0
    for x in range(max(0, passed - before), min(passed, now) + 1):
        excess = excess_of_difference(TwoCounts(passed - x, before, x, now))
        assert excess is not None
        whole += excess * comb(now, x) * comb(before, passed - x) / comb(before + now, passed)
    assert whole == pytest.approx(1.0)


@pytest.mark.parametrize(
    "one", [TwoCounts(5, 5, 5, 5), TwoCounts(0, 5, 0, 5), TwoCounts(5, 5, 0, 5), TwoCounts(0, 1, 4, 4)]
)
def test_a_steady_a_broken_and_a_fixed_case_show_nothing_about_trials(one: TwoCounts) -> None:
    assert excess_of_difference(one) is None


@pytest.mark.parametrize(
    ("cases", "before", "now", "fall"),
    [(20, 10, 1, 0.3), (50, 5, 1, 0.1), (30, 3, 2, 0.2), (40, 20, 1, 0.1), (60, 2, 7, 0.1), (40, 1, 10, 0.0)],
)
def test_many_cases_come_close_to_counting_them(
    cases: int, before: int, now: int, fall: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{cases} {before} {now}")
    drawn = [
        TwoCounts(
            sum(random.random() < 0.9 for _ in range(before)), before,
            sum(random.random() < 0.9 - fall for _ in range(now)), now,
        )
        for _ in range(cases)
    ]  # fmt: skip
    monkeypatch.setattr(unequal_counts, "_MOST_SUMS", 10**9)
    exactly = trial_permutation_test(drawn)
    monkeypatch.setattr(unequal_counts, "_MOST_SUMS", 0)
    assert trial_permutation_test(drawn) == pytest.approx(exactly, rel=0.02, abs=1e-9)


@pytest.mark.parametrize(
    "drawn",
    [
        [TwoCounts(10, 10, 1, 1)] * 2_000,
        [TwoCounts(0, 10, 1, 1)] * 2_000,
        [TwoCounts(100_000, 200_000, 100_000, 100_000)] * 3,
        [TwoCounts(5.5, 10, 0.25, 1)] * 500,
        [TwoCounts(32_339.75, 71_479, 1, 1), TwoCounts(966.5833, 25_942, 5_298.916667, 73_433)],
        [TwoCounts(each % 7, 7 + each, 1, 1 + each % 5) for each in range(300)],
    ],
    ids=["all passed", "all fixed", "100,000 trials", "parts of trials", "parts of 100,000", "no two alike"],
)
def test_awkward_counts_have_a_p_value(drawn: list[TwoCounts]) -> None:
    assert 0 <= trial_permutation_test(drawn) <= 1


@pytest.mark.parametrize("most", [0, 200, 2_000, 20_000])
def test_what_is_approximated_depends_on_neither_the_order_nor_the_base(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unequal_counts, "_MOST_SUMS", most)
    random = Random("order")
    for _ in range(20):
        drawn = [TwoCounts(random.randint(0, n), n, 1, 2) for n in random.choices((1, 2, 3, 10), k=12)]
        shuffled = [one.swap() for one in random.sample(drawn, len(drawn))]
        assert trial_permutation_test(shuffled) == pytest.approx(trial_permutation_test(drawn), rel=1e-9)


def with_trials_from(least: int, most: int, *, cases: int, rate: float, fall: float = 0.0) -> list[TwoCounts]:
    """Cases that were tried until each was decided: no two of them have as many trials."""
    random = Random(f"{least} {most} {cases} {rate} {fall}")
    found = []
    for _ in range(cases):
        before, now = random.randint(least, most), random.randint(least, most)
        passed = sum(random.random() < rate for _ in range(before))
        found.append(TwoCounts(passed, before, sum(random.random() < rate - fall for _ in range(now)), now))
    return found


def by_the_normal_distribution(cases: Sequence[TwoCounts]) -> float:
    """The same test of many cases, each difference with the variance that dealing out gives it."""
    seen = variance = 0.0
    for case in cases:
        before, now, passed = case.trials_before, case.trials_now, case.before + case.now
        seen += case.now / now - case.before / before
        every = before + now
        if every > 1:
            dealt = now * (passed / every) * (1 - passed / every) * before / (every - 1)
            variance += dealt * (1 / before + 1 / now) ** 2
    return erfc(abs(seen) / sqrt(2 * variance))


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # computes for seconds
@pytest.mark.parametrize("fall", [0.0, 0.03])
@pytest.mark.parametrize(("cases", "least", "most"), [(60, 2, 100), (100, 5, 300), (200, 5, 900)])
def test_trial_counts_without_a_small_common_multiple(cases: int, least: int, most: int, fall: float) -> None:
    drawn = with_trials_from(least, most, cases=cases, rate=0.6, fall=fall)
    found = trial_permutation_test(drawn)
    assert found == pytest.approx(by_the_normal_distribution(drawn), rel=0.15, abs=0.02)
    assert trial_permutation_test([one.swap() for one in drawn]) == pytest.approx(found, rel=1e-6)


def test_few_cases_of_such_numbers_are_counted_one_by_one() -> None:
    """All of them broke, which is as far out as it goes, and is one of the sums that count."""
    drawn = [TwoCounts(each - 3, each, 0, 1) for each in (997, 991, 983, 977, 971, 967, 953, 947)]
    assert trial_permutation_test(drawn) == pytest.approx(by_hand(drawn), rel=1e-6)
    assert trial_permutation_test(drawn) > 0


def test_parts_of_trials_lie_between_the_whole_numbers() -> None:
    found = [trial_permutation_test([TwoCounts(9.0, 10, now, 3)] * 8) for now in (1.0, 1.5, 2.0)]
    assert found[0] < found[1] < found[2]


def test_the_interval_is_newcombes_of_two_shares() -> None:
    """56 of 70 and 48 of 80, his own example (Statistics in Medicine 17, table II, method 10): 0.0524 to 0.3339.

    Trials of one run resemble each other a little more than all of them do, and add as much information.
    """
    low, high = two_shares_interval([TwoCounts(48, 80, 56, 70)])
    assert 0.0524 <= low <= 0.0624
    assert 0.3239 <= high <= 0.3339


def test_the_interval_knows_of_trials_that_were_not_made() -> None:
    few = two_shares_interval([TwoCounts(95, 100, 1, 1)] * 20)
    many = two_shares_interval([TwoCounts(95, 100, 100, 100)] * 20)
    assert few[0] < 0.05 - 0.1
    assert many[0] > 0.03


@given(st.lists(counts(), min_size=1, max_size=30))
def test_difference_is_inside_its_interval(cases: list[TwoCounts]) -> None:
    low, high = two_shares_interval(cases)
    value = sum(one.now / one.trials_now - one.before / one.trials_before for one in cases) / len(cases)
    assert -1 - 1e-9 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1 + 1e-9


@given(counts())
def test_the_squared_correlation_is_chi_square_per_trial(one: TwoCounts) -> None:
    table = [[one.now, one.trials_now - one.now], [one.before, one.trials_before - one.before]]
    is_constant = any(sum(column) == 0 for column in zip(*table, strict=True))
    trials = one.trials_before + one.trials_now
    expected = 0 if is_constant else scipy_stats().chi2_contingency(table, correction=False)[0] / trials
    assert squared_correlation(one) == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [(-1, 2, 0, 1), (3, 2, 0, 1), (0, 0, 0, 1), (0, 1, 0, 0)])
def test_invalid_count_is_refused(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="expected 0 <= passed <= trials"):
        TwoCounts(*wrong)


@pytest.mark.parametrize(("cases", "confidence"), [(0, 0.95), (3, 1.0), (3, 0.0)])
def test_an_interval_takes_cases_and_a_confidence(cases: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="expected cases, and 0 < confidence < 1"):
        two_shares_interval([TwoCounts(1, 2, 1, 1)] * cases, confidence=confidence)
