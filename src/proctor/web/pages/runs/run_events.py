"""The events of a running run: its progress, each decided case, its end."""

from __future__ import annotations

from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunState
from proctor.web.pages.runs.case_table import CaseRow


class LiveProgress(PageModel):
    """The progress of a run: event `progress`."""

    run_id: str
    state: RunState
    cases: int
    """Planned."""
    done: int
    """Cases with a verdict."""
    counts: dict[str, int]
    """Cases with a verdict, by outcome."""
    trials: int
    """Trials whose evidence is stored."""
    trials_planned: int
    rate: float | None
    """Recent trials per second; unknown until two have finished."""
    seconds_left: float | None
    """At that rate."""
    seconds: float
    """The time that processes have spent on it."""
    spent: float | None
    """The cost of the decided cases in US dollars, as far as prices are known; null: none is known."""
    spent_of: int
    """The number of decided cases with a known cost."""
    worker: str
    """The process that executes it; empty if there is none."""
    ours: bool
    """Whether this server started it, so that it can be cancelled here."""


class LiveEnd(PageModel):
    """No process executes the run any more: event `finished`."""

    run_id: str
    state: RunState
    outcome: str | None
    """The outcome; null if the run is incomplete."""
    stopped_by: str
    """Why the run stopped early; empty if it is complete or its process died."""
    failure: str
    """The failure that ended the run itself."""

    @staticmethod
    def broken(run_id: str, why: str) -> LiveEnd:
        """Return the end of an event stream whose run may continue: the store can no longer be read."""
        return LiveEnd(run_id=run_id, state=RunState.UNFINISHED, outcome=None, stopped_by="", failure=why)


class LiveEvents(PageModel):
    """The data of each event of a run, by its name."""

    progress: LiveProgress
    case: CaseRow
    """A case, as soon as its verdict is stored."""
    finished: LiveEnd
    broken: LiveEnd
    """The store can no longer be read."""


class Cancelled(PageModel):
    """A run that was interrupted."""

    run_id: str
