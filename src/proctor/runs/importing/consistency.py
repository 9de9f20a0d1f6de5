"""Consistency checks for imported results: a file that was cut, joined or edited never yields a better result than the original.

A verdict follows from the recorded scores, so it can be computed again without any metric. Proctor's own formats also record
the number of cases and trials. If these do not agree, the case or the run is an *error* with that reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from proctor.common.safe_text import count_text
from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.scoring.verdict import CaseVerdict, decide
from proctor.files.results.report_format import RecordedCase, RecordedRun
from proctor.metrics.base import CaseView, MetricFacts
from proctor.schema.evidence.trial import Failure, FailureKind
from proctor.schema.results.run_result import CaseResult, MetricVerdict, TrialResult
from proctor.schema.results.score import MetricScore, Outcome, worst

_WITHOUT_VERDICT = {Outcome.NOT_RUN, Outcome.SKIPPED}


def check_consistency(recorded: RecordedRun) -> RecordedRun:
    """Return a run whose cases are checked against their scores, and, after the last case, against the totals of the file.

    google-adk's own files do not record how a verdict was reached. Their verdicts are kept, unless a score is below its threshold.
    """
    return replace(recorded, cases=lambda: _check_cases(recorded))


def _check_cases(recorded: RecordedRun) -> Iterator[RecordedCase]:
    counts: Counter[Outcome] = Counter()
    for case in recorded.cases():
        counts[case.result.outcome] += 1
        if case.trials is None:
            recorded.head.warnings += _fail_below_threshold(case.result)
        else:
            reached = _recompute_verdict(case.result)
            if reason := _contradiction(case, reached):
                _make_error(case.result, reason, reached)
        yield case
    if (reason := _totals_problem(recorded, counts)) and recorded.head.failure is None:
        recorded.head.failure = Failure(where="file", kind=FailureKind.UNUSABLE_ANSWER, message=reason)


def _make_error(case: CaseResult, reason: str, reached: CaseVerdict | None) -> None:
    """Make a case an error, unless its recorded outcome or its scores already make it failed."""
    case.outcome = worst([case.outcome, Outcome.ERROR, *([reached.outcome] if reached else [])])
    case.reason = (
        f"the file contradicts itself: {reason}{f'; its own reason: {case.reason}' if case.reason else ''}"
    )


def _fail_below_threshold(case: CaseResult) -> list[str]:
    """Fail metrics that google-adk's file records as passed with a score below the threshold; return a warning for each."""
    warnings = []
    for metric in _gating(case):
        if metric.outcome is Outcome.PASSED and _is_below(metric.score, metric.threshold):
            metric.outcome = Outcome.FAILED
            warnings.append(
                f"{case.eval_set_id}/{case.eval_id}: {metric.name} is recorded as passed, and its score {metric.score:g} is "
                f"below its threshold {metric.threshold:g}: imported as failed"
            )
        for index, score in enumerate(metric.per_trial[: len(case.trials)]):
            trial = case.trials[index]
            if (
                score is not None
                and _is_below(score.value, metric.threshold)
                and trial.outcome is Outcome.PASSED
            ):
                trial.outcome = Outcome.FAILED
    if warnings and case.outcome is Outcome.PASSED:
        case.outcome, case.reason = Outcome.FAILED, case.reason or warnings[0].partition(": ")[2]
    return warnings


def _is_below(score: float | None, threshold: float | None) -> bool:
    return score is not None and threshold is not None and score < threshold


# --- the run --------------------------------------------------------------------------------------------------------------


def _totals_problem(recorded: RecordedRun, counts: Counter[Outcome]) -> str:
    """Return what the file lacks, or has too much of; empty if it is complete."""
    totals, head = recorded.totals, recorded.head
    if totals is None:
        return ""
    was, is_now = sum(totals.counts.values()), counts.total()
    how = "it was cut, filtered or joined with another"
    if was != is_now:
        return f"the file is not what was written: the run had {count_text(was, 'case')}, and here {_are(is_now)} ({how})"
    if {outcome: count for outcome, count in totals.counts.items() if count} != dict(counts):
        return f"the file is not what was written: it had {_counts_text(totals.counts)}, and has {_counts_text(counts)} ({how}, or edited)"
    expected = head.outcome_for(counts)
    if expected is not totals.outcome:
        return f"the file is not what was written: the run was {totals.outcome}, and what is here makes it {expected} ({how})"
    return (
        f"the file is not what was written: {recorded.contradictions[0]}" if recorded.contradictions else ""
    )


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count:,}"


