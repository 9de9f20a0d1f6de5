"""Agreement with people: compared with other computations, laws, and simulated judges of known error."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from random import Random

import pytest
from hypothesis import assume, given, strategies as st

from proctor.stats.agreement import (
    Confusion,
    Estimate,
    accuracy,
    cohen_kappa,
    corrected_rate,
    items_for_width,
    true_fail_rate,
    true_pass_rate,
)
from proctor.stats.intervals import normal_quantile, score_interval, wilson

CELLS = st.integers(0, 300)
TABLES = st.builds(Confusion, CELLS, CELLS, CELLS, CELLS)
COUNTS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.floats(0.5, 0.999)


class TestItemsForWidth:
    """The number of items is the smallest whose interval is narrow enough, at the smoothed rate."""

    @given(COUNTS, st.floats(0.05, 0.9), CONFIDENCES)
    def test_one_fewer_is_too_few(self, found: tuple[int, int], width: float, confidence: float) -> None:
        count, total = found
        rate, z = (count + 1) / (total + 2), normal_quantile(confidence)

        def width_of(items: int) -> float:
            low, high = score_interval(rate, items, z)
            return high - low

        items = items_for_width(count, total, width, confidence=confidence)
        assert width_of(items) <= width
        assert items == 1 or width_of(items - 1) > width

    def test_known_values(self) -> None:
        assert items_for_width(0, 0, 0.2) == 93  # nothing is known: a rate of 0.5
        assert items_for_width(50, 50, 0.2) < items_for_width(5, 5, 0.2) < 93

    @pytest.mark.parametrize(("count", "width"), [(3, 0.2), (-1, 0.2), (1, 0), (1, 1)])
    def test_impossible_arguments_are_refused(self, count: int, width: float) -> None:
        with pytest.raises(ValueError, match="expected 0 <= count <= total, 0 < width < 1"):
            items_for_width(count, 2, width)


class TestConfusion:
    def test_it_counts_pairs_of_people_and_judge(self) -> None:
        pairs = [(True, True)] * 4 + [(True, False)] * 3 + [(False, True)] * 2 + [(False, False)]
        assert Confusion.of(pairs) == Confusion(4, 3, 2, 1)
        assert (Confusion(4, 3, 2, 1).human_passes, Confusion(4, 3, 2, 1).human_fails) == (7, 3)

    def test_of_nothing_it_is_empty(self) -> None:
        assert Confusion.of([]) == Confusion()

    def test_fewer_than_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="expected counts of at least 0"):
            Confusion(1, -1, 0, 0)


class TestShares:
    @given(TABLES, CONFIDENCES)
    def test_they_are_shares_with_wilson_intervals(self, found: Confusion, confidence: float) -> None:
        right = found.both_pass + found.both_fail
        for measure, count, total in (
            (accuracy, right, found.total),
            (true_pass_rate, found.both_pass, found.both_pass + found.judge_fails),
            (true_fail_rate, found.both_fail, found.both_fail + found.judge_passes),
        ):
            estimate = measure(found, confidence=confidence)
            assert estimate.value == (count / total if total else None)
            assert (estimate.low, estimate.high) == wilson(count, total, confidence=confidence)

    def test_of_nothing_nothing_is_known(self) -> None:
        assert true_fail_rate(Confusion(5, 1, 0, 0)) == Estimate(None, 0.0, 1.0)


class TestKappa:
    @pytest.mark.parametrize(
        ("cells", "kappa"),
        [
            pytest.param((20, 5, 10, 15), 0.4, id="the example of many textbooks"),
            pytest.param((45, 15, 25, 15), 0.1304, id="equal agreement, unlike margins 1"),
            pytest.param((25, 35, 5, 35), 0.2593, id="equal agreement, unlike margins 2"),
            pytest.param((10, 0, 0, 10), 1.0, id="complete"),
            pytest.param((0, 10, 10, 0), -1.0, id="the contrary"),
            pytest.param((25, 25, 25, 25), 0.0, id="as by chance"),
        ],
    )
    def test_published_values(self, cells: tuple[int, int, int, int], kappa: float) -> None:
        assert cohen_kappa(Confusion(*cells)).value == pytest.approx(kappa, abs=5e-5)

    @pytest.mark.parametrize("cells", [(9, 0, 0, 0), (0, 0, 0, 9), (0, 0, 0, 0)])
    def test_constant_rater_gives_no_information(self, cells: tuple[int, int, int, int]) -> None:
        found = cohen_kappa(Confusion(*cells))
        assert found.value is None
        assert found.low < 0 < found.high

    @given(TABLES)
    def test_agreement_beyond_chance_counted_pair_by_pair(self, found: Confusion) -> None:
        assume(found.total)
        human = [True] * found.human_passes + [False] * found.human_fails
        judge = (
            [True] * found.both_pass
            + [False] * found.judge_fails
            + [True] * found.judge_passes
            + [False] * found.both_fail
        )
        observed = sum(h == j for h, j in zip(human, judge, strict=True)) / found.total
        of_human, of_judge = Counter(human), Counter(judge)
        chance = sum(of_human[verdict] * of_judge[verdict] for verdict in (True, False)) / found.total**2
        assume(chance != 1)
        assert cohen_kappa(found).value == pytest.approx((observed - chance) / (1 - chance), abs=1e-9)

    @given(st.builds(Confusion, *[st.integers(1, 300)] * 4))
    def test_its_error_is_that_of_the_delta_method(self, found: Confusion) -> None:
        # twice a quantile of 1: the interval reaches one standard error of the table with one added to each cell
        cells = [found.both_pass + 1, found.judge_fails + 1, found.judge_passes + 1, found.both_fail + 1]
        middle, error = by_delta_method([cell / sum(cells) for cell in cells], sum(cells))
        interval = cohen_kappa(found, confidence=0.6826894921370859)
        inside = interval.value is not None and middle - error < interval.value < middle + error
        assume(inside and middle + error < 1 and middle - error > -1)
        assert (interval.low, interval.high) == pytest.approx((middle - error, middle + error), abs=1e-6)

    @given(TABLES)
    def test_it_does_not_matter_who_is_who_and_what_is_called_a_pass(self, found: Confusion) -> None:
        swapped = Confusion(found.both_pass, found.judge_passes, found.judge_fails, found.both_fail)
        renamed = Confusion(found.both_fail, found.judge_passes, found.judge_fails, found.both_pass)
        for other in (swapped, renamed):
            assert as_list(cohen_kappa(other)) == pytest.approx(as_list(cohen_kappa(found)), abs=1e-9)

    @given(TABLES, st.floats(0.5, 0.9), st.floats(0.01, 0.09))
    def test_more_confidence_is_wider(self, found: Confusion, confidence: float, more: float) -> None:
        one, other = (
            cohen_kappa(found, confidence=confidence),
            cohen_kappa(found, confidence=confidence + more),
        )
        assert other.low <= one.low <= one.high <= other.high

    @given(TABLES)
    def test_estimate_is_inside_its_interval(self, found: Confusion) -> None:
        kappa = cohen_kappa(found)
        assert -1 <= kappa.low <= (kappa.low if kappa.value is None else kappa.value) <= kappa.high <= 1

    def test_a_few_labels_that_agree_are_no_certainty(self) -> None:
        assert cohen_kappa(Confusion(5, 0, 0, 5)).low < 0.5


def by_delta_method(cells: list[float], total: int) -> tuple[float, float]:
    """Kappa and its standard error, from differences of kappa itself as each probability moves a little."""

    def kappa(at: list[float]) -> float:
        a, b, c, d = (cell / sum(at) for cell in at)
        chance = (a + b) * (a + c) + (c + d) * (b + d)
        return (a + d - chance) / (1 - chance)

    step = 1e-6
    slopes = []
    for index in range(4):
        up, down = list(cells), list(cells)
        up[index] += step
        down[index] -= step
        slopes.append((kappa(up) - kappa(down)) / (2 * step))
    mean = sum(slope * cell for slope, cell in zip(slopes, cells, strict=True))
    spread = sum(slope**2 * cell for slope, cell in zip(slopes, cells, strict=True)) - mean**2
    return kappa(cells), sqrt(spread / total)


def as_list(estimate: Estimate) -> list[float]:
    return [-9.0 if estimate.value is None else estimate.value, estimate.low, estimate.high]


class TestCorrectedRate:
    def test_a_published_example(self) -> None:
        # 23 of 150 positive by a test with sensitivity 0.96 and specificity 0.89: 5.1 % (documentation of epiR)
        found = corrected_rate(23, 150, Confusion(96, 4, 11, 89))
        assert found.corrected.value == pytest.approx(0.051, abs=5e-4)

    def test_a_judge_without_error_changes_nothing(self) -> None:
        found = corrected_rate(30, 40, Confusion(50, 0, 0, 50))
        assert found.corrected.value == found.apparent.value == 0.75

    @given(st.floats(0.05, 0.95), st.floats(0.6, 0.99), st.floats(0.6, 0.99))
    def test_with_much_of_everything_it_is_the_truth(self, rate: float, tpr: float, tnr: float) -> None:
        many = 10**8
        labels = Confusion(int(tpr * many), int((1 - tpr) * many), int((1 - tnr) * many), int(tnr * many))
        shown = int((rate * tpr + (1 - rate) * (1 - tnr)) * many)
        found = corrected_rate(shown, many, labels).corrected
        assert found.value == pytest.approx(rate, abs=1e-5)
        assert (found.low, found.high) == pytest.approx((rate, rate), abs=3e-3)

    @given(COUNTS, TABLES, st.floats(0.5, 0.999))
    def test_the_interval_has_the_rates_that_fit(
        self, counts: tuple[int, int], labels: Confusion, confidence: float
    ) -> None:
        found = corrected_rate(*counts, labels, confidence=confidence).corrected
        fitting = [rate / 400 for rate in range(401) if fits(rate / 400, counts, labels, confidence)]
        if len(fitting) < 2:  # nothing fits, or hardly anything, by a hair
            assert found.width == 1 or found.width < 2 / 400
            return
        if found.value is not None:
            fitting = sorted([*fitting, found.value])
        assert found.low == pytest.approx(fitting[0], abs=1 / 400 + 1e-9)
        assert found.high == pytest.approx(fitting[-1], abs=1 / 400 + 1e-9)

    @given(COUNTS, TABLES)
    def test_failures_mirror_passes(self, counts: tuple[int, int], labels: Confusion) -> None:
        passed, total = counts
        mirrored = Confusion(labels.both_fail, labels.judge_passes, labels.judge_fails, labels.both_pass)
        one = corrected_rate(passed, total, labels).corrected
        other = corrected_rate(total - passed, total, mirrored).corrected
        assert (one.value is None) == (other.value is None)
        if one.value is not None and other.value is not None:
            assert one.value == pytest.approx(1 - other.value, abs=1e-9)
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-6)

    @given(COUNTS, TABLES)
    def test_all_figures_are_between_0_and_1(self, counts: tuple[int, int], labels: Confusion) -> None:
        found = corrected_rate(*counts, labels).corrected
        assert 0 <= found.low <= found.high <= 1
        assert found.value is None or found.low <= found.value <= found.high

    @pytest.mark.parametrize(
        "labels",
        [
            pytest.param(Confusion(), id="no labels"),
            pytest.param(Confusion(8, 2, 0, 0), id="nothing that people fail"),
            pytest.param(Confusion(0, 0, 2, 8), id="nothing that people pass"),
            pytest.param(Confusion(10, 10, 10, 10), id="a coin"),
            pytest.param(Confusion(5, 15, 15, 5), id="worse than a coin"),
        ],
    )
    def test_uninformative_judge_leaves_the_rate_open(self, labels: Confusion) -> None:
        found = corrected_rate(40, 50, labels)
        assert found.unclipped is None
        assert found.corrected.value is None

    def test_without_labels_any_rate_may_be(self) -> None:
        assert corrected_rate(40, 50, Confusion()).corrected == Estimate(None, 0.0, 1.0)

    def test_negative_result_of_the_formula_is_0_with_a_note(self) -> None:
        found = corrected_rate(0, 50, Confusion(18, 2, 4, 16))
        assert found.unclipped is not None
        assert found.unclipped < 0
        assert found.corrected.value == found.corrected.low == 0

    def test_labels_and_verdicts_that_contradict_each_other_leave_it_open(self) -> None:
        found = corrected_rate(0, 10_000, Confusion(900, 100, 400, 600))
        assert (found.corrected.low, found.corrected.high) == (0.0, 1.0)

    def test_more_passes_than_verdicts_are_refused(self) -> None:
        with pytest.raises(ValueError, match="expected 0 <= successes <= total"):
            corrected_rate(3, 2, Confusion(1, 0, 0, 1))


def fits(rate: float, counts: tuple[int, int], labels: Confusion, confidence: float) -> bool:
    """Tell whether a rate is within the standard error of the observed one; straight from the definition."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    shares = []
    for count, total, added in (
        (*counts, z * z / 2),
        (labels.both_pass, labels.both_pass + labels.judge_fails, 1),
        (labels.both_fail, labels.both_fail + labels.judge_passes, 1),
    ):
        share = (count + added) / (total + 2 * added)
        shares.append((share, share * (1 - share) / (total + 2 * added)))
    (p, of_p), (tpr, of_tpr), (tnr, of_tnr) = shares
    apart = p - rate * tpr - (1 - rate) * (1 - tnr)
    return abs(apart) <= z * sqrt(of_p + rate**2 * of_tpr + (1 - rate) ** 2 * of_tnr)


