"""Open a set as a stream, in one pass over a file of any size."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from proctor.errors import EvalFileError
from proctor.files.eval_sets.case_reader import Cases, Collector, SpanCases
from proctor.files.eval_sets.detect_format import Kind, kind, set_id_of
from proctor.files.eval_sets.documents import WHOLE_LIMIT
from proctor.files.keys.unknown_keys import set_key_findings
from proctor.files.text.duplicate_keys import DuplicateKeys
from proctor.files.text.json_stream import CHUNK, BrokenTextError, FileBytes, LineCounter, Walk
from proctor.files.text.problems import Problem, Severity, SourceText, file_error
from proctor.files.text.validation_messages import Finding, explain
from proctor.schema.format.case import EvalSet


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
    fields: dict[str, Any], name: str, *, needs_id: bool = True
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
    opened: OpenedSet, header: dict[str, Any], locate: Callable[[list[Finding], Severity], list[Problem]]
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
    return file_error(
        [
            Problem(
                "error",
                source.name,
                *first,
                "",
                message,
                "remove comments, trailing commas and duplicate keys",
            )
        ]
    )
