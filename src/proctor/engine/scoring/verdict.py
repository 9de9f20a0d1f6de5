"""The one place where scores become verdicts. Pure: evidence, scores and criteria in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from proctor.common.safe_text import count_text
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.run_result import MetricVerdict, worst
from proctor.schema.results.score import (
    CONFIDENCE,
    MetricScore,
    Outcome,
    TrialRule,
    counted_values,
    mean,
    score_text,
)
from proctor.stats.intervals import more_trials, pass_hat, wilson
from proctor.stats.sequential import FUTILE, ShareBounds, share_bounds

MOST_NUMBERS = 10
"""The most trial numbers that a reason lists."""


# Of each trial of a case: its scores, or `None` if it failed; its failure, or `None` without one
TrialScores = Sequence[Sequence[MetricScore] | None]
Failures = Sequence[Failure | None]


@dataclass(slots=True)
class CaseVerdict:
    """The verdict on one case."""

    outcome: Outcome
    reason: str
    metrics: dict[str, MetricVerdict]
    trials: list[Outcome]
    missed: str = ""
    """The first of several trials that failed, and why."""


def decide(
    metrics: Sequence[BoundMetric], scores: TrialScores, failures: Failures, rule: TrialRule | None = None
) -> CaseVerdict:
    """Decide one case from the scores of its trials (`None` for a trial that failed) and the trials' failures.

    A metric passes if its mean over the trials meets the threshold; a metric that must hold in every trial, if each
    trial meets it. If something cannot be computed, the case is an *error*, unless the rest already makes it *failed*.

    With a `rule` each trial passes or fails by itself, and the case by how many pass (`decide_trials`).
    """
    rows = _scores_by_metric(metrics, scores, failures)
    verdicts = {bound.name: decide_metric(bound, row, rule) for bound, row in zip(metrics, rows, strict=True)}
    undecided = _undecided_trials(metrics, scores, failures)
    trials = [_trial_outcome_or_error(metrics, *trial) for trial in zip(scores, failures, strict=True)]
    if rule is not None:
        outcome = decide_trials(rule, trials)
    else:
        outcome = _outcome_of_metrics(metrics, verdicts, failures, undecided)
        if len(trials) == 1:
            trials = [outcome]
    missed = _first_failed_trial(metrics, scores, trials)
    if outcome is Outcome.PASSED:
        reason = ""
    elif rule is None or (outcome is Outcome.ERROR and Outcome.ERROR in trials):
        reason = _reason(outcome, verdicts.values(), failures, undecided)
    else:
        reason = trials_reason(rule, outcome, trials, missed)
    return CaseVerdict(outcome, reason, verdicts, trials, missed)


def _scores_by_metric(
    metrics: Sequence[BoundMetric], scores: TrialScores, failures: Failures
) -> Iterator[list[MetricScore | None]]:
    """Yield the scores of each metric in all trials; of a trial that failed, only those about the simulated user."""
    for i, bound in enumerate(metrics):
        yield [
            None if row is None or (failure is not None and not _is_about_user(bound)) else row[i]
            for row, failure in zip(scores, failures, strict=True)
        ]


def _outcome_of_metrics(
    metrics: Sequence[BoundMetric],
    verdicts: dict[str, MetricVerdict],
    failures: Failures,
    undecided: list[int],
) -> Outcome:
    deciding = [
        verdict.outcome
        for bound, verdict in zip(metrics, verdicts.values(), strict=True)
        if bound.gate
        and verdict.outcome is not Outcome.NOT_APPLICABLE
        and not (any(failures) and _is_about_user(bound))
    ]
    if undecided or any(failures):
        deciding.append(Outcome.ERROR)
    return worst(deciding)


def _undecided_trials(metrics: Sequence[BoundMetric], scores: TrialScores, failures: Failures) -> list[int]:
    """Return the numbers of the scored trials in which no gating metric applied."""
    return [
        number
        for number, (row, failure) in enumerate(zip(scores, failures, strict=True), 1)
        if row is not None and failure is None and not _applies(metrics, row)
    ]


def _applies(metrics: Sequence[BoundMetric], row: Sequence[MetricScore]) -> bool:
    """Whether any gating metric gave a score or a failure in this trial."""
    return any(
        bound.gate and (score.value is not None or score.failure is not None)
        for bound, score in zip(metrics, row, strict=True)
    )


def _trial_outcome_or_error(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore] | None, failure: Failure | None
) -> Outcome:
    return Outcome.ERROR if failure is not None else trial_outcome(metrics, scores)


def _is_about_user(bound: BoundMetric) -> bool:
    """Whether a metric scores the simulated user, not the agent; it counts even if the user spoiled the trial."""
    return "scenario" in bound.facts.needs


# --- metrics ---------------------------------------------------------------------------------------------------------


def decide_metric(
    bound: BoundMetric, scores: list[MetricScore | None], rule: TrialRule | None = None
) -> MetricVerdict:
    """Decide one metric from its scores of all trials; `None` for a trial without a score.

    With a `rule` each trial is decided, and the metric passes if enough trials meet it; a trial in which it does not
    apply counts as met.
    """
    values, missing, failure = _values_of(scores)
    if bound.gates:
        outcome = _gating_outcome(bound, scores, values, missing, rule)
    else:
        outcome = Outcome.ERROR if failure else Outcome.INFORMATIONAL
    average = mean(counted_values(values, bound.name)) if values else None
    verdict = MetricVerdict(bound.name, outcome, average, bound.threshold, bound.gate, "", scores, failure)
    verdict.reason = _metric_reason(bound, verdict)
    return verdict


def _values_of(scores: Iterable[MetricScore | None]) -> tuple[list[float], int, Failure | None]:
    """Return the values of a metric, the number of trials without a score, and the first failure."""
    values: list[float] = []
    missing = 0
    failure: Failure | None = None
    for score in scores:
        if score is None or score.failure is not None:
            missing += 1
            failure = failure or (score.failure if score is not None else None)
        elif score.value is not None:
            values.append(score.value)
    return values, missing, failure


def _gating_outcome(
    bound: BoundMetric,
    scores: Sequence[MetricScore | None],
    values: list[float],
    missing: int,
    rule: TrialRule | None,
) -> Outcome:
    """Return the outcome of a metric that can decide; `missing`: the number of trials without a score."""
    if not values and not missing:
        return Outcome.NOT_APPLICABLE
    if rule is not None:
        return decide_trials(rule, [_outcome_of_trial(bound, score) for score in scores])
    return _decide_mean(bound, values, missing)


def _outcome_of_trial(bound: BoundMetric, score: MetricScore | None) -> Outcome:
    outcome = Outcome.ERROR if score is None else decide_metric_once(bound, score)
    return Outcome.PASSED if outcome is Outcome.NOT_APPLICABLE else outcome


def _decide_mean(bound: BoundMetric, values: list[float], missing: int) -> Outcome:
    threshold = bound.threshold
    if threshold is None:
        return Outcome.ERROR
    if bound.facts.every_trial and any(value < threshold for value in values):
        return Outcome.FAILED
    if not missing:
        return Outcome.PASSED if mean(values) >= threshold else Outcome.FAILED
    best = bound.facts.maximum
    if values and best is not None and mean([*values, *[best] * missing]) < threshold:
        return Outcome.FAILED  # even perfect scores in the missing trials would not reach the threshold
    return Outcome.ERROR


def trial_outcome(metrics: Sequence[BoundMetric], scores: Sequence[MetricScore] | None) -> Outcome:
    """Return the outcome of one trial by itself; `scores` is `None` for a trial that failed."""
    if scores is None:
        return Outcome.ERROR
    outcomes = {decide_metric_once(m, s) for m, s in zip(metrics, scores, strict=True) if m.gate}
    outcomes.discard(Outcome.NOT_APPLICABLE)
    return worst(outcomes)


def decide_metric_once(bound: BoundMetric, score: MetricScore) -> Outcome:
    """Decide one trial's score."""
    if score.failure is not None:
        return Outcome.ERROR
    if score.value is None:
        return Outcome.NOT_APPLICABLE
    if bound.threshold is None:
        return Outcome.INFORMATIONAL
    return Outcome.PASSED if score.value >= bound.threshold else Outcome.FAILED


