"""Eval sets that are already in memory, in the shape the plan reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proctor.errors import SetupError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.eval_set import EvalSet


class GivenSet:
    """An `EvalSet` made in Python.

    Raises:
        SetupError: two cases share an id.
    """

    label: str | None = None

    def __init__(self, eval_set: EvalSet, *, warnings: Sequence[str] = ()) -> None:
        """Take the set as it is, cases are not copied; and what is doubtful in what it was made of."""
        self.warnings = warnings
        self._cases = eval_set.eval_cases
        self._ids = [case.eval_id for case in self._cases]
        self.eval_set_id = eval_set.eval_set_id
        seen: dict[str, int] = {}
        for index, eval_id in enumerate(self._ids):
            if eval_id in seen:
                raise SetupError(
                    f"eval set {self.eval_set_id!r}: case id {eval_id!r} stands twice (cases {seen[eval_id]} and {index})"
                )
            seen[eval_id] = index

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order."""
        return self._ids

    def case(self, index: int) -> EvalCase:
        """One case."""
        return self._cases[index]

    def where(self, index: int) -> str:
        """Nowhere: it came from Python."""
        return ""

    def __iter__(self) -> Iterator[EvalCase]:
        return iter(self._cases)
