"""Eval sets of every generation and layout, behind one interface that reads a case at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from proctor.errors import EvalFileError
from proctor.files.base import Path_, Place, Problem, Severity, SourceText, field_name, file_error
from proctor.files.documents import (
    WHOLE_LIMIT,
    YAML_SUFFIXES,
    Document,
    problems_at,
    read_bytes,
    read_json,
    read_yaml,
    unreadable,
)
from proctor.files.explain import Finding, explain
from proctor.files.kinds import SETS, Kind, describe, kind
from proctor.files.old import convert_old
from proctor.files.pieces import CHUNK, BrokenTextError, FileBytes, LineCounter, Spans, Walk, no_collection
from proctor.files.places import Places
from proctor.files.scan import scan
from proctor.files.variants import adapt_case
from proctor.schema.case import EvalCase
from proctor.schema.eval_set import EvalSet

_SAID = 200  # problems of one file that get a place; nobody reads more, and each costs a look at its case
_SUFFIXES = (".evalset.json", ".test.json", ".evalset.yaml", ".evalset.yml", ".test.yaml", ".test.yml", ".json", ".yaml", ".yml")


class Cases(Protocol):
    """Where the cases of a set are kept, and where in the file they stand."""

    def __len__(self) -> int: ...

    def piece(self, index: int) -> bytes:
        """One case as JSON."""
        ...

    def problems(self, index: int, findings: Sequence[Finding], severity: Severity = "error") -> list[Problem]:
        """Findings of one case (paths from the case) with their places in the file."""
        ...


class EvalSetFile:
    """An eval set that was read and checked whole, and of which one case at a time is in memory.

    `eval_set_id`, `name`, `label` (the file as it was named), `warnings`, `has_comments`; `ids()`, `case(i)`,
    iteration, `place(eval_id)`, `where(i)`, `content_hash`. Cases read again are equal but not the same objects.
    """

    def __init__(self, opened: _Opened) -> None:
        self.label = opened.label
        self.header = opened.header
        self.warnings: list[Problem] = opened.warnings
        self.kind = opened.kind
        self.has_comments = opened.has_comments
        self._cases = opened.cases
        self._ids = opened.ids
        self._renamed = opened.renamed
        self._hash = opened.hash

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        return self.header.eval_set_id

    @property
    def name(self) -> str | None:
        """The name of the set, when it has one."""
        return self.header.name

    @property
    def content_hash(self) -> str:
        """SHA-256 of the file's bytes, in hex."""
        return self._hash()

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order; all different."""
        return self._ids

    def __len__(self) -> int:
        return len(self._cases)

    def case(self, index: int) -> EvalCase:
        """Read one case.

        Raises:
            EvalFileError: the file was changed since it was opened.
        """
        case, _ = read_case(from_json(self._cases.piece(index)))
        if index in self._renamed:
            case.eval_id = self._ids[index]
        return case

    def __iter__(self) -> Iterator[EvalCase]:
        return map(self.case, range(len(self)))

    def place(self, eval_id: str) -> Place:
        """Line and column of a case. Raises KeyError for an id that is not there."""
        if eval_id not in self._ids:
            raise KeyError(eval_id)
        return self._place(self._ids.index(eval_id))

    def where(self, index: int) -> str:
        """`file:line` of a case."""
        return f"{self.label}:{self._place(index).line}"

    def _place(self, index: int) -> Place:
        problem = self._cases.problems(index, [Finding((), "")])[0]
        return Place(problem.line, problem.column)

    def eval_set(self) -> EvalSet:
        """The whole set, in memory."""
        whole = self.header.model_copy()
        whole.eval_cases = list(self)
        return whole


@dataclass(slots=True)
class _Opened:
    """What opening a set found out."""

    label: str
    header: EvalSet
    cases: Cases
    hash: Callable[[], str]
    kind: Kind = Kind.EVAL_SET
    warnings: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    has_comments: bool = False
    ids: list[str] = field(default_factory=list)
    renamed: set[int] = field(default_factory=set)


# --- opening -----------------------------------------------------------------------------------------------------------


def open_eval_set(
    path: str | Path, *, allow_duplicate_ids: bool = False, allow_empty: bool = False, label: str = ""
) -> EvalSetFile:
    """Read and check a whole set, keeping none of its cases in memory.

    Every generation of the format, in both spellings, and its neighbours (see `docs/file-formats.md`). A set without
    cases is refused unless `allow_empty`; duplicate ids are refused unless `allow_duplicate_ids` (then the second `x`
    runs as `x#2`). `label` is how messages name the file.

    Raises:
        EvalFileError: with every problem of the file and its place.
    """
    path = Path(path)
    label = label or str(path)
    if path.suffix.lower() in YAML_SUFFIXES:
        data = read_bytes(path, label)
        return _checked(_from_document(read_yaml(data, label), _digest_of(data)), allow_duplicate_ids, allow_empty)
    try:
        source = FileBytes(path, label)
    except OSError as error:
        raise unreadable(path, label, error) from None
    try:
        with no_collection():
            opened = _streamed(source)
    except BrokenTextError as broken:
        if source.size > WHOLE_LIMIT:
            raise _too_large(source, broken.offset) from None
        data = source.read(0, source.size)
        opened = _from_document(read_json(data, label), _digest_of(data))
    return _checked(opened, allow_duplicate_ids, allow_empty)


def load_eval_set(path: str | Path, *, allow_duplicate_ids: bool = False) -> EvalSet:
    """Read a whole set into memory; a set without cases is a set, too. Errors as `open_eval_set`."""
    return open_eval_set(path, allow_duplicate_ids=allow_duplicate_ids, allow_empty=True).eval_set()


def load_eval_set_text(text: str | bytes, name: str = "<text>", *, allow_duplicate_ids: bool = False) -> EvalSet:
    """Read a set from JSON text; `name` is how messages name it."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    opened = _from_document(read_json(data, name), _digest_of(data))
    return _checked(opened, allow_duplicate_ids, allow_empty=True).eval_set()


