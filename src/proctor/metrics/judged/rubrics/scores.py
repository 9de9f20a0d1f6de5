"""From votes on rubrics to scores: of a turn the share of points that hold, of a case that of all its turns together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.metrics.judged.checklist import Tally
from proctor.metrics.judged.rubrics.lists import Placed
from proctor.schema.results.score import mean

__all__ = ["Found", "by_id", "details_of", "found_for", "pooled", "reason_of", "share"]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for one rubric in one turn."""

    rubric_id: str
    text: str
    points: float
    tally: Tally

    @property
    def score(self) -> float | None:
        """1 where it holds, 0 where it does not."""
        return None if self.tally.met is None else float(self.tally.met)


def found_for(rubrics: Sequence[Placed], tallies: Sequence[Tally]) -> list[Found]:
    """What was found for each rubric."""
    return [
        Found(each.rubric_id, each.text, each.points, tally)
        for each, tally in zip(rubrics, tallies, strict=True)
    ]


def share(found: Iterable[Found]) -> float | None:
    """The share of the points that hold; `None` where no rubric has a verdict.

    Rubrics without a verdict count on neither side, as in google-adk; there are none where the judge decided.
    """
    decided = [each for each in found if each.score is not None]
    total = sum(each.points for each in decided)
    return sum(each.points for each in decided if each.tally.met) / total if total else None


def pooled(turns: Iterable[Sequence[Found]]) -> float | None:
    """The share over all turns: every verdict counts alike, so that a turn with more rubrics weighs more."""
    return share(each for turn in turns for each in turn)


def by_id(turns: Iterable[Sequence[Found]]) -> list[dict[str, Any]]:
    """What each rubric came to over all turns that it was judged in, as data."""
    of: dict[str, list[Found]] = {}
    for turn in turns:
        for each in turn:
            of.setdefault(each.rubric_id, []).append(each)
    return [_over_turns(rubric_id, found) for rubric_id, found in of.items()]


def _over_turns(rubric_id: str, found: Sequence[Found]) -> dict[str, Any]:
    scores = [each.score for each in found if each.score is not None]
    shares = [each.tally.agreement for each in found if each.tally.agreement is not None]
    held = sum(score == 1 for score in scores)
    rationale = found[0].tally.rationale if len(found) == 1 else f"met in {held} of {len(scores)} turns"
    return {
        "rubric_id": rubric_id,
        "text": found[0].text,
        "score": mean(scores) if scores else None,
        "rationale": rationale,
        "agreement": mean(shares) if shares else None,
    }


def details_of(found: Iterable[Found]) -> list[dict[str, Any]]:
    """What was found in one turn, as data that reports draw."""
    return [
        {
            "rubric_id": each.rubric_id,
            "text": each.text,
            "score": each.score,
            "rationale": each.tally.rationale,
            "agreement": each.tally.agreement,
            **({"points": each.points} if each.points != 1 else {}),
        }
        for each in found
    ]


def reason_of(found: Sequence[Found]) -> str:
    """Which rubrics do not hold, and why the judge says so."""
    missed = [each for each in found if each.tally.met is False]
    if not missed:
        return f"all {len(found)} rubrics are met" if len(found) > 1 else "the rubric is met"
    told = "; ".join(f"{each.rubric_id}: {each.tally.rationale or 'no reason given'}" for each in missed)
    count = f"{len(missed)} of {len(found)} rubrics" if len(found) > 1 else "the rubric is"
    return f"{count} not met: {told}"
