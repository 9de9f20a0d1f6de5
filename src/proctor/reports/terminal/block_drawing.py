"""Text blocks on a terminal: colours for roles, signs for outcomes, tables that fit the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import TextIO

from rich.table import Column as RichColumn
from rich.text import Text

from proctor.common.code_marks import shorten_prose
from proctor.common.safe_text import cells
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.symbols import Kind
from proctor.reports.content.text_blocks import (
    HELD,
    NOT_SET,
    Block,
    BuildBlocks,
    Cause,
    Code,
    Column,
    Detail,
    Evidence,
    EvidenceBlock,
    Fact,
    Finding,
    Findings,
    Gap,
    Group,
    Item,
    LeftOut,
    Line,
    Look,
    Note,
    Piece,
    Reason,
    Record,
    Remark,
    Role,
    Section,
    Span,
    Spans,
    StateDifference,
    StateLine,
    StepLine,
    Steps,
    Table,
    TextDifference,
    Verdict,
)
from proctor.reports.terminal.console import ACTUAL_COLOR, EXPECTED_COLOR, STEP_STYLES, STYLES, Page
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
_LABEL = 10
_ITEM_INDENT = 4
_REASON_INDENT = 8
_REASON_LINES = 2


def draw_blocks(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Draw the blocks on `out`; without colour not one escape sequence is written."""
    page = Page(out, options)
    look = Look(page.marks, page.width, bool(options.verbose))
    drawing = _BlockDrawing(page, look)
    for block in build(look):
        drawing.draw(block)


