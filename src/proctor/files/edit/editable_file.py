"""The files of eval sets that can be changed in place: which they are, and where a case stands in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from proctor.errors import EvalFileError
from proctor.files.edit.bless import bless_case
from proctor.files.edit.json_edit import JsonEdit, JsonNode
from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.documents import YAML_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile
from proctor.schema.format.case import EvalCase
from proctor.schema.format.invocation import Invocation

IN_PLACE = frozenset({Kind.EVAL_SET, Kind.CASE_LINES, Kind.CASE_LIST, Kind.EVAL_CASE})

ENCODED_TWICE = "the document is inside a JSON string"


class Editable(Protocol):
    """The text of a set whose cases can be blessed."""

    def bless(
        self, index: int, case: EvalCase, actual: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> bool:
        """Make a case expect what was done; tell whether that changes anything. Raises EvalFileError, as `bless_case`."""
        ...

    def lost(self) -> list[str]:
        """Return the comments that would go with what they stand in, each as `LINE: COMMENT`."""
        ...

    def text(self) -> str:
        """Return the text with the changes made."""
        ...


def editable(source: EvalSetFile, text: str) -> Editable:
    """Return the text of a set's file, to be changed.

    Raises:
        EvalFileError: its form is one of those that are only read.
    """
    if source.kind not in IN_PLACE:
        raise EvalFileError(
            f"{source.label}: {source.kind}: this form cannot be changed in place; `proctor convert` it to JSON first"
        )
    if source.is_encoded_twice:
        raise EvalFileError(f"{source.label}: {ENCODED_TWICE}; `proctor convert` it to plain JSON first")
    is_yaml = Path(source.label).suffix.lower() in YAML_SUFFIXES
    return _Yaml(source, text) if is_yaml else _Json(source, text)


def text_of_file(path: Path) -> str:
    """Return the text of a file as it is, line ends and all. Raises EvalFileError: it cannot be read."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise EvalFileError(f"{path}: cannot be read: {error}") from None


class _Json:
    """One document, or one for each line."""

    def __init__(self, source: EvalSetFile, text: str) -> None:
        self._source = source
        self._is_lines = source.kind is Kind.CASE_LINES
        self._pieces = text.split("\n") if self._is_lines else [text]
        self._edits: dict[int, JsonEdit] = {}

    def bless(
        self, index: int, case: EvalCase, actual: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> bool:
        edit, node = self._place(index)
        changes = edit.changes
        try:
            bless_case(edit, node, case, actual, final_state)
        except EvalFileError:
            edit.undo(changes)
            raise
        return edit.changes > changes

    def lost(self) -> list[str]:
        return [
            f"{line}: {said}" for piece, edit in self._edits.items() for line, said in edit.lost(piece + 1)
        ]

    def text(self) -> str:
        return "\n".join(
            self._edits[number].text() if number in self._edits else piece
            for number, piece in enumerate(self._pieces)
        )

    def _place(self, index: int) -> tuple[JsonEdit, JsonNode]:
        """What edits a case, and where it stands there."""
        piece = self._source.line(index) - 1 if self._is_lines else 0
        if piece not in self._edits:
            self._edits[piece] = JsonEdit(self._pieces[piece], start=self._pieces[piece].startswith("\ufeff"))
        edit = self._edits[piece]
        node: JsonNode | None = edit.root
        if self._source.kind in {Kind.EVAL_SET, Kind.CASE_LIST}:
            node = cases_of(edit, self._source).at(index)
        if node is None:
            raise EvalFileError(f"{self._source.label}: the file was changed while it was read")
        return edit, node


def edit_of(source: EvalSetFile, text: str) -> JsonEdit:
    """Return the text of a set that is one JSON document, to be changed around its cases; they are not looked into.

    Where the set was read a case at a time it is known where each of them stands, and a large text need not be read again.
    """
    data, known = text.encode(), {}
    at, chars = 0, 0
    for start, end in source.stretches():
        chars += len(data[at:start].decode(errors="replace"))
        length = len(data[start:end].decode(errors="replace"))
        known[chars] = chars + length
        at, chars = end, chars + length
        if text[chars - length : chars - length + 1] != "{" or text[chars - 1 : chars] != "}":
            raise EvalFileError(f"{source.label}: the file was changed while it was read")
    return JsonEdit(text, start=text.startswith("\ufeff"), known=known)


def cases_of(edit: JsonEdit, source: EvalSetFile) -> JsonNode:
    """Return the list of cases of a set that is one JSON document."""
    node: JsonNode | None = edit.root
    if source.kind is Kind.EVAL_SET:
        node = edit.root.at("eval_cases") or edit.root.at("evalCases")
    if node is None or node.items is None:
        raise EvalFileError(f"{source.label}: its list of cases is not where it was")
    return node


class _Yaml:
    def __init__(self, source: EvalSetFile, text: str) -> None:
        from proctor.files.edit.yaml_edit import YamlEdit

        self._edit = YamlEdit(source.label, text)

    def bless(
        self, index: int, case: EvalCase, actual: Sequence[Invocation], final_state: Mapping[str, Any] | None
    ) -> bool:
        from proctor.files.edit.bless_yaml import bless_yaml_case

        changes, listed = self._edit.changes, self._edit.cases
        node = listed[index] if listed else self._edit.root
        try:
            bless_yaml_case(self._edit, node, case, actual, final_state)
        except EvalFileError:
            self._edit.undo(changes)
            raise
        return self._edit.changes > changes

    def lost(self) -> list[str]:
        return [f"{line}: {said}" for line, said in self._edit.lost()]

    def text(self) -> str:
        return self._edit.text()
