"""The list of audits, and the page of one audit: classes of faults, cases, metrics, and changes that catch survivors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from proctor.authoring.audit.audit_report import FAMILY_WORDS
from proctor.authoring.audit.audit_sentence import audit_sentence
from proctor.authoring.audit.criteria_blocks import criteria_lines, proposals_by_place, snippets
from proctor.authoring.audit.judged_mutants import judge_notes, judged_text
from proctor.authoring.audit.leakage import leakage_blocks
from proctor.authoring.audit.stored_audit import AUDIT, audit_findings, load_audit, newest_audits
from proctor.reports.content.symbols import short_ids
from proctor.reports.content.text_blocks import Block, Line
from proctor.schema.analysis.audit_result import (
    AGENTS,
    AuditResult,
    CaseAudit,
    Fate,
    JudgeAudit,
    MutationScore,
    OperatorScore,
    Proposal,
)
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.run_result import RunKind
from proctor.web.pages.base import Share, copy_fields, share

if TYPE_CHECKING:
    from proctor.stores.base import RunEntry, Store


class AuditedSet(PageModel):
    """What one eval set of an audit catches, in short."""

    eval_set_id: str
    caught: Share
    """Mutants."""
    classes_caught: int
    """Classes of faults of whose mutants at least 95 % are caught."""
    classes: int
    """Classes of faults that apply to the set."""
    blind: list[str]
    """Classes of which fewer than half of the mutants are caught."""
    passed_by_any: int
    """Cases that an agent passes that does nothing."""


class AuditRow(PageModel):
    """An audit in a list."""

    run_id: str
    short: str
    created_at: float
    cases: int
    config: str
    """The source of the criteria; empty if several configs were used."""
    mutants: list[str]
    """The mutants that were asked for; empty: all."""
    sets: list[AuditedSet]


class AuditsPage(PageModel):
    """Some of the audits."""

    items: list[AuditRow]
    next: str | None
    """`before` of the next page; null: these are the last."""
    total: int
    """The number of all audits in the store."""


class FaultClass(PageModel):
    """What became of the mutants of one class of faults."""

    name: str
    label: str
    family: str
    """In words: `tool calls`."""
    is_agent: bool
    """Whether these are agents that do nothing; they do not count in the mutation score."""
    caught: Share
    """`of` = 0: the class applies to no case."""
    errors: int
    """Mutants that could not be scored."""
    cases: int
    standing: Literal["caught", "weak", "blind", "not_applicable"]


class AuditedCaseRow(PageModel):
    """One case of an audit."""

    position: int
    eval_set_id: str
    eval_id: str
    place: str
    """`file:line`; empty for a set made in Python."""
    caught: Share
    """Mutants, without the agents that do nothing."""
    survivors: int
    errors: int
    """Mutants that could not be made or scored; they are not caught."""
    faults: list[str]
    """The classes of the mutants that survive."""
    passed_by: list[str]
    """The agents that do nothing and pass."""
    same_as: str
    """An earlier case that asks and accepts the same; empty if there is none."""
    problem: str
    """Why the case has no mutants; empty if it has."""
    contradicts: bool
    """Whether its own recorded conversation does not pass."""


class AuditedMetric(PageModel):
    """How often one gating metric decided."""

    name: str
    threshold: float | None
    scored: int
    failed: int
    is_idle: bool
    """Whether it scored mutants and failed none."""


class JudgedClass(PageModel):
    """The mutants of one class of faults that a judge decided."""

    label: str
    family: str
    """In words: `answers`."""
    is_agent: bool
    noticed: Share
    """Those that it failed: the rate is its true negative rate for the class."""


class AuditedJudge(PageModel):
    """The verdicts of one judge: recorded conversations are right, mutants are wrong."""

    metric: str
    model: str
    recorded: Share
    """Recorded conversations that it passed: its true positive rate."""
    mutants: Share
    """Mutants that it failed: its true negative rate."""
    passes_everything: bool
    classes: list[JudgedClass]
    """The ones that it notices least come first."""
    notes: list[str]
    """What the rates mean for a run, and what they leave out."""


class ChangeLine(PageModel):
    """One change that catches survivors."""

    change: str
    catches: int
    of: int
    """The survivors that the changes before it left."""
    faults: list[str]
    """The classes of the survivors that it catches."""
    note: str


class ChangeGroup(PageModel):
    """The changes of one config or case."""

    place: str
    changes: list[ChangeLine]
    snippets: list[str]
    """What to paste."""


class AuditPage(PageModel):
    """One audit."""

    run_id: str
    short: str
    created_at: float
    seed: int
    sets: list[AuditedSet]
    paths: list[str]
    configs: list[str]
    sentence: str
    caught: Share
    errors: int
    """Mutants that could not be scored."""
    audited: int
    """Cases with mutants."""
    classes: list[FaultClass]
    """Those with most survivors first, then the others; those that apply to no case last."""
    cases: list[AuditedCaseRow]
    metrics: list[AuditedMetric]
    judges: list[AuditedJudge]
    """Empty if none was asked."""
    asked: str
    """How many mutants were judged, at what cost, and which limit left others out; empty if no judge was asked."""
    notes: list[str]
    """Sentences about what the agent could see, and about metrics and thresholds that decide nothing."""
    changes: list[ChangeGroup]
    warnings: list[str]
    command: str


# --- the list -----------------------------------------------------------------------------------------------------------


def audits_page(
    store: Store,
    *,
    limit: int,
    before: str | None = None,
    eval_set: str | None = None,
) -> AuditsPage:
    """Return the newest audits (of a set); with `before` those that follow this one in the list.

    Raises:
        UnknownNameError: there is no audit `before`.
    """
    every = [entry for entry in store.index(RunKind.AUDIT) if entry.complete]
    ids = [entry.run_id for entry in every]
    first = ids.index(store.find(before, RunKind.AUDIT)) + 1 if before else 0
    entries = [entry for entry in every[first:] if eval_set is None or eval_set in entry.sets]
    short = _short(store)
    rows = [_row(store, entry, short[entry.run_id]) for entry in entries[:limit]]
    return AuditsPage(items=rows, next=rows[-1].run_id if len(entries) > limit else None, total=len(ids))


def audits_of_run(store: Store, run: str) -> AuditsPage:
    """Return the newest audits of the cases that a run used, with its config; each with these sets alone.

    Raises:
        UnknownNameError: there is no such run.
    """
    short, rows = _short(store), dict[str, AuditRow]()
    for newest in newest_audits(store, store.find(run)):
        entry = newest.audit
        row = rows.setdefault(
            entry.run_id, _row(store, entry, short[entry.run_id]).model_copy(update={"sets": []})
        )
        row.sets.append(_audited_set(newest.eval_set_id, newest.share))
    return AuditsPage(items=[*rows.values()], next=None, total=len(rows))


def audit_alone(store: Store, run_id: str) -> AuditsPage:
    """Return a list with one audit: that of a file."""
    entry = next(one for one in store.index(RunKind.AUDIT) if one.run_id == run_id)
    return AuditsPage(items=[_row(store, entry, _short(store)[run_id])], next=None, total=1)


def _short(store: Store) -> dict[str, str]:
    return short_ids([entry.run_id for entry in store.index(None)])


def _row(store: Store, entry: RunEntry, short: str) -> AuditRow:
    manifest = store.manifest(entry.run_id)
    configs = {judged.config_source for judged in store.scorings(entry.run_id)[0].sets}
    return AuditRow(
        run_id=entry.run_id,
        short=short,
        created_at=entry.created_at,
        cases=sum(one.cases for one in manifest.sets),
        config=configs.pop() if len(configs) == 1 else "",
        mutants=manifest.options[AUDIT]["mutants"] or [],
        sets=[
            _audited_set(one.eval_set_id, of_set)
            for one, of_set in zip(manifest.sets, audit_findings(store, entry.run_id)["shares"], strict=True)
        ],
    )


def _audited_set(eval_set_id: str, counts: Mapping[str, Any]) -> AuditedSet:
    caught, classes = counts.get("classes", (0, 0))
    return AuditedSet(
        eval_set_id=eval_set_id,
        caught=share(counts["caught"], counts["made"]),
        classes_caught=caught,
        classes=classes,
        blind=counts["blind"],
        passed_by_any=counts["passed_by_any"],
    )


# --- one audit ----------------------------------------------------------------------------------------------------------


def audit_page(store: Store, name: str) -> AuditPage:
    """Return one audit, given its id or the beginning of it.

    Raises:
        UnknownNameError: there is no such audit.
        SetupError: it is not finished.
    """
    run_id = store.find(name, RunKind.AUDIT)
    audit = load_audit(store, run_id)
    (row,) = audit_alone(store, run_id).items
    classes = [*map(_class, audit.by_operator)]
    idle = {metric.name for metric in audit.idle_metrics}
    return AuditPage(
        run_id=run_id,
        short=row.short,
        created_at=row.created_at,
        seed=audit.seed,
        sets=row.sets,
        paths=[one.path or one.eval_set_id for one in audit.sets],
        configs=[*dict.fromkeys(one.config_source for one in audit.sets)],
        sentence=audit_sentence(audit),
        caught=_share(audit.score),
        errors=audit.score.errors,
        audited=len(audit.audited),
        classes=sorted(classes, key=lambda one: (not one.caught.of, one.caught.count - one.caught.of)),
        cases=[*_cases(audit)],
        metrics=[copy_fields(AuditedMetric, one, is_idle=one.name in idle) for one in audit.metrics],
        judges=[_judge(audit, one) for one in audit.judged.judges] if audit.judged else [],
        asked=_sentence(judged_text(audit.judged)) if audit.judged else "",
        notes=[*_texts(_findings(audit))],
        changes=[*change_groups(audit.proposals, _labels(audit))],
        warnings=audit.warnings,
        command=f"proctor show {row.short} -v",
    )


def _share(score: MutationScore) -> Share:
    return share(score.caught, score.made)


def _labels(audit: AuditResult) -> dict[str, str]:
    return {name: label for name, (label, _) in audit.operators.items()}


def _class(operator: OperatorScore) -> FaultClass:
    score = operator.score
    decided = MutationScore(
        score.caught, score.made + score.errors
    )  # as --fail-under: an error is not caught
    standing = "blind" if decided.is_blind else "weak" if decided.is_weak else "caught"
    return FaultClass(
        name=operator.name,
        label=operator.label,
        family=FAMILY_WORDS.get(operator.family, operator.family),
        is_agent=operator.family == AGENTS,
        caught=_share(score),
        errors=score.errors,
        cases=score.cases,
        standing=standing if decided.made else "not_applicable",
    )


def _judge(audit: AuditResult, one: JudgeAudit) -> AuditedJudge:
    confusion = one.confusion
    classes = sorted(one.classes.items(), key=lambda each: each[1][0] / each[1][1])
    return AuditedJudge(
        metric=one.metric,
        model=one.model,
        recorded=share(one.right_passed, one.right),
        mutants=share(confusion.both_fail, confusion.human_fails),
        passes_everything=one.passes_everything,
        classes=[_judged_class(audit, name, *counts) for name, counts in classes],
        notes=[*map(_sentence, judge_notes(audit, one))],
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _judged_class(audit: AuditResult, name: str, noticed: int, judged: int) -> JudgedClass:
    label, family = audit.operators[name]
    return JudgedClass(
        label=label,
        family=FAMILY_WORDS.get(family, family),
        is_agent=family == AGENTS,
        noticed=share(noticed, judged),
    )


def _cases(audit: AuditResult) -> Iterator[AuditedCaseRow]:
    labels, agents = _labels(audit), audit.agent_names
    cases = chain.from_iterable(((one.eval_set_id, case) for case in one.cases) for one in audit.sets)
    for position, (eval_set_id, case) in enumerate(cases):
        survivors = [each.operator for each in case.mutants if each.fate is Fate.SURVIVED]
        passed_by = [each for each in survivors if each in agents]
        yield copy_fields(
            AuditedCaseRow,
            case,
            position=position,
            eval_set_id=eval_set_id,
            caught=case_share(case, agents),
            survivors=len(survivors) - len(passed_by),
            errors=sum(each.fate is Fate.ERROR and each.operator not in agents for each in case.mutants),
            faults=[*dict.fromkeys(labels[each] for each in survivors if each not in agents)],
            passed_by=[labels[each] for each in passed_by],
        )


def case_share(case: CaseAudit, agents: Iterable[str]) -> Share:
    """Return the share of a case's mutants that are caught, without the agents that do nothing and errors."""
    left_out = {*agents}
    fates = [each.fate for each in case.mutants if each.operator not in left_out]
    return share(fates.count(Fate.CAUGHT), len(fates) - fates.count(Fate.ERROR))


def _findings(audit: AuditResult) -> Iterator[Block]:
    """Yield what was found about the agent and the criteria."""
    yield from leakage_blocks(audit.leakage, everything=True) if audit.leakage is not None else ()
    yield from criteria_lines(audit, everything=True)


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Line):
            yield "".join(span.text for span in block.spans)


def change_groups(proposals: Sequence[Proposal], labels: Mapping[str, str]) -> Iterator[ChangeGroup]:
    """Yield the changes by the config or the case that they belong to; those that catch most come first."""
    for place, changes in proposals_by_place(proposals):
        yield ChangeGroup(
            place=place,
            changes=[
                copy_fields(
                    ChangeLine,
                    each,
                    faults=[*dict.fromkeys(labels.get(name, name) for name in each.faults)],
                )
                for each in changes
            ],
            snippets=[*snippets(changes)],
        )
