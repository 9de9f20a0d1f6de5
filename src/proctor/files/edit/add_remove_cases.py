"""Create an eval set, add cases to it and remove cases from it; the rest of the file is unchanged."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.errors import EvalFileError, SetupError, did_you_mean
from proctor.files.edit.editable_file import (
    cases_of,
    check_edit,
    edit_of,
    require_editable,
    text_of_file,
)
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES, DocumentKind
from proctor.files.eval_sets.eval_set_file import EvalSetFile
from proctor.files.eval_sets.save import save_eval_set, write_text
from proctor.files.eval_sets.selectors import SET_SUFFIXES
from proctor.files.eval_sets.source import open_eval_set
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.content import text_content, user_text
from proctor.schema.format.invocation import Invocation
from proctor.schema.serialize import to_adk_json, to_lines

if TYPE_CHECKING:
    from proctor.files.edit.yaml_edit import YamlEdit

_EDITABLE = {DocumentKind.EVAL_SET, DocumentKind.CASE_LINES, DocumentKind.CASE_LIST}


def create_set(path: Path, eval_set_id: str = "", cases: Sequence[EvalCase] = ()) -> EvalSet:
    """Write a new set as ADK JSON, YAML or JSON lines, depending on the suffix. The id defaults to the file's name.

    Raises:
        EvalFileError: the file exists, cannot be written, or has an unknown suffix.
    """
    if is_occupied(path):
        raise EvalFileError(f"{path}: the file already exists")
    eval_set_id = eval_set_id or id_of_new_set(path)
    eval_set = EvalSet(eval_set_id=eval_set_id, eval_cases=list(cases))
    if path.suffix not in YAML_SUFFIXES:  # google-adk writes these into a new set; a person would not
        eval_set.name, eval_set.creation_timestamp = eval_set_id, time.time()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in YAML_SUFFIXES:
        from proctor.files.yaml.writer import write_yaml

        write_text(path, write_yaml(eval_set))
    elif path.suffix == LINES_SUFFIX:
        write_text(path, to_lines(eval_set, eval_set.eval_cases))
    else:
        save_eval_set(eval_set, path)
    return eval_set


def is_occupied(path: Path) -> bool:
    """Whether a new set at this path would replace something other than an empty file."""
    return path.exists() and not (path.is_file() and not path.stat().st_size)


def id_of_new_set(path: Path) -> str:
    """Return the id of a set that is to be written to `path`.

    Raises:
        EvalFileError: the file name is not valid for a set.
    """
    suffix = next((suffix for suffix in SET_SUFFIXES if path.name.endswith(suffix)), "")
    if not suffix or path.name == suffix:
        raise EvalFileError(
            f"{path}: name the file NAME{SET_SUFFIXES[0]} (or with .yaml or .jsonl at its end)"
        )
    return path.name.removesuffix(suffix)


def check_new_case(path: Path, eval_id: str) -> None:
    """Raise EvalFileError if `add_cases` (or `create_set`, if the file does not exist) would refuse a case of this id."""
    if not is_occupied(path):
        id_of_new_set(path)
        return
    turn = Invocation(user_content=user_text("hello"), final_response=text_content("hello", "model"))
    _add(path, _open(path), [EvalCase(eval_id=eval_id, conversation=[turn])])


def add_cases(path: Path, cases: Sequence[EvalCase], source: EvalSetFile | None = None) -> EvalSetFile | None:
    """Append cases to a set, in the form of its file. Returns the new set, or `None` if there are no cases.

    `source`: the set, if it is already open.

    Raises:
        EvalFileError: the file cannot be read, written or edited in place, or it has a case with one of these ids.
    """
    if not cases:
        return None
    text, after = _add(
        path, require_editable(source, _EDITABLE) if source is not None else _open(path), cases
    )
    write_text(path, text)
    return after


def _add(path: Path, source: EvalSetFile, cases: Sequence[EvalCase]) -> tuple[str, EvalSetFile]:
    """Return the text of a set with `cases` appended, and the set as it is read from that text."""
    for case in cases:
        if (position := source.position(case.eval_id)) is not None:
            raise EvalFileError(f"{source.where(position)}: the set already has a case {case.eval_id}")
    text = text_of_file(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        from proctor.files.yaml.writer import write_case

        yaml_edit = _yaml_edit(path, text)
        yaml_edit.append(yaml_edit.case_list, [write_case(case) for case in cases])
        text = yaml_edit.text()
    elif source.kind is DocumentKind.CASE_LINES:
        lines = list(to_lines(EvalSet(eval_set_id=source.eval_set_id, eval_cases=[]), cases))[1:]
        text += "".join(["" if text.endswith("\n") or not text else "\n", *lines])
    else:
        edit = edit_of(source, text)
        edit.append(
            cases_of(edit, source), [json.loads(to_adk_json(case, keep_written=True)) for case in cases]
        )
        text = edit.text()
    return text, check_edit(path, source, text, added=cases)


def remove_cases(path: Path, eval_ids: Sequence[str], source: EvalSetFile | None = None) -> EvalSetFile:
    """Remove cases from a set and return the new set. `source`: the set, if it is already open.

    Raises:
        EvalFileError: the file cannot be read, written or edited in place.
        SetupError: the set has no such case.
    """
    source = require_editable(source, _EDITABLE) if source is not None else _open(path)
    positions = set()
    for eval_id in eval_ids:
        if (position := source.position(eval_id)) is None:
            raise SetupError(f"{path}: no case {eval_id!r}.{did_you_mean(eval_id, source.ids())}")
        positions.add(position)
    text = text_of_file(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        yaml_edit = _yaml_edit(path, text)
        yaml_edit.remove_items(yaml_edit.case_list, positions)
        text = yaml_edit.text()
    elif source.kind is DocumentKind.CASE_LINES:
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        line_numbers = {source.line(index) - 1 for index in positions}
        text = "".join(line for number, line in enumerate(lines) if number not in line_numbers)
    else:
        edit = edit_of(source, text)
        edit.remove_items(cases_of(edit, source), positions)
        text = edit.text()
    after = check_edit(path, source, text, removed=set(eval_ids))
    write_text(path, text)
    return after


def _open(path: Path) -> EvalSetFile:
    return require_editable(open_eval_set(path, allow_empty=True), _EDITABLE)


def _yaml_edit(path: Path, text: str) -> YamlEdit:
    from proctor.files.edit.yaml_edit import YamlEdit

    return YamlEdit(str(path), text)
