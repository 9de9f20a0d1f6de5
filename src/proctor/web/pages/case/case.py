"""The page of one case of a run: the verdict, every metric, every trial, and the earlier scorings."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from proctor.reports.content.case_data import CaseScoring, StoredCase, attempt_lines, case_of_trial
from proctor.reports.content.case_digest import (
    held_text,
    rate_sentence,
    reason_of,
    rule_text,
    warnings_beside,
)
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.symbols import UNICODE
from proctor.reports.evidence.simulated_users import scenario_facts
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.stats.intervals import ClusteredMean
from proctor.web.pages.base import copy_fields, finite


class PassedTrials(PageModel):
    """How many trials passed, with the interval of their share."""

    passed: int
    of: int
    low: float
    """The lower end of the Wilson interval at `confidence`, 0 to 1; trials without a verdict count as failed here …"""
    high: float
    """… and as passed here."""
    confidence: float
    flaky: bool
    """Some passed and some failed."""


class MetricTrial(PageModel):
    """A metric's score of one trial."""

    score: float | None
    outcome: Outcome


class MetricLine(PageModel):
    """A metric's score of the case."""

    name: str
    outcome: Outcome
    gate: bool
    """Whether the verdict depends on it."""
    score: float | None
    threshold: float | None
    held: str
    """The score and its threshold: `0.40 < 0.9`; under a rule that counts trials `4 of 5 ≥ 0.8`."""
    low: float | None
    """The lower end of the 95 % confidence interval of the mean over trials (Student's t); null for one trial."""
    high: float | None
    reason: str
    badge: str
    """The calibration of its judge; empty without a judge or a calibration."""
    trials: list[MetricTrial]


class TrialLine(PageModel):
    """One trial in the list of trials."""

    number: int
    """From 0."""
    outcome: Outcome
    reason: str
    """Why it did not pass."""
    attempts: list[str]
    """The failures of the attempts before the last one, one line each."""


class JudgedMetric(PageModel):
    """A metric in another scoring."""

    name: str
    outcome: Outcome
    held: str


class JudgedLine(PageModel):
    """The result of the case in one scoring of its run."""

    number: int
    created_at: float
    criteria: str
    """The source of the criteria."""
    outcome: Outcome
    reason: str
    metrics: list[JudgedMetric]
    """The deciding metrics with a score or an error."""


class LabelledText(PageModel):
    """A text with its label."""

    label: str
    text: str


class CaseBefore(PageModel):
    """The result of the case in the previous run."""

    run_id: str
    short: str
    position: int
    outcome: Outcome
    created_at: float


class CasePlace(PageModel):
    """Another case of the run."""

    position: int
    eval_set_id: str
    eval_id: str


class CasePage(PageModel):
    """One case of a run."""

    run_id: str
    short: str
    agent: str
    began: float
    """Unix seconds."""
    judging: int
    position: int
    total: int
    """Cases of the run."""
    eval_set_id: str
    eval_id: str
    place: str
    """`file:line` of the case; empty for one made in Python."""
    outcome: Outcome
    sentence: str
    """The verdict in a sentence."""
    reason: str
    """The main reason; empty if the sentence is complete."""
    share: PassedTrials | None
    """Null for a case of one trial."""
    trials: list[TrialLine]
    metrics: list[MetricLine]
    warnings: list[str]
    history: list[JudgedLine]
    scenario: list[LabelledText]
    """The scenario of a simulated user."""
    previous: CasePlace | None
    next: CasePlace | None
    before: CaseBefore | None
    command: str
    """The equivalent command."""
    hint: str
    """How to get missing details; usually empty."""


def case_page(
    view: StoredCase,
    position: int,
    total: int,
    *,
    previous: CasePlace | None = None,
    following: CasePlace | None = None,
    before: CaseBefore | None = None,
    hint: str = "",
) -> CasePage:
    """Return a case without its conversations; no evidence is read for it."""
    case = view.case
    return copy_fields(
        CasePage,
        view,
        judging=view.scoring,
        position=position,
        total=total,
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        place=case.place,
        outcome=case.outcome,
        sentence=verdict_sentence(case),
        reason=reason_of(case) or case.missed,
        share=_share(case),
        trials=[_trial(view, place) for place in range(len(case.trials))],
        metrics=[_metric(view, metric) for metric in case.metrics.values() if _has_content(metric)],
        warnings=warnings_beside(case),
        history=[_scoring_line(one) for one in view.history],
        scenario=[LabelledText(label=label, text=text) for label, text in _scenario(view)],
        previous=previous,
        next=following,
        before=before,
        command=show_command(view),
        hint=hint,
    )


