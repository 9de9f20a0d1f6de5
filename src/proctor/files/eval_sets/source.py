"""Eval sets of every generation and layout, behind one interface that reads one case at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic_core import from_json, to_json

from proctor.errors import EvalFileError, SetupError, SetupProblems
from proctor.files.eval_sets.case_reader import (
    CaseFindings,
    DocumentCases,
    SpanCases,
    duplicate_problems,
    read_case,
    rename_duplicates,
)
from proctor.files.eval_sets.documents import (
    LINES_SUFFIX,
    WHOLE_LIMIT,
    YAML_SUFFIXES,
    Document,
    read_bytes,
    read_json,
    read_yaml,
    unreadable,
)
from proctor.files.eval_sets.opened_set import (
    OpenedSet,
    add_duplicate_keys,
    set_of_document,
    stream_set,
    too_large,
)
from proctor.files.keys.duplicate_keys import duplicate_keys_in_cases
from proctor.files.keys.unknown_keys import key_findings, set_key_findings
from proctor.files.text.json_stream import BrokenTextError, FileBytes, changed_since, no_collection
from proctor.files.text.problems import Place, Problem, Severity, SourceText, field_name, file_error
from proctor.files.text.validation_messages import Finding
from proctor.schema.format.case import EvalCase, EvalSet


class EvalSetFile:
    """An eval set that was read and checked as a whole, and of which one case at a time is in memory.

    `eval_set_id`, `name`, `label` (the file's name in messages), `warnings`, `has_comments`; `ids()`, `case(i)`,
    iteration, `place(eval_id)`, `where(i)`, `content_hash`. Cases read again are equal but not the same objects.
    """

    def __init__(self, opened: OpenedSet) -> None:
        self.label = opened.label
        self.header = opened.header
        self.other_warnings = opened.warnings
        self.misread = opened.misread
        """Unknown keys, as warnings, that probably state an expectation: a verdict is refused."""
        self.doubtful = opened.doubtful
        """Other unknown keys, as warnings."""
        self.duplicate_keys = opened.duplicate_keys
        """Duplicate keys, as warnings, in objects of the format: a verdict is refused."""
        self.kind = opened.kind
        self.has_comments = opened.has_comments
        self._cases = opened.cases
        self._ids = [name for name in opened.ids if name is not None]
        self._positions: dict[str, int] = {}
        self._renamed = opened.renamed
        self._hash = opened.hash

    @property
    def warnings(self) -> list[Problem]:
        """All doubts about the file."""
        return [*self.other_warnings, *self.duplicate_keys, *self.misread, *self.doubtful]

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
        return self._ids

    def position(self, eval_id: str) -> int | None:
        """Return the index of the case with this id, or `None`."""
        if not self._positions:
            self._positions = {name: index for index, name in enumerate(self._ids)}
        return self._positions.get(eval_id)

    def __len__(self) -> int:
        return len(self._cases)

    def case(self, index: int) -> EvalCase:
        """Read one case.

        Raises:
            EvalFileError: the file changed since it was opened.
        """
        eval_id = self._ids[index]
        try:
            case, _ = read_case(self.value(index))
        except ValueError:
            raise changed_since(self.label) from None
        if index in self._renamed:
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
        return from_json(self._cases.piece(index))

    @property
    def is_encoded_twice(self) -> bool:
        """Whether the file is JSON inside a JSON string; such a file is read-only."""
        return isinstance(self._cases, DocumentCases) and self._cases.is_encoded_twice

    def piece(self, index: int) -> bytes:
        """Return one case as JSON: the bytes of its file, if that is plain JSON."""
        return self._cases.piece(index)

    def byte_ranges(self) -> Iterator[tuple[int, int]]:
        """Return the range of bytes of each case in the file; empty if the file was read whole."""
        return self._cases.byte_ranges() if isinstance(self._cases, SpanCases) else iter(())

    def problems(self, found: CaseFindings, severity: Severity = "warning") -> list[Problem]:
        """Return findings about cases with their positions; paths start at the case."""
        return self._cases.problems(found, severity)

    def header_problems(self, look: Callable[[dict[str, object]], Iterable[Finding]]) -> list[Problem]:
        """Return the findings of `look` in the header, as warnings with positions; empty if the file was read whole."""
        if not isinstance(self._cases, SpanCases):
            return []
        return self._cases.header_problems(list(look(self._cases.header)), "warning")

    def source(self, index: int) -> SourceText | None:
        """Return the text of one case in the file, or `None` if the file was read whole."""
        return self._cases.source(index) if isinstance(self._cases, SpanCases) else None

    def __iter__(self) -> Iterator[EvalCase]:
        return map(self.case, range(len(self)))

    def place(self, eval_id: str) -> Place:
        """Return the line and column of a case. Raises KeyError for an unknown id."""
        if eval_id not in self._ids:
            raise KeyError(eval_id)
        return self._cases.start(self._ids.index(eval_id))

    def where(self, index: int) -> str:
        """Return `file:line` of a case."""
        return f"{self.label}:{self._cases.start(index).line}"

    def line(self, index: int) -> int:
        """Return the first line of a case."""
        return self._cases.start(index).line

    def start(self, index: int) -> Place:
        """Return the line and column of a case."""
        return self._cases.start(index)

    def eval_set(self) -> EvalSet:
        """Return the whole set, in memory."""
        whole = self.header.model_copy()
        whole.eval_cases = list(self)
        return whole


# --- opening -----------------------------------------------------------------------------------------------------------


def open_eval_set(
    path: str | Path, *, allow_duplicate_ids: bool = False, allow_empty: bool = False, label: str = ""
) -> EvalSetFile:
    """Read and check a whole set, keeping none of its cases in memory.

    Reads every generation of the format, in both spellings, and related formats (see `docs/reference/file-formats.md`). A set without
    cases is refused unless `allow_empty`; duplicate ids are refused unless `allow_duplicate_ids` (then the second `x`
    runs as `x#2`). `label` is the file's name in messages.

    Raises:
        EvalFileError: with every problem of the file and its position.
    """
    path = Path(path)
    opened = _open_file(path, label or str(path))
    return _require_valid(opened, allow_duplicate_ids=allow_duplicate_ids, allow_empty=allow_empty)


def _open_file(path: Path, label: str) -> OpenedSet:
    suffix = path.suffix.lower()
    if suffix in YAML_SUFFIXES:
        data = read_bytes(path, label)
        return set_of_document(read_yaml(data, label), _digest_of(data))
    if path.exists() and not path.is_file():  # a pipe can only be read once
        data = read_bytes(path, label)
        return set_of_document(read_json(data, label), _digest_of(data))
    try:
        source = FileBytes(path, label)
    except OSError as error:
        raise unreadable(path, label, error) from None
    try:
        with no_collection():
            if suffix == LINES_SUFFIX:
                from proctor.files.eval_sets.json_lines import open_lines

                return open_lines(source)
            opened = stream_set(source)
            add_duplicate_keys(opened, duplicate_keys_in_cases(source, opened.cases))
            return opened
    except BrokenTextError as broken:
        if source.size > WHOLE_LIMIT:
            raise too_large(source, broken) from None
        data = source.read(0, source.size)
        return set_of_document(read_json(data, label), _digest_of(data))


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
    opened = set_of_document(read_json(data, name), _digest_of(data))
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


# --- checks of the whole set -------------------------------------------------------------------------------------------


def _require_valid(opened: OpenedSet, *, allow_duplicate_ids: bool, allow_empty: bool) -> EvalSetFile:
    """Return the set, or raise EvalFileError for its problems."""
    if allow_duplicate_ids:
        renamed = rename_duplicates(opened.ids)
        opened.warnings += duplicate_problems(opened.cases, opened.ids, renamed)
        opened.ids, opened.renamed = [renamed.get(i, name) for i, name in enumerate(opened.ids)], set(renamed)
    else:
        opened.problems += duplicate_problems(opened.cases, opened.ids, {})
    if not opened.ids and not opened.problems and not allow_empty:
        hint = "a set to run needs at least one"
        opened.problems.append(Problem("error", opened.label, 1, 1, "eval_cases", "no cases", hint))
    if opened.problems:
        raise file_error([*opened.problems, *opened.warnings])
    return EvalSetFile(opened)


# --- warnings that become errors if a verdict is requested ------------------------------------------------------------


UNKNOWN_KEYS_ALLOWED = "`--allow-unknown-keys` (allow_unknown_keys) accepts such keys"


def refusal_of(problems: Sequence[Problem], *, allows: bool = False) -> EvalFileError:
    """Return the error for a file for which a verdict is refused; `allows`: an option accepts its unknown keys."""
    error = file_error(replace(problem, severity="error") for problem in problems)
    return EvalFileError(f"{error}\n{UNKNOWN_KEYS_ALLOWED}", error.problems) if allows else error


# --- sets in memory ----------------------------------------------------------------------------------------------------

_LISTED = 100


def keys_of_models(cases: Iterable[EvalCase], label: str = "") -> tuple[list[str], list[str]]:
    """Return the errors and the doubts about unknown keys of cases that were made in Python."""
    messages: dict[bool, list[str]] = {True: [], False: []}
    for index, case in enumerate(cases):
        for finding in key_findings(case, None):
            if len(messages[finding.is_misread]) < _LISTED:
                field = field_name(("eval_cases", index, *finding.path))
                hint = f" ({finding.hint})" if finding.hint else ""
                messages[finding.is_misread].append(f"{label}{field}: {finding.message}{hint}")
    return messages[True], messages[False]


def keys_of_set(eval_set: EvalSet) -> tuple[list[str], list[str]]:
    """Return the same for a set with its cases."""
    label = f"eval set {eval_set.eval_set_id!r}: "
    misread, doubtful = keys_of_models(eval_set.eval_cases, label)
    for finding in set_key_findings(eval_set.model_extra or {}):
        (misread if finding.is_misread else doubtful).append(f"{label}{finding.one_line}")
    return misread, doubtful


def refuse_keys(misread: Sequence[str]) -> None:
    """Refuse unknown keys of a set in memory that state an expectation.

    Raises:
        SetupProblems: one error per key.
    """
    if misread:
        raise SetupProblems([SetupError(f"{message}; {UNKNOWN_KEYS_ALLOWED}") for message in misread])
