"""Estimate the usage and duration of a run from an earlier run of the same sets. No agent and no model is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Unpack

from proctor.common.safe_text import count_text
from proctor.runs.arguments import AgentLike, EvalSetLike, EvaluateOptions, sync_form
from proctor.runs.storage.open import NoRunsError, is_open, open_runs
from proctor.schema.results.manifest import RunState
from proctor.schema.results.model_usage import Estimate, Forecast, PurposeEstimate
from proctor.stats.intervals import student_quantile

if TYPE_CHECKING:
    from proctor.engine.execution.run_control import Progress
    from proctor.engine.planning.plan import Plan
    from proctor.runs.setup.prepare import Prepared
    from proctor.schema.results.manifest import RunRecord
    from proctor.schema.results.run_result import CaseResult
    from proctor.stores.base import Store

_MOST_CASES = 1_000
"""The most cases of an earlier run that are read."""
_MOST_RUNS = 50
"""The most runs of the sets among which the best evidence is chosen."""


async def estimate(
    agent: AgentLike, eval_sets: EvalSetLike | Sequence[EvalSetLike], **options: Unpack[EvaluateOptions]
) -> Estimate:
    """Estimate the calls, tokens and cost of `evaluate` with the same arguments, each with a prediction interval.

    The estimate uses the cases of the newest run of these sets in the store (`store`, default: the project's), if possible one
    of the same agent that is finished and has as many cases.
    No agent and no model is called, and nothing is written. Without such a run, run one case first (`limit=1`).

    The interval contains the usage of the coming run if its cases resemble those of the earlier run. It uses Student's t and
    accounts for the variation between cases and for their number. (A prediction interval; for example W. Q. Meeker, G. J. Hahn, L. A. Escobar,
    "Statistical Intervals", 2nd edition, 2017, section 4.7.)

    Raises:
        SetupProblems: the configuration errors, as for `evaluate`.
    """
    from proctor.runs.setup.prepare import prepare

    store = options.pop("store", None)
    prepared = prepare(agent, eval_sets, options)
    plan = prepared.plan
    result = Estimate(cases=sum(len(chosen.cases) for chosen in plan.sets), trials=plan.trials)
    if not is_open(store):
        try:
            opened = open_runs(store, read_only=True)
        except NoRunsError:
            return _without_history(result, plan)
        with closing(opened):
            return _estimate_by_history(result, prepared, opened)
    return _estimate_by_history(result, prepared, store)


estimate_sync = sync_form(estimate)


LONG = 50
"""Number of trials from which the usage of a run with judges is estimated before it starts."""


def announce_estimate(prepared: Prepared, progress: Progress | None) -> None:
    """Report the estimate for a long run with judges to `progress`, if an earlier run allows one."""
    announce = getattr(progress, "estimated", None)
    plan, store = prepared.plan, prepared.store
    if announce is None or store is None or plan.trials < LONG or not plan.asks_judges:
        return
    result = Estimate(cases=sum(len(chosen.cases) for chosen in plan.sets), trials=plan.trials)
    result = _estimate_by_history(result, prepared, store)
    if result.run_id:
        announce(result)


# --- usage of a case --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Took:
    """Usage of one trial of a case: the mean over its trials."""

    calls: float
    tokens: float
    cost: float | None


def _estimate_by_history(estimate: Estimate, prepared: Prepared, store: Store) -> Estimate:
    plan = prepared.plan
    judges = {metric.name: metric.judge for chosen in plan.sets for metric in chosen.metrics if metric.judge}
    judged = judges.keys()
    sets = {chosen.summary.eval_set_id for chosen in plan.sets}
    for run in _comparable_runs(store, sets, prepared.agent_label, estimate.cases):
        cases = _cases(store.load(run.run_id), sets)
        metrics = _scored_metrics(cases)
        if not cases or (judged and not judged & metrics):
            continue
        estimate.run_id, estimate.seen = run.run_id, len(cases)
        _add_judges(estimate, cases, judges)
        _add_agent(estimate, cases)
        estimate.seconds = _time([_seconds(case) for case in cases], estimate, prepared.options.concurrency)
        if run.agent != prepared.agent_label:
            estimate.notes.append(
                f"that run was of {run.agent}: {prepared.agent_label} may take more, or less"
            )
        estimate.notes += [
            f"nothing is known of {name} yet: it is not in this" for name in sorted(judged - metrics)
        ]
        return estimate
    return _without_history(estimate, plan)


def _comparable_runs(store: Store, sets: set[str], agent: str, cases: int) -> list[RunRecord]:
    """Return the latest runs of these sets: those of the same agent first, then finished ones, then those of at least `cases` cases."""
    runs = islice((run for run in store.runs() if sets & set(run.sets)), _MOST_RUNS)
    return sorted(
        runs, key=lambda run: (run.agent != agent, run.state is not RunState.FINISHED, run.cases < cases)
    )


def _scored_metrics(cases: Iterable[CaseResult]) -> set[str]:
    """Return the metrics that a trial of any case has a score of."""
    metrics = (one for case in cases for one in case.metrics.items())
    return {name for name, metric in metrics if any(score is not None for score in metric.per_trial)}


def _cases(result: Any, sets: Iterable[str]) -> list[CaseResult]:
    tried = (case for case in result.cases if case.eval_set_id in sets and case.trials)
    return list(islice(tried, _MOST_CASES))


def _scoring(case: CaseResult, judged: Iterable[str], price: float | None) -> _Took:
    """Return the judges' usage for a case, with each cached vote counted at `price`."""
    votes = [vote for ballot in _ballots(case, judged) for vote in ballot.get("votes") or ()]
    costs = [price if vote.get("cached") else vote.get("cost") for vote in votes]
    known = [cost for cost in costs if cost is not None]
    trials = len(case.trials)
    return _Took(
        calls=sum(max(1, len(vote.get("answers") or ())) for vote in votes) / trials,
        tokens=sum((vote.get("input_tokens") or 0) + (vote.get("output_tokens") or 0) for vote in votes)
        / trials,
        cost=sum(known) / trials if len(known) == len(costs) else None,
    )


def _ballots(case: CaseResult, judged: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for name in judged:
        for score in case.metrics[name].per_trial if name in case.metrics else ():
            scored = (
                [score.details, *(each.details for each in score.per_invocation)] if score is not None else []
            )
            ballots = ((details or {}).get("ballot") for details in scored)
            yield from (ballot for ballot in ballots if isinstance(ballot, dict))


def _price(votes: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean cost of a paid vote in dollars; `None` if it is unknown."""
    paid = [vote.get("cost") for vote in votes if not vote.get("cached")]
    known = [cost for cost in paid if cost is not None]
    return fmean(known) if known and len(known) == len(paid) else None


def _acting(case: CaseResult) -> _Took | None:
    """Return the agent's usage for a case, of the trials that reported any; `None` if none did."""
    from proctor.engine.usage.costs import AgentCosts

    costs, trials = AgentCosts(), 0
    for evidence in (trial.trial for trial in case.trials if trial.trial is not None):
        attempts = (evidence.turns, *(attempt.turns for attempt in evidence.attempts))
        trials += max(map(costs.add_attempt, attempts))
    if not trials:
        return None
    spent = costs.spent()
    return _Took(
        calls=sum(one.calls for one in spent) / trials,
        tokens=sum(one.input_tokens + one.output_tokens for one in spent) / trials,
        cost=None if any(one.unpriced for one in spent) else sum(one.cost for one in spent) / trials,
    )


def _seconds(case: CaseResult) -> float:
    """Return the mean duration of a trial of a case, in seconds."""
    return fmean([one.trial.duration if one.trial is not None else 0.0 for one in case.trials])


# --- usage of the coming run ------------------------------------------------------------------------------------------


def _add_judges(estimate: Estimate, cases: Sequence[CaseResult], judges: Mapping[str, str]) -> None:
    """Add the usage of judges, as if no answer were cached. If the earlier run used other judges, the cost is unknown."""
    ballots = [ballot for case in cases for ballot in _ballots(case, judges)]
    votes = [vote for ballot in ballots for vote in ballot.get("votes") or ()]
    usage = [_scoring(case, judges, _price(votes)) for case in cases] if judges else []
    if any(one.calls for one in usage):
        _add(estimate, "judge", usage)
    models, others = {*judges.values()}, sorted({str(ballot.get("model")) for ballot in ballots})
    if votes and not models & {*others}:
        for part in estimate.parts:
            part.cost = None
        estimate.notes.append(
            f"that run was scored by {', '.join(others)}: what {', '.join(sorted(models))} costs is not known"
        )
    if known := sum(bool(vote.get("cached")) for vote in votes):
        estimate.notes.append(
            f"{known:,} of its {len(votes):,} votes came from the cache and cost nothing; some of these may, too"
        )


def _add_agent(estimate: Estimate, cases: Sequence[CaseResult]) -> None:
    """Add the usage of the agent by the cases that reported it; it is unknown if none did."""
    reports = [took for case in cases if (took := _acting(case)) is not None]
    if reports:
        _add(estimate, "agent", reports)
    else:
        estimate.parts.append(PurposeEstimate("agent"))
        estimate.notes.append("the agent reports no token usage: its cost is unknown")
    if 0 < len(reports) < len(cases):
        estimate.notes.append(
            f"the agent's calls, tokens and cost are by the {count_text(len(reports), 'case')} that reported usage"
        )


def _add(estimate: Estimate, purpose: str, took: Sequence[_Took]) -> None:
    """Add the forecast for a purpose by the usage of each case."""
    costs = [one.cost for one in took if one.cost is not None]
    estimate.parts.append(
        PurposeEstimate(
            purpose,
            calls=_forecast([one.calls for one in took], estimate),
            tokens=_forecast([one.tokens for one in took], estimate)
            if any(one.tokens for one in took) or not any(one.calls for one in took)
            else None,
            cost=_forecast(costs, estimate) if len(costs) == len(took) else None,
        )
    )


def _time(seconds: Sequence[float], estimate: Estimate, at_once: int) -> Forecast:
    """Return the duration of the trials with `at_once` trials at a time, assuming that all slots stay busy."""
    whole, lanes = _forecast(seconds, estimate), max(1, min(at_once, estimate.trials))
    longest = max(seconds)  # a run takes at least as long as its slowest trial
    ends = [None if end is None else max(longest, end / lanes) for end in (whole.low, whole.high)]
    return Forecast(value=max(longest, whole.value / lanes), low=ends[0], high=ends[1])


def _forecast(values: Sequence[float], estimate: Estimate) -> Forecast:
    """Forecast the sum over the coming cases from a sample of `values` (usage of one trial each)."""
    mean, trials = fmean(values), estimate.trials / max(1, estimate.cases)
    total = mean * estimate.trials
    if len(values) < 2:
        return Forecast(value=total)
    spread = stdev(values) * sqrt(estimate.cases + estimate.cases**2 / len(values)) * trials
    half = student_quantile(estimate.confidence, len(values) - 1) * spread
    return Forecast(value=total, low=max(0.0, total - half), high=total + half)


def _without_history(estimate: Estimate, plan: Plan) -> Estimate:
    """Count the calls of judges if there is no earlier run; the rest cannot be estimated."""
    estimate.notes.append(
        "there is no earlier run of these sets to estimate from: run one case first (--limit 1) and estimate again; more cases make it more accurate"
    )
    low = high = 0
    for chosen in plan.sets:
        cases = map(chosen.source.case, chosen.cases)
        turns = sum(len(case.conversation or ()) or 1 for case in cases) * chosen.num_runs
        for metric in (metric for metric in chosen.metrics if metric.judge):
            samples = votes_of(metric.metric)
            low, high = low + turns * (samples // 2 + 1), high + turns * samples
    if high:
        calls = Forecast(value=float(low), low=float(low), high=float(high))
        estimate.parts.append(PurposeEstimate("judge", calls=calls))
        estimate.notes.append(
            "calls are those of one question a turn, with as few votes as decide, to all of them"
        )
    return estimate


def votes_of(metric: Any) -> int:
    """Return how many votes of its judge a metric takes for one question at most."""
    samples = getattr(metric, "_samples", None)  # a metric with its own number of samples
    if isinstance(samples, int):
        return samples
    options = getattr(getattr(metric, "_criterion", None), "judge_model_options", None)
    return getattr(options, "num_samples", 5)
