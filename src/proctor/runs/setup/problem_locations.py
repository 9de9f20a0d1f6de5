"""What a plan refuses in a config, with the line and column of the criterion that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.files.eval_sets.documents import read_document
from proctor.files.text.validation_messages import resolve

if TYPE_CHECKING:
    from proctor.files.eval_sets.documents import Document


def placed(found: SetupProblems) -> SetupProblems:
    """Return the same problems; those of a config that is a file say where in it, as its own mistakes do."""
    documents: dict[str, Document | None] = {}
    for problem in found.problems:
        _place(problem, documents)
    return SetupProblems(found.problems)


def _place(problem: SetupError, documents: dict[str, Document | None]) -> None:
    file, said = problem.file, str(problem)
    if not (file and problem.path and said.startswith(f"{file}: ")):
        return  # made in Python, or it has a place already
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
    except EvalFileError:  # it has changed since it was read
        return None
