"""A baseline: the data of one run that a comparison needs, under a name; small enough to commit to a repository."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from proctor.schema.results.manifest import Judging, Manifest
from proctor.schema.results.outcome import Outcome

VERSION = 1
_MOST = 10**9
"""The limit of any count; a larger number is a mistake."""
_Count = Annotated[int, Field(ge=0, le=_MOST)]

_Trials = Annotated[int, Field(ge=0, le=10**6)]
"""The number of trials of one case; its limit is lower because a comparison iterates over trials."""

CaseRow = tuple[str, str, str, Outcome, _Trials, _Trials, _Trials, list[FiniteFloat | None]]
"""Eval set, case, hash of its content, outcome; trials that passed, that failed, others; the metrics' means."""


class Baseline(BaseModel):
    """A run in the form in which a baseline stores it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    proctor_baseline: Literal[1]
    run_id: str
    agent: str
    started_at: float
    num_runs: Annotated[int, Field(ge=1, le=_MOST)]
    most: _Count = 0
    """Trials of a case that there could be, where they were added until something was decided."""
    against: str = ""
    cost: float | None = None
    manifest: Manifest
    """The manifest of the run: the properties in which another run can differ."""
    judging: Judging
    """The judging: with which configs and metrics the run was scored."""
    metrics: list[str]
    """The metrics, in the order of the means in `cases`."""
    cases: list[CaseRow]
    """The cases, sorted by eval set and id; those with one id in their original order."""


class NamedBaseline(BaseModel):
    """An entry in the list of baselines."""

    name: str
    run_id: str
    agent: str
    started_at: float
    cases: int
    num_runs: int

    def as_data(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        return self.model_dump(mode="json")
