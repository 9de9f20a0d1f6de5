"""A baseline: what a comparison needs to know of one run, under a name; small enough to be kept beside the code."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from proctor.schema.results.manifest import Judging, Manifest
from proctor.schema.results.outcome import Outcome

VERSION = 1
_MOST = 10**9
"""Of anything that is counted: what is more is a slip of the pen."""
_Count = Annotated[int, Field(ge=0, le=_MOST)]

_Trials = Annotated[int, Field(ge=0, le=10**6)]
"""Of one case: each of them is looked at where runs are compared."""

CaseRow = tuple[str, str, str, Outcome, _Trials, _Trials, _Trials, list[FiniteFloat | None]]
"""Eval set, case, hash of its content, outcome; trials that passed, that failed, others; the metrics' means."""


class Baseline(BaseModel):
    """One run as a baseline keeps it."""

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
    """What it was, as far as another run is told apart by it."""
    judging: Judging
    """How it was judged."""
    metrics: list[str]
    """The columns of the cases."""
    cases: list[CaseRow]
    """By eval set and id; those of one id in their order."""


class NamedBaseline(BaseModel):
    """A baseline that is there, in a list."""

    name: str
    run_id: str
    agent: str
    started_at: float
    cases: int
    num_runs: int

    def as_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return self.model_dump(mode="json")