def _metric_reason(bound: BoundMetric, verdict: MetricVerdict) -> str:
    """Return the reason in one sentence: the failure, the first invocation that missed, or the metric's own reason.

    If the trials differ, the reason begins with the number of the trial that it is about: the score is a mean over all.
    """
    if verdict.failure is not None and verdict.outcome is Outcome.ERROR:
        return verdict.failure.cause
    reasons = ["" if scored is None else scored.reason for scored in verdict.per_trial]
    if verdict.outcome is Outcome.FAILED:
        misses = ["" if scored is None else _first_miss(bound, scored) for scored in verdict.per_trial]
        reasons = misses if any(misses) else reasons
    place = next((place for place, reason in enumerate(reasons) if reason), None)
    if place is None:
        return ""
    return reasons[place] if len(set(reasons)) == 1 else f"trial {place + 1}: {reasons[place]}"


def _first_miss(bound: BoundMetric, scored: MetricScore) -> str:
    turns = len(scored.per_invocation)
    for index, score in enumerate(scored.per_invocation):
        if bound.is_missed_by(score):
            place = f"turn {index + 1}: " if turns > 1 else ""
            return place + score.reason if score.reason else ""
    return scored.reason if bound.is_missed_by(scored) else ""


def _reason(
    outcome: Outcome,
    verdicts: Iterable[MetricVerdict],
    failures: Failures,
    undecided: Sequence[int] = (),
) -> str:
    if outcome is Outcome.ERROR:
        failure = next((failure for failure in failures if failure), None)
        if failure is not None:
            return failure.cause
    for verdict in verdicts:
        if verdict.gate and verdict.outcome is outcome:
            why = f": {verdict.reason}" if verdict.reason else ""
            return f"{verdict.name}{_shortfall(verdict)}{why}"
    return _undecided_reason(undecided if len(failures) > 1 else ())


