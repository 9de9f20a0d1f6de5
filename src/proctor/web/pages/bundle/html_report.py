"""The report `html`: the pages of runs in one HTML file that loads nothing from elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TextIO, cast

from proctor.common.ascending_lookup import AscendingLookup
from proctor.common.version import __version__
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_data import StoredCase
from proctor.reports.content.failure_causes import FailureGroup, cause_of
from proctor.reports.content.public_text import write_note_page
from proctor.reports.content.run_list import ListedRun
from proctor.reports.content.symbols import SHORTEST
from proctor.schema.analysis.calibration import Labelled
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.format.case import EvalCase
from proctor.schema.results.manifest import (
    AgentManifest,
    Manifest,
    RunRecord,
    RunState,
    RunSummary,
    ScoringManifest,
)
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.web.pages.base import change_figures
from proctor.web.pages.bundle.single_file import CompressedText, SingleFileWriter, page_json, read_page
from proctor.web.pages.case.case import CasePlace, case_page
from proctor.web.pages.case.judge_votes import judges_page
from proctor.web.pages.case.spans import spans_page
from proctor.web.pages.case.trial import trial_page
from proctor.web.pages.case.turn import Align
from proctor.web.pages.runs.case_table import CaseRow, case_row
from proctor.web.pages.runs.run_list import RunsPage, run_row
from proctor.web.pages.runs.run_page import Figures, StoredRun, notes_page, run_page, turn_seconds
from proctor.web.pages.start import AboutPage

if TYPE_CHECKING:
    from proctor.schema.format.invocation import Invocation
    from proctor.schema.format.wire_model import PageModel
    from proctor.stats.intervals import ClusteredMean
    from proctor.web.pages.runs.case_changes import Against
    from proctor.web.pages.runs.load_run import RunCases


class HtmlReport:
    """Runs, their cases, and every trial, as a web page in one file."""

    needs_evidence: ClassVar[bool] = True
    shows_extras: ClassVar[bool] = True

    def __init__(self) -> None:
        """Read the built page.

        Raises:
            SetupError: it is not built.
        """
        self._page = read_page()

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, case by case."""
        failures = [run.failure for run in runs if run.failure and run.failure.where == CONFIGURATION]
        if options.note or failures:
            write_note_page(out, options.note or public_text.cause(failures[0]))
            return
        extras = cast(
            "ReportExtras | None", options.extras
        )  # the plug-in contract cannot name a page's types
        stored = [_stored_run(run, number, extras) for number, run in enumerate(runs, 1)]
        start = f"/runs/{stored[0].listed.run.run_id}" if len(stored) == 1 else "/runs"
        file = SingleFileWriter(self._page, out, start)
        file.begin()
        add_runs(file, runs, stored, extras)
        file.end()


def add_runs(
    file: SingleFileWriter,
    runs: Sequence[RunResult],
    stored: Sequence[StoredRun],
    extras: ReportExtras | None,
) -> None:
    """Add runs to a file, with the list of them."""
    file.add_initial("/api/about", about_file())
    rows = [run_row(run.listed) for run in stored]
    file.add_initial("/api/runs", RunsPage(items=rows, next=None, total=len(rows)))
    by_id = {run.listed.run.run_id: (result, run) for result, run in zip(runs, stored, strict=True)}
    for run, stored_run in by_id.values():  # each once
        _add_run(file, run, stored_run, extras if run.run_id else None)
    if extras is not None:
        for path, page in extras.related_pages([run.run_id for run in runs if run.run_id]):
            file.add(path, page)


def about_file() -> AboutPage:
    """Return the project that a file has: none."""
    return AboutPage(
        version=__version__, project="", store="", agents=[], any_agent=False, can_run=False,
        why_not="this is a file: a server (`proctor web`) can start runs", has_token=False,
    )  # fmt: skip


def _add_run(file: SingleFileWriter, run: RunResult, stored: StoredRun, extras: ReportExtras | None) -> None:
    run_id = stored.listed.run.run_id
    path = f"/api/runs/{run_id}"
    figures, rows, turns = Figures(), list[str](), list[float]()
    labels, ranges = _labels(extras, run_id), run.score_ranges
    documents = AscendingLookup(extras.cases(run_id) if extras is not None else iter(()))
    for neighbours, case in _with_neighbours(run.cases):
        position = neighbours[1]
        figures.add(case)
        if extras is None:
            rows.append(page_json(case_row(position, case, cause_of(case))))
        turns += turn_seconds(case)
        view = _view(run, ranges, stored, case, documents.get(position), extras)
        _add_case(file, f"{path}/cases/{position}", view, neighbours, labels)
    against: Against | None = None
    means: dict[str, ClusteredMean] = {}
    causes: Sequence[FailureGroup] = ()
    texts, total = iter(rows), len(rows)
    if extras is not None:
        table = extras.table(run_id)
        texts = (page_json(CaseRow.model_validate_json(row)) for row in table.rows)
        total = len(table.rows)
        against, means, causes = table.against, table.changes, table.causes
    changes = change_figures(means, run.score_ranges)
    file.add_initial(path, run_page(run, figures, stored, against, changes, causes))
    file.add_initial_json(f"{path}/cases", CompressedText(_table(texts, total)).pieces())
    file.add_initial(
        f"{path}/notes", notes_page(figures.digest.case_warnings, figures.digest.whose_fault, turns)
    )


