"""The page of one case of an audit: its mutants, and each that survives like a failing case, with what was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from proctor.authoring.audit.audit_report import FAMILY_WORDS
from proctor.authoring.audit.stored_audit import AUDIT, audit_findings, case_audit, proposals_of
from proctor.reports.content.symbols import DiffKind
from proctor.schema.analysis.audit_result import AGENTS, Fate, MutantFate
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import CaseResult, RunKind
from proctor.schema.results.score import Outcome
from proctor.web.pages.audit.audit_page import ChangeGroup, case_share, change_groups
from proctor.web.pages.base import Share, copy_fields
from proctor.web.pages.case.case import CasePlace
from proctor.web.pages.case.load_case import CaseLoader
from proctor.web.pages.case.page_parts import ScorePart
from proctor.web.pages.case.trial import StateRow, TrialPage
from proctor.web.pages.case.turn import TurnPart

if TYPE_CHECKING:
    from proctor.stores.base import Store


class MutantLine(PageModel):
    """A mutant of the case, or an agent that does nothing."""

    number: int
    """From 0."""
    label: str
    """The class of the fault in words: `wrong numbers`."""
    family: str
    """In words: `tool calls`."""
    is_agent: bool
    """Whether it is an agent that does nothing."""
    fault: str
    """The planted fault."""
    turn: int | None
    """From 0; null: every turn, or the final state."""
    fate: Fate
    metrics: list[str]
    """The metrics that failed it."""
    reason: str
    """Why it could not be scored."""


class SurvivorPart(PageModel):
    """A mutant that survives: the recorded conversation is what is expected, the mutant is the actual one."""

    number: int
    turns: list[TurnPart]
    """The turns that differ from what was recorded."""
    recorded: int
    """The turns that are as recorded."""
    scores: list[ScorePart]
    """Why the case passes."""
    state: list[StateRow]
    """The keys of the final state that differ."""


class AuditedCasePage(PageModel):
    """One case of an audit."""

    run_id: str
    short: str
    """Of the audit."""
    position: int
    total: int
    """Cases of the audit."""
    eval_set_id: str
    eval_id: str
    place: str
    problem: str
    """Why the case has no mutants; empty if it has."""
    contradicts: bool
    """Whether its own recorded conversation does not pass."""
    same_as: str
    """An earlier case that asks and accepts the same; empty if there is none."""
    caught: Share
    """Mutants, without the agents that do nothing."""
    mutants: list[MutantLine]
    survivors: list[SurvivorPart]
    """Those whose conversation is stored."""
    changes: list[ChangeGroup]
    """Changes of this case that catch survivors."""
    previous: CasePlace | None
    next: CasePlace | None
    command: str


def audited_case_page(store: Store, name: str, position: int) -> AuditedCasePage:
    """Return one case of an audit, given the id of the audit or the beginning of it.

    Raises:
        UnknownNameError: there is no such audit or case.
        SetupError: the audit is not finished.
    """
    loader = CaseLoader(store, name, position, kind=RunKind.AUDIT)
    facts = audit_findings(store, loader.run_id)
    operators: Mapping[str, Any] = store.manifest(loader.run_id).options[AUDIT]["operators"]
    result, short = loader.view.case, loader.view.short
    audit = case_audit(result, facts["cases"].get(str(position), {}))
    agents = {operator for operator, (_, family) in operators.items() if family == AGENTS}
    labels = {operator: label for operator, (label, _) in operators.items()}
    of_case = [
        each for each in proposals_of(facts) if (each.eval_id, each.where) == (result.eval_id, result.place)
    ]
    previous, following = loader.neighbours
    _let_metrics_decide(result)
    return AuditedCasePage(
        run_id=loader.run_id,
        short=short,
        position=position,
        total=loader.total,
        eval_set_id=result.eval_set_id,
        eval_id=audit.eval_id,
        place=audit.place,
        problem=audit.problem,
        contradicts=audit.contradicts,
        same_as=audit.same_as,
        caught=case_share(audit, agents),
        mutants=[_line(number, each, operators) for number, each in enumerate(audit.mutants)],
        survivors=[
            _survivor(loader.trial(trial.number), audit.mutants[trial.number])
            for trial in result.trials
            if trial.outcome is Outcome.FAILED
        ],
        changes=[*change_groups(of_case, labels)],
        previous=previous,
        next=following,
        command=f"proctor show {short} {result.eval_id}",
    )


def _let_metrics_decide(result: CaseResult) -> None:
    """Give the metrics of a case the outcome by which its survivors pass; an audit stores their scores alone."""
    for name, metric in result.metrics.items():
        if metric.gate and metric.threshold is not None:
            result.metrics[name] = replace(metric, outcome=Outcome.PASSED)


def _line(number: int, mutant: MutantFate, operators: Mapping[str, Any]) -> MutantLine:
    label, family = operators[mutant.operator]
    return copy_fields(
        MutantLine,
        mutant,
        number=number,
        label=label,
        family=FAMILY_WORDS.get(family, family),
        is_agent=family == AGENTS,
        metrics=[*mutant.metrics],
    )


def _survivor(trial: TrialPage, mutant: MutantFate) -> SurvivorPart:
    turns = [turn for turn in trial.turns if turn.index == mutant.turn or _differs(turn)]
    return SurvivorPart(
        number=trial.number,
        turns=turns,
        recorded=len(trial.turns) - len(turns),
        scores=trial.scores,
        state=[row for row in trial.state.rows if _is_difference(row.kind)],
    )


def _differs(turn: TurnPart) -> bool:
    """Whether a turn is not as recorded: its answer, or a call."""
    has_answer = turn.answer.expected is not None or turn.answer.actual is not None
    return (has_answer and not turn.answer.same) or any(_is_difference(step.kind) for step in turn.steps)


def _is_difference(kind: DiffKind | None) -> bool:
    return kind not in (None, DiffKind.SAME)
