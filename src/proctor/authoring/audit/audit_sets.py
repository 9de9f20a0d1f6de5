"""Audit eval sets: make mutants of every recorded conversation, and score them as a run would. No agent and no model is called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from typing import Any

from proctor.agents.replay import ReplayAgent
from proctor.authoring.audit.audit_case import AuditedCase, CaseAuditor, CaseScorer
from proctor.authoring.audit.leakage import find_leaks
from proctor.authoring.audit.make_mutants import OPERATORS, mutants_of, select_operators
from proctor.authoring.audit.mutant import Operator, Recording
from proctor.authoring.audit.mutant_evidence import evidence_of_survivors
from proctor.authoring.audit.null_agents import OtherCases
from proctor.authoring.audit.propose import propose
from proctor.authoring.audit.stored_audit import store_audit
from proctor.engine.planning.set_plan import SetPlan
from proctor.errors import UnknownNameError, did_you_mean
from proctor.runs.arguments import AgentLike, ConfigLike, EvalSetLike, is_open
from proctor.runs.setup.prepare import Prepared, prepare
from proctor.runs.storage.open import StoreLike
from proctor.schema.analysis.audit_result import (
    AuditResult,
    CaseAudit,
    MetricAudit,
    MutantEvidence,
    SetAudit,
)
from proctor.schema.results.score import Outcome

_IDLE = [OPERATORS[name] for name in ("filler", "fixed-answer")]
SCENARIO = "a scenario: nothing is recorded that could be mutated"


async def audit(  # noqa: PLR0913 - the options of the command
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    *,
    config: ConfigLike = None,
    agent: AgentLike = None,
    mutants: Sequence[str] | None = None,
    seed: int = 0,
    proposals: bool = True,
    case: str | None = None,
    store: StoreLike = None,
    allow_unknown_keys: bool = False,
    timeout: float | None = 300.0,  # noqa: ASYNC109 - for each metric, as in `evaluate`, not for the whole call
) -> AuditResult:
    """Test eval sets by mutation: return which faults in the recorded conversations their cases would notice.

    The recorded conversation of each case must pass; agents that do nothing, and mutants of the conversation with one
    planted fault each, must not. They are scored with the metrics and the verdict rules of `evaluate`; no agent and no
    model is called. With an `agent`, the audit checks whether it could see the expected values; an agent in Python answers up
    to three cases for that. Metrics that ask a judge are left out. `mutants` names mutation operators or families of them;
    without it all are used. `config` is found as in `evaluate`. The same `seed` makes the same mutants. One conversation
    decides: `trials` of the config do not count. Unless `proposals` is false, changes that catch survivors are searched and
    verified. `case` keeps the evidence of the mutants that survive in that case. `store` (a URL, a path, a `Store`) keeps the
    audit with its mutants, apart from the runs of agents. A custom metric may take `timeout` seconds for each mutant.

    Raises:
        SetupProblems: what is wrong with the sets, the configs, the names or the store.
        StoreError: the store cannot be written.
    """
    operators = select_operators(mutants)
    given: dict[str, Any] = {
        "config": config,
        "no_judge": True,
        "allow_unasserted": True,
        "allow_unknown_keys": allow_unknown_keys,
        "store": store,
    }
    prepared = prepare(ReplayAgent(), eval_sets, given, plays=False)  # type: ignore[arg-type]  # names of options
    with nullcontext() if prepared.store is None or is_open(store) else closing(prepared.store):
        found, cases = await _audit(prepared, operators, seed, timeout)
        if agent is not None:
            found.leakage = await find_leaks(agent, prepared.plan.sets)
        if proposals:
            consistent = [each for each in cases if not each.audit.contradicts]
            found.proposals = await propose(consistent, timeout)
        if case is not None:
            found.evidence = await _evidence(found.sets, cases, case, timeout)
        if prepared.store is not None:
            found.run_id = store_audit(prepared, found, cases, mutants)
        return found


async def _audit(
    prepared: Prepared, operators: Sequence[Operator], seed: int, seconds: float | None
) -> tuple[AuditResult, list[AuditedCase]]:
    """Return the audit, and its recorded cases with the mutants that survive."""
    cases: list[AuditedCase] = []
    sets = [await _audit_set(plan, operators, seed, seconds, cases) for plan in prepared.plan.sets]
    words = {each.name: (each.label, each.family) for each in operators}
    return AuditResult(sets, seed, words, prepared.warnings), cases


async def _evidence(
    sets: Sequence[SetAudit], cases: Sequence[AuditedCase], eval_id: str, seconds: float | None
) -> list[MutantEvidence]:
    """Return the mutants that survive in the case of that id; none if its recorded conversation does not pass."""
    known = [case.eval_id for one in sets for case in one.cases]
    if eval_id not in known:
        raise UnknownNameError(f"no case {eval_id!r} in these sets.{did_you_mean(eval_id, known)}", known)
    chosen = (case for case in cases if case.audit.eval_id == eval_id and not case.audit.contradicts)
    return [each for case in chosen for each in await evidence_of_survivors(case, seconds)]


def audit_sync(  # noqa: PLR0913 - the options of the command
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    *,
    config: ConfigLike = None,
    agent: AgentLike = None,
    mutants: Sequence[str] | None = None,
    seed: int = 0,
    proposals: bool = True,
    case: str | None = None,
    store: StoreLike = None,
    allow_unknown_keys: bool = False,
    timeout: float | None = 300.0,
) -> AuditResult:
    """Run `audit` from synchronous code."""
    from proctor.engine.execution.run_control import run_sync

    return run_sync(
        lambda: audit(
            eval_sets,
            config=config,
            agent=agent,
            mutants=mutants,
            seed=seed,
            proposals=proposals,
            case=case,
            store=store,
            allow_unknown_keys=allow_unknown_keys,
            timeout=timeout,
        )
    )


async def _audit_set(
    plan: SetPlan,
    operators: Sequence[Operator],
    seed: int,
    seconds: float | None,
    audited: list[AuditedCase],
) -> SetAudit:
    """Audit one set, and append its recorded cases to `audited`."""
    found = SetAudit(
        plan.source.eval_set_id,
        plan.source.label,
        plan.summary.config_source,
        left_out=plan.summary.skipped_metrics,
    )
    tally = _tally(plan)
    auditor = CaseAuditor(operators, seed, tally)
    cases = {index: Recording(plan.source.case(index)) for index in plan.cases}
    others = OtherCases([each for each in cases.values() if each.case.conversation], seed)
    for index, recording in cases.items():
        one = CaseAudit(recording.case.eval_id, plan.source.where(index), _why_not(plan, index, recording))
        found.cases.append(one)
        if recording.case.conversation is None:
            continue
        if one.problem:
            audited.append(AuditedCase(one, plan, index, recording, ()))
            continue
        own = Recording(recording.case, others.answers(recording))
        survivors = await auditor.audit(one, own, CaseScorer(plan, own, seconds))
        audited.append(AuditedCase(one, plan, index, own, survivors))
    found.metrics = [each for each in tally.values() if each.scored or each.name in plan.config.criteria]
    return found


def _tally(plan: SetPlan) -> dict[str, MetricAudit]:
    deciding = [metric for metric in plan.metrics if metric.gates]
    return {metric.name: MetricAudit(metric.name, metric.threshold, metric.gate) for metric in deciding}


async def find_passed_by_idle(plan: SetPlan, most: int) -> dict[int, str]:
    """Return the cases that an agent passes that always gives one text and calls no tool, and what it does; the first `most` are tried.

    Cases with metrics that run the user's code or ask a judge are left out.
    """
    found: dict[int, str] = {}
    for index in [*plan.cases][:most]:
        recording = Recording(plan.source.case(index))
        if recording.case.conversation is None or not all(
            metric.is_quick for metric in plan.metrics_for(recording.case)
        ):
            continue
        scorer = CaseScorer(plan, recording, None)
        for operator in _IDLE:
            for mutant in mutants_of(recording, operator, 0):
                if (await scorer.score(mutant.turns, mutant.state)).outcome is Outcome.PASSED:
                    found.setdefault(index, mutant.fault)
    return found


def _why_not(plan: SetPlan, index: int, recording: Recording) -> str:
    """Explain why a case has no mutants; empty if it has some."""
    return SCENARIO if recording.case.conversation is None else plan.skip_reason(index)
