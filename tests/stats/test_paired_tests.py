"""Two measurements of the same cases: tests that keep their rate, intervals that hold what they promise."""

from collections.abc import Callable, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.stats import paired_tests
from proctor.stats.paired_tests import (
    holm,
    mcnemar,
    mean_difference,
    sign_flip_test,
    tarone_holm,
)
from proctor.stats.power import cases_needed, expected_deviation, variance_within


def scipy_stats() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy, the oracle of the statistics, is not installed")


steps = st.lists(st.integers(-5, 5), max_size=10)


def by_hand(differences: Sequence[float]) -> float:
    """The share of all sign patterns whose sum is as far from 0: the definition."""
    seen = abs(sum(differences)) - 1e-9
    sums = [
        sum(map(lambda s, d: s * d, signs, differences))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(abs(each) >= seen for each in sums) / len(sums)


# --- tests -----------------------------------------------------------------------------------------------------------


@given(steps)
def test_differences_in_steps_are_tested_exactly(found: list[int]) -> None:
    assert sign_flip_test([each / 5 for each in found]) == pytest.approx(
        by_hand([each / 5 for each in found])
    )


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 9)), min_size=1, max_size=10))
def test_few_differences_without_steps_are_tested_exactly(found: list[float]) -> None:
    assert sign_flip_test(found) == pytest.approx(by_hand(found), abs=1e-12)


@pytest.mark.slow
@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 9)), min_size=1, max_size=10))
def test_drawn_patterns_come_close_to_all_of_them(found: list[float]) -> None:
    assert paired_tests._by_drawing(found, 9_999, 0) == pytest.approx(by_hand(found), abs=0.03)


@pytest.mark.parametrize("cases", [17, 28, 29, 40])
def test_counted_and_drawn_patterns_are_near_the_t_test(cases: int) -> None:
    random = Random(cases)
    found = [random.gauss(0.08, 0.2) for _ in range(cases)]
    assert sign_flip_test(found) == pytest.approx(scipy_stats().ttest_1samp(found, 0).pvalue, abs=0.02)


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 9)), min_size=3, max_size=34), st.randoms())
def test_p_value_ignores_the_order_of_cases_and_of_the_two_runs(found: list[float], random: Random) -> None:
    shuffled = random.sample(found, len(found))
    assert sign_flip_test(shuffled, resamples=99) == sign_flip_test(found, resamples=99)
    assert sign_flip_test([-each for each in shuffled], resamples=99) == sign_flip_test(found, resamples=99)


@pytest.mark.parametrize(
    ("fixed", "broken"), [(0, 0), (1, 0), (0, 6), (3, 12), (40, 25), (5_000, 4_800), (7, 7)]
)
def test_mcnemar_is_the_binomial_test_of_the_cases_that_changed(fixed: int, broken: int) -> None:
    expected = scipy_stats().binomtest(fixed, fixed + broken).pvalue if fixed + broken else 1.0
    assert mcnemar(fixed, broken) == pytest.approx(expected)
    assert sign_flip_test([1.0] * fixed + [-1.0] * broken + [0.0] * 3) == mcnemar(fixed, broken)


@pytest.mark.parametrize("cases", [1_001, 4_000])
@pytest.mark.parametrize("shift", [0.0, 0.01, 0.02])
def test_many_cases_agree_with_the_t_test_that_they_tend_to(cases: int, shift: float) -> None:
    random = Random(cases)
    found = [random.gauss(shift, 0.3) for _ in range(cases)]
    assert sign_flip_test(found) == pytest.approx(
        scipy_stats().ttest_1samp(found, 0).pvalue, rel=0.02, abs=1e-6
    )


def test_many_cases_in_steps_agree_with_counting() -> None:
    random = Random(1)
    found = [random.choice([-0.4, -0.2, 0.0, 0.2, 0.4, 0.6]) for _ in range(400)]
    changed = [each for each in found if each]
    steps = paired_tests._as_steps(changed)
    assert steps is not None
    step = abs(changed[0] / steps[0])
    assert paired_tests._by_saddlepoint(changed, step=step) == pytest.approx(sign_flip_test(found), rel=0.01)


@pytest.mark.parametrize(
    ("found", "p"),
    [
        pytest.param([], 1.0, id="nothing"),
        pytest.param([0.0] * 9, 1.0, id="no difference"),
        pytest.param([0.3, -0.3], 1.0, id="as much up as down"),
        pytest.param([-0.1] * 6, 2 / 64, id="six of six down"),
        pytest.param(
            [-0.1, -0.2, -0.3, -0.4, -0.5, -0.6], 2 / 64, id="six of six down, by how much does not matter"
        ),
    ],
)
def test_p_values_that_can_be_worked_out_by_hand(found: list[float], p: float) -> None:
    assert sign_flip_test(found) == pytest.approx(p)


