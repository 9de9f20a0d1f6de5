"""Scores become verdicts here, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import assume, given, strategies as st

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.verdict import CaseVerdict, decide, decide_share, decide_trials
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import Outcome, worst
from proctor.schema.results.score import MetricScore, Score, TrialRule
from proctor.stats.intervals import pass_hat, wilson


class Measure:
    """A metric that is never asked: its scores are given."""

    facts: ClassVar[MetricFacts] = MetricFacts(name="measure", description="")

    def score(self, case: CaseView) -> MetricScore:
        raise AssertionError("not asked here")


class EveryTrial(Measure):
    facts = MetricFacts(name="state", description="", every_trial=True)


class Info(Measure):
    facts = MetricFacts(name="info", description="", gates=False)


def bound(kind: type[Measure] = Measure, threshold: float | None = 0.5, *, gate: bool = True) -> BoundMetric:
    return BoundMetric(kind(), threshold, gate)


def scored(value: float) -> MetricScore:
    return MetricScore(value=value, per_invocation=[Score(value, reason="because")])


BROKEN = MetricScore(failure=Failure(where="metric", type="ValueError", message="boom"))
SILENT = MetricScore(not_applicable=True, reason="no reference")
AGENT_DOWN = Failure(where="agent", type="RuntimeError", message="down", turn=1)


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        pytest.param([1.0], Outcome.PASSED, id="above"),
        pytest.param([0.5], Outcome.PASSED, id="at the threshold"),
        pytest.param([0.499], Outcome.FAILED, id="below"),
        pytest.param([0.0, 1.0], Outcome.PASSED, id="the mean over trials decides"),
        pytest.param([0.0, 0.9], Outcome.FAILED, id="the mean over trials decides, downwards"),
    ],
)
def test_one_metric(values: list[float], outcome: Outcome) -> None:
    verdict = decide([bound()], [[scored(value)] for value in values], [None] * len(values))
    assert verdict.outcome is outcome


@pytest.mark.parametrize("value", [0.1, 0.7, 0.3, 1 / 3, 0.8])
def test_the_mean_of_equal_scores_is_that_score(value: float) -> None:
    verdict = decide([bound(threshold=value)], [[scored(value)]] * 3, [None] * 3)
    assert verdict.metrics["measure"].score == value
    assert verdict.outcome is Outcome.PASSED


def test_a_broken_metric_is_an_error_with_its_cause() -> None:
    verdict = decide([bound()], [[BROKEN]], [None])
    assert verdict.outcome is Outcome.ERROR
    assert "ValueError: boom" in verdict.reason


def test_a_broken_metric_does_not_hide_another_ones_failure() -> None:
    verdict = decide([bound(), bound(EveryTrial)], [[BROKEN, scored(0.0)]], [None])
    assert verdict.outcome is Outcome.FAILED
    assert verdict.metrics["measure"].outcome is Outcome.ERROR


def test_what_only_informs_never_decides() -> None:
    verdict = decide([bound(), bound(Info, None, gate=False)], [[scored(1.0), scored(0.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["info"].outcome is Outcome.INFORMATIONAL


def test_a_metric_without_gate_is_judged_and_does_not_decide() -> None:
    verdict = decide([bound(), bound(EveryTrial, gate=False)], [[scored(1.0), scored(0.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["state"].outcome is Outcome.FAILED


def test_nothing_that_applies_is_an_error_not_a_pass() -> None:
    assert decide([bound()], [[SILENT]], [None]).outcome is Outcome.ERROR
    assert decide([], [[]], [None]).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("rows", "outcome", "trials"),
    [
        pytest.param("P----", Outcome.ERROR, "PEEEE", id="decided in the first trial only"),
        pytest.param("----P", Outcome.ERROR, "EEEEP", id="decided in the last trial only"),
        pytest.param("PP-PP", Outcome.ERROR, "PPEPP", id="undecided in one trial"),
        pytest.param("F----", Outcome.FAILED, "FEEEE", id="failed before error"),
        pytest.param("-----", Outcome.ERROR, "EEEEE", id="decided in no trial"),
        pytest.param("PPPPP", Outcome.PASSED, "PPPPP", id="decided in every trial"),
    ],
)
@pytest.mark.parametrize("is_reported", [False, True], ids=["alone", "with metrics that do not gate"])
def test_a_trial_in_which_no_gating_metric_applied_is_in_error(
    rows: str, outcome: Outcome, trials: str, *, is_reported: bool
) -> None:
    scores = {"P": scored(1.0), "F": scored(0.0), "-": SILENT}
    metrics = [bound(), bound(EveryTrial, gate=False), bound(Info, None, gate=False)][
        : 3 if is_reported else 1
    ]
    found = decide(
        metrics, [[scores[row], scored(1.0), scored(1.0)][: len(metrics)] for row in rows], [None] * 5
    )
    assert found.outcome is outcome
    assert "".join(trial[0].upper() for trial in found.trials) == trials


def test_the_reason_names_the_trials_in_which_no_gating_metric_applied() -> None:
    one = decide([bound()], [[scored(1.0)], [SILENT]], [None] * 2)
    assert one.reason == "no gating metric applied in trial 2"
    several = decide([bound()], [[scored(1.0)], *[[SILENT]] * 12], [None] * 13)
    assert several.reason == "no gating metric applied in trials 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"


def test_a_trial_that_another_metric_decides_is_decided() -> None:
    rows = [[scored(1.0), scored(1.0)], [SILENT, scored(1.0)]]
    assert decide([bound(), bound(EveryTrial)], rows, [None] * 2).outcome is Outcome.PASSED


def test_what_does_not_apply_leaves_the_decision_to_the_others() -> None:
    verdict = decide([bound(), bound(EveryTrial)], [[SILENT, scored(1.0)]], [None])
    assert verdict.outcome is Outcome.PASSED
    assert verdict.metrics["measure"].outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("others", "outcome"),
    [
        pytest.param([1.0, 1.0], Outcome.ERROR, id="the others pass: the case is an error"),
        pytest.param([0.0, 0.0], Outcome.FAILED, id="even a perfect third trial could not save it"),
        pytest.param([0.0, 1.0], Outcome.ERROR, id="it depends on the trial that broke"),
    ],
)
def test_a_trial_in_error(others: list[float], outcome: Outcome) -> None:
    rows: list[list[MetricScore] | None] = [[scored(value)] for value in others]
    verdict = decide([bound()], [*rows, None], [None, None, AGENT_DOWN])
    assert verdict.outcome is outcome
    assert verdict.trials[-1] is Outcome.ERROR


def test_what_must_hold_in_every_trial_fails_with_one() -> None:
    verdict = decide([bound(EveryTrial, 1.0)], [[scored(1.0)], [scored(0.0)], None], [None, None, AGENT_DOWN])
    assert verdict.outcome is Outcome.FAILED


def test_the_reason_names_metric_numbers_and_why() -> None:
    assert decide([bound()], [[scored(0.25)]], [None]).reason == "measure 0.25 < 0.5: because"


def test_the_reason_names_the_turn_where_there_are_several() -> None:
    two = MetricScore(value=0.25, per_invocation=[Score(1.0), Score(0.0, reason="no call")])
    assert decide([bound()], [[two]], [None]).reason == "measure 0.25 < 0.5: turn 2: no call"


def test_the_reason_behind_a_mean_names_the_trial_if_the_trials_differ() -> None:
    def missed(value: float, reason: str) -> list[MetricScore]:
        return [MetricScore(value=value, per_invocation=[Score(value, reason=reason)])]

    mean = "measure 0.7999999999999999 < 0.8"
    differ = [missed(1.0, ""), missed(1.0, ""), missed(0.4, "2 of 5 words")]
    verdict = decide([bound(threshold=0.8)], differ, [None] * 3)
    assert verdict.reason == f"{mean}: trial 3: 2 of 5 words"
    assert verdict.metrics["measure"].reason == "trial 3: 2 of 5 words"
    two = [missed(0.4, "2 of 5 words"), missed(0.2, "1 of 5 words")]
    assert decide([bound()], two, [None] * 2).reason == "measure 0.30 < 0.5: trial 1: 2 of 5 words"
    equal = [missed(0.4, "2 of 5 words")] * 2
    assert decide([bound()], equal, [None] * 2).reason == "measure 0.40 < 0.5: 2 of 5 words"


@given(st.lists(st.sampled_from(Outcome), max_size=8))
def test_only_a_pass_without_anything_worse_is_green(outcomes: list[Outcome]) -> None:
    green = worst(outcomes) is Outcome.PASSED
    worse = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN}
    assert green == (Outcome.PASSED in outcomes and not worse & set(outcomes))


# --- how many trials must pass ---------------------------------------------------------------------------------------

P, F, E, U = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE

RATES = st.floats(0.01, 1)
RULES = st.builds(TrialRule, RATES, st.integers(1, 4)) | st.builds(
    TrialRule, st.floats(0.01, 0.99), st.integers(1, 4), st.floats(0.5, 0.99)
)
TRIALS = st.lists(st.sampled_from([P, F, E]), max_size=30)
JUDGED = st.lists(st.sampled_from([P, F]), min_size=4, max_size=30)


def strip(text: str) -> list[Outcome]:
    """Trials as a strip: P passed, F failed, E in error."""
    return [{"P": P, "F": F, "E": E}[letter] for letter in text]


def under(rule: TrialRule, text: str, *, metrics: Sequence[BoundMetric] | None = None) -> CaseVerdict:
    """The verdict on trials with one metric each; one in error gave nothing to score."""
    rows = [None if letter == "E" else [scored(float(letter == "P"))] for letter in text]
    failures = [AGENT_DOWN if letter == "E" else None for letter in text]
    return decide(metrics or [bound()], rows, failures, rule)


@pytest.mark.parametrize(
    ("rule", "trials", "outcome"),
    [
        pytest.param({"min_pass_rate": 0.8}, "PPPPF", P, id="the share is what is asked for"),
        pytest.param({"min_pass_rate": 0.8}, "PPPFF", F, id="the share is less"),
        pytest.param({"min_pass_rate": 0.7}, "PPPPPPPFFF", P, id="7 of 10 is 0.7, without rounding"),
        pytest.param({}, "PPPPP", P, id="all are asked for"),
        pytest.param({}, "PPPPF", F, id="all are asked for, one fails"),
        pytest.param({"min_pass_rate": 0.5, "pass_k": 2}, "PPPF", P, id="half of all pairs pass"),
        pytest.param({"min_pass_rate": 0.6, "pass_k": 2}, "PPPF", F, id="fewer pairs than asked for"),
        pytest.param({"min_pass_rate": 0.5, "pass_k": 4}, "PPP", E, id="too few trials for so many in a row"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "PPPFP", U, id="the interval holds 0.9"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "P" * 35, P, id="all of it is above"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "P" * 34, U, id="one trial less: not yet"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "FFFFP", F, id="all of it is below"),
        pytest.param({"min_pass_rate": 0.5, "pass_k": 2, "confidence": 0.9}, "P" * 20, P, id="its square is above"),
        pytest.param({"min_pass_rate": 0.5, "pass_k": 9, "confidence": 0.9}, "P" * 20, U, id="its ninth power does not"),
        pytest.param({"min_pass_rate": 0.8}, "PPPPE", E, id="enough pass, but one could not be scored"),
        pytest.param({"min_pass_rate": 0.8}, "PPFFE", F, id="too few, for either result of the one in error"),
        pytest.param({"min_pass_rate": 0.8}, "PPPFE", E, id="it depends on the one in error"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "FFFFFE", F, id="below, for either result of the one in error"),
        pytest.param({"min_pass_rate": 0.9, "confidence": 0.95}, "PPPPPE", E, id="undecided anyway: still an error"),
        pytest.param({"min_pass_rate": 0.1}, "", E, id="no trial: never green by absence"),
    ],
)  # fmt: skip
def test_the_share_of_trials_decides(rule: dict[str, Any], trials: str, outcome: Outcome) -> None:
    assert decide_trials(TrialRule(**rule), strip(trials)) is outcome
    assert under(TrialRule(**rule), trials).outcome is outcome


@given(RULES, TRIALS)
def test_green_only_with_a_pass_and_without_an_error(rule: TrialRule, trials: list[Outcome]) -> None:
    if decide_trials(rule, trials) is P:
        assert P in trials
        assert E not in trials


@given(RULES, TRIALS, st.randoms())
def test_the_order_of_trials_does_not_matter(rule: TrialRule, trials: list[Outcome], random: Any) -> None:
    assert decide_trials(rule, random.sample(trials, len(trials))) is decide_trials(rule, trials)


@given(RULES, JUDGED)
def test_another_trial_that_passes_makes_it_no_worse(rule: TrialRule, trials: list[Outcome]) -> None:
    assume(F in trials)
    better = [*trials]
    better[better.index(F)] = P
    order = [F, U, P]
    assert order.index(decide_trials(rule, better)) >= order.index(decide_trials(rule, trials))


@given(RULES, st.lists(st.sampled_from([P, F]), min_size=1, max_size=30), st.data())
def test_what_a_trial_in_error_hides_never_makes_a_failure_of_a_pass(
    rule: TrialRule, trials: list[Outcome], data: st.DataObject
) -> None:
    """A case that failed in spite of an error fails for either result of that trial."""
    at = data.draw(st.integers(0, len(trials) - 1))
    masked = [*trials[:at], E, *trials[at + 1 :]]
    if decide_trials(rule, masked) is F:
        assert decide_trials(rule, trials) is F
    assert decide_trials(rule, masked) in (F, E)


@given(st.floats(0.01, 0.99), st.floats(0.5, 0.99), st.integers(0, 40), st.integers(1, 40))
def test_interval_decides_only_together_with_the_rate(
    rate: float, confidence: float, passed: int, total: int
) -> None:
    assume(passed <= total)
    low, high = wilson(passed, total, confidence=confidence)
    outcome = decide_share(TrialRule(rate, 1, confidence), passed, total)
    assert (outcome is P) == (low >= rate)
    assert (outcome is F) == (high < rate)


@given(RATES, st.integers(1, 40), st.integers(0, 40), st.integers(1, 40))
def test_so_many_in_a_row_are_the_unbiased_estimate(rate: float, k: int, passed: int, total: int) -> None:
    assume(passed <= total)
    outcome = decide_share(TrialRule(rate, k), passed, total)
    if k > total:
        assert outcome is E
    else:
        assert outcome is (P if pass_hat(passed, total, k) >= rate else F)


@given(RULES, st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, None])] * 2), min_size=4, max_size=12))
def test_no_metric_fails_where_the_case_passes(
    rule: TrialRule, rows: list[tuple[float | None, float | None]]
) -> None:
    scores = [[SILENT if value is None else scored(value) for value in row] for row in rows]
    verdict = decide([bound(), bound(EveryTrial)], scores, [None] * len(rows), rule)
    if verdict.outcome is P:
        assert not {F, E} & {metric.outcome for metric in verdict.metrics.values()}


def test_a_trial_whose_metric_broke_is_in_error() -> None:
    rows = [[scored(1.0)], [BROKEN]]
    verdict = decide([bound()], rows, [None, None], TrialRule(0.5))
    assert (verdict.outcome, verdict.trials) == (E, [P, E])
    assert "ValueError: boom" in verdict.reason


def test_a_trial_in_error_is_not_rescued_by_its_scores() -> None:
    verdict = decide([bound()], [[scored(1.0)]], [AGENT_DOWN], TrialRule(0.5))
    assert (verdict.outcome, verdict.trials) == (E, [E])


def test_what_would_have_to_hold_in_every_trial_has_to_in_enough() -> None:
    verdict = under(TrialRule(0.8), "PPPPF", metrics=[bound(EveryTrial, 1.0)])
    assert verdict.outcome is verdict.metrics["state"].outcome is P


@pytest.mark.parametrize(
    ("rule", "trials", "reason"),
    [
        ({"min_pass_rate": 0.8}, "PFPFP", "3 of 5 trials passed, 0.8 asked for: trial 2: measure 0.00 < 0.5: because"),
        (
            {"min_pass_rate": 0.8, "pass_k": 2}, "PPPPF",
            "pass^2 0.60 (4 of 5 trials passed), 0.8 asked for: trial 5: measure 0.00 < 0.5: because",
        ),
        ({"min_pass_rate": 0.9, "confidence": 0.95}, "PPPFP", "4 of 5 trials passed, 0.9 asked for at 95 %: about 30 more trials"),
        (
            {"min_pass_rate": 0.8, "confidence": 0.9}, "FFFFF",
            "0 of 5 trials passed, 0.8 asked for at 90 %: trial 1: measure 0.00 < 0.5: because",
        ),
        (
            {"min_pass_rate": 0.8, "confidence": 0.95}, "PPPPF",
            "4 of 5 trials passed, 0.8 asked for at 95 %: that is exactly the share so far, and more trials like these would not decide",
        ),
        ({"min_pass_rate": 0.5, "pass_k": 4}, "PPP", "3 of 3 trials passed, and pass^4 requires at least 4 trials"),
        ({"min_pass_rate": 0.8}, "PPPPE", "agent raised in turn 2: RuntimeError: down"),
        ({"min_pass_rate": 0.8}, "PPPPP", ""),
    ],
    ids=["too few", "too few in a row", "undecided", "ruled out", "never", "too short", "error", "passed"],
)  # fmt: skip
def test_reason_names_the_passes_and_the_remedy(rule: dict[str, Any], trials: str, reason: str) -> None:
    assert under(TrialRule(**rule), trials).reason == reason


@pytest.mark.parametrize(
    ("trials", "missed"),
    [
        ("PPP", ""),
        ("F", ""),
        ("PPFPF", "trial 3: measure 0.00 < 0.5: because"),
        ("EFP", "trial 2: measure 0.00 < 0.5: because"),
    ],
)
def test_reason_names_the_first_failed_trial(trials: str, missed: str) -> None:
    rows = [None if letter == "E" else [scored(float(letter == "P"))] for letter in trials]
    failures = [AGENT_DOWN if letter == "E" else None for letter in trials]
    assert decide([bound()], rows, failures).missed == missed


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.99))
def test_without_a_rule_the_mean_decides_as_before(values: list[float], threshold: float) -> None:
    verdict = decide([bound(threshold=threshold)], [[scored(v)] for v in values], [None] * len(values))
    score = verdict.metrics["measure"].score
    assert score is not None
    assert verdict.outcome is (P if score >= threshold else F)
