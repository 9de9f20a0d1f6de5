"""An eval set of any generation or layout, of which one case at a time is in memory; and where its cases are stored."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import Any, Protocol, cast

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.eval_sets.documents import Document, DocumentKind, problem_of, problems_at, set_id_of
from proctor.files.eval_sets.variants import ROW_IDS, adapt_case
from proctor.files.text.json_stream import CHUNK, FileBytes, LineCounter, Spans, changed_since
from proctor.files.text.json_tree import Places
from proctor.files.text.problems import Path_, Place, Problem, Severity, SourceText, file_error
from proctor.files.text.validation_messages import DocumentFinding, findings_of_error
from proctor.schema.format.case import EvalCase, EvalSet
from proctor.schema.format.wire_model import UnknownKeys

MAX_REPORTED = 200  # problems of one file that get a position: each costs a look at its case


CaseFindings = Sequence[tuple[int, Sequence[DocumentFinding]]]
"""Findings by the number of their case. Passed together, because each search for positions is a pass over a text."""


class Cases(Protocol):
    """The storage of a set's cases, with their positions in the file."""

    def __len__(self) -> int: ...

    def piece(self, index: int) -> bytes:
        """Return one case as JSON."""
        ...

    def start(self, index: int) -> Place:
        """Return where a case starts in the file."""
        ...

    def id_key(self, index: int) -> str:
        """Return the key of a case's id in the file."""
        ...

    def problems(
        self,
        case_findings: CaseFindings,
        severity: Severity = "error",
        header: Sequence[DocumentFinding] = (),
    ) -> list[Problem]:
        """Return findings about the header, then those about cases (whose paths start at their case), with their positions."""
        ...


def read_case(value: object, unknown: UnknownKeys | None = None) -> tuple[EvalCase, str]:
    """Return the case of a JSON value, and a note if it uses keys of another format; collect its unknown keys in `unknown`.

    Raises:
        ValidationError: the value is not a case.
    """
    try:
        return EvalCase.model_validate(value, context=unknown), ""
    except ValidationError:
        adapted = adapt_case(value)
        if adapted is None:
            raise
    note = "a row of a data set (`prompt`, `reference`) is read as a case of one turn"
    return EvalCase.model_validate(adapted, context=unknown), note


class SpanCases:
    """Cases that stay in the file and are read on demand; threads may share them."""

    def __init__(self, data: FileBytes, spans: Spans) -> None:
        self._data, self._spans = data, spans
        self._counter = LineCounter(data)
        self._lines, self._columns = array("I"), array("I")  # of the cases up to the last one asked for
        self._locating = Lock()

    def __len__(self) -> int:
        return len(self._spans.starts)

    def piece(self, index: int) -> bytes:
        """Return one case as JSON."""
        return self._data.read(self._spans.starts[index], self._spans.ends[index])

    def byte_ranges(self) -> Iterator[tuple[int, int]]:
        """Return the range of bytes of each case in the file."""
        return zip(self._spans.starts, self._spans.ends, strict=True)

    def start(self, index: int) -> Place:
        """Return where a case starts."""
        with self._locating:
            while len(self._lines) <= index:
                line, column = self._counter.place(self._spans.starts[len(self._lines)])
                self._lines.append(line)
                self._columns.append(column)
        return Place(self._lines[index], self._columns[index])

    def id_key(self, index: int) -> str:
        """Return the key of a case's id in the file."""
        return id_key(from_json(self.piece(index)))

    def source(self, index: int) -> SourceText:
        """Return the text of one case, with its position in the file."""
        return SourceText(self._data.name, self.piece(index).decode(), self.start(index))

    @property
    def header(self) -> dict[str, Any]:
        """The header of the set: its own keys, as the file has them."""
        return self._spans.header

    def header_problems(self, findings: Sequence[DocumentFinding], severity: Severity) -> list[Problem]:
        """Return findings about the header with positions; searched at the start of the file, where headers usually are."""
        if not findings:
            return []
        name = self._data.name
        start = SourceText(name, self._data.read(0, 1 << 20).decode("utf-8-sig", "ignore"))
        places = Places(start, [finding.path for finding in findings])
        return [problem_of(name, places, finding.path, finding, severity) for finding in findings]

    def problems(
        self,
        case_findings: CaseFindings,
        severity: Severity = "error",
        header: Sequence[DocumentFinding] = (),
    ) -> list[Problem]:
        """Return findings with their positions."""
        of_cases = (self._locate(index, findings, severity) for index, findings in case_findings)
        return [*self.header_problems(header, severity), *chain.from_iterable(of_cases)]

    def _locate(
        self, index: int, findings: Sequence[DocumentFinding], severity: Severity
    ) -> Iterator[Problem]:
        base: Path_ = (self._spans.cases_key, index) if self._spans.cases_key else ()
        places = Places(self.source(index), [base + finding.path for finding in findings], base=base)
        for finding in findings:
            yield problem_of(self._data.name, places, base + finding.path, finding, severity)


