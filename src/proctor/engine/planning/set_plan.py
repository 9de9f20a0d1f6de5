"""One eval set of a plan, and the warnings about its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from proctor.engine.planning.bound_metric import BoundMetric, on_opening
from proctor.engine.planning.case_checks import (
    NO_GATE,
    Assertions,
    and_others,
    in_case,
    remedies,
)
from proctor.engine.planning.case_source import (
    CaseSource,
)
from proctor.errors import SetupError
from proctor.schema.format.case import EvalCase
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.run_result import SetSummary
from proctor.schema.results.score import TrialRule
from proctor.schema.serialize import HASH_BYTES


@dataclass(slots=True)
class SetPlan:
    """One set, ready to run."""

    source: CaseSource
    summary: SetSummary
    metrics: list[BoundMetric]
    config: EvalConfig
    cases: list[int] = field(default_factory=list)
    """Indexes of the cases to run, in order."""
    num_runs: int = 1
    """Trials of each case."""
    hashes: bytearray = field(default_factory=bytearray)
    """The hashes of the contents of these cases, 16 bytes each; empty without a store."""
    elsewhere: int = 0
    """Cases that other shards run."""
    assertions: Assertions | None = None
    """What its cases assert; `None` in a plan that is made of recorded evidence alone."""
    unread: Counter[str] = field(default_factory=Counter)
    """Key that no metric reads -> how many cases state it."""
    doubts: Sequence[SetupError] = ()
    """Warnings about the criteria."""
    rule: TrialRule | None = field(init=False)
    """What share of a case's trials must pass; `None`: every metric's mean over them decides."""
    asks_judges: bool = field(init=False)
    """Whether any metric asks a language model."""
    _without_state: list[BoundMetric] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the properties that every case reads."""
        self.rule = self.config.rule_for(self.num_runs)
        self.asks_judges = any(metric.judge for metric in self.metrics)
        self._without_state = [bound for bound in self.metrics if "expected_state" not in bound.facts.needs]

    def metrics_for(self, case: EvalCase) -> list[BoundMetric]:
        """Return the metrics that apply to `case`."""
        return on_opening(self.metrics if case.final_session_state else self._without_state, case)

    def content_hash(self, ordinal: int) -> str:
        """Return the hash of the content of the case number `ordinal` of those to run, in hex."""
        return self.hashes[HASH_BYTES * ordinal : HASH_BYTES * (ordinal + 1)].hex()

    def skip_reason(self, index: int) -> str:
        """Return why the case at `index` is skipped; empty if its metrics decide."""
        return self.assertions.skipped.get(index, "") if self.assertions is not None else ""

    @property
    def trials(self) -> int:
        """How many trials will be run."""
        return len(self.cases) * self.num_runs


def assertion_warnings(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Warn about the cases that run although they assert nothing, or only something negative; once for each set."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.groups() if plan.assertions else ())


def skip_notes(plans: Iterable[SetPlan]) -> Iterator[str]:
    """Name the cases that the options skip; once for each set and reason."""
    for plan in plans:
        yield from _sentences(plan, plan.assertions.skips() if plan.assertions else ())


def _sentences(plan: SetPlan, groups: Iterable[tuple[str, list[int]]]) -> Iterator[str]:
    for message, (first, *others) in groups:
        yield str(in_case(message, plan.source, first, and_others(plan.source, others)))


def remedies_for(plans: Iterable[SetPlan]) -> list[SetupError]:
    """Name the ways to fix the cases that are refused because they assert nothing, if there are any."""
    refusing = (plan.assertions for plan in plans if plan.assertions and not plan.assertions.allowed)
    return remedies() if any(set(each.unasserted.values()) - {NO_GATE} for each in refusing) else []
