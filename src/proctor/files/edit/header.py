"""The head of a set, which is every key of it but its cases: read, and changed while every other byte stays."""

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
from proctor.files.edit.json_edit import JsonEdit
from proctor.files.edit.json_merge import same_json
from proctor.files.edit.preview import check_edit
from proctor.files.edit.yaml_edit import YamlEdit
from proctor.files.eval_sets.detect_format import Kind, is_set_fields, kind
from proctor.files.eval_sets.documents import YAML_SUFFIXES, read_yaml
from proctor.files.eval_sets.source import EvalSetFile
from proctor.files.eval_sets.streamed_set import read_header
from proctor.files.keys.unknown_keys import unknown_in
from proctor.files.text.json_decode import parse
from proctor.files.text.validation_messages import Finding
from proctor.files.yaml.emitter import emit
from proctor.files.yaml.keys import EXTRA, SET_KEYS, known_key
from proctor.schema.format.eval_set import EvalSet

Head = dict[str, Any]

WITH_HEAD = frozenset({Kind.EVAL_SET, Kind.CASE_LINES})
"""Kinds of documents that have a place for a set's own keys, and can be changed in place."""
_CASES = ("eval_cases", "evalCases")
_IDS = frozenset({"eval_set_id", "evalSetId", "id"})


def read_head(path: Path, source: EvalSetFile, text: str) -> Head:
    """Return the head of a set as its file has it; of YAML in the words of the format.

    Raises:
        EvalFileError: a document of this form has none, or it cannot be read.
    """
    if source.kind not in WITH_HEAD:
        raise EvalFileError(
            f"{source.label}: {source.kind}: this has no keys of a set's own; `proctor convert` makes it a set"
        )
    if source.kind is Kind.CASE_LINES:
        found = _head_line(text)
        return _line_value(text.split("\n")[found]) if found is not None else {}
    is_yaml = path.suffix.lower() in YAML_SUFFIXES
    document = read_yaml(text.encode(), source.label) if is_yaml else parse(text.encode(), source.label)
    return {key: value for key, value in document.value.items() if key not in _CASES}


def head_findings(source: EvalSetFile, before: Head, value: Head) -> tuple[list[Finding], list[Finding]]:
    """Return what keeps `value` from taking the place of the head `before`, and what is doubtful in it."""
    header, wrong, doubtful = read_header(value, source.label, needs_id=source.kind is Kind.EVAL_SET)
    wrong = [*wrong, *_misplaced(source, value)]
    if not wrong and (header.eval_set_id != source.eval_set_id or _IDS & before.keys() > _IDS & value.keys()):
        wrong = [
            Finding(
                ("eval_set_id",),
                f"the id of a set is not changed here: runs and baselines know it as {source.eval_set_id!r}",
            )
        ]
    return wrong, [*doubtful, *unknown_in(header, value)]


def _misplaced(source: EvalSetFile, value: Head) -> Iterator[Finding]:
    """Keys with which the file would be something else."""
    for key in _CASES:
        if key in value:
            yield Finding((key,), "the cases of a set are changed one by one")
            return
    if source.kind is Kind.CASE_LINES:
        if value and not is_set_fields(value):
            yield Finding(
                (), "the first line would read as a case", "add `eval_set_id`, and no key of a case"
            )
    elif (found := kind({**value, "eval_cases": []})) is not Kind.EVAL_SET:
        yield Finding((), f"with these keys the file would read as something else: {found}")


def with_head(path: Path, source: EvalSetFile, text: str, value: Head) -> EditedText:
    """Return the `text` of a set with another head; nothing is written, and its cases keep every byte.

    Raises:
        EvalFileError: the head cannot be changed in place (an anchor, an unusual layout), or there is none.
    """
    before = read_head(path, source, text)
    if same_json(before, value):
        return EditedText(text)
    for edited in _ways(path, source, text, before, value):
        if _says(path, source, edited.text, value):
            if path.suffix.lower() in YAML_SUFFIXES:  # elsewhere the cases are the very same text
                check_edit(path, source, edited.text)
            return edited
    raise EvalFileError(
        f"{source.label}: the keys of this set cannot be changed in place (an unusual layout); nothing was written. "
        "Change them by hand, or `proctor convert` the file first"
    )


def _ways(path: Path, source: EvalSetFile, text: str, before: Head, value: Head) -> Iterator[EditedText]:
    if source.kind is Kind.CASE_LINES:
        yield from _in_lines(text, value)
    elif path.suffix.lower() in YAML_SUFFIXES:
        from proctor.files.edit.yaml_edit import YamlEdit

        for is_nested in (True, False):
            yaml_edit = YamlEdit(source.label, text)
            change_yaml_head(yaml_edit, before, value, is_nested=is_nested)
            yield EditedText(yaml_edit.text(), [f"{line}: {said}" for line, said in yaml_edit.lost()])
    else:
        rest, hole, cases = _without_cases(source, text)
        edit = JsonEdit(rest, start=rest.startswith("\ufeff"))
        changed = in_parts(edit, _around_cases(edit, value)).split(hole)
        if len(changed) == 2:
            yield EditedText(cases.join(changed), [f"{at}: {said}" for at, said in edit.lost()])


