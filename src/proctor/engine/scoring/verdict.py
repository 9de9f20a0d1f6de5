"""The one place where scores become verdicts. Pure: evidence, scores and criteria in, outcomes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.trial_rule import decide_trials, trials_reason
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.repeats import TrialRule
from proctor.schema.results.run_result import MetricVerdict, Outcome, worst
from proctor.schema.results.score import MetricScore, mean, score_text

# Names of this module: looking a member up in its enumeration takes ten times as long, and this runs for every case.
_PASSED, _INFORMATIONAL, _NOT_APPLICABLE = Outcome.PASSED, Outcome.INFORMATIONAL, Outcome.NOT_APPLICABLE
MOST_NUMBERS = 10
"""The most trial numbers that a reason lists."""


@dataclass(slots=True)
class CaseVerdict:
    """What a case's trials mean under its criteria."""

    outcome: Outcome
    reason: str
    metrics: dict[str, MetricVerdict]
    trials: list[Outcome]
    missed: str = ""
    """Of several trials: which was the first that failed, and why."""


def decide(
    metrics: Sequence[BoundMetric],
    scores: Sequence[Sequence[MetricScore] | None],
    failures: Sequence[Failure | None],
    rule: TrialRule | None = None,
) -> CaseVerdict:
    """Decide one case from the scores of its trials (`None` for a trial that failed) and the trials' failures.

    A metric passes when its mean over the trials meets the threshold; one that must hold in every trial, when each
    does. What could not be computed makes an *error*, unless what was computed already makes it *failed*.

    With a `rule` each trial passes or fails by itself, and the case by how many pass (`decide_trials`).
    """
    if rule is None and len(scores) == 1 and (only := scores[0]) is not None and not any(failures):
        outcome, reason, deciding = decide_only(metrics, only)
        return CaseVerdict(outcome, reason, with_reported(metrics, only, deciding), [outcome])
    rows = [
        [
            None if row is None or (failure is not None and not _is_about_user(bound)) else row[i]
            for row, failure in zip(scores, failures, strict=True)
        ]
        for i, bound in enumerate(metrics)
    ]
    verdicts = {bound.name: decide_metric(bound, row, rule) for bound, row in zip(metrics, rows, strict=True)}
    undecided = _undecided_trials(metrics, scores, failures)
    if rule is None and len(scores) == 1:
        outcome = _of_metrics(metrics, verdicts, failures, undecided)
        trials = [outcome]
    else:
        trials = [_of_trial(metrics, *trial) for trial in zip(scores, failures, strict=True)]
        outcome = (
            _of_metrics(metrics, verdicts, failures, undecided)
            if rule is None
            else decide_trials(rule, trials)
        )
    missed = _first_missed(metrics, scores, trials) if len(trials) > 1 else ""
    if outcome is Outcome.PASSED:
        return CaseVerdict(outcome, "", verdicts, trials, missed)
    if rule is not None and (outcome is not Outcome.ERROR or Outcome.ERROR not in trials):
        reason = trials_reason(rule, outcome, trials, missed)
    else:
        reason = _reason(outcome, verdicts.values(), failures, undecided if len(scores) > 1 else ())
    return CaseVerdict(outcome, reason, verdicts, trials, missed)


def decide_only(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore]
) -> tuple[Outcome, str, dict[str, MetricVerdict]]:
    """The same for the only trial of a case: the outcome, the reason and the verdicts of metrics that can decide.

    Those of metrics that are only reported wait for `with_reported`: hardly anybody looks at those of a pass.
    """
    deciding: dict[str, MetricVerdict] = {}
    outcomes: list[Outcome] = []
    for bound, score in zip(metrics, scores):  # noqa: B905 - a score each; `strict` takes longer than a verdict
        if bound.gates:
            verdict = _clear(bound, score, [score])
            if verdict is None:
                verdict = decide_metric(bound, [score])
            deciding[bound.name] = verdict
            if bound.gate and verdict.outcome is not _NOT_APPLICABLE:
                outcomes.append(verdict.outcome)
    outcome = worst(outcomes)
    return outcome, "" if outcome is _PASSED else _reason(outcome, deciding.values(), ()), deciding


