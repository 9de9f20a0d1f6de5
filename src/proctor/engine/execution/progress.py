"""What the engine tells whoever watches a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from proctor.schema.results.run_result import CaseResult, Outcome, RunResult


class Progress(Protocol):
    """Watches a run. Called on the engine's thread; must be quick and must not raise.

    `warned(text)`, if there, is told what cannot wait for the report: a limit that cannot act.
    """

    def run_started(self, run: RunResult, trials: int) -> None:
        """The plan stands: `run` has its sets and no case yet; `trials` attempts will be made."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """One attempt ended (in any order)."""

    def case_finished(self, result: CaseResult) -> None:
        """All trials of one case ended (in the order in which cases end)."""

    def run_finished(self, run: RunResult) -> None:
        """Everything is in; `run` holds all cases in the order of the sets."""


class Silent:
    """Watches and says nothing."""

    def run_started(self, run: RunResult, trials: int) -> None:
        """Say nothing."""

    def trial_finished(self, eval_set_id: str, eval_id: str, outcome: Outcome) -> None:
        """Say nothing."""

    def case_finished(self, result: CaseResult) -> None:
        """Say nothing."""

    def run_finished(self, run: RunResult) -> None:
        """Say nothing."""
