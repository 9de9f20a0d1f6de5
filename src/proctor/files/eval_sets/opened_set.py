"""Open a set: as a stream, in one pass over a file of any size, or from a document that was read whole.

The old formats are converted; every mistake of a file is reported at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import to_json

from proctor.errors import EvalFileError
from proctor.files.eval_sets.case_reader import Cases, Collector, DocumentCases, SpanCases
from proctor.files.eval_sets.detect_format import SETS, Kind, describe, kind, set_id_of
from proctor.files.eval_sets.documents import WHOLE_LIMIT, Document, problems_at
from proctor.files.eval_sets.variants import adapt_turns
from proctor.files.keys.duplicate_keys import DuplicateKeys, duplicate_keys_in_document
from proctor.files.keys.unknown_keys import LISTED, old_key_findings, set_key_findings
from proctor.files.text.json_stream import CHUNK, BrokenTextError, FileBytes, LineCounter, Walk
from proctor.files.text.problems import Path_, Problem, Severity, SourceText, file_error
from proctor.files.text.validation_messages import Finding, explain, resolve
from proctor.schema.format.case import EvalCase, EvalSet

if TYPE_CHECKING:
    from proctor.schema.format.legacy import PathError


@dataclass(slots=True, eq=False, repr=False)
class OpenedSet:
    """The result of opening a set."""

    label: str
    header: EvalSet
    cases: Cases
    hash: Callable[[], str]
    kind: Kind = Kind.EVAL_SET
    warnings: list[Problem] = field(default_factory=list)
    misread: list[Problem] = field(default_factory=list)
    """Unknown keys, as warnings, that probably state an expectation."""
    doubtful: list[Problem] = field(default_factory=list)
    """Other unknown keys."""
    duplicate_keys: list[Problem] = field(default_factory=list)
    """Duplicate keys, as warnings, in objects of the format."""
    problems: list[Problem] = field(default_factory=list)
    has_comments: bool = False
    ids: list[str | None] = field(default_factory=list)  # None: a case that cannot be read
    renamed: set[int] = field(default_factory=set)


def read_header(
    fields: dict[str, object], name: str, *, needs_id: bool = True
) -> tuple[EvalSet, list[Finding], list[Finding]]:
    """Return the set without its cases, its errors, and its doubts."""
    warnings: list[Finding] = []
    if not fields.keys() & {"eval_set_id", "evalSetId", "id"}:
        fallback = set_id_of(name)
        if needs_id:
            warnings.append(
                Finding((), f"`eval_set_id` is missing; {fallback!r} is used", "ADK refuses this file")
            )
        fields = {"eval_set_id": fallback, **fields}
    try:
        return EvalSet.model_validate({**fields, "eval_cases": []}), [], warnings
    except ValidationError as error:
        placeholder = EvalSet(eval_set_id=set_id_of(name), eval_cases=[])
        return placeholder, explain(error, fields), warnings


def stream_set(source: FileBytes) -> OpenedSet:
    """Read every case of a plain JSON set once, and record where its cases are.

    Raises:
        BrokenTextError: it is not plain JSON, or not a set; another reader may know more.
    """
    walk = Walk(source)
    collector = Collector()
    for index, value in walk:
        collector.take(index, value)
    if kind({**walk.spans.header, walk.spans.cases_key: []}) is not Kind.EVAL_SET:
        raise BrokenTextError(0)
    header, findings, warnings = read_header(walk.spans.header, source.name)
    cases = SpanCases(source, walk.spans)
    opened = OpenedSet(source.name, header, cases, lambda: hash_file(source))
    opened.problems += cases.header_problems(findings, "error")
    opened.warnings += cases.header_problems(warnings, "warning")
    add_case_results(opened, collector)
    add_header_keys(opened, walk.spans.header, cases.header_problems)
    return opened


def add_case_results(opened: OpenedSet, collector: Collector) -> None:
    """Add the ids and the problems that were collected from the cases to the opened set."""
    opened.ids = collector.ids
    opened.problems += collector.errors_in(opened.cases)
    opened.warnings += collector.warnings_in(opened.cases)
    opened.misread += collector.keys.misread(opened.cases.problems)
    opened.doubtful += collector.keys.doubtful(opened.cases.problems)


def add_duplicate_keys(
    opened: OpenedSet, duplicates: DuplicateKeys, text_warnings: Sequence[Problem] = ()
) -> None:
    """Add duplicate keys to the opened set; `text_warnings` are warnings about its text, which may contain them, too."""
    known = {*duplicates.of_format, *duplicates.of_free_maps}
    others = [each for each in text_warnings if each not in known]
    opened.duplicate_keys += duplicates.of_format
    opened.warnings = [*others, *duplicates.of_free_maps, *opened.warnings]


def add_header_keys(
    opened: OpenedSet, header: dict[str, object], locate: Callable[[list[Finding], Severity], list[Problem]]
) -> None:
    """Add the unknown keys of the header to the opened set."""
    findings = list(set_key_findings(header))
    opened.misread += locate([each for each in findings if each.is_misread], "warning")
    opened.doubtful += locate([each for each in findings if not each.is_misread], "warning")


def hash_file(source: FileBytes) -> str:
    """Return the SHA-256 of the whole file, in hex."""
    digest = hashlib.sha256()
    for at in range(0, source.size, CHUNK):
        digest.update(source.read(at, at + CHUNK))
    return digest.hexdigest()


def too_large(source: FileBytes, broken: BrokenTextError) -> EvalFileError:
    """Return the error for a file that is too large to be read whole, and is broken or not an eval set."""
    first = LineCounter(source).place(broken.offset)
    if broken.in_value:
        from proctor.files.text.json_scanner import scan

        text = SourceText(
            source.name, source.read(broken.offset, broken.offset + CHUNK).decode("utf-8", "ignore"), first
        )
        end = text.place(len(text.text))
        inside = [p for p in scan(text).problems if p.severity == "error" and (p.line, p.column) < end]
        if inside and not inside[0].message.startswith("text after"):
            return file_error(inside[:1])
    message = f"the file has {source.size >> 20} MiB; above {WHOLE_LIMIT >> 20} MiB only eval sets in plain JSON are read"
    hint = "remove comments, trailing commas and duplicate keys"
    return file_error([Problem("error", source.name, *first, "", message, hint)])


# --- documents that were read whole -----------------------------------------------------------------------------------


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
    """Convert a list of turns, or a list of cases, as ADK does; missing values are "not stated"."""
    from proctor.schema.format.legacy import PathError, convert_cases, convert_turns  # only old files need it

    name = set_id_of(document.name)
    converted: list[EvalCase] = []
    errors: list[Finding] = []
    warnings: list[Finding] = []
    try:
        if found is Kind.OLD_TURNS:
            turns, warnings = adapt_turns(document.value, ())
            converted = convert_turns(turns, eval_set_id=name, eval_id=name).eval_cases
        else:
            adapted = [_adapt_old_case(case, index, warnings) for index, case in enumerate(document.value)]
            converted = convert_cases(adapted, eval_set_id=name).eval_cases
    except PathError as error:
        errors = path_findings(error, document.value)
    pieces = [case.model_dump_json(exclude_unset=True).encode() for case in converted]
    bases: list[Path_] = [() if found is Kind.OLD_TURNS else (index,) for index in range(len(pieces))]
    cases = DocumentCases(document, pieces, bases, id_key="name" if found is Kind.OLD_CASES else "")
    header = EvalSet(eval_set_id=name, name=name, eval_cases=[])
    opened = OpenedSet(document.name, header, cases, digest, found)
    opened.ids += [case.eval_id for case in converted]
    opened.problems += problems_at(document, errors)
    resolved = [replace(each, path=resolve(each.path, document.value)[0]) for each in warnings]
    opened.warnings += problems_at(document, resolved, "warning")
    _add_old_keys(opened, document, found)
    return opened


def path_findings(error: PathError, document: object) -> list[Finding]:
    """Return all errors of a conversion, with keys in the spelling of `document`."""
    return [Finding(resolve(each.path, document)[0], each.message) for each in (error, *error.also)]


def _adapt_old_case(case: object, index: int, warnings: list[Finding]) -> object:
    if not isinstance(case, dict) or "data" not in case:
        return case
    turns, new_warnings = adapt_turns(case["data"], (index, "data"))
    warnings += new_warnings
    return {**case, "data": turns}


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