def _without_cases(source: EvalSetFile, text: str) -> tuple[str, str, str]:
    """A text with a hole where its cases are, what stands in the hole, and the cases: they may be long, and stay as they are."""
    hole = json.dumps(token_hex(16))
    if not len(source):  # nothing to leave out: the hole is behind the document
        return text + hole, hole, ""
    first, last = (case_start(source, text, index) for index in (0, len(source) - 1))
    end = JsonEdit(text, start=last).root.end
    cases = text[first:end]
    hole += "\n" * cases.count("\n")  # what stands behind keeps its line
    return f"{text[:first]}{hole}{text[end:]}", hole, cases


def _around_cases(edit: JsonEdit, value: Head) -> Head:
    """The whole set with another head: new keys ahead of the cases, where they are seen."""
    members = edit.root.members or {}
    key = next(key for key in _CASES if key in members)
    names = list(members)
    ahead = [name for name in names[: names.index(key)] if name in value]
    new = [name for name in value if name not in members] if ahead else []
    return {**{name: value[name] for name in (*ahead, *new)}, key: edit.value(members[key]), **value}


def _says(path: Path, source: EvalSetFile, text: str, value: Head) -> bool:
    try:
        return same_json(read_head(path, source, text), value)
    except (EvalFileError, UnicodeEncodeError):
        return False


# --- JSON lines --------------------------------------------------------------------------------------------------------


def _in_lines(text: str, value: Head) -> Iterator[EditedText]:
    lines, found = text.split("\n"), _head_line(text)
    if found is None:
        mark, end = text[: text.startswith("\ufeff")], "\r\n" if "\r\n" in text else "\n"
        yield EditedText(f"{mark}{json.dumps(value, ensure_ascii=False)}{end}{text[len(mark) :]}")
        return
    edit = JsonEdit(lines[found], start=lines[found].startswith("\ufeff"))
    for change in (in_parts, as_whole):
        changed = change(edit, value)
        if "\n" not in changed:
            yield EditedText("\n".join([*lines[:found], changed, *lines[found + 1 :]]))


def _head_line(text: str) -> int | None:
    """Which line has the set's own keys: the first that is neither blank nor a comment, unless it is a case."""
    for number, line in enumerate(text.split("\n")):
        said = line.lstrip("\ufeff").strip()
        if said and not said.startswith(("#", "//")):
            return number if is_set_fields(_line_value(line)) else None
    return None


def _line_value(line: str) -> Any:
    return from_json(line.lstrip("\ufeff").encode())


# --- The head of a YAML set becomes another one, entry by entry: what says the same keeps its bytes, comments and layout ---


Object = dict[str, Any]

_YAML_CASES = "eval_cases"


def change_yaml_head(edit: YamlEdit, before: Object, after: Object, *, is_nested: bool) -> None:
    """Make the head of a set say `after`; both are in the words of the format.

    `is_nested`: keys of one's own stand under `extra`, as in the form for people, and not among those of the format.

    Raises:
        EvalFileError: the document is no set, or an entry shares its place with something else (an anchor, a line).
    """
    root = edit.root
    if not isinstance(root, yaml.MappingNode) or edit.case_list is root:
        raise EvalFileError(
            f"{edit.name}: these are cases without a set around them: it has no keys of its own. `proctor convert` makes "
            "it a set"
        )
    if not is_nested:
        _change_entries(edit, root, _spelled(root, before), _spelled(root, after))
        return
    old, own_old = _parted(before)
    new, own_new = _parted(after)
    _change_entries(edit, root, _spelled(root, old), _spelled(root, new))
    held = edit.at(root, EXTRA)
    if own_old and own_new and isinstance(held, yaml.MappingNode) and not held.flow_style:
        _change_entries(edit, held, own_old, own_new)
    elif own_old != own_new:
        both = [{EXTRA: own} if own else {} for own in (own_old, own_new)]
        _change_entries(edit, root, *both)


def _change_entries(edit: YamlEdit, node: yaml.MappingNode, old: Object, new: Object) -> None:
    """Change the entries of an object; `old` has those that are looked at, and all others stay."""
    there = [key.value for key, _ in node.value]
    stays = [key for key in there if key in new or key not in old]
    if not stays:
        raise EvalFileError(
            f"{edit.name}:{node.start_mark.line + 1}: no key of this object would stay as it is; change it by hand"
        )
    behind = _before_cases(stays)
    for key, value in new.items():
        if key in there and SET_KEYS.get(key) != _YAML_CASES:
            behind = key
        if key not in old or emit({key: old[key]}) != emit({key: value}):
            edit.put(node, key, value, after=behind, before=old.get(key))
    for key in there:
        if key in old and key not in new:
            edit.remove_entry(node, key)


def _before_cases(keys: list[str]) -> str:
    """The last entry ahead of the cases: a new one is better seen there than behind them."""
    places = (place for place, key in enumerate(keys) if SET_KEYS.get(key) == _YAML_CASES)
    return keys[max(0, next(places, len(keys)) - 1)]


def _parted(head: Mapping[str, Any]) -> tuple[Object, Object]:
    """The keys of the format, and those of one's own."""
    fields = dict.fromkeys(EvalSet.model_fields, "")
    known = {key: value for key, value in head.items() if known_key(key, fields)}
    return known, {key: value for key, value in head.items() if key not in known}


def _spelled(root: yaml.MappingNode, head: Object) -> Object:
    """A head under the keys by which the file has its entries, or would."""
    there = {SET_KEYS[known]: key.value for key, _ in root.value if (known := known_key(key.value, SET_KEYS))}
    taken = {key.value for key, _ in root.value}
    return {key if key in taken else there.get(key, key): value for key, value in head.items()}
