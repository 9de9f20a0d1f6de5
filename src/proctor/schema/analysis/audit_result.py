"""The result of an audit of eval sets: which mutants each case catches, and which it does not notice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from proctor.stats.agreement import Confusion
from proctor.stats.intervals import wilson

if TYPE_CHECKING:
    from proctor.schema.format.invocation import Invocation
    from proctor.schema.results.score import MetricVerdict

ENOUGH = 0.95
"""The share of its mutants that must be caught for an operator not to be named as a weakness."""
_BLIND = 0.5


class Fate(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    """The case did not pass: the mutant is killed."""
    SURVIVED = "survived"
    """The case passed although the conversation has a fault."""
    ERROR = "error"
    """A metric could not score it. It counts neither as caught nor as survived."""


@dataclass(frozen=True, slots=True)
class MutantFate:
    """One mutant of one case."""

    operator: str
    fate: Fate
    fault: str
    """The planted fault in a few words."""
    turn: int | None = None
    """The turn of the fault, from 0; `None`: every turn, or the final state."""
    metrics: Sequence[str] = ()
    """The metrics that failed it."""
    reason: str = ""
    """Why it could not be scored."""


_OF_MUTANT = [each.name for each in fields(MutantFate)]


def fate_data(mutant: MutantFate) -> dict[str, Any]:
    """Return it as plain data; `asdict` takes ten times as long."""
    return {name: getattr(mutant, name) for name in _OF_MUTANT}


@dataclass(slots=True)
class CaseAudit:
    """What one case catches."""

    eval_id: str
    place: str
    """`file:line`; empty for a set made in Python."""
    problem: str = ""
    """Why the case has no mutants: its recorded conversation does not pass, it is a scenario, nothing decides it; else empty."""
    contradicts: bool = False
    """Whether its recorded conversation does not pass."""
    mutants: Sequence[MutantFate] = ()
    """Also the agents that must fail."""
    same_as: str = ""
    """An earlier case that asks and accepts the same, so that this one is redundant."""


@dataclass(slots=True)
class MetricAudit:
    """How often one metric decided, and which thresholds decide the same."""

    name: str
    threshold: float | None
    gate: bool
    scored: int = 0
    """Mutants to which it gave a score; without the agents that must fail."""
    failed: int = 0
    """Mutants that it failed."""
    above: float | None = None
    """Every threshold above this gives the same verdicts: the highest score that only this metric fails; `None`: there is none."""
    up_to: float | None = None
    """Every threshold up to this gives the same verdicts: the lowest score of what passes."""
    varied: int = 0
    """Recorded conversations to which it gave another score the second time. Only metrics in code are tried twice."""

    def add_score(self, score: float | None, *, is_failed: bool, decides: bool) -> None:
        """Add the score of a conversation; `decides`: no other metric fails it."""
        if score is None or not decides:
            return
        if is_failed:
            self.above = score if self.above is None else max(self.above, score)
        else:
            self.up_to = score if self.up_to is None else min(self.up_to, score)

    def join(self, other: MetricAudit) -> None:
        """Add what the same metric decided in another set."""
        self.scored, self.failed = self.scored + other.scored, self.failed + other.failed
        self.varied += other.varied
        self.add_score(other.above, is_failed=True, decides=True)
        self.add_score(other.up_to, is_failed=False, decides=True)


@dataclass(slots=True)
class SetAudit:
    """The audit of one eval set with its config."""

    eval_set_id: str
    path: str | None
    config_source: str
    cases: list[CaseAudit] = field(default_factory=list)
    metrics: list[MetricAudit] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Metrics that were not measured, and why: those that ask a judge."""


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The share of mutants that are caught."""

    caught: int
    made: int
    """Without those that could not be scored."""
    errors: int = 0
    cases: int = 0
    """Cases that have such mutants."""

    @property
    def share(self) -> float | None:
        """The share that is caught; `None` without mutants."""
        return self.caught / self.made if self.made else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share (Wilson), as if mutants were independent."""
        return wilson(self.caught, self.made)

    @property
    def is_weak(self) -> bool:
        """Whether fewer than 95 % are caught."""
        return self.share is not None and self.share < ENOUGH

    @property
    def is_blind(self) -> bool:
        """Whether fewer than half are caught."""
        return self.share is not None and self.share < _BLIND


