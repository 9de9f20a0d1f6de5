"""The same cases in the runs of several agents, side by side: a row for each case, a column for each agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from proctor.reports.content.case_digest import decides, is_repeated, ks_of, mean_text
from proctor.reports.content.case_words import WORDS
from proctor.reports.content.summary import attention, passed_share
from proctor.reports.content.symbols import short_names
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Fact,
    Gap,
    Line,
    Record,
    Row,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    outcome_role,
)
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult

_METRICS_FROM = 80
"""Columns of a page that has room for the names of metrics."""
MOST_ROWS = 50
"""Rows in which the agents agree that people see, unless every one is asked for."""


def matrix_blocks(
    runs: Sequence[RunResult], rows: Sequence[CaseByAgent], style: TextStyle, *, only_different: bool
) -> Iterator[Block]:
    """Return the table of the rows, in their order; of those that do not differ at most `MOST_ROWS`."""
    different = [row for row in rows if row.differs]
    same = [row for row in rows if not row.differs]
    counts = f"cases={len(rows)}", f"different={len(different)}"
    agents: list[Spans] = [[TextSpan(run.agent, "strong", is_data=True)] for run in runs]
    yield Fact("agents", agents, ("AGENTS", *(run.agent for run in runs), *counts))
    yield Gap()
    yield from _table(runs, different, [] if only_different else same, style)
    if only_different:
        are = "is" if len(same) == 1 else "are"
        text = f"{len(same)} of {len(rows)} cases {are} the same for all agents"
        yield Line([TextSpan(text, "dim")])


def _table(
    runs: Sequence[RunResult], different: Sequence[CaseByAgent], same: Sequence[CaseByAgent], style: TextStyle
) -> Iterator[Block]:
    rows = [*different, *same]
    short = short_names(sorted({metric for row in rows for metric in _metrics_of(row) if metric}))
    most = len(rows) if style.verbose else len(different) + MOST_ROWS
    table_rows = [_table_row(row, runs, short, style) for row in rows]
    columns = [Column("case", wraps=True, is_name=True), *(Column(run.agent, is_cut=True) for run in runs)]
    columns.append(Column("score of", is_drawn=style.width >= _METRICS_FROM))
    yield Table(columns, [*table_rows[:most], *_totals(runs, style)], is_plain=False)
    yield from (Record(row.record) for row in table_rows[most:])
    if len(rows) > most:
        yield Line([TextSpan(f"… {len(rows) - most} more on which all agree", "dim")])


def _table_row(
    row: CaseByAgent, runs: Sequence[RunResult], short: Mapping[str, str], style: TextStyle
) -> Row:
    fields = [f"{run.agent}={_field(case, row.metric)}" for run, case in zip(runs, row.cases, strict=True)]
    is_scored = any(case is not None and _score_text(case, row.metric) for case in row.cases)
    word = "DIFFERS" if row.differs else "SAME"
    record = (word, row.name, *fields, f"score={row.metric}" if is_scored else "")
    cells = [_cell(case, row.metric, short, style) for case in row.cases]
    metric = [TextSpan(short.get(row.metric, ""), "dim", is_data=True)]
    return Row([[TextSpan(row.name, is_data=True)], *cells, metric], record)


def _field(case: CaseResult | None, metric: str) -> str:
    if case is None:
        return Outcome.NOT_RUN.value
    return " ".join(filter(None, [case.outcome.value, _score_text(case, metric), _passed_text(case)]))


def _metrics_of(row: CaseByAgent) -> list[str]:
    return [row.metric, *(metric_of(case, row.metric) for case in row.cases if case is not None)]


def metric_of(case: CaseResult, metric: str) -> str:
    """Return the metric whose score a cell shows: `metric` of the row, unless the case failed only by others: the first of them."""
    missed = [verdict.name for verdict in case.metrics.values() if verdict.is_missed]
    return missed[0] if case.outcome is Outcome.FAILED and missed and metric not in missed else metric


def _cell(case: CaseResult | None, metric: str, short: Mapping[str, str], style: TextStyle) -> Spans:
    outcome = Outcome.NOT_RUN if case is None else case.outcome
    sign = TextSpan(f"{style.marks.outcome(outcome)} ", outcome_role(outcome))
    if case is None:
        return [sign, TextSpan(WORDS[outcome], "dim")]
    passed = TextSpan(f" {_passed_text(case)}".rstrip(), "warning" if case.flaky else "dim")
    return [sign, TextSpan(_score_text(case, metric, short) or WORDS[outcome]), passed]


def _passed_text(case: CaseResult) -> str:
    return f"{case.trials_passed}/{len(case.trials)}" if is_repeated(case) else ""


def _score_text(case: CaseResult, metric: str, short: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the score of the cell, after the name of its metric if that is not the row's."""
    name = metric_of(case, metric)
    verdict = case.metrics.get(name)
    if verdict is None or case.outcome is Outcome.ERROR:
        return ""
    score = verdict.text_of(verdict.score)
    return score if name == metric else f"{short.get(name, name)} {score}"


