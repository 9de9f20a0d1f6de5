"""The failures of votes and ballots, with a kind for each cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from proctor.judges.base import Ballot
from proctor.models.base import Finish, ModelError, ModelFault, Reply
from proctor.schema.evidence.trial import Failure, FailureKind

__all__ = ["early_end_failure", "no_reply_failure", "undecided_failure", "unusable_answer_failure"]

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


def undecided_failure(ballot: Ballot[Any], turn: int | None = None) -> Failure:
    """Return the failure of a ballot without an outcome: the problems of its votes, most frequent first."""
    problems = [vote.problem for vote in ballot.votes if vote.problem is not None]
    counts = Counter(problem.message for problem in problems).most_common()
    why = "; ".join(f"{message} ({count}×)" if len(problems) > 1 else message for message, count in counts)
    got = len(ballot.verdicts)
    message = f"{got} of {ballot.planned} votes of the judge {ballot.model} gave a verdict, too few to decide: {why}"
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
