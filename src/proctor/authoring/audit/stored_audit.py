"""Audits in a store: an audit is written as a run of the kind `audit` whose trials are the mutants, and read back.

A mutant that survives is stored whole, with its scores. Of a caught one only the planted fault and the metrics that failed it
are stored: the case and the seed make its conversation again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from proctor.authoring.audit.audit_case import AuditedCase, Survivor, trial_of
from proctor.authoring.audit.leakage import leakage_data, leakage_of
from proctor.authoring.audit.mutant import Recording
from proctor.authoring.audit.mutant_evidence import compare_mutant, survivors_text
from proctor.common.safe_text import count_text
from proctor.engine.execution.run_recorder import ScoringRecord
from proctor.errors import SetupError
from proctor.reports.content.summary import percent
from proctor.runs.setup.manifest import planned_cases, scoring_manifest
from proctor.runs.storage.lookup import find_case, read_case_as_run
from proctor.schema.analysis.audit_result import (
    AGENTS,
    AuditResult,
    CaseAudit,
    Fate,
    JudgeAudit,
    JudgedMutants,
    MetricAudit,
    MutantEvidence,
    MutantFate,
    Proposal,
    SetAudit,
    fate_data,
)
from proctor.schema.evidence.trial import Failure, FailureKind, Mutation, Trial
from proctor.schema.results.manifest import AgentManifest, RunState, RunSummary
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunKind, TrialResult
from proctor.schema.results.score import MetricScore, outcome_of_run
from proctor.schema.serialize import kept_json
from proctor.stores.base import Record, ScoreRecord, TrialRecord, VerdictRecord

if TYPE_CHECKING:
    from proctor.runs.setup.prepare import Prepared
    from proctor.stores.base import RunEntry, Store

AUDIT = "audit"
"""Among the options of a manifest: what is audited."""
_AGENT = AgentManifest(label="mutants")
_OUTCOMES = {Fate.CAUGHT: Outcome.PASSED, Fate.SURVIVED: Outcome.FAILED, Fate.ERROR: Outcome.ERROR}
"""What is tested is the case: it passes the test if it catches the mutant."""


# --- Write -----------------------------------------------------------------------------------------------------------


def stored_run_of(
    prepared: Prepared, audit: AuditResult, cases: Sequence[AuditedCase], mutants: Sequence[str] | None
) -> ScoringRecord | None:
    """Return the audit as a run that has not begun; `None` without a store. `mutants` are those that were asked for.

    It begins before a judge is asked, so that each answer is stored when it arrives.
    """
    store = prepared.store
    if store is None or prepared.manifest is None:
        return None
    manifest = prepared.manifest.model_copy(update={"kind": RunKind.AUDIT, "agent": _AGENT, "num_runs": 1})
    manifest.options = {**manifest.options, AUDIT: _settings(audit, cases, mutants)}
    scoring = scoring_manifest(prepared.plan, created_at=manifest.created_at)
    planned = planned_cases(prepared.plan)
    return ScoringRecord(store, lambda _, committed: store.begin(manifest, planned, scoring, committed))


def store_audit(run: ScoringRecord, audit: AuditResult, cases: Sequence[AuditedCase]) -> str:
    """Write what an audit found, and return its id.

    Raises:
        StoreError: the store cannot be written.
    """
    if not run.is_open:
        run.begin(None)
    audited = {id(each.audit): each for each in cases}
    outcomes: list[Outcome] = []
    for position, (eval_set_id, case) in enumerate(_cases_of(audit)):
        result = _case_result(audit, eval_set_id, case)
        outcomes.append(result.outcome)
        records = _trial_records(position, result, case, audited[id(case)], audit)
        run.writer.put([*records, VerdictRecord(position, result)])
    run.writer.finish(_summary(outcomes, audit), complete=True)
    return run.writer.run_id


def _cases_of(audit: AuditResult) -> Iterator[tuple[str, CaseAudit]]:
    return ((one.eval_set_id, case) for one in audit.sets for case in one.cases)


def _summary(outcomes: Sequence[Outcome], audit: AuditResult) -> RunSummary:
    outcome = outcome_of_run(outcomes, set_missing=False, has_failure=False)
    counts = {each.value: outcomes.count(each) for each in dict.fromkeys(outcomes)}
    return RunSummary(outcome=outcome, counts=counts, warnings=audit.warnings, audit=_findings(audit))


def _settings(
    audit: AuditResult, cases: Sequence[AuditedCase], mutants: Sequence[str] | None
) -> dict[str, Any]:
    """Return what is audited, as plain data."""
    return {
        "seed": audit.seed,
        "mutants": mutants and [*mutants],
        "operators": audit.operators,
        "from_run": audit.from_run,
        "trials": _trials([each.recording.trial for each in cases]),
    }


def _findings(audit: AuditResult) -> dict[str, Any]:
    """Return what was found and no trial of the audit contains, as plain data."""
    return {
        "proposals": [asdict(each) for each in audit.proposals],
        "leakage": leakage_data(audit.leakage),
        "judged": audit.judged and asdict(audit.judged),
        "metrics": [[asdict(metric) for metric in one.metrics] for one in audit.sets],
        "shares": [_share(AuditResult([one], audit.seed, audit.operators)) for one in audit.sets],
        "cases": _remarks(audit),
    }


def _remarks(audit: AuditResult) -> dict[str, Any]:
    """Return what was found about whole cases, by their position."""
    return {
        str(position): {"problem": case.problem, "contradicts": case.contradicts, "same_as": case.same_as}
        for position, case in enumerate(audit.cases)
        if case.problem or case.same_as
    }


def _trials(trials: Sequence[Trial | None]) -> dict[str, Any]:
    """Return the trials of the run that was mutated by the position of their case."""
    return {str(position): _slim(trial) for position, trial in enumerate(trials) if trial is not None}


def _slim(trial: Trial) -> Any:
    """Return the conversation of a trial and its final state, as plain data."""
    return trial.model_dump(mode="json", include={"eval_set_id", "eval_id", "turns", "final_state"})


def _share(of_set: AuditResult) -> dict[str, Any]:
    """Return what one set catches, in short. A mutant that could not be scored counts as not caught, as for `--fail-under`."""
    tried = [
        each
        for each in of_set.by_operator
        if each.family != AGENTS and (each.score.made or each.score.errors)
    ]
    score = of_set.score
    return {
        "caught": score.caught,
        "made": score.made + score.errors,
        "classes": [sum(not (each.score.is_weak or each.score.errors) for each in tried), len(tried)],
        "blind": [each.label for each in tried if each.score.is_blind],
        "passed_by_any": len(of_set.passed_by_any),
    }


def _case_result(audit: AuditResult, eval_set_id: str, case: CaseAudit) -> CaseResult:
    """Return what became of a case: it passes if it catches every mutant."""
    trials = [
        TrialResult(number, _OUTCOMES[each.fate], evidence=None, failure=_failure(each))
        for number, each in enumerate(case.mutants)
    ]
    fates = [each.fate for each in case.mutants]
    outcome, reason = Outcome.PASSED, ""
    if case.problem:
        outcome, reason = Outcome.ERROR if case.contradicts else Outcome.SKIPPED, case.problem
    elif Fate.SURVIVED in fates:
        outcome, reason = Outcome.FAILED, survivors_text(audit, case)
    elif Fate.ERROR in fates:
        outcome = Outcome.ERROR
        reason = f"{fates.count(Fate.ERROR):,} of {len(fates):,} mutants and agents that do nothing could not be scored"
    return CaseResult(eval_set_id, case.eval_id, outcome, reason, trials=trials, place=case.place)


def _failure(mutant: MutantFate) -> Failure | None:
    if mutant.fate is not Fate.ERROR:
        return None
    return Failure(where="metric", kind=FailureKind.UNUSABLE_ANSWER, message=mutant.reason)


def _trial_records(
    position: int, result: CaseResult, case: CaseAudit, audited: AuditedCase, audit: AuditResult
) -> Iterator[Record]:
    """Yield each mutant of a case as a trial, with its scores if it survives; these are added to the result, too."""
    document, survivors = kept_json(audited.recording.case), iter(audited.survivors)
    computed: list[Sequence[MetricScore | None]] = []
    metrics = audited.metrics
    for number, each in enumerate(case.mutants):
        survivor = next(survivors) if each.fate is Fate.SURVIVED else None
        evidence = _evidence(number, each, result, audit, audited, survivor)
        yield TrialRecord(position, number, 0, evidence, each.fate is Fate.ERROR, b"" if number else document)
        if survivor is not None:
            scores_by_metric = zip((metric.name for metric in metrics), survivor.scored.computed, strict=True)
            yield ScoreRecord(position, number, 0, dict(scores_by_metric))
        computed.append(survivor.scored.computed if survivor is not None else [None] * len(metrics))
    if audited.survivors:
        result.metrics = {
            metric.name: MetricVerdict(
                metric.name, Outcome.INFORMATIONAL, None, metric.threshold, metric.gate, per_trial=scores
            )
            for metric, scores in zip(metrics, zip(*computed, strict=True), strict=True)
        }


def _evidence(
    number: int,
    mutant: MutantFate,
    result: CaseResult,
    audit: AuditResult,
    audited: AuditedCase,
    survivor: Survivor | None,
) -> bytes:
    """Return a mutant as the evidence of a trial, marked as mutated; without turns unless it survives."""
    mutation = {**fate_data(mutant), "label": audit.operators[mutant.operator][0]}
    if survivor is None:
        ids = {"eval_set_id": result.eval_set_id, "eval_id": result.eval_id, "number": number}
        return to_json({**ids, "mutation": mutation}, exclude_none=True)
    surviving_mutant = survivor.mutant
    trial = trial_of(result.eval_set_id, audited.recording, surviving_mutant.turns, surviving_mutant.state)
    trial.number, trial.mutation = number, Mutation.model_construct(**mutation)
    return kept_json(trial)


# --- Read ------------------------------------------------------------------------------------------------------------


def audit_findings(store: Store, run_id: str) -> Mapping[str, Any]:
    """Return what an audit found and no trial of it contains.

    Raises:
        SetupError: the audit is not finished.
    """
    if findings := store.summary(run_id).audit:
        return findings
    settings: Mapping[str, Any] = store.manifest(run_id).options[AUDIT]
    if "shares" in settings:  # audits of earlier versions have their findings there
        return settings
    if store.record(run_id).state is RunState.RUNNING:
        raise SetupError(f"the audit {run_id} is under way: its result is stored at the end")
    raise SetupError(
        f"the audit {run_id} was interrupted and has no result. The answers of its judges are stored: audit the same sets "
        "again, and only the missing ones are asked for"
    )


def load_audit(store: Store, run_id: str) -> AuditResult:
    """Return a stored audit, without the evidence of its mutants.

    Raises:
        SetupError: the audit is not finished.
    """
    manifest, scoring = store.manifest(run_id), store.scorings(run_id)[0]
    settings, facts = manifest.options[AUDIT], audit_findings(store, run_id)
    cases = enumerate(store.load(run_id).cases)
    sets = []
    for one, judged, metrics in zip(manifest.sets, scoring.sets, facts["metrics"], strict=True):
        audits = [
            case_audit(result, facts["cases"].get(str(at), {})) for at, result in islice(cases, one.cases)
        ]
        sets.append(
            SetAudit(
                one.eval_set_id,
                one.path,
                judged.config_source,
                audits,
                [MetricAudit(**metric) for metric in metrics],
                judged.skipped_metrics,
            )
        )
    operators = {name: (label, family) for name, (label, family) in settings["operators"].items()}
    warnings = store.summary(run_id).warnings
    leakage, verdicts = leakage_of(facts["leakage"]), _judged_of(facts["judged"])
    return AuditResult(
        sets,
        settings["seed"],
        operators,
        warnings,
        proposals_of(facts),
        run_id=run_id,
        leakage=leakage,
        judged=verdicts,
        from_run=settings["from_run"],
    )


def _judged_of(data: Mapping[str, Any] | None) -> JudgedMutants | None:
    return (
        JudgedMutants(**{**data, "judges": [JudgeAudit(**each) for each in data["judges"]]}) if data else None
    )


def proposals_of(facts: Mapping[str, Any]) -> list[Proposal]:
    """Return the changes that an audit proposes, from what no trial of it contains."""
    stored = [dict(each) for each in facts["proposals"]]
    # audits of earlier versions also hold changes that were not tried
    return [Proposal(**each) for each in stored if each.pop("verified", True)]


def case_audit(result: CaseResult, facts: Mapping[str, Any]) -> CaseAudit:
    """Return what one case catches; `facts`: what no trial of it contains."""
    mutants = [_fate((trial.evidence_data() or {})["mutation"]) for trial in result.trials]
    return CaseAudit(result.eval_id, result.place, mutants=mutants, **facts)


def _fate(mutation: Mapping[str, Any]) -> MutantFate:
    data = {name: value for name, value in mutation.items() if name != "label"}
    return MutantFate(**{**data, "fate": Fate(data["fate"])})


def load_case_audit(store: Store, run_id: str, name: str) -> AuditResult:
    """Return a stored audit with one of its cases, and the mutants that survive in it.

    Raises:
        SetupError: the audit has no case called `name`, or several.
    """
    audit, planned = load_audit(store, run_id), find_case(store.planned(run_id), name)
    chosen = next(islice(audit.cases, planned.position, None))
    for one in audit.sets:
        one.cases = [case for case in one.cases if case is chosen]
    audit.evidence = [] if chosen.problem else load_survivors(store, run_id, planned.position)
    return audit


def load_survivors(store: Store, run_id: str, position: int) -> list[MutantEvidence]:
    """Return the mutants that survive in the case at a position, and what was recorded."""
    case, result = read_case_as_run(store, run_id, position), store.load(run_id).cases[position]
    if case is None:
        return []
    trial = store.manifest(run_id).options[AUDIT]["trials"].get(str(position))
    recording = Recording(case, trial=None if trial is None else Trial.model_validate(trial))
    recorded = trial_of(result.eval_set_id, recording, recording.turns, recording.state)
    return [
        compare_mutant(
            trial.mutation.operator, trial.mutation.fault, recorded, trial, _verdicts(result, one.number)
        )
        for one in result.trials
        if one.outcome is Outcome.FAILED and (trial := one.trial) is not None and trial.mutation is not None
    ]


def _verdicts(result: CaseResult, number: int) -> dict[str, MetricVerdict]:
    """Return the verdict of each metric on one mutant."""
    scores = {name: metric.per_trial[number] for name, metric in result.metrics.items()}
    return {
        name: MetricVerdict(
            name,
            _outcome(metric.threshold, score),
            score.value,
            metric.threshold,
            metric.gate,
            score.reason,
            [score],
        )
        for name, metric in result.metrics.items()
        if (score := scores[name]) is not None
    }


def _outcome(threshold: float | None, score: MetricScore) -> Outcome:
    if score.failure is not None:
        return Outcome.ERROR
    if score.value is None:
        return Outcome.NOT_APPLICABLE
    if threshold is None:
        return Outcome.INFORMATIONAL
    return Outcome.PASSED if score.value >= threshold else Outcome.FAILED


# --- Sets that a run used --------------------------------------------------------------------------------------------

POOR = 0.9
"""A set that catches a smaller share of the mutants is called poor."""
_MOST_SEARCHED = 50
_FEW = 4
"""Classes that the line about a poor audit names."""


@dataclass(frozen=True, slots=True)
class AuditOfSet:
    """The newest audit of a set that a run used."""

    name: str
    """The set's file, or its id."""
    audit: RunEntry
    eval_set_id: str
    share: Mapping[str, Any]
    """What the set catches, in short."""


