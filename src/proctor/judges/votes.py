"""Votes: several samples of one question, no more than needed to decide it, and their outcome.

A model may answer the same question differently, so a judge requests `num_samples` votes and the majority counts. The first
wave is the smallest number of votes that decides if they agree (3 of 5). The second wave follows only if it can change the
outcome, so the outcome equals that of all votes, with fewer calls. An unusable vote is a missing vote: if it could change
the outcome, the ballot is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from proctor.common.async_tools import gather_all
from proctor.judges.base import Ballot, Settled, V, Vote
from proctor.models.base import Finish, ModelError, ModelFault, Reply
from proctor.schema.evidence.trial import Failure, FailureKind


def majority(verdicts: Sequence[bool]) -> bool:
    """Return the majority; a tie is a no, as in google-adk."""
    return sum(verdicts) * 2 > len(verdicts)


def is_majority_settled(verdicts: Sequence[bool], more: int) -> bool:
    """Return whether `more` verdicts could not change the majority."""
    yes = sum(verdicts)
    no = len(verdicts) - yes
    return yes > no + more or no >= yes + more


def is_settled_by_default(verdicts: Sequence[Any], more: int) -> bool:
    """The default for metrics: booleans are settled by majority, other verdicts only when all votes are in."""
    if all(isinstance(verdict, bool) for verdict in verdicts):
        return is_majority_settled(verdicts, more)
    return more == 0


def decides(verdicts: Sequence[V], planned: int, settled: Settled[V]) -> bool:
    """Return whether the missing verdicts of `planned` could not change the outcome."""
    return bool(verdicts) and settled(verdicts, planned - len(verdicts))


async def cast(
    vote: Callable[[int], Awaitable[Vote[V]]], planned: int, settled: Settled[V]
) -> tuple[list[Vote[V]], bool]:
    """Request up to `planned` votes by number; return the votes, and whether they decide."""
    votes: list[Vote[V]] = []
    first = planned // 2 + 1
    for wave in (range(first), range(first, planned)):
        votes += await gather_all([vote(number) for number in wave])
        verdicts = [each.verdict for each in votes if each.verdict is not None]
        if decides(verdicts, planned, settled):
            return votes, True
        if any(each.is_pending for each in votes) or all(_is_permanent(each.problem) for each in votes):
            break
    return votes, False


def _is_permanent(problem: Failure | None) -> bool:
    """Whether another request would fail the same way: a wrong key, a rejected request, an exhausted budget."""
    if problem is None or problem.infrastructure:
        return False
    return problem.kind in (FailureKind.NO_REPLY, FailureKind.NOT_ASKED)


def agreement(verdicts: Sequence[object]) -> float | None:
    """Return the share of the most frequent verdict, 0 to 1; `None` without votes."""
    if not verdicts:
        return None
    most: int = max(sum(one == other for other in verdicts) for one in verdicts)
    return most / len(verdicts)


def ballot_details(ballot: Ballot[V], *, agreed: float | None = None) -> dict[str, Any]:
    """Return a ballot as JSON for `Score.details["ballot"]`: every vote with the answers of the model.

    `agreed`: the agreement (0 to 1) if it is not that of whole verdicts; each rubric has its own, for example.
    """
    return {
        "model": ballot.model,
        "prompt": ballot.prompt,
        "planned": ballot.planned,
        "asked": len(ballot.votes),
        "agreement": agreement(ballot.verdicts) if agreed is None else agreed,
        "votes": [_vote_details(vote) for vote in ballot.votes],
    }


def _vote_details(vote: Vote[V]) -> dict[str, object]:
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


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value


# --- The failures of votes and ballots, with a kind for each cause ----------------------------------------------------


_ENDS = {
    Finish.REFUSAL: (FailureKind.REFUSED, "the judge refused to answer"),
    Finish.CONTENT_FILTER: (FailureKind.FILTERED, "the provider's content filter blocked the judge's answer"),
    Finish.LENGTH: (
        FailureKind.CUT_OFF,
        "the judge's answer was cut off at its maximum length; set `max_output_tokens` in `judge_model_config`",
    ),
}


def early_end_failure(reply: Reply, turn: int | None) -> Failure | None:
    """Return the failure of a reply that is incomplete or empty; `None` for a complete reply."""
    if reply.finish in _ENDS:
        kind, message = _ENDS[reply.finish]
        return Failure(where="judge", kind=kind, message=message, turn=turn)
    if reply.structured is None and not reply.text.strip():
        return Failure(
            where="judge", kind=FailureKind.EMPTY, message="the judge returned an empty answer", turn=turn
        )
    return None


def unusable_answer_failure(problem: str, turn: int | None) -> Failure:
    """Return the failure of an answer that cannot be used."""
    return Failure(where="judge", kind=FailureKind.UNUSABLE_ANSWER, message=problem, turn=turn)


def no_reply_failure(error: ModelError, turn: int | None) -> Failure:
    """Return the failure of a call without a reply."""
    kind = _KINDS.get(error.fault, FailureKind.NO_REPLY)
    return Failure(
        where="judge",
        kind=kind,
        type=error.fault.value if kind is FailureKind.NO_REPLY else "",
        message=str(error),
        turn=turn,
        infrastructure=error.infrastructure,
    )


_KINDS = {ModelFault.TIMED_OUT: FailureKind.TIMED_OUT, ModelFault.BUDGET: FailureKind.NOT_ASKED}


def undecided_failure(ballot: Ballot[V], turn: int | None = None) -> Failure:
    """Return the failure of a ballot without an outcome: the problems of its votes, most frequent first."""
    problems = [vote.problem for vote in ballot.votes if vote.problem is not None]
    counts = Counter(problem.message for problem in problems).most_common()
    why = "; ".join(f"{message} ({count}×)" if len(problems) > 1 else message for message, count in counts)
    verdict_count = len(ballot.verdicts)
    message = f"{verdict_count} of {ballot.planned} votes of the judge {ballot.model} gave a verdict, too few to decide: {why}"
    return Failure(
        where="judge",
        kind=_common(problems),
        message=message if ballot.planned > 1 else f"{ballot.model}: {why}",
        turn=turn,
        infrastructure=bool(problems) and all(problem.infrastructure for problem in problems),
    )


def _common(problems: Sequence[Failure]) -> FailureKind:
    kinds = {problem.kind for problem in problems}
    return kinds.pop() if len(kinds) == 1 else FailureKind.UNUSABLE_ANSWER
