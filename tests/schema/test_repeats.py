"""The repeats of a result, in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.schema.results.case_result import Repeats
from proctor.schema.results.run_result import (
    CaseResult,
    MetricVerdict,
    Outcome,
    RunResult,
    SetSummary,
    TrialResult,
)
from proctor.schema.results.score import MetricScore, TrialRule
from proctor.stats.intervals import wilson

P, F, E, N = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.NOT_RUN
LETTERS = {"P": P, "F": F, "E": E, "N": N}
STRIPS = st.text("PFE", min_size=1, max_size=12)


def case(strip: str, *scores: float | None, **fields: Any) -> CaseResult:
    """Return a case whose trials ended as in `strip`; `scores` are those of its one metric."""
    trials = [TrialResult(n, LETTERS[letter], evidence=None) for n, letter in enumerate(strip)]
    result = CaseResult("set", fields.pop("eval_id", "case"), P, trials=trials, **fields)
    if scores:
        values = [score for score in scores if score is not None]
        per_trial = [None if score is None else MetricScore(value=score) for score in scores]
        mean = sum(values) / len(values) if values else None
        result.metrics["match"] = MetricVerdict("match", P, mean, 0.5, per_trial=per_trial)
    return result


def run(*cases: CaseResult) -> RunResult:
    return RunResult("agent", list(cases))


@pytest.mark.parametrize(
    ("strip", "rate", "flaky"),
    [("P", 1.0, False), ("PPFP", 0.75, True), ("FFF", 0.0, False), ("PPE", 2 / 3, False), ("FE", 0.0, False), ("PFE", 1 / 3, True)],
)  # fmt: skip
def test_case_has_a_pass_rate_and_is_flaky_with_passes_and_failures(
    strip: str, rate: float, flaky: bool
) -> None:
    assert case(strip).pass_rate == pytest.approx(rate)
    assert case(strip).flaky is flaky


def test_without_trials_nothing_is_known() -> None:
    assert (case("").pass_rate, case("").interval, case("").flaky) == (None, (0.0, 1.0), False)


@given(STRIPS)
def test_interval_is_wilsons_and_counts_errors_for_both_sides(strip: str) -> None:
    passed, failed, total = strip.count("P"), strip.count("F"), len(strip)
    low, high = case(strip).interval
    assert low == wilson(passed, total)[0]
    assert high == wilson(total - failed, total)[1]
    assert low <= (case(strip).pass_rate or 0.0) <= high


def test_the_interval_is_at_the_confidence_that_the_rule_asks_for() -> None:
    sure = case("PPFP", rule=TrialRule(0.9, 1, 0.8))
    assert (sure.confidence, sure.interval) == (0.8, wilson(3, 4, confidence=0.8))
    assert case("PPFP", rule=TrialRule(0.9)).confidence == 0.95


def test_several_in_a_row_of_a_case() -> None:
    assert case("PPPF").pass_hat(2) == 0.5
    assert case("PPFF").pass_at(2) == pytest.approx(5 / 6)
    with pytest.raises(ValueError, match="1 <= k <= total"):
        case("PP").pass_hat(3)


def test_several_in_a_row_of_a_run_are_the_mean_over_its_cases() -> None:
    found = run(case("PPPF"), case("PPPP"), case("FFFF"))
    assert found.pass_hat(2) == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.pass_at(2) == pytest.approx((1 + 1 + 0) / 3)
    mean = found.repeats.pass_hat(2)
    assert mean is not None
    assert mean.cases == 3
    assert mean.standard_error == pytest.approx(0.2887, abs=1e-4)


def test_cases_with_too_few_trials_are_left_out_and_none_gives_no_number() -> None:
    found = run(case("PPP"), case("F"), case(""))
    assert found.pass_hat(3) == 1.0
    assert found.pass_hat(1) == 0.5
    assert found.pass_hat(4) is None
    assert run().pass_at(1) is None
    with pytest.raises(ValueError, match="expected k >= 1, got 0"):
        found.pass_hat(0)


def test_trial_in_error_is_not_a_pass() -> None:
    assert run(case("PE")).pass_hat(2) == 0.0
    assert run(case("EE")).pass_at(2) == 0.0


@given(st.lists(STRIPS, min_size=1, max_size=20))
def test_repeats_add_up(strips: list[str]) -> None:
    repeats = run(*map(case, strips)).repeats
    assert repeats.cases == len(strips)
    assert repeats.trials == sum(map(len, strips))
    assert repeats.trials_passed == "".join(strips).count("P")
    assert repeats.flaky == sum("P" in strip and "F" in strip for strip in strips)
    assert repeats.most_trials == max(map(len, strips))


def test_means_are_over_the_cases_each_with_the_mean_of_its_trials_that_have_a_score() -> None:
    found = run(case("PP", 1.0, 0.5), case("PE", 0.0, None), case("F", None)).means["match"]
    assert found.value == pytest.approx((0.75 + 0.0) / 2)
    assert (found.cases, found.values) == (2, 3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.375 < found.high


def test_means_stay_when_the_scores_of_the_trials_were_dropped() -> None:
    kept, dropped = case("PPP", 1.0, 0.5, 0.25), case("PPP", 1.0, 0.5, 0.25)
    dropped.metrics["match"].drop_scores()
    other = case("PF", 1.0, 0.0)
    assert run(kept, other).means == run(dropped, other).means
    assert (dropped.metrics["match"].scored, dropped.metrics["match"].met) == (3, 2)


def test_score_that_is_not_a_number_is_left_out_of_the_means() -> None:
    assert run(case("P", float("nan"))).means == {}


def test_each_set_has_its_own() -> None:
    one, other = case("PPF"), case("PP")
    other.eval_set_id = "other"
    repeats = run(one, other).repeats
    assert {name: each.trials for name, each in repeats.by_set.items()} == {"set": 3, "other": 2}
    mean = repeats.by_set["other"].pass_hat(2)
    assert mean is not None
    assert mean.value == 1.0


def test_what_was_skipped_or_not_reached_does_not_count() -> None:
    assert Repeats([CaseResult("set", "a", Outcome.SKIPPED), CaseResult("set", "b", N)]).cases == 0


def test_the_rate_that_single_trials_must_reach() -> None:
    assert TrialRule(0.81, 2).rate == pytest.approx(0.9)
    assert TrialRule(0.9).rate == 0.9


def test_intervals_are_within_what_is_possible() -> None:
    cases = [case("PP", 1.0, 1.0), case("PP", 1.0, 1.0), case("PF", 1.0, 0.0)]
    summary = SetSummary("set", None, "", 3, metrics=["match"], score_ranges={"match": (0.0, 1.0)})
    result = RunResult("agent", cases, sets=[summary])
    for mean in (result.repeats.pass_hat(2), result.repeats.pass_at(1), result.means["match"]):
        assert mean is not None
        assert mean.low is not None
        assert 0.0 <= mean.low < mean.value < 1.0 == mean.high
    unlimited = run(*cases).means["match"]
    assert unlimited.high is not None
    assert unlimited.high > 1.0
    assert set_without_range(result).means["match"] == unlimited


def test_the_interval_of_a_count_is_not_below_0() -> None:
    cases = [case("P", score) for score in (1.0, 100.0)]
    for one in cases:
        one.metrics["token_usage_v1"] = one.metrics.pop("match")
    summary = SetSummary("set", None, "", 2, metrics=["token_usage_v1"])
    mean = RunResult("agent", cases, sets=[summary]).means["token_usage_v1"]
    assert mean.high is not None
    assert mean.low == 0.0
    assert mean.high > 100.0


def set_without_range(result: RunResult) -> RunResult:
    """Return the run with a second set, in which the metric has no range."""
    return RunResult("agent", result.cases, sets=[*result.sets, SetSummary("b", None, "", 0, ["match"])])
