"""Reading JSON text character by character, to say *where* things are and what is wrong with them.

The fast parser knows only that a text is broken. This one is slower, never recurses, and answers three questions: which
problems does the text have, which characters must be blanked so that it becomes JSON (comments, trailing commas), and
where is the value, or the key, of a path. It is used only when there is something to report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from proctor.files.text.lenient_words import (
    LITERALS,
    NOT_FINITE,
    broken_string,
    key_hint,
    strange_word,
    unescape,
)
from proctor.files.text.problems import Path_, Problem, SourceText, field_name, shown

MAX_DEPTH = 200  # what ADK's own parser takes
MAX_DIGITS = 4300  # what Python converts to an integer

_GAP = re.compile(r"[ \t\r\n]*")
_GAP_STARTS = frozenset(" \t\r\n#/")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*"')
_WORD = re.compile(r"""[^\s{}\[\]:,"]+""")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|[^"\\/bfnrtu])')
_OPENING = {"{": "}", "[": "]"}


@dataclass(slots=True)
class Scan:
    """What was found in a text.

    `problems`: what is wrong or doubtful. `blanks`: (start, end) of what is not JSON but harmless. `places`: for each
    path looked for, the offset of its value; `key_places`: the offset of its key.
    """

    problems: list[Problem] = field(default_factory=list)
    blanks: list[tuple[int, int]] = field(default_factory=list)
    places: dict[Path_, int] = field(default_factory=dict)
    key_places: dict[Path_, int] = field(default_factory=dict)
    has_comments: bool = False
    doubled: list[tuple[Path_, Problem]] = field(default_factory=list)
    """Of the problems, keys that stand twice, each with the path of its object."""

    @property
    def broken(self) -> bool:
        """Whether the text cannot be read, even with the blanks blanked."""
        return any(problem.severity == "error" for problem in self.problems)


def scan(source: SourceText) -> Scan:
    """Scan a whole text for problems."""
    scanner = _Scanner(source, frozenset(), ())
    try:
        scanner.run()
    except _StopScanError as stop:
        scanner.found.problems.append(stop.problem)
    return scanner.found


def scan_for(source: SourceText, wanted: Iterable[Path_], *, base: Path_ = ()) -> Scan:
    """Scan a text for the places of `wanted` paths, no further than the last of them.

    The paths start with `base`, the path of the text's own root in a larger document.
    """
    scanner = _Scanner(source, frozenset(wanted), base)
    with suppress(_AllFoundError, _StopScanError):
        scanner.run()
    return scanner.found


class _StopScanError(Exception):
    """The text makes no sense from here on: what follows would only be noise."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _AllFoundError(Exception):
    """All that was looked for has its place."""


@dataclass(slots=True)
class _Open:
    """A bracket that is open: its kind, where it stands, the keys so far, and the last comma."""

    bracket: str
    start: int
    keys: dict[str, int] = field(default_factory=dict)
    comma: int = -1


class _Scanner:
    def __init__(self, source: SourceText, wanted: frozenset[Path_], base: Path_) -> None:
        self.source = source
        self.text = source.text
        self.end = len(source.text)
        self.wanted = wanted
        self.found = Scan()
        self.stack: list[_Open] = []
        self.path: list[str | int] = list(base)
        self.at = 0
        self.said_comments = self.said_commas = False

    # --- the walk ---

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
        """One member of the innermost open bracket, or its end."""
        inner = self.stack[-1]
        self.skip_gap()
        char = self.text[self.at : self.at + 1]
        if char == "":
            self.text_ends(inner)
        elif char in "}]":
            self.close(inner, char)
        elif inner.comma == -1:
            self.member(inner)
        else:
            self.comma_then_member(inner, char)

    def comma_then_member(self, inner: _Open, char: str) -> None:
        if char != ",":
            self.no_comma(inner)
        inner.comma = self.at
        self.at += 1
        self.skip_gap()
        if self.text[self.at : self.at + 1] not in {"}", "]"}:
            if self.at < self.end:
                self.member(inner)
            return
        self.found.blanks.append((inner.comma, inner.comma + 1))
        if not self.said_commas:
            self.said_commas = True
            self.warn(inner.comma, "a trailing comma is not JSON", "ADK refuses this file; remove the comma")

    def member(self, inner: _Open) -> None:
        if self.text[self.at] == ",":
            raise self.stop(
                self.at, "expected a value, got a comma", "remove the comma, or put a value before it"
            )
        if inner.bracket == "[":
            last = self.path[-1]
            self.path[-1] = last + 1 if isinstance(last, int) else 0
            inner.comma = self.end  # from now on a comma is due
            self.value()
            return
        key_at = self.at
        self.path[-1] = self.key(inner)
        inner.comma = self.end
        self.skip_gap()
        if self.text[self.at : self.at + 1] != ":":
            raise self.stop(self.at, f"expected `:` after the key {shown(str(self.path[-1]))}, {self.got()}")
        self.at += 1
        self.skip_gap()
        if self.wanted and tuple(self.path) in self.wanted:
            self.found.key_places[tuple(self.path)] = key_at
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
                f"the key {shown(key)} appears twice in one object; the first is at {first.line}:{first.column}",
                "the later value is used; remove one of them",
            )
            self.found.doubled.append((tuple(self.path[:-1]), self.found.problems[-1]))
        else:
            inner.keys[key] = start
        return key

    def value(self) -> None:
        if self.wanted and tuple(self.path) in self.wanted:
            self.found.places[tuple(self.path)] = self.at
            if len(self.found.places) == len(self.wanted):
                raise _AllFoundError
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
        """Skip white space and comments; comments are noted, the first one as a warning."""
        while self.text[self.at : self.at + 1] in _GAP_STARTS:
            gap = _GAP.match(self.text, self.at)
            self.at = gap.end() if gap else self.at
            if not self.text.startswith(("#", "//"), self.at):
                return
            stop = self.text.find("\n", self.at)
            stop = self.end if stop < 0 else stop
            self.found.blanks.append((self.at, stop))
            self.found.has_comments = True
            if not self.said_comments:
                self.said_comments = True
                self.warn(self.at, "comments are not JSON", "ADK refuses this file; remove the comments")
            self.at = stop

    # --- strings and words ---

    def string(self) -> str:
        """Step over a string and return its text; a broken one stops the scan."""
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.stop(*broken_string(self.text, self.at))
        start, self.at = self.at, match.end()
        raw = self.text[start + 1 : self.at - 1]
        if "\\" not in raw:
            return raw
        bad = _BAD_ESCAPE.search(raw.replace("\\\\", "__"))
        if bad:
            what = shown(raw[bad.start() : bad.end() + (4 if raw[bad.end() - 1] == "u" else 0)])
            raise self.stop(
                start + 1 + bad.start(), f"{what} is not an escape of JSON", "a backslash is written `\\\\`"
            )
        text, lone, nul = unescape(raw)
        for offset in lone:
            self.lone_surrogate(start + 1 + offset)
        for offset in nul:
            self.error(start + 1 + offset, "a string holds NUL (`\\u0000`)", "remove it")
        return text

    def lone_surrogate(self, offset: int) -> None:
        escape = self.text[offset : offset + 6]
        self.error(
            offset,
            f"{escape} is half a character (a lone surrogate)",
            "write the whole character, or both halves",
        )

    def word(self) -> None:
        """A number, true, false, null; or something that is not JSON."""
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
            self.error(start, f"{word} is not a number that JSON has", "write a finite number, or null")
        else:
            raise self.stop(start, *strange_word(word))

    def number(self, start: int, word: str) -> None:
        integer = not any(char in word for char in ".eE")
        if integer and len(word.lstrip("-")) > MAX_DIGITS:
            self.error(start, f"a number with {len(word)} digits", f"at most {MAX_DIGITS} digits can be read")
        elif not integer and math.isinf(float(word)):
            self.error(
                start, f"the number {shown(word, 20)} is too large to be read", "the largest is about 1.8e308"
            )

    # --- saying what is wrong ---

    def stop(self, offset: int, message: str, hint: str = "") -> _StopScanError:
        return _StopScanError(self.source.problem(offset, message, hint, field=self.field()))

    def error(self, offset: int, message: str, hint: str) -> None:
        self.found.problems.append(self.source.problem(offset, message, hint, field=self.field()))

    def warn(self, offset: int, message: str, hint: str) -> None:
        self.found.problems.append(self.source.problem(offset, message, hint, severity="warning"))

    def field(self) -> str:
        path = self.path[:-1] if self.path and self.path[-1] == "" else self.path
        return field_name(path[:12]) + ("…" if len(path) > 12 else "")

    def got(self) -> str:
        match = _STRING.match(self.text, self.at) or _WORD.match(self.text, self.at)
        if self.at >= self.end:
            return "but the text ends here"
        return f"got {shown((match[0] if match else self.text[self.at]).strip(chr(34)), 30)}"

    def no_comma(self, inner: _Open) -> None:
        kind = "object" if inner.bracket == "{" else "list"
        if self.text[self.at] == ":" and inner.bracket == "[":
            raise self.stop(self.at, "`:` inside a list", "keys and values belong in `{` `}`")
        raise self.stop(
            self.at,
            f"expected `,` or `{_OPENING[inner.bracket]}` in this {kind}, {self.got()}",
            'is a comma missing before it, or a quote not escaped as `\\"`?',
        )

    def text_ends(self, inner: _Open) -> None:
        opened = self.source.place(inner.start)
        raise self.stop(
            self.end,
            f"the text ends inside the `{inner.bracket}` opened at {opened.line}:{opened.column}",
            f"`{_OPENING[inner.bracket]}` is missing; was the file cut off?",
        )

    def extra_text(self) -> None:
        hint = "a file holds one document"
        if self.text[self.at] in "{[":
            hint = "this looks like JSON lines, a case a line: then name the file .jsonl"
        raise self.stop(self.at, f"text after the end of the document: {self.got()}", hint)