class DocumentCases:
    """Cases of a document in memory, as JSON. `bases` are their paths in the document; `id_key` overrides the id's key."""

    def __init__(self, document: Document, pieces: list[bytes], bases: list[Path_], id_key: str = "") -> None:
        self._document, self._pieces, self._bases, self._id_key = document, pieces, bases, id_key
        self._starts: list[Place] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def piece(self, index: int) -> bytes:
        """Return one case as JSON."""
        return self._pieces[index]

    def written(self, index: int) -> Any:
        """Return one case with the keys that the file has."""
        written_case = getattr(self._document, "written_case", None)
        return from_json(self._pieces[index]) if written_case is None else written_case(index)

    def start(self, index: int) -> Place:
        """Return where a case starts."""
        if not self._starts:
            places = self._document.locate(self._bases)
            self._starts = [places.value(base) for base in self._bases]
        return self._starts[index]

    def id_key(self, index: int) -> str:
        """Return the key of a case's id in the file."""
        return self._id_key or id_key(from_json(self._pieces[index]))

    @property
    def is_encoded_twice(self) -> bool:
        """Whether the document is JSON inside a JSON string."""
        return bool(getattr(self._document, "double_encoded", False))

    def problems(
        self,
        case_findings: CaseFindings,
        severity: Severity = "error",
        header: Sequence[DocumentFinding] = (),
    ) -> list[Problem]:
        """Return findings with their positions."""
        moved = [
            replace(finding, path=self._bases[index] + finding.path)
            for index, findings in case_findings
            for finding in findings
        ]
        return problems_at(self._document, [*header, *moved], severity)


def id_key(case: object) -> str:
    """Return the key of a case's id; `eval_id` if it has none."""
    return next((key for key in ROW_IDS if isinstance(case, dict) and key in case), "eval_id")


