"""Text blocks on a terminal: colours for roles, signs for outcomes, tables that fit the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import TextIO

from rich.table import Column as RichColumn
from rich.text import Text

from proctor.common.inline_code import shorten_prose
from proctor.common.safe_text import cells
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.text_blocks import (
    Block,
    BuildBlocks,
    CaseGroup,
    Code,
    Column,
    Evidence,
    Fact,
    Gap,
    GroupedCase,
    Line,
    Note,
    Reason,
    Record,
    Role,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    Verdict,
)
from proctor.reports.terminal.console import LABEL, STYLES, Page
from proctor.reports.terminal.evidence_drawing import EvidenceDrawing
from proctor.schema.results.score import Outcome

_ROLE_STYLES: dict[Role, str] = {
    "": "",
    "strong": "bold",
    "dim": "dim",
    "warning": "yellow",
    "good": STYLES[Outcome.PASSED],
    "bad": STYLES[Outcome.FAILED],
    "error": STYLES[Outcome.ERROR],
    "undecided": STYLES[Outcome.INCONCLUSIVE],
    "active": "cyan",
}
_GAP = 2
"""Columns of the screen between two columns of a table."""
_SHARE_OF_NAMES = 0.36
_LONG_NAME = 28
"""Names that are longer than this and their share of the page's width may have several lines."""
_FEWEST_OF_TEXT = 8
"""The columns of the screen that a text which wraps or is cut keeps."""
_ITEM_INDENT = 4
_REASON_INDENT = 8
_REASON_LINES = 2


