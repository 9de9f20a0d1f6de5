"""From votes to scores: functions that several judge metrics share, in addition to `proctor.judges.votes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.judges.base import Ballot
from proctor.judges.votes import ballot_details
from proctor.schema.evidence.trial import Failure
from proctor.schema.results.score import MetricScore, Score, mean_score

__all__ = ["case_score", "joined_ballots", "lower_median", "median_is_final"]


def lower_median(grades: Sequence[int]) -> int:
    """Return the middle grade; of two in the middle the lower one."""
    return sorted(grades)[(len(grades) - 1) // 2]


def median_is_final(grades: Sequence[int], left: int) -> bool:
    """Return whether up to `left` more grades cannot change the lower median."""
    ordered, total = sorted(grades), len(grades)
    for more in range(left + 1):
        middle = (total + more - 1) // 2
        # any number of the further grades may be below the present ones
        if middle < more or middle >= total or ordered[middle - more] != ordered[middle]:
            return False
    return bool(grades)


def case_score(
    scores: list[Score], failures: Sequence[Failure | None], *, value: float | None = None
) -> MetricScore:
    """Return the score of a case: an error if a turn is undecided, else `value`, or the mean of its turns."""
    failure = next((each for each in failures if each is not None), None)
    if failure is not None:
        return MetricScore(per_invocation=scores, reason=failure.message, failure=failure)
    return mean_score(scores) if value is None else MetricScore(value, scores)


def joined_ballots(ballots: Sequence[Ballot[Any]], *, agreement: float | None = None) -> dict[str, Any]:
    """Return several questions about one turn as one ballot, for reports and for the cost."""
    details = [ballot_details(each, agreed=agreement) for each in ballots]
    return {
        **details[0],
        "planned": sum(each["planned"] for each in details),
        "asked": sum(each["asked"] for each in details),
        "votes": [vote for each in details for vote in each["votes"]],
    }
