"""Small statistics, compared with published figures, another implementation (scipy) and their laws."""

from __future__ import annotations

from itertools import combinations
from statistics import mean
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings, strategies as st

from proctor.stats.intervals import (
    ClusteredMean,
    Mean,
    chi_square_tail,
    more_trials,
    pass_at,
    pass_hat,
    student_quantile,
    wilson,
)

COUNTS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
FEW = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CHOICES = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n)))
CONFIDENCES = st.floats(0.5, 0.999)


@pytest.fixture(scope="module")
def scipy() -> Any:
    return pytest.importorskip("scipy.stats", reason="scipy, the oracle of the statistics, is not installed")


class TestWilson:
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
    def test_published_intervals(self, successes: int, total: int, low: float, high: float) -> None:
        assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)

    @given(COUNTS, CONFIDENCES)
    def test_as_scipy(self, scipy: Any, counts: tuple[int, int], confidence: float) -> None:
        theirs = scipy.binomtest(*counts).proportion_ci(confidence, method="wilson")
        ours = wilson(*counts, confidence=confidence)
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)

    @given(COUNTS)
    def test_share_is_inside_its_interval(self, counts: tuple[int, int]) -> None:
        successes, total = counts
        low, high = wilson(successes, total)
        assert 0 <= low <= successes / total <= high <= 1

    @given(COUNTS)
    def test_failures_mirror_successes(self, counts: tuple[int, int]) -> None:
        successes, total = counts
        low, high = wilson(successes, total)
        assert wilson(total - successes, total) == pytest.approx((1 - high, 1 - low), abs=1e-12)

    @given(COUNTS)
    def test_another_success_moves_it_up(self, counts: tuple[int, int]) -> None:
        successes, total = counts
        assume(successes < total)
        (low, high), (lower, higher) = wilson(successes + 1, total), wilson(successes, total)
        assert low > lower
        assert high >= higher

    @given(COUNTS, st.floats(0.5, 0.9), st.floats(0.01, 0.09))
    def test_more_confidence_is_wider(self, counts: tuple[int, int], confidence: float, more: float) -> None:
        low, high = wilson(*counts, confidence=confidence)
        lower, higher = wilson(*counts, confidence=confidence + more)
        assert lower <= low
        assert high <= higher

    def test_without_trials_nothing_is_known(self) -> None:
        assert wilson(0, 0) == (0.0, 1.0)

    @pytest.mark.parametrize(
        ("successes", "total", "confidence"), [(2, 1, 0.95), (-1, 1, 0.95), (1, 1, 1.0), (1, 1, 0.0)]
    )
    def test_impossible_counts_are_refused(self, successes: int, total: int, confidence: float) -> None:
        with pytest.raises(ValueError, match="expected 0 <= successes <= total"):
            wilson(successes, total, confidence=confidence)


class TestMoreTrials:
    @pytest.mark.parametrize(
        ("successes", "total", "rate", "more"),
        [
            pytest.param(4, 5, 0.9, 30, id="below what is asked for"),
            pytest.param(5, 5, 0.9, 30, id="above it, by as much"),
            pytest.param(0, 5, 0.9, 0, id="it fails already"),
            pytest.param(20, 20, 0.8, 0, id="it passes already"),
            pytest.param(34, 40, 0.9, 99, id="close by: many"),
            pytest.param(9, 10, 0.9, None, id="the very share: never"),
            pytest.param(0, 0, 0.9, None, id="no trial yet: unknown"),
            pytest.param(0, 1, 1e-200, None, id="so close that no number is enough"),
        ],
    )
    def test_how_many(self, successes: int, total: int, rate: float, more: int | None) -> None:
        assert more_trials(successes, total, rate) == more

    # the same examples every time: at a bound that is met exactly, rounding decides by how many more
    @settings(derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
    @given(FEW, st.floats(0.05, 0.95), CONFIDENCES)
    @example((1, 3), 1 / 3, 0.95)
    def test_so_many_decide_and_fewer_do_not(
        self, counts: tuple[int, int], rate: float, confidence: float
    ) -> None:
        more = more_trials(*counts, rate, confidence=confidence)
        assume(more is not None and 0 < more < 10**6)
        assert more is not None
        share, total = counts[0] / counts[1], counts[1] + more
        low, high = _of_share(share, total, confidence)
        assert low >= rate - 1e-9 or high <= rate + 1e-9
        low, high = _of_share(share, total - 1, confidence)
        assert low - 1e-9 <= rate <= high + 1e-9

    @given(COUNTS, st.floats(0, 1), CONFIDENCES)
    def test_none_are_needed_exactly_when_the_interval_excludes_the_rate(
        self, counts: tuple[int, int], rate: float, confidence: float
    ) -> None:
        low, high = wilson(*counts, confidence=confidence)
        assert (more_trials(*counts, rate, confidence=confidence) == 0) == (low >= rate or high < rate)

    def test_a_rate_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="expected 0 <= rate <= 1, got 90"):
            more_trials(1, 2, 90)


