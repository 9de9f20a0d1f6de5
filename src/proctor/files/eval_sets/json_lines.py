"""Eval sets in JSON lines: a case a line, after a first line with the set's own fields, which may be left out.

A set of any size is written, appended to and read without ever being in memory whole. Each line stands for itself, so
that one broken line says nothing about the others: all of them are reported at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic_core import from_json

from proctor.errors import EvalFileError
from proctor.files.eval_sets.case_reader import SAID, Collector, SpanCases
from proctor.files.eval_sets.detect_format import Kind, describe, is_case_like, is_set_fields
from proctor.files.eval_sets.streamed_set import (
    Opened,
    hash_file,
    read_header,
    take_collected,
    take_doubled,
    take_header_keys,
)
from proctor.files.text.duplicate_keys import DoubledKeys, doubled_in
from proctor.files.text.json_decode import decode, holds_refused, is_suspect
from proctor.files.text.json_scanner import scan
from proctor.files.text.json_stream import CHUNK, LARGEST_ELEMENT, Bytes, FileBytes, Spans, start_of
from proctor.files.text.problems import Place, Problem, SourceText

_SPACE = b" \t\r\n"
_COMMENTS = (b"#", b"//")


class Line(NamedTuple):
    """A line that is not blank: its number from 1, the offset of its first byte, its bytes without space around them."""

    number: int
    at: int
    text: bytes
    indent: int
    """Bytes of space before the text."""
    is_cut: bool
    """The file ends in this line, without a line end."""
    is_suspect: bool
    """It may hold what is refused although the fast parser takes it."""


class LineTooLongError(Exception):
    """A line is longer than anything that is read; the number of the line."""


def lines_in(data: Bytes) -> Iterator[Line]:
    """Every line that is not blank. A line ends with a line feed, alone or after a carriage return.

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
                raise LineTooLongError(number + 1)
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
                yield Line(number, at + start + indent, text, indent, is_cut, suspect)
            start = stop
        at, size = at + end, CHUNK


