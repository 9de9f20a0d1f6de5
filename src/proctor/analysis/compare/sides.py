"""The two sides of a comparison: a stored run or a result in memory, which of their cases belong together, and how each differs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from proctor.analysis.compare.absent_cases import NONE_ABSENT, AbsentCases, unread_causes
from proctor.errors import UnknownNameError
from proctor.schema.analysis.comparison import (
    TRIAL_COST,
    TRIAL_SECONDS,
    CaseChange,
    ChangedCase,
    ComparedRun,
    Trials,
)
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import is_counted

if TYPE_CHECKING:
    from proctor.schema.evidence.trial import Trial
    from proctor.schema.results.manifest import Manifest, RunRecord, ScoringManifest
    from proctor.stores.base import BriefVerdict, Store


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs, with its cases."""

    run: ComparedRun
    cases: Iterable[SideCase]
    is_shared: bool = False
    """Whether the run is of several processes, and not complete."""


KnownSide = tuple[Side, "tuple[Manifest, ScoringManifest]"]
"""A side, its manifest and the scoring that counts."""


def side_of_run(store: Store, reference: str | RunResult) -> KnownSide:
    """Return a run, by its name in `store` or as a result, as one side of a comparison.

    Raises:
        UnknownNameError: the run is unknown.
        SetupError: the name depends on which run is the newest, and the last attempt to run made none.
    """
    if isinstance(reference, RunResult):
        return side_of_result(reference)
    from proctor.schema.results.manifest import RunState, adds_trials, counting
    from proctor.schema.results.model_usage import known_cost, run_cost
    from proctor.stores.shared_runs import run_members

    run_id = find_run(store, reference)
    details = store.details(run_id)
    manifest, scoring, summary = details.manifest, counting(details.scorings), details.record.summary
    run = ComparedRun(
        run_id, manifest.agent.label, sum(one.cases for one in manifest.sets), manifest.num_runs, manifest.created_at,
        run_cost(summary.spent, summary.unreported), known_cost(summary.spent),
        against=manifest.against, most=manifest.num_runs if adds_trials(manifest, scoring) else 0, unread_sets=unread_causes(manifest),
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in summary.spent)
    trials = sum(one.cases * one.num_runs for one in manifest.sets)
    figures = figures_of_kept(store, details.record, trials=trials, priced=priced)
    cases = _stored_cases(store.briefly(run_id, scoring.number), figures)
    members = run_members(store, run_id) if details.record.state is not RunState.FINISHED else ()
    return Side(run, cases, is_shared=bool(members)), (manifest, scoring)


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
            f"{problem}. There is a stored baseline {name}: `proctor compare --baseline {name} CANDIDATE` "
            f"(in Python baseline={name!r})"
        ) from None


def side_of_result(result: RunResult) -> KnownSide:
    """Return a result in memory as one side. The content of its cases is unknown, so they are paired by their ids."""
    from proctor.runs.run_differences import manifest_of_result
    from proctor.schema.results.model_usage import known_cost

    conditions = manifest_of_result(result)
    run = ComparedRun(
        result.run_id, result.agent, len(result.cases), result.num_runs, result.started_at, result.cost, known_cost(result.spent),
        against=result.against, most=result.num_runs if result.at_most else 0, unread_sets=unread_causes(conditions[0]),
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in result.spent)
    few = sum(len(case.trials) for case in result.cases) <= MOST_TRIALS
    figures = {at: figures_of_case(one, priced=priced) for at, one in enumerate(result.cases) if few}
    cases = [*side_cases((("", case) for case in result.cases), figures)]
    return Side(run, cases), conditions


# --- Duration and cost of each trial, from its evidence ---------------------------------------------------------------

MOST_TRIALS = 2_000
"""Trials of a run whose evidence is read; larger runs are compared by their metrics only, which is fast."""

Figures = dict[str, float]


def figures_of_kept(store: Store, run: RunRecord, *, trials: int, priced: bool) -> dict[int, Figures]:
    """Return by position the mean duration of the trials of each case; `priced`: also the agent's cost.

    Trials that failed are left out; if there are more than `MOST_TRIALS`, none is read.
    """
    if trials > MOST_TRIALS:
        return {}
    last: dict[tuple[int, int], bytes] = {}  # the last attempt at a trial comes last
    for position, number, evidence in store.attempts(run.run_id, range(run.cases)):
        last[position, number] = evidence
    by_position: defaultdict[int, list[Figures | None]] = defaultdict(list)
    for (position, _), evidence in last.items():
        by_position[position].append(_figures_of_json(evidence, priced=priced))
    return {position: _means(of_trials) for position, of_trials in by_position.items()}


