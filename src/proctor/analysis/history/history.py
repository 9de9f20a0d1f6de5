"""The history of cases over runs: when each case changed, and what differs between the runs."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import islice, pairwise
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING

from proctor.common.registry import METRICS
from proctor.errors import ProctorError, UnknownNameError
from proctor.runs.arguments import check_count
from proctor.runs.storage.open import StoreLike, is_open, open_runs
from proctor.runs.storage.queries import RunFilter
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.history import CaseHistory, CasePoint, MetricPoint, RunHistory
from proctor.schema.results.score import Outcome

if TYPE_CHECKING:
    from proctor.analysis.history.run_changes import RunChanges
    from proctor.analysis.history.selected_runs import SelectedRun, SelectedRuns
    from proctor.analysis.history.trends import CaseKey, MetricMeans
    from proctor.schema.results.manifest import PlannedCase
    from proctor.stores.base import Store

LIMIT = 50
"""The default number of runs."""


async def history(
    case: str | None = None,
    *,
    store: StoreLike = None,
    agent: str | None = None,
    eval_set: str | None = None,
    since: datetime | None = None,
    limit: int = LIMIT,
    combine_agents: bool = False,
) -> RunHistory:
    """Look back over runs; `history_sync` documents the arguments."""
    return await asyncio.to_thread(
        history_sync, case, store=store, agent=agent, eval_set=eval_set, since=since, limit=limit,
        combine_agents=combine_agents,
    )  # fmt: skip


def history_sync(
    case: str | None = None,
    *,
    store: StoreLike = None,
    agent: str | None = None,
    eval_set: str | None = None,
    since: datetime | None = None,
    limit: int = LIMIT,
    combine_agents: bool = False,
) -> RunHistory:
    """Look back over the newest runs: which cases broke, and in which run; which are flaky; what was fixed.

    `case` is the id of a case, or `set/case`: then each of its runs is returned in full, with its metrics and with what was
    changed since the run before. `agent` and `eval_set` select the runs and the set (both may have `*` and `?`),
    `since` from when on, `limit` how many runs at most (0: all).

    Each agent has a separate history: a case that two agents ran has two. With `combine_agents` the runs of
    all agents are one history, for an agent that was renamed.

    Raises:
        UnknownNameError: no run has such a case.
        SetupError: several sets have it, or the limit is below 0.
        StoreError: the store does not exist, or it cannot be read.
    """
    check_count("limit", limit)
    run_filter = RunFilter(agent=agent, eval_set=eval_set, since=since)
    if not is_open(store):
        with closing(open_runs(store, read_only=True)) as opened:
            return _history(opened, case, run_filter, limit, combined=combine_agents)
    return _history(store, case, run_filter, limit, combined=combine_agents)


def _history(
    store: Store, case: str | None, run_filter: RunFilter, limit: int, *, combined: bool
) -> RunHistory:
    from proctor.analysis.history.run_changes import RunChanges
    from proctor.analysis.history.selected_runs import SelectedRuns

    looked = SelectedRuns(store, run_filter, limit)
    changes = RunChanges(looked, combined=combined)
    history = _build_history(looked)
    history.combined = combined
    if case is None:
        _every_case(looked, changes, history)
    else:
        _keep_one_case(looked, changes, history, case, looked.where(case))
    return history


def histories(
    store: Store, eval_set: str, *, most: int, read: int
) -> Iterator[tuple[str | None, RunHistory]]:
    """Yield the history that `--set` shows (`None`), then of each case of the set with this id, with the case's id.

    `most`: how many cases of runs are looked at, and `read`: how many are read whole, for those by themselves; these come
    in the order in which they matter, and the last are left out.
    """
    from proctor.analysis.history.run_changes import RunChanges
    from proctor.analysis.history.selected_runs import SelectedRuns

    looked = SelectedRuns(store, RunFilter(eval_set=eval_set), LIMIT)
    looked.limit_cases(most)
    changes = RunChanges(looked, combined=False)
    history = _build_history(looked)
    _every_case(looked, changes, history)
    yield None, history
    own = (case.eval_id for case in history.cases if case.eval_set_id == eval_set)
    eval_ids = islice(dict.fromkeys(own), read)
    for eval_id, where in _find_cases(looked, eval_set, eval_ids).items():
        read -= len(where)
        if read < 0:
            return
        alone = _build_history(looked)
        _keep_one_case(looked, changes, alone, eval_id, where)
        yield eval_id, alone


def _build_history(looked: SelectedRuns) -> RunHistory:
    return RunHistory(
        [one.run for one in looked.runs], looked.older, [], sets=looked.sets, agents=looked.agents
    )


# --- all cases -------------------------------------------------------------------------------------------------------


_Where = Sequence[tuple["SelectedRun", "PlannedCase"]]
"""A case in the runs that have it, newest first."""


def _every_case(looked: SelectedRuns, changes: RunChanges, history: RunHistory) -> None:
    """Find what became of every case."""
    from proctor.analysis.history.trends import MetricMeans, case_histories

    means = MetricMeans()
    history.cases = case_histories(_points(looked, changes, means), changes.between)
    history.metrics = means.points(partial(_bounds, looked))
    history.changes = changes.all()


def _points(
    looked: SelectedRuns, changes: RunChanges, means: MetricMeans
) -> Iterator[tuple[CaseKey, CasePoint]]:
    """What became of every case that was reached, run by run, without evidence."""
    from proctor.analysis.history.trends import is_reached

    for one in looked.runs:
        means.begin(one.run.run_id, len(one.run.unread_sets))
        changes.begin(one.run.run_id)
        counts: defaultdict[tuple[str, str], int] = defaultdict(int)
        for position, case in enumerate(looked.store.briefly(one.run.run_id, one.scoring.number)):
            name = case.eval_set_id, case.eval_id
            place = counts[name]
            counts[name] += 1
            if not looked.takes(case.eval_set_id):
                continue
            if case.outcome is Outcome.NOT_RUN:
                means.add_not_run(one.run.run_id)
            if is_reached(case.outcome):
                means.add(case.outcome, case.metrics)
                changes.add(one.run.run_id, case, place)
                reason = "" if case.outcome is Outcome.PASSED else case.reason
                yield (
                    (changes.agent_of(one), *name, place),
                    CasePoint(
                        one.run, case.outcome, case.trials, reason, position, _NO_METRICS, case.content_hash
                    ),
                )


_NO_METRICS: Mapping[str, MetricPoint] = MappingProxyType({})


# --- one case --------------------------------------------------------------------------------------------------------


def _find_cases(looked: SelectedRuns, eval_set: str, eval_ids: Iterable[str]) -> dict[str, _Where]:
    """Return where each of these cases is: the first where a run has several of its id."""
    places: dict[str, dict[str, tuple[SelectedRun, PlannedCase]]] = {eval_id: {} for eval_id in eval_ids}
    for one in looked.runs:
        for case in looked.store.planned(one.run.run_id):
            if case.eval_set_id == eval_set and case.eval_id in places:
                places[case.eval_id].setdefault(one.run.run_id, (one, case))
    return {eval_id: [*by_run.values()] for eval_id, by_run in places.items()}


def _keep_one_case(
    looked: SelectedRuns, changes: RunChanges, history: RunHistory, name: str, where: _Where
) -> None:
    """Reduce the history to one case, run by run: one history for each agent, that with the newest run first."""
    history.runs = [one.run for one, _ in where]
    history.cases = _one_case(looked, changes, name, where)
    history.case = history.cases[0].name
    for case in history.cases:
        history.changes += changes.of(case.agent, case.eval_set_id)
        for point in case.points:
            for metric, of_run in point.metrics.items():
                history.metrics.setdefault(metric, {})[point.run.run_id] = of_run
    history.changes.sort(key=lambda one: -one.first.started_at)


def _one_case(looked: SelectedRuns, changes: RunChanges, name: str, where: _Where) -> list[CaseHistory]:
    """Return a case run by run, in full, for each agent; `where` it is.

    Raises:
        UnknownNameError: none of the runs reached it.
    """
    from proctor.analysis.history.trends import case_history

    eval_set_id, eval_id = where[0][1].eval_set_id, where[0][1].eval_id
    by_agent: defaultdict[str, list[CasePoint]] = defaultdict(list)
    for one, planned in where:
        if (point := _point_in_full(looked, one, planned)) is not None:
            by_agent[changes.agent_of(one)].append(point)
    if not by_agent:
        raise UnknownNameError(
            f"the case {name!r} is in {len(where)} of the runs, and none of them reached it"
        )
    for points in by_agent.values():
        for newer, older in pairwise(points):
            newer.changed = changes.between(eval_set_id, older, newer) or ()
    return [
        case_history((agent, eval_set_id, eval_id, 0), points, changes.between)
        for agent, points in by_agent.items()
    ]


def _point_in_full(looked: SelectedRuns, one: SelectedRun, planned: PlannedCase) -> CasePoint | None:
    """Return a case in one run with its metrics; `None` if the run did not reach it."""
    from proctor.analysis.history.trends import is_reached, of_trials

    case = looked.cases(one)[planned.position]
    if not is_reached(case.outcome):
        return None
    return CasePoint(
        one.run,
        case.outcome,
        tuple([trial.outcome for trial in case.trials]),
        "" if case.outcome is Outcome.PASSED else case.reason or case.missed,
        planned.position,
        {name: of_trials(metric, _bounds(looked, name)) for name, metric in case.metrics.items()},
        planned.content_hash,
    )


def _bounds(looked: SelectedRuns, name: str) -> tuple[float, float] | None:
    """Return the score range of a metric, if its facts or the runs define one."""
    if name == PASSED:
        return 0.0, 1.0
    if name not in METRICS:
        return looked.score_ranges.get(name)
    try:
        facts = METRICS.get(name).facts
    except (ProctorError, AttributeError, TypeError):  # a custom metric
        return looked.score_ranges.get(name)
    low, high = (
        (-inf if facts.minimum is None else facts.minimum),
        (inf if facts.maximum is None else facts.maximum),
    )
    return float(low), float(high)