# --- judges whose error is known -------------------------------------------------------------------------------------

SETTINGS = [
    # verdicts, labels, the true rate, TPR, TNR
    pytest.param((100, 60, 0.50, 0.95, 0.90), id="a good judge"),
    pytest.param((1000, 200, 0.80, 0.80, 0.70), id="a poor judge, many labels"),
    pytest.param((20, 20, 0.20, 0.80, 0.70), id="little of everything"),
    pytest.param((100, 60, 0.98, 0.95, 0.90), id="nearly all pass: hardly a label of a failure"),
    pytest.param((1000, 60, 1.00, 0.99, 0.60), id="all pass: not one label of a failure"),
    pytest.param((100, 200, 0.02, 0.95, 0.90), id="nearly none passes"),
    pytest.param((100, 60, 0.50, 1.00, 1.00), id="a judge without error"),
    pytest.param((200, 100, 0.70, 0.60, 0.55), id="hardly better than a coin"),
]
_STATED = 0.95
Setting = tuple[int, int, float, float, float]


def coverage(setting: Setting, simulations: int, *, within: bool) -> tuple[float, float]:
    """How often the interval has the true rate, and that of kappa the true kappa.

    `within`: the labelled things are some of those that the judge saw, as in a run; else they are others.
    """
    verdicts, labels, rate, tpr, tnr = setting
    random = Random(f"{setting}{within}")
    cells = [rate * tpr, rate * (1 - tpr), (1 - rate) * (1 - tnr), (1 - rate) * tnr]
    true_kappa, _ = by_delta_method(cells, 1) if 0 < rate < 1 else (0.0, 0.0)
    rates = kappas = 0
    for _ in range(simulations):
        pairs = [
            drawn(random, rate, tpr, tnr)
            for _ in range(max(verdicts, labels) if within else verdicts + labels)
        ]
        labelled = Confusion.of(pairs[:labels] if within else pairs[verdicts:])
        found = corrected_rate(sum(judge for _, judge in pairs[:verdicts]), verdicts, labelled).corrected
        rates += found.low <= rate <= found.high
        kappa = cohen_kappa(labelled)
        kappas += kappa.low <= true_kappa <= kappa.high
    return rates / simulations, kappas / simulations


