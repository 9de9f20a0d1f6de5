"""Warnings of reading that become errors if a verdict is requested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.files.keys.unknown_keys import key_findings, set_key_findings
from proctor.files.text.problems import Problem, field_name, file_error
from proctor.schema.format.case import EvalCase, EvalSet

__all__ = [
    "ReadSet", "keys_of_models", "keys_of_set", "refusal_of", "refuse_keys", "refused_in", "warnings_of",
]  # fmt: skip

UNKNOWN_KEYS_ALLOWED = "`--allow-unknown-keys` (allow_unknown_keys) accepts such keys"


class ReadSet(Protocol):
    """An eval set that was read (see `EvalSetFile`)."""

    @property
    def warnings(self) -> list[Problem]:
        """All doubts."""
        ...

    misread: list[Problem]
    duplicate_keys: list[Problem]


def refused_in(source: ReadSet, *, allow_unknown_keys: bool) -> list[Problem]:
    """Return, as errors, the warnings that rule out a verdict."""
    keys = [] if allow_unknown_keys else source.misread
    return [replace(problem, severity="error") for problem in (*source.duplicate_keys, *keys)]


def warnings_of(source: ReadSet, *, allow_unknown_keys: bool) -> list[Problem]:
    """Return the other warnings."""
    refused = [*source.duplicate_keys, *([] if allow_unknown_keys else source.misread)]
    return [problem for problem in source.warnings if problem not in refused]


def refusal_of(problems: Sequence[Problem], *, allows: bool = False) -> EvalFileError:
    """Return the error for a file for which a verdict is refused; `allows`: an option accepts its unknown keys."""
    error = file_error(replace(problem, severity="error") for problem in problems)
    return EvalFileError(f"{error}\n{UNKNOWN_KEYS_ALLOWED}", error.problems) if allows else error


# --- sets in memory ----------------------------------------------------------------------------------------------------

_LISTED = 100


def keys_of_models(cases: Iterable[EvalCase], label: str = "") -> tuple[list[str], list[str]]:
    """Return the errors and the doubts about unknown keys of cases that were made in Python."""
    messages: dict[bool, list[str]] = {True: [], False: []}
    for index, case in enumerate(cases):
        for finding in key_findings(case, None):
            if len(messages[finding.is_misread]) < _LISTED:
                field = field_name(("eval_cases", index, *finding.path))
                hint = f" ({finding.hint})" if finding.hint else ""
                messages[finding.is_misread].append(f"{label}{field}: {finding.message}{hint}")
    return messages[True], messages[False]


def keys_of_set(eval_set: EvalSet) -> tuple[list[str], list[str]]:
    """Return the same for a set with its cases."""
    label = f"eval set {eval_set.eval_set_id!r}: "
    misread, doubtful = keys_of_models(eval_set.eval_cases, label)
    for finding in set_key_findings(eval_set.model_extra or {}):
        (misread if finding.is_misread else doubtful).append(f"{label}{finding.one_line}")
    return misread, doubtful


def refuse_keys(misread: Sequence[str]) -> None:
    """Refuse unknown keys of a set in memory that state an expectation.

    Raises:
        SetupProblems: one error per key.
    """
    if misread:
        raise SetupProblems([SetupError(f"{message}; {UNKNOWN_KEYS_ALLOWED}") for message in misread])
