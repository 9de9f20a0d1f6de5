"""A document that was read whole: its value, and the positions of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from proctor.errors import EvalFileError
from proctor.files.text.json_decode import JsonText, parse
from proctor.files.text.json_tree import Places
from proctor.files.text.problems import Path_, Place, Problem, Severity, SourceText, field_name, file_error
from proctor.files.text.validation_messages import Finding

WHOLE_LIMIT = 32 << 20
"""The largest file, in bytes, that is read whole; a larger one is only read as a stream of cases."""

RESULT_LIMIT = 128 << 20
"""The same for results, which ADK writes twenty times larger than their cases."""

MOST_KEYS = 4_000_000
"""The most keys that are read whole: small objects take fifty times the memory of their text."""

YAML_SUFFIXES = (".yaml", ".yml")
LINES_SUFFIX = ".jsonl"


class Located(Protocol):
    """The positions of the values of a document."""

    def value(self, path: Path_) -> Place:
        """Return where the value of `path` starts; for a missing path, the nearest enclosing object."""
        ...

    def key(self, path: Path_) -> Place:
        """Return where the key of `path` starts."""
        ...


class Document(Protocol):
    """A file that was read whole. Readers of other notations (YAML) return the values as JSON has them."""

    name: str
    value: Any
    warnings: list[Problem]
    has_comments: bool

    def locate(self, paths: Iterable[Path_]) -> Located:
        """Return the positions of some paths."""
        ...


class JsonDocument:
    """A JSON file read whole."""

    def __init__(self, name: str, text: JsonText) -> None:
        self.name = name
        self.value = text.value
        self.warnings = list(text.warnings)
        self.has_comments = text.has_comments
        self.source = text.source
        self.double_encoded = False

    def locate(self, paths: Iterable[Path_]) -> Located:
        """Return the positions of some paths, found in one pass over the text."""
        return Places(self.source, paths)


class _InnerText(SourceText):
    """The text inside a JSON string, with positions in the file around it."""

    def __init__(self, outer: SourceText, text: str, offsets: list[int]) -> None:
        super().__init__(outer.name, text)
        self._outer, self._offsets = outer, offsets

    def place(self, offset: int) -> Place:
        return self._outer.place(self._offsets[min(offset, len(self._offsets) - 1)])


def read_json(data: bytes, name: str) -> JsonDocument:
    """Read a whole JSON document; a document inside a JSON string (as older results are written) is unwrapped.

    Raises:
        EvalFileError: it is not JSON, or has more than MOST_KEYS keys.
    """
    if data.count(b":") > MOST_KEYS:
        raise file_error([_problem(name, f"the file has more than {MOST_KEYS:,} keys; it is not read whole")])
    document = JsonDocument(name, parse(data, name))
    for _ in range(3):
        if not isinstance(document.value, str) or document.value.lstrip()[:1] not in {"{", "[", '"'}:
            break
        from proctor.files.text.json_scanner import string_offsets

        inner, offsets = string_offsets(document.source.text)
        text = parse(inner.encode(), name, source=_InnerText(document.source, inner, offsets))
        warnings = document.warnings + text.warnings
        document = JsonDocument(name, text)
        document.warnings, document.double_encoded = warnings, True
    return document


def read_document(path: Path, name: str = "", *, limit: int = WHOLE_LIMIT) -> Document:
    """Read a whole file, as JSON or YAML depending on its suffix.

    Raises:
        EvalFileError: it cannot be read, is larger than `limit` bytes, or does not have the form of its suffix.
    """
    name = name or str(path)
    data = read_bytes(path, name, limit=limit)
    if path.suffix.lower() in YAML_SUFFIXES:
        return read_yaml(data, name)
    return read_json(data, name)


def read_yaml(data: bytes, name: str) -> Document:
    """Read a YAML file. `proctor.files.yaml.cases` is loaded on first use."""
    import importlib

    document: Document = importlib.import_module("proctor.files.yaml.cases").read_document(data, name)
    return document


def read_bytes(path: Path, name: str, *, limit: int = WHOLE_LIMIT) -> bytes:
    """Return the bytes of a file.

    Raises:
        EvalFileError: the file does not exist, cannot be read, or is larger than `limit`.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:  # a pipe or a device has no size, and maybe no end
            data = file.read(limit + 1) if size <= limit else b""
    except OSError as error:
        raise unreadable(path, name, error) from None
    if size > limit or len(data) > limit:
        size_text = f"{size >> 20} MiB" if size > limit else "no end"
        raise file_error(
            [_problem(name, f"the file has {size_text}; at most {limit >> 20} MiB are read whole")]
        )
    return data


def unreadable(path: Path, name: str, error: OSError) -> EvalFileError:
    """Return the error for a file that the system refuses to open."""
    hint = ""
    if isinstance(error, FileNotFoundError):
        from proctor.files.eval_sets.selectors import near_files

        hint = near_files(path)
    return file_error([_problem(name, (error.strerror or str(error)).lower(), hint)])


def _problem(name: str, message: str, hint: str = "") -> Problem:
    return Problem("error", name, 1, 1, "", message, hint)


def problems_at(
    document: Document, findings: Iterable[Finding], severity: Severity = "error"
) -> list[Problem]:
    """Return the findings of a document with their positions."""
    findings = list(findings)
    if not findings:
        return []
    places = document.locate({finding.path for finding in findings})
    return [problem_of(document.name, places, finding.path, finding, severity) for finding in findings]


def problem_of(name: str, places: Located, path: Path_, finding: Finding, severity: Severity) -> Problem:
    """Return the problem of a finding at its position."""
    position = places.key(path) if finding.at_key else places.value(path)
    return Problem(severity, name, *position, field_name(path), finding.message, finding.hint)
