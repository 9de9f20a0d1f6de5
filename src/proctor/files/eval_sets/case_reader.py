"""The cases of an eval set: where they are kept, how one is read, and what is noticed as they go by."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import from_json

from proctor.files.eval_sets.documents import Document, problems_at
from proctor.files.eval_sets.variants import ROW_IDS, adapt_case
from proctor.files.keys.problems import KeyProblems
from proctor.files.text.json_stream import FileBytes, LineCounter, Spans
from proctor.files.text.locations import Places
from proctor.files.text.problems import Path_, Place, Problem, Severity, SourceText, field_name
from proctor.files.text.validation_messages import Finding, explain
from proctor.schema.format.case import EvalCase
from proctor.schema.format.wire_model import noticed_unknown_keys

SAID = 200  # problems of one file that get a place; nobody reads more, and each costs a look at its case


CaseFindings = Sequence[tuple[int, Sequence[Finding]]]
"""Findings by the number of their case. Given at once: each look for places is a pass over a text."""


class Cases(Protocol):
    """Where the cases of a set are kept, and where in the file they stand."""

    def __len__(self) -> int: ...

    def piece(self, index: int) -> bytes:
        """One case as JSON."""
        ...

    def start(self, index: int) -> Place:
        """Where a case starts in the file."""
        ...

    def id_key(self, index: int) -> str:
        """The key that a case's id has in the file."""
        ...

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Findings (paths from their case) with their places in the file."""
        ...


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
    return EvalCase.model_validate(
        adapted
    ), "a row of a data set (`prompt`, `reference`) is read as a case of one turn"


class Collector:
    """Ids, problems and warnings of the cases of a set, as they go by."""

    def __init__(self, *, has_free_keys: bool = False) -> None:
        self.ids: list[str | None] = []  # None: the case cannot be read
        self.errors: list[tuple[int, list[Finding]]] = []
        self.warnings: list[tuple[int, list[Finding]]] = []
        self.keys = KeyProblems(has_free_keys=has_free_keys)
        self._noted: set[str] = set()

    def take(self, index: int, value: Any) -> None:
        """Note what there is to say about the next case."""
        try:
            with noticed_unknown_keys() as noticed:
                case, note = read_case(value)
        except ValidationError as error:
            self.ids.append(None)
            self.errors.append((index, explain(error, value)))
            return
        self.ids.append(case.eval_id)
        if note and note not in self._noted:
            self._noted.add(note)
            self.warnings.append((index, [Finding((), note, "ADK refuses this file")]))
        self.keys.look(index, case, value, noticed, is_row=bool(note))
        if case.conversation and len(case.conversation) > 1:
            self._check_invocation_ids(index, case)

    def _check_invocation_ids(self, index: int, case: EvalCase) -> None:
        ids = [invocation.invocation_id for invocation in case.conversation or () if invocation.invocation_id]
        if len(set(ids)) < len(ids):
            twice = next(name for name in ids if ids.count(name) > 1)
            finding = Finding(
                ("conversation",), f"the invocation id {twice!r} appears twice", "give each turn its own"
            )
            self.warnings.append((index, [finding]))

    def errors_in(self, cases: Cases) -> list[Problem]:
        """All errors with their places."""
        found: list[tuple[int, Sequence[Finding]]] = list(self.errors[:SAID])
        if len(self.errors) > SAID:
            index, _ = self.errors[SAID]
            more = Finding((), f"this and {len(self.errors) - SAID - 1} more cases have problems, too")
            found.append((index, [more]))
        return cases.problems(found)

    def warnings_in(self, cases: Cases) -> list[Problem]:
        """The warnings with their places."""
        return cases.problems(self.warnings[:SAID], "warning")


class SpanCases:
    """Cases that stay in the file."""

    def __init__(self, data: FileBytes, spans: Spans) -> None:
        self._data, self._spans = data, spans
        self._counter = LineCounter(data)
        self._lines, self._columns = array("I"), array("I")  # as far as anybody has asked

    def __len__(self) -> int:
        return len(self._spans.starts)

    def piece(self, index: int) -> bytes:
        """One case as JSON."""
        return self._data.read(self._spans.starts[index], self._spans.ends[index])

    def stretches(self) -> Iterator[tuple[int, int]]:
        """The bytes of the file that each case takes."""
        return zip(self._spans.starts, self._spans.ends, strict=True)

    def start(self, index: int) -> Place:
        """Where a case starts."""
        while len(self._lines) <= index:
            line, column = self._counter.place(self._spans.starts[len(self._lines)])
            self._lines.append(line)
            self._columns.append(column)
        return Place(self._lines[index], self._columns[index])

    def id_key(self, index: int) -> str:
        """The key that a case's id has in the file."""
        return id_key(from_json(self.piece(index)))

    def source(self, index: int) -> SourceText:
        """The text of one case, which knows where in the file it stands."""
        return SourceText(self._data.name, self.piece(index).decode(), self.start(index))

    @property
    def header(self) -> dict[str, Any]:
        """The set's own keys, as the file has them."""
        return self._spans.header

    def header_problems(self, found: Sequence[Finding], severity: Severity) -> list[Problem]:
        """Findings about the set's own keys: at the start of the file, where they nearly always are."""
        if not found:
            return []
        name = self._data.name
        start = SourceText(name, self._data.read(0, 1 << 20).decode("utf-8-sig", "ignore"))
        places = Places(start, [finding.path for finding in found])
        return [finding_at(name, places, finding.path, finding, severity) for finding in found]

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Findings with their places."""
        return [problem for index, findings in found for problem in self._placed(index, findings, severity)]

    def _placed(self, index: int, findings: Sequence[Finding], severity: Severity) -> Iterator[Problem]:
        base: Path_ = (self._spans.cases_key, index) if self._spans.cases_key else ()
        places = Places(self.source(index), [base + finding.path for finding in findings], base=base)
        for finding in findings:
            yield finding_at(self._data.name, places, base + finding.path, finding, severity)


def finding_at(name: str, places: Places, path: Path_, finding: Finding, severity: Severity) -> Problem:
    """The problem of a finding, at its place."""
    at = places.key(path) if finding.at_key else places.value(path)
    return Problem(severity, name, *at, field_name(path), finding.message, finding.hint)


class HeldCases:
    """Cases that are kept, as JSON; `bases` are their paths in the document, `id_key` where it is not that of the JSON."""

    def __init__(self, document: Document, pieces: list[bytes], bases: list[Path_], id_key: str = "") -> None:
        self._document, self._pieces, self._bases, self._id_key = document, pieces, bases, id_key
        self._starts: list[Place] = []

    def __len__(self) -> int:
        return len(self._pieces)

    def piece(self, index: int) -> bytes:
        """One case as JSON."""
        return self._pieces[index]

    def start(self, index: int) -> Place:
        """Where a case starts."""
        if not self._starts:
            places = self._document.locate(self._bases)
            self._starts = [places.value(base) for base in self._bases]
        return self._starts[index]

    def id_key(self, index: int) -> str:
        """The key that a case's id has in the file."""
        return self._id_key or id_key(from_json(self._pieces[index]))

    @property
    def is_encoded_twice(self) -> bool:
        """The document that they come from is JSON within a JSON string."""
        return bool(getattr(self._document, "double_encoded", False))

    def problems(self, found: CaseFindings, severity: Severity = "error") -> list[Problem]:
        """Findings with their places."""
        moved = [
            Finding(self._bases[index] + one.path, one.message, one.hint, one.at_key)
            for index, findings in found
            for one in findings
        ]
        return problems_at(self._document, moved, severity)


def id_key(case: Any) -> str:
    """The key that a case's id has; `eval_id` where there is none."""
    return next((key for key in ROW_IDS if isinstance(case, dict) and key in case), "eval_id")
