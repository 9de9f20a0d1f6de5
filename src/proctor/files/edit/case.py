"""One case of a set says something else: its file with that case changed, and every other byte as it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from proctor.errors import EvalFileError
from proctor.files.edit.editable_file import ENCODED_TWICE, IN_PLACE
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.edit.json_merge import change_value, same_json
from proctor.files.edit.preview import check_edit
from proctor.files.eval_sets.case_reader import read_case
from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.documents import YAML_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile
from proctor.files.keys.unknown_keys import key_findings
from proctor.files.text.json_decode import parse
from proctor.files.text.validation_messages import Finding, explain
from proctor.schema.format.case import EvalCase


@dataclass(slots=True)
class EditedText:
    """The text of a set with one case changed."""

    text: str
    lost: list[str] = field(default_factory=list)
    """Comments that stand in what is replaced, each as `LINE: COMMENT`: they would go."""


def findings_in(value: Any) -> tuple[EvalCase | None, list[Finding], list[Finding]]:
    """Read a case: what it is (`None` where it is none), what is wrong with it, and what is doubtful."""
    try:
        case, _ = read_case(value)
    except ValidationError as error:
        return None, explain(error, value), []
    return case, [], [finding for finding in key_findings(case, value) if finding.hint]


def changeable(source: EvalSetFile) -> str:
    """Say why the cases of a set cannot be changed in place; empty where they can."""
    if source.is_encoded_twice:
        return f"{ENCODED_TWICE}, which is only read: `proctor convert` it to plain JSON first"
    if source.kind in IN_PLACE:
        return ""
    return f"this is an {source.kind}, which is only read: migrate it first"


def with_case(path: Path, source: EvalSetFile, text: str, index: int, value: Any) -> EditedText:
    """Return the `text` of the set `source` with its case at `index` saying `value`; nothing is written.

    JSON stays as it is wherever the two say the same; so does YAML, entry by entry.

    Raises:
        EvalFileError: the file has a form that is only read, or an anchor or a layout in which the case cannot be changed.
    """
    if why := changeable(source):
        raise EvalFileError(f"{source.label}: {why}")
    if path.suffix.lower() in YAML_SUFFIXES:
        return _with_yaml_case(path, source, text, index, read_case(value)[0])
    start = case_start(source, text, index)
    for change in (in_parts, as_whole):
        edit = _edit_at(text, start)
        changed = change(edit, value)
        new = _new_text(changed, text, edit)
        if _says(new, value) and not (source.kind is Kind.CASE_LINES and "\n" in new):
            return EditedText(changed, [f"{line}: {said}" for line, said in edit.lost(1)])
    raise EvalFileError(
        f"{source.where(index)}: this case cannot be changed in place (an unusual layout); nothing was written. "
        "Change it by hand, or `proctor convert` the file first"
    )


def case_start(source: EvalSetFile, text: str, index: int) -> int:
    """Where in the text a case begins."""
    place, start = source.start(index), 0
    for _ in range(1, place.line):
        start = text.find("\n", start) + 1
    start += place.column - 1
    if text[start : start + 1] != "{" and text.startswith("\ufeff"):  # places do not count it
        start += 1
    if text[start : start + 1] != "{":
        raise EvalFileError(f"{source.label}: the file was changed while it was read")
    return start


def _edit_at(text: str, start: int) -> JsonEdit:
    try:
        return JsonEdit(text, start=start)
    except ValueError as error:
        raise EvalFileError(f"this file cannot be changed in place: {error}") from None


def in_parts(edit: JsonEdit, value: Any) -> str:
    """Return a text whose value says `value`; what is the same in both keeps its bytes."""
    change_value(edit, edit.root, value)
    return edit.text()


def as_whole(edit: JsonEdit, value: Any) -> str:
    """Return a text whose value is written anew, on one line where it is on one."""
    edit.undo(0)
    one_line = "\n" not in edit.raw(edit.root)
    text = edit.render(value, edit.indent_at(edit.root.start), one_line=one_line)
    edit.replace_text(edit.root, text)
    return edit.text()


def _new_text(changed: str, text: str, edit: JsonEdit) -> str:
    """What stands where the case stood; empty where something around it is another, too."""
    start, tail = edit.root.start, text[edit.root.end :]
    is_alone = changed[:start] == text[:start] and changed.endswith(tail)
    return changed[start : len(changed) - len(tail)] if is_alone else ""


def _says(text: str, value: Any) -> bool:
    try:
        return bool(text) and same_json(parse(text.encode(), "").value, value)
    except (EvalFileError, UnicodeEncodeError):
        return False


def _with_yaml_case(path: Path, source: EvalSetFile, text: str, index: int, case: EvalCase) -> EditedText:
    from proctor.files.edit.yaml_edit import YamlEdit
    from proctor.files.edit.yaml_merge import change_yaml_case

    before = source.case(index)
    edit = YamlEdit(source.label, text)
    change_yaml_case(edit, index, before, case)
    changed = edit.text()
    check_edit(path, source, changed, replaced={before.eval_id: case})
    return EditedText(changed, [f"{line}: {said}" for line, said in edit.lost()])
