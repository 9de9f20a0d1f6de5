"""The text of a report before it has a form: facts, notes, groups of cases, tables, lines, evidence and a verdict.

A report builds its blocks once. `terminal/block_drawing`, `plain` and `formats/markdown_blocks` render them.
A block has its text for people, and a `record`: the fields of its line in the plain form, which programs read. Where the
two forms differ, a block without a record is for people only, and `Record` is for programs only. The blocks of evidence come first: their texts are
unchanged, and the renderers escape unsafe characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from proctor.reports.content.symbols import ASCII, DiffKind, Marks
from proctor.schema.results.score import Outcome


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A stretch of text; `changed` where the two sides differ in it."""

    text: str
    changed: bool = False


Pieces = list[DiffPiece]


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of a trajectory: the expected call, the actual one, or both."""

    kind: DiffKind
    expected: Pieces = field(default_factory=list)
    actual: Pieces = field(default_factory=list)
    places: tuple[int, int] | None = None
    """The expected and the actual position of a moved call, from 1."""


@dataclass(frozen=True, slots=True)
class OmittedLines:
    """The number of lines that are left out."""

    count: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Two trajectories side by side."""

    lines: list[StepLine | OmittedLines]


@dataclass(frozen=True, slots=True)
class TextDifference:
    """An expected and an actual text."""

    expected: Pieces
    actual: Pieces


NOT_SET = "not set"
"""The text for a key that is not in the state."""


@dataclass(frozen=True, slots=True)
class StateLine:
    """One key of the session state, or one inside of it: `table.covers`."""

    key: str
    kind: DiffKind
    expected: str
    actual: str
    """Both as JSON; empty on the side without the key."""


@dataclass(frozen=True, slots=True)
class StateDifference:
    """The final session state where it differs from the expected one."""

    lines: list[StateLine]


@dataclass(frozen=True, slots=True)
class JudgeFinding:
    """The verdict of a judge on one rubric, point or sentence."""

    holds: bool | None
    """`None`: no verdict."""
    name: str
    """The rubric's id; a sentence's label."""
    text: str
    """The condition, or the sentence."""
    why: str = ""


HELD = {True: Outcome.PASSED, False: Outcome.FAILED, None: Outcome.INCONCLUSIVE}
"""The outcome whose sign a finding has."""


@dataclass(frozen=True, slots=True)
class Findings:
    """The verdicts of a judge on several rubrics, points or sentences."""

    label: str
    """`rubrics` or `claims`."""
    lines: list[JudgeFinding | OmittedLines]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something could not be computed."""

    what: str
    """The component that failed, and how: `agent raised`."""
    error: str
    """The exception: `KeyError: 'covers'`."""
    place: str = ""
    """The last line of the user's own code: `agent.py:42 in book_table`."""
    code: str = ""
    """The source code of that line."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence with its label: `why`, `warning`, `not applicable`."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class RecordedFact:
    """A recorded fact with its label: `call`, `answer`, `scores`."""

    label: str
    text: str


EvidenceBlock = Steps | TextDifference | StateDifference | Findings | Cause | Remark | RecordedFact


@dataclass(slots=True)
class Section:
    """The evidence of one turn (from 0), or of a whole trial (`turn` is `None`)."""

    turn: int | None
    user_text: str = ""
    """The user's message in this turn, if the evidence has it."""
    blocks: list[EvidenceBlock] = field(default_factory=list)


@dataclass(slots=True)
class TrialEvidence:
    """The evidence of one trial (from 0)."""

    trial: int
    sections: list[Section] = field(default_factory=list)

    def section(self, turn: int | None) -> Section:
        """Return the section of a turn; it is added if there is none."""
        section = next((section for section in self.sections if section.turn == turn), None)
        if section is None:
            section = Section(turn)
            self.sections.append(section)
        return section


# --- the blocks of every report ---------------------------------------------------------------------------------------

LONGEST_CALL = 64
"""Characters of a call above which its unchanged arguments give way to `…`, unless a form has more room."""

Role = Literal["", "strong", "dim", "warning", "good", "bad", "error", "undecided", "active"]
"""What a text means to the reader; a terminal shows it as a colour or a weight."""
OUTCOME_ROLES: dict[Outcome, Role] = {
    Outcome.PASSED: "good",
    Outcome.FAILED: "bad",
    Outcome.ERROR: "error",
    Outcome.INCONCLUSIVE: "undecided",
}


