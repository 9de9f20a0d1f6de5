"""Positions in a text, problems at a position, and the error that carries them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from proctor.common.safe_text import cut_text
from proctor.errors import EvalFileError

Severity = Literal["error", "warning"]
Path_ = tuple["str | int", ...]  # keys and list positions from the root of a document to a value

_MAX_LISTED = 20  # problems in the message of an error; its `problems` contains all


class Place(NamedTuple):
    """A line and a column of a text, both counted from 1; columns count characters."""

    line: int
    column: int


START = Place(1, 1)
"""The position of the first character of a file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or warning about a file.

    `field` is the path inside the document (`eval_cases[3].eval_id`); it is empty for the document as a whole and for a
    syntax error. `hint` states what to do next and may be empty.
    """

    severity: Severity
    file: str
    line: int
    column: int
    field: str
    message: str
    hint: str = ""

    def __post_init__(self) -> None:
        """Escape characters that must not reach a terminal: all of these fields quote pieces of files."""
        for name in ("field", "message", "hint"):
            text = getattr(self, name)
            if not text.isprintable():
                object.__setattr__(self, name, ascii_controls(text))

    def __str__(self) -> str:
        """Return `file:line:column: error: field: message (hint)`, which editors and terminals make clickable."""
        return f"{self._place}: {self.severity}: {self._text}"

    @property
    def without_severity(self) -> str:
        """The same without the severity."""
        return f"{self._place}: {self._text}"

    @property
    def _place(self) -> str:
        return f"{ascii_controls(self.file)}:{self.line}:{self.column}"

    @property
    def _text(self) -> str:
        field = f"{self.field}: " if self.field else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{field}{self.message}{hint}"


def file_error(problems: Iterable[Problem]) -> EvalFileError:
    """Return the error for a file that cannot be read; its message lists the problems in the order of the file."""
    ordered = sorted(problems, key=lambda problem: (problem.file, problem.line, problem.column))
    errors = [problem for problem in ordered if problem.severity == "error"]
    lines = [str(problem) for problem in islice(errors, _MAX_LISTED)]
    if len(errors) > _MAX_LISTED:
        lines.append(f"… and {len(errors) - _MAX_LISTED} more problems")
    return EvalFileError("\n".join(lines), ordered)


@dataclass(slots=True, eq=False)
class SourceText:
    """A text with a name, which converts offsets to lines and columns."""

    name: str
    text: str
    first: Place = START
    """The position of the first character: a piece of a larger file does not start at 1:1."""
    _breaks: list[int] | None = None

    def place(self, offset: int) -> Place:
        """Return the line and column of the character at `offset` (one past the end is allowed)."""
        if self._breaks is None:
            self._breaks = [match.start() for match in re.finditer("\n", self.text)]
        row = bisect_right(self._breaks, offset - 1)
        if row == 0:
            return Place(self.first.line, self.first.column + offset)
        return Place(self.first.line + row, offset - self._breaks[row - 1])

    def problem(
        self, offset: int, message: str, hint: str = "", *, field: str = "", severity: Severity = "error"
    ) -> Problem:
        """Return the problem at `offset`."""
        line, column = self.place(offset)
        return Problem(severity, self.name, line, column, field, message, hint)


def field_name(path: Sequence[str | int]) -> str:
    """Format a path: `eval_cases[3].session_input.state["odd key"]`."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.replace("-", "_").isidentifier():
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{quote(step)}]")
    return "".join(parts)


def quote(text: str, limit: int = 60) -> str:
    """Quote a piece of a file for a message: escaped, on one line, not longer than `limit` characters."""
    return f"“{ascii_controls(cut_text(text, limit))}”"


def ascii_controls(text: str) -> str:
    """Escape characters that must not reach a terminal: control characters, lone surrogates, direction overrides."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