class EvalSetFile:
    """An eval set that was read and checked as a whole, and of which one case at a time is in memory.

    `eval_set_id`, `name`, `label` (the file's name in messages), `warnings`, `has_comments`; `ids()`, `case(i)`,
    iteration, `place(eval_id)`, `where(i)`, `content_hash`. Cases read again are equal but not the same objects.
    """

    def __init__(
        self,
        label: str,
        header: EvalSet,
        cases: Cases,
        content_hash: Callable[[], str],
        kind: DocumentKind = DocumentKind.EVAL_SET,
    ) -> None:
        self.label, self.header, self.kind = label, header, kind
        self.has_comments, self.is_validated = False, True
        self.errors: list[Problem] = []
        """Errors of the file, until it is open: they are raised then."""
        self.other_warnings: list[Problem] = []
        self.misread: list[Problem] = []
        """Unknown keys, as warnings, that probably state an expectation: a verdict is refused."""
        self.unknown_keys: list[Problem] = []
        """Other unknown keys, as warnings."""
        self.duplicate_keys: list[Problem] = []
        """Duplicate keys, as warnings, in objects of the format: a verdict is refused."""
        self.cases = cases
        self.case_ids: list[str | None] = []
        """The ids of all cases; `None` for a case that cannot be read, until the file is open."""
        self.renamed: set[int] = set()
        """Cases whose ids differ from those in the file, where another case has them."""
        self._positions: dict[str, int] = {}
        self._hash = content_hash

    @property
    def warnings(self) -> list[Problem]:
        """All warnings about the file."""
        return [*self.other_warnings, *self.duplicate_keys, *self.misread, *self.unknown_keys]

    def split_warnings(self, *, allow_unknown_keys: bool) -> tuple[list[Problem], list[Problem]]:
        """Return, as errors, the warnings that rule out a verdict, and the other warnings."""
        refused = [*self.duplicate_keys, *([] if allow_unknown_keys else self.misread)]
        errors = [replace(problem, severity="error") for problem in refused]
        return errors, [problem for problem in self.warnings if problem not in refused]

    @property
    def eval_set_id(self) -> str:
        """The id of the set."""
        return self.header.eval_set_id

    @property
    def name(self) -> str | None:
        """The name of the set, or `None`."""
        return self.header.name

    @property
    def content_hash(self) -> str:
        """SHA-256 of the file's bytes, in hex."""
        return self._hash()

    def ids(self) -> Sequence[str]:
        """The ids of all cases, in order, without duplicates."""
        return cast("list[str]", self.case_ids)

    def position(self, eval_id: str) -> int | None:
        """Return the index of the case with this id, or `None`."""
        if not self._positions:
            self._positions = {name: index for index, name in enumerate(self.ids())}
        return self._positions.get(eval_id)

    def __len__(self) -> int:
        return len(self.cases)

    def case(self, index: int) -> EvalCase:
        """Read one case.

        Raises:
            EvalFileError: the case is invalid, or the file changed since it was opened.
        """
        eval_id = self.ids()[index]
        try:
            value = self.value(index)
        except ValueError:
            raise changed_since(self.label) from None
        try:
            case, _ = read_case(value)
        except ValidationError as error:
            if self.is_validated:
                raise changed_since(self.label) from None
            raise file_error(self.cases.problems([(index, findings_of_error(error, value))])) from None
        if index in self.renamed:
            case.eval_id = eval_id
        elif case.eval_id != eval_id:
            raise changed_since(self.label)
        return case

    def case_of(self, eval_id: str) -> EvalCase:
        """Read the case with this id. Raises KeyError for an unknown id; errors as `case`."""
        if (index := self.position(eval_id)) is None:
            raise KeyError(eval_id)
        return self.case(index)

    def value(self, index: int) -> Any:
        """Return one case as plain data: as the file has it, or as an old format was converted."""
        return from_json(self.cases.piece(index))

    def written(self, index: int) -> Any:
        """Return one case as plain data with the keys that the file has, which in YAML may be those of the short form."""
        return self.cases.written(index) if isinstance(self.cases, DocumentCases) else self.value(index)

    @property
    def is_encoded_twice(self) -> bool:
        """Whether the file is JSON inside a JSON string; such a file is read-only."""
        return isinstance(self.cases, DocumentCases) and self.cases.is_encoded_twice

    def piece(self, index: int) -> bytes:
        """Return one case as JSON: the bytes of its file, if that is plain JSON."""
        return self.cases.piece(index)

    def byte_ranges(self) -> Iterator[tuple[int, int]]:
        """Return the range of bytes of each case in the file; empty if the file was read whole."""
        return self.cases.byte_ranges() if isinstance(self.cases, SpanCases) else iter(())

    def problems(self, findings: CaseFindings, severity: Severity = "warning") -> list[Problem]:
        """Return findings about cases with their positions; paths start at the case."""
        return self.cases.problems(findings, severity)

    def header_problems(
        self, look: Callable[[dict[str, object]], Iterable[DocumentFinding]]
    ) -> list[Problem]:
        """Return the findings of `look` in the header, as warnings with positions; empty if the file was read whole."""
        if not isinstance(self.cases, SpanCases):
            return []
        return self.cases.header_problems(list(look(self.cases.header)), "warning")

    def source(self, index: int) -> SourceText | None:
        """Return the text of one case in the file, or `None` if the file was read whole."""
        return self.cases.source(index) if isinstance(self.cases, SpanCases) else None

    def __iter__(self) -> Iterator[EvalCase]:
        return map(self.case, range(len(self)))

    def place(self, eval_id: str) -> Place:
        """Return the line and column of a case. Raises KeyError for an unknown id."""
        if eval_id not in self.case_ids:
            raise KeyError(eval_id)
        return self.cases.start(self.case_ids.index(eval_id))

    def where(self, index: int) -> str:
        """Return `file:line` of a case."""
        return f"{self.label}:{self.cases.start(index).line}"

    def line(self, index: int) -> int:
        """Return the first line of a case."""
        return self.cases.start(index).line

    def start(self, index: int) -> Place:
        """Return the line and column of a case."""
        return self.cases.start(index)

    def eval_set(self) -> EvalSet:
        """Return the whole set, in memory."""
        whole = self.header.model_copy()
        whole.eval_cases = list(self)
        return whole


