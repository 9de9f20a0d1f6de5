"""What all of this room shares: a place in a text, a problem at a place, and the error that carries them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from proctor.errors import EvalFileError

Severity = Literal["error", "warning"]
Path_ = tuple["str | int", ...]  # where a value is inside a document: keys and list positions from the root

_SHOWN = 20  # problems listed in an error's message; `problems` has them all


class Place(NamedTuple):
    """A line and a column in a text, both counted from 1; a column is a character."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or doubtful, in a file.

    `field` is the path inside the document (`eval_cases[3].eval_id`), empty for the document as a whole or where the
    text itself is broken. `hint` says what to do next; it may be empty.
    """

    severity: Severity
    file: str
    line: int
    column: int
    field: str
    message: str
    hint: str = ""

    def __post_init__(self) -> None:
        """Pieces of a file are quoted in all of these: what must not reach a terminal is escaped here, once."""
        for name in ("field", "message", "hint"):
            text = getattr(self, name)
            if not text.isprintable():
                object.__setattr__(self, name, ascii_controls(text))

    def __str__(self) -> str:
        """`file:line:column: error: field: message (hint)`, the form editors and terminals make clickable."""
        return f"{self._place}: {self.severity}: {self._text}"

    @property
    def said(self) -> str:
        """The same without its severity, for where that is said already."""
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
    """Build the error for a file that cannot be read; its message lists the problems in the order of the file."""
    ordered = sorted(problems, key=lambda problem: (problem.file, problem.line, problem.column))
    errors = [problem for problem in ordered if problem.severity == "error"]
    lines = [str(problem) for problem in islice(errors, _SHOWN)]
    if len(errors) > _SHOWN:
        lines.append(f"… and {len(errors) - _SHOWN} more problems")
    return EvalFileError("\n".join(lines), ordered)


class SourceText:
    """A text with a name, able to say which line and column an offset is.

    `first` is the place of the text's first character: a piece of a larger file starts further down.
    """

    __slots__ = ("_breaks", "first", "name", "text")

    def __init__(self, name: str, text: str, first: Place | None = None) -> None:
        self.name = name
        self.text = text
        self.first = first or Place(1, 1)
        self._breaks: list[int] | None = None

    def place(self, offset: int) -> Place:
        """Line and column of the character at `offset` (one past the end is allowed)."""
        if self._breaks is None:
            self._breaks = [found.start() for found in re.finditer("\n", self.text)]
        row = bisect_right(self._breaks, offset - 1)
        if row == 0:
            return Place(self.first.line, self.first.column + offset)
        return Place(self.first.line + row, offset - self._breaks[row - 1])

    def problem(
        self, offset: int, message: str, hint: str = "", *, field: str = "", severity: Severity = "error"
    ) -> Problem:
        """Build the problem at `offset`."""
        line, column = self.place(offset)
        return Problem(severity, self.name, line, column, field, message, hint)


def field_name(path: Sequence[str | int]) -> str:
    """Write a path as people read it: `eval_cases[3].session_input.state["odd key"]`."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.replace("-", "_").isidentifier():
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{shown(step)}]")
    return "".join(parts)


def shown(text: str, limit: int = 60) -> str:
    """Quote a piece of a file for a message: escaped, on one line, not longer than `limit` characters."""
    quoted = ascii_controls(text if len(text) <= limit else text[: limit - 1] + "…")
    return f"“{quoted}”"


def ascii_controls(text: str) -> str:
    """Escape what must not reach a terminal: control characters, lone surrogates, direction overrides."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
