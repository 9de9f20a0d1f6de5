"""Eval sets made of a document that was read whole: the present format, and the old ones, which are converted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

from proctor.files.eval_sets.case_reader import Collector, HeldCases
from proctor.files.eval_sets.detect_format import SETS, Kind, describe, kind, set_id_of
from proctor.files.eval_sets.documents import Document, problems_at
from proctor.files.eval_sets.streamed_set import (
    Opened,
    read_header,
    take_collected,
    take_doubled,
    take_header_keys,
)
from proctor.files.keys.problems import LISTED
from proctor.files.keys.unknown_keys import old_key_findings
from proctor.files.text.duplicate_keys import doubled_in_document
from proctor.files.text.problems import Path_, Problem, file_error
from proctor.files.text.validation_messages import Finding

__all__ = ["not_a", "set_of_document"]


def set_of_document(document: Document, digest: Callable[[], str]) -> Opened:
    """Return what opening the document as a set finds out.

    Raises:
        EvalFileError: it is no eval set.
    """
    found = kind(document.value, document.name)
    if found not in SETS:
        raise file_error([*document.warnings, *not_a(document, "an eval set", found)])
    if found in {Kind.OLD_TURNS, Kind.OLD_CASES}:
        opened = _converted(document, found, digest)
    else:
        opened = _held(document, found, digest)
    take_doubled(opened, doubled_in_document(document), document.warnings)
    opened.has_comments = document.has_comments
    return opened


def _held(document: Document, found: Kind, digest: Callable[[], str]) -> Opened:
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
    held = HeldCases(document, [to_json(case) for case in cases], bases)
    opened = Opened(document.name, header, held, digest, found)
    opened.problems += problems_at(document, errors)
    opened.warnings += problems_at(document, warnings, "warning")
    has_free_keys = getattr(document, "is_short_form", False)
    collector = Collector(has_free_keys=has_free_keys)
    for index, case in enumerate(cases):
        collector.take(index, case)
    take_collected(opened, collector)
    if not has_free_keys:
        take_header_keys(opened, fields, lambda found, severity: problems_at(document, found, severity))
    return opened


def _parts(value: Any, found: Kind) -> tuple[dict[str, Any], Any, Path_]:
    """The set's own keys, its cases, and the path of the cases."""
    if found is Kind.EVAL_CASE:
        return {}, [value], ()
    if found is Kind.CASE_LIST:
        return {}, value, ()
    key = next(key for key in ("eval_cases", "evalCases") if key in value)
    return {name: item for name, item in value.items() if name != key}, value[key], (key,)


def _converted(document: Document, found: Kind, digest: Callable[[], str]) -> Opened:
    from proctor.files.eval_sets.legacy_lists import convert_old

    converted = convert_old(document.value, found, set_id_of(document.name))
    pieces = [case.model_dump_json(exclude_unset=True).encode() for case in converted.cases]
    bases: list[Path_] = [() if found is Kind.OLD_TURNS else (index,) for index in range(len(pieces))]
    cases = HeldCases(document, pieces, bases, id_key="name" if found is Kind.OLD_CASES else "")
    opened = Opened(document.name, converted.header, cases, digest, found)
    opened.ids += [case.eval_id for case in converted.cases]
    opened.problems += problems_at(document, converted.errors)
    opened.warnings += problems_at(document, converted.warnings, "warning")
    _take_old_keys(opened, document, found)
    return opened


def _take_old_keys(opened: Opened, document: Document, found: Kind) -> None:
    """Put the unknown keys of an old document into what was opened, no more of a sort than are listed."""
    findings: dict[bool, list[Finding]] = {True: [], False: []}
    for one in old_key_findings(document.value, found):
        if len(findings[one.is_misread]) < LISTED:
            findings[one.is_misread].append(one)
    opened.misread += problems_at(document, findings[True], "warning")
    opened.doubtful += problems_at(document, findings[False], "warning")


def not_a(document: Document, wanted: str, found: Kind) -> list[Problem]:
    """The problem of a document that is something else than what was asked for."""
    if found is not Kind.UNKNOWN:
        article = "an" if str(found)[0] in "aeio" else "a"
        message, hint = f"expected {wanted}, but this is {article} {found}", ""
    else:
        looks, hint = describe(document.value)
        message = f"expected {wanted}, but this is {looks}"
    return problems_at(document, [Finding((), message, hint)])