# --- duplicate ids ----------------------------------------------------------------------------------------------------


def rename_duplicates(ids: Sequence[str | None]) -> dict[int, str]:
    """Return new ids for the cases with a duplicate id: the second `x` becomes `x#2`, or the next free number."""
    used = set(ids)
    counts: dict[str, int] = {}
    renamed: dict[int, str] = {}
    for index, name in enumerate(ids):
        if name is None:  # a case that cannot be read
            continue
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1:
            continue
        while f"{name}#{counts[name]}" in used:
            counts[name] += 1
        renamed[index] = f"{name}#{counts[name]}"
        used.add(renamed[index])
    return renamed


def duplicate_problems(cases: Cases, ids: Sequence[str | None], renamed: Mapping[int, str]) -> list[Problem]:
    """Return a problem for each case with a duplicate id: a warning with its new id, or an error if it has none."""
    first: dict[str, int] = {}
    duplicates: list[tuple[int, int]] = []  # a case, and the first one with its id
    for index, name in enumerate(ids):
        if name is not None and first.setdefault(name, index) != index and len(duplicates) < MAX_REPORTED:
            duplicates.append((index, first[name]))
    places = cases.problems(
        [(before, [DocumentFinding((cases.id_key(before),), "")]) for _, before in duplicates]
    )
    findings = [
        (index, [_finding((cases.id_key(index),), str(ids[index]), place, renamed.get(index))])
        for (index, _), place in zip(duplicates, places, strict=True)
    ]
    return cases.problems(findings, "warning" if renamed else "error")


def _finding(path: Path_, name: str, first: Problem, new_id: str | None) -> DocumentFinding:
    message = f"the id {name!r} is already used by the case at {first.line}:{first.column}"
    if new_id is not None:
        return DocumentFinding(path, f"{message}; it runs as {new_id!r}")
    return DocumentFinding(path, message, "rename one; `proctor eval --allow-duplicate-ids` runs both")


# --- header and hash --------------------------------------------------------------------------------------------------


def read_header(
    fields: dict[str, object], name: str, *, needs_id: bool = True
) -> tuple[EvalSet, list[DocumentFinding], list[DocumentFinding]]:
    """Return the set without its cases, its errors, and its warnings."""
    warnings: list[DocumentFinding] = []
    if not fields.keys() & {"eval_set_id", "evalSetId", "id"}:
        fallback = set_id_of(name)
        if needs_id:
            warnings.append(
                DocumentFinding(
                    (), f"`eval_set_id` is missing; {fallback!r} is used", "ADK refuses this file"
                )
            )
        fields = {"eval_set_id": fallback, **fields}
    try:
        return EvalSet.model_validate({**fields, "eval_cases": []}), [], warnings
    except ValidationError as error:
        placeholder = EvalSet(eval_set_id=set_id_of(name), eval_cases=[])
        return placeholder, findings_of_error(error, fields), warnings


def hash_file(source: FileBytes) -> str:
    """Return the SHA-256 of the whole file, in hex."""
    digest = hashlib.sha256()
    for at in range(0, source.size, CHUNK):
        digest.update(source.read(at, at + CHUNK))
    return digest.hexdigest()
