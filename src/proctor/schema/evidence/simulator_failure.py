"""The failure of a trial by its simulated user: the conversation is not evidence about the agent."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.schema.evidence.simulator_fault import UserFault
from proctor.schema.evidence.trial import Failure, FailureKind

__all__ = ["spoiled_by"]

_WHERE = "simulator"


def spoiled_by(faults: Sequence[UserFault]) -> Failure:
    """Return the failure that describes the first of `faults`. Without faults, the failure names none."""
    if not faults:
        return Failure(where=_WHERE, kind=FailureKind.SPOILED, message="the played user was at fault")
    first = min(faults, key=lambda one: one.turn)
    by = " (a judge says so)" if first.found_by == "judge" else ""
    quoted = f": {first.evidence!r}" if first.evidence else ""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    message = f"{first.why}{by}{quoted}{more}"
    return Failure(
        where=_WHERE, kind=FailureKind.SPOILED, type=first.kind.words, message=message, turn=first.turn
    )
