"""What becomes of cases over many runs: broke, still failing, flaky, fixed; and which of that is known for certain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from proctor.schema.analysis.comparison import RunDifference
from proctor.schema.analysis.history import CaseHistory, CasePoint, Course, VerdictChange
from proctor.schema.results.score import Outcome

BACK_AND_FORTH = 3
"""The number of flips from which a case is flaky even if the agent changed: it broke, was fixed, and broke again."""

Between = Callable[[str, CasePoint, CasePoint], Sequence[RunDifference] | None]
"""What was changed for a case of a set (its id) from the older of two points to the newer; `None` where too little is known
to say that nothing was."""
_Of = Callable[[CasePoint, CasePoint], Sequence[RunDifference] | None]
"""The same for one set."""

_NOT_REACHED = frozenset({Outcome.SKIPPED, Outcome.NOT_RUN})


@dataclass(frozen=True, slots=True)
class _Decided:
    """The points of a case that passed or failed, newest first, and how it went from one to the next."""

    points: list[CasePoint]
    flips: int
    unexplained: int


def is_reached(outcome: Outcome) -> bool:
    """Return whether a run has a result of a case."""
    return outcome not in _NOT_REACHED


def case_histories(
    points: Iterable[tuple[tuple[str, str, int], CasePoint]], between: Between
) -> list[CaseHistory]:
    """Return what became of each case, those that matter first.

    `points` come newest first, each with eval set, id and place among the cases of that id.
    """
    found: defaultdict[tuple[str, str, int], list[CasePoint]] = defaultdict(list)
    for key, point in points:
        found[key].append(point)
    histories = [case_history(key[0], key[1], there, between) for key, there in found.items()]
    return sorted(histories, key=_matters)


def case_history(eval_set_id: str, eval_id: str, points: list[CasePoint], between: Between) -> CaseHistory:
    """Return what became of one case; `points` (newest first, at least one) are of runs that reached it."""
    of_set = partial(between, eval_set_id)
    decided = _decision_counts([point for point in points if point.is_decided], of_set)
    found = CaseHistory(eval_set_id, eval_id, Course.STEADY, points)
    found.decided, found.flips, found.unexplained = len(decided.points), decided.flips, decided.unexplained
    found.failed = sum(point.outcome is Outcome.FAILED for point in decided.points)
    found.mixed = sum(point.is_mixed for point in points)
    found.course = _course(points, decided, of_set)
    if found.course is not Course.STEADY:
        found.turn = _turn(points, of_set)
    return found


_ORDER = [*Course]


def _matters(case: CaseHistory) -> tuple[int, float, float, float]:
    """By course; what fails most often of flaky ones; what turned last; what passes least of its trials."""
    share = -case.failed / case.decided if case.course is Course.FLAKY and case.decided else 0.0
    turned = -case.turn.first.started_at if case.turn else 0.0
    return _ORDER.index(case.course), share, turned, case.points[0].counts.rate or 0.0


# --- how it went -----------------------------------------------------------------------------------------------------


def _decision_counts(points: list[CasePoint], between: _Of) -> _Decided:
    flips = [(older, newer) for newer, older in pairwise(points) if newer.outcome is not older.outcome]
    unexplained = sum(_is_unexplained(older, newer, between) for older, newer in flips)
    return _Decided(points, len(flips), unexplained)


def _is_unexplained(older: CasePoint, newer: CasePoint, between: _Of) -> bool:
    changed = between(older, newer)
    return changed is not None and not changed


def _course(points: Sequence[CasePoint], decided: _Decided, between: _Of) -> Course:
    newest = points[0]
    if not newest.is_decided:
        return Course.UNDECIDED
    flipped = len(decided.points) > 1 and decided.points[1].outcome is not newest.outcome
    passes = newest.outcome is Outcome.PASSED
    if decided.flips >= BACK_AND_FORTH or (flipped and _is_chance(newest, decided.points[1], between)):
        return Course.FLAKY
    if not passes:
        return Course.BROKE if flipped else Course.FAILING
    if flipped:
        return Course.FIXED
    wavers = decided.unexplained or any(point.is_mixed for point in points)
    return Course.FLAKY if wavers else Course.STEADY


def _is_chance(newest: CasePoint, before: CasePoint, between: _Of) -> bool:
    """Return whether a new outcome has no known cause: nothing changed, or the trials differed in both runs."""
    return _is_unexplained(before, newest, between) or (newest.is_mixed and before.is_mixed)


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
