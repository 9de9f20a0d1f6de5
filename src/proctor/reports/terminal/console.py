"""The console of reports: rich, with all text escaped before rich sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.containers import Lines
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from proctor.common.inline_code import code_parts
from proctor.common.safe_text import clean, encodable, shorten
from proctor.reports.base import ReportOptions, wants_color
from proctor.reports.content.symbols import DiffKind, marks_for
from proctor.reports.content.text_blocks import Pieces
from proctor.schema.results.run_result import Outcome

STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.ERROR: "yellow",
    Outcome.INCONCLUSIVE: "magenta",
}
FLAKY_STYLE = "yellow"
EXPECTED_COLOR = "red"
ACTUAL_COLOR = "green"
"""As in a diff, and on the page: expected is red with `-`, actual is green with `+`."""
STEP_STYLES = {
    DiffKind.SAME: "dim",
    DiffKind.DIFFERS: "bold",
    DiffKind.MISSING: EXPECTED_COLOR,
    DiffKind.EXTRA: ACTUAL_COLOR,
    DiffKind.MOVED: "magenta",
    DiffKind.ALLOWED: "dim",
}
_NARROWEST = 40
INDENT = 6
"""Columns before the evidence of a case."""
LABEL = 10
"""Columns of a label before its text."""
TWO_COLUMNS_FROM = 84
"""Columns of a page that shows expected and actual calls side by side."""


class Page:
    """The page of a report: its width, colour and signs; it escapes every text."""

    def __init__(self, out: TextIO, options: ReportOptions) -> None:
        plain = not wants_color(options)
        self.console = Console(
            file=out,
            width=options.width,
            color_system=None if plain else "256" if options.color else "auto",
            force_terminal=True if options.color else None,
            no_color=plain,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self.console.width = max(self.console.width, _NARROWEST)
        encoding = getattr(out, "encoding", None) or "utf-8"
        self.marks = marks_for(encoding, symbols=options.symbols)
        self._encoding = encoding if self.marks_are_rich or options.symbols is None else "ascii"

    @property
    def marks_are_rich(self) -> bool:
        """Whether signs beyond ASCII are used."""
        return not self.marks.cut.isascii()

    @property
    def width(self) -> int:
        """Columns of the page."""
        return self.console.width

    @property
    def has_styles(self) -> bool:
        """Whether colour and weight reach the reader; without them, differences are put into brackets."""
        return self.console.color_system is not None

    def safe(self, text: str, *, lines: bool = False) -> str:
        """Return `text` as it may reach this terminal."""
        text = clean(text, lines=lines)
        if not self.marks_are_rich:
            text = text.replace("…", "...").replace("→", "->")
        return encodable(text, self._encoding)

    def text(self, text: str, style: str | Style = "", *, lines: bool = False) -> Text:
        """Return cleaned text."""
        return Text(self.safe(text, lines=lines), style)

    def cut(self, text: str, width: int, style: str = "") -> Text:
        """Return cleaned text of at most `width` columns."""
        return Text(shorten(self.safe(text), width, mark=self.marks.cut), style)

    def prose(self, text: str, style: str = "") -> Text:
        """Return cleaned text in which text between backticks is bold instead."""
        safe = self.safe(text)
        if not self.has_styles:
            return Text(safe, style)
        line = Text(style=style)
        for part, is_code in code_parts(safe):
            line.append(part, "bold" if is_code else "")
        return line

    def pieces(self, pieces: Pieces, style: str, changed: str, brackets: tuple[str, str]) -> Text:
        """Return text with its changed stretches in their own style, or in brackets where no style is seen."""
        line = Text(style=style)
        for piece in pieces:
            safe = self.safe(piece.text, lines=True)
            if piece.changed and not self.has_styles:
                safe = f"{brackets[0]}{safe}{brackets[1]}"
            line.append(safe, changed if piece.changed else "")
        return line

    @property
    def call_width(self) -> int:
        """How many columns a call in evidence has before it wraps."""
        room = self.width - INDENT - LABEL
        return room if self.width < TWO_COLUMNS_FROM else (room - 3) // 2

    def print_labelled(self, label: Text, text: Text, *, indent: int = 2) -> None:
        """Print a text that wraps next to its label."""
        grid = self.grid(Column(width=LABEL - 1, no_wrap=True), Column(overflow="fold"))
        grid.padding = (0, 1, 0, 0)
        grid.add_row(label, text)
        self.print(grid, indent=indent)

    def filled(self, parts: Iterable[Text], width: int) -> Text:
        """Return texts with dots between them, in lines of at most `width` columns that end between two of them."""
        lines = [Text()]
        for part in parts:
            if not lines[-1].cell_len:
                lines[-1] = part
            elif lines[-1].cell_len + 3 + part.cell_len > width:
                lines.append(part)
            else:
                lines[-1] = self.joined([lines[-1], part])
        return Text("\n").join(lines)

    def joined(self, parts: Iterable[Text]) -> Text:
        """Return texts in a line, with dots between."""
        line = Text()
        for index, part in enumerate(parts):
            if index:
                line.append(f" {self.marks.dot} ", "dim")
            line.append_text(part)
        return line

    def print(self, what: RenderableType = "", *, indent: int = 2) -> None:
        """Print one thing, indented; it wraps within the page."""
        if what == "":
            self.console.print()
            return
        renderable = WrappedText.of(what) if isinstance(what, Text) else what
        padded = Padding(renderable, (0, 0, 0, indent), expand=False)
        for line in self.console.render_lines(padded, pad=False):
            self.console.print(
                Segments([*_without_trailing_space(line), Segment.line()]), end="", soft_wrap=True
            )

    def grid(self, *columns: Column) -> Table:
        """Return a table without lines, its columns two apart."""
        return _Grid(
            *columns, box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, collapse_padding=True
        )


_ATOM = re.compile(r"[+-]?\d[\d.,:]*\d|\w[\w.@-]*\w|.", re.DOTALL)
"""A name or a number, within which no line ends; else one character."""


class WrappedText(Text):
    """Text in which a word that is longer than the line is broken between names and numbers, not inside of them."""

    @classmethod
    def of(cls, text: Text) -> WrappedText:
        """Return the same text."""
        wrapped = cls(style=text.style, justify=text.justify, overflow=text.overflow, no_wrap=text.no_wrap)
        wrapped.append_text(text)
        return wrapped

    def wrap(self, console: Console, width: int, *args: Any, **options: Any) -> Lines:
        """Return the lines."""
        longest = max(map(cell_len, self.plain.split()), default=0)
        parts = self.divide(_breaks(self.plain, width)) if longest > width else [self]
        return Text("\n").join(parts).wrap(console, width, *args, **options)


def _breaks(text: str, width: int) -> list[int]:
    """Return where words that are longer than `width` are broken."""
    offsets = []
    for word in re.finditer(r"\S+", text):
        used = 0
        for atom in _ATOM.finditer(text, *word.span()):
            length = cell_len(atom[0])
            if used and used + length > width:
                offsets.append(atom.start())
                used = 0
            used += length
    return offsets


class _Grid(Table):
    """A table whose texts wrap between names."""

    def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
        """Add a row."""
        super().add_row(
            *(WrappedText.of(cell) if isinstance(cell, Text) else cell for cell in cells), **options
        )


def _without_trailing_space(line: list[Segment]) -> list[Segment]:
    """Return a line without trailing blanks, for copying from the terminal."""
    segments = list(line)
    while segments and not segments[-1].control:
        text = segments[-1].text.rstrip(" ")
        if text:
            return [*segments[:-1], Segment(text, segments[-1].style)]
        segments.pop()
    return segments
