"""A slow JSON scanner that reports *where* a text is wrong.

The fast parser reports only that a text is broken. This scanner does not recurse and answers two questions: which problems
does the text have, and which characters must be blanked so that it becomes JSON (comments, trailing commas)? It runs only
if there is something to report. `json_tree` locates values.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from proctor.files.text.problems import Path_, Problem, SourceText, field_name, quote

MAX_DEPTH = 200  # the limit of ADK's own parser
MAX_DIGITS = 4300  # the limit of Python's `int(text)`

_GAP = re.compile(r"[ \t\r\n]*")
_GAP_STARTS = frozenset(" \t\r\n#/")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*"')
_WORD = re.compile(r"""[^\s{}\[\]:,"]+""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|[^"\\/bfnrtu])')
_OPENING = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Scan:
    """The result of a scan.

    `problems`: errors and warnings. `blanks`: (start, end) of harmless text that is not JSON.
    """

    problems: list[Problem] = field(default_factory=list)
    blanks: list[tuple[int, int]] = field(default_factory=list)
    has_comments: bool = False
    duplicate_keys: list[tuple[Path_, Problem]] = field(default_factory=list)
    """The problems about duplicate keys, each with the path of its object."""

    @property
    def is_broken(self) -> bool:
        """Whether the text cannot be read, even with `blanks` blanked."""
        return any(problem.severity == "error" for problem in self.problems)


def scan(source: SourceText) -> Scan:
    """Scan a whole text for problems."""
    scanner = _Scanner(source)
    try:
        scanner.run()
    except _StopScanError as stop:
        scanner.findings.problems.append(stop.problem)
    return scanner.findings


