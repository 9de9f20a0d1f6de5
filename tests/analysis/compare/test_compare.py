"""Two runs of the same cases: the outcome of a comparison, and its symmetry."""

from dataclasses import replace
from math import comb
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from proctor.analysis.compare.compare import Both, CompareOptions, compare_runs, p_value_of
from proctor.schema.analysis.comparison import CaseChange, Change, Trials
from proctor.schema.results.run_result import CaseResult, Outcome
from tests.analysis.compare.comparisons import case, cases, compared, side

WORSE, BETTER = Change.REGRESSION, Change.IMPROVEMENT
SAME, OPEN, BROKEN = Change.NO_REGRESSION, Change.INCONCLUSIVE, Change.ERROR


@pytest.mark.parametrize(
    ("base", "candidate", "outcome", "exit_code"),
    [
        pytest.param(["P"] * 20, ["F"] * 8 + ["P"] * 12, WORSE, 1, id="8 of 20 break"),
        pytest.param(["F"] * 8 + ["P"] * 12, ["P"] * 20, BETTER, 0, id="8 of 20 are fixed"),
        pytest.param(["P"] * 200, ["P"] * 200, SAME, 0, id="200 cases, nothing changed"),
        pytest.param(["P"] * 200, ["F"] + ["P"] * 199, SAME, 0, id="1 of 200 breaks: within 5 points"),
        pytest.param(["P"] * 10, ["P"] * 10, OPEN, 4, id="10 cases, nothing changed: too few for a conclusion"),
        pytest.param(["P"] * 20, ["F"] * 3 + ["P"] * 17, OPEN, 4, id="3 of 20 break: may be chance"),
        pytest.param(["PPPPP"] * 6, ["FFFFF"] * 6, WORSE, 1, id="6 of 6 break in every trial"),
        pytest.param(["PPPPP"] * 5, ["FFFFF"] * 5, OPEN, 4, id="5 cases cannot differ significantly"),
        pytest.param(["PPF"] * 60, ["PFP"] * 60, SAME, 0, id="flaky as before"),
        pytest.param(["P"] * 200, ["E"] + ["P"] * 199, BROKEN, 3, id="one that passed is in error"),
        pytest.param(["F"] + ["P"] * 199, ["E"] + ["P"] * 199, SAME, 0, id="one that failed is in error"),
        pytest.param(["E"] + ["P"] * 199, ["E"] + ["P"] * 199, SAME, 0, id="one is in error as before"),
        pytest.param(["P"] * 200, [""] + ["P"] * 199, BROKEN, 3, id="one that passed was not run"),
        pytest.param(["P"] * 21, ["E"] + ["F"] * 8 + ["P"] * 12, WORSE, 1, id="a regression counts before errors"),
        pytest.param(["E"] * 3, ["E"] * 3, BROKEN, 3, id="nothing could be judged in either run"),
    ],
)  # fmt: skip
def test_outcome(base: list[str], candidate: list[str], outcome: Change, exit_code: int) -> None:
    found = compared(cases(*base), cases(*candidate))
    assert (found.outcome, found.exit_code) == (outcome, exit_code)
    assert found.sentence.startswith(outcome.value.replace("_", " ") + ": ")
    assert bool(found) == (exit_code == 0)


@pytest.mark.parametrize(
    ("margin", "outcome"), [(0.01, OPEN), (0.05, SAME), (0.2, SAME)], ids=["1 point", "5 points", "20 points"]
)
def test_the_margin_is_how_much_the_pass_rate_may_fall(margin: float, outcome: Change) -> None:
    found = compared(cases(*["P"] * 200), cases(*["F", *["P"] * 199]), margin=margin)
    assert found.outcome is outcome


@pytest.mark.parametrize(
    ("count", "margin"), [(3, 0.5), (10, 0.2), (25, 0.2), (45, 0.05), (50, 0.2), (60, 0.1), (59, 0.05)]
)
def test_no_regression_is_seldom_concluded_at_exactly_the_margin(count: int, margin: float) -> None:
    """Computed over all outcomes: the number of broken cases is binomial."""
    wrong = sum(
        comb(count, broken) * margin**broken * (1 - margin) ** (count - broken)
        for broken in range(count + 1)
        if compared(
            cases(*["P"] * count), cases(*["F"] * broken, *["P"] * (count - broken)), margin=margin
        ).outcome
        is SAME
    )
    assert wrong <= 0.05


def test_significant_drop_below_the_margin_is_a_small_regression() -> None:
    found = compared(cases(*["P"] * 2000), cases(*["F"] * 20, *["P"] * 1980))
    assert found.outcome is WORSE
    assert found.sentence == (
        "regression: the pass rate fell from 100.0 % to 99.0 % (-1.0 points, 95 %: -1.5 to -0.6; p < 0.001), "
        "significant, but less than the margin of 5 points; by 2,000 cases"
    )