def figures_of_case(case: CaseResult, *, priced: bool) -> Figures:
    """Return the mean duration and cost of the trials of a case, if their evidence is available."""
    evidence = [one.trial for one in case.trials if one.failure is None]
    return _means([_figures_of_trial(trial, priced=priced) for trial in evidence if trial is not None])


def _figures_of_json(evidence: bytes, *, priced: bool) -> Figures | None:
    if priced:
        from proctor.schema.evidence.trial import Trial

        trial = Trial.model_validate_json(evidence)
        return None if trial.failure is not None else _figures_of_trial(trial, priced=True)
    data = from_json(evidence)
    return None if data.get("failure") else _seconds(data.get("duration", 0.0), data.get("turns", ()))


def _figures_of_trial(trial: Trial, *, priced: bool) -> Figures:
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


def _means(trial_figures: Iterable[Figures | None]) -> Figures:
    """Return the mean of each figure over the trials that did not fail and of which it is known."""
    figures = [one for one in trial_figures if one is not None]
    by_name = {name: [one[name] for one in figures if name in one] for name in (TRIAL_SECONDS, TRIAL_COST)}
    return {name: sum(values) / len(values) for name, values in by_name.items() if values}


# --- Which cases belong together ---------------------------------------------------------------------------------------

Key = tuple[str, str, int]
"""Eval set, case, and which one of that id it is (from 0)."""


@dataclass(frozen=True, slots=True)
class BriefCase:
    """What a comparison needs to know of one case. Cases that are alike in this share one."""

    outcome: Outcome
    trials: Trials
    count: int
    """The number of all trials."""
    scores: Mapping[str, float]
    """By metric the mean over the trials; without those that could not be computed, or cannot be added up."""
    gating: tuple[str, ...]
    """The metrics that decide."""
    unscored: frozenset[str]
    """The metrics that decide and could not be computed."""
    missing_shares: Mapping[str, float]
    """By metric that decides, how many of the trials have no score, above 0 and below 1."""
    reason: str

    def has_all_scores(self, name: str) -> bool:
        """Return whether a metric was computed for every trial."""
        return name in self.scores and name not in self.missing_shares


@dataclass(slots=True)
class Pairs:
    """The cases of two runs."""

    both: list[tuple[Key, BriefCase, BriefCase]] = field(default_factory=list)
    only_base: list[str] = field(default_factory=list)
    only_candidate: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """`set/case` of those whose content differs."""
    left_out: tuple[int, int] = (0, 0)
    """How many cases are in `both` although the baseline or the candidate does not have them."""

    @property
    def has_verdicts(self) -> bool:
        """Whether a case has a verdict in both runs."""
        return any(
            all(case.trials.passed or case.trials.failed for case in (before, now))
            for _, before, now in self.both
        )


class SideCase(NamedTuple):
    """One case of a run."""

    eval_set_id: str
    eval_id: str
    content_hash: str
    """The hash of its content; empty where it is not known."""
    result: BriefCase


class CaseMetric(NamedTuple):
    """One metric of a case."""

    name: str
    outcome: Outcome
    score: float | None
    gate: bool
    missing: float | None = None
    """The share of the trials without a score; `None`: not known, and then it is the share without a verdict."""


def side_cases(
    cases: Iterable[tuple[str, CaseResult]], figures: Mapping[int, Figures] | None = None
) -> Iterator[SideCase]:
    """Return cases, each with the hash of its content; `figures` are the duration and cost of trials by position."""
    figures = figures or {}
    for position, (content_hash, case) in enumerate(cases):
        metrics = (
            CaseMetric(name, one.outcome, one.score, one.gate, _missing_share(one))
            for name, one in case.metrics.items()
        )
        trials = [one.outcome for one in case.trials]
        result = brief(case.outcome, trials, metrics, case.reason or case.missed, figures.get(position))
        yield SideCase(case.eval_set_id, case.eval_id, content_hash, result)


def _stored_cases(cases: Iterable[BriefVerdict], figures: Mapping[int, Figures]) -> Iterator[SideCase]:
    for position, case in enumerate(cases):
        rows: Mapping[str, Any] = case.metrics
        metrics = (
            CaseMetric(name, row["outcome"], row.get("score"), row.get("gate", True))
            for name, row in rows.items()
        )
        result = brief(case.outcome, case.trials, metrics, case.reason, figures.get(position))
        yield SideCase(case.eval_set_id, case.eval_id, case.content_hash, result)