class _StopScanError(Exception):
    """The text is broken here; further problems would only be consequences."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
class _Open:
    """An open bracket: its kind, its offset, the keys so far, and the offset of the last comma."""

    bracket: str
    start: int
    keys: dict[str, int] = field(default_factory=dict)
    comma: int = -1


class _Scanner:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.end = len(source.text)
        self.findings = Scan()
        self.stack: list[_Open] = []
        self.path: list[str | int] = []
        self.at = 0
        self.has_warned_of_comments = self.has_warned_of_commas = False

    # --- traversal ---

    def run(self) -> None:
        self.skip_gap()
        if self.at == self.end:
            raise self.stop(0, "the file is empty", "eval sets and configs are JSON objects: `{ … }`")
        self.value()
        while self.stack:
            self.step()
        self.skip_gap()
        if self.at < self.end:
            self.extra_text()

    def step(self) -> None:
        """Read one member of the innermost open bracket, or its end."""
        inner = self.stack[-1]
        self.skip_gap()
        char = self.text[self.at : self.at + 1]
        if char == "":
            raise self.end_of_text(inner)
        if char in "}]":
            self.close(inner, char)
        elif inner.comma == -1:
            self.member(inner)
        else:
            self.comma_then_member(inner, char)

    def comma_then_member(self, inner: _Open, char: str) -> None:
        if char != ",":
            raise self.no_comma(inner)
        inner.comma = self.at
        self.at += 1
        self.skip_gap()
        if self.text[self.at : self.at + 1] not in {"}", "]"}:
            if self.at < self.end:
                self.member(inner)
            return
        self.findings.blanks.append((inner.comma, inner.comma + 1))
        if not self.has_warned_of_commas:
            self.has_warned_of_commas = True
            self.warn(inner.comma, "a trailing comma is not JSON", "ADK refuses this file; remove the comma")

    def member(self, inner: _Open) -> None:
        if self.text[self.at] == ",":
            raise self.stop(
                self.at, "expected a value, got a comma", "remove the comma, or put a value before it"
            )
        if inner.bracket == "[":
            last = self.path[-1]
            self.path[-1] = last + 1 if isinstance(last, int) else 0
            inner.comma = self.end  # the next member needs a comma before it
            self.value()
            return
        self.path[-1] = self.key(inner)
        inner.comma = self.end
        self.skip_gap()
        if self.text[self.at : self.at + 1] != ":":
            raise self.stop(self.at, f"expected `:` after the key {quote(str(self.path[-1]))}, {self.got()}")
        self.at += 1
        self.skip_gap()
        self.value()

    def key(self, inner: _Open) -> str:
        start = self.at
        if self.text[start] != '"':
            raise self.stop(
                start, f"expected a key in double quotes, {self.got()}", key_hint(self.text[start])
            )
        key = self.string()
        if key in inner.keys:
            first = self.source.place(inner.keys[key])
            self.warn(
                start,
                f"the key {quote(key)} appears twice in one object; the first is at {first.line}:{first.column}",
                "the later value is used; remove one of them",
            )
            self.findings.duplicate_keys.append((tuple(self.path[:-1]), self.findings.problems[-1]))
        else:
            inner.keys[key] = start
        return key

    def value(self) -> None:
        char = self.text[self.at : self.at + 1]
        if char in _OPENING:
            self.open(char)
        elif char == '"':
            self.string()
        elif char in {"", "}", "]", ",", ":"}:
            raise self.stop(self.at, f"expected a value, {self.got()}")
        else:
            self.word()

    def open(self, char: str) -> None:
        if len(self.stack) == MAX_DEPTH:
            raise self.stop(
                self.at, f"nested deeper than {MAX_DEPTH} levels", "no eval file is; was it generated?"
            )
        self.stack.append(_Open(char, self.at))
        self.path.append("")
        self.at += 1

    def close(self, inner: _Open, char: str) -> None:
        if char != _OPENING[inner.bracket]:
            opened = self.source.place(inner.start)
            raise self.stop(
                self.at,
                f"`{char}` does not close the `{inner.bracket}` opened at {opened.line}:{opened.column}",
                f"expected `{_OPENING[inner.bracket]}`",
            )
        self.stack.pop()
        self.path.pop()
        self.at += 1

    def skip_gap(self) -> None:
        """Skip white space and comments. Record each comment, and warn of the first one."""
        while self.text[self.at : self.at + 1] in _GAP_STARTS:
            gap = _GAP.match(self.text, self.at)
            self.at = gap.end() if gap else self.at
            if not self.text.startswith(("#", "//"), self.at):
                return
            stop = self.text.find("\n", self.at)
            stop = self.end if stop < 0 else stop
            self.findings.blanks.append((self.at, stop))
            self.findings.has_comments = True
            if not self.has_warned_of_comments:
                self.has_warned_of_comments = True
                self.warn(self.at, "comments are not JSON", "ADK refuses this file; remove the comments")
            self.at = stop

    # --- strings and words ---

    def string(self) -> str:
        """Skip a string and return its text. A broken one stops the scan."""
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.stop(*broken_string(self.text, self.at))
        start, self.at = self.at, match.end()
        raw = self.text[start + 1 : self.at - 1]
        if "\\" not in raw:
            return raw
        escape = _BAD_ESCAPE.search(raw.replace("\\\\", "__"))
        if escape:
            text = quote(raw[escape.start() : escape.end() + (4 if raw[escape.end() - 1] == "u" else 0)])
            raise self.stop(
                start + 1 + escape.start(), f"{text} is not an escape of JSON", "write a backslash as `\\\\`"
            )
        text, lone, nul = unescape(raw)
        for offset in lone:
            self.lone_surrogate(start + 1 + offset)
        for offset in nul:
            self.error(start + 1 + offset, "a string contains NUL (`\\u0000`)", "remove it")
        return text

    def lone_surrogate(self, offset: int) -> None:
        escape = self.text[offset : offset + 6]
        self.error(
            offset,
            f"{escape} is half a character (a lone surrogate)",
            "write the whole character, or both halves",
        )

    def word(self) -> None:
        """Read a number, true, false, null, or a word that is not JSON."""
        start = self.at
        match = _WORD.match(self.text, start)
        word = match[0] if match else self.text[start]
        for mark in ("//", "#"):
            word = word.partition(mark)[0] or word
        self.at = start + len(word)
        if word in LITERALS:
            return
        if _NUMBER.fullmatch(word):
            self.number(start, word)
        elif word in NOT_FINITE:
            self.error(start, f"JSON has no number {word}", "write a finite number, or null")
        else:
            raise self.stop(start, *strange_word(word))

    def number(self, start: int, word: str) -> None:
        integer = not any(char in word for char in ".eE")
        if integer and len(word.lstrip("-")) > MAX_DIGITS:
            self.error(start, f"a number with {len(word)} digits", f"the limit is {MAX_DIGITS} digits")
        elif not integer and math.isinf(float(word)):
            self.error(start, f"the number {quote(word, 20)} is too large", "the largest is about 1.8e308")

    # --- problems ---

    def stop(self, offset: int, message: str, hint: str = "") -> _StopScanError:
        return _StopScanError(self.source.problem(offset, message, hint, field=self.field()))

    def error(self, offset: int, message: str, hint: str) -> None:
        self.findings.problems.append(self.source.problem(offset, message, hint, field=self.field()))

    def warn(self, offset: int, message: str, hint: str) -> None:
        self.findings.problems.append(self.source.problem(offset, message, hint, severity="warning"))

    def field(self) -> str:
        path = self.path[:-1] if self.path and self.path[-1] == "" else self.path
        return field_name(path[:12]) + ("…" if len(path) > 12 else "")

    def got(self) -> str:
        match = _STRING.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if self.at >= self.end:
            return "but the text ends here"
        return f"got {quote((match[0] if match else self.text[self.at]).strip(chr(34)), 30)}"

    def no_comma(self, inner: _Open) -> _StopScanError:
        kind = "object" if inner.bracket == "{" else "list"
        if self.text[self.at] == ":" and inner.bracket == "[":
            return self.stop(self.at, "`:` inside a list", "keys and values belong in `{` `}`")
        return self.stop(
            self.at,
            f"expected `,` or `{_OPENING[inner.bracket]}` in this {kind}, {self.got()}",
            'is a comma missing before it, or a quote not escaped as `\\"`?',
        )

    def end_of_text(self, inner: _Open) -> _StopScanError:
        opened = self.source.place(inner.start)
        return self.stop(
            self.end,
            f"the text ends inside the `{inner.bracket}` opened at {opened.line}:{opened.column}",
            f"`{_OPENING[inner.bracket]}` is missing; was the file cut off?",
        )

    def extra_text(self) -> None:
        hint = "a file contains one document"
        if self.text[self.at] in "{[":
            hint = "this looks like JSON lines, one case per line: name the file .jsonl"
        raise self.stop(self.at, f"text after the end of the document: {self.got()}", hint)


# --- words and strings, and common mistakes in them -------------------------------------------------------------------


ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)")
_NUMBER_LIKE = re.compile(r"[+-]?\.?[0-9]")
_SOUND_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*')
LITERALS = frozenset({"true", "false", "null"})
_OTHER_LANGUAGES = {
    "True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null",
    "undefined": "null", "nil": "null", "yes": "true", "no": "false",
}  # fmt: skip
NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity", "+Infinity", "nan", "inf", "-inf"})


def unescape_char(escape: str, code: int) -> str:
    """Return the character of an escape; `code` is that of a `\\u` escape, otherwise -1."""
    if code >= 0:
        return chr(code)
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(escape[1], escape[1])


def unescape(raw: str) -> tuple[str, list[int], list[int]]:
    """Return the text of a string with escapes, the offsets of its lone surrogates, and those of NUL."""
    pieces: list[str] = []
    lone: list[int] = []
    nul: list[int] = []
    last, pending = 0, -1  # pending: the offset of a high surrogate without its second half
    for match in ESCAPE.finditer(raw):
        code = int(match[1], 16) if match[1] else -1
        is_second = 0xDC00 <= code < 0xE000
        is_pair = pending >= 0 and is_second and match.start() == last
        if pending >= 0 and not is_pair:
            lone.append(pending)
        if is_second and not is_pair:
            lone.append(match.start())
        if code == 0:
            nul.append(match.start())
        pending = match.start() if 0xD800 <= code < 0xDC00 else -1
        pieces += raw[last : match.start()], unescape_char(match[0], code)
        last = match.end()
    if pending >= 0:
        lone.append(pending)
    text = "".join([*pieces, raw[last:]])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), lone, nul


def key_hint(char: str) -> str:
    """Return the hint for a key that starts with `char` instead of a double quote."""
    if char == "'":
        return "JSON uses double quotes"
    return "put the key in double quotes" if char.isalpha() or char == "_" else ""


def broken_string(text: str, start: int) -> tuple[int, str, str]:
    """Return the offset at which the string at `start` breaks, the message and the hint."""
    sound = _SOUND_STRING.match(text, start)
    stop = sound.end() if sound else start
    beginning = quote(text[start + 1 : stop], 40)
    char = text[stop : stop + 1]
    if char == "\\" and stop + 1 < len(text):
        char = text[stop + 1]
    if char in {"\n", "\r"}:
        return start, f"the text {beginning} is broken by a line end", "close the quote, or write `\\n`"
    if char in {"", "\\"}:
        return start, f"the text {beginning} has no closing quote", ""
    return (
        stop,
        f"a string contains the control character U+{ord(char):04X}",
        f"write it as `\\u{ord(char):04x}`",
    )


def strange_word(word: str) -> tuple[str, str]:
    """Return the message and the hint for a word that is not a JSON value."""
    if word in _OTHER_LANGUAGES:
        return f"{quote(word)} is not JSON", f"JSON writes `{_OTHER_LANGUAGES[word]}`"
    if word[0] in "'‘’“”`":
        return f"{quote(word, 30)} is not in double quotes", 'JSON uses straight double quotes: "text"'
    if word.startswith("/*"):
        return "comments of this kind are not read", "use `//` or `#`, or none: JSON has no comments"
    if _NUMBER_LIKE.match(word):
        return f"{quote(word, 30)} is not a number as JSON writes it", "as in 1, -1, 0.5, 1e6"
    if word.startswith("<"):
        return (
            f"this looks like HTML or XML ({quote(word, 30)}), not JSON",
            "was a web page saved in place of the file?",
        )
    return f"expected a value, got {quote(word, 30)}", "text goes in double quotes"


def string_offsets(text: str) -> tuple[str, list[int]]:
    """Return the text inside the JSON string `text`, and the offset in `text` of each of its characters and of its end."""
    start = text.index('"') + 1
    stop = text.rindex('"')
    raw = text[start:stop]
    inner: list[str] = []
    offsets: list[int] = []
    last = 0
    for match in ESCAPE.finditer(raw):
        inner.append(raw[last : match.start()])
        offsets += range(start + last, start + match.start())
        last = match.end()
        inner.append(unescape_char(match[0], int(match[1], 16) if match[1] else -1))
        offsets.append(start + match.start())
    inner.append(raw[last:])
    offsets += range(start + last, stop + 1)
    joined = "".join(inner)
    if not any(0xD800 <= ord(char) < 0xE000 for char in joined):
        return joined, offsets
    return _join_surrogates(joined, offsets)


def _join_surrogates(text: str, offsets: list[int]) -> tuple[str, list[int]]:
    text_offsets = [
        offset
        for index, offset in enumerate(offsets)
        if not (index and index < len(text) and 0xDC00 <= ord(text[index]) < 0xE000)
    ]
    return text.encode("utf-16", "surrogatepass").decode("utf-16"), text_offsets
