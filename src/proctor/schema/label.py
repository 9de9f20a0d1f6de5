"""What people say of recorded answers: the labels that a judge is held against."""

from __future__ import annotations

from dataclasses import dataclass


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
