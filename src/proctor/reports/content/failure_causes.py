"""Failures by cause: the metric that was missed and the expectation that was violated, without what differs from case to case.

The rule is deterministic: calls lose their arguments, values (`value_kinds.py`) are replaced, and the place (turn, trial) is left
out; what follows a semicolon in the reason of a metric is a detail. Code that is not a call keeps its words. Cases with the same
rest have the same cause.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proctor.common.inline_code import code_mark, code_parts, shorten_prose
from proctor.reports.content.case_digest import TELLING, deciding, reason_of
from proctor.reports.content.text_blocks import Column, Row, Table, TextSpan
from proctor.reports.content.value_kinds import BLANK, mask_values
from proctor.schema.results.run_result import CaseResult

OTHER = "different reasons"
"""The cause of the cases of one metric of which no two have the same reason."""
_MOST_READ = 10_000
"""The characters of a reason that are read."""
_LONGEST = 300
_PLACE = re.compile(r"^(?:(?:turn|trial) \d+: )+")
_CALL = re.compile(r"([^\s(]+)\(")


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Why a case failed: where, and what was violated."""

    site: str
    """The metric; empty if the case could not be decided by one."""
    violation: str

    @property
    def text(self) -> str:
        """Both as one line."""
        return f"{self.site}: {self.violation}" if self.site else self.violation


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """The cases of a run with one cause."""

    cause: FailureCause
    cases: int
    before: int | None
    """The number of cases with this cause in the run that this one is compared with; `None`: there is no such run."""


class SharedCauses:
    """Counts the causes of a run's failures, to name once what several cases have in common."""

    def __init__(self) -> None:
        """Begin without a case."""
        self._causes = Counter[FailureCause]()

    def add(self, case: CaseResult) -> None:
        """Add one case."""
        if (cause := cause_of(case)) is not None:
            self._causes[cause] += 1

    def groups(self, least: int) -> list[FailureGroup]:
        """Return the causes of at least so many cases, the largest first; cases with `different reasons` share none."""
        groups = group_failures(self._causes.elements())[0]
        return [one for one in groups if one.cases >= least and one.cause.violation != OTHER]

    def table(self) -> Table:
        """Return the causes that most cases share, each with its number of cases."""
        rows = [
            Row([[TextSpan(f"{one.cases:,}")], [TextSpan(one.cause.text, is_data=True, is_prose=True)]])
            for one in self.groups(_LEAST_SHARED)[:_MOST_NAMED]
        ]
        return Table([Column("cases", right=True), Column("cause", wraps=True)], rows)


_LEAST_SHARED = 3
"""Cases that share a cause which is named."""
_MOST_NAMED = 5


def cause_of(case: CaseResult) -> FailureCause | None:
    """Return the cause of a case that failed or could not be decided; `None` for all others."""
    if case.outcome not in TELLING:
        return None
    missed = deciding(case)
    metric = next((one for one in missed if one.outcome is case.outcome), missed[0] if missed else None)
    if metric is None or metric.reason in {"", case.reason}:  # the agent or the user failed before any metric
        return FailureCause("", violation(reason_of(case), has_details=False))
    return FailureCause(metric.name, violation(metric.reason))


def violation(reason: str, *, has_details: bool = True) -> str:
    """Return a reason without what differs from case to case; `has_details`: what follows a semicolon is a metric's detail."""
    texts = []
    for part, is_code in code_parts(_PLACE.sub("", reason[:_MOST_READ])):
        if is_code:
            call = _CALL.match(part)
            texts.append(code_mark(call[1] if call else mask_values(part) or BLANK))
            continue
        text, is_cut, _ = part.partition("; ") if has_details else (part, "", "")
        texts.append(mask_values(text))
        if is_cut:
            break
    return shorten_prose("".join(texts).replace('"', ""), _LONGEST)


def group_failures(
    causes: Iterable[FailureCause], before: Iterable[FailureCause] | None = None
) -> tuple[list[FailureGroup], Mapping[FailureCause, FailureCause]]:
    """Return the groups, the largest first, and the group's cause of each cause.

    Of one metric, causes of a single case each become one group: a judge words each reason differently.
    """
    counts = Counter(causes)
    joined = _join_single(counts)
    sizes, earlier = Counter[FailureCause](), Counter[FailureCause]()
    for cause, count in counts.items():
        sizes[joined[cause]] += count
    for cause in before or ():
        earlier[cause if cause in sizes else joined.get(cause, FailureCause(cause.site, OTHER))] += 1
    groups = [
        FailureGroup(cause, size, None if before is None else earlier[cause]) for cause, size in sizes.items()
    ]
    return sorted(groups, key=lambda one: (-one.cases, one.cause.text)), joined


def _join_single(counts: Mapping[FailureCause, int]) -> dict[FailureCause, FailureCause]:
    """Return the group's cause of each cause."""
    alone = {cause for cause, count in counts.items() if count == 1 and cause.site}
    sites = Counter(cause.site for cause in alone)
    return {
        cause: FailureCause(cause.site, OTHER) if cause in alone and sites[cause.site] > 1 else cause
        for cause in counts
    }