def draw_blocks(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Draw the blocks on `out`; without colour not one escape sequence is written."""
    page = Page(out, options)
    style = TextStyle(page.marks, page.width, bool(options.verbose), page.call_width)
    drawing = _BlockDrawing(page, style)
    for block in build(style):
        drawing.draw(block)


class _BlockDrawing:
    def __init__(self, page: Page, style: TextStyle) -> None:
        self._page = page
        self._verbose = style.verbose

    @singledispatchmethod
    def draw(self, block: Block) -> None:
        raise TypeError(f"no drawing for {type(block).__name__}")

    @draw.register
    def _(self, block: Line) -> None:
        self._page.print(self._text(block.spans), indent=2 + block.indent)

    @draw.register
    def _(self, block: Record) -> None:
        """Programs read it, people do not."""

    @draw.register
    def _(self, block: Gap) -> None:
        self._page.print()

    @draw.register
    def _(self, block: Code) -> None:
        for line in block.text.splitlines():
            self._page.print(self._page.text(line), indent=_ITEM_INDENT)

    @draw.register
    def _(self, block: Fact) -> None:
        indent = 2 + block.indent
        text = self._page.filled(map(self._text, block.parts), self._page.width - indent - LABEL)
        self._page.print_labelled(Text(block.label, "dim"), text, indent=indent)

    @draw.register
    def _(self, block: Note) -> None:
        label = Text(block.label, _ROLE_STYLES[block.role])
        self._page.print_labelled(label, self._page.prose(block.text))

    @draw.register
    def _(self, block: Reason) -> None:
        self._draw_reason(block, _REASON_INDENT)

    def _draw_reason(self, block: Reason, indent: int) -> None:
        text = self._page.safe(block.prefix + block.text)
        if not self._verbose:
            text = shorten_prose(text, _REASON_LINES * (self._page.width - indent), mark=self._page.marks.cut)
        self._page.print(self._page.prose(text, _ROLE_STYLES[block.role]), indent=indent)

    @draw.register
    def _(self, block: CaseGroup) -> None:
        heading = self._page.text(block.heading, _ROLE_STYLES[block.role])
        self._page.print(Text.assemble((f"{len(block.items):,} ", "bold"), heading))
        visible_items = block.items if self._verbose else block.items[: block.most]
        names = [item.name if item.drawn_name is None else item.drawn_name for item in visible_items]
        width = min(max(map(cells, names)), self._page.width // 3)
        for name, item in zip(names, visible_items, strict=True):
            self._draw_item(item, name, width)
        if len(visible_items) < len(block.items):
            more = f"… {len(block.items) - len(visible_items):,} more (-v: all)"
            self._page.print(self._page.text(more, "dim"), indent=_ITEM_INDENT)

    def _draw_item(self, item: GroupedCase, name: str, width: int) -> None:
        for line in item.above:
            self._page.print(self._text(line.spans), indent=_ITEM_INDENT)
        text = self._page.text(name, "bold")
        text.append(" " * max(2, width + 2 - text.cell_len))
        for index, part in enumerate(item.parts):
            text.append("   " if index else "").append_text(self._text(part))
        self._page.print(text, indent=_ITEM_INDENT)
        for note in item.notes:
            self.draw(note)

    @draw.register
    def _(self, block: Table) -> None:
        indexes = block.filled_columns()
        columns = [block.columns[index] for index in indexes]
        rows = [
            [self._cell(row.cells[index], block.columns[index]) for index in indexes] for row in block.rows
        ]
        if any(column.heading for column in columns):
            rows.insert(0, [self._heading(column) for column in columns])
        widths = [max(map(_text_width, texts)) for texts in zip(*rows, strict=True)]
        name = next((index for index, column in enumerate(columns) if column.is_name), None)
        if name is None or self._has_room(widths, name, block.indent):
            fitted = _fitted(columns, rows, widths, self._page.width - 2 - block.indent)
            grid = map(_rich_column, columns, widths, fitted)
            self._draw_grid(grid, rows, 2 + block.indent)
        else:
            self._draw_below_names(columns, rows, widths, name, block.indent)

    def _has_room(self, widths: Sequence[int], name: int, indent: int) -> bool:
        """Return whether the rows fit if long names have several lines."""
        least = min(widths[name], max(_LONG_NAME, int(_SHARE_OF_NAMES * self._page.width)))
        others = sum(widths) - widths[name] + _GAP * (len(widths) - 1) + 2 + indent
        return least + others <= self._page.width

    def _heading(self, column: Column) -> Text:
        heading = self._page.text(column.heading, "dim", lines=True)
        heading.no_wrap = column.is_cut
        return heading

    def _draw_below_names(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Text]],
        widths: Sequence[int],
        name: int,
        indent: int,
    ) -> None:
        """Draw each row below a line with its first cells, up to its name: for a narrow terminal."""
        others = [row[name + 1 :] for row in rows]
        fitted = _fitted(columns[name + 1 :], others, widths[name + 1 :], self._page.width - 4 - indent)
        for row in rows:
            names = [cell for cell in row[: name + 1] if cell.plain]
            if names:
                self._page.print(Text(" ").join(names), indent=2 + indent)
            rest = (
                RichColumn(justify="right" if column.right else "left", width=width, overflow="fold")
                for column, width in zip(columns[name + 1 :], fitted, strict=True)
            )
            self._draw_grid(rest, [row[name + 1 :]], 4 + indent)

    def _draw_grid(self, columns: Iterable[RichColumn], rows: Iterable[Sequence[Text]], indent: int) -> None:
        grid = self._page.grid(*columns)
        for row in rows:
            grid.add_row(*row)
        if grid.row_count:
            self._page.print(grid, indent=indent)

    @draw.register
    def _(self, block: Evidence) -> None:
        if block.is_drawn:
            EvidenceDrawing(self._page, block).draw()

    @draw.register
    def _(self, block: Verdict) -> None:
        word, _, sentence = block.sentence.partition(": ")
        style = f"bold {_ROLE_STYLES[block.role]}"
        self._page.print(Text.assemble((f"{block.sign} {word}", style), ": ", self._page.text(sentence)))

    def _cell(self, spans: Spans, column: Column) -> Text:
        text = self._text(spans)
        if column.is_cut:
            text.no_wrap = True
            text.overflow = "ellipsis" if self._page.marks_are_rich else "crop"
        return text

    def _text(self, spans: Spans) -> Text:
        text = Text()
        for span in spans:
            text.append_text(self._span(span))
        return text

    def _span(self, span: TextSpan) -> Text:
        text = span.text if span.drawn is None else span.drawn
        style = _ROLE_STYLES[span.role]
        return (
            self._page.prose(text, style)
            if span.is_prose
            else self._page.text(text, style, lines=span.keeps_lines)
        )


def _text_width(text: Text) -> int:
    return max(map(cells, text.plain.split("\n")))


def _rich_column(column: Column, width: int, fitted: int) -> RichColumn:
    is_narrower = fitted < width
    return RichColumn(
        justify="right" if column.right else "left",
        no_wrap=not (column.wraps or column.is_cut or is_narrower),
        overflow="fold" if column.wraps or is_narrower else "ellipsis",
        width=fitted if is_narrower else None,
    )


def _fitted(
    columns: Sequence[Column], rows: Sequence[Sequence[Text]], widths: Sequence[int], room: int
) -> list[int]:
    """Return the widths of the columns if texts that wrap or are cut have not enough to give: others wrap between words.

    No number is cut. The columns in which the fewest texts wrap give way first.
    """
    texts = [[row[index] for row in rows] for index in range(len(columns))]
    flexible = {index for index, column in enumerate(columns) if column.wraps or column.is_cut}
    room_of_texts = sum(max(0, widths[index] - _FEWEST_OF_TEXT) for index in flexible)
    excess = sum(widths) + _GAP * (len(widths) - 1) - room - room_of_texts
    fitted = [*widths]
    least = [max(map(_longest_word, column), default=0) for column in texts]

    def wrapped(index: int) -> int:
        return sum(_text_width(text) > max(least[index], widths[index] - excess) for text in texts[index])

    for index in sorted(set(range(len(columns))) - flexible, key=wrapped):
        cut = max(0, min(excess, widths[index] - least[index]))
        fitted[index] -= cut
        excess -= cut
    return fitted


def _longest_word(text: Text) -> int:
    return max(map(cells, text.plain.split()), default=0)
