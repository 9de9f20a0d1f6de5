"""Two runs of the same cases: the outcome of a comparison, its basis, and that it is the same in both directions."""

from dataclasses import replace
from math import comb
from random import Random

import pytest
from hypothesis import given, strategies as st

from proctor.analysis.compare.absent_cases import AbsentCases
from proctor.analysis.compare.compare_cases import CompareOptions, compare_cases
from proctor.analysis.compare.measure_table import numbers
from proctor.analysis.compare.measures import PairedScore, lower_bound, p_value_by_case
from proctor.analysis.compare.overdispersion import could_exceed_overdispersion, exceeds_overdispersion
from proctor.schema.analysis.comparison import CaseChange, Change, Comparison, Trials
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.stats.unequal_counts import TwoCounts
from tests.analysis.compare.comparisons import case, cases, compared, side

WORSE, BETTER = Change.REGRESSION, Change.IMPROVEMENT
PROVEN, UNSEEN, OPEN, BROKEN = Change.NO_REGRESSION, Change.NO_DIFFERENCE, Change.INCONCLUSIVE, Change.ERROR


@pytest.mark.parametrize(
    ("base", "candidate", "outcome", "exit_code"),
    [
        pytest.param(["P"] * 7, ["P"] * 7, UNSEEN, 0, id="7 cases, nothing changed"),
        pytest.param(["PPPPP"] * 7, ["PPPPP"] * 7, UNSEEN, 0, id="7 cases x 5, nothing changed"),
        pytest.param(["PPPPP"] * 7, ["FFFFF"] + ["PPPPP"] * 6, WORSE, 1, id="1 of 7 breaks in all 5 trials"),
        pytest.param(["PPPP"] * 7, ["FFFF"] + ["PPPP"] * 6, WORSE, 1, id="1 of 7 breaks in all 4 trials"),
        pytest.param(["PPP"] * 7, ["FFF"] + ["PPP"] * 6, OPEN, 4, id="1 of 7 breaks in all 3 trials: p is 1/20"),
        pytest.param(["PPFF"] * 29 + ["PPPP"], ["PFPF"] * 29 + ["FFFF"], OPEN, 4, id="1 of 30 breaks, 29 are flaky: chance"),
        pytest.param(["P"] * 7, ["F"] + ["P"] * 6, OPEN, 4, id="1 of 7 now fails, by one trial"),
        pytest.param(["P"] * 20, ["F"] * 8 + ["P"] * 12, WORSE, 1, id="8 of 20 break"),
        pytest.param(["F"] * 8 + ["P"] * 12, ["P"] * 20, BETTER, 0, id="8 of 20 are fixed"),
        pytest.param(["P"] * 20, ["F"] * 5 + ["P"] * 15, OPEN, 4, id="5 of 20 break: p is 1/32"),
        pytest.param(["P"] * 20, ["F"] * 6 + ["P"] * 14, WORSE, 1, id="6 of 20 break: p is 1/64"),
        pytest.param(["PPPPF"] + ["PPPPP"] * 6, ["FFFFF"] + ["PPPPP"] * 6, OPEN, 4, id="1 of 7 goes from 4 trials to 0: p is 1/42"),
        pytest.param(["PPPPF"] + ["PPPPP"] * 6, ["PFFFF"] + ["PPPPP"] * 6, UNSEEN, 0, id="1 of 7 goes from 4 trials to 1: p is 0.1"),
        pytest.param(["PPPP"] * 8, ["PPPF"] * 6 + ["PPPP"] * 2, WORSE, 1, id="a trial of 6 cases of 8 breaks"),
        pytest.param(["P"] * 200, ["P"] * 200, PROVEN, 0, id="200 cases, nothing changed"),
        pytest.param(["P"] * 200, ["F"] + ["P"] * 199, PROVEN, 0, id="1 of 200 breaks: within 5 points"),
        pytest.param(["PPF"] * 60, ["PFP"] * 60, PROVEN, 0, id="flaky as before"),
        pytest.param(["F"] * 5, ["F"] * 5, UNSEEN, 0, id="nothing could fall"),
        pytest.param(["P"] * 7, ["E"] + ["P"] * 6, OPEN, 4, id="1 verdict of 7 is missing: it may be a fall"),
        pytest.param(["F"] + ["P"] * 6, ["E"] + ["P"] * 6, UNSEEN, 0, id="a missing verdict of a case that failed"),
        pytest.param(["E"] + ["P"] * 6, ["E"] + ["P"] * 6, OPEN, 4, id="a verdict is missing in both runs"),
        pytest.param(["PPP"] * 7, ["PPE"] + ["PPP"] * 6, UNSEEN, 0, id="1 trial is missing, the others of its case pass"),
        pytest.param(["PPP"] * 7, ["PEE"] + ["PPP"] * 6, OPEN, 4, id="most trials of a case are missing"),
        pytest.param(["PPP"] * 7, ["PFE"] + ["PPP"] * 6, OPEN, 4, id="a trial failed and another one is missing"),
        pytest.param(["PPP"] * 7, ["PPE"] * 2 + ["PPP"] * 5, OPEN, 4, id="2 trials of 21 are missing: more than a few"),
        pytest.param(["PPPPP"] * 20, ["PPPEE"] + ["PPPPP"] * 19, UNSEEN, 0, id="2 % are missing, most of each case pass"),
        pytest.param(["P"] * 20, ["E"] * 8 + ["P"] * 12, BROKEN, 3, id="8 missing verdicts could be a regression"),
        pytest.param(["P"] * 20, [""] * 8 + ["P"] * 12, BROKEN, 3, id="8 cases were not run"),
        pytest.param(["PPPPP"] * 7, ["EEEEE"] + ["PPPPP"] * 6, BROKEN, 3, id="all verdicts of a case are missing"),
        pytest.param(["PPPPP"] * 7, ["FFFFE"] + ["PPPPP"] * 6, OPEN, 4, id="a case fell, and with 1 missing verdict significantly"),
        pytest.param(["PPPPP"] * 7, ["FFFEE"] + ["PPPPP"] * 6, BROKEN, 3, id="a case fell, and with 2 of 35 significantly"),
        pytest.param(["PPPPE"] + ["PPPPP"] * 6, ["FFFFF"] + ["PPPPP"] * 6, OPEN, 4, id="a case fell of which 1 verdict was missing before"),
        pytest.param(["P"] * 21, ["E"] + ["F"] * 8 + ["P"] * 12, WORSE, 1, id="a regression counts before missing verdicts"),
        pytest.param(["P"] * 200, ["E"] + ["P"] * 199, PROVEN, 0, id="1 missing verdict of 200: within 5 points"),
        pytest.param(["E"] * 3, ["E"] * 3, BROKEN, 3, id="no case has a verdict"),
        pytest.param(["P"] * 3, ["E"] * 3, BROKEN, 3, id="the candidate has no verdict"),
        pytest.param(["F"] * 3, ["E"] * 3, BROKEN, 3, id="the baseline fails throughout, and the candidate has no verdict"),
        pytest.param(["P", "E"], ["E", "P"], BROKEN, 3, id="no case has a verdict in both runs"),
        pytest.param(["E"] * 3, ["P"] * 3, BROKEN, 3, id="the baseline has no verdict"),
        pytest.param([], ["P"], BROKEN, 3, id="no case in common"),
    ],
)  # fmt: skip
def test_outcome(base: list[str], candidate: list[str], outcome: Change, exit_code: int) -> None:
    found = compared(cases(*base), cases(*candidate))
    assert (found.outcome, found.exit_code) == (outcome, exit_code)
    head = "no difference seen" if outcome is UNSEEN else outcome.value.replace("_", " ")
    assert found.sentence.startswith(f"{head}: ")
    assert bool(found) == (exit_code == 0)


