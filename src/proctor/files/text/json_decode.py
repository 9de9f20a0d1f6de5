"""Decode bytes to text and to JSON values. Strict JSON is parsed at C speed; if that fails, common deviations are accepted.

Accepted: UTF-8 with or without a byte-order mark; `#` and `//` comments and trailing commas, with a warning. Refused with
a position: other encodings, NaN and Infinity, numbers that overflow, lone surrogates, NUL, nesting beyond 200 levels.
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

from proctor.files.text.problems import START, Place, Problem, SourceText, file_error

_BOM = codecs.BOM_UTF8
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Maps digits to 0, E to e and drops +: every exponent of three digits then reads "0e000".
_NUMBERS_ALIKE = bytes.maketrans(b"123456789E", b"000000000e")
_NUL_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_MAYBE = (b"NaN", b"Infinity", b"\\u0000")


@dataclass(slots=True, eq=False, repr=False)
class JsonText:
    """A text that was parsed as JSON.

    `source.text` is the text of the file; `data` is strict JSON with the same number of characters (comments are replaced
    by spaces). `has_comments`: rewriting the file would lose comments.
    """

    source: SourceText
    data: bytes
    value: Any
    warnings: list[Problem] = field(default_factory=list)
    has_comments: bool = False


def parse(data: bytes, name: str, source: SourceText | None = None) -> JsonText:
    """Parse the bytes of one document. Pass `source` if the text is part of a larger one.

    Raises:
        EvalFileError: the bytes are not UTF-8, or the text is not JSON even without comments and trailing commas.
    """
    text = decode(data, name)
    strict = data.removeprefix(_BOM)
    source = source or SourceText(name, text)
    try:
        value = from_json(strict, allow_inf_nan=False)
    except ValueError as error:
        return _parse_tolerantly(source, error)
    if has_refused_values(strict):
        from proctor.files.text.json_scanner import scan

        findings = scan(source)
        if findings.is_broken:
            raise file_error(findings.problems)
    return JsonText(source, strict, value)


def _parse_tolerantly(source: SourceText, cause: ValueError) -> JsonText:
    from proctor.files.text.json_scanner import scan  # loaded only if strict parsing fails

    findings = scan(source)
    if findings.is_broken:
        raise file_error(findings.problems) from None
    data = fill_with_spaces(source.text, findings.blanks).encode()
    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError as error:  # the fast parser refuses what the scanner accepts
        raise file_error([parser_problem(source, error if findings.blanks else cause)]) from None
    return JsonText(source, data, value, findings.problems, findings.has_comments)


def parser_problem(source: SourceText, error: ValueError) -> Problem:
    """Return the message of the fast parser as a problem, for a text in which the scanner finds none."""
    place = re.search(r" at line (\d+) column (\d+)$", str(error))
    line, column = (int(place[1]), int(place[2])) if place else (1, 1)
    message = str(error)[: place.start()] if place else str(error)
    first = source.first
    at = Place(first.line + line - 1, column + (first.column - 1 if line == 1 else 0))
    return Problem("error", source.name, *at, "", f"not readable as JSON: {message}")


def fill_with_spaces(text: str, blanks: list[tuple[int, int]]) -> str:
    """Replace each (start, end) by as many spaces, so that offsets do not change."""
    pieces: list[str] = []
    last = 0
    for start, end in sorted(blanks):
        pieces += text[last:start], " " * (end - start)
        last = end
    return "".join([*pieces, text[last:]])


def decode(data: bytes, name: str, *, first: Place = START, at: int = 0) -> str:
    """Decode a file, or a part of it that starts at `first`, at byte `at` of the file.

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
    """Return the offset and the reason why bytes are not UTF-8 text."""
    for bom, encoding in _OTHER_ENCODINGS:
        if data.startswith(bom):
            return 0, f"the file is {encoding}"
    if (nul := data.find(0)) >= 0:
        return nul, "the file contains NUL bytes: UTF-16 without a byte-order mark, or not a text file"
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec does not count the byte-order mark.
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        return offset, f"byte 0x{data[offset]:02X} is not UTF-8"
    raise ValueError("the bytes are UTF-8 text")


def has_refused_values(data: bytes) -> bool:
    """Whether JSON that the fast parser accepts contains a value that Proctor refuses: NaN, Infinity, 1e999, NUL."""
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
    """Whether the bytes *may* contain a value that `has_refused_values` finds.

    A quick test without false negatives: a text that merely mentions NaN is also suspect.
    """
    if any(word in data for word in _MAYBE):
        return True
    alike = data.translate(_NUMBERS_ALIKE, b"+")
    return b"0e000" in alike or _LONG_NUMBER in alike


_LONG_NUMBER = b"0" * 300