def test_sentence_names_the_missing_evidence() -> None:
    random = Random(1)
    base, now = (["".join(random.choices("PF", [4, 1], k=2)) for _ in range(200)] for _ in range(2))
    found = compared(cases(*base), cases(*now))
    assert found.outcome is OPEN
    assert 50 < (found.more_cases or 0) < 1_000
    assert 1 < (found.more_trials or 0) < 20
    assert (
        f"about {found.more_cases} more cases, or about {found.more_trials} more trials of each, are needed"
        in (found.sentence)
    )


@pytest.mark.parametrize(
    ("base", "candidate", "most"),
    [(["P"] * 10, ["F"] * 4 + ["P"] * 6, 12), (["PPPPF"] * 15, ["P"] * 10 + ["F"] * 5, 130)],
    ids=["40 points in 10 cases", "13 points in 15 flaky cases"],
)
def test_inconclusive_drop_gives_the_run_size_that_would_detect_it(
    base: list[str], candidate: list[str], most: int
) -> None:
    """To show that there is none would take several hundred more."""
    found = compared(cases(*base), cases(*candidate))
    assert found.outcome is OPEN
    assert 0 < (found.more_cases or 0) <= most
    assert (
        f"about {found.more_cases} more cases are needed, if the difference stays the same; by"
        in found.sentence
    )
    cheered = compared(cases(*base), cases(*candidate), margin=0.5)
    assert "if the difference stays the same" not in cheered.sentence


def test_recommended_number_of_cases_detects_the_drop_if_it_persists() -> None:
    before, now = ["P"] * 20, ["F"] * 4 + ["P"] * 16
    found = compared(cases(*before), cases(*now))
    assert found.outcome is OPEN
    times = 1 + (found.more_cases or 0) / 20
    several = [letter * round(count * times) for letter, count in (("F", 4), ("P", 16))]
    assert compared(cases(*"P" * len("".join(several))), cases(*"".join(several))).outcome is WORSE


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
    assert found.outcome is SAME
    seen = found.measure("seen_quality")
    assert (seen.verdict, seen.decides, seen.adjusted) == ("worse", False, None)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_score_that_is_not_a_finite_number_is_left_out(number: float) -> None:
    found = compared(scored("quality", 0.5, 0.5), scored("quality", number, 0.75))
    assert (found.measure("quality").pairs, found.measure("quality").difference) == (1, 0.25)


def test_of_tokens_fewer_are_better() -> None:
    found = compared(scored("token_usage_v1", *[900] * 50), scored("token_usage_v1", *[500] * 50))
    assert found.measure("token_usage_v1").verdict == "better"


def test_p_values_are_adjusted_for_what_decides_pass_and_fail_first() -> None:
    base = [case(str(n), "P", scores={"a": 1.0, "b": 1.0}) for n in range(10)]
    now = [
        case(str(n), "F" if n < 6 else "P", scores={"a": 0.0 if n < 6 else 1.0, "b": 1.0}) for n in range(10)
    ]
    found = compared(base, now)
    passed, moved, still = (found.measure(name) for name in ("passed", "a", "b"))
    assert passed.p_value == moved.p_value == 2 / 2**6
    assert passed.adjusted == pytest.approx(passed.p_value * 1.5)
    assert moved.adjusted == pytest.approx(moved.p_value * 2)
    assert still.adjusted == 1.0


# --- pairs -----------------------------------------------------------------------------------------------------------


def test_cases_of_one_run_only_are_listed_apart() -> None:
    found = compared([case("both", "P"), case("old", "F")], [case("new", "F"), case("both", "P")])
    assert (found.only_base, found.only_candidate, found.pairs) == (["set/old"], ["set/new"], 1)


def test_cases_of_one_id_are_paired_in_order() -> None:
    found = compared([case("twice", "P"), case("twice", "F")], [case("twice", "P"), case("twice", "P")])
    assert [one.change for one in found.cases] == [CaseChange.FIX]


def test_a_case_that_was_edited_is_left_out_unless_it_is_asked_for() -> None:
    base, now = side(cases("P", "P"), content={"0": "old"}), side(cases("F", "P"), content={"0": "new"})
    left_out = compare_runs(base, now, CompareOptions())
    assert (left_out.pairs, left_out.changed_cases, left_out.cases) == (1, ["set/0"], [])
    kept = compare_runs(base, now, CompareOptions(keep_changed=True))
    assert (kept.pairs, kept.changed_cases, len(kept.cases)) == (2, ["set/0"], 1)


def test_different_numbers_of_trials_pair() -> None:
    found = compared(cases("PPPP"), cases("PF"))
    assert found.measure("passed").difference == -0.5