@dataclass(frozen=True, slots=True)
class OperatorScore:
    """What became of the mutants of one operator."""

    name: str
    label: str
    family: str
    score: MutationScore


AGENTS = "agents"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that catches mutants that survive now. The audit was repeated with it: every recorded conversation still passes."""

    where: str
    """The config, or the place of the case, that changes."""
    change: str
    """The change in one line: `"numeric_match": 1.0`."""
    snippet: str
    """Ready to paste: the changed criteria as JSON, or the keys of the case in the format of its file."""
    catches: int
    """The survivors that it catches, in addition to the proposals before it."""
    of: int
    """The survivors that the proposals before it left."""
    faults: Sequence[str] = ()
    """The operators of the mutants that it catches."""
    eval_id: str = ""
    """The case that changes; empty: the config does."""
    note: str = ""
    """What else the change does."""


@dataclass(frozen=True, slots=True)
class MutantEvidence:
    """A mutant that survives in a case, and what was recorded. It is not a trial of an agent."""

    eval_id: str
    operator: str
    fault: str
    turns: Sequence[int]
    """The turns that differ, from 0."""
    expected: Sequence[Invocation]
    """These turns as recorded."""
    mutated: Sequence[Invocation]
    """These turns with the fault."""
    expected_state: Mapping[str, Any]
    mutated_state: Mapping[str, Any]
    metrics: Mapping[str, MetricVerdict]
    """The verdicts on the mutant."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A place where an agent could see expected values."""

    what: str
    """The place: `the environment variable ANSWER has the expected answer`."""
    eval_ids: Sequence[str] = ()
    """The cases whose values it has; empty: all."""


@dataclass(slots=True)
class LeakageCheck:
    """Whether an agent could see the expected values of the cases."""

    agent: str
    leaks: list[Leak] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    not_looked_at: list[str] = field(default_factory=list)
    within_reach: list[str] = field(default_factory=list)
    """Eval sets below its working folder, which it was not seen to open. This is usual, and no leak."""


@dataclass(slots=True)
class JudgeAudit:
    """The verdicts of one judge in an audit: recorded conversations are right, mutants are wrong."""

    metric: str
    model: str
    right_passed: int = 0
    right: int = 0
    """Recorded conversations with a verdict."""
    classes: dict[str, list[int]] = field(default_factory=dict)
    """Operator -> how many of its mutants the judge failed, and how many it judged."""
    unread: dict[str, int] = field(default_factory=dict)
    """Operators of calls or of the state that it noticed in no mutant, so that they are not in `classes`: it may not read them."""
    without_verdict: int = 0

    def count(self, operator: str, *, passes: bool) -> None:
        """Count a verdict; without an operator it is on a recorded conversation."""
        if operator:
            noticed, judged = self.classes.get(operator, (0, 0))
            self.classes[operator] = [noticed + (not passes), judged + 1]
        else:
            self.right, self.right_passed = self.right + 1, self.right_passed + passes

    @property
    def confusion(self) -> Confusion:
        """The verdicts against what is known of the conversations."""
        noticed, judged = (sum(each[place] for each in self.classes.values()) for place in (0, 1))
        return Confusion(self.right_passed, self.right - self.right_passed, judged - noticed, noticed)

    @property
    def passes_everything(self) -> bool:
        """Whether it passed all of at least five mutants."""
        confusion = self.confusion
        return not confusion.both_fail and confusion.judge_passes >= _ENOUGH_MUTANTS


_ENOUGH_MUTANTS = 5


