"""A run as a result file has it: what was recorded, and what the file says of itself as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.schema.format.invocation import Invocation
from proctor.schema.results.outcome import Outcome
from proctor.schema.results.run_result import CaseResult, RunResult


@dataclass(frozen=True, slots=True)
class Totals:
    """What a file says of the whole run: what is in it is held against that."""

    outcome: Outcome
    counts: Mapping[Outcome, int]
    """Cases by outcome."""


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """One case of a result file."""

    result: CaseResult
    expected: list[Invocation] | None = None
    """What was expected, where the file says it: ADK's results do."""
    trials: int | None = None
    """How many trials the file says that it has; `None` where it does not say."""
    passed: int | None = None
    """How many of them the file says passed."""
    doubt: str = ""
    """What was amiss when it was read."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a result file."""

    form: str
    """`adk`, `json` or `jsonl`."""
    head: RunResult
    """The run without its cases."""
    cases: Callable[[], Iterator[RecordedCase]]
    """Reads the cases; each call begins anew."""
    criteria: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The criteria of each set by metric, where the file has them."""
    totals: Totals | None = None
    """`None` for ADK's files, which say nothing of the whole."""
    doubts: list[str] = field(default_factory=list)
    """What was amiss when it was read."""

    @property
    def result(self) -> RunResult:
        """The whole run, in memory."""
        self.head.cases = [each.result for each in self.cases()]
        return self.head