def test_added_trials_are_reported_as_a_maximum() -> None:
    base, candidate = side(cases("PPPP", "PPPP"), num_runs=4), side(cases("PP", "PF"), num_runs=9)
    added = replace(candidate, run=replace(candidate.run, most=9))
    assert compare_runs(base, added, CompareOptions()).sentence.endswith(
        "; by 2 cases x 4 and up to 9 trials"
    )
    assert compare_runs(added, added, CompareOptions()).sentence.endswith("; by 2 cases x up to 9 trials")


def test_a_trial_in_error_is_neither_a_pass_nor_a_fail() -> None:
    found = compared(cases("PPP", "PPP"), cases("PPE", "PPP"))
    assert (found.pairs, found.undecided) == (1, 1)
    assert found.changed(CaseChange.IN_ERROR)[0].candidate == Trials(2, 0, 1)


def test_a_case_that_was_left_out_on_purpose_is_in_no_run() -> None:
    found = compared(cases("P", "P"), [case("0", "P"), replace(case("1", "P"), outcome=Outcome.SKIPPED)])
    assert found.only_base == ["set/1"]


# --- which cases differ ----------------------------------------------------------------------------------------------


def test_regressions_come_first_and_the_worst_of_them_before_the_others() -> None:
    base = cases("PPPPP", "FFFFF", "PPPPP", "PPFPF", "PPPPP", "PPPPP")
    found = compared(base, cases("PPPPF", "PPPPP", "FFFFF", "PFFFF", "PPPPP", "PPPPE"))
    assert [(one.eval_id, one.change.value) for one in found.cases] == [
        ("2", "regression"), ("0", "regression"), ("5", "in_error"), ("1", "fix"), ("3", "flaky"),
    ]  # fmt: skip


def test_regression_names_the_metric_and_its_reason() -> None:
    base = [case("0", "PP", scores={"a": 1.0, "b": 0.9})]
    (one,) = compared(base, [case("0", "FF", scores={"a": 0.9, "b": 0.2}, reason="b is low")]).cases
    assert (one.metric, one.scores, one.reason) == ("b", (0.9, 0.2), "b is low")


def test_fix_names_the_earlier_failure() -> None:
    (one,) = compared([case("0", "F", reason="it was wrong")], cases("P")).cases
    assert one.reason == "it was wrong"


# --- properties ------------------------------------------------------------------------------------------------------

_RUNS = st.lists(
    st.tuples(st.text("PF", min_size=1, max_size=4), st.text("PF", min_size=1, max_size=4)),
    min_size=1,
    max_size=40,
)
_MIRRORED = {WORSE: {BETTER}, BETTER: {WORSE}, SAME: {SAME, OPEN}, OPEN: {SAME, OPEN}}


@given(_RUNS)
@settings(max_examples=60, deadline=None)
def test_swapped_runs_mirror_what_is_found(runs: list[tuple[str, str]]) -> None:
    base, candidate = cases(*(one for one, _ in runs)), cases(*(other for _, other in runs))
    found, mirrored = compared(base, candidate), compared(candidate, base)
    assert mirrored.outcome in _MIRRORED[found.outcome]
    there, back = found.measure("passed"), mirrored.measure("passed")
    assert (back.difference, back.p_value) == (-there.difference, there.p_value)
    assert [back.low, back.high] == pytest.approx([-there.high, -there.low])
    assert len(found.changed(CaseChange.REGRESSION)) == len(mirrored.changed(CaseChange.FIX))


@given(st.lists(st.text("PFE", max_size=4), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_run_equals_itself(trials: list[str]) -> None:
    found = compared(cases(*trials), cases(*trials))
    assert found.outcome in {SAME, OPEN, BROKEN}
    assert list(found.cases) == []


def test_scores_that_cannot_be_added_up_are_left_out() -> None:
    runs = [scored("q", *([sign * 1e308] * 3), 0.5) for sign in (1, -1)]
    found = compared(*runs)
    assert found.measure("q").pairs == 1


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
    assert found.outcome in {OPEN, SAME}
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
    found = compared(before, now, reach={"steps": 1.0})
    assert [one.verdict for one in found.measures] == ["", ""]
    assert found.measure("steps").p_value > 0.05


def test_trials_that_are_as_many_in_both_runs_are_tested_by_their_signs() -> None:
    found = compared(cases(*["PPF"] * 12), cases(*["PFF"] * 12))
    assert found.measure("passed").p_value == pytest.approx(2 / 2**12)


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
        drawn = [Both(was, is_now, before, now) for was, is_now in shares]
        alarms += p_value_of(drawn) <= 0.05
    assert alarms / times <= 0.08  # 5 % at most in truth; by signs alone up to 37 %