@pytest.mark.parametrize(
    ("margin", "outcome"),
    [(0.01, OPEN), (0.05, PROVEN), (0.2, PROVEN)],
    ids=["1 point", "5 points", "20 points"],
)
def test_margin_is_the_drop_that_is_ruled_out(margin: float, outcome: Change) -> None:
    found = compared(cases(*["P"] * 200), cases(*["F", *["P"] * 199]), margin=margin)
    assert found.outcome is outcome


def test_required_proof_makes_no_difference_inconclusive() -> None:
    found = compared(cases(*"P" * 7), cases(*"P" * 7), require_proof=True)
    assert (found.outcome, found.exit_code) == (OPEN, 4)
    assert "a drop of more than 5 points is not ruled out" in found.sentence
    enough = compared(cases(*"P" * 60), cases(*"P" * 60), require_proof=True)
    assert enough.outcome is PROVEN


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        pytest.param(
            ["PPPPP"] * 7, ["PPPPE", *["PPPPP"] * 6], id="a few verdicts that would hardly change the case"
        ),
        pytest.param(["FFFFF"] * 7, ["EEEEE", *["FFFFF"] * 6], id="nothing could fall"),
    ],
)
def test_missing_verdicts_that_are_no_fall_are_none_where_proof_is_required(
    base: list[str], candidate: list[str]
) -> None:
    """Without the requirement the outcome is "no difference seen": a regression is excluded."""
    assert compared(cases(*base), cases(*candidate)).outcome is UNSEEN
    found = compared(cases(*base), cases(*candidate), require_proof=True)
    assert found.outcome is OPEN
    assert "cannot be excluded" not in found.sentence
    assert "of the candidate" in found.sentence.partition("not ruled out")[2]


def test_one_trial_of_a_deterministic_agent_proves_a_regression() -> None:
    found = compared(cases(*"P" * 7), cases(*"F" + "P" * 6), deterministic=True)
    assert found.outcome is WORSE
    assert found.sentence.startswith(
        "regression: the agent is deterministic, and 1 case passed and now fails (set/0)"
    )
    assert found.on_these_cases.startswith(
        "1 case passed and now fails (set/0), and the agent is deterministic; "
    )
    assert compared(cases(*"P" * 7), cases(*"E" + "P" * 6), deterministic=True).outcome is BROKEN


def test_drop_in_general_is_a_regression_only_if_asked_for() -> None:
    """Half of the trials of ten cases: by the cases alone p is 1/512."""
    base, now = cases(*["PPPP"] * 10), cases(*["PPFF"] * 10)
    assert compared(base, now).general is not None
    found = compared(base, now, generalize=True)
    general = found.general
    assert general is not None
    interval = found.in_general.partition("(")[2].partition(")")[0]
    assert f"is estimated ({interval})" in found.sentence
    assert (general.gates, round(general.confidence, 9), general.high < 0) == (True, 0.96, True)


def precise_cases(count: int, now: float) -> list[PairedScore]:
    """Cases of thirty trials that pass nearly as often as before: none of them breaks."""
    return [PairedScore(0.7, now + (0.1 if place % 2 else -0.1), 30, 30) for place in range(count)]


@pytest.mark.parametrize(
    ("count", "now", "is_ruled_out"),
    [
        pytest.param(20, 0.7, False, id="few cases"),
        pytest.param(100, 0.7, True, id="many cases"),
        pytest.param(100, 0.64, False, id="a lower pass rate"),
    ],
)
def test_a_loss_that_few_cases_cannot_show_is_not_ruled_out(
    count: int, now: float, is_ruled_out: bool
) -> None:
    """In 20 cases of which one of twenty breaks, none is broken with a probability of 36 %."""
    assert (lower_bound(precise_cases(count, now), 0.05, 0.05) >= -0.05) is is_ruled_out


def test_drop_in_general_decides_nothing_where_pass_and_fail_were_not_scored_alike() -> None:
    base, now = cases(*["PPPP"] * 10), cases(*["FFFF"] * 10)
    found = compared(base, now, generalize=True, apart=frozenset({"passed"}))
    assert found.general is not None
    assert (found.outcome, found.general.gates, found.general.high < 0) == (OPEN, False, True)
    assert found.in_general == found.on_these_cases == "pass and fail were not scored alike in both runs"


def test_drop_in_general_that_missing_verdicts_admit_is_an_error() -> None:
    """Eight of forty cases: on these cases, 1 % is too little for six of them, and in general 2 % is enough."""
    base, now = cases(*["P"] * 40), cases(*["E"] * 7, *["P"] * 33)
    assert compared(base, now, generalize=True).outcome is BROKEN


def test_cases_that_were_left_out_are_missing_verdicts() -> None:
    base, now = [case(str(n), "P") for n in range(20)], [case(str(n), "P") for n in range(10)]
    assert compared(base, now).outcome is UNSEEN
    found = compared(base, now, candidate_absent=AbsentCases(left_out=True))
    assert (found.outcome, found.missing_candidate, found.only_base) == (BROKEN, 10, [])
    assert (found.left_out, compared(base, now).left_out) == ((0, 10), (0, 0))