def brief(
    outcome: Outcome, trials: Sequence[Outcome], metrics: Iterable[CaseMetric], reason: str = "", figures: Figures | None = None,
) -> BriefCase:  # fmt: skip
    """Return what a comparison needs of a case; `trials` are the outcomes of its trials."""
    count, passed, failed = len(trials), trials.count(Outcome.PASSED), trials.count(Outcome.FAILED)
    other = count - passed - failed
    scores: dict[str, float] = {}
    gating, unscored, shares = list[str](), set[str](), dict[str, float]()
    for name, of_metric, score, gate, missing in metrics:
        if gate:
            gating.append(name)
            if of_metric in (Outcome.ERROR, Outcome.NOT_RUN):
                unscored.add(name)
            elif share := other / count if missing is None and count else missing:
                shares[name] = share
        # a store has names of numbers that JSON cannot hold
        if is_counted(score, name) and of_metric != Outcome.ERROR:
            scores[name] = score
    return BriefCase(
        outcome, _trials(passed, failed, other), count, scores | (figures or {}), _same_names(tuple(gating)),
        _same_set(frozenset(unscored)), shares or _NO_SHARES, reason,
    )  # fmt: skip


# Equal parts of the cases of two runs are one object. Each cache is bounded: what is not in it is right, too.
_NO_SHARES: Mapping[str, float] = {}
_trials = lru_cache(1024)(Trials)
_same_names = lru_cache(1024)(tuple[str, ...])
_same_set = lru_cache(1024)(frozenset[str])
_MOST_SHARED = 1000


def _shared(case: BriefCase, known: dict[object, BriefCase]) -> BriefCase:
    """Return an equal case that is known, or else this one."""
    numbers = repr((case.scores, case.missing_shares))  # 1, 1.0 and True are equal, and not the same
    content = case.outcome, case.trials, numbers, case.gating, case.unscored, case.reason
    if len(known) < _MOST_SHARED:
        return known.setdefault(content, case)
    return known.get(content, case)


def _missing_share(metric: MetricVerdict) -> float | None:
    """Return the share of the trials without a score; `None` where single scores are unknown: then it is that without a verdict."""
    missing = [one is None or one.failure is not None for one in metric.per_trial]
    return sum(missing) / len(missing) if missing else None


def pair(
    base: Iterable[SideCase], candidate: Iterable[SideCase], *, keep_changed: bool = False,
    base_absent: AbsentCases = NONE_ABSENT, candidate_absent: AbsentCases = NONE_ABSENT,
) -> Pairs:  # fmt: skip
    """Pair the cases of two runs by eval set and id, those of one id in order.

    Cases that were skipped are in no run. With `keep_changed` those with another content are paired, too. Cases that a run left
    out, or whose set it could not run, are paired: their verdicts are missing.
    """
    pairs = Pairs()
    known: dict[object, BriefCase] = {}
    there = {key: (before_hash, before) for key, before_hash, before in _cases_by_key(base, known)}
    added: dict[Key, BriefCase] = {}
    for key, now_hash, now in _cases_by_key(candidate, known):
        if key not in there:
            added[key] = now
            continue
        before_hash, before = there.pop(key)
        differs = bool(before_hash and now_hash and before_hash != now_hash)
        if differs:
            pairs.changed.append(_name(key))
        if keep_changed or not differs:
            pairs.both.append((key, before, now))
    for key, now in added.items():
        if reason := base_absent.reason(key[0]):
            pairs.both.append((key, _not_run(reason), now))
        else:
            pairs.only_candidate.append(_name(key))
    for key, (_, before) in there.items():
        if reason := candidate_absent.reason(key[0]):
            pairs.both.append((key, before, _not_run(reason)))
        else:
            pairs.only_base.append(_name(key))
    pairs.left_out = len(added) - len(pairs.only_candidate), len(there) - len(pairs.only_base)
    return pairs


@lru_cache(16)
def _not_run(reason: str) -> BriefCase:
    return BriefCase(Outcome.NOT_RUN, Trials(0, 0), 0, {}, (), frozenset(), _NO_SHARES, reason)


def _cases_by_key(
    cases: Iterable[SideCase], known: dict[object, BriefCase]
) -> Iterator[tuple[Key, str, BriefCase]]:
    """Yield each case by its key, with the hash of its content."""
    counts: defaultdict[tuple[str, str], int] = defaultdict(int)
    for eval_set_id, eval_id, content_hash, result in cases:
        if result.outcome is not Outcome.SKIPPED:
            name = intern(eval_set_id), eval_id
            yield (*name, counts[name]), content_hash, _shared(result, known)
            counts[name] += 1


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


