"""Make eval sets from documents that were read whole: the present format, and the old ones, which are converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

from proctor.files.eval_sets.case_reader import Collector, DocumentCases
from proctor.files.eval_sets.detect_format import SETS, Kind, describe, kind, set_id_of
from proctor.files.eval_sets.documents import Document, problems_at
from proctor.files.eval_sets.streamed_set import (
    OpenedSet,
    add_case_results,
    add_duplicate_keys,
    add_header_keys,
    read_header,
)
from proctor.files.keys.problems import LISTED
from proctor.files.keys.unknown_keys import old_key_findings
from proctor.files.text.duplicate_keys import duplicate_keys_in_document
from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.text.validation_messages import Finding

__all__ = ["not_a", "set_of_document"]


def set_of_document(document: Document, digest: Callable[[], str]) -> OpenedSet:
    """Return the result of opening the document as a set.

    Raises:
        EvalFileError: it is not an eval set.
    """
    found = kind(document.value, document.name)
    if found not in SETS:
        raise file_error([*document.warnings, *not_a(document, "an eval set", found)])
    if found in {Kind.OLD_TURNS, Kind.OLD_CASES}:
        opened = _convert_old_set(document, found, digest)
    else:
        opened = _open_set(document, found, digest)
    add_duplicate_keys(opened, duplicate_keys_in_document(document), document.warnings)
    opened.has_comments = document.has_comments
    return opened


def _open_set(document: Document, found: Kind, digest: Callable[[], str]) -> OpenedSet:
    fields, cases, base = _parts(document.value, found)
    if second := [key for key in ("evalCases", "eval_cases") if key in fields]:
        both = "expected eval_cases once, got it in both spellings (eval_cases and evalCases)"
        raise file_error(problems_at(document, [Finding((second[0],), both, at_key=True)]))
    header, errors, warnings = read_header(fields, document.name, needs_id=found is Kind.EVAL_SET)
    if not isinstance(cases, list):
        errors, cases = [*errors, Finding(base, "expected a list of cases")], []
    bases: list[Path_] = [
        (*base, index) if found is not Kind.EVAL_CASE else () for index in range(len(cases))
    ]
    document_cases = DocumentCases(document, [to_json(case) for case in cases], bases)
    opened = OpenedSet(document.name, header, document_cases, digest, found)
    opened.problems += problems_at(document, errors)
    opened.warnings += problems_at(document, warnings, "warning")
    has_free_keys = getattr(document, "is_short_form", False)
    collector = Collector(has_free_keys=has_free_keys)
    for index, case in enumerate(cases):
        collector.take(index, case)
    add_case_results(opened, collector)
    if not has_free_keys:
        add_header_keys(opened, fields, lambda found, severity: problems_at(document, found, severity))
    return opened


def _parts(value: Any, found: Kind) -> tuple[dict[str, Any], Any, Path_]:
    """Return the header, the cases, and the path of the cases."""
    if found is Kind.EVAL_CASE:
        return {}, [value], ()
    if found is Kind.CASE_LIST:
        return {}, value, ()
    key = next(key for key in ("eval_cases", "evalCases") if key in value)
    return {name: item for name, item in value.items() if name != key}, value[key], (key,)


def _convert_old_set(document: Document, found: Kind, digest: Callable[[], str]) -> OpenedSet:
    from proctor.files.eval_sets.legacy_lists import convert_old

    converted = convert_old(document.value, found, set_id_of(document.name))
    pieces = [case.model_dump_json(exclude_unset=True).encode() for case in converted.cases]
    bases: list[Path_] = [() if found is Kind.OLD_TURNS else (index,) for index in range(len(pieces))]
    cases = DocumentCases(document, pieces, bases, id_key="name" if found is Kind.OLD_CASES else "")
    opened = OpenedSet(document.name, converted.header, cases, digest, found)
    opened.ids += [case.eval_id for case in converted.cases]
    opened.problems += problems_at(document, converted.errors)
    opened.warnings += problems_at(document, converted.warnings, "warning")
    _add_old_keys(opened, document, found)
    return opened


def _add_old_keys(opened: OpenedSet, document: Document, found: Kind) -> None:
    """Add the unknown keys of an old document to the opened set, up to a limit per kind."""
    findings: dict[bool, list[Finding]] = {True: [], False: []}
    for finding in old_key_findings(document.value, found):
        if len(findings[finding.is_misread]) < LISTED:
            findings[finding.is_misread].append(finding)
    opened.misread += problems_at(document, findings[True], "warning")
    opened.doubtful += problems_at(document, findings[False], "warning")


def not_a(document: Document, wanted: str, found: Kind) -> list[Problem]:
    """Return the problem of a document of another kind than `wanted`."""
    if found is not Kind.UNKNOWN:
        article = "an" if str(found)[0] in "aeio" else "a"
        message, hint = f"expected {wanted}, but this is {article} {found}", ""
    else:
        looks, hint = describe(document.value)
        message = f"expected {wanted}, but this is {looks}"
    return problems_at(document, [Finding((), message, hint)])