def verdict_sentence(case: CaseResult) -> str:
    """Return the verdict on a case as a sentence, with its confidence interval if there are several trials."""
    if len(case.trials) > 1:
        passed = rate_sentence(case, UNICODE)
        return f"{passed}; {rule_text(case.rule)}" if case.rule else passed
    return _single_trial_sentence(case)


def _single_trial_sentence(case: CaseResult) -> str:
    if case.passed:
        decided = sum(metric.gate and metric.outcome is Outcome.PASSED for metric in case.metrics.values())
        return f"{'The metric' if decided == 1 else f'All {decided} metrics'} that decided met the criterion"
    if case.outcome is Outcome.FAILED:
        missed = [metric.name for metric in case.metrics.values() if metric.is_missed]
        return f"{', '.join(missed)} did not meet the criterion" if missed else "Failed"
    return _SENTENCES.get(case.outcome, WORDS[case.outcome].capitalize())


_SENTENCES = {
    Outcome.ERROR: "No verdict could be computed",
    Outcome.INCONCLUSIVE: "The trials do not decide the verdict yet",
    Outcome.NOT_RUN: "The run did not reach this case",
    Outcome.SKIPPED: "Skipped on purpose",
}


def show_command(view: StoredCase, number: int | None = None) -> str:
    """Return the equivalent command, for one trial if its `number` (from 0) is given."""
    case = f"{view.case.eval_set_id}/{view.case.eval_id}"
    trial = ["--trial", str(number + 1)] if number is not None else []
    scoring = ["--scoring", str(view.scoring)] if view.history and view.scoring != len(view.history) else []
    return shlex.join(["proctor", "show", view.short, case, *trial, *scoring])


def _share(case: CaseResult) -> PassedTrials | None:
    if len(case.trials) < 2:
        return None
    low, high = case.interval
    return PassedTrials(
        passed=case.trials_passed,
        of=len(case.trials),
        low=low,
        high=high,
        confidence=case.confidence,
        flaky=case.flaky,
    )


def _trial(view: StoredCase, place: int) -> TrialLine:
    trial, earlier = view.case.trials[place], view.earlier.get(view.case.trials[place].number, ())
    return TrialLine(
        number=trial.number,
        outcome=trial.outcome,
        reason=reason_of(case_of_trial(view.case, place)),
        attempts=attempt_lines(earlier),
    )


def _has_content(metric: MetricVerdict) -> bool:
    return not (metric.outcome is Outcome.INFORMATIONAL and metric.score is None)


def _metric(view: StoredCase, metric: MetricVerdict) -> MetricLine:
    low, high = _interval(metric, view.ranges.get(metric.name))
    places = range(len(metric.per_trial))
    return copy_fields(
        MetricLine,
        metric,
        score=finite(metric.score),
        held=held_text(view.case, metric, UNICODE),
        low=low,
        high=high,
        badge=view.badges.get(metric.name, ""),
        trials=[MetricTrial(score=_value(metric, n), outcome=metric.outcome_in(n)) for n in places],
    )


def _value(metric: MetricVerdict, place: int) -> float | None:
    score = metric.per_trial[place]
    return finite(score.value) if score is not None else None


def _interval(metric: MetricVerdict, within: tuple[float, float] | None) -> tuple[float | None, float | None]:
    """Return the confidence interval of the mean over trials, which are independent draws of one case."""
    mean = ClusteredMean()
    for score in metric.per_trial:
        if score is not None and (value := finite(score.value)) is not None:
            mean.add(value, 1)
    estimate = mean.result(within=within)
    return (estimate.low, estimate.high) if estimate is not None else (None, None)


def _scoring_line(one: CaseScoring) -> JudgedLine:
    return copy_fields(
        JudgedLine,
        one,
        outcome=one.case.outcome,
        reason=reason_of(one.case),
        metrics=[
            JudgedMetric(name=m.name, outcome=m.outcome, held=held_text(one.case, m, UNICODE))
            for m in one.case.metrics.values()
            if m.gate and (m.score is not None or m.outcome is Outcome.ERROR)
        ],
    )


def _scenario(view: StoredCase) -> Iterator[tuple[str, str]]:
    if view.scenario is not None:
        yield from scenario_facts(view.scenario)