@pytest.mark.parametrize(("verdict", "outcome"), [("F", BROKEN), ("P", UNSEEN)], ids=["fails", "passes"])
def test_cases_that_the_base_left_out_may_have_passed_there(verdict: str, outcome: Change) -> None:
    base = [case(str(n), "P") for n in range(10)]
    now = [*base, *(case(str(n), verdict) for n in range(10, 20))]
    assert compared(base, now).outcome is UNSEEN
    found = compared(base, now, base_absent=AbsentCases(left_out=True))
    assert (found.outcome, found.missing_base, found.only_candidate) == (outcome, 10, [])
    assert found.left_out == (10, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "margin"), [(3, 0.5), (10, 0.2), (25, 0.2), (45, 0.05), (50, 0.2), (60, 0.1), (59, 0.05)]
)
def test_no_regression_is_rare_where_just_the_margin_breaks(count: int, margin: float) -> None:
    """By all possible results: the number of cases that break is binomial."""
    wrong = sum(
        comb(count, broken) * margin**broken * (1 - margin) ** (count - broken)
        for broken in range(count + 1)
        if compared(
            cases(*["P"] * count), cases(*["F"] * broken, *["P"] * (count - broken)), margin=margin
        ).outcome
        is PROVEN
    )
    assert wrong <= 0.05


def test_a_few_better_cases_are_no_improvement_where_the_pass_rate_is_lower() -> None:
    base, now = cases("FFFFF", *["PPPPP"] * 9), cases("PPPPP", *["PPPFF"] * 3, *["PPPPP"] * 6)
    found = compared(base, now)
    assert found.measure("passed").difference < 0
    assert found.outcome is OPEN


# --- sentences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "candidate", "sentence"),
    [
        pytest.param(
            ["PPPPP"] * 7, ["PPPPP"] * 7,
            "no difference seen: nothing fell; one case that drops from 100 % to 4 % or an overall drop of 26.2 points would be "
            "noticed in 80 % of comparisons; by 7 cases x 5 trials",
            id="what would have been noticed",
        ),
        pytest.param(
            ["P"] * 3, ["P"] * 3,
            "no difference seen: nothing fell; with so few trials, chance could not have been ruled out for any drop; by 3 cases",
            id="nothing would have been noticed",
        ),
        pytest.param(
            ["PPPPP"] * 7, ["FFFFF"] + ["PPPPP"] * 6,
            "regression: 1 case is significantly worse (set/0), the pass rate of the trials fell from 100 % (35 of 35) to "
            "85.7 % (30 of 35), -14.3 points (96 % CI: -18.9 to -10.4); by 7 cases x 5 trials",
            id="one case",
        ),
        pytest.param(
            ["P"] * 7, ["F"] + ["P"] * 6,
            "inconclusive: 1 case passed and now fails (set/0), not significant; by 7 cases",
            id="one trial",
        ),
        pytest.param(
            ["P"] * 20, ["E"] * 8 + ["P"] * 12,
            "error: a regression cannot be excluded: 8 verdicts of the candidate are missing; by 20 cases",
            id="missing verdicts",
        ),
        pytest.param(
            ["F"] * 3, ["F"] * 3,
            "no difference seen: nothing could fall, because no trial of the baseline passes; by 3 cases",
            id="nothing could fall",
        ),
        pytest.param(
            ["PPPFF"] * 7, ["PPFFF"] + ["PPPFF"] * 6,
            "no difference seen: no case that passed now fails, and no drop is significant; one case that fails in every "
            "trial or an overall drop of 55.8 points would be "
            "noticed in 80 % of comparisons; by 7 cases x 5 trials",
            id="a trial fewer passes",
        ),
        pytest.param(
            ["PPPFF"] * 4 + ["PPFFF"] * 4, ["PPFFF"] * 4 + ["PPPFF"] * 4,
            "no difference seen: no case that passed now fails, and no drop is significant; an overall drop of 50 points would be "
            "noticed in 80 % of comparisons; by 8 cases x 5 trials",
            id="among flaky cases no single one would be noticed",
        ),
        pytest.param(
            ["P"] * 200, ["P"] * 200,
            "no regression: the pass rate of the trials was 100 % (200 of 200) and is 100 % (200 of 200); a drop of more "
            "than 1.5 points is ruled out (one-sided, 95 % confidence); by 200 cases",
            id="no regression",
        ),
    ],
)  # fmt: skip
def test_sentence(base: list[str], candidate: list[str], sentence: str) -> None:
    trials = max(map(len, [*base, *candidate]))
    before, now = side(cases(*base), num_runs=trials), side(cases(*candidate), num_runs=trials)
    assert compare_cases(before, now, CompareOptions()).sentence == sentence


def test_both_questions_have_a_sentence() -> None:
    found = compared(cases(*["PPPPP"] * 7), cases(*["FFFFF"], *["PPPPP"] * 6))
    assert found.on_these_cases.startswith(
        "1 case is significantly worse; the pass rate of the trials fell from 100 % (35 of 35) to 85.7 % (30 of 35)"
    )
    assert found.on_these_cases.endswith(": significantly worse")
    assert found.in_general.startswith(
        "for cases like these a change of -14.3 points is estimated (95 % CI: "
    )
    assert found.in_general.endswith("; one-sided, a drop of more than 5 points is not ruled out")


def test_a_bound_that_rules_out_what_the_interval_contains_is_called_one_sided() -> None:
    strips = [*["FF"] * 10, *["PP"] * 10], [*["PP"] * 7, *["FF"] * 3, *["PP"] * 8, *["FF"] * 2]
    base, candidate = (cases(*one) for one in strips)
    general = compared(base, candidate).general
    assert general is not None
    assert general.low < general.lowest
    found = compared(base, candidate, margin=-(general.low + general.lowest) / 2)
    assert f"CI: {100 * general.low:+.1f} to " in found.in_general
    assert "); one-sided, a drop of more than " in found.in_general
    assert found.in_general.endswith(" points is ruled out")


@pytest.mark.parametrize(
    ("base", "candidate", "on_these_cases"),
    [
        pytest.param(
            ["P"], ["F"], "the pass rate of the trials fell from 100 % (1 of 1) to 0 % (0 of 1), -100 points: too few cases to test", id="one case"
        ),
        pytest.param(
            ["P", "P"], ["P", "P"], "the pass rate of the trials stayed at 100 % (2 of 2), 0 points: too few cases to test", id="nothing changed"
        ),
        pytest.param(["PPPPP"], ["FFFFF"], "96 % CI: -100 to -77.7): significantly worse", id="five trials"),
        pytest.param(["P", "P", "P"], ["F", "P", "P"], ": not significant", id="three cases"),
    ],
)  # fmt: skip
def test_one_or_two_cases_are_too_few_for_an_interval(
    base: list[str], candidate: list[str], on_these_cases: str
) -> None:
    trials = len(base[0])
    before, now = side(cases(*base), num_runs=trials), side(cases(*candidate), num_runs=trials)

    found = compare_cases(before, now, CompareOptions())

    assert found.on_these_cases.endswith(on_these_cases)
    too_few = "too few cases to test; a drop of more than 5 points is not ruled out for cases like these"
    assert (found.in_general == too_few) is (len(base) < 3)


# --- metrics ---------------------------------------------------------------------------------------------------------


def scored(name: str, *values: float) -> list[CaseResult]:
    return [case(str(number), "P", scores={name: value}) for number, value in enumerate(values)]


