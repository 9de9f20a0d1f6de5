"""Several yes-or-no questions about one text, asked together: the rubrics of a file, or the points of a prompt of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from proctor.judges.base import AnswerForm
from proctor.judges.votes import is_majority_settled, majority
from proctor.metrics.judged.answer_fields import each_numbered, list_of, object_of, text_field, word_field

__all__ = ["Checked", "ItemVerdict", "Tally", "agreed", "checklist_form", "checklist_settled", "tallied"]


class ItemVerdict(TypedDict):
    """What one vote says about one item."""

    number: int
    verdict: str
    """`yes` or `no`."""
    rationale: str


Checked = list[ItemVerdict]
"""What one vote says about all items, in their order."""

_ITEM = object_of(
    number={"type": "integer", "description": "The number of the item."},
    evidence=text_field("What in the passages the verdict rests on, in short."),
    rationale=text_field("Why, in one or two sentences."),
    verdict=word_field("yes", "no"),
)


def checklist_form(name: str, count: int, what: str = "rubric") -> AnswerForm[Checked]:
    """The form of an answer about `count` items, each called a `what`: all of them, once, in any order."""
    schema = object_of(verdicts=list_of(_ITEM, f"One entry for each {what}: {count} in all."))

    def read(data: Any) -> Checked:
        return [
            {"number": number, "verdict": item["verdict"], "rationale": item["rationale"].strip()}
            for number, item in enumerate(each_numbered(data["verdicts"], count, what), 1)
        ]

    return AnswerForm(name, schema, read)


@dataclass(frozen=True, slots=True)
class Tally:
    """What the votes come to for one item."""

    met: bool | None
    """`None`: no vote says anything about it."""
    rationale: str
    """That of the first vote on the winning side."""
    agreement: float | None
    """The share of the votes that are on that side, 0.5 to 1."""


def tallied(votes: Sequence[Checked], count: int) -> list[Tally]:
    """What votes come to, item by item: the majority, a tie counting as no."""
    about = [
        [item for vote in votes for item in vote if item["number"] == number]
        for number in range(1, count + 1)
    ]
    return [_tally(items) for items in about]


def _tally(items: Sequence[ItemVerdict]) -> Tally:
    if not items:
        return Tally(None, "", None)
    met = majority(_yes(items))
    side = [item for item in items if (item["verdict"] == "yes") is met]
    return Tally(met, side[0]["rationale"], len(side) / len(items))


def _yes(items: Sequence[ItemVerdict]) -> list[bool]:
    return [item["verdict"] == "yes" for item in items]


def agreed(tallies: Sequence[Tally]) -> float | None:
    """The share of votes on the winning sides, over all items."""
    shares = [each.agreement for each in tallies if each.agreement is not None]
    return sum(shares) / len(shares) if shares else None


def checklist_settled(votes: Sequence[Checked], left: int) -> bool:
    """Whether `left` more votes could not change the majority on any item."""
    return bool(votes) and all(is_majority_settled(_yes(items), left) for items in zip(*votes, strict=True))
