"""Collect the unknown keys of the cases of a set: those that are misread, and those that are only doubtful."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel

from proctor.files.keys.unknown_keys import have_meaning, key_findings, silent_references
from proctor.files.text.problems import Problem, Severity
from proctor.files.text.validation_messages import Finding
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation

__all__ = ["LISTED", "KeyProblems", "NoticedKeys"]

LISTED = 100
"""Problems of one kind that get a position: each costs a look at its case."""

NoticedKeys = set[tuple[type[BaseModel], str]]
"""(model, key) of the unknown keys that validation found."""

Locate = Callable[[Sequence[tuple[int, Sequence[Finding]]], Severity], list[Problem]]
"""Adds positions in the file to findings about cases."""

_MORE = "further problems of this kind in this case and later ones are not listed"


class KeyProblems:
    """Collects findings about the keys of cases.

    `has_free_keys`: unknown keys of cases and turns were entries of `extra` (the short YAML form), where any key is allowed.
    """

    def __init__(self, *, has_free_keys: bool = False) -> None:
        self._has_free_keys = has_free_keys
        self._findings: dict[bool, list[tuple[int, list[Finding]]]] = {True: [], False: []}
        self._left = {True: LISTED, False: LISTED}

    def look(
        self, index: int, case: EvalCase, value: Any, noticed: NoticedKeys, *, is_row: bool = False
    ) -> None:
        """Add the next case, which was read from `value`; single keys are examined only if necessary."""
        if self._has_free_keys:
            noticed = {pair for pair in noticed if pair[0] not in (EvalCase, Invocation)}
        full = self._left[False] <= 0
        is_suspect = noticed and (is_row or have_meaning(noticed, misread_only=full))
        if not is_suspect and next(silent_references(case), None) is None:
            return
        findings = [each for each in key_findings(case, value, is_row=is_row) if not self._is_free(each)]
        for is_misread in (True, False):
            self._add(
                index, [each for each in findings if each.is_misread is is_misread], is_misread=is_misread
            )

    def _add(self, index: int, findings: list[Finding], *, is_misread: bool) -> None:
        left = self._left[is_misread]
        if not findings or left <= 0:
            return
        self._left[is_misread] = left - len(findings)
        if len(findings) > left:
            findings = [*findings[:left], Finding((), _MORE, is_misread=is_misread)]
        self._findings[is_misread].append((index, findings))

    def _is_free(self, finding: Finding) -> bool:
        """Whether a key was an entry of `extra` of a case or of a turn."""
        path = finding.path
        is_of_turn = len(path) == 3 and path[0] in ("conversation", "opening")
        return self._has_free_keys and finding.at_key and (len(path) == 1 or is_of_turn)

    def misread(self, locate: Locate) -> list[Problem]:
        """Return, as warnings, unknown keys that probably state an expectation; they rule out a verdict."""
        return locate(self._findings[True], "warning")

    def doubtful(self, locate: Locate) -> list[Problem]:
        """Return the other unknown keys, as warnings."""
        return locate(self._findings[False], "warning")
