"""From votes to scores: what the judge metrics share beyond `proctor.judges.votes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.judges.base import Ballot
from proctor.judges.votes import ballot_details
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.score import MetricScore, Score, mean_score

__all__ = ["concluded", "joined_ballots", "lower_median", "median_settled"]


def lower_median(grades: Sequence[int]) -> int:
    """The middle grade; of two in the middle the lower one."""
    return sorted(grades)[(len(grades) - 1) // 2]


def median_settled(grades: Sequence[int], left: int) -> bool:
    """Whether `left` more grades, or fewer, could not move the lower median."""
    ordered, total = sorted(grades), len(grades)
    for more in range(left + 1):
        place = (
            total + more - 1
        ) // 2  # of the middle one then; of `more` grades any number may stand below it
        if place < more or place >= total or ordered[place - more] != ordered[place]:
            return False
    return bool(grades)


def concluded(
    scores: list[Score], failures: Sequence[Failure | None], *, value: float | None = None
) -> MetricScore:
    """The score of a case: an error if any turn could not be decided, else `value`, or the mean of its turns."""
    failure = next((each for each in failures if each is not None), None)
    if failure is not None:
        return MetricScore(per_invocation=scores, reason=failure.message, failure=failure)
    return mean_score(scores) if value is None else MetricScore(value, scores)


def joined_ballots(ballots: Sequence[Ballot[Any]], *, agreed: float | None = None) -> dict[str, Any]:
    """Several questions about one turn as one ballot, for reports and for counting what they cost."""
    details = [ballot_details(each, agreed=agreed) for each in ballots]
    return {
        **details[0],
        "planned": sum(each["planned"] for each in details),
        "asked": sum(each["asked"] for each in details),
        "votes": [vote for each in details for vote in each["votes"]],
    }
