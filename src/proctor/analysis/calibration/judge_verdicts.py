"""The single verdicts of a metric in a run, for each trial, turn or rubric, and the judge of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.engine.usage.costs import all_details
from proctor.schema.analysis.calibration import WHOLE, Key
from proctor.schema.format.content import text_of
from proctor.schema.results.run_result import CaseResult, MetricVerdict
from proctor.schema.results.score import MetricScore, Outcome, Score


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One verdict."""

    key: Key
    passes: bool | None
    """`None`: there is none."""
    reason: str = ""
    """The reason of the judge, or why a verdict is missing."""
    by: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """The models that were asked, each with the hash of its prompt."""
    threshold: float | None = None
    agreement: float = 1.0
    """The share of the votes for the majority, 0.5 to 1; of several questions the smallest."""
    distance: float = 0.0
    """The distance of the score from the threshold."""


def judged_unit(case: CaseResult, name: str) -> str:
    """Return what a judge gave its single verdicts on: a `rubric`, a `turn`, or a `trial` as a whole."""
    metric = case.metrics.get(name)
    scores = [score for score in metric.per_trial if score is not None] if metric is not None else []
    if any((details or {}).get("rubrics") for score in scores for details in all_details(score)):
        return "rubric"
    turns = (each.details for score in scores for each in score.per_invocation)
    return "turn" if any(_judges_of(details) for details in turns) else "trial"


def items_of(case: CaseResult, name: str, unit: str) -> Iterator[JudgedItem]:
    """Return the verdicts of the metric `name` on a case: on each trial, each `turn` or each `rubric`.

    What a metric has nothing to do with (not applicable) is left out.
    """
    metric = case.metrics.get(name)
    if metric is None:
        return
    for trial, score in enumerate(metric.per_trial):
        if score is None:
            continue
        key = (case.eval_set_id, case.eval_id, trial)
        if unit == "trial":
            yield from _trial_items((*key, WHOLE, ""), metric, trial, score)
            continue
        for turn, each in enumerate(score.per_invocation):
            if unit == "turn":
                yield from _turn_items((*key, turn, ""), metric, score, each)
            else:
                yield from _rubric_items((*key, turn), metric, each.details)
        if unit == "rubric":
            yield from _rubric_items((*key, WHOLE), metric, score.details)


def has_judge(case: CaseResult, name: str) -> bool:
    """Return whether a model was asked for the verdicts of the metric on the case."""
    metric = case.metrics.get(name)
    scores = [score for score in metric.per_trial if score is not None] if metric is not None else []
    return any(_judges_of(details) for score in scores for details in all_details(score))


def messages_of_verdict(case: CaseResult, key: Key) -> tuple[str, str]:
    """Return the messages of the user and the agent that a verdict is about; for a trial, those of its last turn."""
    _, _, number, turn, _ = key
    trial = next((trial.trial for trial in case.trials if trial.number == number), None)
    if trial is None or not trial.turns:
        return "", ""
    at = turn if 0 <= turn < len(trial.turns) else len(trial.turns) - 1
    return text_of(trial.turns[at].user_content), text_of(trial.invocations[at].final_response)


# --- one kind of verdict each ------------------------------------------------------------------------------------------


def _trial_items(key: Key, metric: MetricVerdict, trial: int, score: MetricScore) -> Iterator[JudgedItem]:
    by = frozenset(one for details in all_details(score) for one in _judges_of(details))
    passes = _passes(metric.outcome_in(trial), score.value, metric.threshold)
    if score.not_applicable:
        return
    reasons = [_rationale(details, passes=passes) for details in all_details(score)]
    texts = [*reasons, *(each.reason for each in score.per_invocation), score.reason]
    why = score.failure.cause if score.failure is not None else next(filter(None, texts), "")
    agreement = min((_agreement(details) for details in all_details(score)), default=1.0)
    yield JudgedItem(
        key, passes, why, by, metric.threshold, agreement, _distance(score.value, metric.threshold)
    )


def _turn_items(key: Key, metric: MetricVerdict, score: MetricScore, each: Score) -> Iterator[JudgedItem]:
    if each.not_applicable:
        return
    passes = _passes(None, each.value, metric.threshold)
    why = _rationale(each.details, passes=passes) or each.reason
    if passes is None and not why and score.failure is not None:
        why = score.failure.cause
    by = frozenset(_judges_of(each.details) or _judges_of(score.details))
    distance = _distance(each.value, metric.threshold)
    yield JudgedItem(key, passes, why, by, metric.threshold, _agreement(each.details), distance)


def _rubric_items(
    key: tuple[str, str, int, int], metric: MetricVerdict, details: Mapping[str, Any] | None
) -> Iterator[JudgedItem]:
    for rubric in (details or {}).get("rubrics") or ():
        value = rubric.get("score")
        passes = None if value is None else value >= 1
        why = str(rubric.get("rationale") or "")
        yield JudgedItem(
            (*key, str(rubric.get("rubric_id"))),
            passes,
            why,
            frozenset(_judges_of(details)),
            metric.threshold,
            _share(rubric.get("agreement"), _agreement(details)),
        )


def _passes(outcome: Outcome | None, value: float | None, threshold: float | None) -> bool | None:
    if outcome is Outcome.ERROR or value is None or threshold is None:
        return None
    return value >= threshold


# --- what a judge left behind ------------------------------------------------------------------------------------------


def _judges_of(details: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    ballot = (details or {}).get("ballot")
    return [(str(ballot.get("model")), str(ballot.get("prompt")))] if isinstance(ballot, dict) else []


def _agreement(details: Mapping[str, Any] | None) -> float:
    """Return the share of the votes for the majority, from the votes that state yes or no, else as recorded."""
    ballot = (details or {}).get("ballot")
    if not isinstance(ballot, dict):
        return 1.0
    verdicts = [vote.get("verdict") for vote in ballot.get("votes") or ()]
    plain = [verdict for verdict in verdicts if isinstance(verdict, bool)]
    if plain:
        return max(sum(plain), len(plain) - sum(plain)) / len(plain)
    return _share(ballot.get("agreement"), 1.0)


def _share(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _distance(value: float | None, threshold: float | None) -> float:
    return 0.0 if value is None or threshold is None else abs(value - threshold)


def _rationale(details: Mapping[str, Any] | None, *, passes: bool | None) -> str:
    """Return the rationale of the first vote that agrees with the verdict."""
    ballot = (details or {}).get("ballot")
    votes = ballot.get("votes") or () if isinstance(ballot, dict) else ()
    on_this_side = [vote for vote in votes if vote.get("verdict") is passes]
    texts = [str(vote.get("rationale") or "") for vote in [*on_this_side, *votes]]
    return next(filter(None, texts), "")
