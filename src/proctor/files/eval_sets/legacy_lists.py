"""Read the two old list formats, and report every mistake of a file at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from proctor.files.eval_sets.detect_format import Kind
from proctor.files.eval_sets.variants import adapt_turns
from proctor.files.text.validation_messages import Finding, resolve
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.legacy import PathError, convert_cases, convert_turns


@dataclass(slots=True)
class Converted:
    """A set made from an old document: its header, its cases, and its problems by path in the old document."""

    header: EvalSet
    cases: list[EvalCase]
    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)


def convert_old(document: list[Any], found: Kind, name: str) -> Converted:
    """Convert a list of turns, or a list of cases, as ADK does; missing values are "not stated".

    `name` is the id of the set, and of the only case if the document is a list of turns.
    """
    converted = Converted(EvalSet(eval_set_id=name, name=name, eval_cases=[]), [])
    try:
        if found is Kind.OLD_TURNS:
            turns, converted.warnings = adapt_turns(document, ())
            converted.cases = convert_turns(turns, eval_set_id=name, eval_id=name).eval_cases
        else:
            cases = [_adapt(case, index, converted) for index, case in enumerate(document)]
            converted.cases = convert_cases(cases, eval_set_id=name).eval_cases
    except PathError as error:
        converted.errors = path_findings(error, document)
    converted.warnings = [replace(each, path=resolve(each.path, document)[0]) for each in converted.warnings]
    return converted


def path_findings(error: PathError, document: object) -> list[Finding]:
    """Return all errors of a conversion, with keys in the spelling of `document`."""
    return [Finding(resolve(each.path, document)[0], each.message) for each in (error, *error.also)]


def _adapt(case: Any, index: int, converted: Converted) -> Any:
    if not isinstance(case, dict) or "data" not in case:
        return case
    turns, warnings = adapt_turns(case["data"], (index, "data"))
    converted.warnings += warnings
    return {**case, "data": turns}
