"""`warnings_as_errors`: every warning about the setup of a run becomes a configuration error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from proctor.errors import SetupError, SetupProblems

if TYPE_CHECKING:
    from proctor.runs.setup.prepare import Prepared

_REASON = "a warning, refused because --warnings-as-errors is set"


def errors_from(warnings: Iterable[str]) -> list[SetupError]:
    """Return one configuration error per warning, each text once."""
    return [SetupError(f"{warning} ({_REASON})") for warning in dict.fromkeys(warnings)]


def refuse_warnings(prepared: Prepared) -> None:
    """Refuse a run that has warnings if it was prepared with `warnings_as_errors`; notes are not warnings.

    Raises:
        SetupProblems: one error per warning.
    """
    if not prepared.warnings_as_errors:
        return
    if problems := errors_from(each for each in prepared.warnings if each not in prepared.notes):
        raise SetupProblems(problems)
