"""The web page of runs as one file: everything that the server's page shows of them, nothing loaded from anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TextIO, cast

from proctor.common.quick_dataclasses import dataclass
from proctor.common.version import __version__
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.case_data import CaseView
from proctor.reports.content.run_list import SHORTEST, ListedRun
from proctor.reports.formats.html_note import write_note_page
from proctor.schema.analysis.label import Labelled
from proctor.schema.evidence.trial import CONFIGURATION
from proctor.schema.format.case import EvalCase
from proctor.schema.results.manifest import AgentManifest, Judging, Manifest, RunRecord, RunState, RunSummary
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.web.pages.about import AboutPage
from proctor.web.pages.bundle.single_file import OneFile, read_page
from proctor.web.pages.case.case import CasePlace, case_page
from proctor.web.pages.case.judges import judges_page
from proctor.web.pages.case.spans import spans_page
from proctor.web.pages.case.trial import trial_page
from proctor.web.pages.case.turn import Align
from proctor.web.pages.runs.case_table import CaseRow, CasesPage, case_row
from proctor.web.pages.runs.figures import Figures
from proctor.web.pages.runs.notes import notes_page, turn_seconds
from proctor.web.pages.runs.run import run_page
from proctor.web.pages.runs.run_list import RunsPage, run_row
from proctor.web.pages.runs.run_parts import KeptRun

if TYPE_CHECKING:
    from proctor.schema.format.invocation import Invocation
    from proctor.schema.results.page_model import PageModel
    from proctor.web.pages.runs.run import Against


class HtmlReport:
    """Runs, their cases, and every trial, as a web page in one file."""

    needs_evidence: ClassVar[bool] = True
    looks_beside: ClassVar[bool] = True

    def __init__(self) -> None:
        """Read the page.

        Raises:
            SetupError: it is not built.
        """
        self._page = read_page()

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out`, a case at a time."""
        failures = [run.failure for run in runs if run.failure and run.failure.where == CONFIGURATION]
        if options.note or failures:
            write_note_page(out, options.note or public_text.cause(failures[0]))
            return
        beside = cast("Beside | None", options.beside)  # the plug-in contract cannot name a page's types
        kept = [_kept(run, number, beside) for number, run in enumerate(runs, 1)]
        start = f"/runs/{kept[0].listed.run.run_id}" if len(kept) == 1 else "/runs"
        file = OneFile(self._page, out, start)
        file.begin()
        add_runs(file, runs, kept, beside)
        file.end()


def add_runs(
    file: OneFile, runs: Sequence[RunResult], kept: Sequence[KeptRun], beside: Beside | None
) -> None:
    """Put runs into a file, with the list of them."""
    file.keep("/api/about", _about())
    rows = [run_row(one.listed) for one in kept]
    file.keep("/api/runs", RunsPage(items=rows, next=None, total=len(rows)))
    for run, one in zip(runs, kept, strict=True):
        _add_run(file, run, one, beside if run.run_id else None)
    if beside is not None:
        for path, page in beside.around([run.run_id for run in runs if run.run_id]):
            file.add(path, page)


def _about() -> AboutPage:
    return AboutPage(
        version=__version__, project="", store="", agents=[], any_agent=False, can_run=False,
        why_not="this is a file: a server (`proctor web`) can start runs", has_token=False,
    )  # fmt: skip


def _add_run(file: OneFile, run: RunResult, kept: KeptRun, beside: Beside | None) -> None:
    run_id = kept.listed.run.run_id
    path = f"/api/runs/{run_id}"
    figures, rows, turns = Figures(), list[Any](), list[float]()
    labels = _labels(beside, run_id)
    for place, case in _with_places(run.cases):
        figures.add(case)
        rows.append(case_row(place[1], case))
        turns += turn_seconds(case)
        _add_case(file, f"{path}/cases/{place[1]}", _view(run, kept, case, place[1], beside), place, labels)
    against = None
    if beside is not None:
        told, against = beside.rows(run_id)
        rows = [CaseRow.model_validate_json(row) for row in told]
    file.keep(path, run_page(run, figures, kept, against))
    file.keep(f"{path}/cases", CasesPage(items=rows, total=len(rows)))
    file.keep(f"{path}/notes", notes_page(figures.digest, turns))


_Labels = Mapping[tuple[str, str, int], Sequence[Labelled]]
"""What people said, by set, case and trial."""


