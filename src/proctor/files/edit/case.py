"""Change cases of a set: the rest of its file is unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from proctor.errors import EvalFileError
from proctor.files.edit.editable_file import check_edit, require_editable
from proctor.files.edit.json_edit import JsonEdit, JsonLayout, change_value, same_json
from proctor.files.edit.line_changes import TextLines
from proctor.files.edit.text_edits import SplicedText
from proctor.files.eval_sets.documents import YAML_SUFFIXES, DocumentKind
from proctor.files.eval_sets.eval_set_file import EvalSetFile, read_case
from proctor.files.keys.key_findings import key_findings
from proctor.files.text.json_decode import parse
from proctor.files.text.validation_messages import DocumentFinding, findings_of_error
from proctor.schema.format.case import EvalCase


@dataclass(slots=True)
class EditedText:
    """The text of a set in which one case was edited."""

    text: str
    lost_comments: list[str] = field(default_factory=list)
    """The comments in the replaced text, each as `LINE: COMMENT`; the edit removes them."""


def read_edited_case(value: object) -> tuple[EvalCase | None, list[DocumentFinding], list[DocumentFinding]]:
    """Return the case of a JSON value (`None` if it is not a case), its errors and its warnings."""
    try:
        case, _ = read_case(value)
    except ValidationError as error:
        return None, findings_of_error(error, value), []
    return case, [], [finding for finding in key_findings(case, value) if finding.hint]


def with_case(path: Path, source: EvalSetFile, text: str, index: int, value: object) -> EditedText:
    """Return the `text` of the set `source` with `value` as its case at `index`; nothing is written.

    Equal parts of JSON keep their bytes; so do equal entries of YAML.

    Raises:
        EvalFileError: the form is read-only, or the case has an anchor or a layout that cannot be edited.
    """
    edits = case_edits(source, text, [index])
    edits.change(index, value)
    if isinstance(edits, YamlCases):  # of JSON only the text of the case is replaced
        edits.check(path, {source.ids()[index]: read_case(value)[0]})
    return EditedText(edits.text(), edits.lost_comments())


# --- changes of several cases of one text -----------------------------------------------------------------------------


def case_edits(
    source: EvalSetFile, text: str, indexes: Collection[int], *, may_rewrite: bool = True
) -> JsonCases | YamlCases:
    """Return the `text` of a set's file, in which the cases at `indexes` can be changed.

    `may_rewrite`: cases of YAML in the long form may be written again in the short form, without their comments.

    Raises:
        EvalFileError: the form is read-only.
    """
    require_editable(source)
    is_yaml = Path(source.label).suffix.lower() in YAML_SUFFIXES
    return YamlCases(source, text, indexes, may_rewrite=may_rewrite) if is_yaml else JsonCases(source, text)


class JsonCases(SplicedText):
    """The cases of a JSON document, or of JSON lines. Each is edited by itself: a set may have thousands."""

    def __init__(self, source: EvalSetFile, text: str) -> None:
        super().__init__(text)
        self._set = source
        self._layout = JsonLayout.of(text)
        self._lost: list[str] = []

    def change(self, index: int, value: object) -> bool:
        """Change a case to `value`, and return whether that changes the text. Raises EvalFileError: an unusual layout."""
        offset, start, text = self._part(index)
        for change in (in_parts, as_whole):
            try:
                edit = JsonEdit(text, start=start, layout=self._layout)
            except ValueError as error:
                raise EvalFileError(f"this file cannot be edited in place: {error}") from None
            new = _new_text(change(edit, value), text, edit)
            if _equals(new, value) and not (self._set.kind is DocumentKind.CASE_LINES and "\n" in new):
                self._lost += edit.lost_comments(self._set.line(index))
                is_changed = new != edit.raw(edit.root)
                moved = [(offset + begin, offset + end, to) for begin, end, to in edit.splices]
                self._splices += moved if is_changed else []
                return is_changed
        raise EvalFileError(
            f"{self._set.where(index)}: this case cannot be edited in place (an unusual layout); nothing was written. "
            "Edit it by hand, or use `proctor convert` first"
        )

    def _part(self, index: int) -> tuple[int, int, str]:
        """Return a text with the case at `index` and the indentation of its line, the start of the case in it, and its offset."""
        start = case_start(self._set, self.lines, index)
        is_last = index + 1 == len(self._set)
        end = None if is_last else case_start(self._set, self.lines, index + 1)
        line = self.source[self.lines.start(self._set.line(index) - 1) : start]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        return start - len(indent), len(indent), indent + self.source[start:end]

    def lost_comments(self, first_line: int = 1) -> list[str]:
        """Return the comments in replaced text, each as `LINE: COMMENT`."""
        return self._lost


class YamlCases:
    """The cases of a YAML file. Only those to change are read again: a set may have thousands."""

    def __init__(
        self, source: EvalSetFile, text: str, indexes: Collection[int], *, may_rewrite: bool
    ) -> None:
        from proctor.files.edit.yaml_edit import YamlEdit
        from proctor.files.yaml.excerpt import Excerpt, excerpt

        ids = source.ids()
        part = excerpt(text, [ids[index] for index in indexes])
        self._part = part if part and {*part.ids} <= {*ids} else Excerpt([*ids], text)
        self._set, self._may_rewrite = source, may_rewrite
        self._edit = YamlEdit(source.label, text, self._part.text)
        self.text, self.lost_comments = self._edit.text, self._edit.lost_comments
        self.lines, self.line_changes = self._edit.lines, self._edit.line_changes

    def change(self, index: int, value: object) -> bool:
        """Change a case to `value`, and return whether that changes the text. Raises EvalFileError: an unusual layout."""
        from proctor.files.edit.yaml_edit import change_yaml_case

        changes = self._edit.changes
        try:
            before, after = self._set.case(index), read_case(value)[0]
            values = None
            if isinstance(value, dict) and not self._may_rewrite:
                values = self._set.value(index), value
            position = self._part.ids.index(self._set.ids()[index])
            change_yaml_case(self._edit, position, before, after, values)
        except EvalFileError:
            self._edit.undo(changes)
            raise
        return self._edit.changes > changes

    def check(self, path: Path, changed: Mapping[str, EvalCase | None]) -> EvalSetFile:
        """Return the set of the changed text, with at least the `changed` cases. Errors as `check_edit`."""
        text = self._edit.text(self._part.text)
        return check_edit(path, self._set, text, ids=self._part.ids, changed=changed)


def case_start(source: EvalSetFile, lines: TextLines, index: int) -> int:
    """Return the offset at which a case begins."""
    place, text = source.start(index), lines.text
    start = lines.start(place.line - 1) + place.column - 1
    if text[start : start + 1] != "{" and text.startswith("\ufeff"):  # positions do not count it
        start += 1
    if text[start : start + 1] != "{":
        raise EvalFileError(f"{source.label}: the file changed while it was read")
    return start


def in_parts(edit: JsonEdit, value: object) -> str:
    """Return the text with its value changed to `value`; equal parts keep their bytes."""
    change_value(edit, edit.root, value)
    return edit.text()


def as_whole(edit: JsonEdit, value: object) -> str:
    """Return the text with its value written again, on one line if it was on one line."""
    one_line = "\n" not in edit.raw(edit.root)
    text = edit.render(value, edit.indent_at(edit.root.start), one_line=one_line)
    edit.replace_text(edit.root, text)
    return edit.text()


def _new_text(changed: str, text: str, edit: JsonEdit) -> str:
    """Return the text that replaced the case; empty if the text around it changed, too."""
    start, tail = edit.root.start, text[edit.root.end :]
    is_alone = changed[:start] == text[:start] and changed.endswith(tail)
    return changed[start : len(changed) - len(tail)] if is_alone else ""


def _equals(text: str, value: object) -> bool:
    try:
        return bool(text) and same_json(parse(text.encode(), "").value, value)
    except (EvalFileError, UnicodeEncodeError):
        return False
