"""Runs as pages show them: read from a store lightly, so that ten thousand cases are a table within moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from proctor.analysis.compare.case_pairing import BriefCase, Pairs, change_of, pair
from proctor.reports.content.run_digest import Digest
from proctor.reports.content.run_list import ListedRun, short_ids
from proctor.runs.lookup import judging_of
from proctor.runs.queries import RunFilter
from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.results.manifest import RunRecord, RunState
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.stores.baselines import baseline_names
from proctor.web.pages.runs.case_table import CaseRow, Changed, case_row
from proctor.web.pages.runs.figures import Figures
from proctor.web.pages.runs.notes import NotesPage, notes_page, turn_seconds
from proctor.web.pages.runs.run import Against, RunPage, run_page
from proctor.web.pages.runs.run_list import TREND, RunsPage, passed_of, run_row
from proctor.web.pages.runs.run_parts import KeptRun

if TYPE_CHECKING:
    from proctor.stores.base import RunEntry, Store


# --- the list -----------------------------------------------------------------------------------------------------------


def runs_page(store: Store, wanted: RunFilter, *, limit: int, before: str | None = None) -> RunsPage:
    """Return some of the runs that are `wanted`, newest first; `before`: those that come after this one in the list.

    Raises:
        UnknownNameError: the run `before` is not there.
    """
    entries = store.index()
    ids = [entry.run_id for entry in entries]
    first = ids.index(store.find(before)) + 1 if before else 0
    found = list(islice(_records(store, entries[first:], wanted), limit + 1))
    short, trends = short_ids(ids), _trends(store, entries, found[:limit])
    rows = [
        run_row(_listed(store, run, short[run.run_id]), trends.get(run.run_id, ())) for run in found[:limit]
    ]
    return RunsPage(items=rows, next=rows[-1].run_id if len(found) > limit else None, total=len(ids))


def _records(store: Store, entries: Sequence[RunEntry], wanted: RunFilter) -> Iterator[RunRecord]:
    """Read those of the runs that are wanted: one by one, where the index tells which that are."""
    if wanted.outcome or wanted.state:
        left = {entry.run_id for entry in entries}
        yield from (run for run in store.runs() if run.run_id in left and wanted.takes(run))
        return
    for entry in entries:
        if wanted.takes_by_index(entry):
            yield store.record(entry.run_id)


def _listed(store: Store, run: RunRecord, short: str) -> ListedRun:
    manifest = store.manifest(run.run_id)
    return ListedRun(run, short, manifest.agent.commit, manifest.imported_from)


def _trends(store: Store, entries: Sequence[RunEntry], runs: Sequence[RunRecord]) -> dict[str, list[float]]:
    """Return for each of the runs that ended the pass rates of its like up to it, oldest first."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {(run.agent, run.sets): [] for run in runs}
    for entry in entries:
        if entry.complete and (of_its_like := alike.get((entry.agent, entry.sets))) is not None:
            of_its_like.append(entry.run_id)
    rates: dict[str, float | None] = {run.run_id: _rate(run) for run in runs}
    found = {}
    for run in runs:
        if rates[run.run_id] is None or run.run_id not in (ids := alike[run.agent, run.sets]):
            continue
        known: list[float] = []
        for run_id in islice(ids, ids.index(run.run_id), None):
            if run_id not in rates:
                rates[run_id] = _rate(store.record(run_id))
            if (rate := rates[run_id]) is not None:
                known.append(rate)
            if len(known) == TREND:
                break
        found[run.run_id] = known[::-1]
    return found


def _rate(run: RunRecord) -> float | None:
    return passed_of(run).rate if run.state is RunState.FINISHED else None


# --- one run ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class RunLook:
    """What one light look at every case of a run found."""

    figures: Figures = field(default_factory=Figures)
    rows: list[bytes] = field(default_factory=list)
    """The rows of the table, as JSON."""
    against: Against | None = None


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that was looked for, and what is known of it before its cases are looked at."""

    kept: KeptRun
    earlier: ListedRun | None
    """What it is held against: of the same agent and sets the newest baseline that is a run here, else the run before."""
    kind: str = "previous"
    """The baseline's name, or `previous`."""

    @property
    def key(self) -> str | None:
        """What its look is known by; `None` while it may change."""
        run, earlier = self.kept.listed.run, self.earlier
        judging = next(one for one in self.kept.judgings if one.number == self.kept.judging)
        if run.state is not RunState.FINISHED or not judging.finished:
            return None
        beside = (
            f"{self.kind}/{earlier.run.run_id}/{earlier.run.judging}/{earlier.run.summary!r}"
            if earlier
            else ""
        )
        return f"{run.run_id}/{self.kept.judging}/{run.summary!r}/{beside}"