def _totals(runs: Sequence[RunResult], style: TextStyle) -> Iterator[Row]:
    """Return how many cases passed, and how sure it is that all trials of a case pass."""
    passed = [f"{run.counts.get(Outcome.PASSED, 0)} of {len(run.cases)}" for run in runs]
    yield _total("passed", passed)
    repeats = [run.repeats for run in runs if run.num_runs > 1]
    if ks := [k for each in repeats for k in ks_of(each)]:
        means = (run.repeats.pass_hat(max(ks)) for run in runs)
        yield _total(f"pass^{max(ks)}", [mean_text(mean, style.marks) if mean else "" for mean in means])


def _total(label: str, texts: Sequence[str]) -> Row:
    return Row([[TextSpan(text, "dim")] for text in (label, *texts, "")])


@dataclass(slots=True)
class CaseByAgent:
    """One case and its result for each agent (`None`: that run does not have it)."""

    eval_set_id: str
    eval_id: str
    cases: list[CaseResult | None]
    metric: str = ""
    """The metric that is shown: the first on which the agents differ, else the first that is missed, else the first."""

    @property
    def name(self) -> str:
        """`set/case`."""
        return f"{self.eval_set_id}/{self.eval_id}"

    @property
    def differs(self) -> bool:
        """Whether the agents differ in outcome or in the shown score."""
        return (
            len({case if case is None else (case.outcome, _score(case, self.metric)) for case in self.cases})
            > 1
        )

    @property
    def worst(self) -> tuple[int, float]:
        """The rank (`attention`) and the share of passed trials of its worst result: the lower, the worse."""
        return min((attention(case), passed_share(case)) for case in self.cases if case is not None)


def line_up(runs: Sequence[RunResult]) -> list[CaseByAgent]:
    """Return one row for each case: those that differ first, and of these and of the others the worst result first."""
    by_run = [_cases_by_name(run.cases) for run in runs]
    metrics = _deciding_metrics(case for cases in by_run for case in cases.values())
    rows = []
    for key in dict.fromkeys(key for cases in by_run for key in cases):
        eval_set_id, eval_id, _ = key
        cases = [cases_of_run.get(key) for cases_of_run in by_run]
        rows.append(CaseByAgent(eval_set_id, eval_id, cases, _metric_that_differs(cases, metrics)))
    return sorted(rows, key=lambda row: (not row.differs, *row.worst))


def names_to_list(rows: Iterable[CaseByAgent], *, only_different: bool) -> set[tuple[str, str]]:
    """Return the names of the cases to list of each agent: of all rows, or of those that differ."""
    return {(row.eval_set_id, row.eval_id) for row in rows if row.differs or not only_different}


def _cases_by_name(cases: Sequence[CaseResult]) -> dict[tuple[str, str, int], CaseResult]:
    """Return the cases by name and number: two sets may share an id, and their cases are paired in order."""
    by_name: dict[tuple[str, str, int], CaseResult] = {}
    times: Counter[tuple[str, str]] = Counter()
    for case in cases:
        name = case.eval_set_id, case.eval_id
        by_name[*name, times[name]] = case
        times[name] += 1
    return by_name


def _deciding_metrics(cases: Iterable[CaseResult]) -> list[str]:
    names = (metric.name for case in cases for metric in case.metrics.values() if decides(metric))
    return list(dict.fromkeys(names))


def _metric_that_differs(cases: Sequence[CaseResult | None], metrics: Sequence[str]) -> str:
    used = [name for name in metrics if any(case is not None and name in case.metrics for case in cases)]
    for name in used:
        if len({case if case is None else _score(case, name) for case in cases}) > 1:
            return name
    misses = [name for name in used if any(_misses(case, name) for case in cases)]
    return next(iter(misses or used), "")


def _misses(case: CaseResult | None, metric: str) -> bool:
    verdict = case.metrics.get(metric) if case is not None else None
    return verdict is not None and verdict.is_missed


def _score(case: CaseResult, metric: str) -> float | None:
    verdict = case.metrics.get(metric)
    return verdict.score if verdict is not None else None
