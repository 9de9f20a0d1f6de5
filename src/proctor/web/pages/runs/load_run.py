"""The pages of runs, read from a store: the list, one run, its notes; with the cache of runs that no longer change.

The table of a run is read without evidence and without the scores of its trials, so that a run of ten thousand cases
opens quickly.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from proctor.analysis.compare.sides import Key, Pairs, pair, side_cases
from proctor.analysis.history.selected_runs import is_selection
from proctor.reports.content.case_digest import CaseWarnings
from proctor.reports.content.failure_causes import FailureCause, FailureGroup, cause_of, group_failures
from proctor.reports.content.symbols import short_ids
from proctor.runs.storage.queries import RunFilter
from proctor.schema.results.case_result import FaultRates
from proctor.schema.results.manifest import NO_ANNOTATION, RunRecord, RunState
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.stats.intervals import ClusteredMean
from proctor.web.pages.base import change_figures, passed_of
from proctor.web.pages.bounded_cache import BoundedCache
from proctor.web.pages.runs.case_changes import Against, Changed, Direction, count_changes, direction_of
from proctor.web.pages.runs.case_filters import CaseExtras, case_extras
from proctor.web.pages.runs.case_table import CaseRow, case_row, recorded_trials
from proctor.web.pages.runs.run_list import TREND, PassedCases, RunsPage, run_row
from proctor.web.pages.runs.run_page import Figures, NotesPage, RunPage, notes_page, run_page, turn_seconds
from proctor.web.pages.runs.selected_run import SelectedRun, list_run, select_run

if TYPE_CHECKING:
    from proctor.stores.base import RunEntry, Store

# --- the list -----------------------------------------------------------------------------------------------------------


def runs_page(store: Store, criteria: RunFilter, *, limit: int, before: str | None = None) -> RunsPage:
    """Return the newest runs that meet `criteria`; with `before` those that follow this run in the list.

    Raises:
        UnknownNameError: there is no run `before`.
    """
    entries = store.index()
    ids = [entry.run_id for entry in entries]
    first = ids.index(store.find(before)) + 1 if before else 0
    records = list(islice(_records(store, entries[first:], criteria), limit + 1))
    short, trends = short_ids(ids), _trends(store, entries, records[:limit])
    annotations = store.annotations()
    rows = [
        run_row(
            list_run(store, run, short[run.run_id]),
            trends.get(run.run_id, ()),
            annotations.get(run.run_id, NO_ANNOTATION),
        )
        for run in records[:limit]
    ]
    return RunsPage(items=rows, next=rows[-1].run_id if len(records) > limit else None, total=len(ids))


def _records(store: Store, entries: Sequence[RunEntry], criteria: RunFilter) -> Iterator[RunRecord]:
    """Read the runs that meet `criteria`; if the index can decide that, the others are not read."""
    if criteria.outcome or criteria.state:
        candidates = {entry.run_id for entry in entries}
        yield from (run for run in store.runs() if run.run_id in candidates and criteria.takes(run))
        return
    for entry in entries:
        if criteria.takes_by_index(entry):
            yield store.record(entry.run_id)


def _trends(
    store: Store, entries: Sequence[RunEntry], runs: Sequence[RunRecord]
) -> dict[str, list[PassedCases]]:
    """Return for each finished run of all cases those that passed in the runs of the same agent and sets up to it, oldest first.

    Runs of chosen cases are left out, as the line of a history leaves them out.
    """
    similar: dict[tuple[str, tuple[str, ...]], list[str]] = {(run.agent, run.sets): [] for run in runs}
    for entry in entries:
        if entry.complete and (ids := similar.get((entry.agent, entry.sets))) is not None:
            ids.append(entry.run_id)
    listed = {run.run_id: run for run in runs}
    trends = {}
    for ids in similar.values():
        last = max((at for at, run_id in enumerate(ids) if run_id in listed), default=0)
        records = [
            listed[run_id] if run_id in listed else store.record(run_id) for run_id in ids[: last + TREND]
        ]
        passed = _passed_in_whole_runs(store, records)
        for at, run_id in enumerate(ids[: last + 1]):
            if run_id in listed and passed[at] is not None:
                known = [one for one in passed[at:] if one is not None]
                trends[run_id] = known[:TREND][::-1]
    return trends


def _passed_in_whole_runs(store: Store, runs: Sequence[RunRecord]) -> list[PassedCases | None]:
    """Return the cases that passed in each run; `None`: it is of chosen cases, or has no pass rate."""
    most = max((run.cases for run in runs), default=0)
    return [
        None if run.cases < most and is_selection(store.manifest(run.run_id)) else _passed(run)
        for run in runs
    ]


def _passed(run: RunRecord) -> PassedCases | None:
    passed = passed_of(run)
    is_known = run.state is RunState.FINISHED and passed.rate is not None
    return PassedCases(count=passed.count, of=passed.of) if is_known else None


# --- one run ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class RunCases:
    """The results of one pass over the cases of a run."""

    figures: Figures = field(default_factory=Figures)
    rows: list[bytes] = field(default_factory=list)
    """The rows of the table, as JSON."""
    against: Against | None = None
    changes: dict[str, ClusteredMean] = field(default_factory=dict)
    """By metric, the change since the run `against`."""
    causes: list[FailureGroup] = field(default_factory=list)


def read_cases(store: Store, selected: SelectedRun) -> RunCases:
    """Read every case of a run and of the run with which it is compared once; no evidence is read."""
    result, rows = RunCases(), _Rows()
    run_id, scoring = selected.stored.listed.run.run_id, selected.stored.scoring
    causes, earlier = list[FailureCause | None](), list[FailureCause | None]()
    cases = _collect_rows(store.verdicts(run_id, scoring), causes, result.figures, rows)
    if selected.earlier is None:
        for _ in cases:
            pass
    else:
        before = selected.earlier.run
        earlier_cases = _note_causes(store.verdicts(before.run_id, before.scoring), earlier)
        pairs = pair(side_cases(earlier_cases), side_cases(cases))
        changes = _mark_changes(rows, pairs)
        result.changes = _score_changes(pairs)
        not_run = len(pairs.both) - len(changes)
        result.against = _against(selected, count_changes(changes, len(rows.texts), not_run))
    result.causes, joined = group_failures(
        filter(None, causes), filter(None, earlier) if result.against else None
    )
    for position, cause in enumerate(causes):
        if cause is not None and joined[cause].text != cause.text:
            rows.update(position, cause=joined[cause].text)
    for position, fields in recorded_trials(store, run_id, scoring, rows.undecided):
        rows.update(position, **fields)
    result.rows = rows.texts
    return result


def brief_page(store: Store, name: str, scoring: int | None = None) -> RunPage:
    """Return the page of a run without what all its cases must be read for: figures of metrics and repeats, changes.

    Raises:
        UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """
    selected = select_run(store, name, scoring)
    run = store.load(selected.stored.listed.run.run_id, selected.stored.scoring)
    return run_page(run, Figures(), selected.stored, _against(selected))


def brief_rows(
    store: Store, name: str, scoring: int | None, offset: int, limit: int
) -> tuple[list[bytes], int]:
    """Return rows of the table of cases without their changes, as JSON, and the number of all; the others are not read.

    Raises:
        UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """
    stored = select_run(store, name, scoring).stored
    total = stored.listed.run.cases
    positions = range(total)[offset : offset + limit]
    cases = store.verdicts(stored.listed.run.run_id, stored.scoring, positions)
    rows = _Rows()
    for position, (_, case) in zip(positions, cases, strict=True):
        rows.add(case_row(position, case, cause_of(case)))
    for position, fields in recorded_trials(store, stored.listed.run.run_id, stored.scoring, rows.undecided):
        rows.update(position - positions.start, **fields)
    return rows.texts, total


def _row_json(row: CaseRow) -> bytes:
    return CaseRow.__pydantic_serializer__.to_json(row)


def _note_causes(
    cases: Iterable[tuple[str, CaseResult]], causes: list[FailureCause | None]
) -> Iterator[tuple[str, CaseResult]]:
    for content_hash, case in cases:
        causes.append(cause_of(case))
        yield content_hash, case


def _collect_rows(
    cases: Iterable[tuple[str, CaseResult]], causes: list[FailureCause | None], figures: Figures, rows: _Rows
) -> Iterator[tuple[str, CaseResult]]:
    for position, (content_hash, case) in enumerate(cases):
        causes.append(cause_of(case))
        figures.add(case)
        rows.add(case_row(position, case, causes[-1]))
        yield content_hash, case


class _Rows:
    """The rows of a table as JSON, which takes a quarter of the memory; what other cases decide is written into it afterwards."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self.places: dict[Key, int] = {}
        """The position of each case that was not skipped."""
        self.undecided: list[int] = []
        """The positions of the cases without a verdict."""
        self._times: Counter[tuple[str, str]] = Counter()

    def add(self, row: CaseRow) -> None:
        """Add a row without a change."""
        self.texts.append(_row_json(row))
        if row.outcome is Outcome.NOT_RUN:
            self.undecided.append(row.position)
        if row.outcome is not Outcome.SKIPPED:
            name = row.eval_set_id, row.eval_id
            self.places[*name, self._times[name]] = row.position
            self._times[name] += 1

    def mark(self, position: int, change: Direction | None, was: Outcome) -> None:
        """Write how a case changed."""
        head = self.texts[position].removesuffix(_UNCHANGED)
        self.texts[position] = (
            head + json.dumps({"change": change, "was": was}, separators=(",", ":"))[1:].encode()
        )

    def update(self, position: int, **fields: str) -> None:
        """Write other values of these fields into a row."""
        row = CaseRow.model_validate_json(self.texts[position])
        self.texts[position] = _row_json(row.model_copy(update=fields))


