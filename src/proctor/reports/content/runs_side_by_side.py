"""The same case in several runs, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.reports.content.run_digest import decides
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult


@dataclass(slots=True)
class Row:
    """One case and its result for each agent (`None`: that run does not have it)."""

    eval_set_id: str
    eval_id: str
    cases: list[CaseResult | None]
    metric: str = ""
    """The metric that is shown: the first on which the agents differ, else the first."""

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
    def all_passed(self) -> bool:
        """Whether every agent passed."""
        return all(case is not None and case.outcome is Outcome.PASSED for case in self.cases)


def line_up(runs: Sequence[RunResult]) -> list[Row]:
    """Return one row for each case, in the order in which the cases first appear."""
    by_run = [_cases_by_name(run.cases) for run in runs]
    keys = list(dict.fromkeys(key for cases in by_run for key in cases))
    there = (metric for cases in by_run for case in cases.values() for metric in case.metrics.values())
    metrics = list(dict.fromkeys(metric.name for metric in there if decides(metric)))
    rows = []
    for key in keys:
        eval_set_id, eval_id, _ = key
        cases = [found.get(key) for found in by_run]
        rows.append(Row(eval_set_id, eval_id, cases, _telling_metric(cases, metrics)))
    return rows


def _cases_by_name(cases: Sequence[CaseResult]) -> dict[tuple[str, str, int], CaseResult]:
    """Return the cases by name and number: two sets may share an id, and their cases are paired in order."""
    found: dict[tuple[str, str, int], CaseResult] = {}
    times: Counter[tuple[str, str]] = Counter()
    for case in cases:
        name = case.eval_set_id, case.eval_id
        found[*name, times[name]] = case
        times[name] += 1
    return found


def _telling_metric(cases: Sequence[CaseResult | None], metrics: Sequence[str]) -> str:
    used = [name for name in metrics if any(case is not None and name in case.metrics for case in cases)]
    for name in used:
        if len({case if case is None else _score(case, name) for case in cases}) > 1:
            return name
    return used[0] if used else ""


def _score(case: CaseResult, metric: str) -> float | None:
    found = case.metrics.get(metric)
    return found.score if found is not None else None
