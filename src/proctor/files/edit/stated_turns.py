"""The turns of a case that state what the agent is expected to do: those that what it did can be written into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proctor.errors import EvalFileError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation

__all__ = ["StatedTurn", "key_of_turns", "stated_turns"]


class StatedTurn(NamedTuple):
    """A turn, where it stands, and what the agent did in it."""

    place: int
    expected: Invocation
    actual: Invocation


def key_of_turns(case: EvalCase) -> str:
    """Return the key of a case that holds what is recorded of it: all turns, or those before a scenario."""
    return "opening" if case.conversation is None else "conversation"


def stated_turns(case: EvalCase, actual: Sequence[Invocation]) -> list[StatedTurn]:
    """Return the turns with what the agent did in them: all of a recorded case; of an opening those that state something.

    Raises:
        EvalFileError: the agent answered another number of turns, or the case is a scenario that states nothing.
    """
    if case.conversation is not None:
        if len(actual) != len(case.conversation):
            raise EvalFileError(
                f"{case.eval_id}: the case has {len(case.conversation)} turns and the agent answered {len(actual)} of them"
            )
        return [
            StatedTurn(place, *pair) for place, pair in enumerate(zip(case.conversation, actual, strict=True))
        ]
    opening = case.opening or []
    if len(actual) < len(opening):
        raise EvalFileError(
            f"{case.eval_id}: the opening has {len(opening)} turns and the agent answered {len(actual)} of them"
        )
    found = [
        StatedTurn(place, *pair)
        for place, pair in enumerate(zip(opening, actual, strict=False))
        if pair[0].final_response is not None or pair[0].intermediate_data is not None
    ]
    if not (found or case.final_session_state):
        raise EvalFileError(
            f"{case.eval_id}: what the agent did in a played conversation is nothing to expect; of a scenario only a final "
            "session state, and answers and calls in its opening, can be blessed, and it states none"
        )
    return found