_UNCHANGED = b'"change":null,"was":null}'
"""The end of the JSON of a row."""


def _mark_changes(rows: _Rows, pairs: Pairs) -> list[Changed]:
    """Write into each row how the case changed, and return the changes of the cases that were run."""
    changes = []
    for key, before, now in pairs.both:
        change = direction_of(before, now)
        rows.mark(rows.places[key], change, before.outcome)
        if now.outcome is not Outcome.NOT_RUN:
            changes.append((change, before.outcome))
    return changes


def _score_changes(pairs: Pairs) -> dict[str, ClusteredMean]:
    """Return by metric the mean change of the scores of the cases that both runs have."""
    means: defaultdict[str, ClusteredMean] = defaultdict(ClusteredMean)
    for _, before, now in pairs.both:
        for name, score in now.scores.items():
            if name in before.scores:
                means[name].add(score - before.scores[name], 1)
    return means


def _against(selected: SelectedRun, counts: Mapping[str, int] = MappingProxyType({})) -> Against | None:
    """Return the run with which the selected one is compared; `counts`: of the changes, once every case is read."""
    if selected.earlier is None:
        return None
    run = selected.earlier.run
    return Against(
        run_id=run.run_id,
        short=selected.earlier.short,
        kind=selected.kind,
        created_at=run.created_at,
        outcome=run.summary.outcome,
        pass_rate=passed_of(run),
        **counts,
    )