class _BlockDrawing:
    def __init__(self, page: Page, look: Look) -> None:
        self._page = page
        self._verbose = look.verbose

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
        label, *parts = map(self._text, block.parts)
        self._page.print_parts([Text.assemble((f"{block.label:{_LABEL}}", "dim"), label), *parts])

    @draw.register
    def _(self, block: Note) -> None:
        label = (f"{block.label:{_LABEL}}", _ROLE_STYLES[block.role])
        self._page.print(Text.assemble(label, self._page.prose(block.text)))

    @draw.register
    def _(self, block: Reason) -> None:
        self._draw_reason(block, _REASON_INDENT)

    def _draw_reason(self, block: Reason, indent: int) -> None:
        text = self._page.safe(block.prefix + block.text)
        if not self._verbose:
            text = shorten_prose(text, _REASON_LINES * (self._page.width - indent), mark=self._page.marks.cut)
        self._page.print(self._page.prose(text, _ROLE_STYLES[block.role]), indent=indent)

    @draw.register
    def _(self, block: Group) -> None:
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

    def _draw_item(self, item: Item, name: str, width: int) -> None:
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
        columns = [column for column in block.columns if column.is_drawn]
        rows = self._rows(block, columns)
        widths = [max(cell.cell_len for cell in cells) for cells in zip(*rows, strict=True)]
        has_room = sum(widths) + _GAP * (len(widths) - 1) + 2 + block.indent <= self._page.width
        name = next((index for index, column in enumerate(columns) if column.is_name), None)
        if name is None or has_room:
            self._draw_grid(map(_rich_column, columns), rows, 2 + block.indent)
        else:
            self._draw_below_names(columns, rows, widths, name, block.indent)

    def _rows(self, block: Table, columns: Sequence[Column]) -> list[list[Text]]:
        """Return the cells that are drawn, with the headings first if there are any."""
        rows = [
            [
                self._cell(cell, column)
                for cell, column in zip(row.cells, block.columns, strict=True)
                if column.is_drawn
            ]
            for row in block.rows
        ]
        if any(column.heading for column in columns):
            rows.insert(0, [Text(column.heading, "dim", no_wrap=column.is_cut) for column in columns])
        return rows

    def _draw_below_names(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Text]],
        widths: Sequence[int],
        name: int,
        indent: int,
    ) -> None:
        """Draw each row below a line with its first cells, up to its name: for a narrow terminal."""
        for row in rows:
            names = [cell for cell in row[: name + 1] if cell.plain]
            if names:
                self._page.print(Text(" ").join(names), indent=2 + indent)
            rest = (
                RichColumn(justify="right" if column.right else "left", width=width)
                for column, width in zip(columns[name + 1 :], widths[name + 1 :], strict=True)
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

    def _span(self, span: Span) -> Text:
        text = span.text if span.drawn is None else span.drawn
        style = _ROLE_STYLES[span.role]
        return (
            self._page.prose(text, style)
            if span.is_prose
            else self._page.text(text, style, lines=span.keeps_lines)
        )


def _rich_column(column: Column) -> RichColumn:
    return RichColumn(
        justify="right" if column.right else "left",
        no_wrap=not (column.wraps or column.is_cut),
        overflow="fold" if column.wraps else "ellipsis",
    )


# --- evidence: expected left, actual right, one line a step -----------------------------------------------------------


INDENT = 6
LABEL = 9
_TWO_COLUMNS_FROM = 84
_EXPECTED = (f"bold {EXPECTED_COLOR} underline", ("[-", "-]"))
_ACTUAL = (f"bold {ACTUAL_COLOR} underline", ("{+", "+}"))


def call_width(page: Page) -> int:
    """Return how many columns a call has to itself before it wraps."""
    room = page.width - INDENT - LABEL
    return room if page.width < _TWO_COLUMNS_FROM else (room - 3) // 2


class EvidenceDrawing:
    """Draws the evidence of one case below its row."""

    def __init__(self, page: Page, evidence: Evidence) -> None:
        self._page = page
        self._evidence = evidence

    def draw(self) -> None:
        """Draw one trial after the other."""
        for trial in self._evidence.trials:
            if self._evidence.of > 1:
                count = self._page.text(f"of {self._evidence.of}", "dim")
                self._draw_labelled(f"trial {trial.trial + 1}", count, "bold")
            for section in trial.sections:
                self._draw_section(section)

    def _draw_section(self, section: Section) -> None:
        message = self._page.text(section.user_text, lines=True)
        steps_first = bool(section.blocks) and isinstance(section.blocks[0], Steps)
        if section.turn is not None and (section.user_text or not steps_first):
            message.truncate(
                3 * self._page.width, overflow="ellipsis" if self._page.marks_are_rich else "crop"
            )
            self._draw_labelled(f"turn {section.turn + 1}", message, "bold")
        for block in section.blocks:
            head = f"turn {section.turn + 1}" if section.turn is not None and not section.user_text else ""
            self._draw(block, head)

    @singledispatchmethod
    def _draw(self, block: EvidenceBlock, head: str) -> None:
        raise TypeError(f"no drawing for {type(block).__name__}, {head!r}")

    @_draw.register
    def _steps(self, block: Steps, head: str) -> None:
        if self._page.width < _TWO_COLUMNS_FROM:
            self._draw_stacked(block)
            return
        sides = [RichColumn(width=call_width(self._page), overflow="fold") for _ in range(2)]
        grid = self._page.grid(RichColumn(width=LABEL - 2, no_wrap=True), *sides)
        grid.add_row(
            self._page.text(head, "bold"), Text("expected", EXPECTED_COLOR), Text("actual", ACTUAL_COLOR)
        )
        for line in block.lines:
            grid.add_row(*self._step(line))
        self._page.print(grid, indent=INDENT)

    def _step(self, line: StepLine | LeftOut) -> tuple[Text, Text, Text]:
        if isinstance(line, LeftOut):
            return Text(), self._page.text(f"… {line.count} more that match", "dim"), Text()
        mark = Text(f"  {self._page.marks.steps[line.kind]}", STEP_STYLES[line.kind])
        expected, actual = self._sides(line)
        return mark, expected, actual

    def _sides(self, line: StepLine) -> tuple[Text, Text]:
        style = "" if line.kind is Kind.DIFFERS else STEP_STYLES[line.kind]
        expected = self._page.pieces(line.expected, style, *_EXPECTED)
        actual = self._page.pieces(line.actual, style, *_ACTUAL)
        if line.places is not None:
            expected_place, actual_place = line.places
            narrow = self._page.width < _TWO_COLUMNS_FROM
            expected.append(
                f"  expected as call {expected_place}, made as call {actual_place}"
                if narrow
                else f"  as call {expected_place}",
                "dim",
            )
            actual.append(f"  as call {actual_place}", "dim")
        if line.kind is Kind.ALLOWED:
            (actual if line.actual else expected).append("  allowed", "dim")
        return expected, actual

    def _draw_stacked(self, block: Steps) -> None:
        """For narrow pages: the actual call of a differing step is below the expected one."""
        grid = self._page.grid(RichColumn(width=LABEL - 2, no_wrap=True), RichColumn(overflow="fold"))
        for line in block.lines:
            mark, expected, actual = self._step(line)
            grid.add_row(mark, expected if expected.plain else actual)
            if isinstance(line, StepLine) and line.kind is Kind.DIFFERS:
                grid.add_row(Text(f"  {self._page.marks.arrow}", "dim"), actual)
        self._page.print(grid, indent=INDENT)

    @_draw.register
    def _text(self, block: TextDifference, head: str) -> None:
        for label, color, pieces, look in (
            ("expected", EXPECTED_COLOR, block.expected, _EXPECTED),
            ("actual", ACTUAL_COLOR, block.actual, _ACTUAL),
        ):
            text = self._page.pieces(pieces, "", *look)
            self._draw_labelled(label, text if text.plain else Text("(no text)", "dim"), color)

    @_draw.register
    def _state(self, block: StateDifference, head: str) -> None:
        for index, line in enumerate(block.lines):
            self._draw_labelled("state" if index == 0 else "", self._state_line(line))

    def _state_line(self, line: StateLine) -> Text:
        expected, actual = ([Piece(value or NOT_SET, changed=True)] for value in (line.expected, line.actual))
        return Text.assemble(
            self._page.text(f"{line.key}: "),
            self._page.pieces(expected, "", *_EXPECTED),
            f" {self._page.marks.arrow} ",
            self._page.pieces(actual, "", *_ACTUAL),
        )

    @_draw.register
    def _findings(self, block: Findings, head: str) -> None:
        names = [len(line.name) for line in block.lines if isinstance(line, Finding)]
        widest = min(max(names, default=0), (self._page.width - INDENT - LABEL) // 3)
        label = RichColumn(width=LABEL - 2, no_wrap=True)
        grid = self._page.grid(
            label, RichColumn(width=1), RichColumn(width=widest), RichColumn(overflow="fold")
        )
        for index, line in enumerate(block.lines):
            grid.add_row(Text("" if index else block.label, "dim"), *self._finding(line))
        self._page.print(grid, indent=INDENT)

    def _finding(self, line: Finding | LeftOut) -> tuple[Text, Text, Text]:
        if isinstance(line, LeftOut):
            return Text(), Text(), self._page.text(f"… {line.count} more that hold", "dim")
        outcome = HELD[line.holds]
        text = self._page.prose(line.text)
        if line.why:
            text.append("\n").append_text(self._page.prose(line.why, "dim"))
        style = STYLES[outcome]
        return Text(self._page.marks.outcome(outcome), style), self._page.text(line.name, style), text

    @_draw.register
    def _cause(self, block: Cause, head: str) -> None:
        if block.error not in self._evidence.reason:
            self._draw_labelled("cause", self._page.text(f"{block.what}: {block.error}", "yellow"))
        if block.place:
            self._draw_labelled("at", self._page.text(block.place))
        if block.code:
            self._draw_labelled("", self._page.cut(block.code, self._page.width - INDENT - LABEL, "dim"))

    @_draw.register
    def _note(self, block: Remark, head: str) -> None:
        if block.text and block.text not in self._evidence.reason:
            text = block.text if block.label == "warning" else f"{block.label}: {block.text}"
            self._draw_labelled("warning" if block.label == "warning" else "why", self._page.prose(text))

    @_draw.register
    def _fact(self, block: Detail, head: str) -> None:
        self._draw_labelled(block.label, self._page.text(block.text, lines=True))

    def _draw_labelled(self, label: str, text: Text, style: str = "dim") -> None:
        grid = self._page.grid(RichColumn(width=LABEL - 1, no_wrap=True), RichColumn(overflow="fold"))
        grid.padding = (0, 1, 0, 0)
        grid.add_row(Text(label, style), text)
        self._page.print(grid, indent=INDENT)