def open_document(document: Document, *, allow_duplicate_ids: bool = False, allow_empty: bool = False) -> EvalSetFile:
    """The set that an already read document holds. Errors as `open_eval_set`."""
    digest = _digest_of(to_json(document.value))
    return _checked(_from_document(document, digest), allow_duplicate_ids, allow_empty)


def _digest_of(data: bytes) -> Callable[[], str]:
    digest = hashlib.sha256(data).hexdigest()
    return lambda: digest


# --- one case ----------------------------------------------------------------------------------------------------------


def read_case(value: Any) -> tuple[EvalCase, str]:
    """A case from its JSON value, and a note when it was not written in the words of the format.

    Raises:
        ValidationError: it is no case.
    """
    try:
        return EvalCase.model_validate(value), ""
    except ValidationError:
        adapted = adapt_case(value)
        if adapted is None:
            raise
    return EvalCase.model_validate(adapted), "a row of a data set (`prompt`, `reference`) is read as a case of one turn"


class _Collector:
    """Ids, problems and warnings of the cases of a set, as they go by."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.errors: list[tuple[int, list[Finding]]] = []
        self.warnings: list[tuple[int, list[Finding]]] = []
        self._noted: set[str] = set()

    def take(self, index: int, value: Any) -> EvalCase | None:
        try:
            case, note = read_case(value)
        except ValidationError as error:
            self.ids.append("")
            self.errors.append((index, explain(error, value)))
            return None
        self.ids.append(case.eval_id)
        if note and note not in self._noted:
            self._noted.add(note)
            self.warnings.append((index, [Finding((), note, "ADK refuses this file")]))
        if case.conversation and len(case.conversation) > 1:
            self._check_invocation_ids(index, case)
        return case

    def _check_invocation_ids(self, index: int, case: EvalCase) -> None:
        ids = [invocation.invocation_id for invocation in case.conversation or () if invocation.invocation_id]
        if len(set(ids)) < len(ids):
            twice = next(name for name in ids if ids.count(name) > 1)
            finding = Finding(("conversation",), f"the invocation id {twice!r} appears twice", "give each turn its own")
            self.warnings.append((index, [finding]))

    def finish(self, opened: _Opened) -> None:
        opened.ids = self.ids
        for index, findings in self.errors[:_SAID]:
            opened.problems += opened.cases.problems(index, findings)
        for index, findings in self.warnings[:_SAID]:
            opened.warnings += opened.cases.problems(index, findings, "warning")


# --- a stream of cases -------------------------------------------------------------------------------------------------


class _SpanCases:
    """Cases that stay in the file."""

    def __init__(self, data: FileBytes, spans: Spans) -> None:
        self._data, self._spans = data, spans
        self._lines = LineCounter(data)

    def __len__(self) -> int:
        return len(self._spans.starts)

    def piece(self, index: int) -> bytes:
        return self._data.read(self._spans.starts[index], self._spans.ends[index])

    def problems(self, index: int, findings: Sequence[Finding], severity: Severity = "error") -> list[Problem]:
        base: Path_ = (self._spans.cases_key, index)
        first = self._lines.place(self._spans.starts[index])
        source = SourceText(self._data.name, self.piece(index).decode(), first)
        places = Places(source, [base + finding.path for finding in findings], base=base)
        return [_at(self._data.name, places, base + finding.path, finding, severity) for finding in findings]


def _at(name: str, places: Places, path: Path_, finding: Finding, severity: Severity) -> Problem:
    at = places.key(path) if finding.at_key else places.value(path)
    return Problem(severity, name, *at, field_name(path), finding.message, finding.hint)


def _streamed(source: FileBytes) -> _Opened:
    walk = Walk(source)
    collector = _Collector()
    for index, value in walk:
        collector.take(index, value)
    header, findings, warnings = _header(walk.spans.header, source.name)
    opened = _Opened(source.name, header, _SpanCases(source, walk.spans), lambda: _hash_file(source))
    opened.problems += _header_problems(source, findings, "error")
    opened.warnings += _header_problems(source, warnings, "warning")
    collector.finish(opened)
    return opened


def _header_problems(source: FileBytes, findings: Sequence[Finding], severity: Severity) -> list[Problem]:
    """Problems of a set's own keys: found at the start of the file, where they nearly always are."""
    if not findings:
        return []
    start = source.read(0, 1 << 20).decode("utf-8-sig", "ignore")
    places = Places(SourceText(source.name, start), [finding.path for finding in findings])
    return [_at(source.name, places, finding.path, finding, severity) for finding in findings]


