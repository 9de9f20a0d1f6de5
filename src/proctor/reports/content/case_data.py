"""One case of a run with all that is known of it: every trial, every score, how it was judged before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proctor.reports.content.summary import duration
from proctor.reports.evidence.simulated_users import simulator_name
from proctor.schema.evidence.simulator_failure import spoiled_by
from proctor.schema.evidence.trial import Trial
from proctor.schema.format.scenario import ConversationScenario
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, TrialResult
from proctor.schema.results.score import MetricScore, Score


@dataclass(frozen=True, slots=True)
class Judged:
    """What a case came to in one judging of its run."""

    number: int
    created_at: float
    criteria: str
    """Where the criteria came from."""
    case: CaseResult


@dataclass(frozen=True, slots=True)
class CaseView:
    """What there is to show of one case."""

    run_id: str
    short: str
    """The beginning of the run's id that no other run shares."""
    agent: str
    began: float
    case: CaseResult
    """As the judging that is shown has it."""
    judging: int
    history: Sequence[Judged] = ()
    """All judgings, in order."""
    trials: Sequence[int] = ()
    """Numbers of the trials to show (from 0); none given: all."""
    badges: Mapping[str, str] = field(default_factory=dict)
    """What its judges are worth, by metric, where they were calibrated."""
    earlier: Mapping[int, Sequence[Trial]] = field(default_factory=dict)
    """Attempts before the last one at each trial, by its number (see `proctor resume --retry-errors`)."""
    scenario: ConversationScenario | None = None
    """What the user was to play; `None` where the conversation is recorded."""

    def shown(self) -> Iterator[TrialView]:
        """Return the trials to show, one at a time."""
        for place, result in enumerate(self.case.trials):
            if not self.trials or result.number in self.trials:
                yield replace(view_trial(self.case, place), earlier=self.earlier.get(result.number, ()))


@dataclass(frozen=True, slots=True)
class TrialView:
    """What there is to show of one trial."""

    number: int
    alone: CaseResult
    """The case as if this were its only trial."""
    trial: Trial | None
    """Its evidence; `None` when it was not kept."""
    earlier: Sequence[Trial] = ()
    """Its attempts before the last one."""

    def attempts(self) -> list[str]:
        """Return in a line each what became of the earlier attempts."""
        return attempt_lines(self.earlier)

    def facts(self, *, timed: bool = True) -> list[str]:
        """Return in short what it took: turns, tokens, retries, and the time unless somebody else tells it."""
        if self.trial is None:
            return ["its evidence was not kept"]
        turns, tokens, retries = len(self.trial.turns), _tokens(self.trial), len(self.trial.attempts)
        told = [
            duration(self.trial.duration) if timed and self.trial.duration else "",
            f"{turns} {'turn' if turns == 1 else 'turns'}",
            f"{tokens:,} tokens" if tokens else "",
            f"tried {retries + 1} times" if retries else "",
            simulator_name(self.trial),
        ]
        return [text for text in told if text]


def attempt_lines(earlier: Sequence[Trial]) -> list[str]:
    """Return in a line each what became of the attempts before the last one."""
    return [
        f"attempt {number} of {len(earlier) + 1}: {_why_again(trial)}"
        for number, trial in enumerate(earlier, 1)
    ]


def _why_again(trial: Trial) -> str:
    if trial.failure is not None:
        return trial.failure.cause
    return spoiled_by(trial.played_user.faults).cause if trial.played_user is not None else "no failure"


def _tokens(trial: Trial) -> int:
    events = (event for turn in trial.turns for event in turn.events)
    return sum(event.usage_metadata.total_token_count or 0 for event in events if event.usage_metadata)


def view_trial(case: CaseResult, place: int) -> TrialView:
    """Return what there is to show of the trial at `place` of a case, as if it were the only one."""
    result = case.trials[place]
    trial = result.trial
    return TrialView(result.number, case_of_trial(case, place, trial), trial)


def case_of_trial(case: CaseResult, place: int, trial: Trial | None = None) -> CaseResult:
    """Return a case as if its trial at `place` were the only one; `trial` is its evidence, where that is wanted."""
    result = case.trials[place]
    return replace(
        case,
        outcome=result.outcome,
        reason=case.reason if len(case.trials) == 1 else "",
        metrics={name: verdict_of_trial(metric, place) for name, metric in case.metrics.items()},
        trials=[TrialResult(0, result.outcome, evidence=trial, failure=result.failure)],
    )


def verdict_of_trial(metric: MetricVerdict, place: int) -> MetricVerdict:
    """Return what a metric says of one trial alone."""
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
    """Say why a trial missed by its first turn that did."""
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
