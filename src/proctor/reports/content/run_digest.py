"""What a report computes from all cases of a run: totals, the worst cases, the same case in several runs.

The cases of a stored run are read from the store at each access, and there may be very many. The digest therefore needs one
pass over the cases and keeps none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from proctor.reports.content.case_text import warnings_of
from proctor.reports.content.summary import FLAKY_ATTENTION, attention
from proctor.schema.results.case_result import FaultRates, Repeats
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult


@dataclass(frozen=True, slots=True)
class _Figure:
    metric: str
    unit: str
    form: str


_FIGURES = (
    _Figure("tool_call_count_v1", "tool calls", "{:,.1f}"),
    _Figure("inference_call_count_v1", "model calls", "{:,.1f}"),
    _Figure("token_usage_v1", "tokens", "{:,.0f}"),
    _Figure("invocation_duration_v1", "s", "{:,.2f}"),
)
_MOST_NAMED = 3
"""Cases that a warning names; more are counted."""


class CaseWarnings:
    """The warnings of all cases of a run: each once, with the first cases that it is about."""

    def __init__(self) -> None:
        self._warnings: dict[str, tuple[list[str], int]] = {}  # the first cases, and how many there are

    def add(self, case: CaseResult) -> None:
        """Take one case."""
        for warning in warnings_of(case):
            eval_ids, count = self._warnings.get(warning, ([], 0))
            self._warnings[warning] = (eval_ids + [case.eval_id] * (count < _MOST_NAMED), count + 1)

    def texts(self, shown_counts: Mapping[str, int] = MappingProxyType({})) -> list[str]:
        """Return the warnings with their cases.

        `shown_counts`: the number of cases for which each warning is already shown; a warning that is shown for all is left out.
        """
        return [
            f"{warning} ({_some(eval_ids, count)})"
            for warning, (eval_ids, count) in self._warnings.items()
            if count > shown_counts.get(warning, 0)
        ]


class Digest:
    """The totals over all cases of a run."""

    def __init__(self, cases: Iterable[CaseResult] = ()) -> None:
        self.trials: Counter[Outcome] = Counter()
        """Trials by outcome."""
        self.repeats = Repeats()
        self.whose_fault = FaultRates()
        self.thresholds: dict[str, set[float | None]] = {}
        """The metrics that decide, in the order in which they appear, and their thresholds."""
        self.case_warnings = CaseWarnings()
        self._figures: dict[str, tuple[float, int]] = {}
        for case in cases:
            self.add(case)

    def add(self, case: CaseResult) -> None:
        """Take one case."""
        self.repeats.add(case)
        self.whose_fault.add(case)
        for trial in case.trials:
            self.trials[trial.outcome] += 1
        for name, metric in case.metrics.items():
            if decides(metric):
                self.thresholds.setdefault(name, set()).add(metric.threshold)
        self.case_warnings.add(case)
        for figure in _FIGURES:
            metric_of = case.metrics.get(figure.metric)
            if metric_of is not None and metric_of.score is not None:
                total, count = self._figures.get(figure.metric, (0.0, 0))
                self._figures[figure.metric] = (total + metric_of.score, count + 1)

    @property
    def gating(self) -> list[str]:
        """The names of the metrics that decide, in the order in which they appear."""
        return list(self.thresholds)

    @property
    def is_repeated(self) -> bool:
        """Whether any case has several trials."""
        return self.repeats.most_trials > 1

    def common_thresholds(self) -> dict[str, float | None]:
        """Return the threshold of each metric that has the same in all cases; `None` where it has not."""
        return {
            name: next(iter(thresholds)) if len(thresholds) == 1 else None
            for name, thresholds in self.thresholds.items()
        }

    def warnings(self, run: RunResult, shown_counts: Mapping[str, int] = MappingProxyType({})) -> list[str]:
        """Return the warnings of `run`, then those of its cases, as `CaseWarnings.texts` does."""
        return [*run.warnings, *self.case_warnings.texts(shown_counts)]

    def figures(self) -> list[str]:
        """Return what a turn took, the mean over the cases in which it is known: `1.5 tool calls`, `1,204 tokens`."""
        texts = []
        for figure in _FIGURES:
            total, count = self._figures.get(figure.metric, (0.0, 0))
            number = figure.form.format(total / count) if count else "0"
            if float(number.replace(",", "")):  # a scripted agent without model calls needs no figure
                texts.append(f"{number} {figure.unit}")
        return [*texts[:-1], f"{texts[-1]} a turn"] if texts else []


def decides(metric: MetricVerdict) -> bool:
    """Return whether a metric takes part in the verdict."""
    return metric.gate and metric.outcome is not Outcome.INFORMATIONAL


def _some(eval_ids: list[str], count: int) -> str:
    text = ", ".join(eval_ids)
    return text if count <= len(eval_ids) else f"{text} and {count - len(eval_ids)} more cases"


# --- the worst cases, which a short report names ----------------------------------------------------------------------


class Foremost:
    """Keeps the first few cases of each rank (failed, error, inconclusive, not run, flaky); the others are only counted."""

    def __init__(self, most: int) -> None:
        """Set the maximum number of cases."""
        self._most = most
        self._kept: list[list[CaseResult]] = [[] for _ in range(FLAKY_ATTENTION + 1)]
        self.missed = 0
        """Cases that did not pass, without skipped ones."""

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        rank = attention(case)
        self.missed += rank < FLAKY_ATTENTION
        if rank <= FLAKY_ATTENTION and len(self._kept[rank]) < self._most:
            self._kept[rank].append(case)
            self._let_go()

    def _let_go(self) -> None:
        """Keep at most the maximum number: worse cases replace others."""
        red = self._kept[:FLAKY_ATTENTION]
        if sum(map(len, red)) > self._most:
            next(cases for cases in reversed(red) if cases).pop()

    def problem_cases(self) -> Iterator[CaseResult]:
        """Return cases that did not pass, the worst first, at most the maximum number."""
        return (case for cases in self._kept[:FLAKY_ATTENTION] for case in cases)

    def flaky(self) -> list[CaseResult]:
        """Return cases that passed, and of which some trials failed."""
        return self._kept[FLAKY_ATTENTION]


# --- the same case in several runs, side by side ----------------------------------------------------------------------


@dataclass(slots=True)
class Row:
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
    def all_passed(self) -> bool:
        """Whether every agent passed."""
        return all(case is not None and case.outcome is Outcome.PASSED for case in self.cases)


def line_up(runs: Sequence[RunResult]) -> list[Row]:
    """Return one row for each case, in the order in which the cases first appear."""
    by_run = [_cases_by_name(run.cases) for run in runs]
    metrics = _deciding_metrics(case for cases in by_run for case in cases.values())
    rows = []
    for key in dict.fromkeys(key for cases in by_run for key in cases):
        eval_set_id, eval_id, _ = key
        cases = [cases_of_run.get(key) for cases_of_run in by_run]
        rows.append(Row(eval_set_id, eval_id, cases, _telling_metric(cases, metrics)))
    return rows


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


def _telling_metric(cases: Sequence[CaseResult | None], metrics: Sequence[str]) -> str:
    used = [name for name in metrics if any(case is not None and name in case.metrics for case in cases)]
    for name in used:
        if len({case if case is None else _score(case, name) for case in cases}) > 1:
            return name
    misses = [name for name in used if any(_misses(case, name) for case in cases)]
    return next(iter(misses or used), "")


def _misses(case: CaseResult | None, metric: str) -> bool:
    verdict = case.metrics.get(metric) if case is not None else None
    return verdict is not None and verdict.outcome is Outcome.FAILED


def _score(case: CaseResult, metric: str) -> float | None:
    verdict = case.metrics.get(metric)
    return verdict.score if verdict is not None else None
