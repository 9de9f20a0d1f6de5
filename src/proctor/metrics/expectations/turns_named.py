"""Expectations of a criterion are for every case; those of a turn that a case does not have are not asked there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from proctor.metrics.expectations.parse import Expectation
from proctor.schema.format.case import EvalCase

__all__ = ["TurnSurvey", "turns_lacking"]


class TurnSurvey:
    """Which cases have the turns that a criterion's expectations name."""

    def __init__(self, common: Sequence[Expectation]) -> None:
        self._named = {each.where: each.turn + 1 for each in common if each.turn is not None}
        self._without: Counter[str] = Counter()
        self._seen = self._most = 0

    def see(self, case: EvalCase) -> None:
        """Count the turns of one case; a scenario may have any number."""
        self._seen += 1
        if case.conversation is None:
            return
        turns = len(case.conversation)
        self._most = max(self._most, turns)
        self._without.update(where for where, turn in self._named.items() if turn > turns)

    def problems(self) -> Iterator[str]:
        """Turns that no case has."""
        for where, turn in self._named.items():
            if self._seen and self._without[where] == self._seen:
                yield f"{where}.turn: it is about turn {turn}, and no case has more than {self._most} turn(s)"

    def doubts(self) -> Iterator[str]:
        """Turns that some cases do not have."""
        for where, turn in self._named.items():
            if 0 < self._without[where] < self._seen:
                lacking = f"{self._without[where]} of {self._seen} cases do"
                yield f"{where} is about turn {turn}, which {lacking} not have: it is not asked there"


def turns_lacking(common: Sequence[Expectation], turns: int) -> str:
    """Why nothing of a criterion is asked of a conversation of so many turns."""
    named = [str(each.turn + 1) for each in common if each.turn is not None]
    return f"the criterion expects something of turn {' and '.join(named)}, and this conversation has {turns} turn(s)"