def _hash_file(source: FileBytes) -> str:
    digest = hashlib.sha256()
    for at in range(0, source.size, CHUNK):
        digest.update(source.read(at, at + CHUNK))
    return digest.hexdigest()


def _too_large(source: FileBytes, offset: int) -> EvalFileError:
    """The error for a file that is too large to be read whole and is broken, or no eval set, from `offset` on."""
    first = LineCounter(source).place(offset)
    text = source.read(offset, offset + CHUNK).decode("utf-8", "ignore")
    found = scan(SourceText(source.name, text, first))
    end = SourceText(source.name, text, first).place(len(text))
    errors = [p for p in found.problems if p.severity == "error" and (p.line, p.column) < end]
    if errors and not errors[0].message.startswith("text after"):
        return file_error(errors[:1])
    message = f"the file has {source.size >> 20} MiB; above {WHOLE_LIMIT >> 20} only eval sets in plain JSON are read"
    return file_error([Problem("error", source.name, *first, "", message, "no comments, no trailing commas")])


# --- a document read whole ---------------------------------------------------------------------------------------------


class _HeldCases:
    """Cases that are kept, as JSON; `bases` are their paths in the document."""

    def __init__(self, document: Document, pieces: list[bytes], bases: list[Path_]) -> None:
        self._document, self._pieces, self._bases = document, pieces, bases

    def __len__(self) -> int:
        return len(self._pieces)

    def piece(self, index: int) -> bytes:
        return self._pieces[index]

    def problems(self, index: int, findings: Sequence[Finding], severity: Severity = "error") -> list[Problem]:
        base = self._bases[index]
        moved = [Finding(base + f.path, f.message, f.hint, f.at_key) for f in findings]
        return problems_at(self._document, moved, severity)


def _from_document(document: Document, digest: Callable[[], str]) -> _Opened:
    found = kind(document.value)
    if found not in SETS:
        raise file_error([*document.warnings, *not_a(document, "an eval set", found)])
    if found in {Kind.OLD_TURNS, Kind.OLD_CASES}:
        opened = _converted(document, found, digest)
    else:
        opened = _held(document, found, digest)
    opened.warnings = [*document.warnings, *opened.warnings]
    opened.has_comments = document.has_comments
    return opened


def _held(document: Document, found: Kind, digest: Callable[[], str]) -> _Opened:
    fields, cases, base = _parts(document.value, found)
    header, errors, warnings = _header(fields, document.name)
    if not isinstance(cases, list):
        errors, cases = [*errors, Finding(base, "expected a list of cases")], []
    bases: list[Path_] = [(*base, index) if found is not Kind.EVAL_CASE else () for index in range(len(cases))]
    held = _HeldCases(document, [to_json(case) for case in cases], bases)
    opened = _Opened(document.name, header, held, digest, found)
    opened.problems += problems_at(document, errors)
    opened.warnings += problems_at(document, warnings, "warning")
    collector = _Collector()
    for index, case in enumerate(cases):
        collector.take(index, case)
    collector.finish(opened)
    return opened


def _parts(value: Any, found: Kind) -> tuple[dict[str, Any], Any, Path_]:
    """The set's own keys, its cases, and the path of the cases."""
    if found is Kind.EVAL_CASE:
        return {}, [value], ()
    if found is Kind.CASE_LIST:
        return {}, value, ()
    key = next(key for key in ("eval_cases", "evalCases") if key in value)
    return {name: item for name, item in value.items() if name != key}, value[key], (key,)


