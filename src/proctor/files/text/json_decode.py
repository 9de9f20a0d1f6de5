"""Bytes to text to value: strict JSON at C speed, and what people write instead of JSON when strict reading fails.

Read: UTF-8, with or without a byte-order mark; `#` and `//` comments and trailing commas, with a warning. Refused with
their place: other encodings, NaN and Infinity, numbers too large to hold, half characters, NUL, nesting beyond 200 levels.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from proctor.files.text.problems import Place, Problem, SourceText, file_error

_BOM = codecs.BOM_UTF8
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Digits become 0, E becomes e, + goes: then an exponent of three digits is "0e000", whatever it was.
_NUMBERS_ALIKE = bytes.maketrans(b"123456789E", b"000000000e")
_NUL_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_MAYBE = (b"NaN", b"Infinity", b"\\u0000")


@dataclass(slots=True, eq=False, repr=False)
class JsonText:
    """A text that has been read as JSON.

    `source.text` is the text as it stands in the file; `data` is strict JSON of the same length in characters (comments
    blanked). `has_comments`: rewriting the file would lose them.
    """

    source: SourceText
    data: bytes
    value: Any
    warnings: list[Problem] = field(default_factory=list)
    has_comments: bool = False


def parse(data: bytes, name: str, source: SourceText | None = None) -> JsonText:
    """Read the bytes of one document. `source` is given where the text is a part of a larger one.

    Raises:
        EvalFileError: the bytes are not UTF-8, or the text is not JSON even with comments and trailing commas blanked.
    """
    text = decode(data, name)
    strict = data.removeprefix(_BOM)
    source = source or SourceText(name, text)
    try:
        value = from_json(strict, allow_inf_nan=False)
    except ValueError as error:
        return _parse_tolerantly(source, error)
    if holds_refused(strict):
        from proctor.files.text.json_scanner import scan

        found = scan(source)
        if found.broken:
            raise file_error(found.problems)
    return JsonText(source, strict, value)


def _parse_tolerantly(source: SourceText, cause: ValueError) -> JsonText:
    from proctor.files.text.json_scanner import scan  # only what is wrong needs it

    found = scan(source)
    if found.broken:
        raise file_error(found.problems) from None
    data = blanked(source.text, found.blanks).encode()
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError as error:  # a rule of the fast parser that the scanner does not know
        raise file_error([unexplained(source, error if found.blanks else cause)]) from None
    return JsonText(source, data, value, found.problems, found.has_comments)


def unexplained(source: SourceText, error: ValueError) -> Problem:
    """The fast parser's own words, for what the scanner finds nothing wrong with."""
    place = re.search(r" at line (\d+) column (\d+)$", str(error))
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    message = str(error)[: place.start()] if place else str(error)
    first = source.first
    at = Place(first.line + line - 1, column + (first.column - 1 if line == 1 else 0))
    return Problem("error", source.name, *at, "", f"not readable as JSON: {message}")


def blanked(text: str, blanks: list[tuple[int, int]]) -> str:
    """The text with each (start, end) replaced by as many spaces, so that places stay right."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted(blanks):
        pieces += text[last:start], " " * (end - start)
        last = end
    return "".join([*pieces, text[last:]])


def decode(data: bytes, name: str, *, first: Place | None = None, at: int = 0) -> str:
    """The text of a file, or of a part of it: that starts at `first`, at byte `at` of the file.

    Raises:
        EvalFileError: the bytes are not UTF-8; the message has the byte offset as well as line and column.
    """
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8-sig")
        if 0 not in data:
            return text
    offset, message = _not_utf8(data)
    before = data[:offset].decode("utf-8-sig", "replace")
    place = SourceText(name, before, first).place(len(before))
    hint = "save the file as UTF-8"
    raise file_error([Problem("error", name, *place, "", f"{message}, at byte offset {at + offset}", hint)])


def _not_utf8(data: bytes) -> tuple[int, str]:
    """Where and why bytes are no text in UTF-8."""
    for bom, encoding in _OTHER_ENCODINGS:
        if data.startswith(bom):
            return 0, f"the file is {encoding}"
    if (nul := data.find(0)) >= 0:
        return nul, "the file holds NUL bytes: UTF-16 without a mark, or not a text"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from after the byte-order mark.
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        return offset, f"byte 0x{data[offset]:02X} is not UTF-8"
    raise ValueError("the bytes are a text in UTF-8")


def holds_refused(data: bytes) -> bool:
    """Whether bytes that the fast parser takes hold what we refuse all the same: NaN, Infinity, 1e999, NUL."""
    if not is_suspect(data):
        return False
    try:
        json.loads(data, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return True
    return _NUL_ESCAPE.search(data) is not None


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(digits)
    return value


def is_suspect(data: bytes) -> bool:
    """Whether the bytes *may* hold what `holds_refused` looks for.

    Cheap, and wrong on the safe side: a text that speaks of NaN is looked at again.
    """
    if any(word in data for word in _MAYBE):
        return True
    alike = data.translate(_NUMBERS_ALIKE, b"+")
    return b"0e000" in alike or _LONG_NUMBER in alike


_LONG_NUMBER = b"0" * 300
