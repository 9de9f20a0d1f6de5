"""What is told of a run while it is under way."""

from __future__ import annotations

from proctor.schema.results.manifest import RunState
from proctor.schema.results.page_model import PageModel
from proctor.web.pages.runs.case_table import CaseRow


class LiveProgress(PageModel):
    """How far a run is: event `progress`."""

    run_id: str
    state: RunState
    cases: int
    """Planned."""
    done: int
    """Cases with a verdict."""
    counts: dict[str, int]
    """Cases with a verdict, by outcome."""
    trials: int
    """Trials whose evidence is on disk."""
    trials_planned: int
    rate: float | None
    """Trials a second over the last while; unknown until two were seen."""
    seconds_left: float | None
    """At that rate."""
    seconds: float
    """How long processes were at work on it."""
    spent: float | None
    """US dollars that the decided cases took, as far as their prices are known; null: of none."""
    spent_of: int
    """How many of the decided cases that is the sum of."""
    worker: str
    """Which process is at work on it; empty where none is."""
    ours: bool
    """Whether this server began it, so that it can be cancelled here."""


class LiveEnd(PageModel):
    """Nobody is at work on the run any more: event `finished`."""

    run_id: str
    state: RunState
    outcome: str | None
    """What it came to; null where something was not reached."""
    stopped_by: str
    """Why not everything was run; empty where it was, and where its process died."""
    failure: str
    """Why the run itself could not go on."""

    @staticmethod
    def broken(run_id: str, why: str) -> LiveEnd:
        """Return the end of following a run that may go on: the store cannot be read any more."""
        return LiveEnd(run_id=run_id, state=RunState.UNFINISHED, outcome=None, stopped_by="", failure=why)


class LiveEvents(PageModel):
    """The data of each event of a run, by its name."""

    progress: LiveProgress
    case: CaseRow
    """A case, as soon as its verdict is on disk."""
    finished: LiveEnd
    broken: LiveEnd
    """The store can no longer be read."""


class Cancelled(PageModel):
    """A run that was told to end."""

    run_id: str
