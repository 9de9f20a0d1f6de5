"""Whether a case asserts something: one rule for `eval`, `score`, `check` and every other entry point.

A case asserts something if a gating metric finds a statement in it (`MetricFacts.statement`). A case that asserts
nothing would pass with an agent that does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proctor.engine.planning.bound_metric import BoundMetric
from proctor.engine.planning.case_problems import and_others, in_case
from proctor.engine.planning.criteria import Bound
from proctor.engine.planning.undecided_cases import NO_GATE, can_score, cannot_decide, is_about_agent
from proctor.errors import SetupError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.statement import Statement

if TYPE_CHECKING:
    from proctor.engine.planning.plan import SetPlan

__all__ = [
    "ASSERTS_NOTHING",
    "NEGATIVE_ONLY",
    "REMEDIES",
    "Assertions",
    "assertion_warnings",
    "remedies",
    "remedies_for",
    "skip_notes",
    "skip_reason",
    "statement_in",
]

NEGATIVE_ONLY = "negative only: an agent that does nothing passes it"
ASSERTS_NOTHING = "asserts nothing, so an agent that does nothing passes it"
REMEDIES = (
    "`proctor record` or `proctor bless` the answers and calls of a run, write a rubric or a `final_session_state`, or "
    "write `tool_uses: []` (YAML: `tools: []`) where no tool may be called; `--allow-unasserted` runs such cases as "
    "*skipped*"
)


def statement_in(case: EvalCase, metrics: Sequence[BoundMetric]) -> Statement:
    """Return the strongest statement that the gating metrics find in a case."""
    return max((_found_by(metric, case) for metric in metrics if metric.gate), default=Statement.NONE)


def _found_by(metric: BoundMetric, case: EvalCase) -> Statement:
    if not can_score(metric, case) or not is_about_agent(metric):
        return Statement.NONE
    if metric.parts:
        return max(_found_by(part, case) for part in metric.parts)
    return metric.facts.statement_in(case)


def skip_reason(case: EvalCase, metrics: Sequence[BoundMetric]) -> str:
    """Return why a case is skipped where cases are not planned before they run; empty where its metrics decide."""
    if statement_in(case, metrics) is not Statement.NONE or _keeps_verdict(case, metrics):
        return ""
    return ASSERTS_NOTHING


def _keeps_verdict(case: EvalCase, metrics: Sequence[BoundMetric]) -> bool:
    """Whether a gating criterion asks for the verdict of another implementation."""
    return any(metric.gate and metric.as_in_adk and can_score(metric, case) for metric in metrics)


@dataclass(slots=True)
class Assertions:
    """What the cases of one set assert."""

    bound: Bound
    allowed: bool
    """Whether a case that asserts nothing runs, and is recorded as skipped (`allow_unasserted`)."""
    negative: list[int] = field(default_factory=list)
    """Indexes of the cases that are negative only."""
    as_in_adk: list[int] = field(default_factory=list)
    """Indexes of the cases that assert nothing and keep the verdict of the implementation that `compat` names."""
    skipped: dict[int, str] = field(default_factory=dict)
    """Indexes of the cases that run and are skipped, each with the reason."""
    unasserted: dict[int, str] = field(default_factory=dict)
    """Indexes of the cases that are refused, unless they are allowed, each with the reason."""

    def see(self, index: int, case: EvalCase) -> str:
        """Look at a case; returns why it cannot be run, or nothing."""
        found = statement_in(case, self.bound.metrics)
        if found is Statement.POSITIVE:
            return ""
        if found is Statement.NEGATIVE:
            self.negative.append(index)
        elif names := [metric.name for metric in self.bound.left_out if statement_in(case, [metric])]:
            self.skipped[index] = self._left_out(names)
        elif _keeps_verdict(case, self.bound.metrics):
            self.as_in_adk.append(index)
        else:
            self.unasserted[index] = problem = cannot_decide(case, self.bound) or ASSERTS_NOTHING
            if not self.allowed:
                return problem
            self.skipped[index] = problem
        return ""

    def _left_out(self, names: Sequence[str]) -> str:
        why = " and ".join(dict.fromkeys(self.bound.skipped[name] for name in names))
        return f"asserts something only for {', '.join(names)}, left out by {why}"

    def groups(self) -> Iterator[tuple[str, list[int]]]:
        """Return what to warn about: the cases that run although they assert nothing, or only something negative."""
        if self.negative:
            yield NEGATIVE_ONLY, self.negative
        if self.as_in_adk:
            yield f"{ASSERTS_NOTHING}; `compat` keeps the original's verdict", self.as_in_adk

    def skips(self) -> Iterator[tuple[str, list[int]]]:
        """Return the cases that are skipped, by the reason."""
        by_reason: dict[str, list[int]] = {}
        for index, reason in self.skipped.items():
            by_reason.setdefault(f"{reason}; it is skipped and not counted", []).append(index)
        yield from by_reason.items()


def assertion_warnings(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Warn about the cases that run although they assert nothing, or only something negative; once for each set."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.groups() if plan.assertions else ())


def skip_notes(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Name the cases that are skipped, as the options ask for; once for each set and reason."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.skips() if plan.assertions else ())


def _sentences(plan: SetPlan, groups: Iterable[tuple[str, list[int]]]) -> Iterator[str]:
    for message, (first, *others) in groups:
        yield str(in_case(message, plan.source, first, and_others(plan.source, others)))


def remedies_for(plans: Iterable[SetPlan]) -> list[SetupError]:
    """Name the ways to fix the cases that are refused because they assert nothing, if there are any."""
    found = (plan.assertions for plan in plans if plan.assertions is not None and not plan.assertions.allowed)
    return remedies() if any(set(each.unasserted.values()) - {NO_GATE} for each in found) else []


def remedies() -> list[SetupError]:
    """Name the ways to fix a case that asserts nothing."""
    return [SetupError(f"A case must assert something: {REMEDIES}.")]
