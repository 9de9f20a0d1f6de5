"""Why a sample gave no verdict: each cause is a kind of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from proctor.judges.base import Ballot
from proctor.models.base import Finish, ModelError, ModelFault, Reply
from proctor.schema.evidence.trial import Failure, FailureKind

__all__ = ["ended_early", "no_reply", "undecided", "unusable"]

_ENDS = {
    Finish.REFUSAL: (FailureKind.REFUSED, "the judge would not answer"),
    Finish.CONTENT_FILTER: (
        FailureKind.FILTERED,
        "the provider's content filter kept the judge's answer back",
    ),
    Finish.LENGTH: (
        FailureKind.CUT_OFF,
        "the judge's answer was cut off at its greatest length; `max_output_tokens` in `judge_model_config` sets it",
    ),
}


def ended_early(reply: Reply, turn: int | None) -> Failure | None:
    """Say why a reply is no whole answer; `None` where nothing speaks against it."""
    if reply.finish in _ENDS:
        kind, message = _ENDS[reply.finish]
        return Failure(where="judge", kind=kind, message=message, turn=turn)
    if reply.structured is None and not reply.text.strip():
        return Failure(where="judge", kind=FailureKind.EMPTY, message="the judge answered nothing", turn=turn)
    return None


def unusable(what: str, turn: int | None) -> Failure:
    """Say what was wrong with an answer."""
    return Failure(where="judge", kind=FailureKind.UNUSABLE_ANSWER, message=what, turn=turn)


def no_reply(error: ModelError, turn: int | None) -> Failure:
    """Say why there was no reply at all."""
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


def undecided(ballot: Ballot[Any], turn: int | None = None) -> Failure:
    """Say why a ballot comes to nothing: what became of the votes, most frequent first."""
    problems = [vote.problem for vote in ballot.votes if vote.problem is not None]
    told = Counter(problem.message for problem in problems).most_common()
    why = "; ".join(f"{message} ({count}×)" if len(problems) > 1 else message for message, count in told)
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
