"""Problems and warnings about single cases, each with the place of its case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.engine.planning.plan import CaseSource

__all__ = ["and_others", "first_names", "in_case"]


def in_case(problem: str, source: CaseSource, index: int, more: str = "") -> SetupError:
    """Return a problem of one case, with the place of the case."""
    where = source.where(index) or source.eval_set_id
    error = SetupError(f"{where}: case {source.ids()[index]!r}{more}: {problem}")
    error.file, error.path = source.label or "", ("eval_cases", index)
    error.parts = [problem]
    return error


def and_others(source: CaseSource, indexes: Sequence[int]) -> str:
    """Name the other cases that a warning is about; empty where there are none."""
    if not indexes:
        return ""
    ids = source.ids()
    return f" (and {len(indexes)} more of {source.eval_set_id}: {first_names([repr(ids[index]) for index in indexes])})"


def first_names(names: Sequence[str], most: int = 10) -> str:
    """List the first few of some names, and how many there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