def with_reported(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore], deciding: dict[str, MetricVerdict]
) -> dict[str, MetricVerdict]:
    """Return the verdicts of all metrics, in their order: those that are there, and what is only reported."""
    return {
        bound.name: deciding[bound.name] if bound.name in deciding else decide_metric(bound, [score])
        for bound, score in zip(metrics, scores, strict=True)
    }


def _of_metrics(
    metrics: Sequence[BoundMetric],
    verdicts: dict[str, MetricVerdict],
    failures: Sequence[Failure | None],
    undecided: Sequence[int],
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


def _undecided_trials(
    metrics: Sequence[BoundMetric],
    scores: Sequence[Sequence[MetricScore] | None],
    failures: Sequence[Failure | None],
) -> list[int]:
    """The numbers of the trials that were scored, and in which no gating metric applied."""
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


def _of_trial(
    metrics: Sequence[BoundMetric], scores: Sequence[MetricScore] | None, failure: Failure | None
) -> Outcome:
    """A trial that failed, or that its user spoiled, is an error whatever was scored."""
    return Outcome.ERROR if failure is not None else trial_outcome(metrics, scores)


def _is_about_user(bound: BoundMetric) -> bool:
    """Whether a metric judges the played user: it counts where that spoiled a trial, too, and says nothing of the agent."""
    return "scenario" in bound.facts.needs


# --- metrics ---------------------------------------------------------------------------------------------------------


def decide_metric(
    bound: BoundMetric, scores: list[MetricScore | None], rule: TrialRule | None = None
) -> MetricVerdict:
    """Hold one metric's scores of all trials against its criterion; `None` stands for a trial without a score.

    With a `rule` it is held in each trial, and passes when enough of them meet it; where it does not apply, it does
    not stand in the way.
    """
    only = scores[0] if len(scores) == 1 and rule is None else None
    if only is not None and (verdict := _clear(bound, only, scores)) is not None:
        return verdict
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
    elif rule is not None:
        outcome = decide_trials(rule, [_met(bound, score) for score in scores])
    else:
        outcome = _mean_held_against(bound, values, missing)
    average = mean(values) if values else None
    verdict = MetricVerdict(bound.name, outcome, average, bound.threshold, bound.gate, "", scores, failure)
    verdict.reason = _metric_reason(bound, verdict)
    return verdict


def _clear(bound: BoundMetric, only: MetricScore, scores: list[MetricScore | None]) -> MetricVerdict | None:
    """The verdict on the only trial where there is nothing to say about it: a pass, or what decides nothing."""
    if only.failure is not None:
        return None
    value, threshold, name = only.value, bound.threshold, bound.name
    if not bound.gates:
        scored = 0 if value is None else 1
        return MetricVerdict(name, _INFORMATIONAL, value, threshold, False, only.reason, scores, None, scored)
    if value is None:
        return None
    if threshold is None:
        outcome, met = _INFORMATIONAL, 0
    elif value >= threshold:
        outcome, met = _PASSED, 1
    else:
        return None
    return MetricVerdict(name, outcome, value, threshold, bound.gate, only.reason, scores, None, 1, met)


def _met(bound: BoundMetric, score: MetricScore | None) -> Outcome:
    outcome = Outcome.ERROR if score is None else decide_metric_once(bound, score)
    return Outcome.PASSED if outcome is Outcome.NOT_APPLICABLE else outcome


def _mean_held_against(bound: BoundMetric, values: list[float], missing: int) -> Outcome:
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


def _reason(
    outcome: Outcome,
    verdicts: Iterable[MetricVerdict],
    failures: Sequence[Failure | None],
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
    if undecided:
        numbers = ", ".join(map(str, undecided[:MOST_NUMBERS])) + ", …" * (len(undecided) > MOST_NUMBERS)
        return f"no gating metric applied in trial{'s' * (len(undecided) > 1)} {numbers}"
    return "nothing decided this case: no gating metric applied"


def _first_missed(
    metrics: Sequence[BoundMetric], scores: Sequence[Sequence[MetricScore] | None], trials: Sequence[Outcome]
) -> str:
    """Say what the first trial that failed did: which metric missed, by how much and why."""
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
