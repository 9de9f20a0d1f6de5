"""Locations of the criteria in a config that planning refuses: line and column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.files.eval_sets.documents import read_document
from proctor.files.text.validation_messages import resolve

if TYPE_CHECKING:
    from proctor.files.eval_sets.documents import Document


def placed(found: SetupProblems) -> SetupProblems:
    """Return the same problems. Those about a config file begin with line and column, like its syntax errors."""
    documents: dict[str, Document | None] = {}
    for problem in found.problems:
        _place(problem, documents)
    return SetupProblems(found.problems)


def _place(problem: SetupError, documents: dict[str, Document | None]) -> None:
    file, said = problem.file, str(problem)
    if not (file and problem.path and said.startswith(f"{file}: ")):
        return  # made in Python, or already located
    if file not in documents:
        documents[file] = _document(Path(file))
    if (document := documents[file]) is None:
        return
    path, _ = resolve(problem.path, document.value)
    if path:
        place = document.locate([path]).key(path)
        problem.args = (f"{file}:{place.line}:{place.column}{said[len(file) :]}",)


def _document(path: Path) -> Document | None:
    try:
        return read_document(path, str(path)) if path.is_file() else None
    except EvalFileError:  # the file has changed since it was read
        return None
