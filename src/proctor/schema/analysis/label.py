"""Human labels of recorded answers, with which a judge is compared."""

from __future__ import annotations

from dataclasses import dataclass

Key = tuple[str, str, int, int, str]
"""An item with a verdict in a run: set, case, trial and turn (from 0; `WHOLE`: the trial), rubric."""
WHOLE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A person's verdict on one trial, on one of its turns, or on one rubric in it."""

    eval_id: str
    passes: bool
    eval_set_id: str = ""
    """Empty: the only set of the run that has a case with this id."""
    trial: int | None = None
    """From 0; `None`: the only trial."""
    turn: int | None = None
    """From 0; `None`: the trial as a whole."""
    rubric_id: str = ""
    metric: str = ""
    """Empty: any metric."""
    note: str = ""
    """The person's reason."""
    place: str = ""
    """`file:line:column`, if the label is from a file."""

    @property
    def unit(self) -> str:
        """The kind of the labelled item: `trial`, `turn` or `rubric`."""
        return "rubric" if self.rubric_id else "trial" if self.turn is None else "turn"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A label with the item that it refers to."""

    key: Key
    passes: bool
    metric: str = ""
    note: str = ""
    where: str = ""
    """The source of the label: `file:line:column`, or `store`."""

    @property
    def unit(self) -> str:
        """The kind of the labelled item: `trial`, `turn` or `rubric`."""
        return "rubric" if self.key[4] else "trial" if self.key[3] == WHOLE else "turn"

    @property
    def told(self) -> str:
        """The item as text: `rome, trial 2, turn 1, rubric polite`."""
        _, eval_id, trial, turn, rubric = self.key
        parts = [eval_id, f"trial {trial + 1}" if trial else "", f"turn {turn + 1}" if turn != WHOLE else ""]
        return ", ".join(filter(None, [*parts, f"rubric {rubric}" if rubric else ""]))
