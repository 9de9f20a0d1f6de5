"""The totals over all cases of a run, which reports show above and below the cases.

The cases of a stored run are read from the store at each access, and there may be very many. The digest therefore needs one
pass over the cases and keeps none of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proctor.reports.content.reasons import warnings_of
from proctor.schema.results.case_statistics import FaultRates, Repeats
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


class Digest:
    """The totals over all cases of a run."""

    def __init__(self, cases: Iterable[CaseResult] = ()) -> None:
        self.trials: Counter[Outcome] = Counter()
        """Trials by outcome."""
        self.repeats = Repeats()
        self.whose_fault = FaultRates()
        self.thresholds: dict[str, set[float | None]] = {}
        """The metrics that decide, in the order in which they appear, and their thresholds."""
        self._warnings: dict[str, tuple[list[str], int]] = {}  # the first cases, and how many there are
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
        for warning in warnings_of(case):
            named, count = self._warnings.get(warning, ([], 0))
            self._warnings[warning] = (named + [case.eval_id] * (count < _MOST_NAMED), count + 1)
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
            name: next(iter(found)) if len(found) == 1 else None for name, found in self.thresholds.items()
        }

    def warnings(self, run: RunResult, shown: Mapping[str, int] | None = None) -> list[str]:
        """Return the warnings of `run`, then those of its cases: each once, with the cases that it is about.

        `shown`: the number of cases for which each warning is already shown; a warning that is shown for all is left out.
        """
        about = (
            f"{warning} ({_some(*found)})"
            for warning, found in self._warnings.items()
            if found[1] > (shown or {}).get(warning, 0)
        )
        return [*run.warnings, *about]

    def figures(self) -> list[str]:
        """Return what a turn took, the mean over the cases in which it is known: `1.5 tool calls`, `1,204 tokens`."""
        found = []
        for figure in _FIGURES:
            total, count = self._figures.get(figure.metric, (0.0, 0))
            number = figure.form.format(total / count) if count else "0"
            if float(number.replace(",", "")):  # a scripted agent without model calls needs no figure
                found.append(f"{number} {figure.unit}")
        return [*found[:-1], f"{found[-1]} a turn"] if found else []


def decides(metric: MetricVerdict) -> bool:
    """Return whether a metric takes part in the verdict."""
    return metric.gate and metric.outcome is not Outcome.INFORMATIONAL


def _some(named: list[str], count: int) -> str:
    shown = ", ".join(named)
    return shown if count <= len(named) else f"{shown} and {count - len(named)} more cases"
