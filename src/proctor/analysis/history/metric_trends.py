"""The mean of every metric over the cases of a run, run by run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.history import MetricPoint
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import Outcome
from proctor.stats.intervals import ClusteredMean, wilson

_ERROR = Outcome.ERROR.value
Bounds = tuple[float, float]


class MetricMeans:
    """Takes cases run by run; the interval is Student's over cases, that of the share which passed is Wilson's."""

    def __init__(self) -> None:
        """Begin without a run."""
        self._sums: dict[str, dict[str, _Sum]] = {}
        self._now: dict[str, _Sum] = {}

    def begin(self, run_id: str) -> None:
        """Go on with another run."""
        self._now = self._sums.setdefault(run_id, {})

    def add(self, outcome: Outcome, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        """Take one case that was run: what it came to, and its metrics as a `BriefVerdict` has them."""
        self._add(PASSED, 1.0 if outcome is Outcome.PASSED else 0.0, None, gate=True)
        now = self._now
        for name, metric in metrics.items():
            score = metric.get("score")
            found = now.get(name)
            if (
                type(score) is float  # nearly all are, and of a metric that was there before
                and found is not None
                and found.threshold == metric.get("threshold")
                and metric["outcome"] != _ERROR
            ):
                found.scores[score] += 1
            elif score is not None:
                self._add_unlike(name, metric)

    def _add_unlike(self, name: str, metric: Mapping[str, Any]) -> None:
        score, threshold = float(metric["score"]), metric.get("threshold")
        if metric["outcome"] != _ERROR and isfinite(score):
            threshold = None if threshold is None else float(threshold)
            self._add(name, score, threshold, gate=metric.get("gate", True))

    def points(self, bounds: Callable[[str], Bounds | None]) -> dict[str, dict[str, MetricPoint]]:
        """Return the points by metric and run, `passed` first; `bounds`: between what the scores of a metric lie."""
        found: dict[str, dict[str, MetricPoint]] = {PASSED: {}}
        for run_id, sums in self._sums.items():
            for name, one in sums.items():
                point = one.share() if name == PASSED else one.mean(bounds(name))
                found.setdefault(name, {})[run_id] = point
        return found if found[PASSED] or len(found) > 1 else {}

    def _add(self, name: str, score: float, threshold: float | None, *, gate: bool) -> None:
        found = self._now.get(name)
        if found is None:
            found = self._now[name] = _Sum(threshold, gate)
        elif found.threshold != threshold:
            found.threshold = None  # several sets ask for something else
        found.scores[score] += 1


@dataclass(slots=True)
class _Sum:
    threshold: float | None
    gate: bool
    scores: defaultdict[float, int] = field(default_factory=lambda: defaultdict(int))
    """How many cases have each score: many have the same."""

    def mean(self, bounds: Bounds | None) -> MetricPoint:
        clusters = ClusteredMean()
        for score, cases in self.scores.items():
            clusters.add(score, 1, times=cases)
        return _point(clusters, self, Outcome.INFORMATIONAL, bounds)

    def share(self) -> MetricPoint:
        passed, total = self.scores[1.0], sum(self.scores.values())
        low, high = wilson(passed, total)
        return MetricPoint(passed / total, None, Outcome.INFORMATIONAL, low=low, high=high, count=total)


def of_trials(metric: MetricVerdict, bounds: Bounds | None = None) -> MetricPoint:
    """Return the score of a metric for one case, with a confidence interval over its trials within the metric's `bounds`."""
    clusters = ClusteredMean()
    for score in metric.per_trial:
        if score is not None and score.value is not None and isfinite(score.value):
            clusters.add(score.value, 1)
    return _point(clusters, metric, metric.outcome, bounds)


def _point(
    clusters: ClusteredMean, of: MetricVerdict | _Sum, outcome: Outcome, bounds: Bounds | None
) -> MetricPoint:
    mean = clusters.result()
    if mean is None:
        return MetricPoint(None, of.threshold, outcome, of.gate, count=0)
    low, high = mean.low, mean.high
    if bounds is not None and low is not None and high is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return MetricPoint(mean.value, of.threshold, outcome, of.gate, low, high, mean.cases)
