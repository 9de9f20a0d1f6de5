"""Audit eval sets: make mutants of every recorded conversation, and score them as a run would. No agent and no model is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import Any

from proctor.authoring.audit.audit_case import AuditedCase, CaseAuditor, CaseScorer
from proctor.authoring.audit.judged_mutants import DEFAULT_CALLS, judge_mutants
from proctor.authoring.audit.leakage import find_leaks
from proctor.authoring.audit.make_mutants import OPERATORS, mutants_of, select_operators
from proctor.authoring.audit.mutant import Operator, Recording
from proctor.authoring.audit.mutant_evidence import evidence_of_survivors
from proctor.authoring.audit.null_agents import FOR_JUDGES
from proctor.authoring.audit.proposals.propose import propose
from proctor.authoring.audit.recordings import RunConversations, open_conversations, recordings_of
from proctor.authoring.audit.stored_audit import store_audit, stored_run_of
from proctor.engine.execution.run_recorder import Answers, ScoringRecord
from proctor.engine.planning.set_plan import SetPlan
from proctor.errors import SetupError, UnknownNameError, did_you_mean
from proctor.judges.base import Judges
from proctor.reports.content.summary import money_by_purpose
from proctor.runs.arguments import AgentLike, ConfigLike, EvalSetLike, accept_former_names, sync_form
from proctor.runs.setup.prepare import Prepared, prepare
from proctor.runs.storage.open import StoreLike, is_open
from proctor.schema.analysis.audit_result import (
    AuditResult,
    CaseAudit,
    MetricAudit,
    MutantEvidence,
    SetAudit,
)
from proctor.schema.results.run_result import RunResult
from proctor.schema.results.score import Outcome

_IDLE = [OPERATORS[name] for name in ("filler", "fixed-answer")]


@accept_former_names(tell="notify")
async def audit(  # noqa: PLR0913 - the options of the command
    eval_sets: EvalSetLike | Sequence[EvalSetLike],
    *,
    config: ConfigLike = None,
    agent: AgentLike = None,
    from_run: str | RunResult | None = None,
    judge: Any = None,
    max_judge_calls: int | None = None,
    max_cost: float | None = None,
    notify: Callable[[str], None] | None = None,
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
    to three cases for that. `from_run` (the name of a stored run, or a result) mutates the conversations of trials that
    passed, also of scenarios, which record none. `mutants` names mutation operators or families of them; without it all are
    used. Metrics that ask a judge are left out, unless `judge` (as in `evaluate`), `max_judge_calls` or
    `max_cost` (in dollars) is given. The judge is then asked about a random sample of the mutants that no other metric catches,
    within 200 calls by default; `notify` gets the number of calls before the first one. `config` is found as in `evaluate`.
    The same `seed` makes the same mutants. One conversation
    decides: `trials` of the config do not count. Unless `proposals` is false, changes that catch survivors are searched and
    verified. `case` keeps the evidence of the mutants that survive in that case. `store` (a URL, a path, a `Store`) keeps the
    audit with its mutants, apart from the runs of agents. A custom metric may take `timeout` seconds for each mutant.

    Raises:
        SetupProblems: what is wrong with the sets, the configs, the names or the store.
        StoreError: the store cannot be written.
    """
    judges = _Judges(judge, max_judge_calls, max_cost, notify)
    operators = [*select_operators(mutants), *judges.operators]
    options: dict[str, Any] = {
        "config": config,
        "allow_unasserted": True,
        "allow_unknown_keys": allow_unknown_keys,
        "store": store,
        **judges.options,
    }
    prepared = prepare("replay", eval_sets, options, plays=False)  # type: ignore[arg-type]  # names of options
    with nullcontext() if prepared.store is None or is_open(store) else closing(prepared.store):
        with open_conversations(from_run, store) as conversations:
            result, cases = await _audit(prepared, operators, seed, timeout, conversations)
        _check_case(result.sets, case)  # before anything is spent on judges
        if agent is not None:
            result.leakage = await find_leaks(agent, prepared.plan.sets)
        stored = stored_run_of(prepared, result, cases, mutants)
        with closing(stored) if stored is not None else nullcontext():
            async with judges:
                cases = await judges.ask(prepared, result, cases, timeout, stored)
                if proposals:
                    sound = [each for each in cases if each.is_sound]
                    result.proposals = await propose(sound, timeout, judges.provided, judges.notify)
                judges.count_usage(result)
            if case is not None:
                result.evidence = _evidence(cases, case)
            if stored is not None:
                result.run_id = store_audit(stored, result, cases)
        return result


audit_sync = sync_form(audit)


_Notify = Callable[[str], None]