def _converted(document: Document, found: Kind, digest: Callable[[], str]) -> _Opened:
    converted = convert_old(document.value, found, set_id_of(document.name))
    pieces = [case.model_dump_json(exclude_unset=True).encode() for case in converted.cases]
    bases: list[Path_] = [() if found is Kind.OLD_TURNS else (index,) for index in range(len(pieces))]
    opened = _Opened(document.name, converted.header, _HeldCases(document, pieces, bases), digest, found)
    opened.ids = [case.eval_id for case in converted.cases]
    opened.problems += problems_at(document, converted.errors)
    opened.warnings += problems_at(document, converted.warnings, "warning")
    return opened


# --- the set as a whole ------------------------------------------------------------------------------------------------


def set_id_of(name: str) -> str:
    """The id of a set that states none: the file's name without its ending."""
    stem = Path(name).name
    for suffix in _SUFFIXES:
        if stem.lower().endswith(suffix) and len(stem) > len(suffix):
            return stem[: -len(suffix)]
    return stem


def _header(fields: dict[str, Any], name: str) -> tuple[EvalSet, list[Finding], list[Finding]]:
    """The set without its cases, what is wrong with it, and what is doubtful."""
    warnings: list[Finding] = []
    if not fields.keys() & {"eval_set_id", "evalSetId", "id"}:
        fallback = set_id_of(name)
        if fields:
            warnings.append(Finding((), f"`eval_set_id` is missing; {fallback!r} is used", "ADK refuses this file"))
        fields = {"eval_set_id": fallback, **fields}
    try:
        return EvalSet.model_validate({**fields, "eval_cases": []}), [], warnings
    except ValidationError as error:
        placeholder = EvalSet(eval_set_id=set_id_of(name), eval_cases=[])
        return placeholder, explain(error, fields), warnings


def _checked(opened: _Opened, allow_duplicate_ids: bool, allow_empty: bool) -> EvalSetFile:  # noqa: FBT001
    """The set, unless something is wrong with it."""
    seen = _first_of_each(opened.ids)
    if len(seen) < sum(1 for name in opened.ids if name):
        _duplicates(opened, seen, allow=allow_duplicate_ids)
    if not opened.ids and not opened.problems:
        problem = Problem("error", opened.label, 1, 1, "eval_cases", "no cases", "a set to run needs at least one")
        if not allow_empty:
            opened.problems.append(problem)
    if opened.problems:
        raise file_error([*opened.problems, *opened.warnings])
    return EvalSetFile(opened)


def _first_of_each(ids: Iterable[str]) -> dict[str, int]:
    first: dict[str, int] = {}
    for index, name in enumerate(ids):
        if name:
            first.setdefault(name, index)
    return first


def _duplicates(opened: _Opened, first: dict[str, int], *, allow: bool) -> None:
    """Refuse cases of the same id, naming both places; or give the later ones ids of their own."""
    taken, counts, said = set(first), dict.fromkeys(first, 1), 0
    for index, name in enumerate(opened.ids):
        if not name or first[name] == index:
            continue
        while f"{name}#{counts[name]}" in taken or counts[name] == 1:
            counts[name] += 1
        fresh = f"{name}#{counts[name]}"
        said += 1
        if said <= _SAID:
            problem = _duplicate(opened, name, index, first[name], fresh if allow else "")
            (opened.warnings if allow else opened.problems).append(problem)
        if allow:
            taken.add(fresh)
            opened.ids[index] = fresh
            opened.renamed.add(index)


def _duplicate(opened: _Opened, name: str, index: int, first: int, fresh: str) -> Problem:
    key = "eval_id" if opened.kind is not Kind.OLD_CASES else "name"
    before = opened.cases.problems(first, [Finding((key,), "")])[0]
    message = f"the id {name!r} is already that of the case at {before.line}:{before.column}"
    if fresh:
        return opened.cases.problems(index, [Finding((key,), f"{message}; it runs as {fresh!r}")], "warning")[0]
    hint = "rename one, or run with --allow-duplicate-ids"
    return opened.cases.problems(index, [Finding((key,), message, hint)])[0]


def not_a(document: Document, wanted: str, found: Kind) -> list[Problem]:
    """The problem of a document that is something else than what was asked for."""
    if found is not Kind.UNKNOWN:
        article = "an" if str(found)[0] in "aeio" else "a"
        message, hint = f"expected {wanted}, but this is {article} {found}", ""
    else:
        looks, hint = describe(document.value)
        message = f"expected {wanted}, but this is {looks}"
    return problems_at(document, [Finding((), message, hint)])
