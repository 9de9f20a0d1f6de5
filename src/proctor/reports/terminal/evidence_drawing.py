"""Evidence on a terminal: expected left, actual right, one line a step."""

from __future__ import annotations

from functools import singledispatchmethod

from rich.table import Column
from rich.text import Text

from proctor.reports.content.symbols import DiffKind
from proctor.reports.content.text_blocks import (
    HELD,
    NOT_SET,
    Cause,
    DiffPiece,
    Evidence,
    EvidenceBlock,
    Findings,
    JudgeFinding,
    OmittedLines,
    RecordedFact,
    Remark,
    Section,
    StateDifference,
    StateLine,
    StepLine,
    Steps,
    TextDifference,
)
from proctor.reports.terminal.console import (
    ACTUAL_COLOR,
    EXPECTED_COLOR,
    INDENT,
    LABEL,
    STEP_STYLES,
    STYLES,
    TWO_COLUMNS_FROM,
    Page,
)

_EXPECTED = (f"bold {EXPECTED_COLOR} underline", ("[-", "-]"))
_ACTUAL = (f"bold {ACTUAL_COLOR} underline", ("{+", "+}"))


class EvidenceDrawing:
    """Draws the evidence of one case below its row."""

    def __init__(self, page: Page, evidence: Evidence) -> None:
        self._page = page
        self._evidence = evidence

    def draw(self) -> None:
        """Draw one trial after the other."""
        for trial in self._evidence.trials:
            if self._evidence.of > 1:
                number = self._page.text(f"{trial.trial + 1} of {self._evidence.of}", "bold")
                self._draw_labelled("trial", number, "bold")
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
        if self._page.width < TWO_COLUMNS_FROM:
            self._draw_stacked(block)
            return
        sides = [Column(width=self._page.call_width, overflow="fold") for _ in range(2)]
        grid = self._page.grid(Column(width=LABEL - 2, no_wrap=True), *sides)
        grid.add_row(
            self._page.text(head, "bold"), Text("expected", EXPECTED_COLOR), Text("actual", ACTUAL_COLOR)
        )
        for line in block.lines:
            grid.add_row(*self._step(line))
        self._page.print(grid, indent=INDENT)

    def _step(self, line: StepLine | OmittedLines) -> tuple[Text, Text, Text]:
        if isinstance(line, OmittedLines):
            return Text(), self._page.text(f"… {line.count} more that match", "dim"), Text()
        mark = Text(f"  {self._page.marks.steps[line.kind]}", STEP_STYLES[line.kind])
        expected, actual = self._sides(line)
        return mark, expected, actual

    def _sides(self, line: StepLine) -> tuple[Text, Text]:
        style = "" if line.kind is DiffKind.DIFFERS else STEP_STYLES[line.kind]
        expected = self._page.pieces(line.expected, style, *_EXPECTED)
        actual = self._page.pieces(line.actual, style, *_ACTUAL)
        if line.places is not None:
            expected_place, actual_place = line.places
            narrow = self._page.width < TWO_COLUMNS_FROM
            expected.append(
                f"  expected as call {expected_place}, made as call {actual_place}"
                if narrow
                else f"  as call {expected_place}",
                "dim",
            )
            actual.append(f"  as call {actual_place}", "dim")
        if line.kind is DiffKind.ALLOWED:
            (actual if line.actual else expected).append("  allowed", "dim")
        return expected, actual

    def _draw_stacked(self, block: Steps) -> None:
        """For narrow pages: the actual call of a differing step is below the expected one."""
        grid = self._page.grid(Column(width=LABEL - 2, no_wrap=True), Column(overflow="fold"))
        for line in block.lines:
            mark, expected, actual = self._step(line)
            grid.add_row(mark, expected if expected.plain else actual)
            if isinstance(line, StepLine) and line.kind is DiffKind.DIFFERS:
                grid.add_row(Text(f"  {self._page.marks.arrow}", "dim"), actual)
        self._page.print(grid, indent=INDENT)

    @_draw.register
    def _text(self, block: TextDifference, head: str) -> None:
        for label, color, pieces, style in (
            ("expected", EXPECTED_COLOR, block.expected, _EXPECTED),
            ("actual", ACTUAL_COLOR, block.actual, _ACTUAL),
        ):
            text = self._page.pieces(pieces, "", *style)
            self._draw_labelled(label, text if text.plain else Text("(no text)", "dim"), color)

    @_draw.register
    def _state(self, block: StateDifference, head: str) -> None:
        for index, line in enumerate(block.lines):
            self._draw_labelled("state" if index == 0 else "", self._state_line(line))

    def _state_line(self, line: StateLine) -> Text:
        expected, actual = (
            [DiffPiece(value or NOT_SET, changed=True)] for value in (line.expected, line.actual)
        )
        return Text.assemble(
            self._page.text(f"{line.key}: "),
            self._page.pieces(expected, "", *_EXPECTED),
            f" {self._page.marks.arrow} ",
            self._page.pieces(actual, "", *_ACTUAL),
        )

    @_draw.register
    def _findings(self, block: Findings, head: str) -> None:
        names = [len(line.name) for line in block.lines if isinstance(line, JudgeFinding)]
        widest = min(max(names, default=0), (self._page.width - INDENT - LABEL) // 3)
        label = Column(width=LABEL - 2, no_wrap=True)
        grid = self._page.grid(label, Column(width=1), Column(width=widest), Column(overflow="fold"))
        for index, line in enumerate(block.lines):
            grid.add_row(Text("" if index else block.label, "dim"), *self._finding(line))
        self._page.print(grid, indent=INDENT)

    def _finding(self, line: JudgeFinding | OmittedLines) -> tuple[Text, Text, Text]:
        if isinstance(line, OmittedLines):
            return Text(), Text(), self._page.text(f"… {line.count} more that hold", "dim")
        outcome = HELD[line.holds]
        text = self._page.prose(line.text)
        if line.why:
            text.append("\n").append_text(self._page.prose(line.why, "dim"))
        style = STYLES[outcome]
        return Text(self._page.marks.outcome(outcome), style), self._page.text(line.name, style), text

    @_draw.register
    def _cause(self, block: Cause, head: str) -> None:
        if block.error:
            self._draw_labelled("cause", self._page.text(f"{block.what}: {block.error}", "yellow"))
        if block.place:
            self._draw_labelled("at", self._page.text(block.place))
        if block.code:
            self._draw_labelled("", self._page.cut(block.code, self._page.width - INDENT - LABEL, "dim"))

    @_draw.register
    def _note(self, block: Remark, head: str) -> None:
        text = block.text if block.label == "warning" else f"{block.label}: {block.text}"
        self._draw_labelled("warning" if block.label == "warning" else "why", self._page.prose(text))

    @_draw.register
    def _fact(self, block: RecordedFact, head: str) -> None:
        self._draw_labelled(block.label, self._page.text(block.text, lines=True))

    def _draw_labelled(self, label: str, text: Text, style: str = "dim") -> None:
        self._page.print_labelled(Text(label, style), text, indent=INDENT)