# --- how each differs ------------------------------------------------------------------------------------------------

_VERDICT_CHANGES = {
    (Outcome.PASSED, Outcome.FAILED): CaseChange.NOW_FAILS, (Outcome.FAILED, Outcome.PASSED): CaseChange.NOW_PASSES,
}  # fmt: skip
_CHANGES_WITHOUT_VERDICT = {  # before or now: a case that was not run before and now fails may have fallen
    (Outcome.NOT_RUN, Outcome.FAILED): CaseChange.MISSING, (Outcome.ERROR, Outcome.PASSED): CaseChange.NO_LONGER_IN_ERROR,
    (Outcome.ERROR, Outcome.FAILED): CaseChange.NO_LONGER_IN_ERROR, (Outcome.ERROR, Outcome.INCONCLUSIVE): CaseChange.NO_LONGER_IN_ERROR,
    (Outcome.FAILED, Outcome.ERROR): CaseChange.NOW_IN_ERROR, (Outcome.INCONCLUSIVE, Outcome.ERROR): CaseChange.NOW_IN_ERROR,
}  # fmt: skip


def changed_cases(pairs: Pairs, *, deterministic: bool = False) -> list[ChangedCase]:
    """Return the cases that changed, by kind, then by size. No change of a `deterministic` agent is noise."""
    cases = [
        ([*CaseChange].index(case.change), -_size_of_change(before, now), case)
        for key, before, now in pairs.both
        if (case := _changed_case(key, before, now, deterministic=deterministic)) is not None
    ]
    return [case for *_, case in sorted(cases, key=lambda each: each[:2])]


def _lacks_verdict(case: BriefCase) -> bool:
    return case.outcome in (Outcome.ERROR, Outcome.NOT_RUN)


def change_of(before: BriefCase, now: BriefCase, *, deterministic: bool = False) -> CaseChange | None:
    """Return how a case differs; `None` where it does not. What is certain despite missing verdicts comes before these."""
    if now.outcome is Outcome.NOT_RUN:
        return CaseChange.MISSING if before.trials.passed else None  # not reached: neither better nor worse
    outcomes = before.outcome, now.outcome
    change = _VERDICT_CHANGES.get(outcomes, before.trials.change_to(now.trials))
    if change is None:
        return _CHANGES_WITHOUT_VERDICT.get(outcomes)
    is_sure = deterministic or _lacks_verdict(now) or change is CaseChange.MISSING
    return change if is_sure or not before.trials.is_within_noise(now.trials) else CaseChange.WITHIN_NOISE


def _changed_case(key: Key, before: BriefCase, now: BriefCase, *, deterministic: bool) -> ChangedCase | None:
    if (change := change_of(before, now, deterministic=deterministic)) is None:
        return None
    passes_now = now.outcome is Outcome.PASSED is not before.outcome
    reason = "" if passes_now else now.reason
    reason_before = before.reason if _lacks_verdict(before) or not reason else ""
    metric = _metric_of_change(now if reason else before, before, now)
    scores = (before.scores[metric], now.scores[metric]) if metric else None
    return ChangedCase(*key[:2], change, before.trials, now.trials, metric, scores, reason, reason_before)


def _metric_of_change(described: BriefCase, before: BriefCase, now: BriefCase) -> str:
    """Return the deciding metric that the reason names, or if it names none, the one that moved furthest the way of the case."""
    moved = _moves(before, now)
    for name in described.gating:
        if re.search(rf"(?:^|\btrial \d+: ){re.escape(name)}[ :]", described.reason):
            return name if name in moved else ""
    best = max(moved, key=moved.__getitem__, default="")
    return best if best and moved[best] > 0 and not _lacks_verdict(described) else ""


def _moves(before: BriefCase, now: BriefCase) -> dict[str, float]:
    way = 1 if (now.trials.rate or 0) > (before.trials.rate or 0) else -1  # that the case went: up or down
    shared = [name for name in now.gating if name in before.scores and name in now.scores]
    return {name: (now.scores[name] - before.scores[name]) * way for name in shared}


def _size_of_change(before: BriefCase, now: BriefCase) -> float:
    rates = abs((before.trials.rate or 0.0) - (now.trials.rate or 0.0))
    return rates + max([0.0, *_moves(before, now).values()]) / 1e6
