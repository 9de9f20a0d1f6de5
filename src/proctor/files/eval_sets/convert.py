"""Eval sets between JSON, YAML and JSON lines; the suffix of the target says which."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES
from proctor.files.eval_sets.save import save_eval_set, save_lines, write_text
from proctor.files.eval_sets.source import open_document, open_eval_set
from proctor.files.text.problems import Problem
from proctor.schema.format.eval_set import EvalSet


@dataclass(slots=True)
class Conversion:
    """What was written, and what there is to say about the file that it comes from."""

    cases: int
    comments_lost: bool = False
    """The source has comments, which are not kept."""
    warnings: list[Problem] = field(default_factory=list)


def convert(source: str | Path, target: str | Path, *, allow_duplicate_ids: bool = False) -> Conversion:
    """Read the eval set `source`, of any generation, and write it to `target`: JSON, YAML or JSON lines by its suffix.

    A target that is there is replaced in one step. YAML that is written is read again first: it says the same, or
    nothing is written. Comments are not kept. JSON lines are written case by case, in little memory.

    Raises:
        EvalFileError: the source is no eval set, the target's suffix is none of these, or it cannot be written.
    """
    target = Path(target)
    suffix = target.suffix.lower()
    if suffix not in {".json", LINES_SUFFIX, *YAML_SUFFIXES}:
        raise EvalFileError(
            f"{target}: the suffix says what is written: name a .json, .yaml, .yml or .jsonl file"
        )
    opened = open_eval_set(source, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
    if suffix == LINES_SUFFIX:
        save_lines(opened.header, opened, target)
    elif suffix == ".json":
        save_eval_set(opened.eval_set(), target, comments_may_go=True)
    else:
        write_text(target, yaml_text(opened.eval_set(), str(target)))
    return Conversion(len(opened), opened.has_comments, opened.warnings)


def yaml_text(eval_set: EvalSet, name: str = "<yaml>") -> str:
    """The set as YAML for people; `name` is the file that it is for.

    Raises:
        EvalFileError: the set holds what YAML cannot say (half a character, NUL).
    """
    from proctor.files.yaml.cases import read_document
    from proctor.files.yaml.writer import write_yaml

    text = write_yaml(eval_set)
    again = open_document(read_document(text.encode(), name), allow_duplicate_ids=True, allow_empty=True)
    if again.eval_set() != eval_set:
        raise EvalFileError(
            f"{name}: this set would not read the same from YAML, and was not written; keep it as JSON"
        )
    return text
