"""The parts of a run's page: its sets, LLM judges, scorings, costs and manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.reports.content import summary
from proctor.reports.content.cost_text import PURPOSE_NAMES, VOID, by_purpose, cost_text, unpriced_models
from proctor.reports.content.repeat_stats import rule_text
from proctor.reports.content.run_list import ListedRun
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_statistics import Repeats
from proctor.schema.results.manifest import Judging, Manifest
from proctor.schema.results.model_usage import Spent, total_cost
from proctor.schema.results.run_result import RunResult, SetSummary
from proctor.web.pages.runs.figures import PassK, pass_ks


class JudgePart(PageModel):
    """The LLM judge of a metric."""

    metric: str
    model: str
    prompt: str
    """The hash of the prompt."""
    badge: str
    """Its calibration as text; empty if it was not calibrated."""
    void: bool
    """Whether the calibration no longer applies."""


class SetPart(PageModel):
    """One eval set of the run."""

    eval_set_id: str
    name: str
    """Its file's name, else its id."""
    path: str | None
    cases: int
    num_runs: int
    config_source: str
    """The source of its criteria."""
    criteria: dict[str, Any]
    """The criteria of the config: thresholds or objects."""
    rule: str
    """The share of the trials that must pass, as text; empty: every metric's mean decides."""
    metrics: list[str]
    left_out: dict[str, str]
    """Metrics that were skipped, each with the reason."""
    failure: str
    """Why it could not be run; empty if it was."""
    pass_k: list[PassK]


class MoneyPart(PageModel):
    """The usage of models for one purpose."""

    purpose: str
    """`agent`, `user`, `judge`."""
    name: str
    cost: float | None
    """US dollars; null if a price is unknown."""
    text: str
    """`$0.60`, `at least $0.60`, `unknown`."""
    calls: int
    cached: int
    """The number of answers from the cache."""
    tokens: int
    unpriced: list[str]
    """Models without a known price."""


class JudgingPart(PageModel):
    """One scoring of the run's evidence."""

    number: int
    created_at: float
    config_sources: list[str]
    finished: bool
    counts: bool
    """Whether its verdicts are the run's."""


class ManifestPart(PageModel):
    """The manifest: what exactly was run."""

    reference: str | None
    """The AGENT string."""
    agent_version: str | None
    commit: str | None
    command: list[str]
    folder: str
    versions: dict[str, str]
    models: list[str]
    """Models seen in the evidence."""
    imported_from: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run: its entry in the list, its manifest and its scorings."""

    listed: ListedRun
    manifest: Manifest
    judgings: Sequence[Judging]
    judging: int
    """The number of the scoring shown."""


def set_part(one: SetSummary, repeats: Repeats | None) -> SetPart:
    """Return one eval set of a run; `repeats`: those of its cases."""
    return SetPart(
        eval_set_id=one.eval_set_id,
        name=summary.set_name(one),
        path=one.path,
        cases=one.cases,
        num_runs=one.num_runs,
        config_source=summary.config_source(one),
        criteria=one.criteria,
        rule=rule_text(one.rule) if one.rule else "",
        metrics=one.metrics,
        left_out=one.skipped_metrics,
        failure=one.failure.cause if one.failure else "",
        pass_k=pass_ks(repeats) if repeats else [],
    )


def money_parts(spent: Sequence[Spent]) -> list[MoneyPart]:
    """Return the usage of models by purpose."""
    return [
        MoneyPart(
            purpose=purpose,
            name=PURPOSE_NAMES.get(purpose, purpose),
            cost=total_cost(usages),
            text=cost_text(usages),
            calls=sum(usage.calls for usage in usages),
            cached=sum(usage.cached for usage in usages),
            tokens=sum(usage.input_tokens + usage.output_tokens for usage in usages),
            unpriced=unpriced_models(usages),
        )
        for purpose, usages in by_purpose(spent)
    ]


def judge_parts(run: RunResult) -> list[JudgePart]:
    """Return the LLM judges of a run with their calibrations."""
    badges: Mapping[str, str] = run.badges
    return [
        JudgePart(
            metric=one.metric,
            model=one.model,
            prompt=one.prompt,
            badge=badges.get(one.metric, ""),
            void=badges.get(one.metric, "").startswith(VOID),
        )
        for one in run.judged_by
    ]


def judging_parts(judgings: Sequence[Judging], counts: int) -> list[JudgingPart]:
    """Return all scorings; `counts`: the number of the one that counts."""
    return [
        JudgingPart(
            number=one.number,
            created_at=one.created_at,
            config_sources=list(dict.fromkeys(each.config_source for each in one.sets if each.config_source)),
            finished=one.finished,
            counts=one.number == counts,
        )
        for one in judgings
    ]


def manifest_part(kept: StoredRun) -> ManifestPart:
    """Return the manifest of a run."""
    manifest = kept.manifest
    return ManifestPart(
        reference=manifest.agent.reference,
        agent_version=manifest.agent.version,
        commit=manifest.agent.commit,
        command=manifest.command,
        folder=manifest.folder,
        versions=manifest.versions,
        models=kept.listed.run.summary.models,
        imported_from=manifest.imported_from,
    )
