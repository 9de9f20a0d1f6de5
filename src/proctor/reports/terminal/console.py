"""The console of reports: rich, with all text escaped before rich sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.style import Style
from rich.table import Column, Table
from rich.text import Text

from proctor.common.safe_text import clean, encodable, shorten
from proctor.reports.base import ReportOptions, wants_color
from proctor.reports.content.symbols import Kind, marks_for
from proctor.reports.content.text_blocks import Pieces
from proctor.schema.results.run_result import Outcome

STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "red",
    Outcome.ERROR: "yellow",
    Outcome.INCONCLUSIVE: "magenta",
}
FLAKY_STYLE = "yellow"
STEP_STYLES = {
    Kind.SAME: "dim",
    Kind.DIFFERS: "red",
    Kind.MISSING: "red",
    Kind.EXTRA: "yellow",
    Kind.MOVED: "magenta",
}
_CODE = re.compile(r"`([^`]+)`")
_NARROWEST = 40


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
        found = Text(style=style)
        for index, part in enumerate(_CODE.split(safe)):
            found.append(part, "bold" if index % 2 else "")
        return found

    def pieces(self, pieces: Pieces, style: str, changed: str, brackets: tuple[str, str]) -> Text:
        """Return text with its changed stretches in their own style, or in brackets where no style is seen."""
        found = Text(style=style)
        for piece in pieces:
            safe = self.safe(piece.text, lines=True)
            if piece.changed and not self.has_styles:
                safe = f"{brackets[0]}{safe}{brackets[1]}"
            found.append(safe, changed if piece.changed else "")
        return found

    def joined(self, parts: Iterable[Text]) -> Text:
        """Return texts in a line, with dots between."""
        found = Text()
        for index, part in enumerate(parts):
            if index:
                found.append(f" {self.marks.dot} ", "dim")
            found.append_text(part)
        return found

    def print(self, what: RenderableType = "", *, indent: int = 2) -> None:
        """Print one thing, indented; it wraps within the page."""
        if what == "":
            self.console.print()
            return
        padded = Padding(what, (0, 0, 0, indent), expand=False)
        for line in self.console.render_lines(padded, pad=False):
            self.console.print(
                Segments([*_without_trailing_space(line), Segment.line()]), end="", soft_wrap=True
            )

    def grid(self, *columns: Column) -> Table:
        """Return a table without lines, its columns two apart."""
        return Table(
            *columns, box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False, collapse_padding=True
        )


def _without_trailing_space(line: list[Segment]) -> list[Segment]:
    """Return a line without trailing blanks, for copying from the terminal."""
    kept = list(line)
    while kept and not kept[-1].control:
        text = kept[-1].text.rstrip(" ")
        if text:
            return [*kept[:-1], Segment(text, kept[-1].style)]
        kept.pop()
    return kept