def test_a_metric_that_decides_is_a_regression_though_every_case_passes() -> None:
    base = scored("quality", *(0.9 + 0.001 * n for n in range(60)))
    found = compared(base, scored("quality", *(0.8 + 0.0015 * n for n in range(60))))
    assert found.outcome is WORSE
    assert found.measure("quality").verdict == "worse"
    assert found.measure("passed").verdict == ""
    assert "quality fell from 0.93 to 0.844" in found.sentence


def test_a_metric_that_is_only_reported_decides_nothing() -> None:
    found = compared(scored("seen_quality", *[0.9] * 100), scored("seen_quality", *[0.1] * 100))
    assert found.outcome is PROVEN
    seen = found.measure("seen_quality")
    assert (seen.verdict, seen.decides, seen.confidence) == ("worse", False, 0.95)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_score_that_is_no_finite_number_is_left_out(number: float) -> None:
    found = compared(scored("seen_quality", 0.5, 0.5), scored("seen_quality", number, 0.75))
    assert (found.measure("seen_quality").pairs, found.measure("seen_quality").difference) == (1, 0.25)


@pytest.mark.parametrize("known", [True, False], ids=["known range", "unknown range"])
def test_missing_scores_of_a_metric_have_their_worst_and_best_values(known: bool) -> None:
    """A build whose judge breaks on the 8 of 20 cases that are wrong is not as good as its baseline."""
    base = [case(str(n), "P", scores={"quality": 1.0}) for n in range(20)]
    now = [unscored(str(n)) if n < 8 else case(str(n), "P", scores={"quality": 1.0}) for n in range(20)]
    found = compared(base, now, ranges={"quality": (0.0, 1.0)} if known else {})
    measured = found.measure("quality")
    assert (found.outcome, measured.pairs, measured.missing, measured.verdict) == (BROKEN, 20, 8, "")
    assert measured.low < -0.4 < 0 <= measured.high


@pytest.mark.parametrize(
    "score_range", [pytest.param((0.0, 1.0), id="below the scores"), pytest.param((90.0, 99.0), id="above")]
)
def test_a_range_that_a_score_contradicts_counts_as_unknown(score_range: tuple[float, float]) -> None:
    base = [case(str(n), "P", scores={"quality": 50.0 + n}) for n in range(8)]
    for sides in ([base, [*base[:7], unscored("7")]], [[*base[:7], unscored("7")], base]):
        contradicted, unknown = (compared(*sides, ranges=ranges) for ranges in ({"quality": score_range}, {}))
        assert contradicted.measure("quality") == unknown.measure("quality")
        assert contradicted.sentence == unknown.sentence


@pytest.mark.parametrize(
    ("now", "missing", "rate"),
    [
        pytest.param(["PPP", "PPF", "PPP"], 0, 8 / 9, id="every verdict"),
        pytest.param(["PPP", "PPF", "EEE"], 1, 5 / 6, id="a case without verdicts"),
        pytest.param(["PPP", "PPE", "PPE"], 2, 1.0, id="cases with some of their verdicts"),
        pytest.param(["PPE", "FPE", "PPE"], 3, 13 / 18, id="no case with all of them: midway between 5 and 8 of 9"),
    ],
)  # fmt: skip
def test_rates_and_means_are_of_the_cases_with_all_of_their_values(
    now: list[str], missing: int, rate: float
) -> None:
    base = [case(str(n), "PPP", scores={"quality": 1.0}) for n in range(3)]
    candidate = [case(str(n), one, scores={"quality": 0.75}) for n, one in enumerate(now)]
    found = compared(base, candidate, ranges={"quality": (0.0, 1.0)})
    for measured in (found.measure("passed"), found.measure("quality")):
        assert (measured.pairs, measured.missing, measured.known) == (3, missing, 3 - missing)
    passed = found.measure("passed")
    assert (passed.base, passed.candidate) == pytest.approx((1.0, rate))


def test_means_are_those_of_the_known_cases_also_if_the_missing_ones_could_not_keep_their_difference() -> (
    None
):
    """25 cases differ by 0.56; with the missing ones, all 29 differ by 0.55 at most. The interval contains both."""
    known = [case(str(n), "F" if n < 14 else "P", scores={"quality": float(n >= 14)}) for n in range(25)]
    better = [case(str(n), "P", scores={"quality": 1.0}) for n in range(25)]
    lost = [unscored(str(n)) for n in range(25, 27)]
    found = compared(
        [*known, *lost, *(case(str(n), "P", scores={"quality": 1.0}) for n in range(27, 29))],
        [*better, *(case(str(n), "P", scores={"quality": 1.0}) for n in range(25, 27)), *[unscored(str(n)) for n in range(27, 29)]],
        ranges={"quality": (0.0, 1.0)},
    )  # fmt: skip
    measured = found.measure("quality")
    assert (measured.base, measured.candidate, measured.known, measured.pairs) == (0.44, 1.0, 25, 29)
    assert measured.difference == pytest.approx(0.56)
    assert 0 < measured.low < measured.difference <= measured.high


def test_without_a_case_that_has_all_scores_the_means_are_shown_as_unknown() -> None:
    half = [case(str(n), "PE", scores={"quality": 1.0}) for n in range(3)]
    partly = compared(half, half, ranges={"quality": (0.0, 1.0)})
    assert partly.measure("quality").known == 0
    assert partly.pairs == 3
    assert numbers(partly.measure("quality"))[:3] == ("unknown",) * 3


@pytest.mark.parametrize("trials", ["FF", "PF"])
def test_a_case_that_was_in_error_and_fails_is_no_longer_in_error_with_both_reasons(trials: str) -> None:
    base = [*cases("PP", "PP"), case("2", "EE", reason="the service was down")]
    found = compared(base, [*cases("PP", "PP"), case("2", trials, reason="the price is 4")])
    assert [(one.eval_id, one.change, one.reason, one.before) for one in found.cases] == [
        ("2", CaseChange.NO_LONGER_IN_ERROR, "the price is 4", "the service was down")
    ]
    assert found.outcome is Change.INCONCLUSIVE


def test_a_case_that_was_in_error_and_lacks_verdicts_in_the_candidate_has_missing_verdicts() -> None:
    found = compared(cases("PP", "PE"), cases("PP", "EE"))
    assert [(one.eval_id, one.change) for one in found.cases] == [("1", CaseChange.MISSING)]


def test_a_case_that_failed_and_is_now_in_error_is_listed_with_its_error_and_is_no_fall() -> None:
    """Of a case that was not run there is nothing to compare."""
    base = [*cases("PP", "FF"), case("2", "")]
    found = compared(base, [*cases("PP"), case("1", "EE", reason="the service was down"), case("2", "PP")])
    assert [(one.eval_id, one.change, one.reason) for one in found.cases] == [
        ("1", CaseChange.NOW_IN_ERROR, "the service was down")
    ]
    assert found.outcome.exit_code == 0


