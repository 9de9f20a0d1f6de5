"""What people say of recorded answers: the labels that a judge is held against."""

from __future__ import annotations

from dataclasses import dataclass

Key = tuple[str, str, int, int, str]
"""One thing in a run that there is a verdict on: set, case, trial and turn (from 0; `WHOLE`: the trial), rubric."""
WHOLE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """What a person says of one trial, of one of its turns, or of one rubric in it."""

    eval_id: str
    passes: bool
    eval_set_id: str = ""
    """Empty: of the one set of the run that has a case of this id."""
    trial: int | None = None
    """From 0; `None`: of the only one."""
    turn: int | None = None
    """From 0; `None`: of the trial as a whole."""
    rubric_id: str = ""
    metric: str = ""
    """Empty: of whichever metric it is held against."""
    note: str = ""
    """Why, in the person's words."""
    place: str = ""
    """`file:line:column`, where it came from a file."""

    @property
    def unit(self) -> str:
        """What kind of thing it is about: `trial`, `turn` or `rubric`."""
        return "rubric" if self.rubric_id else "trial" if self.turn is None else "turn"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label, and what it is about."""

    key: Key
    passes: bool
    metric: str = ""
    note: str = ""
    where: str = ""
    """Where it stands: `file:line:column`, or `store`."""

    @property
    def unit(self) -> str:
        """What kind of thing it is about: `trial`, `turn` or `rubric`."""
        return "rubric" if self.key[4] else "trial" if self.key[3] == WHOLE else "turn"

    @property
    def told(self) -> str:
        """What it is about, in words: `rome, trial 2, turn 1, rubric polite`."""
        _, eval_id, trial, turn, rubric = self.key
        parts = [eval_id, f"trial {trial + 1}" if trial else "", f"turn {turn + 1}" if turn != WHOLE else ""]
        return ", ".join(filter(None, [*parts, f"rubric {rubric}" if rubric else ""]))
