"""The rubrics of each turn: from the criterion, the case and the turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric

__all__ = ["Placed", "for_turn", "lists_of_case", "problems_of_list", "weights_of", "with_places"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A rubric and where it is written: `criterion.rubrics[0]`, `rubrics[1]`, `conversation[0].rubrics[0]`."""

    rubric: Rubric
    where: str

    @property
    def rubric_id(self) -> str:
        """Its name in results."""
        return self.rubric.rubric_id

    @property
    def text(self) -> str:
        """The property that must hold."""
        return (self.rubric.rubric_content.text_property or "").strip()

    @property
    def points(self) -> float:
        """Its weight: `points`, or 1."""
        points: Any = (self.rubric.model_extra or {}).get("points", 1)
        return float(points)


def with_places(rubrics: Iterable[Rubric] | None, where: str) -> list[Placed]:
    """Return rubrics with their places."""
    return [Placed(rubric, f"{where}[{index}]") for index, rubric in enumerate(rubrics or ())]


def for_turn(
    common: Sequence[Placed], of_case: Sequence[Placed], of_turn: Sequence[Placed], kind: str
) -> list[Placed]:
    """Return the rubrics of one turn: all of the criterion, then those of case and turn with this type."""
    return [*common, *(each for each in (*of_case, *of_turn) if each.rubric.type == kind)]


def lists_of_case(case: EvalCase, common: Sequence[Placed], kind: str) -> Iterator[list[Placed]]:
    """Yield the rubrics of each turn of a case; for a scenario, those of its opening and of an unknown turn."""
    of_case = with_places(case.rubrics, "rubrics")
    turns: list[Invocation] | None = case.conversation
    if turns is None:
        yield for_turn(common, of_case, (), kind)
    key, turns = ("conversation", turns) if turns is not None else ("opening", case.opening or [])
    for index, turn in enumerate(turns):
        yield for_turn(common, of_case, with_places(turn.rubrics, f"{key}[{index}].rubrics"), kind)


def weights_of(rubrics: Iterable[Placed]) -> list[float]:
    """Return their points, in order."""
    return [each.points for each in rubrics]


def problems_of_list(rubrics: Sequence[Placed]) -> Iterator[str]:
    """Yield the problems of one list: a repeated id, a rubric without text, invalid points."""
    seen: dict[str, Placed] = {}
    for each in rubrics:
        if (other := seen.setdefault(each.rubric_id, each)) is not each:
            yield (
                f"{each.where}: the rubric_id {each.rubric_id!r} is already used by {other.where}; a turn is judged by "
                "both, so each needs a different id"
            )
        if not each.text:
            yield f"{each.where}: the rubric {each.rubric_id!r} has no text (`rubric_content.text_property`)"
        if problem := _points_problem(each.rubric):
            yield f"{each.where}.points: {problem}"


def _points_problem(rubric: Rubric) -> str:
    points = (rubric.model_extra or {}).get("points", 1)
    if isinstance(points, bool) or not isinstance(points, int | float) or not isfinite(points) or points <= 0:
        return f"expected a number above 0, the weight of the rubric, got {points!r}"
    return ""
