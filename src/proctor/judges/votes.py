"""Votes: several samples of one question, as few as decide it, and what they come to.

A model that is asked twice may say two things, so it is asked `num_samples` times and the majority counts. The first
votes are asked for together: the smallest number that decides if they agree (3 of 5). Only where the others can still
change the outcome are these asked for, too. So the outcome is that of all votes, at fewer calls. An unusable vote is a
missing vote: if it could have changed the outcome, there is none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from proctor.common.async_tools import together
from proctor.judges.base import Ballot, Settled, V, Vote
from proctor.schema.evidence.trial import Failure, FailureKind

__all__ = [
    "agreement",
    "ballot_details",
    "cast",
    "decides",
    "majority",
    "majority_settled",
    "plainly_settled",
    "together",
]


def majority(verdicts: Sequence[bool]) -> bool:
    """Return what most say; a tie is a no, as in google-adk."""
    return sum(verdicts) * 2 > len(verdicts)


def majority_settled(verdicts: Sequence[bool], more: int) -> bool:
    """Tell whether `more` verdicts could not change what `majority` says."""
    yes = sum(verdicts)
    no = len(verdicts) - yes
    return yes > no + more or no >= yes + more


def plainly_settled(verdicts: Sequence[Any], more: int) -> bool:
    """What holds where a metric does not say: of yes and no the majority, of anything else every vote."""
    if all(isinstance(verdict, bool) for verdict in verdicts):
        return majority_settled(verdicts, more)
    return more == 0


def decides(verdicts: Sequence[V], planned: int, settled: Settled[V]) -> bool:
    """Tell whether these verdicts decide: the missing ones of `planned`, unusable or not asked for, could not change the outcome."""
    return bool(verdicts) and settled(verdicts, planned - len(verdicts))


async def cast(
    vote: Callable[[int], Awaitable[Vote[V]]], planned: int, settled: Settled[V]
) -> tuple[list[Vote[V]], bool]:
    """Ask for up to `planned` votes, by their numbers; return those that were asked for, and whether they decide."""
    votes: list[Vote[V]] = []
    first = planned // 2 + 1
    for wave in (range(first), range(first, planned)):
        votes += await together([vote(number) for number in wave])
        verdicts = [one.verdict for one in votes if one.verdict is not None]
        if decides(verdicts, planned, settled):
            return votes, True
        if all(_is_hopeless(one.problem) for one in votes):
            break
    return votes, False


def _is_hopeless(problem: Failure | None) -> bool:
    """Tell whether asking again, now, can only end the same way: a wrong key, a request that is refused, a cap."""
    if problem is None or problem.infrastructure:
        return False
    return problem.kind in (FailureKind.NO_REPLY, FailureKind.NOT_ASKED)


def agreement(verdicts: Sequence[Any]) -> float | None:
    """Return the share of votes on the side that has most of them, 0 to 1; `None` without votes."""
    if not verdicts:
        return None
    most: int = max(sum(one == other for other in verdicts) for one in verdicts)
    return most / len(verdicts)


def ballot_details(ballot: Ballot[Any], *, agreed: float | None = None) -> dict[str, Any]:
    """Return a ballot as JSON, for `Score.details["ballot"]`: every vote with all that the model answered.

    `agreed`: the agreement (0 to 1), where it is not simply that of whole verdicts (of rubrics it is one each).
    """
    found = agreement(ballot.verdicts) if agreed is None else agreed
    return {
        "model": ballot.model,
        "prompt": ballot.prompt,
        "planned": ballot.planned,
        "asked": len(ballot.votes),
        "agreement": found,
        "votes": [_vote_details(vote) for vote in ballot.votes],
    }


def _vote_details(vote: Vote[Any]) -> dict[str, Any]:
    return {
        "verdict": _plain(vote.verdict),
        "rationale": vote.rationale,
        "problem": vote.problem.cause if vote.problem is not None else None,
        "answers": list(vote.answers),
        "cached": vote.cached,
        "cost": vote.cost,
        "input_tokens": vote.usage.input_tokens if vote.usage else None,
        "output_tokens": vote.usage.output_tokens if vote.usage else None,
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value