def _counts_text(counts: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()) if count)


# --- a case ---------------------------------------------------------------------------------------------------------------


def _contradiction(case: RecordedCase, reached: CaseVerdict | None) -> str:
    """Return how a case's verdict contradicts the recorded data; empty if it does not."""
    result = case.result
    if case.contradiction:
        return case.contradiction
    if case.trials is not None and len(result.trials) != case.trials:
        return f"{len(result.trials)} of its {case.trials} trials are in it"
    if result.outcome in _WITHOUT_VERDICT:
        return (
            "it was skipped, and has scores" if result.outcome is Outcome.SKIPPED and result.metrics else ""
        )
    if not result.trials:
        return f"it is {result.outcome} without a trial"
    trials_passed = result.trials_passed
    reason = _failure_contradiction(result) if reached is None else next(_milder(result, reached), "")
    if case.passed is not None and case.passed != trials_passed:
        return reason or f"{case.passed} of its trials passed, and {trials_passed} are there as passed"
    return reason


def _recompute_verdict(case: CaseResult) -> CaseVerdict | None:
    """Compute the verdict again from the scores of each trial; `None` if no metric decides."""
    gating = _gating(case)
    if not gating or not case.trials or case.outcome is Outcome.NOT_RUN:
        return None
    metrics = [_bind_metric(metric.name, metric.threshold) for metric in gating]
    columns = [_scores(metric, len(case.trials)) for metric in gating]
    rows = [
        None
        if trial.failure is not None
        else [_NO_SCORE if (score := column[index]) is None else score for column in columns]
        for index, trial in enumerate(case.trials)
    ]
    return decide(metrics, rows, [trial.failure for trial in case.trials], case.rule)


def _gating(case: CaseResult) -> list[MetricVerdict]:
    return [metric for metric in case.metrics.values() if metric.gate]


def _milder(case: CaseResult, reached: CaseVerdict) -> Iterator[str]:
    """Yield the recorded outcomes that are better than the scores allow. All of them become errors before the first is yielded.

    A recorded verdict may be stricter: some metrics must hold in every trial, and the file does not record which.
    """
    pairs: list[tuple[str, MetricVerdict | TrialResult, Outcome]] = [
        *((metric.name, metric, reached.metrics[metric.name].outcome) for metric in _gating(case)),
        *((f"trial {t.number + 1}", t, o) for t, o in zip(case.trials, reached.trials, strict=True)),
    ]
    reasons = [_made_error(*pair) for pair in pairs if _is_milder(pair[1].outcome, pair[2])]
    if _is_milder(case.outcome, reached.outcome):
        reasons.append(f"it is recorded as {case.outcome}, and its scores make it {reached.outcome}")
    return iter(reasons)


def _made_error(name: str, recorded: MetricVerdict | TrialResult, reached: Outcome) -> str:
    reason = f"{name} is recorded as {recorded.outcome}, and its scores make it {reached}"
    recorded.outcome = Outcome.ERROR
    return reason


def _failure_contradiction(case: CaseResult) -> str:
    """Return the contradiction in a case without deciding metrics, of which only the failures are known."""
    broken = any(trial.failure is not None or trial.outcome is Outcome.ERROR for trial in case.trials)
    return f"it is {case.outcome}, and a trial of it is an error" if broken and case.passed else ""


def _is_milder(recorded: Outcome, reached: Outcome) -> bool:
    return reached is not Outcome.NOT_APPLICABLE and worst([recorded, reached]) is not recorded


def _scores(metric: MetricVerdict, trials: int) -> list[MetricScore | None]:
    """Return the score of each trial; if none was recorded, the mean replaces each."""
    scores = list(metric.per_trial)
    if metric.score is not None and all(one is None for one in scores):
        return [MetricScore(metric.score)] * trials
    return scores + [None] * (trials - len(scores))


_NO_SCORE = MetricScore(failure=Failure(where="metric", message="no score was recorded"))


@lru_cache(maxsize=1000)
def _bind_metric(name: str, threshold: float | None) -> BoundMetric:
    facts = MetricFacts(name=name, description="as recorded", maximum=None)
    return BoundMetric(_AsRecorded(facts), threshold, gate=True)


@dataclass(frozen=True, slots=True)
class _AsRecorded:
    """A metric of which only the scores are known."""

    facts: MetricFacts

    async def score(self, case: CaseView) -> MetricScore:
        raise NotImplementedError(case.eval_id)
