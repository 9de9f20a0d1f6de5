"""Write files atomically, in the form that ADK writes, and refuse to lose comments unless the caller allows it."""

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
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.serialize import to_adk_json, to_lines


def save_eval_set(
    eval_set: EvalSet, path: str | Path, *, full: bool = False, comments_may_go: bool = False
) -> None:
    """Write a set as ADK writes it: snake_case, two-space indent, without defaults (`full`: with all fields).

    Unlike ADK, and unless `full`, a written `tool_uses: []` stays.

    Raises:
        EvalFileError: the file has comments, which JSON cannot keep, and `comments_may_go` is not set; or it cannot
            be written. The old file is then unchanged.
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
    """Write any document of the format. See `save_eval_set`; `keep_written` as in `to_adk_json`."""
    path = Path(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        raise EvalFileError(f"{path}: JSON cannot be written to a YAML file; name a .json file")
    if path.suffix.lower() == LINES_SUFFIX:
        raise EvalFileError(
            f"{path}: one document cannot be written to a file of JSON lines; name a .json file"
        )
    if not comments_may_go and has_comments(path):
        raise EvalFileError(
            f"{path}: the file has comments, and JSON cannot keep them; it was not changed. "
            f"Save to another file, or allow the comments to be removed."
        )
    write_text(path, to_adk_json(model, full=full, keep_written=keep_written))


def has_comments(path: Path) -> bool:
    """Whether an existing file contains comments. A missing file, or one that is not text, has none."""
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
    """Write a set in JSON lines, one case per line; `cases` may be an iterator. Raises EvalFileError: see `write_text`."""
    write_text(Path(path), to_lines(eval_set, cases))


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Replace the text of a file atomically; after a crash it is the old or the new text. The text may come in pieces.

    The mode of the file is kept; if it is a link, its target is replaced.

    Raises:
        EvalFileError: the file cannot be written; the message contains the path and the cause.
    """
    try:
        with new_file(path) as file:
            file.writelines([text] if isinstance(text, str) else text)
    except OSError as error:
        raise EvalFileError(f"{path}: cannot be written: {error.strerror or error}") from error
