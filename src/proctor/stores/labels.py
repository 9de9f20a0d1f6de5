"""Labels of people and looks at held-out cases, as a store has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLabel:
    """The label that a person gave to one part of a run."""

    position: int
    number: int
    """The trial, from 0."""
    passes: bool
    turn: int | None = None
    """From 0; `None`: the trial as a whole."""
    rubric_id: str = ""
    metric: str = ""
    """Empty: the label applies to any metric that it is compared with."""
    note: str = ""
    labeller: str = ""
    """The name of the person; empty: a person without a name. Each person has one label for a thing."""
    labelled_at: float = field(default=0.0, compare=False)
    """Unix seconds; the store sets it, later for each change of the labels of a run."""


CheckLabels = Callable[[Sequence[StoredLabel]], None]
"""Receives the labels of a run in the transaction that changes them; an error that it raises prevents the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLook:
    """A look at held-out cases: a candidate was tested on them."""

    cases: tuple[str, ...]
    """The hash of the input of each case."""
    alpha: float
    """The probability of a wrong acceptance over the whole budget."""
    budget: int
    """The number of looks that share `alpha`."""
    began_at: float
    """Unix seconds."""