def _undecided_reason(undecided: Sequence[int]) -> str:
    """Name those of several trials in which no gating metric applied."""
    if not undecided:
        return "nothing decided this case: no gating metric applied"
    numbers = ", ".join(map(str, undecided[:MOST_NUMBERS])) + ", …" * (len(undecided) > MOST_NUMBERS)
    return f"no gating metric applied in trial{'s' * (len(undecided) > 1)} {numbers}"


def _first_failed_trial(
    metrics: Sequence[BoundMetric], scores: TrialScores, trials: Sequence[Outcome]
) -> str:
    """Describe the first of several trials that failed: which metric missed, by how much and why."""
    if len(trials) == 1:
        return ""
    for number, (row, trial) in enumerate(zip(scores, trials, strict=True), 1):
        if row is None or trial is not Outcome.FAILED:
            continue
        for bound, score in zip(metrics, row, strict=True):
            if bound.gate and decide_metric_once(bound, score) is Outcome.FAILED:
                why = _first_miss(bound, score)
                short = f"{score_text(score.value, bound.threshold)} < {bound.threshold:g}"
                return f"trial {number}: {bound.name} {short}{': ' if why else ''}{why}"
    return ""


def _shortfall(verdict: MetricVerdict) -> str:
    if verdict.outcome is not Outcome.FAILED or verdict.score is None or verdict.threshold is None:
        return ""
    return f" {score_text(verdict.score, verdict.threshold)} < {verdict.threshold:g}"


# --- The share of a case's trials that must pass (a config's `trials`) ------------------------------------------------


def decide_trials(rule: TrialRule, trials: Sequence[Outcome]) -> Outcome:
    """Decide from the outcomes of the trials whether enough of them pass.

    If trials are neither passed nor failed, the case is an *error*, unless it fails even if all of these had passed.
    A case without trials is an *error*, too.
    """
    passed = sum(trial is Outcome.PASSED for trial in trials)
    unknown = len(trials) - passed - sum(trial is Outcome.FAILED for trial in trials)
    if rule.at_most is not None:
        return _decide_added_trials(rule, trials, is_all_known=not unknown)
    if not unknown:
        return decide_share(rule, passed, len(trials))
    best = decide_share(rule, passed + unknown, len(trials))
    return Outcome.FAILED if best is Outcome.FAILED else Outcome.ERROR