def test_a_case_that_is_no_longer_in_error_is_listed_with_its_error_and_is_no_improvement() -> None:
    base = [*cases("PP", "FF"), case("2", "PE", reason="the service was down"), case("3", "EE")]
    found = compared(base, cases("PP", "PP", "PP", "EE"))
    assert [(one.eval_id, one.change, one.before) for one in found.cases] == [
        ("1", CaseChange.NOW_PASSES, ""),
        ("2", CaseChange.NO_LONGER_IN_ERROR, "the service was down"),
    ]
    alone = compared([case("0", "E")], cases("P"))
    assert (alone.outcome.exit_code, alone.measures, len(alone.cases)) == (3, [], 1)


def test_without_any_verdict_neither_question_has_an_answer() -> None:
    found = compared(cases("PP", "PP"), cases("EE", "EE"))
    assert (found.outcome, found.general, [one.name for one in found.measures]) == (BROKEN, None, [])


def test_a_missing_score_far_from_the_others_does_not_hide_that_these_may_be_a_regression() -> None:
    """With the worst value the interval would contain 0; with a likely one the drop is significant."""
    base = [case(str(n), "P", scores={"quality": 0.9}) for n in range(11)]
    now = [case(str(n), "P", scores={"quality": 0.8 - 0.001 * n}) for n in range(10)]
    found = compared(base, [*now, unscored("10")], ranges={"quality": (0.0, 1.0)})
    assert found.outcome is BROKEN
    likely = compared(base, [*now, case("10", "P", scores={"quality": 0.8})], ranges={"quality": (0.0, 1.0)})
    assert likely.outcome is WORSE


def unscored(eval_id: str) -> CaseResult:
    metrics = {"quality": MetricVerdict("quality", Outcome.ERROR, None, 0.5)}
    return replace(case(eval_id, "E"), metrics=metrics)


def test_of_tokens_fewer_are_better() -> None:
    found = compared(scored("token_usage_v1", *[900] * 50), scored("token_usage_v1", *[500] * 50))
    assert found.measure("token_usage_v1").verdict == "better"


def test_metrics_share_one_percent_step_by_step() -> None:
    """The first metric is tested at half of 2 % (two-sided), and as it is significant, the next one at all of it."""
    base = [case(str(n), "P", scores={"a": 1.0, "b": 1.0}) for n in range(10)]
    now = [case(str(n), "P", scores={"a": 0.5, "b": 0.5 if n < 8 else 1.0}) for n in range(10)]
    first, second = (compared(base, now).measure(name) for name in ("a", "b"))
    assert (first.p_value, round(first.confidence, 9), first.verdict) == (2 / 2**10, 0.99, "worse")
    assert (second.p_value, round(second.confidence, 9), second.verdict) == (2 / 2**8, 0.98, "worse")


def test_drop_of_a_metric_that_is_not_significant_after_correction_is_a_fall() -> None:
    base = [case(str(n), "P", scores={"a": 1.0}) for n in range(10)]
    now = [case(str(n), "P", scores={"a": 0.5 if n < 6 else 1.0}) for n in range(10)]
    found = compared(base, now)
    assert (found.outcome, found.measure("a").p_value) == (OPEN, 2 / 2**6)
    assert "a fell from 1 to 0.7" in found.sentence
    assert "not significant after correction" in found.sentence


# --- pairs -----------------------------------------------------------------------------------------------------------


def test_cases_of_one_run_only_are_listed_apart() -> None:
    found = compared([case("both", "P"), case("old", "F")], [case("new", "F"), case("both", "P")])
    assert (found.only_base, found.only_candidate, found.pairs) == (["set/old"], ["set/new"], 1)
    assert found.sentence.endswith("; by 1 of 2 cases")


def test_cases_of_one_id_are_paired_in_order() -> None:
    found = compared([case("twice", "P"), case("twice", "F")], [case("twice", "P"), case("twice", "P")])
    assert [one.change for one in found.cases] == [CaseChange.NOW_PASSES]


def test_a_case_that_was_edited_is_left_out_unless_it_is_asked_for() -> None:
    base, now = side(cases("P", "P"), content={"0": "old"}), side(cases("F", "P"), content={"0": "new"})
    left_out = compare_cases(base, now, CompareOptions())
    assert (left_out.pairs, left_out.changed_cases, left_out.cases) == (1, ["set/0"], [])
    assert left_out.sentence.endswith("; by 1 of 2 cases")
    kept = compare_cases(base, now, CompareOptions(keep_changed=True))
    assert (kept.pairs, kept.changed_cases, len(kept.cases)) == (2, ["set/0"], 1)


def test_different_numbers_of_trials_pair() -> None:
    found = compared(cases("PPPP"), cases("PF"))
    assert found.measure("passed").difference == -0.5


def test_added_trials_are_reported_as_a_maximum() -> None:
    base, candidate = side(cases("PPPP", "PPPP"), num_runs=4), side(cases("PP", "PF"), num_runs=9)
    added = replace(candidate, run=replace(candidate.run, most=9))
    assert compare_cases(base, added, CompareOptions()).sentence.endswith(
        "; by 2 cases x 4 and up to 9 trials"
    )
    assert compare_cases(added, added, CompareOptions()).sentence.endswith("; by 2 cases x up to 9 trials")


def test_a_trial_in_error_is_neither_a_pass_nor_a_fail() -> None:
    found = compared(cases("PPP", "PPP"), cases("PPE", "PPP"))
    assert (found.pairs, found.missing_base, found.missing_candidate) == (2, 0, 1)
    assert found.changed(CaseChange.MISSING)[0].candidate == Trials(2, 0, 1)


def test_a_case_that_was_left_out_on_purpose_is_in_no_run() -> None:
    found = compared(cases("P", "P"), [case("0", "P"), replace(case("1", "P"), outcome=Outcome.SKIPPED)])
    assert found.only_base == ["set/1"]


# --- which cases differ ----------------------------------------------------------------------------------------------


def test_cases_that_now_fail_come_first_and_the_worst_of_them_before_the_others() -> None:
    base = cases("PPPPP", "FFFFF", "PPPPP", "PPFPF", "PPPPP", "PPPPP", "PPFPF")
    found = compared(base, cases("PPPPF", "PPPPP", "FFFFF", "PFFFF", "PPPPP", "PPPPE", "PPPPF"))
    assert [(one.eval_id, one.change.value) for one in found.cases] == [
        ("2", "now_fails"), ("0", "now_fails"), ("5", "missing"), ("1", "now_passes"), ("3", "fewer_pass"), ("6", "more_pass"),
    ]  # fmt: skip