@dataclass(slots=True)
class JudgedMutants:
    """The part of an audit that asked judges."""

    judges: list[JudgeAudit] = field(default_factory=list)
    undecided: int = 0
    """Mutants that no other metric catches."""
    asked: int = 0
    """Those of them that were judged; the others do not count."""
    limit: str = ""
    """The limit that left the others out; empty if all were judged."""
    agents_left_out: int = 0
    """Those of the others that are agents that do nothing: whether they pass is not known."""
    usage: str = ""
    """Calls, tokens and cost."""


@dataclass(slots=True)
class AuditResult:
    """The result of `audit`."""

    sets: list[SetAudit]
    seed: int
    operators: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name -> label and family of the operators that were used, in order."""
    warnings: list[str] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    """Changes that catch survivors; each builds on those before it."""
    evidence: list[MutantEvidence] = field(default_factory=list)
    """The mutants that survive in the case that was asked for."""
    run_id: str = ""
    """The id of the audit in its store; empty if it is in none."""
    leakage: LeakageCheck | None = None
    """Whether the agent that was named could see the expected values."""
    judged: JudgedMutants | None = None
    """What the judges noticed, if they were asked."""
    from_run: str = ""
    """The run whose conversations were mutated; empty: those of the cases."""

    @property
    def cases(self) -> Iterator[CaseAudit]:
        """All cases, in order."""
        return (case for one in self.sets for case in one.cases)

    @property
    def audited(self) -> list[CaseAudit]:
        """The cases with mutants."""
        return [case for case in self.cases if not case.problem]

    @property
    def score(self) -> MutationScore:
        """The mutation score: the share of all mutants that are caught. The agents that must fail do not count."""
        agents = self.agent_names
        return _score(
            [each.fate for each in case.mutants if each.operator not in agents] for case in self.audited
        )

    @property
    def by_operator(self) -> list[OperatorScore]:
        """The score of each operator; without mutants it does not apply to these cases."""
        fates: dict[str, list[list[Fate]]] = {name: [] for name in self.operators}
        for case in self.audited:
            for name, mutants in groupby(case.mutants, attrgetter("operator")):
                fates[name].append([each.fate for each in mutants])
        return [OperatorScore(name, *words, _score(fates[name])) for name, words in self.operators.items()]

    @property
    def agent_names(self) -> set[str]:
        """The agents that must fail."""
        return {name for name, (_, family) in self.operators.items() if family == AGENTS}

    def agents_that_pass(self, case: CaseAudit) -> list[str]:
        """Return the agents that pass a case although they do nothing."""
        names = self.agent_names
        return [
            each.operator for each in case.mutants if each.operator in names and each.fate is Fate.SURVIVED
        ]

    @property
    def passed_by_any(self) -> list[CaseAudit]:
        """The cases that an agent passes that must fail, also where the recorded conversation does not pass."""
        return [case for case in self.cases if self.agents_that_pass(case)]

    @property
    def contradictions(self) -> list[CaseAudit]:
        """The cases whose own recorded conversation does not pass."""
        return [case for case in self.cases if case.contradicts]

    @property
    def metrics(self) -> list[MetricAudit]:
        """The gating metrics over all sets; one with several thresholds is several."""
        merged: dict[tuple[str, float | None], MetricAudit] = {}
        for one in (each for audited in self.sets for each in audited.metrics if each.gate):
            key = (one.name, one.threshold)
            merged.setdefault(key, MetricAudit(*key, gate=True)).join(one)
        return [*merged.values()]

    @property
    def idle_metrics(self) -> list[MetricAudit]:
        """The gating metrics that scored mutants and failed none, whatever their threshold in each set."""
        deciding = {one.name for one in self.metrics if one.failed}
        return [one for one in self.metrics if one.scored and one.name not in deciding]


def _score(fates_by_case: Iterable[Sequence[Fate]]) -> MutationScore:
    caught = total = errors = affected = 0
    for fates in fates_by_case:
        caught += fates.count(Fate.CAUGHT)
        total += len(fates) - fates.count(Fate.ERROR)
        errors += fates.count(Fate.ERROR)
        affected += bool(fates)
    return MutationScore(caught, total, errors, affected)
