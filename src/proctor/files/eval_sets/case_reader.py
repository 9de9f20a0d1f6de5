"""The cases of an eval set: where they are stored, how one is read, and what is collected during a pass over them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.eval_sets.documents import Document, problem_of, problems_at
from proctor.files.eval_sets.variants import ROW_IDS, adapt_case
from proctor.files.keys.unknown_keys import KeyProblems
from proctor.files.text.json_stream import FileBytes, LineCounter, Spans
from proctor.files.text.json_tree import Places
from proctor.files.text.problems import Path_, Place, Problem, Severity, SourceText
from proctor.files.text.validation_messages import Finding, explain
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import UnknownKeys

MAX_REPORTED = 200  # problems of one file that get a position: each costs a look at its case


CaseFindings = Sequence[tuple[int, Sequence[Finding]]]
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

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Return findings (whose paths start at their case) with their positions in the file."""
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


class Collector:
    """Collects the ids, problems and warnings of the cases of a set during a pass over it."""

    def __init__(self, *, has_free_keys: bool = False) -> None:
        self.ids: list[str | None] = []  # None: the case cannot be read
        self.errors: list[tuple[int, list[Finding]]] = []
        self.warnings: list[tuple[int, list[Finding]]] = []
        self.keys = KeyProblems(has_free_keys=has_free_keys)
        self._noted: set[str] = set()

    def take(self, index: int, value: object) -> None:
        """Collect the id, the problems and the warnings of the next case."""
        unknown = UnknownKeys()
        try:
            case, note = read_case(value, unknown)
        except ValidationError as error:
            self.ids.append(None)
            self.errors.append((index, explain(error, value)))
            return
        self.ids.append(case.eval_id)
        if note and note not in self._noted:
            self._noted.add(note)
            self.warnings.append((index, [Finding((), note, "ADK refuses this file")]))
        self.keys.look(index, case, value, unknown, is_row=bool(note))
        if case.conversation and len(case.conversation) > 1:
            self._check_invocation_ids(index, case)

    def _check_invocation_ids(self, index: int, case: EvalCase) -> None:
        ids = [invocation.invocation_id for invocation in case.conversation or () if invocation.invocation_id]
        if len(set(ids)) < len(ids):
            duplicate = next(name for name in ids if ids.count(name) > 1)
            finding = Finding(
                ("conversation",),
                f"the invocation id {duplicate!r} appears twice",
                "give each turn a different id",
            )
            self.warnings.append((index, [finding]))

    def errors_in(self, cases: Cases) -> list[Problem]:
        """Return all errors with their positions."""
        errors: list[tuple[int, Sequence[Finding]]] = list(self.errors[:MAX_REPORTED])
        if len(self.errors) > MAX_REPORTED:
            index, _ = self.errors[MAX_REPORTED]
            more = Finding(
                (), f"this and {len(self.errors) - MAX_REPORTED - 1} more cases have problems, too"
            )
            errors.append((index, [more]))
        return cases.problems(errors)

    def warnings_in(self, cases: Cases) -> list[Problem]:
        """Return the warnings with their positions."""
        return cases.problems(self.warnings[:MAX_REPORTED], "warning")


class SpanCases:
    """Cases that stay in the file and are read on demand."""

    def __init__(self, data: FileBytes, spans: Spans) -> None:
        self._data, self._spans = data, spans
        self._counter = LineCounter(data)
        self._lines, self._columns = array("I"), array("I")  # of the cases up to the last one asked for

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

    def header_problems(self, findings: Sequence[Finding], severity: Severity) -> list[Problem]:
        """Return findings about the header with positions; searched at the start of the file, where headers usually are."""
        if not findings:
            return []
        name = self._data.name
        start = SourceText(name, self._data.read(0, 1 << 20).decode("utf-8-sig", "ignore"))
        places = Places(start, [finding.path for finding in findings])
        return [problem_of(name, places, finding.path, finding, severity) for finding in findings]

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Return findings with their positions."""
        return [problem for index, findings in found for problem in self._locate(index, findings, severity)]

    def _locate(self, index: int, findings: Sequence[Finding], severity: Severity) -> Iterator[Problem]:
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

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Return findings with their positions."""
        moved = [
            replace(finding, path=self._bases[index] + finding.path)
            for index, findings in found
            for finding in findings
        ]
        return problems_at(self._document, moved, severity)


def id_key(case: object) -> str:
    """Return the key of a case's id; `eval_id` if it has none."""
    return next((key for key in ROW_IDS if isinstance(case, dict) and key in case), "eval_id")


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
    places = cases.problems([(before, [Finding((cases.id_key(before),), "")]) for _, before in duplicates])
    findings = [
        (index, [_finding((cases.id_key(index),), str(ids[index]), place, renamed.get(index))])
        for (index, _), place in zip(duplicates, places, strict=True)
    ]
    return cases.problems(findings, "warning" if renamed else "error")


def _finding(path: Path_, name: str, first: Problem, new_id: str | None) -> Finding:
    message = f"the id {name!r} is already used by the case at {first.line}:{first.column}"
    if new_id is not None:
        return Finding(path, f"{message}; it runs as {new_id!r}")
    return Finding(path, message, "rename one, or run with --allow-duplicate-ids")
