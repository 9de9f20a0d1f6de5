"""How callers observe a run (`Progress`) and end it early (`StopRequest`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from proctor.schema.results.run_result import CaseResult, Outcome, RunResult


class Progress(Protocol):
    """Observes a run. Called on the engine's thread; must be quick and must not raise.

    An optional method `warned(text)` receives warnings that cannot wait for the report, such as a limit without effect.
    """

    def run_started(self, run: RunResult, trials: int) -> None:
        """The plan is complete: `run` has its sets and no case yet; `trials` trials will be made."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """One attempt ended (in any order)."""

    def case_finished(self, result: CaseResult) -> None:
        """All trials of one case ended (in the order in which cases end)."""

    def run_finished(self, run: RunResult) -> None:
        """The run is complete; `run` holds all cases in the order of the sets."""


class NoProgress:
    """Ignores all notifications."""

    def run_started(self, run: RunResult, trials: int) -> None:
        """Do nothing."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Do nothing."""

    def case_finished(self, result: CaseResult) -> None:
        """Do nothing."""

    def run_finished(self, run: RunResult) -> None:
        """Do nothing."""


# --- Ending a run early, in order: nothing new begins, what is under way may finish, everything else can be resumed ---


DRAIN = 10.0
"""Seconds that trials under way have to finish after a request to stop."""

Listener = Callable[[str, float | None], None]


class StopRequest:
    """Asks the run that received it (`evaluate(…, stop=request)`) to end early.

    Call it with a reason, from any thread; before the run has begun, too. Only the first call counts.
    """

    def __init__(self) -> None:
        """Make a request that is not active yet."""
        self.reason = ""
        self._drain: float | None = None
        self._listener: Listener | None = None

    def __call__(self, reason: str, *, drain: float | None = DRAIN) -> None:
        """Stop because of `reason`; trials under way get `drain` seconds (`None`: as long as they take)."""
        if self.reason:
            return
        self.reason, self._drain = reason, drain
        if self._listener is not None:
            self._listener(reason, drain)

    def listen(self, listener: Listener) -> None:
        """Call `listener` when a stop is requested; immediately if it was requested before."""
        self._listener = listener
        if self.reason:
            listener(self.reason, self._drain)
