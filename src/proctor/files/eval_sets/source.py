"""Open an eval set: as a stream, in one pass over a file of any size, or from a document that was read whole.

Every mistake of a file is reported at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    SETS,
    WHOLE_LIMIT,
    YAML_SUFFIXES,
    Document,
    DocumentKind,
    kind,
    not_a,
    problems_at,
    read_bytes,
    read_json_document,
    read_yaml,
    unreadable,
)
from proctor.files.eval_sets.eval_set_file import (
    DocumentCases,
    EvalSetFile,
    SpanCases,
    duplicate_problems,
    hash_file,
    rename_duplicates,
)
from proctor.files.keys.key_findings import (
    UNKNOWN_KEYS_ALLOWED,
    Collector,
    add_duplicate_keys,
    duplicate_keys_in_cases,
    duplicate_keys_in_document,
)
from proctor.files.text.json_stream import CHUNK, BrokenTextError, FileBytes, LineCounter, Walk, no_collection
from proctor.files.text.problems import Path_, Problem, SourceText, file_error
from proctor.files.text.validation_messages import DocumentFinding
from proctor.schema.format.case import EvalSet

# --- opening -----------------------------------------------------------------------------------------------------------


def open_eval_set(
    path: str | Path,
    *,
    allow_duplicate_ids: bool = False,
    allow_empty: bool = False,
    label: str = "",
    validate: bool = True,
) -> EvalSetFile:
    """Read and check a whole set, keeping none of its cases in memory.

    Reads every generation of the format, in both spellings, and related formats (see `docs/reference/file-formats.md`). A set without
    cases is refused unless `allow_empty`; duplicate ids are refused unless `allow_duplicate_ids` (then the second `x`
    runs as `x#2`). `label` is the file's name in messages. Without `validate` the cases
    of a plain JSON set are validated when they are read, and duplicate keys are not searched.

    Raises:
        EvalFileError: with every problem of the file and its position.
    """
    path = Path(path)
    opened = _open_file(path, label or str(path), validate=validate)
    return _require_valid(opened, allow_duplicate_ids=allow_duplicate_ids, allow_empty=allow_empty)


def _open_file(path: Path, label: str, *, validate: bool) -> EvalSetFile:
    suffix = path.suffix.lower()
    if suffix in YAML_SUFFIXES:
        data = read_bytes(path, label)
        return set_of_document(read_yaml(data, label), _digest_of(data))
    if path.exists() and not path.is_file():  # a pipe can only be read once
        data = read_bytes(path, label)
        return set_of_document(read_json_document(data, label), _digest_of(data))
    try:
        source = FileBytes(path, label)
    except OSError as error:
        raise unreadable(path, label, error) from None
    try:
        with no_collection():
            if suffix == LINES_SUFFIX:
                from proctor.files.eval_sets.json_lines import open_lines

                return open_lines(source)
            opened = stream_set(source, validate=validate)
            opened.is_validated = validate
            if validate:
                add_duplicate_keys(opened, duplicate_keys_in_cases(source, opened.cases))
            return opened
    except BrokenTextError as broken:
        if source.size > WHOLE_LIMIT:
            raise too_large(source, broken) from None
        data = source.read(0, source.size)
        return set_of_document(read_json_document(data, label), _digest_of(data))


def open_excerpt(path: Path, ids: Collection[str]) -> EvalSetFile | None:
    """Return the cases with these ids of a YAML set, each with the one after it, and the last case; their positions are those of the file.

    The other cases are not validated. `None` if the file cannot be read in part, is not YAML, or has an error in a case that is read.
    """
    if path.suffix.lower() not in YAML_SUFFIXES:
        return None
    from proctor.files.yaml.excerpt import excerpt

    with suppress(EvalFileError, UnicodeDecodeError):
        data = read_bytes(path, str(path))
        text = data.decode()
        part = excerpt(text, ids)
        if part is not None:
            document = read_yaml(part.text.encode(), str(path))
            opened = open_document(document)
            if opened.ids() == part.ids:
                return opened
    return None


def open_cases(path: Path, ids: Collection[str]) -> EvalSetFile:
    """Return a set with at least the cases that have these ids.

    The whole file is parsed, but its other cases need not be valid, unless its form requires to read it as a whole.

    Raises:
        EvalFileError: the file cannot be parsed, two cases have the same id, or the file must be read whole and has an error.
    """
    return open_excerpt(path, ids) or open_eval_set(path, validate=False)


def load_eval_set(path: str | Path, *, allow_duplicate_ids: bool = False) -> EvalSet:
    """Read a whole set into memory; a set without cases is accepted. Errors as `open_eval_set`."""
    return open_eval_set(path, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True).eval_set()


def load_eval_set_text(
    text: str | bytes, name: str = "<text>", *, allow_duplicate_ids: bool = False
) -> EvalSet:
    """Read a set from JSON text; `name` is its name in messages."""
    return open_eval_set_text(text, name, allow_duplicate_ids=allow_duplicate_ids).eval_set()


def open_eval_set_text(text: str | bytes, name: str, *, allow_duplicate_ids: bool = False) -> EvalSetFile:
    """As `load_eval_set_text`; the result also has the warnings."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    opened = set_of_document(read_json_document(data, name), _digest_of(data))
    return _require_valid(opened, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True)