def _table(rows: Iterable[str], total: int) -> Iterator[str]:
    """Yield the JSON of a table of cases in pieces."""
    yield '{"items": ['
    for number, row in enumerate(rows):
        yield f", {row}" if number else row
    yield f'], "total": {total}}}'


_Labels = Mapping[tuple[str, str, int], Sequence[Labelled]]
"""The labels of people, by set, case and trial."""


def _labels(extras: ReportExtras | None, run_id: str) -> _Labels:
    labels: defaultdict[tuple[str, str, int], list[Labelled]] = defaultdict(list)
    for label in extras.labels(run_id) if extras is not None else ():
        labels[label.key[:3]].append(label)
    return labels


@dataclass(frozen=True, slots=True)
class _Case:
    """The data of a case's pages."""

    view: StoredCase
    expected: EvalCase | None
    total: int
    align: Align | None


def _view(
    run: RunResult,
    ranges: Mapping[str, tuple[float, float]],
    stored: StoredRun,
    case: CaseResult,
    expected: EvalCase | None,
    extras: ReportExtras | None,
) -> _Case:
    view = StoredCase(
        stored.listed.run.run_id, stored.listed.short, run.agent, stored.listed.run.created_at, case, stored.scoring,
        badges={name: badge for name, badge in run.badges.items() if name in case.metrics},
        ranges=ranges,
        scenario=expected.conversation_scenario if expected else None,
    )  # fmt: skip
    return _Case(view, expected, len(run.cases), extras.align if extras is not None else None)


def _add_case(
    file: SingleFileWriter, path: str, case: _Case, neighbours: _Neighbours, labels: _Labels
) -> None:
    view, (before, position, after) = case.view, neighbours
    file.add(path, case_page(view, position, case.total, previous=before, following=after))
    for index, trial in enumerate(view.case.trials):
        trial_path = f"{path}/trials/{trial.number}"
        file.add(trial_path, trial_page(view, position, index, expected=case.expected, align=case.align))
        file.add(f"{trial_path}/spans", spans_page(view.run_id, position, trial.number, trial.trial))
        of_trial = labels.get((view.case.eval_set_id, view.case.eval_id, trial.number), ())
        file.add(f"{trial_path}/judges", judges_page(view, position, index, labels=of_trial))


_Neighbours = tuple[CasePlace | None, int, CasePlace | None]
"""The previous case, the position of this one, and the next case."""


def _with_neighbours(cases: Sequence[CaseResult]) -> Iterator[tuple[_Neighbours, CaseResult]]:
    """Yield each case with its neighbours; every case is read once."""
    before: CasePlace | None = None
    current: tuple[CasePlace, CaseResult] | None = None
    for position, case in enumerate(cases):
        place = CasePlace(position=position, eval_set_id=case.eval_set_id, eval_id=case.eval_id)
        if current is not None:
            yield (before, current[0].position, place), current[1]
            before = current[0]
        current = place, case
    if current is not None:
        yield (before, current[0].position, None), current[1]


def _stored_run(run: RunResult, number: int, extras: ReportExtras | None) -> StoredRun:
    """Return the stored run; for a run that is not stored, what its result contains."""
    if extras is not None and run.run_id and (stored := extras.stored_run(run.run_id)) is not None:
        return stored
    run_id = run.run_id or f"run-{number}"
    manifest = Manifest(run_id=run_id, created_at=run.started_at, agent=AgentManifest(label=run.agent))
    summary = RunSummary(
        outcome=run.outcome,
        counts={outcome.value: count for outcome, count in run.counts.items()},
        duration=run.duration,
        interrupted=run.interrupted,
        stopped_by=run.stopped_by,
        spent=run.spent,
        unreported=run.unreported,
        judged_by=run.judged_by,
    )
    sets = tuple(one.eval_set_id for one in run.sets)
    record = RunRecord(
        run_id, run.started_at, run.agent, sets, run.num_runs, len(run.cases), RunState.FINISHED, summary,
        unread_sets=tuple(run.unread_sets),
    )  # fmt: skip
    scoring = ScoringManifest(number=1, created_at=run.started_at, finished=True)
    return StoredRun(ListedRun(record, run_id[:SHORTEST]), manifest, [scoring], 1)


# --- the additional data of stored runs ---------------------------------------------------------------------------------


class ReportExtras(Protocol):
    """The data of stored runs that the report shows in addition to their results."""

    def stored_run(self, run_id: str) -> StoredRun | None:
        """Return the stored run; `None` if it is not stored."""
        ...

    def table(self, run_id: str) -> RunCases:
        """Return its cases, compared with the previous run of the same agent and sets."""
        ...

    def cases(self, run_id: str) -> Iterator[tuple[int, EvalCase]]:
        """Yield the cases as they were run, with their positions."""
        ...

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return the labels of people for the run."""
        ...

    def related_pages(self, run_ids: Sequence[str]) -> Iterator[tuple[str, PageModel | Iterable[str]]]:
        """Yield pages (or the pieces of their JSON) that relate runs to others, each with its path in the API."""
        ...

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, object]]:
        """Align the calls of a turn with the expected ones."""
        ...
