"""Several runs on the same cases: a row per case, a column per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.common.safe_text import shorten
from proctor.reports.content.agent_matrix import CaseByAgent, line_up, metric_of
from proctor.reports.content.case_digest import ks_of
from proctor.reports.content.summary import passed_cases
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunRecord
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult
from proctor.web.pages.base import MeanFigure, PassedShare, copy_fields, mean_figure, passed_share
from proctor.web.pages.runs.case_table import SECONDS, TOKENS, strip_of

_LONGEST_WHY = 300


@dataclass(frozen=True, slots=True)
class MatrixRun:
    """One run with the results of its cases."""

    record: RunRecord
    short: str
    commit: str | None
    cases: Sequence[CaseResult]


class MatrixHead(PageModel):
    """One of the runs: a column."""

    run_id: str
    short: str
    agent: str
    commit: str | None
    started_at: float
    outcome: Outcome | None
    num_runs: int
    passed: PassedShare
    pass_hat: MeanFigure | None
    """The estimated probability that `k` trials of a case all pass; null if cases have one trial."""
    k: int
    """The largest number of trials for which the page of the run has this estimate."""
    seconds: MeanFigure | None
    """The mean duration of a turn in seconds."""
    tokens: MeanFigure | None
    """The mean number of tokens of a turn; null: not reported."""
    cost: float | None
    """US dollars per attempt at a trial, agent, simulated user and judges together; null: unknown."""


class MatrixCell(PageModel):
    """One case in one run."""

    position: int
    outcome: Outcome
    strip: str
    """One letter per trial."""
    score: float | None
    """The score of the cell's metric."""
    metric: str
    """The row's metric, unless the case failed only by others: the first of them."""
    why: str


class MatrixRow(PageModel):
    """One case."""

    eval_set_id: str
    eval_id: str
    metric: str
    """The most informative metric of the case; empty if none has a score."""
    differs: bool
    """Whether the runs differ in outcome or in that score."""
    cells: list[MatrixCell | None]
    """In the order of the runs; null: that run does not have the case."""


class MatrixPage(PageModel):
    """Runs side by side."""

    runs: list[MatrixHead]
    rows: list[MatrixRow]
    """Rows that differ first; of these and of the others, the worst result first."""
    different: int
    """The number of rows that differ."""


def matrix_page(runs: Sequence[MatrixRun]) -> MatrixPage:
    """Return runs side by side."""
    results = [RunResult(one.record.agent, one.cases) for one in runs]
    places = [{id(case): place for place, case in enumerate(one.cases)} for one in runs]
    rows = [_row(row, places) for row in line_up(results)]
    return MatrixPage(
        runs=[_head(one, result) for one, result in zip(runs, results, strict=True)],
        rows=rows,
        different=sum(row.differs for row in rows),
    )


def _head(run: MatrixRun, result: RunResult) -> MatrixHead:
    repeats = result.repeats
    k = max(ks_of(repeats), default=1)  # as on the page of the run
    hat = repeats.pass_hat(k) if k > 1 else None
    figures = {name: mean_figure(mean) for name, mean in repeats.means().items()}
    return copy_fields(
        MatrixHead,
        run,
        run.record,
        run.record.summary,
        started_at=run.record.created_at,
        passed=passed_share(passed_cases(result.counts, len(run.cases), len(run.record.unread_sets))),
        pass_hat=mean_figure(hat) if hat else None,
        k=k,
        seconds=figures.get(SECONDS),
        tokens=figures.get(TOKENS),
        cost=run.record.summary.trial_cost,
    )


def _row(row: CaseByAgent, places: Sequence[dict[int, int]]) -> MatrixRow:
    cells = [
        None if case is None else _cell(case, row.metric, there[id(case)])
        for case, there in zip(row.cases, places, strict=True)
    ]
    return MatrixRow.model_construct(
        eval_set_id=row.eval_set_id,
        eval_id=row.eval_id,
        metric=row.metric,
        differs=row.differs,
        cells=cells,
    )


def _cell(case: CaseResult, metric: str, position: int) -> MatrixCell:
    name = metric_of(case, metric)
    verdict = case.metrics.get(name)
    scored = case.outcome in {Outcome.PASSED, Outcome.FAILED, Outcome.INCONCLUSIVE}
    return MatrixCell.model_construct(
        position=position,
        outcome=case.outcome,
        strip=strip_of(trial.outcome for trial in case.trials),
        score=verdict.score if verdict is not None and scored else None,
        metric=name,
        why="" if case.outcome is Outcome.PASSED else shorten(case.reason or case.missed, _LONGEST_WHY),
    )
