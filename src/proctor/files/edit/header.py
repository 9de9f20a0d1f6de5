"""Read and edit the header of a set: all of its keys except the cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

import yaml
from pydantic_core import from_json

from proctor.errors import EvalFileError
from proctor.files.edit.case import EditedText, as_whole, case_start, in_parts
from proctor.files.edit.editable_file import check_edit
from proctor.files.edit.json_edit import JsonEdit, same_json
from proctor.files.edit.line_changes import TextLines
from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.edit.yaml_nodes import entry_keys
from proctor.files.eval_sets.documents import YAML_SUFFIXES, DocumentKind, is_set_fields, kind, read_yaml
from proctor.files.eval_sets.eval_set_file import EvalSetFile, read_header
from proctor.files.keys.key_findings import unknown_in
from proctor.files.text.json_decode import parse
from proctor.files.text.validation_messages import DocumentFinding
from proctor.files.yaml.object_reader import EXTRA, SET_KEYS, known_key
from proctor.schema.format.case import EvalSet

Header = dict[str, object]

WITH_HEADER = frozenset({DocumentKind.EVAL_SET, DocumentKind.CASE_LINES})
"""Kinds of documents that have a header and can be edited in place."""
_CASES = ("eval_cases", "evalCases")
_IDS = frozenset({"eval_set_id", "evalSetId", "id"})


def read_header_of_file(path: Path, source: EvalSetFile, text: str) -> Header:
    """Return the header of a set as its file has it; for YAML, under the names of the format.

    Raises:
        EvalFileError: a document of this form has no header, or it cannot be read.
    """
    if source.kind not in WITH_HEADER:
        raise EvalFileError(
            f"{source.label}: {source.kind}: this form has no header; use `proctor convert` to make it a set"
        )
    if source.kind is DocumentKind.CASE_LINES:
        number = _header_line(text)
        return _line_value(text.split("\n")[number]) if number is not None else {}
    is_yaml = path.suffix.lower() in YAML_SUFFIXES
    document = read_yaml(text.encode(), source.label) if is_yaml else parse(text.encode(), source.label)
    return {key: value for key, value in document.value.items() if key not in _CASES}


def header_findings(
    source: EvalSetFile, before: Header, value: Header
) -> tuple[list[DocumentFinding], list[DocumentFinding]]:
    """Return the errors and the warnings of `value` as the new header; `before` is the present one."""
    own = {key: item for key, item in value.items() if key not in _CASES}
    header, errors, warnings = read_header(own, source.label, needs_id=source.kind is DocumentKind.EVAL_SET)
    errors = [*errors, *_keys_of_other_kinds(source, value)]
    if not errors and (
        header.eval_set_id != source.eval_set_id or _IDS & before.keys() > _IDS & value.keys()
    ):
        errors = [
            DocumentFinding(
                ("eval_set_id",),
                f"the id of a set cannot be changed here: runs and baselines refer to {source.eval_set_id!r}",
            )
        ]
    return errors, [*warnings, *unknown_in(header, value)]


def _keys_of_other_kinds(source: EvalSetFile, value: Header) -> Iterator[DocumentFinding]:
    """Report keys that would make the file a document of another kind."""
    for key in _CASES:
        if key in value:
            yield DocumentFinding((key,), "the cases cannot be edited here: edit them one by one")
            return
    if source.kind is DocumentKind.CASE_LINES:
        if value and not is_set_fields(value):
            yield DocumentFinding(
                (), "the first line would be read as a case", "add `eval_set_id`, and no key of a case"
            )
    elif (new_kind := kind({**value, "eval_cases": []})) is not DocumentKind.EVAL_SET:
        yield DocumentFinding((), f"these keys would make the file another document: {new_kind}")


def with_header(path: Path, source: EvalSetFile, text: str, value: Header) -> EditedText:
    """Return the `text` of a set with another header; nothing is written, and the cases keep their bytes.

    Raises:
        EvalFileError: there is no header, or it cannot be edited in place (an anchor, an unusual layout).
    """
    before = read_header_of_file(path, source, text)
    if same_json(before, value):
        return EditedText(text)
    for edited in _candidates(path, source, text, before, value):
        if _has_header(path, source, edited.text, value):
            if path.suffix.lower() in YAML_SUFFIXES:  # other forms copy the text of the cases
                check_edit(path, source, edited.text)
            return edited
    raise EvalFileError(
        f"{source.label}: the keys of this set cannot be edited in place (an unusual layout); nothing was written. "
        "Edit them by hand, or use `proctor convert` first"
    )


def _candidates(
    path: Path, source: EvalSetFile, text: str, before: Header, value: Header
) -> Iterator[EditedText]:
    if source.kind is DocumentKind.CASE_LINES:
        yield from _in_lines(text, value)
    elif path.suffix.lower() in YAML_SUFFIXES:
        for is_nested in (True, False):
            yaml_edit = YamlEdit(source.label, text)
            change_yaml_header(yaml_edit, before, value, is_nested=is_nested)
            yield EditedText(yaml_edit.text(), yaml_edit.lost_comments())
    else:
        rest, placeholder, cases = _without_cases(source, text)
        edit = JsonEdit(rest, start=rest.startswith("\ufeff"))
        changed = in_parts(edit, _with_case_list(edit, value)).split(placeholder)
        if len(changed) == 2:
            yield EditedText(cases.join(changed), edit.lost_comments())


def _without_cases(source: EvalSetFile, text: str) -> tuple[str, str, str]:
    """Return a text with a placeholder for its cases, the placeholder, and the text of the cases, which may be long."""
    placeholder = json.dumps(token_hex(16))
    if not len(source):  # no cases: append the placeholder to the document
        return text + placeholder, placeholder, ""
    lines = TextLines(text)
    first, last = (case_start(source, lines, index) for index in (0, len(source) - 1))
    end = JsonEdit(text, start=last).root.end
    cases = text[first:end]
    placeholder += "\n" * cases.count("\n")  # keeps the line numbers of the text after it
    return f"{text[:first]}{placeholder}{text[end:]}", placeholder, cases


def _with_case_list(edit: JsonEdit, value: Header) -> Header:
    """Return the whole set with another header; new keys precede the cases, where people see them."""
    members = edit.root.members or {}
    key = next(key for key in _CASES if key in members)
    names = list(members)
    ahead = [name for name in names[: names.index(key)] if name in value]
    new = [name for name in value if name not in members] if ahead else []
    return {**{name: value[name] for name in (*ahead, *new)}, key: edit.value(members[key]), **value}


def _has_header(path: Path, source: EvalSetFile, text: str, value: Header) -> bool:
    try:
        return same_json(read_header_of_file(path, source, text), value)
    except (EvalFileError, UnicodeEncodeError):
        return False


# --- JSON lines --------------------------------------------------------------------------------------------------------


def _in_lines(text: str, value: Header) -> Iterator[EditedText]:
    lines, number = text.split("\n"), _header_line(text)
    if number is None:
        mark, end = text[: text.startswith("\ufeff")], "\r\n" if "\r\n" in text else "\n"
        yield EditedText(f"{mark}{json.dumps(value, ensure_ascii=False)}{end}{text[len(mark) :]}")
        return
    for change in (in_parts, as_whole):
        edit = JsonEdit(lines[number], start=lines[number].startswith("\ufeff"))
        changed = change(edit, value)
        if "\n" not in changed:
            yield EditedText("\n".join([*lines[:number], changed, *lines[number + 1 :]]))


def _header_line(text: str) -> int | None:
    """Return the line of the header: the first one that is neither blank nor a comment, unless it is a case."""
    for number, line in enumerate(text.split("\n")):
        content = line.lstrip("\ufeff").strip()
        if content and not content.startswith(("#", "//")):
            return number if is_set_fields(_line_value(line)) else None
    return None


def _line_value(line: str) -> Any:
    return from_json(line.lstrip("\ufeff").encode())


# --- YAML --------------------------------------------------------------------------------------------------------------


def change_yaml_header(edit: YamlEdit, before: Header, after: Header, *, is_nested: bool) -> None:
    """Change the header of a set to `after`, entry by entry; both use the names of the format.

    `is_nested`: custom keys are entries of `extra`, as in the short form, instead of being among those of the format.

    Raises:
        EvalFileError: the document is not a set, or an entry shares an anchor or a line with something else.
    """
    root = edit.root
    if not isinstance(root, yaml.MappingNode) or edit.case_list is root:
        raise EvalFileError(
            f"{edit.name}: this is a list of cases without a set, and has no keys of a set. Use `proctor convert` to make "
            "it a set"
        )
    if not is_nested:
        _change_entries(edit, root, _with_keys_of(root, before), _with_keys_of(root, after))
        return
    old, old_custom = _split_custom_keys(before)
    new, new_custom = _split_custom_keys(after)
    _change_entries(edit, root, _with_keys_of(root, old), _with_keys_of(root, new))
    _change_custom_keys(edit, root, old_custom, new_custom)


def _change_custom_keys(
    edit: YamlEdit, root: yaml.MappingNode, old_custom: Header, new_custom: Header
) -> None:
    """Change the entries of `extra`, or write or remove `extra` as a whole."""
    extra = edit.at(root, EXTRA)
    if old_custom and new_custom and isinstance(extra, yaml.MappingNode) and not extra.flow_style:
        _change_entries(edit, extra, old_custom, new_custom)
    elif old_custom != new_custom:
        both: list[Header] = [{EXTRA: custom} if custom else {} for custom in (old_custom, new_custom)]
        _change_entries(edit, root, *both)


def _change_entries(edit: YamlEdit, node: yaml.MappingNode, old: Header, new: Header) -> None:
    """Change entries of a set or of its `extra`; people see a new one better before the cases than after them."""
    keys = [key for key in entry_keys(node) if key in new or key not in old]
    positions = (position for position, key in enumerate(keys) if SET_KEYS.get(key) == "eval_cases")
    last = keys[max(0, next(positions, len(keys)) - 1)] if keys else ""
    edit.change_entries(node, old, new, first=last)


def _split_custom_keys(header: Mapping[str, object]) -> tuple[Header, Header]:
    """Return the keys of the format, and all others."""
    fields = dict.fromkeys(EvalSet.model_fields, "")
    known = {key: value for key, value in header.items() if known_key(key, fields)}
    return known, {key: value for key, value in header.items() if key not in known}


def _with_keys_of(root: yaml.MappingNode, header: Header) -> Header:
    """Return a header with the keys renamed to the spellings of the file."""
    spellings = {
        SET_KEYS[known]: key.value for key, _ in root.value if (known := known_key(key.value, SET_KEYS))
    }
    present = {key.value for key, _ in root.value}
    return {key if key in present else spellings.get(key, key): value for key, value in header.items()}
