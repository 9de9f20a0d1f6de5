"""What each trial took, by its evidence: seconds, and the agent's dollars, so that a comparison pairs them case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic_core import from_json

from proctor.schema.analysis.comparison import TRIAL_COST, TRIAL_SECONDS
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome

if TYPE_CHECKING:
    from proctor.schema.evidence.trial import Trial
    from proctor.stores.base import Store

MOST_TRIALS = 2_000
"""Trials of a run whose evidence is read; larger ones are compared by what metrics say alone, and so stay quick."""

Figures = dict[str, float]


def figures_of_kept(store: Store, run_id: str, *, trials: int, priced: bool) -> dict[int, Figures]:
    """Return by position what the trials of each case took on the mean; `priced`: the agent's dollars, too.

    Trials that failed are left out; of more than `MOST_TRIALS` nothing is read.
    """
    if trials > MOST_TRIALS:
        return {}
    last: dict[tuple[int, int], bytes] = {}
    for position, number, evidence in store.attempts(run_id):  # the last attempt at a trial comes last
        last[position, number] = evidence
    found: defaultdict[int, list[Figures | None]] = defaultdict(list)
    for (position, _), evidence in last.items():
        found[position].append(_of_json(evidence, priced=priced))
    return {position: mean for position, taken in found.items() if (mean := _mean(taken))}


def figures_of_case(case: CaseResult, *, priced: bool) -> Figures:
    """Return what the trials of a case took on the mean, where their evidence is at hand."""
    evidence = [one.trial for one in case.trials if one.failure is None]
    return _mean([_of_trial(trial, priced=priced) for trial in evidence if trial is not None])


def with_figures(
    cases: Iterable[tuple[str, CaseResult]], figures: Mapping[int, Figures]
) -> Iterator[tuple[str, CaseResult]]:
    """Return the cases, in the order of their positions, with what their trials took beside their metrics."""
    for position, (content_hash, case) in enumerate(cases):
        taken = {
            name: MetricVerdict(name, Outcome.INFORMATIONAL, value, gate=False)
            for name, value in figures.get(position, {}).items()
        }
        if not taken:
            yield content_hash, case
            continue
        yield content_hash, CaseResult(
            case.eval_set_id, case.eval_id, case.outcome, case.reason, {**case.metrics, **taken}, case.trials,
            case.place, case.rule, case.missed, case.is_played,
        )  # fmt: skip


def _of_json(evidence: bytes, *, priced: bool) -> Figures | None:
    if priced:
        from proctor.schema.evidence.trial import Trial

        trial = Trial.model_validate_json(evidence)
        return None if trial.failure is not None else _of_trial(trial, priced=True)
    data = from_json(evidence)
    return None if data.get("failure") else _seconds(data.get("duration"))


def _of_trial(trial: Trial, *, priced: bool) -> Figures:
    from proctor.engine.usage.agent_costs import costs_of

    found = _seconds(trial.duration)
    if priced:
        costs = [one.known_cost for one in costs_of(trial)]
        known = [cost for cost in costs if cost is not None]
        if costs and len(known) == len(costs):
            found[TRIAL_COST] = sum(known)
    return found


def _seconds(duration: float | None) -> Figures:
    return {TRIAL_SECONDS: duration} if duration else {}


def _mean(taken: Iterable[Figures | None]) -> Figures:
    """The means of what is known of every trial that did not fail."""
    known = [one for one in taken if one is not None]
    names = [name for name in (TRIAL_SECONDS, TRIAL_COST) if known and all(name in one for one in known)]
    return {name: sum(one[name] for one in known) / len(known) for name in names}
