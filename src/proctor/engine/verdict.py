"""The one place where scores become verdicts. Pure: evidence, scores and criteria in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.engine.criteria import BoundMetric
from proctor.schema.score import MetricScore, mean, score_text
from proctor.schema.trial import Failure
from proctor.schema.verdict import MetricVerdict, Outcome, worst


@dataclass(slots=True)
class CaseVerdict:
    """What a case's trials mean under its criteria."""

    outcome: Outcome
    reason: str
    metrics: dict[str, MetricVerdict]
    trials: list[Outcome]


def decide(
    metrics: Sequence[BoundMetric],
    scores: Sequence[Sequence[MetricScore] | None],
    failures: Sequence[Failure | None],
) -> CaseVerdict:
    """Decide one case from the scores of its trials (`None` for a trial that failed) and the trials' failures.

    A metric passes when its mean over the trials meets the threshold; one that must hold in every trial, when each
    does. What could not be computed makes an *error*, unless what was computed already makes it *failed*.
    """
    verdicts: dict[str, MetricVerdict] = {}
    deciding: list[Outcome] = []
    for i, bound in enumerate(metrics):
        verdict = decide_metric(bound, [None if row is None else row[i] for row in scores])
        verdicts[bound.name] = verdict
        if bound.gate and verdict.outcome is not Outcome.NOT_APPLICABLE:
            deciding.append(verdict.outcome)
    if any(failures):
        deciding.append(Outcome.ERROR)
    outcome = worst(deciding)
    reason = "" if outcome is Outcome.PASSED else _reason(outcome, verdicts.values(), failures)
    trials = [outcome] if len(scores) == 1 else [trial_outcome(metrics, row) for row in scores]
    return CaseVerdict(outcome, reason, verdicts, trials)


def decide_metric(bound: BoundMetric, scores: list[MetricScore | None]) -> MetricVerdict:
    """Hold one metric's scores of all trials against its criterion; `None` stands for a trial without a score."""
    if (
        len(scores) == 1 and (only := scores[0]) is not None and only.failure is None
    ):  # the usual case, and the fast one
        outcome = decide_metric_once(bound, only) if bound.gates else Outcome.INFORMATIONAL
        if outcome is Outcome.PASSED or outcome is Outcome.INFORMATIONAL:
            return MetricVerdict(
                bound.name, outcome, only.value, bound.threshold, bound.gate, only.reason, scores
            )
    values: list[float] = []
    missing = 0
    failure: Failure | None = None
    for score in scores:
        if score is None or score.failure is not None:
            missing += 1
            failure = failure or (score.failure if score is not None else None)
        elif score.value is not None:
            values.append(score.value)
    if not bound.gates:
        outcome = Outcome.ERROR if failure else Outcome.INFORMATIONAL
    elif not values and not missing:
        outcome = Outcome.NOT_APPLICABLE
    else:
        outcome = _held_against(bound, values, missing)
    average = mean(values) if values else None
    verdict = MetricVerdict(bound.name, outcome, average, bound.threshold, bound.gate, "", scores, failure)
    verdict.reason = _metric_reason(bound, verdict)
    return verdict


def _held_against(bound: BoundMetric, values: list[float], missing: int) -> Outcome:
    threshold = bound.threshold
    if threshold is None:
        return Outcome.ERROR
    if bound.facts.every_trial and any(value < threshold for value in values):
        return Outcome.FAILED
    if not missing:
        return Outcome.PASSED if mean(values) >= threshold else Outcome.FAILED
    best = bound.facts.maximum
    if values and best is not None and mean([*values, *[best] * missing]) < threshold:
        return Outcome.FAILED  # even perfect scores for what is missing could not save it
    return Outcome.ERROR


def trial_outcome(metrics: Sequence[BoundMetric], scores: Sequence[MetricScore] | None) -> Outcome:
    """The outcome of one trial by itself; `None`: it gave nothing to score."""
    if scores is None:
        return Outcome.ERROR
    found = {decide_metric_once(m, s) for m, s in zip(metrics, scores, strict=True) if m.gate}
    found.discard(Outcome.NOT_APPLICABLE)
    return worst(found)


def decide_metric_once(bound: BoundMetric, score: MetricScore) -> Outcome:
    """Hold one trial's score against the criterion."""
    if score.failure is not None:
        return Outcome.ERROR
    if score.value is None:
        return Outcome.NOT_APPLICABLE
    if bound.threshold is None:
        return Outcome.INFORMATIONAL
    return Outcome.PASSED if score.value >= bound.threshold else Outcome.FAILED


def _metric_reason(bound: BoundMetric, verdict: MetricVerdict) -> str:
    """Say in one sentence why: the failure, or the first invocation that missed, or what the metric says."""
    if verdict.failure is not None and verdict.outcome is Outcome.ERROR:
        return verdict.failure.cause
    if verdict.outcome is Outcome.FAILED:
        for scored in verdict.per_trial:
            if scored is not None and (sentence := _first_miss(bound, scored)):
                return sentence
    for scored in verdict.per_trial:
        if scored is not None and scored.reason:
            return scored.reason
    return ""


def _first_miss(bound: BoundMetric, scored: MetricScore) -> str:
    turns = len(scored.per_invocation)
    for index, score in enumerate(scored.per_invocation):
        if score.value is not None and bound.threshold is not None and score.value < bound.threshold:
            place = f"turn {index + 1}: " if turns > 1 else ""
            return place + score.reason if score.reason else ""
    missed = scored.value is not None and bound.threshold is not None and scored.value < bound.threshold
    return scored.reason if missed else ""


def _reason(outcome: Outcome, verdicts: Iterable[MetricVerdict], failures: Sequence[Failure | None]) -> str:
    if outcome is Outcome.ERROR:
        failure = next((failure for failure in failures if failure), None)
        if failure is not None:
            return failure.cause
    for verdict in verdicts:
        if verdict.gate and verdict.outcome is outcome:
            why = f": {verdict.reason}" if verdict.reason else ""
            return f"{verdict.name}{_shortfall(verdict)}{why}"
    return "nothing decided this case: no gating metric applied"


def _shortfall(verdict: MetricVerdict) -> str:
    if verdict.outcome is not Outcome.FAILED or verdict.score is None or verdict.threshold is None:
        return ""
    return f" {score_text(verdict.score, verdict.threshold)} < {verdict.threshold:g}"
