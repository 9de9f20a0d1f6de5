"""Edit the text of a set's file that cannot be read as an eval set, with its problems.

As with cases, a change names the version that was read; if the file has another version by then, nothing is written.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.authoring.check_files import assertion_problems
from proctor.authoring.edit_case import ChangedMeanwhileError, read_set
from proctor.authoring.eval_set_files import ListedFile
from proctor.errors import EvalFileError, SetupError
from proctor.files.edit.editable_file import lock_folder, text_of_file
from proctor.files.eval_sets.file_problems import check_file
from proctor.files.eval_sets.save import write_text
from proctor.files.eval_sets.source import open_eval_set
from proctor.files.text.problems import Problem

LARGEST = 2 << 20
"""Bytes of a file that a page edits as text."""


class StillUnreadableError(SetupError):
    """The text is not a valid eval set, and the caller does not allow that; nothing was written."""


@dataclass(slots=True)
class TextContent:
    """The text of a file, or one that it is to have."""

    text: str
    """Its lines ended by a line feed, without a byte-order mark."""
    version: str
    problems: list[Problem]
    readable: bool
    """It can be opened as an eval set."""


def read_set_text(file: ListedFile) -> TextContent:
    """Return the text of a set's file, valid or not.

    Raises:
        EvalFileError: it is outside of the project, not UTF-8, or too large for a page.
    """
    text = _text(file)
    return _open_text(file, text)


def check_text(file: ListedFile, text: str) -> TextContent:
    """Return the problems of a new text for the file; nothing is written."""
    before = _text(file)
    return _open_text(file, restore_line_ends(_encodable(text), before))


def replace_text(
    file: ListedFile, text: str, *, version: str, unreadable_may_be: bool = False
) -> TextContent:
    """Give a file another text; lines that stay keep their bytes.

    Raises:
        ChangedMeanwhileError: the file has another text than the one that was read.
        StillUnreadableError: it could not be opened as an eval set, and `unreadable_may_be` is not set.
        EvalFileError: as `read_set_text`; or it cannot be written.
    """
    with lock_folder(file.path):
        before = _text(file)
        if _version(before) != version:
            raise ChangedMeanwhileError(
                f"{file.label}: the file was changed since it was read; nothing was written",
                normalize_line_ends(before),
                _version(before),
            )
        after = restore_line_ends(_encodable(text), before)
        result = _open_text(file, after)
        if not result.readable and not unreadable_may_be:
            first = next((each.without_severity for each in result.problems if each.severity == "error"), "")
            raise StillUnreadableError(
                f"this still cannot be read as an eval set, and was not written: {first}. Put that right, too, or say that "
                "it may be kept so"
            )
        if after != before:
            write_text(file.path, after)
    return result


def _text(file: ListedFile) -> str:
    if file.fault:
        raise EvalFileError(f"{file.label}: {file.fault}")
    size = file.path.stat().st_size if file.path.is_file() else 0
    if size > LARGEST:
        raise EvalFileError(
            f"{file.label}: the file has {size / (1 << 20):.1f} MiB; a page edits at most {LARGEST >> 20} as text: "
            "change it in an editor"
        )
    return text_of_file(file.path)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise StillUnreadableError(
            "the text holds half a character (a lone surrogate), which no file keeps; nothing was written"
        ) from None
    return text


def _open_text(file: ListedFile, text: str) -> TextContent:
    """A text as its file would be, with that file's name and no other's neighbours."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, file.path.name)
        copy.write_bytes(text.encode())
        problems = [
            replace(one, file=file.label) for one in check_file(copy, allow_duplicate_ids=True).problems
        ]
        try:
            read_set(ListedFile(file.id, copy, file.label))
            readable = True
            source = open_eval_set(copy, label=file.label, allow_empty=True, allow_duplicate_ids=True)
            problems += assertion_problems(source, file.path)
        except EvalFileError as error:
            readable = False
            problems += [one for one in error.problems if one not in problems]
    return TextContent(normalize_line_ends(text), _version(text), problems, readable)


def _version(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


# --- line ends --------------------------------------------------------------------------------------------------------


_END = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"
_MAX_PAIRED = 3_000
"""The most changed lines that are matched with the old ones; beyond it, every line gets the most frequent line end."""


def normalize_line_ends(text: str) -> str:
    """Return a text without a byte-order mark and with line feeds as line ends, as browsers return it."""
    return _END.sub("\n", text.removeprefix(_BOM))


def restore_line_ends(text: str, before: str) -> str:
    """Give an edited text the line ends of the text `before` that was edited; unchanged lines keep their bytes."""
    if text == normalize_line_ends(before):
        return before
    mark = _BOM if before.startswith(_BOM) else ""
    ends = [*_END.findall(before), ""]
    usual = Counter(ends[:-1]).most_common(1)[0][0] if len(ends) > 1 else "\n"
    if {*ends[:-1]} <= {usual}:
        return mark + normalize_line_ends(text).replace("\n", usual)
    lines = normalize_line_ends(text).split("\n")
    new_ends = [usual] * len(lines)
    for old, new in _equal_lines(normalize_line_ends(before).split("\n"), lines):
        new_ends[new] = ends[old] or usual
    restored = "".join(line + end for line, end in zip(lines, [*new_ends[:-1], ""], strict=True))
    if normalize_line_ends(restored) != normalize_line_ends(
        text
    ):  # a lone carriage return precedes an empty line
        restored = normalize_line_ends(text).replace("\n", usual)
    return mark + restored


def _equal_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the numbers of equal lines as pairs."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    pairs = [(at, at) for at in range(head)]
    pairs += [(len(old) - at, len(new) - at) for at in range(1, tail + 1)]
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(left), len(right)) <= _MAX_PAIRED:
        for old_at, new_at, size in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            pairs += [(head + old_at + at, head + new_at + at) for at in range(size)]
    return pairs
