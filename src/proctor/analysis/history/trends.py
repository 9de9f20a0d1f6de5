"""Cases and metrics over many runs: the course of each case (broke, failing, flaky, fixed), and the means of each metric."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from proctor.schema.analysis.comparison import PASSED, RunDifference
from proctor.schema.analysis.history import CaseHistory, CasePoint, Course, MetricPoint, VerdictChange
from proctor.schema.results.run_result import MetricVerdict
from proctor.schema.results.score import MODEL_CALLS, Outcome, is_counted
from proctor.stats.intervals import ClusteredMean, wilson

BACK_AND_FORTH = 3
"""The number of flips from which a case is flaky even if the agent changed: it broke, was fixed, and broke again."""

Between = Callable[[str, CasePoint, CasePoint], Sequence[RunDifference] | None]
"""What was changed for a case of a set (its id) from the older of two points to the newer; `None` where too little is known
to say that nothing was."""
_Of = Callable[[CasePoint, CasePoint], Sequence[RunDifference] | None]
"""The same for one set."""

CaseKey = tuple[str, str, str, int]
"""The agent (empty: all agents have one history), eval set and id of a case, and its place among the cases of that id."""

_NOT_REACHED = frozenset({Outcome.SKIPPED, Outcome.NOT_RUN})


@dataclass(frozen=True, slots=True)
class _DecidedPoints:
    """The points of a case that passed or failed, newest first, and how it went from one to the next."""

    points: list[CasePoint]
    flips: int
    unexplained: int


def is_reached(outcome: Outcome) -> bool:
    """Return whether a run has a result of a case."""
    return outcome not in _NOT_REACHED


def case_histories(points: Iterable[tuple[CaseKey, CasePoint]], between: Between) -> list[CaseHistory]:
    """Return what became of each case, those that matter first.

    `points` come newest first.
    """
    points_by_case: defaultdict[CaseKey, list[CasePoint]] = defaultdict(list)
    for key, point in points:
        points_by_case[key].append(point)
    histories = [case_history(key, there, between) for key, there in points_by_case.items()]
    return sorted(histories, key=_matters)


def case_history(key: CaseKey, points: list[CasePoint], between: Between) -> CaseHistory:
    """Return what became of one case; `points` (newest first, at least one) are of runs that reached it."""
    agent, eval_set_id, eval_id, _ = key
    of_set = partial(between, eval_set_id)
    decided = _decision_counts([point for point in points if point.is_decided], of_set)
    history = CaseHistory(eval_set_id, eval_id, Course.STEADY, points, agent=agent)
    history.decided, history.flips, history.unexplained = (
        len(decided.points),
        decided.flips,
        decided.unexplained,
    )
    history.failed = sum(point.outcome is Outcome.FAILED for point in decided.points)
    history.mixed = sum(point.is_mixed for point in points)
    history.course = _course(points, decided, of_set)
    if history.course is not Course.STEADY:
        history.turn = _turn(points, of_set)
    return history


_ORDER = [*Course]


def _matters(case: CaseHistory) -> tuple[int, float, float, float]:
    """By course; what fails most often of flaky ones; what turned last; what passes least of its trials."""
    share = -case.failed / case.decided if case.course is Course.FLAKY and case.decided else 0.0
    turned = -case.turn.first.started_at if case.turn else 0.0
    return _ORDER.index(case.course), share, turned, case.points[0].counts.rate or 0.0


# --- how it went -----------------------------------------------------------------------------------------------------


def _decision_counts(points: list[CasePoint], between: _Of) -> _DecidedPoints:
    flips = [(older, newer) for newer, older in pairwise(points) if newer.outcome is not older.outcome]
    unexplained = sum(_is_unexplained(older, newer, between) for older, newer in flips)
    return _DecidedPoints(points, len(flips), unexplained)


def _is_unexplained(older: CasePoint, newer: CasePoint, between: _Of) -> bool:
    changed = between(older, newer)
    return changed is not None and not changed


def _course(points: Sequence[CasePoint], decided: _DecidedPoints, between: _Of) -> Course:
    newest = points[0]
    if not newest.is_decided:
        return Course.UNDECIDED
    flipped = len(decided.points) > 1 and decided.points[1].outcome is not newest.outcome
    if decided.flips >= BACK_AND_FORTH or (flipped and _is_chance(newest, decided.points[1], between)):
        return Course.FLAKY
    if newest.outcome is not Outcome.PASSED:
        return Course.BROKE if flipped else Course.FAILING
    if flipped:
        return Course.FIXED
    return Course.FLAKY if _is_unstable(points, decided) else Course.STEADY


def _is_unstable(points: Sequence[CasePoint], decided: _DecidedPoints) -> bool:
    """Return whether the outcome once changed without a cause, or the trials of a run differed."""
    return decided.unexplained > 0 or any(point.is_mixed for point in points)


def _is_chance(newest: CasePoint, before: CasePoint, between: _Of) -> bool:
    """Return whether a new outcome has no known cause: nothing changed, the trials differed in both runs, or it is noise."""
    is_noise = (newest.is_mixed and before.is_mixed) or before.counts.is_within_noise(newest.counts)
    return is_noise or _is_unexplained(before, newest, between)


def _turn(points: Sequence[CasePoint], between: _Of) -> VerdictChange:
    """Where the newest stretch began: of a case that passes where it began to pass, else where it ceased to."""
    passes = points[0].outcome is Outcome.PASSED
    stretch = [*_while_alike(points, passes=passes)]
    rest = points[len(stretch) :]
    if not rest:
        return VerdictChange(stretch[-1].run, None)
    changed = between(rest[0], stretch[-1])
    return VerdictChange(stretch[-1].run, rest[0].run, changed or (), known=changed is not None)


def _while_alike(points: Sequence[CasePoint], *, passes: bool) -> Iterator[CasePoint]:
    for point in points:
        if (point.outcome is Outcome.PASSED) is not passes:
            return
        yield point


# --- the mean of every metric over the cases of a run -----------------------------------------------------------------


_ERROR = Outcome.ERROR.value
Bounds = tuple[float, float]


class MetricMeans:
    """Takes cases run by run; the interval is Student's over cases, that of the share which passed is Wilson's."""

    def __init__(self) -> None:
        """Begin without a run."""
        self._sums: dict[str, dict[str, _Sum]] = {}
        self._now: dict[str, _Sum] = {}
        self._not_run: Counter[str] = Counter()
        self._unread_sets: dict[str, int] = {}

    def begin(self, run_id: str, unread_sets: int = 0) -> None:
        """Go on with another run; `unread_sets` of its eval sets could not be run."""
        self._now = self._sums.setdefault(run_id, {})
        self._unread_sets[run_id] = unread_sets

    def add_not_run(self, run_id: str) -> None:
        """Count a case that the run did not reach."""
        self._not_run[run_id] += 1

    def add(self, outcome: Outcome, metrics: Mapping[str, Mapping[str, Any]]) -> None:
        """Take one case that was run: what it came to, and its metrics as a `BriefVerdict` has them."""
        self._add(PASSED, 1.0 if outcome is Outcome.PASSED else 0.0, None, gate=True)
        now = self._now
        for name, metric in metrics.items():
            score = metric.get("score")
            means = now.get(name)
            if (
                type(score) is float  # nearly all are, and of a metric that was there before
                and means is not None
                and means.threshold == metric.get("threshold")
                and metric["outcome"] != _ERROR
                and (score or name != MODEL_CALLS)
            ):
                means.scores[score] += 1
            elif score is not None:
                self._add_unlike(name, metric)

    def _add_unlike(self, name: str, metric: Mapping[str, Any]) -> None:
        score, threshold = float(metric["score"]), metric.get("threshold")
        if metric["outcome"] != _ERROR and is_counted(score, name):
            threshold = None if threshold is None else float(threshold)
            self._add(name, score, threshold, gate=metric.get("gate", True))

    def points(self, bounds: Callable[[str], Bounds | None]) -> dict[str, dict[str, MetricPoint]]:
        """Return the points by metric and run, `passed` first; `bounds`: between what the scores of a metric lie."""
        points: dict[str, dict[str, MetricPoint]] = {PASSED: {}}
        for run_id, sums in self._sums.items():
            for name, one in sums.items():
                point = one.share() if name == PASSED else one.mean(bounds(name))
                points.setdefault(name, {})[run_id] = replace(
                    point, not_run=self._not_run[run_id], unread_sets=self._unread_sets[run_id]
                )
        return points if points[PASSED] or len(points) > 1 else {}

    def _add(self, name: str, score: float, threshold: float | None, *, gate: bool) -> None:
        means = self._now.get(name)
        if means is None:
            means = self._now[name] = _Sum(threshold, gate)
        elif means.threshold != threshold:
            means.threshold = None  # several sets ask for something else
        means.scores[score] += 1


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
        if score is not None and is_counted(score.value, metric.name):
            clusters.add(score.value, 1)
    return _point(clusters, metric, metric.outcome, bounds)


def _point(
    clusters: ClusteredMean, of: MetricVerdict | _Sum, outcome: Outcome, bounds: Bounds | None
) -> MetricPoint:
    mean = clusters.result(within=bounds)
    if mean is None:
        return MetricPoint(None, of.threshold, outcome, of.gate, count=0)
    return MetricPoint(mean.value, of.threshold, outcome, of.gate, mean.low, mean.high, mean.cases)