def drawn(random: Random, rate: float, tpr: float, tnr: float) -> tuple[bool, bool]:
    human = random.random() < rate
    return human, random.random() < (tpr if human else 1 - tnr)


class TestCoverage:
    @pytest.mark.parametrize("setting", SETTINGS[:3])
    def test_of_a_few_simulated_runs_nearly_all_are_covered(self, setting: Setting) -> None:
        of_rates, of_kappas = coverage(setting, 200, within=True)
        assert min(of_rates, of_kappas) >= at_least(200)

    @pytest.mark.nightly(check=2)
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "within", [pytest.param(True, id="of the run"), pytest.param(False, id="of others")]
    )
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_of_1000_simulated_runs_the_stated_share_is_covered(self, setting: Setting, within: bool) -> None:
        of_rates, of_kappas = coverage(setting, 1000, within=within)
        assert of_rates >= at_least(1000)
        if 0 < setting[2] < 1 and setting[3:] != (1.0, 1.0):
            assert of_kappas >= at_least(1000)


def at_least(simulations: int) -> float:
    """The stated share, less three standard errors of so many simulations."""
    return _STATED - 3 * sqrt(_STATED * (1 - _STATED) / simulations)


def test_an_estimate_has_its_interval_as_other_texts_have_it() -> None:
    assert str(Estimate(0.616, 0.4, 0.812)) == "0.62 (CI: 0.40 to 0.81)"
    assert str(Estimate(None, 0.0, 1.0)) == "unknown"
