"""Forms of judge answers: the schemas of their fields, and checklists.

A checklist asks several yes-or-no questions about one text in one request: rubrics, or the points of a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from proctor.judges.base import AnswerForm, UnusableAnswerError
from proctor.judges.votes import is_majority_settled, majority


def text_field(description: str) -> dict[str, object]:
    """Return the schema of a text."""
    return {"type": "string", "description": description}


def word_field(*words: str, description: str = "") -> dict[str, object]:
    """Return the schema of one of a few words."""
    return {"type": "string", "enum": [*words], **({"description": description} if description else {})}


def object_of(**properties: Mapping[str, object]) -> dict[str, object]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def list_of(item: Mapping[str, object], description: str) -> dict[str, object]:
    """Return the schema of a list of items."""
    return {"type": "array", "items": item, "description": description}


def in_number_order(items: Sequence[Mapping[str, Any]], count: int, what: str) -> list[Mapping[str, Any]]:
    """Return items in the order of their `number`: each of 1 … `count` once, and no other.

    Raises:
        UnusableAnswerError: a number is missing, occurs twice, or is out of range.
    """
    by_number: dict[int, Mapping[str, Any]] = {}
    for item in items:
        number = int(item["number"])
        if not 1 <= number <= count:
            raise UnusableAnswerError(f"there is no {what} {number}: expected a number from 1 to {count}")
        if number in by_number:
            raise UnusableAnswerError(f"two entries for {what} {number}")
        by_number[number] = item
    if missing := [number for number in range(1, count + 1) if number not in by_number]:
        raise UnusableAnswerError(f"no entry for {what} {', '.join(map(str, missing))}")
    return [by_number[number] for number in range(1, count + 1)]


class ItemVerdict(TypedDict):
    """The verdict of one vote on one item."""

    number: int
    verdict: str
    """`yes` or `no`."""
    rationale: str


Checked = list[ItemVerdict]
"""The verdicts of one vote on all items, in their order."""

_ITEM = object_of(
    number={"type": "integer", "description": "The number of the item."},
    evidence=text_field("What in the passages the verdict rests on, in short."),
    rationale=text_field("Why, in one or two sentences."),
    verdict=word_field("yes", "no"),
)


def checklist_form(name: str, count: int, what: str = "rubric") -> AnswerForm[Checked]:
    """Return the form of an answer about `count` items, each called a `what`: each item once, in any order."""
    schema = object_of(verdicts=list_of(_ITEM, f"One entry for each {what}: {count} in all."))

    def read(data: Any) -> Checked:
        return [
            {"number": number, "verdict": item["verdict"], "rationale": item["rationale"].strip()}
            for number, item in enumerate(in_number_order(data["verdicts"], count, what), 1)
        ]

    return AnswerForm(name, schema, read)


@dataclass(frozen=True, slots=True)
class ItemVotes:
    """The result of the votes on one item."""

    met: bool | None
    """`None`: there are no votes on it."""
    rationale: str
    """The rationale of the first vote on the winning side."""
    agreement: float | None
    """The share of the votes on that side, 0.5 to 1."""


def tally_items(votes: Sequence[Checked], count: int) -> list[ItemVotes]:
    """Count votes item by item: the majority wins, a tie is a no."""
    return [
        _tally([item for vote in votes for item in vote if item["number"] == number])
        for number in range(1, count + 1)
    ]


def _tally(items: Sequence[ItemVerdict]) -> ItemVotes:
    if not items:
        return ItemVotes(None, "", None)
    met = majority(_yes(items))
    side = [item for item in items if (item["verdict"] == "yes") is met]
    return ItemVotes(met, side[0]["rationale"], len(side) / len(items))


def _yes(items: Sequence[ItemVerdict]) -> list[bool]:
    return [item["verdict"] == "yes" for item in items]


def agreement_of(tallies: Sequence[ItemVotes]) -> float | None:
    """Return the share of votes on the winning sides, averaged over all items."""
    shares = [each.agreement for each in tallies if each.agreement is not None]
    return sum(shares) / len(shares) if shares else None


def checklist_is_final(votes: Sequence[Checked], left: int) -> bool:
    """Return whether `left` more votes cannot change the majority on any item."""
    return bool(votes) and all(is_majority_settled(_yes(items), left) for items in zip(*votes, strict=True))
