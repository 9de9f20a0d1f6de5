"""Eval sets that grow and shrink: cases are put into a file and taken out of it, and the rest of it stays as it is."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from proctor.errors import EvalFileError, SetupError, did_you_mean
from proctor.files.edit.editable_file import ENCODED_TWICE, cases_of, edit_of, text_of_file
from proctor.files.edit.preview import reread
from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES
from proctor.files.eval_sets.save import save_eval_set, write_text
from proctor.files.eval_sets.selectors import SET_SUFFIXES
from proctor.files.eval_sets.source import EvalSetFile, open_eval_set
from proctor.schema.format.adk_json import to_adk_json, to_lines
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import text_content, user_text
from proctor.schema.format.eval_set import EvalSet
from proctor.schema.format.invocation import Invocation

_EDITED = {Kind.EVAL_SET, Kind.CASE_LINES, Kind.CASE_LIST}


def create_set(path: Path, eval_set_id: str = "", cases: Sequence[EvalCase] = ()) -> EvalSet:
    """Write a new set: as ADK writes it, as YAML or as JSON lines, as the suffix says; its id is the file's name.

    Raises:
        EvalFileError: the file is there already, cannot be written, or its suffix says nothing.
    """
    if holds_text(path):
        raise EvalFileError(f"{path}: this file is there already")
    eval_set_id = eval_set_id or id_of_new_set(path)
    made = EvalSet(eval_set_id=eval_set_id, eval_cases=list(cases))
    if path.suffix not in YAML_SUFFIXES:  # what google-adk writes into a new set, and no person would
        made.name, made.creation_timestamp = eval_set_id, time.time()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in YAML_SUFFIXES:
        from proctor.files.yaml.writer import write_yaml

        write_text(path, write_yaml(made))
    elif path.suffix == LINES_SUFFIX:
        write_text(path, to_lines(made, made.eval_cases))
    else:
        save_eval_set(made, path)
    return made


def holds_text(path: Path) -> bool:
    """Tell whether there is something at a path that a new set would replace: anything but an empty file."""
    return path.exists() and not (path.is_file() and not path.stat().st_size)


def id_of_new_set(path: Path) -> str:
    """Return the id of a set that is to be written there.

    Raises:
        EvalFileError: a set cannot be called so.
    """
    suffix = next((suffix for suffix in SET_SUFFIXES if path.name.endswith(suffix)), "")
    if not suffix or path.name == suffix:
        raise EvalFileError(f"{path}: a set is called NAME{SET_SUFFIXES[0]} (or .yaml, .jsonl at its end)")
    return path.name.removesuffix(suffix)


def require_room(path: Path, eval_id: str) -> None:
    """Raise EvalFileError where `add_cases` (or `create_set`, where there is no file) would not take a case of this id."""
    if not holds_text(path):
        id_of_new_set(path)
        return
    turn = Invocation(user_content=user_text("hello"), final_response=text_content("hello", "model"))
    _with(path, _open(path), [EvalCase(eval_id=eval_id, conversation=[turn])])


def add_cases(path: Path, cases: Sequence[EvalCase], source: EvalSetFile | None = None) -> EvalSetFile | None:
    """Put cases behind those of a set, in the form that its file has; returns the set as it is then, `None` for no cases.

    `source`: the set, where it is open already.

    Raises:
        EvalFileError: the file cannot be read, written or changed in place, or has a case of one of these ids.
    """
    if not cases:
        return None
    text, after = _with(path, _changeable(path, source) if source is not None else _open(path), cases)
    write_text(path, text)
    return after


def _with(path: Path, source: EvalSetFile, cases: Sequence[EvalCase]) -> tuple[str, EvalSetFile]:
    """A set with cases behind its own: its text, and as it would be read."""
    for case in cases:
        if (taken := source.position(case.eval_id)) is not None:
            raise EvalFileError(f"{source.where(taken)}: the set has a case {case.eval_id} already")
    text = text_of_file(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        text = _added_to_yaml(path, text, cases)
    elif source.kind is Kind.CASE_LINES:
        lines = list(to_lines(EvalSet(eval_set_id=source.eval_set_id, eval_cases=[]), cases))[1:]
        text += "".join(["" if text.endswith("\n") or not text else "\n", *lines])
    else:
        edit = edit_of(source, text)
        edit.append(
            cases_of(edit, source), [json.loads(to_adk_json(case, keep_written=True)) for case in cases]
        )
        text = edit.text()
    return text, reread(path, source, text, added=cases)


def remove_cases(path: Path, eval_ids: Sequence[str], source: EvalSetFile | None = None) -> EvalSetFile:
    """Take cases out of a set; returns it as it is then. `source`: the set, where it is open already.

    Raises:
        EvalFileError: the file cannot be read, written or changed in place.
        SetupError: it has no such case.
    """
    source = _changeable(path, source) if source is not None else _open(path)
    gone = set()
    for eval_id in eval_ids:
        if (place := source.position(eval_id)) is None:
            raise SetupError(f"{path}: there is no case {eval_id!r}.{did_you_mean(eval_id, source.ids())}")
        gone.add(place)
    text = text_of_file(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        text = _removed_from_yaml(path, text, gone)
    elif source.kind is Kind.CASE_LINES:
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        doomed = {source.line(index) - 1 for index in gone}
        text = "".join(line for number, line in enumerate(lines) if number not in doomed)
    else:
        edit = edit_of(source, text)
        edit.remove_items(cases_of(edit, source), gone)
        text = edit.text()
    after = reread(path, source, text, removed=set(eval_ids))
    write_text(path, text)
    return after


def _open(path: Path) -> EvalSetFile:
    return _changeable(path, open_eval_set(path, allow_empty=True))


def _changeable(path: Path, source: EvalSetFile) -> EvalSetFile:
    if source.kind not in _EDITED:
        raise EvalFileError(
            f"{path}: {source.kind}: this form cannot be changed in place; `proctor migrate` or `proctor convert` it first"
        )
    if source.is_encoded_twice:
        raise EvalFileError(f"{path}: {ENCODED_TWICE}; `proctor convert` it to plain JSON first")
    return source


# --- YAML --------------------------------------------------------------------------------------------------------------


def _added_to_yaml(path: Path, text: str, cases: Sequence[EvalCase]) -> str:
    from proctor.files.edit.yaml_edit import YamlEdit
    from proctor.files.yaml.writer import write_case

    edit = YamlEdit(str(path), text)
    edit.append(edit.case_list, [write_case(case) for case in cases])
    return edit.text()


def _removed_from_yaml(path: Path, text: str, gone: set[int]) -> str:
    from proctor.files.edit.yaml_edit import YamlEdit

    edit = YamlEdit(str(path), text)
    edit.remove_items(edit.case_list, gone)
    return edit.text()
