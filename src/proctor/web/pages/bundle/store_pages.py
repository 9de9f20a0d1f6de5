"""The pages of a single-file report that need a store: comparisons, histories, judges; and a comparison as one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO
from urllib.parse import quote

from proctor.analysis.calibration.labels import labels_for
from proctor.analysis.history.history import histories
from proctor.errors import SetupError, UnknownNameError
from proctor.reports.content.run_list import ListedRun
from proctor.runs.storage.queries import is_set
from proctor.schema.analysis.comparison import Comparison
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import JudgedBy, Outcome
from proctor.stores.base import Store
from proctor.web.pages.analysis.history import history_case, history_page
from proctor.web.pages.analysis.known_judges import known_judges
from proctor.web.pages.analysis.load_comparison import (
    MOST_RUNS,
    comparison_page_of,
    load_comparison,
    load_matrix,
    load_pairs,
)
from proctor.web.pages.bundle.html_report import about_file, add_runs
from proctor.web.pages.bundle.single_file import BuiltPage, SingleFileWriter, page_json
from proctor.web.pages.case.load_case import alignment_steps
from proctor.web.pages.runs.case_filters import case_extras
from proctor.web.pages.runs.load_run import RunCases, RunPageCache, read_cases
from proctor.web.pages.runs.run_page import StoredRun
from proctor.web.pages.runs.run_trends import cause_trend, cost_intervals
from proctor.web.pages.runs.selected_run import SelectedRun, select_run

if TYPE_CHECKING:
    from proctor.schema.analysis.calibration import Labelled
    from proctor.schema.analysis.history import RunHistory
    from proctor.schema.format.wire_model import PageModel
    from proctor.web.pages.analysis.comparison import ComparisonPage


class StoreExtras:
    """The data of a store that a report shows in addition to the results (see `html_report.ReportExtras`)."""

    def __init__(self, store: Store, scoring: int | None = None) -> None:
        """`store` must stay open while this object is used; `scoring`: by default the scoring that counts."""
        self._store, self._scoring = store, scoring

    def stored_run(self, run_id: str) -> StoredRun | None:
        """Return the stored run; `None` if the store does not have it."""
        try:
            return select_run(self._store, run_id, self._scoring).stored
        except UnknownNameError:
            return None

    def table(self, run_id: str) -> RunCases:
        """Return its cases, compared with the previous run of the same agent and sets."""
        return read_cases(self._store, select_run(self._store, run_id, self._scoring))

    def cases(self, run_id: str) -> Iterator[tuple[int, EvalCase]]:
        """Yield the cases as they were run, with their positions."""
        positions = range(self._store.record(run_id).cases)
        for position, document in self._store.case_documents(run_id, positions):
            yield position, EvalCase.model_validate_json(document)

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return the labels of people for the run."""
        return labels_for(self._store, self._store.load(run_id, self._scoring))

    def related_pages(self, run_ids: Sequence[str]) -> Iterator[PathAndPage]:
        """Yield the pages that relate runs to others, each with its path."""
        return related_pages(self._store, run_ids, self._scoring)

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, object]]:
        """Align the calls of a turn with the expected ones."""
        return alignment_steps(expected, actual)


# --- related pages: comparisons, a matrix, judges, histories ------------------------------------------------------------


PathAndPage = tuple[str, "PageModel | Iterable[str]"]
"""A page, or the pieces of its JSON, with the path by which the page in a browser requests it."""

MOST_PAIRS = 200
"""The changed cases of a comparison that a file shows side by side, the important ones first."""
MOST_VERDICTS = 60_000
"""The verdicts that the history in a file covers."""
MOST_READ = 1_000
"""The cases that are read with their evidence for the histories of single cases."""
MOST_COSTS = 100
"""The runs of a history whose costs have intervals (`OverTime.tsx`)."""
_NO_FAILURES = (Outcome.PASSED, Outcome.SKIPPED, Outcome.NOT_RUN)
_UNRESERVED = "-_.!~*'()"
"""The characters that `encodeURIComponent` does not escape, besides letters and digits: the page uses such paths."""


def api_path(path: str, **query: str) -> str:
    """Return a path with its query, escaped as the page escapes it."""
    pairs = [f"{name}={quote(value, _UNRESERVED, errors='replace')}" for name, value in query.items()]
    return f"{path}?{'&'.join(pairs)}" if pairs else path


def related_pages(store: Store, run_ids: Sequence[str], scoring: int | None = None) -> Iterator[PathAndPage]:
    """Yield the pages that a server shows about several runs, as far as their size is reasonable."""
    selected = [select_run(store, run_id, scoring) for run_id in dict.fromkeys(run_ids)]
    runs = [one.stored.listed for one in selected]
    ids = [entry.run.run_id for entry in sorted(runs, key=lambda entry: entry.run.created_at)]
    for base, candidate in _pairs_to_compare(selected, ids):
        yield from _comparison(store, base, candidate)
    if 1 < len(ids) <= MOST_RUNS:
        yield api_path("/api/matrix", runs=",".join(ids)), load_matrix(store, ids)
    for one in selected:
        run_id = one.stored.listed.run.run_id
        yield f"/api/runs/{run_id}/case-extras", case_extras(store, run_id, one.stored.scoring)
        if _has_failures(one):
            path = api_path(f"/api/runs/{run_id}/cause-trend", judging=str(one.stored.scoring))
            yield path, cause_trend(store, run_id, one.stored.scoring)
    yield from _judges(store, runs)
    for eval_set in sorted(_sets_of(store, runs)):
        yield from _history(store, eval_set)