def newest_audits(store: Store, run_id: str) -> Iterator[AuditOfSet]:
    """Yield for each set of a run its newest audit with all mutants: of the same cases, with the same config."""
    sets = store.manifest(run_id).sets
    names_by_hash = {
        (one.content_hash, judged.config_hash): one.path or one.eval_set_id
        for one, judged in zip(sets, store.scorings(run_id)[0].sets, strict=True)
    }
    ids = {one.eval_set_id for one in sets}
    for entry in store.index(RunKind.AUDIT)[:_MOST_SEARCHED]:
        if not entry.complete or not ids & {*entry.sets}:
            continue
        manifest = store.manifest(entry.run_id)
        if manifest.options[AUDIT]["mutants"] is not None:
            continue
        scoring, shares = store.scorings(entry.run_id)[0], audit_findings(store, entry.run_id)["shares"]
        for one, judged, share in zip(manifest.sets, scoring.sets, shares, strict=True):
            if name := names_by_hash.pop((one.content_hash, judged.config_hash), ""):
                yield AuditOfSet(name, entry, one.eval_set_id, share)


def poor_audits(store: Store, run_id: str) -> Iterator[str]:
    """Yield a sentence for each set of a run whose newest audit is poor."""
    for newest in newest_audits(store, run_id):
        if problem := _poor(newest.share):
            yield f"audit: {newest.name} {problem} (`proctor show {newest.audit.run_id}`)"


def _poor(share: Mapping[str, Any]) -> str:
    """Describe what a set does not catch; empty if its audit is good, or nothing was measured."""
    caught, total = share["caught"], share["made"]
    problems = []
    if total and caught < POOR * total:
        blind = f", and is blind to {_named(share['blind'])}" if share["blind"] else ""
        problems.append(
            f"catches {caught:,} of {total:,} planted faults ({percent(caught / total)} %){blind}"
        )
    if count := share["passed_by_any"]:
        problems.append(f"has {count_text(count, 'case')} that an agent passes that does nothing")
    return ", and ".join(problems)


def _named(classes: Sequence[str]) -> str:
    """Name the first classes, so that it stays one line."""
    more = f" and {len(classes) - _FEW:,} more classes" if len(classes) > _FEW + 1 else ""
    return ", ".join(classes[:_FEW] if more else classes) + more