def find_kept(store: Store, name: str, judging: int | None = None) -> FoundRun:
    """Return the run called `name`: an id, the beginning of one, `latest` or `latest~1`.

    Raises:
        UnknownNameError: there is none, several begin so, or it has no such judging.
    """
    run_id, entries = store.find(name), store.index()
    short = short_ids([entry.run_id for entry in entries])
    place = next(place for place, entry in enumerate(entries) if entry.run_id == run_id)
    run, manifest = store.record(run_id), store.manifest(run_id)
    listed = ListedRun(run, short[run_id], manifest.agent.commit, manifest.imported_from)
    kept = KeptRun(listed, manifest, store.judgings(run_id), judging_of(store, run_id, judging))
    alike = [entry.run_id for entry in entries if entry is not entries[place] and _is_like(entry, run)]
    named = baseline_names(store) if alike else {}
    earlier = _finished(store, (one for one in alike if one in named))
    if earlier is None:
        before = {entry.run_id for entry in entries[place + 1 :]}
        earlier = _finished(store, (one for one in alike if one in before))
    if earlier is None:
        return FoundRun(kept, None)
    kind = named.get(earlier.run_id, ["previous"])[0]
    return FoundRun(kept, _listed(store, earlier, short[earlier.run_id]), kind)


def _is_like(earlier: RunEntry, run: RunRecord) -> bool:
    return earlier.complete and earlier.agent == run.agent and set(earlier.sets) == set(run.sets)


def _finished(store: Store, run_ids: Iterable[str]) -> RunRecord | None:
    """The first of the runs that nobody is at work on."""
    records = (store.record(run_id) for run_id in run_ids)
    return next((one for one in records if one.state is RunState.FINISHED), None)


def look_at(store: Store, found: FoundRun) -> RunLook:
    """Look once at every case of a run, and at those of the run that it is held against; no evidence is read."""
    look, rows = RunLook(), list[CaseRow]()
    run_id, judging = found.kept.listed.run.run_id, found.kept.judging
    seen = _seen(store.verdicts(run_id, judging), look.figures, rows)
    if found.earlier is None:
        for _ in seen:
            pass
    else:
        before = found.earlier.run
        pairs = pair(store.verdicts(before.run_id, before.judging), seen)
        changes = _mark(rows, pairs)
        look.against = _against(found.earlier, found.kind, changes, len(rows))
    to_json = CaseRow.__pydantic_serializer__.to_json
    look.rows = [to_json(row) for row in rows]
    return look


def _seen(
    cases: Iterable[tuple[str, CaseResult]], figures: Figures, rows: list[CaseRow]
) -> Iterator[tuple[str, CaseResult]]:
    for position, (content_hash, case) in enumerate(cases):
        figures.add(case)
        rows.append(case_row(position, case))
        yield content_hash, case


_Way = Literal["worse", "better"]


def _mark(rows: Sequence[CaseRow], pairs: Pairs) -> list[Changed]:
    """Write into each row how it differs, and return what was written."""
    places: defaultdict[tuple[str, str], list[CaseRow]] = defaultdict(list)
    for row in rows:
        if row.outcome is not Outcome.SKIPPED:
            places[row.eval_set_id, row.eval_id].append(row)
    found = []
    for (eval_set_id, eval_id, nth), before, now in pairs.both:
        row = places[eval_set_id, eval_id][nth]
        row.change, row.was = _way(before, now), before.outcome
        found.append((row.change, row.was))
    return found


def _way(before: BriefCase, now: BriefCase) -> _Way | None:
    match change_of(before, now):
        case CaseChange.REGRESSION | CaseChange.IN_ERROR:
            return "worse"
        case CaseChange.FIX:
            return "better"
        case CaseChange.FLAKY:
            return "worse" if (now.trials.rate or 0) < (before.trials.rate or 0) else "better"
    return None


def _against(earlier: ListedRun, kind: str, changes: Sequence[Changed], cases: int) -> Against:
    ways = [way for way, _ in changes]
    run = earlier.run
    return Against(
        run_id=run.run_id,
        short=earlier.short,
        kind=kind,
        created_at=run.created_at,
        outcome=run.summary.outcome,
        pass_rate=passed_of(run),
        worse=ways.count("worse"),
        better=ways.count("better"),
        same=ways.count(None),
        unpaired=cases - len(ways),
    )


def page_of(store: Store, found: FoundRun, look: RunLook) -> RunPage:
    """Return the page of a run that was looked at."""
    run = store.load(found.kept.listed.run.run_id, found.kept.judging)
    return run_page(run, look.figures, found.kept, look.against)


def notes_of(store: Store, found: FoundRun) -> NotesPage:
    """Look at every case of a run with the scores of its trials, and with its evidence where its user was played."""
    digest, turns = Digest(), list[float]()
    for case in store.load(found.kept.listed.run.run_id, found.kept.judging).cases:
        digest.add(case)
        turns += turn_seconds(case)
    return notes_page(digest, turns)