def _load_notes(store: Store, selected: SelectedRun) -> NotesPage:
    """Read every case with the scores of its trials, and with its evidence if its user was simulated."""
    warnings, faults, turns = CaseWarnings(), FaultRates(), list[float]()
    for case in store.load(selected.stored.listed.run.run_id, selected.stored.scoring).cases:
        warnings.add(case)
        faults.add(case)
        turns += turn_seconds(case)
    return notes_page(warnings, faults, turns)


# --- the cache ----------------------------------------------------------------------------------------------------------

_CACHE_BYTES = 64 * 1024 * 1024
_FEW_CASES = 1000
_FIRST_ROWS = 24
"""The rows of a longer table that the page draws before it reads the others: they fill a window."""
_SMALL = 10_000
"""Bytes that the fixed part of a page takes, roughly."""


class RunPageCache:
    """Loads the pages of runs; what it read of a run that no longer changes stays in memory.

    Each method raises UnknownNameError: there is no such run or scoring, or several ids begin like this.
    """

    def __init__(self) -> None:
        self._cases: BoundedCache[RunCases] = BoundedCache(_CACHE_BYTES)
        self._notes: BoundedCache[NotesPage] = BoundedCache(_CACHE_BYTES)
        self._extras: BoundedCache[CaseExtras] = BoundedCache(_CACHE_BYTES)

    def run(self, store: Store, name: str, scoring: int | None = None) -> RunPage:
        """Return the page of the run called `name`."""
        selected = select_run(store, name, scoring)
        cases = self._read(store, selected)
        run = store.load(selected.stored.listed.run.run_id, selected.stored.scoring)
        changes = change_figures(cases.changes, run.score_ranges)
        return run_page(run, cases.figures, selected.stored, cases.against, changes, cases.causes)

    def rows(self, store: Store, name: str, scoring: int | None = None) -> list[bytes]:
        """Return the rows of its table of cases, as JSON."""
        return self._read(store, select_run(store, name, scoring)).rows

    def first_rows(self, store: Store, name: str, scoring: int | None = None) -> tuple[list[bytes], int]:
        """Return the rows that a page draws first, as JSON, and the number of all.

        Of at most `_FEW_CASES` these are all rows with their changes: their order is final. Of more they are the first ones
        without their changes.
        """
        selected = select_run(store, name, scoring)
        if selected.stored.listed.run.cases > _FEW_CASES:
            return brief_rows(store, name, scoring, 0, _FIRST_ROWS)
        rows = self._read(store, selected).rows
        return rows, len(rows)

    def notes(self, store: Store, name: str, scoring: int | None = None) -> NotesPage:
        """Return its notes, which take all evidence to know."""
        selected = select_run(store, name, scoring)
        return self._notes.get(selected.key, lambda: _load_notes(store, selected), lambda _: _SMALL)

    def extras(self, store: Store, name: str, scoring: int | None = None) -> CaseExtras:
        """Return tags, tools and costs of its cases, which take all evidence to know."""
        selected = select_run(store, name, scoring)
        run_id, number = selected.stored.listed.run.run_id, selected.stored.scoring
        return self._extras.get(
            selected.key,
            lambda: case_extras(store, run_id, number),
            lambda extras: _SMALL + 32 * len(extras.costs),
        )

    def _read(self, store: Store, selected: SelectedRun) -> RunCases:
        return self._cases.get(
            selected.key,
            lambda: read_cases(store, selected),
            lambda cases: _SMALL + sum(map(len, cases.rows)) + 64 * len(cases.rows),
        )
