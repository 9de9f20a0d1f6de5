"""The data about one case of a run: every trial, every score, the earlier scorings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proctor.common.safe_text import count_text
from proctor.reports.content.summary import duration
from proctor.reports.evidence.simulated_users import simulator_name
from proctor.schema.evidence.trial import Trial, simulator_failure
from proctor.schema.format.case import ConversationScenario
from proctor.schema.results.case_result import ScoreRanges
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score


@dataclass(frozen=True, slots=True)
class CaseScoring:
    """The result of a case in one scoring of its run."""

    number: int
    created_at: float
    criteria: str
    """The source of the criteria."""
    case: CaseResult


@dataclass(frozen=True, slots=True)
class StoredCase:
    """The data that a report shows of one case."""

    run_id: str
    short: str
    """The beginning of the run's id that no other run shares."""
    agent: str
    began: float
    case: CaseResult
    """The result in the scoring that is shown."""
    scoring: int
    history: Sequence[CaseScoring] = ()
    """All scorings, in order."""
    trials: Sequence[int] = ()
    """The numbers of the trials to show, from 0; empty: all."""
    badges: Mapping[str, str] = field(default_factory=dict)
    """The calibration of its judges by metric, if they were calibrated."""
    ranges: ScoreRanges = field(default_factory=dict)
    earlier: Mapping[int, Sequence[Trial]] = field(default_factory=dict)
    """Earlier attempts at each trial, by its number (see `proctor resume --retry-errors`)."""
    scenario: ConversationScenario | None = None
    """The scenario of the simulated user; `None` if the conversation is recorded."""

    def shown(self) -> Iterator[TrialView]:
        """Return the trials to show, one at a time."""
        for place, result in enumerate(self.case.trials):
            if not self.trials or result.number in self.trials:
                yield replace(view_trial(self.case, place), earlier=self.earlier.get(result.number, ()))


@dataclass(frozen=True, slots=True)
class TrialView:
    """The data that a report shows of one trial."""

    number: int
    alone: CaseResult
    """The case as if this were its only trial."""
    trial: Trial | None
    """Its evidence; `None` when it was not kept."""
    earlier: Sequence[Trial] = ()
    """Its attempts before the last one."""

    def attempts(self) -> list[str]:
        """Return one line for each earlier attempt."""
        return attempt_lines(self.earlier)

    def facts(self, *, timed: bool = True) -> list[str]:
        """Return the turns, tokens and retries of the trial, and its duration if `timed`."""
        if self.trial is None:
            return ["its evidence was not kept"]
        turns, tokens, retries = len(self.trial.turns), _tokens(self.trial), len(self.trial.attempts)
        texts = [
            duration(self.trial.duration) if timed and self.trial.duration else "",
            count_text(turns, "turn"),
            f"{tokens:,} tokens" if tokens else "",
            f"tried {retries + 1} times" if retries else "",
            simulator_name(self.trial),
        ]
        return [text for text in texts if text]


def attempt_lines(earlier: Sequence[Trial]) -> list[str]:
    """Return one line for each attempt before the last one."""
    return [
        f"attempt {number} of {len(earlier) + 1}: {_retry_reason(trial)}"
        for number, trial in enumerate(earlier, 1)
    ]


def _retry_reason(trial: Trial) -> str:
    if trial.failure is not None:
        return trial.failure.cause
    return (
        simulator_failure(trial.played_user.faults).cause if trial.played_user is not None else "no failure"
    )


def _tokens(trial: Trial) -> int:
    events = (event for turn in trial.turns for event in turn.events)
    return sum(event.usage_metadata.tokens or 0 for event in events if event.usage_metadata)


def view_trial(case: CaseResult, place: int) -> TrialView:
    """Return the data about the trial at `place` of a case, as if it were the only one."""
    result = case.trials[place]
    trial = result.trial
    return TrialView(result.number, case_of_trial(case, place, trial), trial)


def case_of_trial(case: CaseResult, place: int, trial: Trial | None = None) -> CaseResult:
    """Return a case as if its trial at `place` were the only one; `trial` is its evidence, if needed."""
    result = case.trials[place]
    return replace(
        case,
        outcome=result.outcome,
        reason=case.reason if len(case.trials) == 1 else "",
        metrics={name: verdict_of_trial(metric, place) for name, metric in case.metrics.items()},
        trials=[TrialResult(0, result.outcome, evidence=trial, failure=result.failure)],
    )


def verdict_of_trial(metric: MetricVerdict, place: int) -> MetricVerdict:
    """Return the verdict of a metric about one trial."""
    score = metric.per_trial[place] if place < len(metric.per_trial) else None
    if score is None:
        return replace(metric, score=None, per_trial=[None])
    return replace(
        metric,
        outcome=_outcome(metric, score),
        score=score.value,
        reason=_first_miss(metric, score) or score.reason or metric.reason,
        per_trial=[score],
        failure=score.failure,
    )


def _first_miss(metric: MetricVerdict, score: MetricScore) -> str:
    """Return the reason of the first turn that failed."""
    if score.failure is not None:
        return score.failure.cause
    turns = len(score.per_invocation)
    for index, each in enumerate(score.per_invocation):
        if each.reason and metric.judge(each).outcome is Outcome.FAILED:
            return f"turn {index + 1}: {each.reason}" if turns > 1 else each.reason
    return ""


def _outcome(metric: MetricVerdict, score: MetricScore) -> Outcome:
    if score.failure is not None:
        return Outcome.ERROR
    return metric.judge(Score(score.value, not_applicable=score.not_applicable)).outcome