def _of_share(share: float, total: int, confidence: float) -> tuple[float, float]:
    """The Wilson interval of a share of any `total`, from the textbook's own form: the roots of a quadratic."""
    from statistics import NormalDist

    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    a, b, c = 1 + z2 / total, -(2 * share + z2 / total), share * share
    root = max(0.0, b * b - 4 * a * c) ** 0.5
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


class TestSeveralInARow:
    @given(CHOICES)
    def test_as_scipy(self, scipy: Any, choice: tuple[int, int, int]) -> None:
        successes, total, k = choice
        drawn = scipy.hypergeom(total, successes, k)
        assert pass_hat(*choice) == pytest.approx(drawn.pmf(k), abs=1e-9)
        assert pass_at(*choice) == pytest.approx(1 - drawn.pmf(0), abs=1e-9)

    @pytest.mark.parametrize("passed", range(7))
    @pytest.mark.parametrize("k", range(1, 7))
    def test_they_are_shares_of_all_choices_of_k(self, passed: int, k: int) -> None:
        trials = [number < passed for number in range(6)]
        choices = [*combinations(trials, k)]
        assert pass_hat(passed, 6, k) == pytest.approx(mean(map(all, choices)))
        assert pass_at(passed, 6, k) == pytest.approx(mean(map(any, choices)))

    @given(CHOICES)
    def test_for_one_both_are_the_share(self, choice: tuple[int, int, int]) -> None:
        successes, total, _ = choice
        assert pass_hat(successes, total, 1) == pass_at(successes, total, 1) == successes / total

    @given(CHOICES)
    def test_all_is_harder_than_one(self, choice: tuple[int, int, int]) -> None:
        successes, total, _ = choice
        assert 0 <= pass_hat(*choice) <= successes / total <= pass_at(*choice) <= 1

    @given(CHOICES)
    def test_failures_mirror_successes(self, choice: tuple[int, int, int]) -> None:
        successes, total, k = choice
        assert pass_at(*choice) == pytest.approx(1 - pass_hat(total - successes, total, k))

    @given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 1))
    def test_they_are_right_on_average(self, k: int, total: int, chance: float) -> None:
        assume(k <= total)
        weights = _binomial(total, chance)
        all_of_k = sum(w * pass_hat(n, total, k) for n, w in enumerate(weights))
        one_of_k = sum(w * pass_at(n, total, k) for n, w in enumerate(weights))
        assert all_of_k == pytest.approx(chance**k, abs=1e-9)
        assert one_of_k == pytest.approx(1 - (1 - chance) ** k, abs=1e-9)

    @pytest.mark.parametrize("choice", [(1, 2, 0), (1, 2, 3), (3, 2, 1), (-1, 2, 1), (0, 0, 1)])
    def test_impossible_choices_are_refused(self, choice: tuple[int, int, int]) -> None:
        for estimate in (pass_hat, pass_at):
            with pytest.raises(ValueError, match="1 <= k <= total"):
                estimate(*choice)


def _binomial(total: int, chance: float) -> list[float]:
    from math import comb

    return [comb(total, n) * chance**n * (1 - chance) ** (total - n) for n in range(total + 1)]