def outcome_role(outcome: Outcome) -> Role:
    """Return the role of a text about this outcome."""
    return OUTCOME_ROLES.get(outcome, "dim")


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The properties of a form that the text depends on."""

    marks: Marks = ASCII
    width: int = 80
    """Columns of the page."""
    verbose: bool = False
    longest_call: int = LONGEST_CALL
    """See `LONGEST_CALL`."""


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A stretch of text with one meaning."""

    text: str
    role: Role = ""
    drawn: str | None = None
    """A shorter text for a terminal: signs instead of counts, a metric's short name."""
    is_data: bool = False
    """Whether the text comes from a file, an agent or a model: Markdown shows it as code and hides secrets."""
    is_prose: bool = False
    """Whether names between backticks are emphasised."""
    keeps_lines: bool = False
    """Whether line ends are kept."""


Spans = Sequence[TextSpan]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; its spans follow each other without a gap."""

    spans: Spans
    indent: int = 0
    record: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A line that only programs read."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line between two parts of a page."""

    is_everywhere: bool = False
    """Whether the plain form has it, too."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled line: the parts are separated by dots."""

    label: str
    parts: Sequence[Spans]
    record: tuple[str, ...] = ()
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A labelled sentence: a difference, a warning, what was left out."""

    label: str
    text: str
    role: Role = ""
    """Of the label."""
    is_data: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the case above ended so; a terminal shows two lines of it unless everything is asked for."""

    label: str
    text: str
    prefix: str = ""
    """What people read before the text."""
    role: Role = "dim"


@dataclass(frozen=True, slots=True)
class GroupedCase:
    """A case in a group."""

    name: str
    parts: Sequence[Spans]
    notes: Sequence[Reason | Line | Record] = ()
    """Below the case."""
    above: Sequence[Line] = ()
    """What this case and the next ones have in common."""
    drawn_name: str | None = None
    record: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """Cases under a heading with their number; of many, the first ones are named."""

    heading: str
    role: Role
    items: Sequence[GroupedCase]
    most: int
    is_open: bool = False
    """Whether Markdown shows the cases without a click."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    heading: str = ""
    right: bool = False
    wraps: bool = False
    is_cut: bool = False
    """Whether its texts may be cut where the page is narrow."""
    is_name: bool = False
    """Whether its texts are on separate lines where the page has too little room for names next to the other columns."""
    is_drawn: bool = True
    """Whether a terminal has room for it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: one text for each column."""

    cells: Sequence[Spans]
    record: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Rows in columns; the headings are shown if any column has one.

    The plain form has the records of the rows. A table whose rows have none is the same in every form.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    indent: int = 0
    is_plain: bool = True
    """Whether the plain form has the table; other records may state the same."""

    def filled_columns(self) -> list[int]:
        """Return the indexes of the columns that are drawn and not empty."""
        return [
            index
            for index, column in enumerate(self.columns)
            if column.is_drawn and any(row.cells[index] for row in self.rows)
        ]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome as a sign, a word and a sentence; Markdown begins with it."""

    sign: str
    sentence: str
    """Begins with the word and a colon."""
    role: Role
    record: tuple[str, ...] = ()
    data: str = ""
    """The part of the sentence that comes from elsewhere."""


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to paste into a file."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What trials of a case did, compared with what was expected."""

    trials: Sequence[TrialEvidence]
    of: int = 1
    """The number of all trials of the case."""
    is_drawn: bool = True
    """Whether people see it; a terminal leaves out what repeats another trial."""


Block = Line | Record | Gap | Fact | Note | Reason | CaseGroup | Table | Verdict | Code | Evidence
BuildBlocks = Callable[[TextStyle], Iterable[Block]]


def text_line(text: str, indent: int = 0, role: Role = "") -> Line:
    """Return a line that is the same in every form."""
    return Line([TextSpan(text, role)], indent, record=(" " * indent + text,))


def text_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: int = 2) -> Table:
    """Return a table of plain texts that is the same in every form."""
    return Table(columns, [Row([[TextSpan(text)] for text in row]) for row in rows], indent)


def join_with_dots(parts: Iterable[TextSpan | Spans], style: TextStyle) -> Iterator[TextSpan]:
    """Return parts with dots between them."""
    for index, part in enumerate(parts):
        if index:
            yield TextSpan(f" {style.marks.dot} ", "dim")
        yield from [part] if isinstance(part, TextSpan) else part
