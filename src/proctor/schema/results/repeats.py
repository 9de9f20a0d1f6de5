"""Repeated trials of a case: the rule for the required pass rate, and statistics over the trials of all cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from proctor.schema.results.outcome import Outcome
from proctor.stats.intervals import ClusteredMean, Mean, pass_at, pass_hat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from proctor.schema.results.run_result import CaseResult

CONFIDENCE = 0.95
"""The confidence of reported intervals, unless another one is requested."""


@dataclass(frozen=True, slots=True)
class TrialRule:
    """The rule for the required pass rate of a case: a config's `trials`, if it has more than a number of trials."""

    min_pass_rate: float = 1.0
    """The required pass rate; with `pass_k` the required probability that this many trials all pass."""
    pass_k: int = 1
    confidence: float | None = None
    """`None`: the pass rate decides; else its Wilson interval at this confidence."""
    at_most: int | None = None
    """The maximum number of trials if they are added until the case is decided. Sequential bounds then decide instead of the
    interval (`proctor.stats.sequential`). `None`: the number of trials is fixed in advance."""

    def as_data(self) -> dict[str, Any]:
        """Return the rule as plain data; `at_most` only if trials are added."""
        data = asdict(self)
        if self.at_most is None:
            del data["at_most"]
        return data

    @property
    def rate(self) -> float:
        """The required pass rate of single trials: with `pass_k` its k-th root."""
        return float(self.min_pass_rate ** (1 / self.pass_k))


class Repeats:
    """Statistics over the trials of many cases, updated one case at a time, in constant memory.

    Skipped cases, and cases with trials that were not reached, do not count. A trial in error is not a pass.
    """

    def __init__(self, cases: Iterable[CaseResult] = (), *, split: bool = True) -> None:
        """Add `cases`; `split` also computes the statistics by eval set."""
        self.by_set: dict[str, Repeats] = {}
        """The statistics for each eval set, by its id."""
        self.cases = 0
        """Cases that have trials."""
        self.flaky = 0
        """Cases of which some trials passed and some failed."""
        self._counts: Counter[tuple[int, int]] = Counter()  # (passed, trials) of a case
        self._means: dict[str, ClusteredMean] = {}
        self._split = split
        for case in cases:
            self.add(case)

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        if not case.trials or case.outcome in (Outcome.NOT_RUN, Outcome.SKIPPED):
            return
        if self._split:
            self.by_set.setdefault(case.eval_set_id, Repeats(split=False)).add(case)
        self.cases += 1
        self.flaky += case.flaky
        self._counts[case.trials_passed, len(case.trials)] += 1
        for name, metric in case.metrics.items():
            if metric.score is not None and isfinite(metric.score):
                self._means.setdefault(name, ClusteredMean()).add(metric.score, metric.scored)

    @property
    def most_trials(self) -> int:
        """The largest number of trials of a case; 0 without cases."""
        return max((total for _, total in self._counts), default=0)

    @property
    def trials(self) -> int:
        """The number of trials of all cases."""
        return sum(total * cases for (_, total), cases in self._counts.items())

    @property
    def trials_passed(self) -> int:
        """The number of passed trials."""
        return sum(passed * cases for (passed, _), cases in self._counts.items())

    def pass_hat(self, k: int) -> Mean | None:
        """Return pass^k, the mean over the cases with at least `k` trials; `None` without such a case.

        Raises:
            ValueError: k is less than 1.
        """
        return self._mean_of(pass_hat, k)

    def pass_at(self, k: int) -> Mean | None:
        """Return pass@k, the mean over the cases with at least `k` trials; `None` without such a case.

        Raises:
            ValueError: k is less than 1.
        """
        return self._mean_of(pass_at, k)

    def means(self, *, confidence: float = CONFIDENCE) -> dict[str, Mean]:
        """Return each metric's mean over all trials that have a score, its standard error clustered by case."""
        found = {name: mean.result(confidence=confidence) for name, mean in self._means.items()}
        return {name: mean for name, mean in found.items() if mean is not None}

    def _mean_of(self, estimate: Callable[[int, int, int], float], k: int) -> Mean | None:
        if k < 1:
            raise ValueError(f"expected k >= 1, got {k}")
        mean = ClusteredMean()
        for (passed, total), cases in self._counts.items():
            if total >= k:
                mean.add(estimate(passed, total, k), 1, times=cases)
        return mean.result()
