"""The cases that a short report names: those that need attention most, selected in one pass over the cases."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.reports.content.summary import FLAKY_ATTENTION, attention
from proctor.schema.results.run_result import CaseResult


class Foremost:
    """Keeps the first few cases of each rank (failed, error, undecided, not run, flaky); the others are only counted."""

    def __init__(self, most: int) -> None:
        """Set the maximum number of cases."""
        self._most = most
        self._kept: list[list[CaseResult]] = [[] for _ in range(FLAKY_ATTENTION + 1)]
        self.missed = 0
        """Cases that did not pass, without skipped ones."""

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        rank = attention(case)
        self.missed += rank < FLAKY_ATTENTION
        if rank <= FLAKY_ATTENTION and len(self._kept[rank]) < self._most:
            self._kept[rank].append(case)
            self._let_go()

    def _let_go(self) -> None:
        """Keep at most the maximum number: worse cases replace others."""
        red = self._kept[:FLAKY_ATTENTION]
        if sum(map(len, red)) > self._most:
            next(cases for cases in reversed(red) if cases).pop()

    def problem_cases(self) -> Iterator[CaseResult]:
        """Return cases that did not pass, the worst first, at most the maximum number."""
        return (case for cases in self._kept[:FLAKY_ATTENTION] for case in cases)

    def flaky(self) -> list[CaseResult]:
        """Return cases that passed, and of which some trials failed."""
        return self._kept[FLAKY_ATTENTION]