def test_regression_names_the_metric_and_its_reason() -> None:
    base = [case("0", "PP", scores={"a": 1.0, "b": 0.9})]
    (one,) = compared(base, [case("0", "FF", scores={"a": 0.9, "b": 0.2}, reason="b is low")]).cases
    assert (one.metric, one.scores, one.reason) == ("b", (0.9, 0.2), "b is low")


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        pytest.param("PPPPP", "FFFFE", CaseChange.NOW_FAILS, id="a verdict that failed trials decide"),
        pytest.param("PPPPP", "PPPPE", CaseChange.MISSING, id="may be as before"),
        pytest.param("PPPPF", "PFFFE", CaseChange.FEWER_TRIALS, id="fewer, whatever is missing"),
        pytest.param("PPPFE", "PFFFF", CaseChange.FEWER_TRIALS, id="fewer, whatever the baseline lacks"),
        pytest.param("PFFFE", "PPPFF", CaseChange.MORE_TRIALS, id="more, whatever the baseline lacks"),
        pytest.param("PFFFE", "PPFFF", None, id="may be as before, and the baseline lacks it"),
        pytest.param("FFFFF", "FFFFE", None, id="nothing to lose"),
    ],
)
def test_change_of_a_case_with_missing_verdicts(before: str, now: str, change: CaseChange | None) -> None:
    found = compared(cases(before), cases(now))
    assert [one.change for one in found.cases] == [one for one in (change,) if one is not None]


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        pytest.param("P", "PPPF", CaseChange.WITHIN_NOISE, id="1 of 1 is not better than 3 of 4"),
        pytest.param("F", "PPPP", CaseChange.NOW_PASSES, id="all failed, and all pass"),
        pytest.param("PPPF", "P", CaseChange.WITHIN_NOISE, id="nor is it better than 3 of 4 before"),
        pytest.param("P", "F", CaseChange.NOW_FAILS, id="one trial each"),
        pytest.param("PPPP", "FFFF", CaseChange.NOW_FAILS, id="every trial"),
        pytest.param("P", "FFFF", CaseChange.NOW_FAILS, id="all passed, and all fail"),
        pytest.param("PPPP", "PPPF", CaseChange.NOW_FAILS, id="equal numbers of trials"),
        pytest.param("P" * 20, "PFFFF", CaseChange.NOW_FAILS, id="more than noise"),
        pytest.param("FFF", "FFFFFP", CaseChange.WITHIN_NOISE, id="another rate with the same verdict"),
        pytest.param("P", "PPFE", CaseChange.WITHIN_NOISE, id="by the trials that were scored"),
        pytest.param("P", "PPPE", CaseChange.MISSING, id="an error is not noise"),
        pytest.param("P", "", CaseChange.MISSING, id="not reached"),
    ],
)
def test_unequal_trials_explain_a_change_unless_it_exceeds_noise(
    before: str, now: str, change: CaseChange
) -> None:
    assert [one.change for one in compared(cases(before), cases(now)).cases] == [change]


def test_change_within_noise_keeps_its_outcome_and_is_named_as_such() -> None:
    found = compared(cases("P"), cases("PPPF"))
    assert found.outcome is OPEN
    assert (
        "fewer trials pass in 1 case (set/0), within the noise of unequal numbers of trials" in found.sentence
    )
    certain = compared(cases("P"), cases("PPPF"), deterministic=True)
    assert (certain.outcome, certain.cases[0].change) == (WORSE, CaseChange.NOW_FAILS)


def test_sure_fall_of_a_deterministic_agent_is_named_despite_a_missing_verdict() -> None:
    found = compared(cases("PP", "PP"), cases("FE", "PP"), deterministic=True)
    assert found.sentence.startswith(
        "regression: the agent is deterministic, and 1 case passed and now fails (set/0)"
    )


@pytest.mark.parametrize(
    ("base", "candidate", "reasons"),
    [
        pytest.param("PEPE", "F", ("now", "then"), id="errors in the baseline, and a certain fall"),
        pytest.param("PEPE", "FE", ("now", "then"), id="errors in both"),
        pytest.param("E", "F", ("now", "then"), id="no longer in error"),
        pytest.param("E", "P", ("", "then"), id="no longer in error, and it passes"),
        pytest.param("F", "P", ("", "then"), id="it passes now"),
        pytest.param("P", "F", ("now", ""), id="it fails now"),
        pytest.param("PPF", "FFF", ("now", ""), id="it failed before"),
        pytest.param("P", "", ("now", ""), id="the candidate did not run it"),
    ],
)
def test_a_changed_case_has_the_reason_of_each_run_apart(
    base: str, candidate: str, reasons: tuple[str, str]
) -> None:
    """A reason is never that of the other run."""
    (one,) = compared(
        [case("0", base, reason="then" * (base != "P"))],
        [case("0", candidate, reason="now" * (candidate != "P"))],
    ).cases
    assert (one.reason, one.before) == reasons


# --- properties ------------------------------------------------------------------------------------------------------

_RUNS = st.lists(
    st.tuples(st.text("PFE", min_size=1, max_size=4), st.text("PFE", min_size=1, max_size=4)),
    min_size=1,
    max_size=40,
)


@pytest.mark.slow
@given(_RUNS)
def test_swapped_runs_mirror_the_comparison(runs: list[tuple[str, str]]) -> None:
    base, candidate = cases(*(one for one, _ in runs)), cases(*(other for _, other in runs))
    found, mirrored = compared(base, candidate), compared(candidate, base)
    assert (mirrored.outcome is BETTER) >= (found.outcome is WORSE and mirrored.outcome is not WORSE)
    if not found.measures:
        assert (found.outcome, mirrored.outcome) == (BROKEN, BROKEN)
        return
    there, back = found.measure("passed"), mirrored.measure("passed")
    assert back.difference == -there.difference
    assert back.p_value == pytest.approx(there.p_value)
    assert [back.low, back.high] == pytest.approx([-there.high, -there.low])
    assert len(found.changed(CaseChange.NOW_FAILS)) >= len(
        [one for one in mirrored.changed(CaseChange.NOW_PASSES) if not one.base.other]
    )


@pytest.mark.slow
@given(st.lists(st.text("PF", min_size=1, max_size=4), min_size=1, max_size=40))
def test_a_run_does_not_differ_from_itself(trials: list[str]) -> None:
    found = compared(cases(*trials), cases(*trials))
    assert found.outcome in {PROVEN, UNSEEN}
    assert list(found.cases) == []


