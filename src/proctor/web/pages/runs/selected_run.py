"""The run that a page shows, and the earlier runs of the same agent and sets with which it is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from proctor.reports.content.run_list import ListedRun
from proctor.reports.content.symbols import short_ids
from proctor.schema.results.manifest import RunRecord, RunState, scoring_number
from proctor.schema.results.run_result import Outcome
from proctor.stores.baselines import baseline_names
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.runs.run_page import StoredRun

if TYPE_CHECKING:
    from proctor.stores.base import RunEntry, Store

_MOST_CANDIDATES = 20
"""The most earlier runs among which one with the same cases is searched."""
_ENOUGH = 0.5
"""The share of the cases of a run that the run with which it is compared should have."""
_SHARED: BoundedCache[float] = BoundedCache(1_000)
"""The share of the cases of one run that another run has."""


@dataclass(frozen=True, slots=True)
class SelectedRun:
    """The run that a page shows, and the run with which it is compared; their cases are not read yet."""

    stored: StoredRun
    earlier: ListedRun | None
    """Of the runs of the same agent and sets the newest that is a baseline, else the previous one (see `closest_run`)."""
    kind: str = "previous"
    """The baseline's name, or `previous`."""

    @property
    def key(self) -> str | None:
        """The key of this run in a cache; `None` while the run may change."""
        run, earlier = self.stored.listed.run, self.earlier
        scoring = next(one for one in self.stored.scorings if one.number == self.stored.scoring)
        if run.state is not RunState.FINISHED or not scoring.finished:
            return None
        comparison = (
            f"{self.kind}/{earlier.run.run_id}/{earlier.run.scoring}/{earlier.run.summary!r}"
            if earlier
            else ""
        )
        return f"{run.run_id}/{self.stored.scoring}/{run.summary!r}/{comparison}"


def select_run(store: Store, name: str, scoring: int | None = None) -> SelectedRun:
    """Return the run called `name`: an id, the beginning of one, `latest` or `latest~1`.

    Raises:
        UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """
    run_id, entries = store.find(name), store.index()
    short = short_ids([entry.run_id for entry in entries])
    details = store.details(run_id)
    run, manifest, scorings = details.record, details.manifest, details.scorings
    run_entry = ListedRun(run, short[run_id], manifest.agent.commit, manifest.imported_from)
    stored = StoredRun(run_entry, manifest, scorings, scoring_number(scorings, scoring))
    earlier, kind = _comparison_run(store, entries, run)
    if earlier is None:
        return SelectedRun(stored, None)
    return SelectedRun(stored, list_run(store, earlier, short[earlier.run_id]), kind)


def _comparison_run(
    store: Store, entries: Sequence[RunEntry], run: RunRecord
) -> tuple[RunRecord | None, str]:
    """Return the finished run with which `run` is compared, and its kind: the newest baseline, else the closest earlier run.

    A run that shares no case with `run` is left out, unless `run` has reached none yet.
    """
    newer, older = _similar_runs(entries, run)
    baselines = baseline_names(store) if newer or older else {}
    candidates = _finished(store, filter(baselines.__contains__, [*newer, *older]))
    for record, share in _shares(store, run, candidates):
        if share:
            return record, next(iter(baselines[record.run_id]))
    return closest_run(store, run, _finished(store, older)), "previous"


def closest_run(store: Store, run: RunRecord, earlier: Iterable[RunRecord]) -> RunRecord | None:
    """Return the newest of the earlier runs that shares at least half of the cases that `run` has reached.

    If none does, it is the one that shares most of them; `None` if none shares any. `earlier`: finished runs, newest first, of which
    20 are looked at.
    """
    closest, most = None, 0.0
    for record, share in _shares(store, run, earlier):
        if share > most:
            closest, most = record, share
        if share >= _ENOUGH:
            break
    return closest


def _shares(store: Store, run: RunRecord, others: Iterable[RunRecord]) -> Iterator[tuple[RunRecord, float]]:
    """Yield the first runs with the share of the cases of `run` that each has.

    The share is remembered: of a run that is not finished, until the number of the cases that it has reached doubles.
    """
    reached = _count_reached(store, run)
    for other in islice(others, _MOST_CANDIDATES):
        key = run.run_id, run.scoring, run.state, reached.bit_length(), other.run_id, other.scoring
        yield other, _SHARED.get(key, partial(_shared_part, store, run, other)) if reached else 1.0


def _finished(store: Store, run_ids: Iterable[str]) -> Iterator[RunRecord]:
    return (record for record in map(store.record, run_ids) if record.state is RunState.FINISHED)


def earlier_runs(store: Store, run: RunRecord, most: int) -> list[ListedRun]:
    """Return the finished runs of the same agent and sets before a run, newest first."""
    entries = store.index()
    short = short_ids([entry.run_id for entry in entries])
    _, older = _similar_runs(entries, run)
    finished = _finished(store, older)
    return [list_run(store, record, short[record.run_id]) for record in islice(finished, most)]


def _similar_runs(entries: Sequence[RunEntry], run: RunRecord) -> tuple[list[str], list[str]]:
    """Return the ids of the complete runs of the same agent and sets that are newer than `run`, and of the older ones; newest first."""
    ids = [entry.run_id for entry in entries if entry.run_id == run.run_id or _is_similar(entry, run)]
    place = ids.index(run.run_id)
    return ids[:place], ids[place + 1 :]


def _is_similar(entry: RunEntry, run: RunRecord) -> bool:
    return entry.complete and entry.agent == run.agent and set(entry.sets) == set(run.sets)


def list_run(store: Store, run: RunRecord, short: str) -> ListedRun:
    """Return a run as an entry of a list, without its annotation."""
    manifest = store.manifest(run.run_id)
    return ListedRun(run, short, manifest.agent.commit, manifest.imported_from)


# --- the cases of two runs ----------------------------------------------------------------------------------------------

_NOT_REACHED = (Outcome.SKIPPED, Outcome.NOT_RUN)


def _count_reached(store: Store, run: RunRecord) -> int:
    """Return how many cases a run has reached so far; no case is read."""
    counts = store.standing(run.run_id, run.scoring).counts
    return sum(count for outcome, count in counts.items() if outcome not in _NOT_REACHED)


def _shared_part(store: Store, run: RunRecord, earlier: RunRecord) -> float:
    """Return the share (0 to 1) of the cases that `run` has reached which `earlier` has reached too, with the same content.

    It is 1 if `run` has reached none yet. The cases are read only if the sets of the runs differ.
    """
    manifests = store.manifest(run.run_id), store.manifest(earlier.run_id)
    hashes, others = ([one.content_hash for one in manifest.sets] for manifest in manifests)
    if all(hashes) and hashes == others:  # the same cases
        return 1.0
    known = dict(_reached_cases(store, earlier))
    cases = [*_reached_cases(store, run)]
    shared = sum(_is_same(content_hash, known.get(name)) for name, content_hash in cases)
    return shared / len(cases) if cases else 1.0


def _is_same(content_hash: str, other: str | None) -> bool:
    """Return whether a case has the same content in another run that may lack it, as far as both are known."""
    return other is not None and (other == content_hash or not (other and content_hash))


_Case = tuple[tuple[str, str], str]
"""The eval set and the id of a case, and the hash of its content; empty if it is unknown."""


def _reached_cases(store: Store, run: RunRecord) -> Iterator[_Case]:
    for case in store.briefly(run.run_id, run.scoring):
        if case.outcome not in _NOT_REACHED:
            yield (case.eval_set_id, case.eval_id), case.content_hash
