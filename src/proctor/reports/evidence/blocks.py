"""What there is to show of a case that did not pass, apart from how and where it is drawn.

The texts in blocks are as they came: whoever draws them cleans them.
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
    """Of a call that was moved: which one it was to be, and which one it was, from 1."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Lines of no interest that are not shown."""

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
"""How a key that is not in the state reads."""


@dataclass(frozen=True, slots=True)
class StateLine:
    """One key of the session state, or one inside of it: `table.covers`."""

    key: str
    kind: Kind
    expected: str
    actual: str
    """Both as JSON; empty on the side that does not have the key."""


@dataclass(frozen=True, slots=True)
class StateDifference:
    """The final session state, where it is not what the case states."""

    lines: list[StateLine]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a judge found for one thing: a rubric, a point, a sentence."""

    holds: bool | None
    """`None`: no verdict."""
    name: str
    """The rubric's id; a sentence's label."""
    text: str
    """What must hold; the sentence."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a judge found, thing by thing."""

    label: str
    """`rubrics` or `claims`."""
    lines: list[Finding | LeftOut]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something could not be computed."""

    what: str
    """Which border was crossed, and how: `agent raised`."""
    error: str
    """The exception: `KeyError: 'covers'`."""
    place: str = ""
    """The last line of the user's own code: `agent.py:42 in book_table`."""
    code: str = ""
    """What stands on that line."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence with its label: `why`, `warning`, `not applicable`."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What was, with its label, whether it is good or bad: `call`, `answer`, `scores`."""

    label: str
    text: str


Block = Steps | TextDifference | StateDifference | Findings | Cause | Note | Fact


@dataclass(slots=True)
class Section:
    """What there is to show of one turn (from 0), or of a trial as a whole (`turn` is `None`)."""

    turn: int | None
    said: str = ""
    """The user's words in this turn, where the evidence has them."""
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class TrialEvidence:
    """What there is to show of one trial (from 0)."""

    trial: int
    sections: list[Section] = field(default_factory=list)
