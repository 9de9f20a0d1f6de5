"""The two sides of a comparison: a stored run or a result in memory, with what it was and how it was scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from proctor.errors import UnknownNameError
from proctor.schema.analysis.comparison import TRIAL_COST, TRIAL_SECONDS, ComparedRun
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult

if TYPE_CHECKING:
    from proctor.analysis.compare.compare_cases import Side
    from proctor.schema.evidence.trial import Trial
    from proctor.schema.results.manifest import Judging, Manifest
    from proctor.stores.base import Store

KnownSide = tuple["Side", "tuple[Manifest, Judging]"]
"""A side, its manifest and the scoring that counts."""


def side_of_run(store: Store, reference: str | RunResult) -> KnownSide:
    """Return a run, by its name in `store` or as a result, as one side of a comparison.

    Raises:
        UnknownNameError: the run is unknown.
        SetupError: the name depends on which run is the newest, and the last attempt to run made none.
    """
    if isinstance(reference, RunResult):
        return side_of_result(reference)
    from proctor.analysis.compare.compare_cases import Side
    from proctor.schema.results.manifest import adds_trials, counting
    from proctor.schema.results.model_usage import total_cost

    run_id = find_run(store, reference)
    details = store.details(run_id)
    manifest, judging, summary = details.manifest, counting(details.judgings), details.record.summary
    cases = sum(one.cases for one in manifest.sets)
    run = ComparedRun(
        run_id, manifest.agent.label, cases, manifest.num_runs, manifest.created_at,
        total_cost(summary.spent) if summary.spent else None,
        against=manifest.against, most=manifest.num_runs if adds_trials(manifest, judging) else 0,
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in summary.spent)
    trials = sum(one.cases * one.num_runs for one in manifest.sets)
    figures = figures_of_kept(store, run_id, trials=trials, priced=priced)
    return Side(run, with_figures(store.verdicts(run_id, judging.number), figures)), (manifest, judging)


def find_run(store: Store, name: str) -> str:
    """Return the id of the run that `name` names.

    Raises:
        UnknownNameError: the run is unknown; if a baseline has the name, the message explains how to name it.
        SetupError: the name depends on which run is the newest, and the last attempt to run made none.
    """
    from proctor.runs.attempts import find_current_run
    from proctor.stores.baselines import is_baseline

    try:
        return find_current_run(store, name)
    except UnknownNameError as problem:
        if not is_baseline(name, store):
            raise
        raise UnknownNameError(
            f"{problem}. There is a baseline {name}, which can be the base: `proctor compare --baseline {name} CANDIDATE` "
            f"(in Python baseline={name!r})"
        ) from None


def side_of_result(result: RunResult) -> KnownSide:
    """Return a result in memory as one side. The content of its cases is unknown, so they are paired by their ids."""
    from proctor.analysis.compare.compare_cases import Side
    from proctor.runs.differences import manifest_of_result

    cost = result.cost if result.spent else None
    run = ComparedRun(
        result.run_id, result.agent, len(result.cases), result.num_runs, result.started_at, cost,
        against=result.against, most=result.num_runs if result.at_most else 0,
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in result.spent)
    cases = [("", case) for case in result.cases]
    few = sum(len(case.trials) for _, case in cases) <= MOST_TRIALS
    figures = {at: figures_of_case(one, priced=priced) for at, (_, one) in enumerate(cases) if few}
    return Side(run, [*with_figures(cases, figures)]), manifest_of_result(result)


# --- Duration and cost of each trial, from its evidence ---------------------------------------------------------------


MOST_TRIALS = 2_000
"""Trials of a run whose evidence is read; larger runs are compared by their metrics only, which is fast."""

Figures = dict[str, float]


def figures_of_kept(store: Store, run_id: str, *, trials: int, priced: bool) -> dict[int, Figures]:
    """Return by position the mean duration of the trials of each case; `priced`: also the agent's cost.

    Trials that failed are left out; if there are more than `MOST_TRIALS`, none is read.
    """
    if trials > MOST_TRIALS:
        return {}
    last: dict[tuple[int, int], bytes] = {}
    for position, number, evidence in store.attempts(run_id):  # the last attempt at a trial comes last
        last[position, number] = evidence
    by_position: defaultdict[int, list[Figures | None]] = defaultdict(list)
    for (position, _), evidence in last.items():
        by_position[position].append(_of_json(evidence, priced=priced))
    return {
        position: mean for position, trial_figures in by_position.items() if (mean := _mean(trial_figures))
    }


def figures_of_case(case: CaseResult, *, priced: bool) -> Figures:
    """Return the mean duration and cost of the trials of a case, if their evidence is available."""
    evidence = [one.trial for one in case.trials if one.failure is None]
    return _mean([_of_trial(trial, priced=priced) for trial in evidence if trial is not None])


def with_figures(
    cases: Iterable[tuple[str, CaseResult]], figures: Mapping[int, Figures]
) -> Iterator[tuple[str, CaseResult]]:
    """Return the cases, in the order of their positions, with the duration and cost of their trials as further metrics."""
    for position, (content_hash, case) in enumerate(cases):
        metrics = {
            name: MetricVerdict(name, Outcome.INFORMATIONAL, value, gate=False)
            for name, value in figures.get(position, {}).items()
        }
        if not metrics:
            yield content_hash, case
            continue
        yield content_hash, CaseResult(
            case.eval_set_id, case.eval_id, case.outcome, case.reason, {**case.metrics, **metrics}, case.trials,
            case.place, case.rule, case.missed, case.is_played,
        )  # fmt: skip


def _of_json(evidence: bytes, *, priced: bool) -> Figures | None:
    if priced:
        from proctor.schema.evidence.trial import Trial

        trial = Trial.model_validate_json(evidence)
        return None if trial.failure is not None else _of_trial(trial, priced=True)
    data = from_json(evidence)
    return None if data.get("failure") else _seconds(data.get("duration", 0.0), data.get("turns", ()))


def _of_trial(trial: Trial, *, priced: bool) -> Figures:
    from proctor.engine.usage.costs import costs_of

    figures = _seconds(trial.duration, [{"duration": turn.duration} for turn in trial.turns])
    if priced:
        costs = [one.known_cost for one in costs_of(trial)]
        known = [cost for cost in costs if cost is not None]
        if costs and len(known) == len(costs):
            figures[TRIAL_COST] = sum(known)
    return figures


def _seconds(duration: float, turns: Iterable[Mapping[str, Any]]) -> Figures:
    """Return the duration of a trial. A 0 is known only if a turn has a duration: evidence that was imported without any has 0, too."""
    is_known = duration or any(turn.get("duration") is not None for turn in turns)
    return {TRIAL_SECONDS: duration} if is_known else {}


def _mean(trial_figures: Iterable[Figures | None]) -> Figures:
    """Return the mean of each figure that is known of every trial that did not fail."""
    known = [one for one in trial_figures if one is not None]
    names = [name for name in (TRIAL_SECONDS, TRIAL_COST) if known and all(name in one for one in known)]
    return {name: sum(one[name] for one in known) / len(known) for name in names}