_SIDES = {-1: Outcome.FAILED, 0: Outcome.INCONCLUSIVE, 1: Outcome.PASSED}


def _decide_added_trials(rule: TrialRule, trials: Sequence[Outcome], *, is_all_known: bool) -> Outcome:
    """Decide a case to which trials were added until it was decided: the first decision counts, not later trials."""
    bounds = bounds_of(rule)
    side, count = bounds.decided(trial is not Outcome.FAILED for trial in trials)
    if is_all_known or side < 0:
        return _SIDES[side] if trials else Outcome.ERROR
    known = all(trial in (Outcome.PASSED, Outcome.FAILED) for trial in trials[:count])
    return _SIDES[side] if known and side else Outcome.ERROR


def bounds_of(rule: TrialRule) -> ShareBounds:
    """Return the sequential bounds of a rule that adds trials."""
    return share_bounds(rule.rate, rule.at_most or 1, rule.confidence or CONFIDENCE)


def decide_share(rule: TrialRule, passed: int, total: int) -> Outcome:
    """Decide whether `passed` of `total` trials meet `rule`; too few trials for the rule are an *error*.

    Without a confidence the unbiased estimate decides (pass^k, which is the share for k = 1). With a confidence the
    Wilson interval of the share decides, raised to the power k: passed if all of it reaches the required rate, failed
    if none of it does, otherwise inconclusive.
    """
    if total < 1 or (rule.confidence is None and total < rule.pass_k):
        return Outcome.ERROR
    if rule.confidence is None:
        enough = pass_hat(passed, total, rule.pass_k) >= rule.min_pass_rate
        return Outcome.PASSED if enough else Outcome.FAILED
    low, high = wilson(passed, total, confidence=rule.confidence)
    if low >= rule.rate:
        return Outcome.PASSED
    return Outcome.FAILED if high < rule.rate else Outcome.INCONCLUSIVE


def trials_reason(rule: TrialRule, outcome: Outcome, trials: Sequence[Outcome], missed: str) -> str:
    """Return a sentence: how many trials passed, how many are required, and why that fails or does not decide."""
    passed, total = sum(trial is Outcome.PASSED for trial in trials), len(trials)
    observed, requirement = f"{passed:,} of {total:,} trials passed", f"{rule.min_pass_rate:g} asked for"
    if outcome is Outcome.ERROR:
        return f"{observed}, and pass^{rule.pass_k} requires at least {rule.pass_k} trials"
    if rule.pass_k > 1:
        if rule.confidence is None:
            observed = f"pass^{rule.pass_k} {pass_hat(passed, total, rule.pass_k):.2f} ({observed})"
        else:
            requirement = f"pass^{rule.pass_k} {requirement}"
    if rule.confidence is not None:
        requirement += f" at {100 * rule.confidence:g} %"
    if outcome is Outcome.INCONCLUSIVE:
        return f"{observed}, {requirement}: {_how_many_more(rule, passed, total)}"
    return f"{observed}, {requirement}{': ' if missed else ''}{missed}"


def _how_many_more(rule: TrialRule, passed: int, total: int) -> str:
    if rule.at_most is not None:
        return _left_over(rule, passed, total, rule.at_most - total)
    more = more_trials(passed, total, rule.rate, confidence=rule.confidence or 0.0)
    if more is None:
        return "that is exactly the share so far, and more trials like these would not decide"
    return f"about {_round_up(more):,} more {'trial' if more == 1 else 'trials'}"


def _left_over(rule: TrialRule, passed: int, total: int, left: int) -> str:
    """Explain why no further trial was added."""
    if left <= 0:
        return f"not decided within {total:,} trials"
    if bounds_of(rule).more(passed, total):  # scored again with other criteria
        return f"undecided, and up to {count_text(left, 'more trial')} could be made"
    what = "the 1 trial that is" if left == 1 else f"the {left:,} trials that are"
    return f"undecided, and {what} left would hardly decide it (a chance below {FUTILE:.0%})".replace(
        "%", " %"
    )


def _round_up(number: int) -> int:
    """Round a forecast up to two significant digits."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
