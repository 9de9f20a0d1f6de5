"""A run in a result file: the recorded results, and the totals that the file states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.schema.format.invocation import Invocation
from proctor.schema.results.run_result import CaseResult, RunResult
from proctor.schema.results.score import Outcome


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals that a file states for the whole run; its cases are checked against them."""

    outcome: Outcome
    counts: Mapping[Outcome, int]
    """Cases by outcome."""


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """One case of a result file."""

    result: CaseResult
    expected: list[Invocation] | None = None
    """The expected invocations, if the file contains them, as ADK's results do."""
    trials: int | None = None
    """The stated number of trials; `None` if the file does not state it."""
    passed: int | None = None
    """The stated number of passed trials."""
    doubt: str = ""
    """A contradiction that was found when the case was read."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """One run of a result file."""

    form: str
    """`adk`, `json` or `jsonl`."""
    head: RunResult
    """The run without its cases."""
    cases: Callable[[], Iterator[RecordedCase]]
    """Reads the cases; each call starts at the first one."""
    criteria: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The criteria by set and metric, if the file contains them."""
    totals: Totals | None = None
    """`None` for ADK's files, which state no totals."""
    doubts: list[str] = field(default_factory=list)
    """Contradictions that were found when the file was read."""

    @property
    def result(self) -> RunResult:
        """The whole run, in memory."""
        self.head.cases = [each.result for each in self.cases()]
        return self.head