def _labels(beside: Beside | None, run_id: str) -> _Labels:
    found: defaultdict[tuple[str, str, int], list[Labelled]] = defaultdict(list)
    for label in beside.labels(run_id) if beside is not None else ():
        found[label.key[:3]].append(label)
    return found


@dataclass(frozen=True, slots=True)
class _Case:
    """A case with all that its pages are made of."""

    view: CaseView
    expected: EvalCase | None
    total: int
    align: Align | None


def _view(run: RunResult, kept: KeptRun, case: CaseResult, position: int, beside: Beside | None) -> _Case:
    run_id = kept.listed.run.run_id
    expected = beside.case(run_id, position) if beside is not None else None
    view = CaseView(
        run_id, kept.listed.short, run.agent, kept.listed.run.created_at, case, kept.judging,
        badges={name: badge for name, badge in run.badges.items() if name in case.metrics},
        scenario=expected.conversation_scenario if expected else None,
    )  # fmt: skip
    return _Case(view, expected, len(run.cases), beside.align if beside is not None else None)


def _add_case(file: OneFile, path: str, case: _Case, place: _Place, labels: _Labels) -> None:
    view, (before, position, after) = case.view, place
    file.add(path, case_page(view, position, case.total, previous=before, following=after))
    for index, trial in enumerate(view.case.trials):
        here = f"{path}/trials/{trial.number}"
        file.add(here, trial_page(view, position, index, expected=case.expected, align=case.align))
        file.add(f"{here}/spans", spans_page(view.run_id, position, trial.number, trial.trial))
        said = labels.get((view.case.eval_set_id, view.case.eval_id, trial.number), ())
        file.add(f"{here}/judges", judges_page(view, position, index, labels=said))


_Place = tuple[CasePlace | None, int, CasePlace | None]
"""The case before, the position of this one, and the case after it."""


def _with_places(cases: Sequence[CaseResult]) -> Iterator[tuple[_Place, CaseResult]]:
    """Yield each case with its neighbours; every case is read once."""
    before: CasePlace | None = None
    current: tuple[int, CaseResult] | None = None
    for position, case in enumerate(cases):
        after = CasePlace(position=position, eval_set_id=case.eval_set_id, eval_id=case.eval_id)
        if current is not None:
            yield (before, current[0], after), current[1]
            before = CasePlace(
                position=current[0], eval_set_id=current[1].eval_set_id, eval_id=current[1].eval_id
            )
        current = position, case
    if current is not None:
        yield (before, current[0], None), current[1]


def _kept(run: RunResult, number: int, beside: Beside | None) -> KeptRun:
    """A run as its store has it; what is known of one that is not kept."""
    if beside is not None and run.run_id and (found := beside.kept(run.run_id)) is not None:
        return found
    run_id = run.run_id or f"run-{number}"
    manifest = Manifest(run_id=run_id, created_at=run.started_at, agent=AgentManifest(label=run.agent))
    summary = RunSummary(
        outcome=run.outcome,
        counts={outcome.value: count for outcome, count in run.counts.items()},
        duration=run.duration,
        interrupted=run.interrupted,
        stopped_by=run.stopped_by,
        spent=run.spent,
        judged_by=run.judged_by,
    )
    sets = tuple(one.eval_set_id for one in run.sets)
    record = RunRecord(
        run_id, run.started_at, run.agent, sets, run.num_runs, len(run.cases), RunState.FINISHED, summary
    )
    judging = Judging(number=1, created_at=run.started_at, finished=True)
    return KeptRun(ListedRun(record, run_id[:SHORTEST]), manifest, [judging], 1)


# --- What the one-file report shows besides the results of its runs ---------------------------------------------------


class Beside(Protocol):
    """What is known of runs beside their results, where they are kept."""

    def kept(self, run_id: str) -> KeptRun | None:
        """Return the run as its store has it; `None` where it is not there."""
        ...

    def rows(self, run_id: str) -> tuple[Sequence[bytes], Against | None]:
        """Return its cases as rows of JSON, held against the run before of its like, where there is one."""
        ...

    def case(self, run_id: str, position: int) -> EvalCase | None:
        """Return a case as it was run."""
        ...

    def labels(self, run_id: str) -> Sequence[Labelled]:
        """Return what people said of its answers."""
        ...

    def around(self, run_ids: Sequence[str]) -> Iterator[tuple[str, PageModel]]:
        """Yield pages of what lies around runs (how they compare, what was before), each behind its path in our own API."""
        ...

    def align(self, expected: Invocation, actual: Invocation) -> Sequence[Mapping[str, Any]]:
        """Put the calls of a turn beside the expected ones."""
        ...