def _sets_of(store: Store, runs: Sequence[ListedRun]) -> set[str]:
    """Return the sets of the runs; of one that could not be run also its ids in other runs, by the name of its file."""
    unread = {name for entry in runs for name in entry.run.unread_sets}
    known = {name for entry in store.index() for name in entry.sets} if unread else set[str]()
    same = {name for name in known if any(is_set(name, file) for file in unread)}
    return same.union(*(entry.run.sets for entry in runs))


def _has_failures(selected: SelectedRun) -> bool:
    counts = selected.stored.listed.run.summary.counts
    return sum(counts.values()) > sum(counts.get(one.value, 0) for one in _NO_FAILURES)


def _pairs_to_compare(selected: Sequence[SelectedRun], ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return each run with its earlier run, and two runs with each other."""
    pairs = [
        (one.earlier.run.run_id, one.stored.listed.run.run_id) for one in selected if one.earlier is not None
    ]
    if len(ids) == 2:
        pairs.append((ids[0], ids[1]))
    return list(dict.fromkeys(pairs))


def _comparison(store: Store, base: str, candidate: str) -> Iterator[PathAndPage]:
    with suppress(SetupError):  # the runs have no case in common
        page = load_comparison(store, base, candidate)
        yield api_path("/api/compare", base=base, candidate=candidate), page
        yield from side_by_side(store, page, MOST_PAIRS)


def side_by_side(store: Store, page: ComparisonPage, most: int | None = None) -> Iterator[PathAndPage]:
    """Yield the changed cases (the first `most`) of a comparison of stored runs, each with both its trials."""
    runs = {"base": page.base.run_id, "candidate": page.candidate.run_id}
    for case, pair in load_pairs(store, page, most):
        yield api_path("/api/compare/case", **runs, set=case.eval_set_id, case=case.eval_id), pair


def _judges(store: Store, runs: Sequence[ListedRun]) -> Iterator[PathAndPage]:
    """Yield the judges of these runs, with their calibrations."""
    judges = {by for entry in runs for by in entry.run.summary.judged_by}
    if judges:
        page = known_judges(store)
        page.items = [row for row in page.items if JudgedBy(row.metric, row.model, row.prompt) in judges]
        yield "/api/judges", page


def _history(store: Store, eval_set: str) -> Iterator[PathAndPage]:
    for case, history in histories(store, eval_set, most=MOST_VERDICTS, read=MOST_READ):
        if case is None:
            yield api_path("/api/history", set=eval_set), _history_json(history, eval_set)
            if runs := [run.run_id for run in history.runs if run.trial_cost is not None][:MOST_COSTS]:
                path = f"/api/history/costs?{'&'.join(f'run={run_id}' for run_id in runs)}"
                yield path, cost_intervals(store, RunPageCache(), runs)
        else:
            yield api_path("/api/history", set=eval_set, case=case), history_page(history)


def _history_json(history: RunHistory, eval_set: str) -> Iterator[str]:
    """Yield the JSON of the history of a set in pieces: as objects, the rows of all cases would be the most memory of a report."""
    page = history_page(history, options=["--set", eval_set], has_cases=False)
    yield '{"cases":['
    for number, case in enumerate(history.cases):
        yield f"{',' if number else ''}{page_json(history_case(history, case))}"
    yield f"],{page_json(page, exclude={'cases'}).removeprefix('{')}"


# --- a comparison as one file -------------------------------------------------------------------------------------------


def write_comparison_file(
    store: Store, comparison: Comparison, page: BuiltPage, out: TextIO, *, baseline: str = ""
) -> None:
    """Write a comparison to `out`: its page, both runs, and every changed case side by side.

    If the run of a baseline is not in `store`, the file contains only the figures of that run. `baseline`: the name of
    the stored baseline, if it is one.
    """
    view = comparison_page_of(store, comparison, baseline)
    path = api_path("/api/compare", base=comparison.base.run_id, candidate=comparison.candidate.run_id)
    file = SingleFileWriter(page, out, path.removeprefix("/api"))
    file.begin()
    file.add_initial(path, view)
    extras = StoreExtras(store)
    run_ids = [side.run_id for side in (view.base, view.candidate) if side.kept]
    stored = [run for run_id in dict.fromkeys(run_ids) if (run := extras.stored_run(run_id)) is not None]
    if len(stored) == len({comparison.base.run_id, comparison.candidate.run_id}):
        for place, pair in side_by_side(store, view):
            file.add(place, pair)
    add_runs(file, [store.load(run.listed.run.run_id) for run in stored], stored, extras)
    file.end()


# --- an audit as one file -----------------------------------------------------------------------------------------------


def write_audit_file(store: Store, run_id: str, page: BuiltPage, out: TextIO) -> None:
    """Write an audit to `out`: its page, and every case with the mutants that survive."""
    from proctor.web.pages.audit.audit_page import audit_alone, audit_page
    from proctor.web.pages.audit.audited_case import audited_case_page
    from proctor.web.pages.runs.run_list import RunsPage

    file = SingleFileWriter(page, out, f"/audits/{run_id}")
    file.begin()
    file.add_initial("/api/about", about_file())
    file.add_initial("/api/runs", RunsPage(items=[], next=None, total=0))
    file.add_initial("/api/audits", audit_alone(store, run_id))
    audit = audit_page(store, run_id)
    file.add_initial(f"/api/audits/{run_id}", audit)
    for case in audit.cases:
        path = f"/api/audits/{run_id}/cases/{case.position}"
        file.add(path, audited_case_page(store, run_id, case.position))
    file.end()