def check_agreement(found: Comparison) -> None:
    """Check that a case's line, the table and the outcome do not contradict each other."""
    for one in found.measures:
        assert (one.p_value <= 1 - one.confidence + 1e-9) == (not one.low <= 0 <= one.high), one
        assert one.low <= one.difference <= one.high, one
        assert bool(one.verdict) == (not one.low <= 0 <= one.high), one
    worse = [one for one in found.measures if one.decides and one.verdict == "worse"]
    if found.outcome is not WORSE:
        assert not worse
        assert not found.significant_cases
    if found.outcome is UNSEEN:
        assert not found.changed(CaseChange.NOW_FAILS)
    falls = {
        one.name for one in found.cases if one.candidate.passed < one.base.passed or one.candidate.failed
    }
    assert {one.name for one in found.significant_cases} <= falls


@pytest.mark.slow
@given(_RUNS)
def test_lines_table_and_outcome_agree(runs: list[tuple[str, str]]) -> None:
    base = [case(str(n), one, scores={"q": one.count("P") / len(one)}) for n, (one, _) in enumerate(runs)]
    now = [
        case(str(n), other, scores={"q": other.count("P") / len(other)}) for n, (_, other) in enumerate(runs)
    ]
    check_agreement(compared(base, now, ranges={"q": (0.0, 1.0)}))


def test_scores_that_cannot_be_added_up_are_left_out() -> None:
    runs = [scored("seen_q", *([sign * 1e308] * 3), 0.5) for sign in (1, -1)]
    found = compared(*runs)
    assert found.measure("seen_q").pairs == 1


# --- different numbers of trials -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [6, 10, 20, 30])
@pytest.mark.parametrize("reversed_", [False, True], ids=["few after many", "many after few"])
@pytest.mark.parametrize("letters", ["PPPPPPPPPF", "FFFFFFFFFP"], ids=["9 of 10 pass", "1 of 10 passes"])
def test_one_trial_of_a_flaky_case_is_not_evidence_of_a_change(
    letters: str, reversed_: bool, count: int
) -> None:
    """All of so many cases go the likely way with a probability of 4 % to 53 %, where nothing has changed."""
    runs = [cases(*[letters] * count), cases(*[letters[0]] * count)]
    found = compared(*(reversed(runs) if reversed_ else runs))
    assert found.outcome in {OPEN, UNSEEN, PROVEN}
    passed = found.measure("passed")
    assert passed.verdict == ""
    assert passed.low < 0 < passed.high


def test_few_trials_after_many_are_still_seen_to_break() -> None:
    found = compared(cases(*["PPPPPPPPPF"] * 20), cases(*["F"] * 12, *["P"] * 8))
    assert found.outcome is WORSE


@pytest.mark.parametrize("values", [(0.9, 1.0), (0.95, 1.0)], ids=["0 and 1", "halves"])
def test_scores_as_means_of_more_trials_are_not_evidence_of_a_change(
    values: tuple[float, float],
) -> None:
    before, now = (
        [case(str(each), letters, scores={"steps": value}) for each in range(20)]
        for letters, value in zip(("P" * 10, "P"), values, strict=True)
    )
    found = compared(before, now, ranges={"steps": (0.0, 1.0)})
    assert [one.verdict for one in found.measures] == ["", ""]
    assert found.measure("steps").p_value > 0.05


def test_signs_must_agree_where_enough_cases_changed() -> None:
    """Trials that resemble each other within a run: the permutation of trials alone would find p < 0.001."""
    found = compared(cases(*["PPPPP"] * 5, *["FFFFF"] * 3), cases(*["FFFFF"] * 5, *["PPPPP"] * 3))
    assert found.measure("passed").p_value > 0.5


@pytest.mark.parametrize(
    ("before", "now", "is_proven"),
    [
        pytest.param(["PPPPF", "PFFFF"] * 3, ["PFFFF", "PPPPF"] * 3, False, id="six vary too much"),
        pytest.param(
            ["PPPPF", "PFFFF", "PPPPF"], ["PFFFF", "PPPPF", "PFFFF"], False, id="three vary too much"
        ),
        pytest.param(["PPPPF", "PFFFF"], ["PFFFF", "PPPPF"], True, id="two do not show it"),
        pytest.param(["PPPPF", "PPFFF"] * 3, ["PPPFF", "PPPFF"] * 3, True, id="six vary as usual"),
    ],
)
def test_a_single_case_proves_nothing_where_the_others_show_that_trials_resemble_each_other(
    before: list[str], now: list[str], is_proven: bool
) -> None:
    found = compared(cases("PPPPP", *before), cases("FFFFF", *now))
    assert [one.name for one in found.significant_cases] == ["set/0"] * is_proven


@pytest.mark.parametrize(
    ("case", "others", "expected"),
    [
        pytest.param((10, 1, 10), [(7, 5, 10), (5, 6, 10)] * 2, True, id="nearly total, others hardly vary"),
        pytest.param((10, 2, 10), [(8, 5, 10), (5, 7, 10)] * 2, False, id="nearly total, others vary"),
        pytest.param((10, 0, 10), [(8, 5, 10), (5, 7, 10)] * 2, True, id="total, others vary as much"),
        pytest.param((10, 3, 10), [(9, 7, 10), (5, 7, 10)] * 2, False, id="in part, others vary"),
        pytest.param((10, 3, 10), [(9, 9, 10)], False, id="in part, one other is flaky"),
        pytest.param((10, 2, 10), [(10, 10, 10), (0, 0, 10)], True, id="nearly total, no other is flaky"),
        pytest.param((10, 3, 10), [(10, 10, 10), (0, 0, 10)], False, id="in part, no other is flaky"),
        pytest.param((4, 0, 4), [(4, 4, 4), (3, 2, 4)], True, id="4 of 4 to 0 of 4, one other is flaky"),
        pytest.param((4, 0, 4), [(2, 3, 4), (3, 2, 4)], False, id="4 of 4 to 0 of 4, two others are flaky"),
        pytest.param((20, 5, 20), [(18, 17, 20)], True, id="a correlation of just 0.6"),
        pytest.param((50, 20, 50), [(35, 30, 50), (25, 30, 50)] * 9, True, id="in part, many trials and cases"),
        pytest.param((50, 20, 50), [(35, 26, 50), (25, 30, 50)] * 2, False, id="in part, many trials of few cases"),
        pytest.param((5, 0, 5), [(4, 4, 5), (3, 2, 5)] * 2, True, id="5 of 5 to 0 of 5, others hardly vary"),
        pytest.param((5, 0, 5), [(4, 1, 5), (3, 3, 5)] * 2, False, id="5 of 5 to 0 of 5, others vary"),
    ],
)  # fmt: skip
def test_a_case_must_change_by_more_than_the_other_flaky_cases_vary(
    case: tuple[int, int, int], others: list[tuple[int, int, int]], expected: bool
) -> None:
    """A case is given as its passes before and now, of so many trials in each run."""
    known = [TwoCounts(before, trials, now, trials) for before, now, trials in [case, *others]]
    assert exceeds_overdispersion(known[:1], [[one] for one in known[1:]]) is expected
    assert could_exceed_overdispersion(known[0], known[1:], 0) is expected


