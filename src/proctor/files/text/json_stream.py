"""Stream a large eval set: locate each element of `eval_cases` in the file, without keeping any of them.

The fast parser needs the bytes of exactly one element. To find the end of an element, it would have to be parsed twice.
Instead, the end is guessed from the separator between earlier elements, and parsing proves the guess: bytes that parse as
one whole object are that element. A wrong guess costs one failed parse.
"""

from __future__ import annotations

import codecs
import gc
import json
import os
import re
from array import array
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Protocol
from weakref import finalize

from pydantic_core import from_json

from proctor.errors import EvalFileError
from proctor.files.text.json_decode import has_refused_values, is_suspect
from proctor.files.text.problems import Place, Problem, file_error

CHUNK = 4 << 20
LARGEST_ELEMENT = 64 << 20
_BOM = codecs.BOM_UTF8
_GAP = re.compile(rb"[ \t\r\n]*")
_FIRST_KEY = re.compile(rb'\{[ \t\r\n]*"[^"\\]*"')
_CASES = ("eval_cases", "evalCases")
_CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of a character after its first one
_MAX_HEADER_KEYS = 10_000


class Bytes(Protocol):
    """Bytes that are read in part."""

    name: str
    size: int

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, fewer at the end of the file."""
        ...


def start_of(data: Bytes) -> int:
    """Return the offset of the first byte of the text, after a byte-order mark."""
    return len(_BOM) if data.read(0, len(_BOM)) == _BOM else 0


class FileBytes:
    """An open file that is read in part. It detects a change of the file between two reads."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._file = path.open("rb", buffering=0)
        finalize(self, self._file.close)
        self._path = path
        self._lock = Lock()
        self._state = self._state_now()
        self.size = self._state[0]

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`.

        Raises:
            EvalFileError: the file was written to since it was opened.
        """
        with self._lock:
            if self._state_now() != self._state:
                raise changed_since(self.name)
            self._file.seek(start)
            data = self._file.read(max(0, end - start))
        return data or b""

    def _state_now(self) -> tuple[int, int]:
        state = os.fstat(self._file.fileno())
        return state.st_size, state.st_mtime_ns


def changed_since(name: str) -> EvalFileError:
    """Return the error for a file that was changed after it was opened."""
    problem = Problem("error", name, 1, 1, "", "the file changed while it was being read", "start again")
    return file_error([problem])


class BrokenTextError(Exception):
    """The bytes from `offset` on are not plain JSON, or not an object with a list of cases; use another reader.

    `in_value`: a value starts at `offset`, and the error is inside it.
    """

    def __init__(self, offset: int, *, in_value: bool = False) -> None:
        super().__init__(offset)
        self.offset = offset
        self.in_value = in_value


@dataclass(slots=True, eq=False, repr=False)
class Spans:
    """The positions of the cases of a file, and its other keys. `starts[i]` to `ends[i]` are the bytes of case i."""

    header: dict[str, Any] = field(default_factory=dict)
    starts: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))
    cases_key: str = ""


class Walk:
    """One pass over a set. Iterate over it for (index, value) of each case; `spans` then contains their positions.

    Raises:
        BrokenTextError: (while iterating) the text is not plain JSON, or not an object with a list of cases.
    """

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self.spans = Spans()
        self._chunk, self._chunk_at, self._suspect = b"", 0, False
        self._separator, self._step = b"", 0
        self._guesses_left = 2  # wrong guesses until the layout counts as irregular

    def __iter__(self) -> Iterator[tuple[int, object]]:
        at = self._gap(start_of(self.data))
        self._expect(at, b"{")
        at = self._gap(at + 1)
        while self._byte(at) != b"}":
            key, at = self._small(at)
            at = self._gap(at)
            self._expect(at, b":")
            at = self._gap(at + 1)
            if key in _CASES:
                self._expect(at, b"[")
                if self.spans.cases_key:  # both spellings: the whole-file reader reports them
                    raise BrokenTextError(at)
                self.spans.cases_key = key
                at = yield from self._elements(at)
            else:
                at = self._header(key, at)
            at = self._comma(at, b"}")
        if self._gap(at + 1) != self.data.size or not self.spans.cases_key:
            raise BrokenTextError(at)

    def _header(self, key: object, at: int) -> int:
        if not isinstance(key, str) or key in self.spans.header or len(self.spans.header) >= _MAX_HEADER_KEYS:
            raise BrokenTextError(at)
        self.spans.header[key], at = self._small(at)
        return self._gap(at)

    def _elements(self, at: int) -> Generator[tuple[int, object], None, int]:
        """Yield every element of the list that starts at `at`; return the offset after the list."""
        at = self._gap(at + 1)
        index = 0
        while self._byte(at) != b"]":
            piece, value = self._take(at)
            self.spans.starts.append(at)
            self.spans.ends.append(at + len(piece))
            yield index, value
            index += 1
            end, at = at + len(piece), self._after(at + len(piece))
            if index == 1:
                self._separator, self._step = self._learn_separator(end - 1, at), at - end
        return self._gap(at + 1)

    def _after(self, end: int) -> int:
        """Return the start of the element after the one that ends at `end`, or that of the bracket that ends the list."""
        if self._separator and self._chunk.startswith(self._separator, end - 1 - self._chunk_at):
            return end + self._step
        return self._comma(end, b"]")

    def _comma(self, at: int, end: bytes) -> int:
        """Skip the comma before the next member, or stay at the bracket that ends the list."""
        at = self._gap(at)
        char = self._byte(at)
        if char == end:
            return at
        if char != b",":
            raise BrokenTextError(at)
        at = self._gap(at + 1)
        if self._byte(at) == end:  # a trailing comma
            raise BrokenTextError(at)
        return at

    # --- one element ---

    def _take(self, at: int) -> tuple[bytes, object]:
        piece = self._guess(at)
        if piece:
            try:
                value = from_json(piece, allow_inf_nan=False, cache_strings="keys")
            except ValueError:
                self._guesses_left -= 1
            else:
                return self._require_valid(at, piece), value
        piece = self._exact(at)
        try:
            value = from_json(piece, allow_inf_nan=False, cache_strings="keys")
            return self._require_valid(at, piece), value
        except ValueError:
            raise BrokenTextError(at, in_value=True) from None

    def _guess(self, at: int) -> bytes:
        """Return the bytes up to the next separator; empty if no guess is possible."""
        if not self._separator or not self._guesses_left:
            return b""
        start = at - self._chunk_at
        end = self._chunk.find(self._separator, start)
        if end < 0:
            self._load(at, CHUNK)
            start, end = 0, self._chunk.find(self._separator)
        if end < 0:
            self._guesses_left -= 1
            return b""
        return self._chunk[start : end + 1]

    def _learn_separator(self, last: int, at: int) -> bytes:
        """Return the bytes between two elements, from the last byte of one to the first of the next: `},\\n    {`.

        With a line end and indentation they cannot occur inside an element; otherwise append the first key of the next one.
        """
        between = self.data.read(last, at + 1)
        if not between.startswith(b"}") or not between.endswith(b"{"):
            return b""
        if b"\n" in between.partition(b",")[2] and between[-2:-1] in {b" ", b"\t"}:
            return between
        key = _FIRST_KEY.match(self.data.read(at, at + 256))
        return between[:-1] + key[0] if key else b""

    def _exact(self, at: int) -> bytes:
        """Return the bytes of the value at `at`; the parser finds their end."""
        size = 16 << 10
        while True:
            chunk = self.data.read(at, at + size)
            is_last = at + len(chunk) >= self.data.size
            end = _value_end(chunk, whole=is_last)
            if end:
                return chunk[:end]
            if is_last or size >= LARGEST_ELEMENT:
                raise BrokenTextError(at, in_value=True)
            size *= 8

    def _require_valid(self, at: int, piece: bytes) -> bytes:
        if not self._chunk_at <= at <= at + len(piece) <= self._chunk_at + len(self._chunk):
            self._load(at, max(CHUNK, len(piece)))
        if self._suspect and has_refused_values(piece):
            raise BrokenTextError(at, in_value=True)
        return piece

    def _small(self, at: int) -> tuple[object, int]:
        piece = self._require_valid(at, self._exact(at))
        try:
            return from_json(piece, allow_inf_nan=False), at + len(piece)
        except ValueError:
            raise BrokenTextError(at, in_value=True) from None

    # --- bytes ---

    def _load(self, at: int, size: int) -> None:
        self._chunk, self._chunk_at = self.data.read(at, at + size), at
        self._suspect = is_suspect(self._chunk)

    def _byte(self, at: int) -> bytes:
        offset = at - self._chunk_at
        if not 0 <= offset < len(self._chunk):
            if at >= self.data.size:
                raise BrokenTextError(at)
            self._load(at, CHUNK)
            offset = 0
        return self._chunk[offset : offset + 1]

    def _gap(self, at: int) -> int:
        while at < self.data.size:
            self._byte(at)
            gap = _GAP.match(self._chunk, at - self._chunk_at)
            at = self._chunk_at + (gap.end() if gap else 0)
            if at < self._chunk_at + len(self._chunk):
                break
        return at

    def _expect(self, at: int, char: bytes) -> None:
        if self._byte(at) != char:
            raise BrokenTextError(at)


def _value_end(chunk: bytes, *, whole: bool) -> int:
    """Return the end of the first JSON value of `chunk`; 0 if the value is broken or cut off."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(chunk, final=whole)
        _, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    if end == len(text) and not whole:  # a number may continue
        return 0
    return len(text[:end].encode())


_DECODER = json.JSONDecoder()


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable the garbage collector in a bulk pass: it takes two thirds of the time, and there are no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class LineCounter:
    """Converts byte offsets of a large file to lines and columns; fast for rising offsets."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._at = start_of(data)
        self._start = self._at
        self._line, self._column = 1, 1

    def place(self, offset: int) -> Place:
        """Return the line and column of the byte at `offset`."""
        if offset < self._at:
            self._at, self._line, self._column = self._start, 1, 1
        while self._at < offset:
            chunk = self._data.read(self._at, min(offset, self._at + CHUNK))
            if not chunk:
                break
            self._at += len(chunk)
            if breaks := chunk.count(b"\n"):
                self._line += breaks
                self._column = 1
                chunk = chunk[chunk.rfind(b"\n") + 1 :]
            self._column += len(chunk.translate(None, _CONTINUATION))
        return Place(self._line, self._column)
