"""The parts of a run's page: its sets, who judged it and when, what models took, what exactly was run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.reports.content import summary
from proctor.reports.content.cost_text import PURPOSE_NAMES, VOID, by_purpose, cost_text, unpriced_models
from proctor.reports.content.repeat_stats import rule_text
from proctor.reports.content.run_list import ListedRun
from proctor.schema.results.manifest import Judging, Manifest
from proctor.schema.results.model_usage import Spent, total_cost
from proctor.schema.results.page_model import PageModel
from proctor.schema.results.repeats import Repeats
from proctor.schema.results.run_result import RunResult, SetSummary
from proctor.web.pages.runs.figures import PassK, pass_ks


class JudgePart(PageModel):
    """Who gave the verdicts of a metric."""

    metric: str
    model: str
    prompt: str
    """The hash of what it was told."""
    badge: str
    """What it was found to be worth; empty where it was never held against people."""
    void: bool
    """Whether that does not hold any more."""


class SetPart(PageModel):
    """One eval set of the run."""

    eval_set_id: str
    name: str
    """Its file's name, else its id."""
    path: str | None
    cases: int
    num_runs: int
    config_source: str
    """Where its criteria came from."""
    criteria: dict[str, Any]
    """The criteria as the config has them: thresholds or objects."""
    rule: str
    """What share of the trials must pass, in words; empty: every metric's mean decides."""
    metrics: list[str]
    left_out: dict[str, str]
    """Metrics left out on purpose, and by what."""
    failure: str
    """Why it could not be run; empty where it was."""
    pass_k: list[PassK]


class MoneyPart(PageModel):
    """What models took for one purpose."""

    purpose: str
    """`agent`, `user`, `judge`."""
    name: str
    cost: float | None
    """US dollars; null where a price is not known."""
    text: str
    """`$0.60`, `at least $0.60`, `unknown`."""
    calls: int
    cached: int
    """Answers that were known from before."""
    tokens: int
    unpriced: list[str]
    """Models whose price is not known."""


class JudgingPart(PageModel):
    """One pass of judging over the run's evidence."""

    number: int
    created_at: float
    config_sources: list[str]
    finished: bool
    counts: bool
    """Whether its verdicts are the run's."""


class ManifestPart(PageModel):
    """What exactly was run."""

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
class KeptRun:
    """A run in its store, beside its result."""

    listed: ListedRun
    manifest: Manifest
    judgings: Sequence[Judging]
    judging: int
    """The number of the one that is shown."""


def set_part(one: SetSummary, repeats: Repeats | None) -> SetPart:
    """Return one eval set of a run, with what its repeats say."""
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
    """Return what models took, by purpose."""
    return [
        MoneyPart(
            purpose=purpose,
            name=PURPOSE_NAMES.get(purpose, purpose),
            cost=total_cost(found),
            text=cost_text(found),
            calls=sum(one.calls for one in found),
            cached=sum(one.cached for one in found),
            tokens=sum(one.input_tokens + one.output_tokens for one in found),
            unpriced=unpriced_models(found),
        )
        for purpose, found in by_purpose(spent)
    ]


def judge_parts(run: RunResult) -> list[JudgePart]:
    """Return who gave the verdicts, and what they were found to be worth."""
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
    """Return all judgings; `counts`: the number of the one whose verdicts are the run's."""
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


def manifest_part(kept: KeptRun) -> ManifestPart:
    """Return what exactly was run."""
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