@pytest.mark.parametrize(
    ("before", "now", "is_proven"),
    [
        pytest.param(["PPP"] * 7, ["FFF"] * 2 + ["PPP"] * 5, True, id="two break completely"),
        pytest.param(["P" * 10] * 7, ["PPPFFFFFFF"] + ["P" * 10] * 6, True, id="one falls to 3 of 10"),
        pytest.param(["P" * 10] * 7, ["PPPPFFFFFF"] + ["P" * 10] * 6, False, id="one falls to 4 of 10"),
        pytest.param(["P" * 10], ["PPPPFFFFFF"], True, id="the same case alone"),
        pytest.param(["P" * 10] * 2, ["PPPPPPFFFF"] * 2, False, id="two of two fall in part"),
        pytest.param(["P" * 10] * 3, ["PPPPPPFFFF"] * 3, True, id="three show how much they vary"),
    ],
)
def test_one_or_two_flaky_cases_must_fall_as_if_half_of_their_trials_were_alike(
    before: list[str], now: list[str], is_proven: bool
) -> None:
    assert (compared(cases(*before), cases(*now)).outcome is Change.REGRESSION) is is_proven


CASE_OF_TEN = st.builds(TwoCounts, st.integers(0, 10), st.just(10), st.integers(0, 10), st.just(10))


@pytest.mark.slow
@given(CASE_OF_TEN, st.lists(CASE_OF_TEN, max_size=6), st.lists(CASE_OF_TEN, max_size=4), st.integers(0, 3))
def test_whatever_the_unknown_cases_are_a_case_beyond_overdispersion_was_possible(
    case: TwoCounts, known: list[TwoCounts], unknown: list[TwoCounts], more: int
) -> None:
    if exceeds_overdispersion([case], [[one] for one in known + unknown]):
        assert could_exceed_overdispersion(case, known, len(unknown) + more)


def test_missing_verdicts_are_no_error_where_the_others_show_that_trials_resemble_each_other() -> None:
    others = (["PPPPF", "PFFFF"] * 4, ["PFFFF", "PPPPF"] * 4)
    found = compared(cases("PPPPP", *others[0]), cases("FFFEE", *others[1]))
    assert found.outcome is OPEN
    usual = (["PPPPF", "PPFFF"] * 4, ["PPPFF", "PPPFF"] * 4)
    found = compared(cases("PPPPP", *usual[0]), cases("FFFEE", *usual[1]))
    assert found.outcome is Change.ERROR


def test_missing_verdicts_do_not_hide_a_drop_because_one_more_case_may_have_changed() -> None:
    """Signs must agree from six changed cases on; with the missing verdicts of the third one, five or six have changed."""
    before = ["PPPPP", "FFFFF", "PPPPP", "PPPPP", "PPPPF", "PPPPP", "PPPPP"]
    complete = ["FFFPF", "FFFFP", "PPPPP", "PPPPP", "FFFFF", "PFPPP", "PPPFP"]
    missing = ["FFFPF", "FFFFP", "PPPEE", "PPPPP", "FFFFF", "PFPPP", "PPPFP"]
    assert compared(cases(*before), cases(*complete)).outcome is WORSE
    assert compared(cases(*before), cases(*missing)).outcome is Change.ERROR


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "now"), [(10, 1), (1, 10), (100, 1), (5, 3)], ids=["10 and 1", "1 and 10", "100 and 1", "5 and 3"]
)  # fmt: skip
@pytest.mark.parametrize("rate", [0.95, 0.9, 0.2])
def test_false_alarms_keep_their_rate_for_any_numbers_of_trials(rate: float, before: int, now: int) -> None:
    random, alarms, times = Random(f"{rate} {before} {now}"), 0, 200
    for _ in range(times):
        shares = [
            [sum(random.random() < rate for _ in range(trials)) / trials for trials in (before, now)]
            for _ in range(20)
        ]
        drawn = [PairedScore(was, is_now, before, now) for was, is_now in shares]
        alarms += p_value_by_case(drawn) <= 0.05
    assert alarms / times <= 0.08  # 5 % at most in truth; by signs alone up to 37 %


WHY = "text 0.39 < 0.5: 8 of 14 words"


@pytest.mark.parametrize(
    ("reason", "metric"),
    [
        pytest.param(WHY, "text", id="of the first metric that failed"),
        pytest.param(f"0 of 3 trials passed, 1 asked for: trial 2: {WHY}", "text", id="of a trial that failed"),
        pytest.param("tools were not called", "tools", id="a metric without a score in it"),
        pytest.param("1 of 3 trials passed, 1 asked for", "tools", id="no metric: the one that changed most"),
        pytest.param("texts differ: text", "tools", id="a word that only begins like one"),
        pytest.param("seen_tone 0.1 < 0.5: rude", "tools", id="a metric that does not decide"),
        pytest.param("", "tools", id="none"),
    ],
)  # fmt: skip
def test_a_changed_case_names_the_metric_that_its_reason_describes(reason: str, metric: str) -> None:
    base = [case("0", "P", scores={"tools": 1.0, "text": 1.0, "seen_tone": 1.0})]
    now = [case("0", "F", scores={"tools": 0.0, "text": 0.39, "seen_tone": 0.1}, reason=reason)]
    (changed,) = compared(base, now).cases
    assert (changed.metric, changed.reason) == (metric, reason)
    assert changed.scores == (1.0, {"tools": 0.0, "text": 0.39}[metric])
    (fixed,) = compared(now, base).cases
    assert (fixed.metric, fixed.reason, fixed.before) == (metric, "", reason)


def test_a_case_in_error_names_no_other_metric_than_its_reason() -> None:
    base = [case("0", "PPP", scores={"tools": 1.0})]
    now = [case("0", "PEE", scores={"tools": 0.5}, reason="agent raised in turn 1")]
    (changed,) = compared(base, now).cases
    assert (changed.reason, changed.metric, changed.scores) == ("agent raised in turn 1", "", None)


def test_cases_that_moved_most_come_first_by_any_metric_that_decides() -> None:
    base = [case(name, "P", scores={"tools": 1.0, "state": 1.0}) for name in ("a", "b")]
    now = [
        case("a", "F", scores={"tools": 0.2, "state": 1.0}, reason="tools 0.20 < 0.5: none"),
        case("b", "F", scores={"tools": 0.4, "state": 0.0}, reason="tools 0.40 < 0.5: none"),
    ]
    assert [(one.eval_id, one.metric) for one in compared(base, now).cases] == [
        ("b", "tools"),
        ("a", "tools"),
    ]