class TestClusteredMean:
    def test_as_statsmodels(self) -> None:
        # OLS(values, ones).fit(cov_type="cluster", use_t=True) of statsmodels 0.15
        found = clustered([1, 1, 0, 1, 1], [0, 0, 0], [1, 1, 1, 1], [0.25, 0.75], [0.5])
        assert found.value == pytest.approx(0.6333333333333334)
        assert found.standard_error == pytest.approx(0.19067780335256132)
        assert (found.low, found.high) == pytest.approx((0.10392688, 1.16273979))
        assert (found.cases, found.values) == (5, 15)

    @given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), min_size=2, max_size=30))
    def test_of_clusters_of_one_size_as_scipy_of_their_means(
        self, scipy: Any, clusters: list[list[float]]
    ) -> None:
        means = [sum(cluster) / 3 for cluster in clusters]
        found = clustered(*clusters)
        error = float(scipy.sem(means))
        assert found.value == pytest.approx(mean(means), abs=1e-9)
        assert (found.standard_error or 0.0) == pytest.approx(error, rel=1e-6, abs=1e-4)
        assume(found.high is not None)
        half = error * scipy.t.ppf(0.975, len(means) - 1)
        assert found.high == pytest.approx(mean(means) + half, rel=1e-6, abs=2e-3)

    @given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=2, max_size=20), st.randoms())
    def test_their_order_does_not_matter(self, clusters: list[list[float]], random: Any) -> None:
        shuffled = random.sample(clusters, len(clusters))
        one, other = clustered(*clusters), clustered(*shuffled)
        assert one.value == pytest.approx(other.value)
        assert (one.standard_error or 0.0) == pytest.approx(other.standard_error or 0.0, abs=1e-7)

    @given(st.floats(-1e6, 1e6), st.lists(st.integers(1, 9), min_size=2, max_size=20))
    def test_the_error_of_equal_values_is_unknown(self, value: float, sizes: list[int]) -> None:
        found = ClusteredMean()
        for size in sizes:
            found.add(value, size)
        assert found.result() == Mean(value, None, None, None, len(sizes), sum(sizes))

    def test_repeating_the_same_cases_makes_nothing_surer(self) -> None:
        once, often = clustered([0], [1], [1]), clustered([0] * 50, [1] * 50, [1] * 50)
        assert often.standard_error == pytest.approx(once.standard_error)

    def test_so_many_alike_are_as_many_one_by_one(self) -> None:
        alike, single = ClusteredMean(), ClusteredMean()
        alike.add(0.25, 4, times=3)
        for _ in range(3):
            single.add(0.25, 4)
        for each in (alike, single):
            each.add(1.0, 2)
        assert alike.result() == single.result()

    def test_one_case_shows_no_variance_between_cases(self) -> None:
        assert clustered([0.0, 1.0]) == Mean(0.5, None, None, None, 1, 2)

    def test_mean_without_values_is_none(self) -> None:
        found = ClusteredMean()
        found.add(0.5, 0)
        assert found.result() is None

    def test_no_number_is_refused(self) -> None:
        with pytest.raises(ValueError, match="expected a finite number, got nan"):
            ClusteredMean().add(float("nan"), 1)


def clustered(*clusters: list[float]) -> Mean:
    found = ClusteredMean()
    for cluster in clusters:
        found.add(sum(cluster) / len(cluster), len(cluster))
    result = found.result()
    assert result is not None
    return result


class TestStudent:
    @given(CONFIDENCES, st.integers(1, 300) | st.integers(300, 10**7))
    @example(0.95, 99)
    @example(0.95, 100)
    def test_as_scipy(self, scipy: Any, confidence: float, degrees: int) -> None:
        theirs = scipy.t.ppf((1 + confidence) / 2, degrees)
        assert student_quantile(confidence, degrees) == pytest.approx(theirs, rel=1e-7)

    @pytest.mark.parametrize(
        ("degrees", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (30, 2.042), (120, 1.980)]
    )
    def test_of_the_table_in_every_textbook(self, degrees: int, quantile: float) -> None:
        assert student_quantile(0.95, degrees) == pytest.approx(quantile, abs=5e-4)

    @pytest.mark.parametrize(("confidence", "degrees"), [(0.0, 3), (1.0, 3), (0.95, 0)])
    def test_what_cannot_be_is_refused(self, confidence: float, degrees: int) -> None:
        with pytest.raises(ValueError, match="expected 0 < confidence < 1 and degrees >= 1"):
            student_quantile(confidence, degrees)


@pytest.mark.parametrize("degrees", [1, 2, 3, 6, 7, 40, 101])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 5.0, 30.0, 150.0])
def test_the_tail_of_chi_square_is_scipys(value: float, degrees: int) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy, the oracle of the statistics, is not installed")
    assert chi_square_tail(value, degrees) == pytest.approx(
        stats.chi2.sf(value, degrees), rel=1e-9, abs=1e-15
    )
