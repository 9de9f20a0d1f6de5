"""The figures of all cases of a run: metrics, repeats, durations and tokens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from proctor.reports.content import summary
from proctor.reports.content.repeat_stats import ks_of
from proctor.reports.content.run_digest import Digest
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_statistics import Repeats
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome
from proctor.web.pages.base import MeanFigure, mean_figure


class PassK(PageModel):
    """The estimated probability that `k` trials of a case all pass (`hat`), and that at least one passes (`at`)."""

    k: int
    hat: MeanFigure | None
    at: MeanFigure | None


class MetricPart(PageModel):
    """One metric over all cases."""

    name: str
    short: str
    """Its name without the common suffix."""
    gate: bool
    """Whether verdicts depend on it."""
    thresholds: list[float]
    """One threshold, or several if sets differ."""
    mean: MeanFigure | None
    outcomes: dict[Outcome, int]
    """The number of cases by the metric's outcome."""


@dataclass(slots=True)
class Figures:
    """Accumulates the figures of all cases of a run."""

    digest: Digest = field(default_factory=Digest)
    metrics: dict[str, Counter[Outcome]] = field(default_factory=dict)
    gates: dict[str, bool] = field(default_factory=dict)
    thresholds: dict[str, set[float]] = field(default_factory=dict)

    def add(self, case: CaseResult) -> None:
        """Add one case; its evidence and the scores of its trials are not read."""
        self.digest.add(case)
        for name, metric in case.metrics.items():
            self._add_metric(name, metric)

    def _add_metric(self, name: str, metric: MetricVerdict) -> None:
        if (outcomes := self.metrics.get(name)) is None:
            outcomes = self.metrics[name] = Counter()
        outcomes[metric.outcome] += 1
        self.gates[name] = self.gates.get(name, False) or metric.gate
        if metric.threshold is not None:
            self.thresholds.setdefault(name, set()).add(metric.threshold)

    @property
    def repeats(self) -> Repeats:
        """The repeats of all cases."""
        return self.digest.repeats

    def parts(self) -> list[MetricPart]:
        """Return each metric, the deciding ones first."""
        means, short = self.repeats.means(), summary.short_names(list(self.metrics))
        names = sorted(self.metrics, key=lambda name: not self.gates[name])
        return [
            MetricPart(
                name=name,
                short=short[name],
                gate=self.gates[name],
                thresholds=sorted(self.thresholds.get(name, ())),
                mean=mean_figure(means[name]) if name in means else None,
                outcomes=dict(self.metrics[name]),
            )
            for name in names
        ]


def pass_ks(repeats: Repeats) -> list[PassK]:
    """Return pass^k and pass@k for the values of k that reports show."""
    estimates = ((k, repeats.pass_hat(k), repeats.pass_at(k)) for k in ks_of(repeats))
    return [
        PassK(k=k, hat=mean_figure(hat) if hat else None, at=mean_figure(at) if at else None)
        for k, hat, at in estimates
    ]
