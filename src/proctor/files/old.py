"""The two old list formats, with every mistake of a file at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proctor.files.base import Path_
from proctor.files.explain import Finding
from proctor.files.kinds import Kind
from proctor.files.variants import adapt_turns
from proctor.schema.case import EvalCase
from proctor.schema.eval_set import EvalSet
from proctor.schema.legacy import PathError, convert_cases, convert_turns


@dataclass(slots=True)
class Converted:
    """A set made from an old document: its own fields, its cases, what is wrong (by path in the old document)."""

    header: EvalSet
    cases: list[EvalCase]
    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)


def convert_old(document: list[Any], found: Kind, name: str) -> Converted:
    """Convert a list of turns, or a list of cases, as ADK does; what is missing is "not stated".

    `name` is the id of the set, and of the one case that a list of turns is.
    """
    converted = Converted(EvalSet(eval_set_id=name, name=name, eval_cases=[]), [])
    if found is Kind.OLD_TURNS:
        turns, converted.warnings = adapt_turns(document, ())
        converted.errors = _turn_errors(turns, ())
        if not converted.errors:
            converted.cases = convert_turns(turns, eval_set_id=name, eval_id=name).eval_cases
        return converted
    for index, case in enumerate(document):
        _convert_case(case, (index,), converted)
    return converted


def _convert_case(case: Any, path: Path_, converted: Converted) -> None:
    if isinstance(case, dict) and "data" in case:
        turns, warnings = adapt_turns(case["data"], (*path, "data"))
        case = {**case, "data": turns}
        converted.warnings += warnings
        errors = _turn_errors(turns, (*path, "data"))
        if errors:
            converted.errors += errors
            return
    try:
        converted.cases += convert_cases([case], eval_set_id="").eval_cases
    except PathError as error:
        converted.errors.append(_moved(error, path))


def _turn_errors(turns: Any, path: Path_) -> list[Finding]:
    """The first mistake of each turn."""
    if not isinstance(turns, list):
        return [Finding(path, "expected a list of turns")]
    errors = []
    for index, turn in enumerate(turns):
        try:
            convert_turns([turn], eval_set_id="", eval_id="")
        except PathError as error:
            errors.append(_moved(error, (*path, index)))
    return errors


def _moved(error: PathError, base: Path_) -> Finding:
    """The finding, with the path from the document's root: the error's starts at a list of one element."""
    return Finding((*base, *error.path[1:]), error.message)
