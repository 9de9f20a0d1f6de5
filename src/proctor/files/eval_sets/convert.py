"""Convert eval sets between JSON, YAML and JSON lines; the suffix of the target selects the form."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import LINES_SUFFIX, YAML_SUFFIXES
from proctor.files.eval_sets.save import save_eval_set, save_lines, write_text
from proctor.files.eval_sets.source import open_document, open_eval_set
from proctor.files.text.problems import Problem
from proctor.schema.format.case import EvalSet


@dataclass(slots=True)
class Conversion:
    """The result of a conversion."""

    cases: int
    comments_lost: bool = False
    """Whether the source has comments, which are not kept."""
    warnings: list[Problem] = field(default_factory=list)


def convert(source: str | Path, target: str | Path, *, allow_duplicate_ids: bool = False) -> Conversion:
    """Convert the eval set `source`, of any generation, to JSON, YAML or JSON lines, by the suffix of `target`.

    An existing target is replaced atomically. YAML is read again before it is written: if it does not equal the source,
    nothing is written. Comments are not kept. JSON lines are written case by case, in little memory.

    Raises:
        EvalFileError: the source is not an eval set, the target has another suffix, or it cannot be written.
    """
    target = Path(target)
    suffix = target.suffix.lower()
    if suffix not in {".json", LINES_SUFFIX, *YAML_SUFFIXES}:
        raise EvalFileError(f"{target}: unknown suffix {suffix!r}: name a .json, .yaml, .yml or .jsonl file")
    opened = open_eval_set(source, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)
    if suffix == LINES_SUFFIX:
        save_lines(opened.header, opened, target)
    elif suffix == ".json":
        save_eval_set(opened.eval_set(), target, comments_may_go=True)
    else:
        write_text(target, yaml_text(opened.eval_set(), str(target)))
    return Conversion(len(opened), opened.has_comments, opened.warnings)


def yaml_text(eval_set: EvalSet, name: str = "<yaml>") -> str:
    """Return the set as YAML in the short form; `name` is the target file.

    Raises:
        EvalFileError: YAML cannot represent the set (a lone surrogate, NUL).
    """
    from proctor.files.yaml.cases import read_document
    from proctor.files.yaml.writer import write_yaml

    text = write_yaml(eval_set)
    again = open_document(read_document(text.encode(), name), allow_duplicate_ids=True, allow_empty=True)
    if again.eval_set() != eval_set:
        raise EvalFileError(
            f"{name}: YAML cannot represent this set exactly; nothing was written. Keep it as JSON"
        )
    return text
