"""The pages of comparisons, read from a store: two runs, one case of two runs, several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter

from proctor.analysis.compare.baselines import load_baseline
from proctor.analysis.compare.case_diff import diff_case
from proctor.analysis.compare.compare_runs import compare_sync
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.reports.content.symbols import short_ids
from proctor.runs.attempts import find_current_run
from proctor.runs.storage.open import store_option
from proctor.schema.analysis.comparison import ComparedRun, Comparison
from proctor.schema.results.manifest import PlannedCase, RunRecord, RunState
from proctor.schema.results.run_result import RunResult
from proctor.stores.base import Store
from proctor.stores.baselines import baseline_names
from proctor.web.pages.analysis.case_pair import PairPage, pair_page
from proctor.web.pages.analysis.comparison import (
    BaselineRow,
    BaselinesPage,
    CasePlaces,
    ChangedLine,
    ComparedRunPart,
    ComparisonPage,
    comparison_page,
    comparison_side,
)
from proctor.web.pages.runs.matrix import MatrixPage, MatrixRun, matrix_page
from proctor.web.pages.runs.selected_run import closest_run

MOST_RUNS = 12
"""The most runs of a matrix."""
_MOST_NAMES = 5_000
"""The most case ids among which similar ones are searched."""


_MOST_PAIRS = 20
"""The most pairs of runs in which a shared case is searched."""


def comparable_pair(store: Store) -> tuple[str, str]:
    """Return the newest run that is not in progress and shares a case with an earlier finished one, as baseline and candidate.

    The baseline is the closest run, as for the page of a run. `previous` and `latest` if there is none.
    """
    pairs = islice(_finished_pairs(store), _MOST_PAIRS)
    for candidate, of_candidate in groupby(pairs, key=itemgetter(1)):
        base = closest_run(store, candidate, map(itemgetter(0), of_candidate))
        if base is not None:
            return base.run_id, candidate.run_id
    return "previous", "latest"


def _finished_pairs(store: Store) -> Iterator[tuple[RunRecord, RunRecord]]:
    """Yield each run that is not in progress, the newest first, with each earlier finished one that has a set of it."""
    entries = store.index()
    for at, newer in enumerate(entries):
        candidate = store.record(newer.run_id)
        if candidate.state is RunState.RUNNING:
            continue
        for older in entries[at + 1 :]:
            if older.complete and set(older.sets) & set(newer.sets):
                base = store.record(older.run_id)
                if base.state is RunState.FINISHED:
                    yield base, candidate


def load_comparison(
    store: Store, base: str, candidate: str, *, margin: float | None = None, confidence: float = 0.95
) -> ComparisonPage:
    """Return the page of the comparison that `proctor compare` makes.

    Raises:
        SetupError: a number is out of range, or the runs have no case in common.
        UnknownNameError: there is no such run.
    """
    baseline = _as_baseline(store, base)
    now = find_current_run(store, candidate)
    if baseline is None:
        before = find_current_run(store, base)
        comparison = compare_sync(before, now, store=store, margin=margin, confidence=confidence)
    else:
        comparison = compare_sync(
            candidate=now, baseline=baseline, store=store, margin=margin, confidence=confidence
        )
    return comparison_page_of(store, comparison, baseline or "")


def comparison_page_of(store: Store, comparison: Comparison, baseline: str = "") -> ComparisonPage:
    """Return the page of a comparison of runs in `store`; `baseline`: the name of the stored baseline, if it is one."""
    short = short_ids([one.run_id for one in store.index()])
    sides = _side(store, comparison.base, short, baseline), _side(store, comparison.candidate, short)
    cases = _case_names(comparison)
    places = [_places(store, side.run_id, cases) if side.kept else {} for side in sides]
    return comparison_page(comparison, sides, (places[0], places[1]), store_option(store))


def _as_baseline(store: Store, name: str) -> str | None:
    """Return `name` if it is a baseline of the store and not a run; file names are not allowed here."""
    try:
        store.find(name)
    except UnknownNameError:
        return name if any(name in names for names in baseline_names(store).values()) else None
    return None


def load_baselines(store: Store) -> BaselinesPage:
    """Return the baselines of the store by name, without those whose files cannot be read."""
    ids_by_name = sorted((name, run_id) for run_id, names in baseline_names(store).items() for name in names)
    rows = []
    for name, run_id in ids_by_name:
        baseline = load_baseline(name, store)
        rows.append(
            BaselineRow(name=name, run_id=run_id, agent=baseline.agent, started_at=baseline.started_at)
        )
    return BaselinesPage(items=rows)


def _case_names(comparison: Comparison) -> set[str]:
    cases = [case.name for case in comparison.cases]
    return {*cases, *comparison.only_base, *comparison.only_candidate, *comparison.changed_cases}


def _places(store: Store, run_id: str, names: set[str]) -> CasePlaces:
    if not names:
        return {}
    positions: dict[str, int] = {}
    for case in store.planned(run_id):
        if (name := f"{case.eval_set_id}/{case.eval_id}") in names:
            positions.setdefault(name, case.position)
    return positions


def _side(store: Store, run: ComparedRun, short: dict[str, str], baseline: str = "") -> ComparedRunPart:
    commit = store.manifest(run.run_id).agent.commit if run.run_id in short else None
    return comparison_side(run, short.get(run.run_id), commit, baseline=baseline)


def load_pair(store: Store, base: str, candidate: str, eval_set_id: str, eval_id: str) -> PairPage:
    """Return one case of two runs side by side.

    Raises:
        UnknownNameError: there is no such run, or no such case in one of them.
    """
    runs = store.find(base), store.find(candidate)
    places = tuple(_find(store, run, eval_set_id, eval_id).position for run in runs)
    return _RunPair.between(store, runs).page((places[0], places[1]))


def load_pairs(
    store: Store, page: ComparisonPage, most: int | None = None
) -> Iterator[tuple[ChangedLine, PairPage]]:
    """Yield the first `most` (else all) changed cases of a comparison of stored runs, each side by side."""
    runs = _RunPair.between(store, (page.base.run_id, page.candidate.run_id))
    for case in page.cases[:most]:
        if case.base_position is not None and case.candidate_position is not None:
            yield case, runs.page((case.base_position, case.candidate_position))


@dataclass(frozen=True, slots=True)
class _RunPair:
    """Two runs, to show their cases side by side."""

    runs: tuple[RunResult, RunResult]
    sides: tuple[ComparedRunPart, ComparedRunPart]
    store: str
    """The option that names the store in a command."""

    @classmethod
    def between(cls, store: Store, runs: tuple[str, str]) -> _RunPair:
        short = short_ids([one.run_id for one in store.index()])
        base, candidate = (_side(store, _compared_run(store, run), short) for run in runs)
        return cls((store.load(runs[0]), store.load(runs[1])), (base, candidate), store_option(store))

    def page(self, places: tuple[int, int]) -> PairPage:
        """Return the cases at these positions side by side."""
        cases = self.runs[0].cases[places[0]], self.runs[1].cases[places[1]]
        return pair_page(diff_case(*cases), self.sides, cases, places, self.store)


def _compared_run(store: Store, run_id: str) -> ComparedRun:
    manifest = store.manifest(run_id)
    cases = sum(one.cases for one in manifest.sets)
    return ComparedRun(run_id, manifest.agent.label, cases, manifest.num_runs, manifest.created_at)


def _find(store: Store, run_id: str, eval_set_id: str, eval_id: str) -> PlannedCase:
    names: list[str] = []
    for case in store.planned(run_id):
        if (case.eval_set_id, case.eval_id) == (eval_set_id, eval_id):
            return case
        if len(names) < _MOST_NAMES:
            names.append(f"{case.eval_set_id}/{case.eval_id}")
    full_name = f"{eval_set_id}/{eval_id}"
    raise UnknownNameError(f"the run {run_id} has no case {full_name!r}.{did_you_mean(full_name, names)}")


def load_matrix(store: Store, names: Sequence[str]) -> MatrixPage:
    """Return several runs side by side.

    Raises:
        SetupError: there is no name, or there are more than `MOST_RUNS`.
        UnknownNameError: there is no such run.
    """
    if not 1 <= len(names) <= MOST_RUNS:
        raise SetupError(f"expected 1 to {MOST_RUNS} runs for a matrix, got {len(names)}")
    run_ids = [*dict.fromkeys(store.find(name) for name in names)]
    short = short_ids([one.run_id for one in store.index()])
    return matrix_page(
        [
            MatrixRun(
                store.record(run),
                short[run],
                store.manifest(run).agent.commit,
                [case for _, case in store.verdicts(run)],
            )
            for run in run_ids
        ]
    )
