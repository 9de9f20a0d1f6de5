"""The evidence of a case as blocks, independent of its form.

The texts in blocks are unchanged; the renderer escapes unsafe characters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.reports.evidence.diff_kind import Kind

__all__ = [
    "NOT_SET", "Block", "Cause", "Fact", "Finding", "Findings", "Kind", "LeftOut", "Note", "Piece", "Pieces", "Section", "StateDifference",
    "StateLine", "StepLine", "Steps", "TextDifference", "TrialEvidence",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `changed` where the two sides differ in it."""

    text: str
    changed: bool = False


Pieces = list[Piece]


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step of a trajectory: the expected call, the actual one, or both."""

    kind: Kind
    expected: Pieces = field(default_factory=list)
    actual: Pieces = field(default_factory=list)
    places: tuple[int, int] | None = None
    """The expected and the actual position of a moved call, from 1."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The number of lines that are left out."""

    count: int


@dataclass(frozen=True, slots=True)
class Steps:
    """Two trajectories side by side."""

    lines: list[StepLine | LeftOut]


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
    kind: Kind
    expected: str
    actual: str
    """Both as JSON; empty on the side without the key."""


@dataclass(frozen=True, slots=True)
class StateDifference:
    """The final session state where it differs from the expected one."""

    lines: list[StateLine]


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict of a judge on one rubric, point or sentence."""

    holds: bool | None
    """`None`: no verdict."""
    name: str
    """The rubric's id; a sentence's label."""
    text: str
    """The condition, or the sentence."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """The verdicts of a judge on several rubrics, points or sentences."""

    label: str
    """`rubrics` or `claims`."""
    lines: list[Finding | LeftOut]


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
class Note:
    """A sentence with its label: `why`, `warning`, `not applicable`."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A recorded fact with its label: `call`, `answer`, `scores`."""

    label: str
    text: str


Block = Steps | TextDifference | StateDifference | Findings | Cause | Note | Fact


@dataclass(slots=True)
class Section:
    """The evidence of one turn (from 0), or of a whole trial (`turn` is `None`)."""

    turn: int | None
    said: str = ""
    """The user's message in this turn, if the evidence has it."""
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class TrialEvidence:
    """The evidence of one trial (from 0)."""

    trial: int
    sections: list[Section] = field(default_factory=list)