class _Judges:
    """The judges of an audit, which are asked if a judge or a limit is given."""

    def __init__(
        self, judge: Any, max_calls: int | None, max_cost: float | None, notify: _Notify | None
    ) -> None:
        self.notify: _Notify = notify or _ignore
        self.are_asked = not (judge is None and max_calls is None and max_cost is None)
        self._limit = DEFAULT_CALLS if max_calls is None else max_calls
        self.options: dict[str, Any] = {"no_judge": True}
        if self.are_asked:
            self.options = {"judge": judge, "max_judge_calls": self._limit, "max_cost": max_cost}
        self.operators = FOR_JUDGES if self.are_asked else ()
        self.provided: Judges | None = None
        """The judges, once they may be asked."""

    async def __aenter__(self) -> None:
        """Do nothing: judges are loaded when they are asked."""

    async def __aexit__(self, *_: object) -> None:
        """Close their connections."""
        if self.provided is not None:
            await self.provided.close()

    def count_usage(self, audit: AuditResult) -> None:
        """Note what the judges used, for mutants and for proposals."""
        if self.provided is not None and audit.judged is not None:
            audit.judged.usage = dict(money_by_purpose(self.provided.spending())).get("judge", "no call")

    async def ask(
        self,
        prepared: Prepared,
        audit: AuditResult,
        cases: list[AuditedCase],
        seconds: float | None,
        stored: ScoringRecord | None,
    ) -> list[AuditedCase]:
        """Ask the judges about the mutants that survive; return the cases with those that survive now.

        An answer that is stored is not asked for again, and a new one is stored when it arrives.
        """
        if not self.are_asked:
            return cases
        provided = prepared.options.judges
        if provided is None or not prepared.plan.asks_judges:
            raise SetupError(f"no criterion of these sets asks a judge: {_JUDGE_MISSING}")
        if stored is not None:
            stored.begin(None)
            provided.remember(Answers(stored))
        self.provided = provided
        return await judge_mutants(audit, cases, self._limit, seconds=seconds, notify=self.notify)


def _ignore(_: str) -> None:
    return


_JUDGE_MISSING = 'add one, for example "final_response_match_v2": 1.0, or leave the judge out'


async def _audit(
    prepared: Prepared,
    operators: Sequence[Operator],
    seed: int,
    seconds: float | None,
    conversations: RunConversations,
) -> tuple[AuditResult, list[AuditedCase]]:
    """Return the audit, and its recorded cases with the mutants that survive."""
    cases: list[AuditedCase] = []
    sets = [
        await _audit_set(plan, operators, seed, seconds, recordings_of(plan, seed, conversations), cases)
        for plan in prepared.plan.sets
    ]
    words = {each.name: (each.label, each.family) for each in operators}
    return AuditResult(sets, seed, words, prepared.warnings, from_run=conversations.run_id), cases


def _check_case(sets: Sequence[SetAudit], eval_id: str | None) -> None:
    known = [case.eval_id for one in sets for case in one.cases]
    if eval_id is not None and eval_id not in known:
        raise UnknownNameError(f"no case {eval_id!r} in these sets.{did_you_mean(eval_id, known)}", known)


def _evidence(cases: Sequence[AuditedCase], eval_id: str) -> list[MutantEvidence]:
    """Return the mutants that survive in the case of that id; none if its recorded conversation does not pass."""
    chosen = (case for case in cases if case.audit.eval_id == eval_id and not case.audit.contradicts)
    return [each for case in chosen for each in evidence_of_survivors(case)]


async def _audit_set(
    plan: SetPlan,
    operators: Sequence[Operator],
    seed: int,
    seconds: float | None,
    recordings: Mapping[int, Recording],
    audited: list[AuditedCase],
) -> SetAudit:
    """Audit one set, and append its recorded cases to `audited`."""
    audit = SetAudit(
        plan.source.eval_set_id,
        plan.source.label,
        plan.summary.config_source,
        left_out=plan.summary.skipped_metrics,
    )
    tally = _tally(plan)
    auditor = CaseAuditor(operators, seed, tally)
    for index, recording in recordings.items():
        skip = plan.skip_reason(index)
        problem = recording.problem or skip.replace("left out by --no-judge", "which needs --judge")
        one = CaseAudit(recording.case.eval_id, plan.source.where(index), problem)
        audit.cases.append(one)
        scorer = CaseScorer(plan, recording, seconds)
        survivors = [] if skip else await auditor.audit(one, recording, scorer)
        audited.append(AuditedCase(one, plan, index, recording, survivors))
    audit.metrics = [each for each in tally.values() if each.scored or each.name in plan.config.criteria]
    return audit


def _tally(plan: SetPlan) -> dict[str, MetricAudit]:
    deciding = [metric for metric in plan.metrics if metric.gates]
    return {metric.name: MetricAudit(metric.name, metric.threshold, metric.gate) for metric in deciding}


async def find_passed_by_idle(plan: SetPlan, most: int) -> dict[int, str]:
    """Return the cases that an agent passes that always gives one text and calls no tool, and what it does; the first `most` are tried.

    Cases with metrics that run the user's code or ask a judge are left out.
    """
    faults: dict[int, str] = {}
    for index in [*plan.cases][:most]:
        recording = Recording(plan.source.case(index))
        if not all(metric.is_quick for metric in plan.metrics_for(recording.case)):
            continue
        scorer = CaseScorer(plan, recording, None)
        for operator in _IDLE:
            for mutant in mutants_of(recording, operator, 0):
                if (await scorer.score(mutant.turns, mutant.state)).outcome is Outcome.PASSED:
                    faults.setdefault(index, mutant.fault)
    return faults
