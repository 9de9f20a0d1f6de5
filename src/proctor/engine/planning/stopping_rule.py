"""The contract of a rule that ends a run before all its trials are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from proctor.schema.results.run_result import CaseResult


class StoppingRule(Protocol):
    """Decides after each round of trials whether the run continues.

    A round is one more trial of every case. `analysis.compare.interim_looks` has the rule that compares with another run.
    """

    @property
    def base_run_id(self) -> str:
        """The run that this one is compared with."""
        ...

    def next_round(self, made: int) -> int:
        """Return how many trials each case has at the next decision, after `made`; 0: there is none."""
        ...

    def is_decided(self, cases: Iterable[tuple[str, CaseResult]], made: int) -> bool:
        """Return whether cases (each with the hash of its content) with `made` trials each end the run."""
        ...

    def manifest_options(self) -> Mapping[str, Any]:
        """Return what the manifest of the run keeps, so that it resumes with the same rule."""
        ...
