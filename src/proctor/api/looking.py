"""Runs as pages show them: read from a store lightly, so that ten thousand cases are a table within moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from proctor.api.baselines import baseline_names
from proctor.api.runs import RunFilter
from proctor.api.viewing import judging_of
from proctor.engine.pairing import BriefCase, Pairs, change_of, pair
from proctor.reports.digest import Digest
from proctor.reports.pages.cases import CaseRow, Changed, case_row
from proctor.reports.pages.figures import Figures
from proctor.reports.pages.notes import NotesPage, notes_page, turn_seconds
from proctor.reports.pages.run import Against, RunPage, run_page
from proctor.reports.pages.run_parts import KeptRun
from proctor.reports.pages.runs import TREND, RunsPage, passed_of, run_row
from proctor.reports.run_list import ListedRun, short_ids
from proctor.schema.comparison import CaseChange
from proctor.schema.run import RunRecord, RunState
from proctor.schema.verdict import CaseResult, Outcome

if TYPE_CHECKING:
    from proctor.stores.base import Store


# --- the list -----------------------------------------------------------------------------------------------------------


def runs_page(store: Store, wanted: RunFilter, *, limit: int, before: str | None = None) -> RunsPage:
    """Return some of the runs that are `wanted`, newest first; `before`: those that come after this one in the list.

    Raises:
        UnknownNameError: the run `before` is not there.
    """
    everything = list(store.runs())
    ids = [run.run_id for run in everything]
    first = ids.index(store.find(before)) + 1 if before else 0
    found = [run for run in everything[first:] if wanted.takes(run)]
    short, trends = short_ids(ids), _trends(everything)
    rows = [
        run_row(_listed(store, run, short[run.run_id]), trends.get(run.run_id, ())) for run in found[:limit]
    ]
    return RunsPage(items=rows, next=rows[-1].run_id if len(found) > limit else None, total=len(ids))


def _listed(store: Store, run: RunRecord, short: str) -> ListedRun:
    manifest = store.manifest(run.run_id)
    return ListedRun(run, short, manifest.agent.commit, manifest.imported_from)


def _trends(runs: Sequence[RunRecord]) -> dict[str, list[float]]:
    """Return for each run that ended the pass rates of its like up to it, oldest first."""
    rates: defaultdict[tuple[str, tuple[str, ...]], list[float]] = defaultdict(list)
    found = {}
    for run in reversed(runs):
        rate = passed_of(run).rate
        if run.state is RunState.FINISHED and rate is not None:
            rates[run.agent, run.sets].append(rate)
            found[run.run_id] = rates[run.agent, run.sets][-TREND:]
    return found


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
    run_id = store.find(name)
    everything = list(store.runs())
    short = short_ids([run.run_id for run in everything])
    place = next(place for place, run in enumerate(everything) if run.run_id == run_id)
    run, manifest = everything[place], store.manifest(run_id)
    listed = ListedRun(run, short[run_id], manifest.agent.commit, manifest.imported_from)
    kept = KeptRun(listed, manifest, store.judgings(run_id), judging_of(store, run_id, judging))
    alike = [one for one in everything if one is not run and _is_like(one, run)]
    named = baseline_names(store) if alike else {}
    earlier = next((one for one in alike if one.run_id in named), None)
    if earlier is None:
        before = {one.run_id for one in everything[place + 1 :]}
        earlier = next((one for one in alike if one.run_id in before), None)
    if earlier is None:
        return FoundRun(kept, None)
    kind = named.get(earlier.run_id, ["previous"])[0]
    return FoundRun(kept, _listed(store, earlier, short[earlier.run_id]), kind)


def _is_like(earlier: RunRecord, run: RunRecord) -> bool:
    return (
        earlier.agent == run.agent
        and set(earlier.sets) == set(run.sets)
        and earlier.state is RunState.FINISHED
    )


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
