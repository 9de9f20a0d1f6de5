"""Cases that are run several times: which share of the trials must pass, and what repeats say together."""

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
"""Of intervals that are shown where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class TrialRule:
    """What share of a case's trials must pass: a config's `trials`, where it asks for more than a number of runs."""

    min_pass_rate: float = 1.0
    """The share that must pass; with `pass_k` the probability that so many trials in a row all pass."""
    pass_k: int = 1
    confidence: float | None = None
    """`None`: the share that passed decides; else its Wilson interval at this confidence."""
    at_most: int | None = None
    """Trials are added until the case is decided, up to so many, and bounds for looking after each one decide in place
    of the interval (`proctor.stats.sequential`); `None`: the number of trials was chosen beforehand."""

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data; `at_most` only where trials are added."""
        data = asdict(self)
        if self.at_most is None:
            del data["at_most"]
        return data

    @property
    def rate(self) -> float:
        """The share of single trials that must pass: where so many in a row must, the root of it."""
        return float(self.min_pass_rate ** (1 / self.pass_k))


class Repeats:
    """What the repeats of many cases say together, taken one case at a time, in memory that does not grow with them.

    Cases that were skipped, or whose trials are not all there (not reached), do not count. A trial in error is no pass.
    """

    def __init__(self, cases: Iterable[CaseResult] = (), *, split: bool = True) -> None:
        """Take `cases`, and whether to `split` them by eval set, too."""
        self.by_set: dict[str, Repeats] = {}
        """The same for the cases of each eval set, by its id."""
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
        """Take one case."""
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
        """The most trials that a case has; 0 without cases."""
        return max((total for _, total in self._counts), default=0)

    @property
    def trials(self) -> int:
        """Trials of all cases together."""
        return sum(total * cases for (_, total), cases in self._counts.items())

    @property
    def trials_passed(self) -> int:
        """How many of them passed."""
        return sum(passed * cases for (passed, _), cases in self._counts.items())

    def pass_hat(self, k: int) -> Mean | None:
        """Return pass^k, the mean over the cases with at least `k` trials; `None`: there is no such case.

        Raises:
            ValueError: k is less than 1.
        """
        return self._mean_of(pass_hat, k)

    def pass_at(self, k: int) -> Mean | None:
        """Return pass@k, the mean over the cases with at least `k` trials; `None`: there is no such case.

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