@given(st.lists(st.floats(0, 0.1), min_size=1, max_size=6), st.floats(0.01, 0.1))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float], level: float) -> None:
    """A test is significant if Bonferroni's test of every set of tests that it belongs to is."""
    levels = holm(p_values, level)
    for place, (p_value, own) in enumerate(zip(p_values, levels, strict=True)):
        assert level / len(p_values) <= own <= level
        sets = [
            [place, *others]
            for count in range(len(p_values))
            for others in combinations([other for other in range(len(p_values)) if other != place], count)
        ]
        expected = all(min(p_values[each] for each in one) <= level / len(one) for one in sets)
        assert (p_value <= own) == expected


@given(
    st.lists(st.floats(0, 0.1), min_size=1, max_size=8),
    st.lists(st.floats(0.06, 1), max_size=8),
    st.randoms(),
)
def test_tests_that_cannot_be_significant_cost_nothing(
    p_values: list[float], others: list[float], random: Random
) -> None:
    """With every test reachable Tarone's procedure is Holm's, and the others change nothing."""
    tests = [(p_value, 0.0) for p_value in p_values] + [(other, other) for other in others]
    order = random.sample(range(len(tests)), len(tests))
    adjusted = tarone_holm([tests[at][0] for at in order], [tests[at][1] for at in order], 0.05)
    significant = {at for at, each in zip(order, adjusted, strict=True) if each <= 0.05}
    levels = holm(p_values, 0.05)
    assert significant == {at for at, p_value in enumerate(p_values) if p_value <= levels[at]}


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_holm_takes_a_level(level: float) -> None:
    with pytest.raises(ValueError, match="expected 0 < level < 1"):
        holm([0.5], level)


# --- the interval ----------------------------------------------------------------------------------------------------

SHAPES: list[Any] = [
    pytest.param(lambda random: random.gauss(0.1, 0.2), id="normal"),
    pytest.param(lambda random: random.expovariate(1.0), id="skewed"),
    pytest.param(lambda random: float(random.choice([-1, 0, 0, 0, 0, 0, 1])), id="pass or fail"),
]


@pytest.mark.slow
@pytest.mark.parametrize("draw", SHAPES)
@pytest.mark.parametrize("cases", [30, 200])
def test_distribution_of_resampled_means_matches_a_simulation(
    draw: Callable[[Random], float], cases: int
) -> None:
    random = Random(cases)
    found = [draw(random) for _ in range(cases)]
    means = sorted(sum(random.choices(found, k=cases)) / cases for _ in range(20_000))
    weights: dict[float, float] = {}
    for value in found:
        weights[value] = weights.get(value, 0.0) + 1
    worked_out = paired_tests._ResampledMean(weights, cases)
    apart = 1.0 if {*found} <= {-1.0, 0.0, 1.0} else 0.0  # such means lie so far from each other
    spread = means[int(0.975 * len(means))] - means[int(0.025 * len(means))]
    for share, z in ((0.025, -1.959964), (0.05, -1.644854), (0.95, 1.644854), (0.975, 1.959964)):
        assert worked_out.at(z) == pytest.approx(
            means[int(share * len(means))], abs=0.03 * spread + apart / cases / 2
        )


