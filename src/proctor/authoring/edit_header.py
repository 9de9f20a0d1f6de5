"""Change the head of a set, which is every key except its cases, without losing a concurrent change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proctor.authoring.edit_case import (
    ChangedMeanwhileError,
    EditPreview,
    NotACaseError,
    read_set,
    require_writable,
    version_of,
    write_edit,
)
from proctor.authoring.eval_set_files import ListedFile
from proctor.files.edit.editable_file import lock_folder, text_of_file
from proctor.files.edit.header import Header, header_findings, read_header_of_file, with_header
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.text.validation_messages import DocumentFinding


class NotAHeadError(NotACaseError):
    """The value is not a valid head of this set; `findings` has the problems, each with its path."""


@dataclass(slots=True)
class HeadContent:
    """The head of a set as its file has it."""

    eval_set_id: str
    """Where the file names none: the one that it goes by."""
    value: Header
    """As plain data, in the file's own spelling; of YAML in the words of the format."""
    version: str
    warnings: list[DocumentFinding]
    """Its warnings."""


def head_of(file: ListedFile) -> HeadContent:
    """Return the head of a set.

    Raises:
        EvalFileError: the set cannot be read, or its file has no place for one.
    """
    source = read_set(file)
    return _content(source, read_header_of_file(file.path, source, text_of_file(file.path)))


def preview_head(file: ListedFile, value: Header) -> EditPreview:
    """Return what a file would be with another head.

    Raises:
        NotAHeadError: it cannot be one.
        EvalFileError: the file cannot be read, or not be changed in place.
    """
    source, before = read_set(file), text_of_file(file.path)
    warnings = _warnings_about(source, read_header_of_file(file.path, source, before), value)
    edited = with_header(file.path, source, before, value)
    return EditPreview(before, edited.text, edited.lost_comments, warnings)


def replace_head(
    file: ListedFile, value: Header, *, version: str, comments_may_go: bool = False
) -> HeadContent:
    """Replace the head of a set, and return the new head.

    Raises:
        ChangedMeanwhileError: the file has another version of it.
        CommentsWouldGoError: comments would be lost, and may not.
        NotAHeadError, EvalFileError: as `preview_head`; nothing was written.
    """
    with lock_folder(file.path):
        source, before = read_set(file), text_of_file(file.path)
        there = read_header_of_file(file.path, source, before)
        if version_of(there) != version:
            raise ChangedMeanwhileError(
                f"{file.label}: the keys of this set were changed since they were read; nothing was written",
                there,
                version_of(there),
            )
        _warnings_about(source, there, value)
        edited = with_header(file.path, source, before, value)
        write_edit(file.path, before, edited, comments_may_go=comments_may_go)
    return head_of(file)


def _content(source: EvalSetFile, head: Header) -> HeadContent:
    return HeadContent(source.eval_set_id, head, version_of(head), header_findings(source, head, head)[1])


def _warnings_about(source: EvalSetFile, before: Header, value: Any) -> list[DocumentFinding]:
    require_writable(value)
    errors, warnings = header_findings(source, before, value)
    if errors:
        raise NotAHeadError(errors, "these keys are not valid in this set")
    return warnings