class LineWalk:
    """One pass over a set: iterate it for (index, value) of each case; afterwards `spans` says where they are.

    What is wrong with single lines is in `problems`, what is doubtful in `warnings`.
    """

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self.spans = Spans()
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.has_comments = False
        self._broken = 0
        self.doubled = DoubledKeys([], [])

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        is_first = True
        with suppress(_StopError):
            for line in self._lines():
                value = self._read(line, is_first=is_first)
                if value is _NOTHING:
                    is_first = is_first and line.text.startswith(_COMMENTS)
                    continue
                if is_first and self._is_header(line, value):
                    self.spans.header = value
                elif is_set_fields(value):
                    self._again(line)
                else:
                    self.spans.starts.append(line.at)
                    self.spans.ends.append(line.at + len(line.text))
                    yield len(self.spans.starts) - 1, value
                is_first = False
        if self._broken > SAID:
            self._problem(1, 1, f"{self._broken - SAID} more lines cannot be read")

    def _lines(self) -> Iterator[Line]:
        try:
            yield from lines_in(self.data)
        except LineTooLongError as error:
            mib = LARGEST_ELEMENT >> 20
            self._problem(int(error.args[0]), 1, f"the line is longer than {mib} MiB", "no case is")

    def _read(self, line: Line, *, is_first: bool) -> Any:
        """The value of a line; `_NOTHING` for one that has none, which is then noted."""
        try:
            value = from_json(line.text, allow_inf_nan=False)
        except ValueError:
            self._note_broken(line, is_first=is_first)
            return _NOTHING
        if line.is_suspect and holds_refused(line.text):
            self._note_fault(line)
            return _NOTHING
        self.doubled += doubled_in(self._source(line, line.text.decode("utf-8", "replace")))
        return value

    def _is_header(self, line: Line, value: Any) -> bool:
        """Whether the first line has the set's own fields; stops at what is neither those nor a case."""
        if is_set_fields(value):
            if key := next((key for key in ("eval_cases", "evalCases") if key in value), ""):
                hint = "name a file that is one JSON document .json"
                self._stop(line, f"`{key}` has no place here: in JSON lines each case is a line", hint)
            return True
        if not is_case_like(value):
            looks, hint = describe(value)
            self._stop(line, f"expected a case, or the fields of the set, but this line is {looks}", hint)
        return False

    # --- saying what is wrong ---

    def _note_broken(self, line: Line, *, is_first: bool) -> None:
        if line.text.startswith(_COMMENTS):
            if not self.has_comments:
                problem = self._source(line, "").problem(
                    0, "comments are not JSON", "only Proctor reads this file"
                )
                self.warnings.append(replace(problem, severity="warning"))
            self.has_comments = True
            return
        is_begun = _is_begun(line.text)
        if is_begun and line.is_cut:
            hint = "the file was cut off while it was written, or copied: complete the line, or remove it"
            self._stop(line, "the last line ends in the middle", hint)
        if is_begun and is_first:
            hint = "is this one JSON document over several lines? Then name it .json"
            self._stop(line, "the line ends in the middle; in JSON lines each case is one line", hint)
        self._note_fault(line)

    def _note_fault(self, line: Line) -> None:
        self._broken += 1
        if self._broken <= SAID:
            self.problems.append(self._fault(line))

    def _fault(self, line: Line) -> Problem:
        """The first thing that is wrong with a line; stops at what is no UTF-8, as the next line will not be either."""
        try:
            text = decode(line.text, self.data.name, first=Place(line.number, 1 + line.indent), at=line.at)
        except EvalFileError as error:
            self.problems += error.problems
            raise _StopError from None
        found = scan(self._source(line, text)).problems
        errors = [problem for problem in found if problem.severity == "error"]
        if errors:
            is_behind = errors[0].message.startswith("text after")
            return (
                replace(errors[0], hint="a line holds one case, and nothing else") if is_behind else errors[0]
            )
        if found:
            return replace(found[0], severity="error", hint="in JSON lines, a case is plain JSON")
        return self._source(line, text).problem(0, "this line is not readable as JSON")

    def _again(self, line: Line) -> None:
        hint = "they stand in the first line; were two files put together?"
        self._problem(line.number, 1 + line.indent, "this line has the fields of a set, and is no case", hint)

    def _stop(self, line: Line, message: str, hint: str) -> None:
        self._problem(line.number, 1 + line.indent, message, hint)
        raise _StopError

    def _problem(self, line: int, column: int, message: str, hint: str = "") -> None:
        self.problems.append(Problem("error", self.data.name, line, column, "", message, hint))

    def _source(self, line: Line, text: str) -> SourceText:
        return SourceText(self.data.name, text, Place(line.number, 1 + line.indent))


class _StopError(Exception):
    """What follows would only be noise."""


_NOTHING = object()


def _is_begun(text: bytes) -> bool:
    """Whether the text is the beginning of a JSON value; one that is whole, and more behind it, is none."""
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


def streamed_lines(source: FileBytes) -> Opened:
    """Read every line of a set once, and keep where each of its cases is."""
    walk = LineWalk(source)
    collector = Collector()
    for index, value in walk:
        collector.take(index, value)
    header, findings, doubts = read_header(walk.spans.header, source.name, needs_id=False)
    cases = SpanCases(source, walk.spans)
    opened = Opened(source.name, header, cases, lambda: hash_file(source), Kind.CASE_LINES)
    opened.has_comments = walk.has_comments
    opened.problems += walk.problems + cases.header_problems(findings, "error")
    opened.warnings += walk.warnings + cases.header_problems(doubts, "warning")
    take_collected(opened, collector)
    take_doubled(opened, walk.doubled)
    take_header_keys(opened, walk.spans.header, cases.header_problems)
    return opened


def starts_like_lines(data: Bytes) -> bool:
    """Whether the first line that says anything has the fields of a set, or a case."""
    with suppress(ValueError, LineTooLongError):
        for line in lines_in(data):
            if not line.text.startswith(_COMMENTS):
                value = from_json(line.text)
                return is_set_fields(value) or is_case_like(value)
    return False
