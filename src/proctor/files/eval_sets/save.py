"""Writing files: whole or not at all, in the text that ADK writes, and never losing comments without being told to."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import from_json

from proctor.common.atomic_write import new_file
from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES
from proctor.files.text.json_scanner import scan
from proctor.files.text.problems import SourceText
from proctor.schema.format.adk_json import to_adk_json, to_lines
from proctor.schema.format.case import EvalCase
from proctor.schema.format.eval_set import EvalSet


def save_eval_set(
    eval_set: EvalSet, path: str | Path, *, full: bool = False, comments_may_go: bool = False
) -> None:
    """Write a set as ADK writes it: snake_case, two-space indent, defaults left out (`full`: everything written).

    Unlike ADK, and unless `full`, a written `tool_uses: []` stays.

    Raises:
        EvalFileError: the file has comments, which JSON cannot keep, and `comments_may_go` is not set; or it cannot
            be written. The old file is then as it was.
    """
    save_model(eval_set, path, full=full, comments_may_go=comments_may_go, keep_written=not full)


def save_model(
    model: BaseModel,
    path: str | Path,
    *,
    full: bool = False,
    comments_may_go: bool = False,
    keep_written: bool = False,
) -> None:
    """Write any document of the format. As `save_eval_set`; `keep_written` as in `to_adk_json`."""
    path = Path(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        raise EvalFileError(f"{path}: this would write JSON into a YAML file; name a .json file")
    if path.suffix.lower() == LINES_SUFFIX:
        raise EvalFileError(f"{path}: this would write one document into a file of lines; name a .json file")
    if not comments_may_go and has_comments(path):
        raise EvalFileError(
            f"{path}: the file has comments, and JSON cannot keep them; it was not changed. "
            f"Save to another file, or say that the comments may go."
        )
    write_text(path, to_adk_json(model, full=full, keep_written=keep_written))


def has_comments(path: Path) -> bool:
    """Whether an existing file holds comments. A file that is not there, or is no text, has none."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    try:
        from_json(data.removeprefix(codecs.BOM_UTF8))
    except ValueError:
        return scan(SourceText(str(path), data.decode("utf-8-sig", "replace"))).has_comments
    return False


def save_lines(eval_set: EvalSet, cases: Iterable[EvalCase], path: str | Path) -> None:
    """Write a set in JSON lines, a case a line; `cases` may come one at a time. Raises EvalFileError: as `write_text`."""
    write_text(Path(path), to_lines(eval_set, cases))


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Replace a file's text, given whole or in pieces, in one step: after a crash it is the old text or the new one, never a part.

    The mode of the file is kept; a link stays a link and what it points to is replaced.

    Raises:
        EvalFileError: it cannot be written; the message names the path and the cause.
    """
    try:
        with new_file(path) as file:
            file.writelines([text] if isinstance(text, str) else text)
    except OSError as error:
        raise EvalFileError(f"{path}: cannot be written: {error.strerror or error}") from error
