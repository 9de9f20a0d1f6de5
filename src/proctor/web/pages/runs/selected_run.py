"""The run that a page shows, and the earlier runs of the same agent and sets with which it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from proctor.reports.content.run_list import ListedRun, short_ids
from proctor.runs.storage.queries import can_share_cases
from proctor.schema.results.manifest import RunRecord, RunState, judging_number
from proctor.stores.baselines import baseline_names
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.runs.run_page import StoredRun

if TYPE_CHECKING:
    from proctor.stores.base import RunEntry, Store

_MOST_CANDIDATES = 20
"""The most earlier runs in which a shared case is searched."""
_SHARED: BoundedCache[bool] = BoundedCache(1_000)
"""Whether two finished runs share a case."""


@dataclass(frozen=True, slots=True)
class SelectedRun:
    """The run that a page shows, and the run with which it is compared; their cases are not read yet."""

    stored: StoredRun
    earlier: ListedRun | None
    """Of the runs of the same agent and sets the newest that is a baseline, else the previous one."""
    kind: str = "previous"
    """The baseline's name, or `previous`."""

    @property
    def key(self) -> str | None:
        """The key of this run in a cache; `None` while the run may change."""
        run, earlier = self.stored.listed.run, self.earlier
        judging = next(one for one in self.stored.judgings if one.number == self.stored.judging)
        if run.state is not RunState.FINISHED or not judging.finished:
            return None
        comparison = (
            f"{self.kind}/{earlier.run.run_id}/{earlier.run.judging}/{earlier.run.summary!r}"
            if earlier
            else ""
        )
        return f"{run.run_id}/{self.stored.judging}/{run.summary!r}/{comparison}"


def select_run(store: Store, name: str, judging: int | None = None) -> SelectedRun:
    """Return the run called `name`: an id, the beginning of one, `latest` or `latest~1`.

    Raises:
        UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """
    run_id, entries = store.find(name), store.index()
    short = short_ids([entry.run_id for entry in entries])
    details = store.details(run_id)
    run, manifest, judgings = details.record, details.manifest, details.judgings
    run_entry = ListedRun(run, short[run_id], manifest.agent.commit, manifest.imported_from)
    stored = StoredRun(run_entry, manifest, judgings, judging_number(judgings, judging))
    earlier, kind = _comparison_run(store, entries, run)
    if earlier is None:
        return SelectedRun(stored, None)
    return SelectedRun(stored, list_run(store, earlier, short[earlier.run_id]), kind)


def _comparison_run(
    store: Store, entries: Sequence[RunEntry], run: RunRecord
) -> tuple[RunRecord | None, str]:
    """Return the finished run with which `run` is compared, and its kind: the newest baseline, else the previous run.

    A run that shares no case with `run` is left out, unless `run` has reached none yet.
    """
    ids = [entry.run_id for entry in entries if entry.run_id == run.run_id or _is_similar(entry, run)]
    place = ids.index(run.run_id)
    similar, older = ids[:place] + ids[place + 1 :], ids[place + 1 :]
    baselines = baseline_names(store) if similar else {}
    for run_id in [*filter(baselines.__contains__, similar), *older][:_MOST_CANDIDATES]:
        record = store.record(run_id)
        if record.state is RunState.FINISHED and _shares_cases(store, run, record):
            return record, next(iter(baselines.get(run_id, ())), "previous")
    return None, "previous"


def _shares_cases(store: Store, run: RunRecord, earlier: RunRecord) -> bool:
    is_final = run.state is RunState.FINISHED
    key = (run.run_id, run.judging, earlier.run_id, earlier.judging) if is_final else None
    return _SHARED.get(key, lambda: can_share_cases(store, run, earlier))


def earlier_runs(store: Store, run: RunRecord, most: int) -> list[ListedRun]:
    """Return the finished runs of the same agent and sets before a run, newest first."""
    entries = store.index()
    short = short_ids([entry.run_id for entry in entries])
    ids = [entry.run_id for entry in entries if entry.run_id == run.run_id or _is_similar(entry, run)]
    records = map(store.record, ids[ids.index(run.run_id) + 1 :])
    finished = (record for record in records if record.state is RunState.FINISHED)
    return [list_run(store, record, short[record.run_id]) for record in islice(finished, most)]


def _is_similar(entry: RunEntry, run: RunRecord) -> bool:
    return entry.complete and entry.agent == run.agent and set(entry.sets) == set(run.sets)


def list_run(store: Store, run: RunRecord, short: str) -> ListedRun:
    """Return a run as an entry of a list, without its annotation."""
    manifest = store.manifest(run.run_id)
    return ListedRun(run, short, manifest.agent.commit, manifest.imported_from)
