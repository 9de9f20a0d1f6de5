"""Which rubrics an answer is judged by: those of the criterion, of the case and of the turn; each turn has its own list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation
from proctor.schema.format.rubric import Rubric

__all__ = ["Placed", "for_turn", "lists_of_case", "placed", "problems_of_list", "weights_of"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A rubric and where it stands: `criterion.rubrics[0]`, `rubrics[1]`, `conversation[0].rubrics[0]`."""

    rubric: Rubric
    where: str

    @property
    def rubric_id(self) -> str:
        """What results call it."""
        return self.rubric.rubric_id

    @property
    def text(self) -> str:
        """What must hold."""
        return (self.rubric.rubric_content.text_property or "").strip()

    @property
    def points(self) -> float:
        """Its weight: `points`, else 1."""
        given: Any = (self.rubric.model_extra or {}).get("points", 1)
        return float(given)


def placed(rubrics: Iterable[Rubric] | None, where: str) -> list[Placed]:
    """Rubrics with their places."""
    return [Placed(rubric, f"{where}[{index}]") for index, rubric in enumerate(rubrics or ())]


def for_turn(
    common: Sequence[Placed], of_case: Sequence[Placed], of_turn: Sequence[Placed], kind: str
) -> list[Placed]:
    """The list of one turn: those of the criterion, whatever their type, then those of case and turn of this type."""
    return [*common, *(each for each in (*of_case, *of_turn) if each.rubric.type == kind)]


def lists_of_case(case: EvalCase, common: Sequence[Placed], kind: str) -> Iterator[list[Placed]]:
    """The list of each turn of a case; of a scenario, whose turns nobody knows yet, one, and those of its opening."""
    of_case = placed(case.rubrics, "rubrics")
    turns: list[Invocation] | None = case.conversation
    if turns is None:
        yield for_turn(common, of_case, (), kind)
    key, turns = ("conversation", turns) if turns is not None else ("opening", case.opening or [])
    for index, turn in enumerate(turns):
        yield for_turn(common, of_case, placed(turn.rubrics, f"{key}[{index}].rubrics"), kind)


def weights_of(rubrics: Iterable[Placed]) -> list[float]:
    """Their points, in order."""
    return [each.points for each in rubrics]


def problems_of_list(rubrics: Sequence[Placed]) -> Iterator[str]:
    """What is wrong with one list: an id that stands twice, a rubric without text, points that are no weight."""
    seen: dict[str, Placed] = {}
    for each in rubrics:
        if (other := seen.setdefault(each.rubric_id, each)) is not each:
            yield (
                f"{each.where}: the rubric_id {each.rubric_id!r} is that of {other.where}, too; a turn is judged by "
                "both, so each needs an id of its own"
            )
        if not each.text:
            yield f"{each.where}: the rubric {each.rubric_id!r} has no text (`rubric_content.text_property`)"
        if problem := _wrong_points(each.rubric):
            yield f"{each.where}.points: {problem}"


def _wrong_points(rubric: Rubric) -> str:
    points = (rubric.model_extra or {}).get("points", 1)
    if isinstance(points, bool) or not isinstance(points, int | float) or not isfinite(points) or points <= 0:
        return f"expected a number above 0, the weight of the rubric, got {points!r}"
    return ""