@given(st.lists(st.floats(-1, 1), max_size=30), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_mean_is_inside_its_interval_and_the_interval_within_the_range(
    found: list[float], confidence: float
) -> None:
    interval = mean_difference(found, confidence=confidence, reach=1.0)
    assert -1 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.low < interval.high
    mirrored = mean_difference([-each for each in found], confidence=confidence, reach=1.0)
    assert (mirrored.low, mirrored.high) == pytest.approx((-interval.high, -interval.low), abs=1e-6)


@pytest.mark.parametrize(("cases", "widest"), [(5, 0.8), (20, 0.25), (100, 0.05), (1_000, 0.005)])
def test_no_difference_in_so_many_cases_does_not_prove_that_there_is_none(cases: int, widest: float) -> None:
    interval = mean_difference([0.0] * cases, reach=1.0)
    assert 1 / cases < interval.high <= widest
    assert interval.low == pytest.approx(-interval.high)


def test_more_confidence_is_wider_and_more_cases_are_narrower() -> None:
    random = Random(3)
    found = [random.gauss(0.0, 0.3) for _ in range(40)]
    widths = [
        interval.high - interval.low
        for interval in (mean_difference(found, confidence=c) for c in (0.8, 0.95, 0.99))
    ]
    assert widths == sorted(widths)
    assert mean_difference(found * 4).high < mean_difference(found).high


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
@pytest.mark.parametrize("ask", [sign_flip_test, mean_difference])
def test_invalid_number_is_refused(ask: Callable[[list[float]], object], wrong: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        ask([0.1, wrong])


def test_a_lost_pseudo_case_lowers_one_end_if_cases_fell() -> None:
    random = Random(5)
    changed = [random.gauss(0.0, 0.05) for _ in range(30)]
    plain, lower = mean_difference(changed, reach=1.0), mean_difference(changed, reach=1.0, more_lost=0.5)
    assert lower.low < plain.low - 0.5 / 31
    assert abs(lower.high - plain.high) < 0.5 / 31
    one_fell = [0.0] * 29 + [-0.2]
    lower = mean_difference(one_fell, reach=1.0, more_lost=0.5)
    assert lower.low < mean_difference(one_fell, reach=1.0).low - 0.5 / 34
    steady = [0.0] * 30  # whole pseudo-cases at both ends already
    assert mean_difference(steady, reach=1.0, more_lost=0.5) == mean_difference(steady, reach=1.0)


# --- how many cases are enough ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
@pytest.mark.parametrize(("detect", "deviation"), [(0.05, 0.2), (0.1, 0.4), (0.2, 0.3)])
def test_so_many_cases_have_the_power_asked_for(detect: float, deviation: float, power: float) -> None:
    stats = scipy_stats()
    cases = cases_needed(detect, deviation, power=power)

    def power_of(n: int) -> float:
        beyond, off = stats.t.ppf(0.975, n - 1), detect / deviation * n**0.5
        return float(stats.nct.sf(beyond, n - 1, off) + stats.nct.cdf(-beyond, n - 1, off))

    assert power_of(cases) == pytest.approx(power, abs=0.02)


def test_fewer_cases_than_could_ever_be_significant_are_never_planned() -> None:
    fewest = cases_needed(0.5, 0.0)
    assert sign_flip_test([-0.1] * fewest) <= 0.05 < sign_flip_test([-0.1] * (fewest - 1))


def test_more_trials_take_away_what_the_trials_differ_by_and_no_more() -> None:
    deviations = [expected_deviation(0.05, 0.2, trials) for trials in (1, 4, 1_000_000)]
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] == pytest.approx((0.05 * 0.95) ** 0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("cases", "variance"),
    [
        pytest.param([[1.0, 0.0], [1.0, 1.0]], 0.25, id="one of two is flaky"),
        pytest.param([[1.0], [0.0]], None, id="one trial is no information"),
        pytest.param([], None, id="nothing"),
    ],
)
def test_the_variance_within_cases(cases: list[list[float]], variance: float | None) -> None:
    assert variance_within(cases) == variance


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda: mcnemar(-1, 2), id="mcnemar"),
        pytest.param(lambda: mean_difference([], confidence=1.0), id="certainty"),
        pytest.param(lambda: mean_difference([], reach=0.0), id="no reach"),
        pytest.param(lambda: cases_needed(0.0, 1.0), id="nothing to detect"),
        pytest.param(lambda: expected_deviation(2.0, 0.1, 1), id="beyond reach"),
    ],
)
def test_questions_without_an_answer_are_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        ask()


# --- against scipy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("steps", [5, 1_000], ids=["shares of five trials", "scores"])
def test_the_permutation_test_is_scipys(seed: int, steps: int) -> None:
    random = Random(seed)
    found = [random.randint(-steps // 2, steps) / steps for _ in range(9)]
    theirs = scipy_stats().permutation_test(
        (found, [0.0] * 9), lambda a, b: sum(a) - sum(b), permutation_type="samples", n_resamples=10_000
    )
    assert sign_flip_test(found) == pytest.approx(theirs.pvalue, abs=0.02 if steps > 5 else 1e-9)


@pytest.mark.slow
def test_the_interval_is_scipys_bootstrap_where_cases_are_many() -> None:
    random = Random(7)
    found = [random.gauss(0.05, 0.3) for _ in range(400)]
    theirs = scipy_stats().bootstrap(
        (found,), lambda x, axis: x.mean(axis), n_resamples=20_000, method="BCa", rng=1
    )
    ours = mean_difference(found, reach=1.0)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.05 * width)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Precision loss occurred")  # scipy's way of saying that all are alike
@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=2, max_size=8))
def test_the_variance_within_cases_is_that_of_scipys_groups(cases: list[list[float]]) -> None:
    theirs = sum(scipy_stats().tvar(case) for case in cases) / len(cases)
    assert variance_within(cases) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-9, 1e9, 1e200, 1e308])
def test_an_interval_goes_with_the_scale_however_large_or_small(scale: float) -> None:
    found, one = mean_difference([scale] * 5 + [-scale, 0.0]), mean_difference([1.0] * 5 + [-1.0, 0.0])
    assert (found.low, found.high) == pytest.approx((one.low * scale, one.high * scale))
