"""Eval sets in JSON lines: one case per line, after an optional first line with the header of the set.

A set of any size is written, extended and read without being in memory as a whole. Lines are independent: all broken lines
are reported at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic_core import from_json

from proctor.errors import EvalFileError
from proctor.files.eval_sets.documents import (
    DocumentKind,
    describe_unknown_document,
    is_case_like,
    is_set_fields,
)
from proctor.files.eval_sets.eval_set_file import MAX_REPORTED, EvalSetFile, SpanCases, hash_file
from proctor.files.keys.key_findings import Collector, DuplicateKeys, add_duplicate_keys, duplicate_keys_in
from proctor.files.text.json_decode import decode, has_refused_values, is_suspect
from proctor.files.text.json_scanner import scan
from proctor.files.text.json_stream import CHUNK, LARGEST_ELEMENT, Bytes, FileBytes, Spans, start_of
from proctor.files.text.problems import Place, Problem, SourceText

_SPACE = b" \t\r\n"
_COMMENTS = (b"#", b"//")


class JsonLine(NamedTuple):
    """A line that is not blank: its number from 1, the offset of its first byte, its bytes without surrounding space."""

    number: int
    at: int
    text: bytes
    indent: int
    """Bytes of space before the text."""
    is_cut: bool
    """Whether the file ends in this line, without a line end."""
    is_suspect: bool
    """Whether it may contain a value that only the fast parser accepts."""


class JsonLineTooLongError(Exception):
    """A line is longer than the limit; the argument is the number of the line."""


def lines_in(data: Bytes) -> Iterator[JsonLine]:
    """Return every line that is not blank. A line ends with a line feed, alone or after a carriage return.

    Raises:
        LineTooLongError: (while iterating) a line is longer than 64 MiB.
    """
    at, number, size = start_of(data), 0, CHUNK
    while at < data.size:
        chunk = data.read(at, at + size)
        is_last = at + len(chunk) >= data.size
        end = len(chunk) if is_last else chunk.rfind(b"\n") + 1
        if not end:
            if size >= LARGEST_ELEMENT:
                raise JsonLineTooLongError(number + 1)
            size *= 4
            continue
        suspect = is_suspect(chunk)
        start = 0
        while start < end:
            stop = chunk.find(b"\n", start, end) + 1 or end
            number += 1
            if text := chunk[start:stop].strip(_SPACE):
                indent = chunk.index(text[:1], start) - start
                is_cut = is_last and stop == end and chunk[-1:] != b"\n"
                yield JsonLine(number, at + start + indent, text, indent, is_cut, suspect)
            start = stop
        at, size = at + end, CHUNK


class LineWalk:
    """One pass over a set. Iterate over it for (index, value) of each case; `spans` then contains their positions.

    `problems` contains the errors of single lines, `warnings` the warnings.
    """

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self.spans = Spans()
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.has_comments = False
        self.duplicate_keys = DuplicateKeys([], [])
        self._broken_lines = 0

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        is_first = True
        with suppress(_StopError):
            for line in self._lines():
                value = self._parse(line, is_first=is_first)
                if value is _NO_VALUE:
                    is_first = is_first and line.text.startswith(_COMMENTS)
                    continue
                if is_first and self._is_header(line, value):
                    self.spans.header = value
                elif is_set_fields(value):
                    self._report_second_header(line)
                else:
                    self.spans.starts.append(line.at)
                    self.spans.ends.append(line.at + len(line.text))
                    yield len(self.spans.starts) - 1, value
                is_first = False
        if self._broken_lines > MAX_REPORTED:
            self._problem(1, 1, f"{self._broken_lines - MAX_REPORTED} more lines cannot be read")

    def _lines(self) -> Iterator[JsonLine]:
        try:
            yield from lines_in(self.data)
        except JsonLineTooLongError as error:
            mib = LARGEST_ELEMENT >> 20
            self._problem(
                int(error.args[0]), 1, f"the line is longer than {mib} MiB", "split the file or the case"
            )

    def _parse(self, line: JsonLine, *, is_first: bool) -> Any:
        """Return the value of a line; report a line without a value and return `_NO_VALUE`."""
        try:
            value = from_json(line.text, allow_inf_nan=False)
        except ValueError:
            self._report_broken(line, is_first=is_first)
            return _NO_VALUE
        if line.is_suspect and has_refused_values(line.text):
            self._report_error(line)
            return _NO_VALUE
        self.duplicate_keys += duplicate_keys_in(self._source(line, line.text.decode("utf-8", "replace")))
        return value

    def _is_header(self, line: JsonLine, value: Any) -> bool:
        """Whether the first line is the header of the set; stop at a line that is neither a header nor a case."""
        if is_set_fields(value):
            if key := next((key for key in ("eval_cases", "evalCases") if key in value), ""):
                hint = "name a file that is one JSON document .json"
                self._stop(line, f"`{key}` is not allowed here: in JSON lines each case is a line", hint)
            return True
        if not is_case_like(value):
            looks, hint = describe_unknown_document(value)
            self._stop(line, f"expected a case, or the header of the set, but this line is {looks}", hint)
        return False

    # --- problems ---

    def _report_broken(self, line: JsonLine, *, is_first: bool) -> None:
        if line.text.startswith(_COMMENTS):
            if not self.has_comments:
                problem = self._source(line, "").problem(
                    0, "comments are not JSON", "only Proctor reads this file"
                )
                self.warnings.append(replace(problem, severity="warning"))
            self.has_comments = True
            return
        is_incomplete = _is_incomplete(line.text)
        if is_incomplete and line.is_cut:
            hint = "the file was cut off when it was written or copied: complete the line, or remove it"
            self._stop(line, "the last line is incomplete", hint)
        if is_incomplete and is_first:
            hint = "is this one JSON document over several lines? Then name it .json"
            self._stop(line, "the line is incomplete; in JSON lines each case is one line", hint)
        self._report_error(line)

    def _report_error(self, line: JsonLine) -> None:
        self._broken_lines += 1
        if self._broken_lines <= MAX_REPORTED:
            self.problems.append(self._first_problem(line))

    def _first_problem(self, line: JsonLine) -> Problem:
        """Return the first problem of a line; stop if it is not UTF-8, because later lines will not be, either."""
        try:
            text = decode(line.text, self.data.name, first=Place(line.number, 1 + line.indent), at=line.at)
        except EvalFileError as error:
            self.problems += error.problems
            raise _StopError from None
        problems = scan(self._source(line, text)).problems
        errors = [problem for problem in problems if problem.severity == "error"]
        if errors and errors[0].message.startswith("text after"):
            return replace(errors[0], hint="a line contains one case and nothing else")
        if errors:
            return errors[0]
        if problems:
            return replace(problems[0], severity="error", hint="in JSON lines, a case is plain JSON")
        return self._source(line, text).problem(0, "this line is not readable as JSON")

    def _report_second_header(self, line: JsonLine) -> None:
        hint = "the header is the first line; were two files concatenated?"
        self._problem(line.number, 1 + line.indent, "this line has the fields of a set, not of a case", hint)

    def _stop(self, line: JsonLine, message: str, hint: str) -> None:
        self._problem(line.number, 1 + line.indent, message, hint)
        raise _StopError

    def _problem(self, line: int, column: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem("error", self.data.name, line, column, "", message, hint))

    def _source(self, line: JsonLine, text: str) -> SourceText:
        return SourceText(self.data.name, text, Place(line.number, 1 + line.indent))


class _StopError(Exception):
    """Later problems would only be consequences."""


_NO_VALUE = object()


def _is_incomplete(text: bytes) -> bool:
    """Whether the text is only the beginning of a JSON value."""
    readable = text.decode("utf-8", "ignore")
    with suppress(ValueError, RecursionError):
        _DECODER.raw_decode(readable)
        return False
    try:
        from_json(readable, allow_inf_nan=False, allow_partial="trailing-strings")
    except ValueError:
        return False
    return True


_DECODER = json.JSONDecoder()


def open_lines(source: FileBytes) -> EvalSetFile:
    """Read every line of a set once, and record where its cases are."""
    walk = LineWalk(source)
    collector = Collector()
    for index, value in walk:
        collector.take(index, value)
    cases = SpanCases(source, walk.spans)
    opened = collector.to_set(
        source.name, walk.spans.header, cases, lambda: hash_file(source), DocumentKind.CASE_LINES
    )
    opened.has_comments = walk.has_comments
    opened.errors += walk.problems
    opened.other_warnings += walk.warnings
    add_duplicate_keys(opened, walk.duplicate_keys)
    return opened


def starts_like_lines(data: Bytes) -> bool:
    """Whether the first line with content is a header of a set, or a case."""
    with suppress(ValueError, JsonLineTooLongError):
        for line in lines_in(data):
            if not line.text.startswith(_COMMENTS):
                value = from_json(line.text)
                return is_set_fields(value) or is_case_like(value)
    return False
