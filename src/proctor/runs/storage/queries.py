"""Queries on stored runs: list, load and prune them."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from proctor.common.error_text import safe_repr
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.runs.arguments import accept_former_names, check_count
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.open import NoRunsError, StoreLike, as_store
from proctor.schema.results.manifest import RunRecord, RunState
from proctor.schema.results.run_result import Outcome, RunKind, RunResult
from proctor.stores.base import RunEntry, Store

_SET_SUFFIX = re.compile(r"\.(evalset|test)?\.?(jsonc?|json5|ya?ml)$")


# --- lists of runs ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter for lists of runs. A field that is not set matches every run."""

    agent: str | None = None
    """The agent's label; `*` and `?` are wildcards."""
    eval_set: str | None = None
    """The id of one of its sets, or the name of the set's file; `*` and `?` are wildcards."""
    outcome: Collection[Outcome] = ()
    state: Collection[RunState] = ()
    since: datetime | None = None
    until: datetime | None = None
    run_ids: Collection[str] | None = None
    """Only these runs."""

    def takes(self, run: RunRecord) -> bool:
        """Return whether the filter matches `run`."""
        return (
            self.takes_by_index(run)
            and (not self.outcome or run.summary.outcome in self.outcome)
            and (not self.state or run.state in self.state)
        )

    def takes_by_index(self, run: RunRecord | RunEntry) -> bool:
        """Return whether the filter matches a run, regardless of outcome and state."""
        return (
            (self.run_ids is None or run.run_id in self.run_ids)
            and (self.agent is None or fnmatchcase(run.agent, self.agent))
            and (self.eval_set is None or any(is_set(name, self.eval_set) for name in run.sets))
            and self._is_in_time(run.created_at)
        )

    def _is_in_time(self, created_at: float) -> bool:
        return (self.since is None or created_at >= _seconds(self.since)) and (
            self.until is None or created_at < _seconds(self.until)
        )


def starred_runs(store: Store) -> set[str]:
    """Return the ids of the runs that have a star."""
    return {run_id for run_id, annotation in store.annotations().items() if annotation.starred}


def is_set(name: str, pattern: str) -> bool:
    """Return whether `pattern` matches the set with the id `name`: by its id, or by the name of its file; `*` and `?` are wildcards.

    The id of a set that could not be run is its file: it is matched by the file's name without folder and suffix, too.
    """
    file = _name_of_file(pattern)
    return (
        name == pattern
        or fnmatchcase(name, pattern)
        or fnmatchcase(name, file)
        or (_SET_SUFFIX.search(name) is not None and fnmatchcase(_name_of_file(name), file))
    )


@lru_cache
def _name_of_file(path: str) -> str:
    return _SET_SUFFIX.sub("", Path(path).name)


def _seconds(when: datetime) -> float:
    """Return a Unix time. A time without a zone is local."""
    return when.timestamp()


def list_runs(  # noqa: PLR0913 - a filter each
    store: StoreLike = None,
    *,
    agent: str | None = None,
    eval_set: str | None = None,
    outcome: Outcome | str | None = None,
    state: RunState | str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    kind: RunKind | str = RunKind.RUN,
) -> list[RunRecord]:
    """Return the stored runs that match all filters, newest first.

    `agent` and `eval_set` may contain `*` and `?`; `outcome` and `state` are an `Outcome` and a `RunState`, or their names;
    `since` (inclusive) and `until` (exclusive) limit the start of a run. `kind="audit"` lists the audits instead.
    If the store does not exist yet, the list is empty.

    Raises:
        UnknownNameError: no outcome, state or kind has this name.
        SetupError: the limit is below 0.
        StoreError: the store cannot be read.
    """
    check_count("limit", limit)
    run_kind = _member_named(list(RunKind), "kind", kind)
    run_filter = RunFilter(
        agent=agent,
        eval_set=eval_set,
        outcome=[_member_named(_ENDS, "outcome", outcome)] if outcome is not None else (),
        state=[_member_named(list(RunState), "state", state)] if state is not None else (),
        since=since,
        until=until,
    )
    try:
        opened = as_store(store)
    except NoRunsError:
        return []
    return list(islice(filter(run_filter.takes, opened.runs(run_kind)), limit))


