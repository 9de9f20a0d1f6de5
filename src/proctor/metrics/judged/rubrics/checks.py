"""What is doubtful about a criterion with rubrics, seen beside the cases: a rounded threshold, rubrics that nothing reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from proctor.metrics.judged.rubrics.lists import Placed, weights_of
from proctor.schema.format.case import EvalCase

__all__ = ["RubricSurvey", "shut_out"]

_LARGEST = 9
"""The largest denominator of a fraction that somebody may have rounded."""

Lists = Callable[[EvalCase], Iterable[list[Placed]]]


class RubricSurvey:
    """Looks at what the scores of cases can be, and at rubrics that state no type."""

    def __init__(self, threshold: float, kind: str, lists: Lists) -> None:
        self._threshold, self._kind, self._lists = threshold, kind, lists
        self._totals: dict[int, None] = {}
        self._untyped = 0

    def see(self, case: EvalCase) -> None:
        """Look at one case."""
        weights = [weight for each in self._lists(case) for weight in weights_of(each)]
        if weights and len({*weights}) == 1:
            self._totals[len(weights)] = None
        stated = [
            *(case.rubrics or ()),
            *(r for turn in case.conversation or case.opening or () for r in turn.rubrics or ()),
        ]
        self._untyped += any(rubric.type is None for rubric in stated)

    def problems(self) -> Iterable[str]:
        """Nothing: what is wrong with a list is wrong with its case."""
        return ()

    def doubts(self) -> Iterator[str]:
        """A threshold that shuts out what it was rounded from; rubrics without `type`."""
        found = (shut_out(self._threshold, total) for total in self._totals)
        for fraction in dict.fromkeys(each for each in found if each is not None):
            met, of = fraction.numerator, fraction.denominator
            yield (
                f"threshold {self._threshold:g} is above {met}/{of} ({met / of:.4f}), so {met} of {of} rubrics do not "
                f'reach it; write "{met}/{of}" if they should'
            )
        if self._untyped:
            yield (
                f"{self._untyped} case(s) state rubrics without `type`, which are left out (google-adk does so, too); "
                f'those for this metric have "type": "{self._kind}"'
            )


def shut_out(threshold: float, total: int) -> Fraction | None:
    """The share of `total` rubrics of equal weight that `threshold` was rounded from, and that it is above.

    Only where the threshold has two decimals or more, and the share is one that people round (2/3, 5/6 …).
    """
    decimals = len(repr(threshold).partition(".")[2])
    if decimals < 2 or threshold >= 1:
        return None
    below = Fraction(int(threshold * total), total)
    rounds_up = float(below) < threshold and round(float(below), decimals) == threshold
    return below if rounds_up and below.denominator <= _LARGEST else None