def open_document(
    document: Document, *, allow_duplicate_ids: bool = False, allow_empty: bool = False
) -> EvalSetFile:
    """Return the set of a document that was already read. Errors as `open_eval_set`."""
    digest = _digest_of(to_json(document.value))
    return _require_valid(
        set_of_document(document, digest), allow_duplicate_ids=allow_duplicate_ids, allow_empty=allow_empty
    )


def _digest_of(data: bytes) -> Callable[[], str]:
    digest = hashlib.sha256(data).hexdigest()
    return lambda: digest


def stream_set(source: FileBytes, *, validate: bool) -> EvalSetFile:
    """Read every case of a plain JSON set once, and record where its cases are.

    Raises:
        BrokenTextError: it is not plain JSON, or not a set; another reader may know more.
    """
    walk = Walk(source)
    collector = Collector(validate=validate)
    for index, value in walk:
        collector.take(index, value)
    if kind({**walk.spans.header, walk.spans.cases_key: []}) is not DocumentKind.EVAL_SET:
        raise BrokenTextError(0)
    cases = SpanCases(source, walk.spans)
    return collector.to_set(
        source.name, walk.spans.header, cases, lambda: hash_file(source), DocumentKind.EVAL_SET
    )


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


# --- documents that were read whole ---


def set_of_document(document: Document, digest: Callable[[], str]) -> EvalSetFile:
    """Return the result of opening the document as a set.

    Raises:
        EvalFileError: it is not an eval set.
    """
    document_kind = kind(document.value, document.name)
    if document_kind not in SETS:
        raise file_error([*document.warnings, *not_a(document, "an eval set", document_kind)])
    if document_kind in {DocumentKind.OLD_TURNS, DocumentKind.OLD_CASES}:
        from proctor.files.eval_sets.old_formats import open_old_set  # only old files need it

        opened = open_old_set(document, document_kind, digest)
    else:
        opened = _open_set(document, document_kind, digest)
    add_duplicate_keys(opened, duplicate_keys_in_document(document), document.warnings)
    opened.has_comments = document.has_comments
    return opened


def _open_set(document: Document, document_kind: DocumentKind, digest: Callable[[], str]) -> EvalSetFile:
    fields, cases, base = _parts(document.value, document_kind)
    if second := [key for key in ("evalCases", "eval_cases") if key in fields]:
        both = "expected eval_cases once, got it in both spellings (eval_cases and evalCases)"
        raise file_error(problems_at(document, [DocumentFinding((second[0],), both, at_key=True)]))
    case_list = cases if isinstance(cases, list) else []
    bases: list[Path_] = [
        (*base, index) if document_kind is not DocumentKind.EVAL_CASE else ()
        for index in range(len(case_list))
    ]
    collector = Collector(has_free_keys=getattr(document, "is_short_form", False))
    for index, case in enumerate(case_list):
        collector.take(index, case)
    document_cases = DocumentCases(document, [to_json(case) for case in case_list], bases)
    opened = collector.to_set(document.name, fields, document_cases, digest, document_kind)
    if not isinstance(cases, list):
        opened.errors += problems_at(document, [DocumentFinding(base, "expected a list of cases")])
    return opened


def _parts(value: Any, document_kind: DocumentKind) -> tuple[dict[str, Any], Any, Path_]:
    """Return the header, the cases, and the path of the cases."""
    if document_kind is DocumentKind.EVAL_CASE:
        return {}, [value], ()
    if document_kind is DocumentKind.CASE_LIST:
        return {}, value, ()
    key = next(key for key in ("eval_cases", "evalCases") if key in value)
    return {name: item for name, item in value.items() if name != key}, value[key], (key,)


# --- checks of the whole set -------------------------------------------------------------------------------------------


def _require_valid(opened: EvalSetFile, *, allow_duplicate_ids: bool, allow_empty: bool) -> EvalSetFile:
    """Return the set, or raise EvalFileError for its errors."""
    ids = opened.case_ids
    if allow_duplicate_ids:
        renamed = rename_duplicates(ids)
        opened.other_warnings += duplicate_problems(opened.cases, ids, renamed)
        opened.case_ids, opened.renamed = [renamed.get(i, name) for i, name in enumerate(ids)], set(renamed)
    else:
        opened.errors += duplicate_problems(opened.cases, ids, {})
    if not ids and not opened.errors and not allow_empty:
        hint = "a set to run needs at least one"
        opened.errors.append(Problem("error", opened.label, 1, 1, "eval_cases", "no cases", hint))
    if opened.errors:
        raise file_error([*opened.errors, *opened.warnings])
    return opened


# --- warnings that become errors if a verdict is requested ------------------------------------------------------------


def refusal_of(problems: Sequence[Problem], *, allows: bool = False) -> EvalFileError:
    """Return the error for a file for which a verdict is refused; `allows`: an option accepts its unknown keys."""
    error = file_error(replace(problem, severity="error") for problem in problems)
    return EvalFileError(f"{error}\n{UNKNOWN_KEYS_ALLOWED}", error.problems) if allows else error