_Name = TypeVar("_Name", bound=StrEnum)


_ENDS = [Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.NOT_RUN]
"""The possible outcomes of a run."""


def _member_named(names: Sequence[_Name], what: str, value: str) -> _Name:
    """Return the member of `names` that equals `value`."""
    for name in names:
        if name == value:
            return name
    known = [name.value for name in names]
    raise UnknownNameError(
        f"No {what} named {str(value)!r}.{did_you_mean(str(value), known)} Known: {', '.join(known)}."
    )


@accept_former_names(judging="scoring")
def load_run(run: str = "latest", store: StoreLike = None, scoring: int | None = None) -> RunResult:
    """Return a stored run; its cases are read from the store on access.

    `run` is an id, the unambiguous beginning of one, `latest` or `latest~1`. `scoring` is the number of a scoring (1 is
    the run's own); without it the last one counts.

    Raises:
        UnknownNameError: no run has this name.
        SetupError: the last attempt to run failed, and the run is named by `latest`.
        StoreError: the store does not exist or cannot be read.
    """
    opened = as_store(store)
    return opened.load(find_current_run(opened, run), scoring)


# --- deletion ---------------------------------------------------------------------------------------------------------


def prune_runs(
    store: StoreLike = None,
    *,
    keep: int | None = None,
    older_than: timedelta | None = None,
    runs: Sequence[str] = (),
    dry_run: bool = False,
) -> list[RunRecord]:
    """Delete runs, and return the deleted ones (`dry_run`: those that would be deleted), newest first; audits come last.

    `keep`: delete all but the newest N runs and the newest N audits. `older_than`: delete those that began longer ago. With both, only runs that match both
    are deleted. `runs` names single runs. A run that is in progress and a run that is a baseline are never
    deleted.

    Raises:
        SetupError: no criterion is given, `keep` is below 0, a named run is in progress or a baseline, or it is named by `latest` and
            the last attempt to run failed.
        UnknownNameError: a named run does not exist.
    """
    check_count("keep", keep)
    if older_than is not None and not isinstance(older_than, timedelta):
        raise SetupError(f"older_than must be a timedelta, got {safe_repr(older_than)}")
    opened = as_store(store, read_only=False)
    if runs:
        doomed = _find_deletable(opened, runs)
    elif keep is None and older_than is None:
        raise SetupError("no selection of the runs to delete: give keep, older_than or runs")
    else:
        doomed = list(_older_runs(opened, keep or 0, older_than))
    if doomed and not dry_run:
        opened.delete([run.run_id for run in doomed])
    return doomed


def _find_deletable(store: Store, names: Sequence[str]) -> list[RunRecord]:
    from proctor.stores.baselines import baseline_names

    baselines = baseline_names(store, strict=True)
    run_names = [names] if isinstance(names, str) else names
    names_by_id = {find_current_run(store, name, with_audits=True): name for name in run_names}
    records = [run for run in store.runs(None) if run.run_id in names_by_id]
    for run in records:
        if run.state is RunState.RUNNING:
            raise SetupError(f"run {names_by_id[run.run_id]} is under way: it is not deleted")
        if called := baselines.get(run.run_id):
            raise SetupError(
                f"run {names_by_id[run.run_id]} is the baseline {' and '.join(called)}: it is not deleted. "
                f"Run `proctor baseline remove {called[0]}` first"
            )
    return records


def _older_runs(store: Store, keep: int, older_than: timedelta | None) -> Iterator[RunRecord]:
    from proctor.stores.baselines import baseline_names

    limit = time.time() - older_than.total_seconds() if older_than is not None else None
    baselines = baseline_names(store, strict=True)
    for run in chain.from_iterable(islice(store.runs(kind), keep, None) for kind in RunKind):
        if run.run_id in baselines:
            continue
        if run.state is not RunState.RUNNING and (limit is None or run.created_at < limit):
            yield run
