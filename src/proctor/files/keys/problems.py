"""The unknown keys of the cases of a set, as they go by: those that are misread, and those that are only doubtful."""

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
"""Problems of one sort that get a place; nobody reads more, and each costs a look at its case."""

NoticedKeys = set[tuple[type[BaseModel], str]]
"""(model, key) of unknown keys that validation has noticed."""

Placed = Callable[[Sequence[tuple[int, Sequence[Finding]]], Severity], list[Problem]]
"""Gives findings of cases their places in the file."""

_MORE = "this case and maybe others have further problems of this sort; they are not listed"


class KeyProblems:
    """Collects what is found in the keys of cases.

    `has_free_keys`: unknown keys of cases and turns stood under `extra` (the short YAML form), where anything may be.
    """

    def __init__(self, *, has_free_keys: bool = False) -> None:
        self._has_free_keys = has_free_keys
        self._found: dict[bool, list[tuple[int, list[Finding]]]] = {True: [], False: []}
        self._left = {True: LISTED, False: LISTED}

    def look(
        self, index: int, case: EvalCase, value: Any, noticed: NoticedKeys, *, is_row: bool = False
    ) -> None:
        """Look at the next case, which was read from `value`; most cases need no look at single keys."""
        if self._has_free_keys:
            noticed = {one for one in noticed if one[0] not in (EvalCase, Invocation)}
        full = self._left[False] <= 0
        is_suspect = noticed and (is_row or have_meaning(noticed, misread_only=full))
        if not is_suspect and next(silent_references(case), None) is None:
            return
        found = [one for one in key_findings(case, value, is_row=is_row) if not self._is_free(one)]
        for is_misread in (True, False):
            self._keep(index, [one for one in found if one.is_misread is is_misread], is_misread=is_misread)

    def _keep(self, index: int, findings: list[Finding], *, is_misread: bool) -> None:
        left = self._left[is_misread]
        if not findings or left <= 0:
            return
        self._left[is_misread] = left - len(findings)
        if len(findings) > left:
            findings = [*findings[:left], Finding((), _MORE, is_misread=is_misread)]
        self._found[is_misread].append((index, findings))

    def _is_free(self, finding: Finding) -> bool:
        """Whether a key stood under `extra` of a case or of a turn."""
        path = finding.path
        is_of_turn = len(path) == 3 and path[0] in ("conversation", "opening")
        return self._has_free_keys and finding.at_key and (len(path) == 1 or is_of_turn)

    def misread(self, place: Placed) -> list[Problem]:
        """What states something that nothing reads, as warnings; a verdict must not be given over it."""
        return place(self._found[True], "warning")

    def doubtful(self, place: Placed) -> list[Problem]:
        """The other unknown keys, as warnings."""
        return place(self._found[False], "warning")
