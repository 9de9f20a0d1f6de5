"""The page of one run: the verdict as a sentence, figures with confidence intervals, LLM judges, the manifest.

Sentences, means and costs come from the same functions as the terminal's report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from proctor.reports.content import summary
from proctor.reports.content.case_digest import CaseWarnings, Digest, ks_of, rule_text
from proctor.reports.content.failure_causes import FailureGroup
from proctor.reports.content.run_list import ListedRun
from proctor.reports.content.summary import VOID
from proctor.reports.content.symbols import short_names
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_result import FaultRates, Repeats, ScoreRanges
from proctor.schema.results.manifest import Manifest, RunState, ScoringManifest
from proctor.schema.results.run_result import CaseResult, Outcome, RunResult, SetSummary
from proctor.schema.results.score import is_counted
from proctor.web.pages.base import (
    MeanFigure,
    PassedShare,
    Share,
    copy_fields,
    mean_figure,
    p95,
    passed_share,
    share,
)
from proctor.web.pages.runs.case_changes import Against
from proctor.web.pages.runs.case_table import CauseGroup

# --- figures of all cases: metrics, repeats, durations and tokens -----------------------------------------------------


class PassK(PageModel):
    """The estimated probability that `k` trials of a case all pass (`hat`), and that at least one passes (`at`)."""

    k: int
    hat: MeanFigure | None
    at: MeanFigure | None


class MetricPart(PageModel):
    """One metric over all cases."""

    name: str
    short: str
    """Its name without the common suffix."""
    gate: bool
    """Whether verdicts depend on it."""
    thresholds: list[float]
    """One threshold, or several if sets differ."""
    mean: MeanFigure | None
    scored: int
    missed: int
    errors: int
    """The numbers of cases that have a score, that miss the threshold by it, and in which the metric is in error."""
    change: MeanFigure | None = None
    """The mean change of the cases' scores since the run with which this one is compared; null: no case is in both."""


@dataclass(slots=True)
class Figures:
    """Accumulates the figures of all cases of a run."""

    digest: Digest = field(default_factory=Digest)
    metrics: dict[str, Counter[str]] = field(default_factory=dict)
    """By metric the number of cases that have a score (`scored`), that missed it (`missed`), and in which it is in error (`errors`)."""
    gates: dict[str, bool] = field(default_factory=dict)
    thresholds: dict[str, set[float]] = field(default_factory=dict)

    def add(self, case: CaseResult) -> None:
        """Add one case; its evidence and the scores of its trials are not read."""
        self.digest.add(case)
        for name, metric in case.metrics.items():
            counts = self.metrics.setdefault(name, Counter())
            counts["scored"] += is_counted(metric.score, name)
            counts["missed"] += metric.is_missed
            counts["errors"] += metric.is_in_error
            self.gates[name] = self.gates.get(name, False) or metric.gate
            if metric.threshold is not None:
                self.thresholds.setdefault(name, set()).add(metric.threshold)

    @property
    def repeats(self) -> Repeats:
        """The repeats of all cases."""
        return self.digest.repeats

    def parts(self, changes: Mapping[str, MeanFigure], ranges: ScoreRanges) -> list[MetricPart]:
        """Return each metric, the deciding ones first; `changes`: since the run with which this one is compared."""
        means, short = self.repeats.means(ranges), short_names(list(self.metrics))
        names = sorted(self.metrics, key=lambda name: not self.gates[name])
        return [
            MetricPart(
                name=name,
                short=short[name],
                gate=self.gates[name],
                thresholds=sorted(self.thresholds.get(name, ())),
                mean=mean_figure(means[name]) if name in means else None,
                scored=self.metrics[name]["scored"],
                missed=self.metrics[name]["missed"],
                errors=self.metrics[name]["errors"],
                change=changes.get(name),
            )
            for name in names
        ]


def pass_ks(repeats: Repeats) -> list[PassK]:
    """Return pass^k and pass@k for the values of k that reports show."""
    estimates = ((k, repeats.pass_hat(k), repeats.pass_at(k)) for k in ks_of(repeats))
    return [
        PassK(k=k, hat=mean_figure(hat) if hat else None, at=mean_figure(at) if at else None)
        for k, hat, at in estimates
    ]


# --- sets, LLM judges, costs, scorings and the manifest ----------------------------------------------------------------


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


class ScoringPart(PageModel):
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
    workers: str
    """The workers that the run began with, such as `4 workers (processes)`; empty without `--on`."""
    lost_workers: str
    """The workers that were lost, with the attempts at trials."""
    imported_from: str


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A stored run: its entry in the list, its manifest and its scorings."""

    listed: ListedRun
    manifest: Manifest
    scorings: Sequence[ScoringManifest]
    scoring: int
    """The number of the scoring shown."""


def set_part(one: SetSummary, repeats: Repeats | None) -> SetPart:
    """Return one eval set of a run; `repeats`: those of its cases."""
    return copy_fields(
        SetPart,
        one,
        name=summary.set_name(one),
        config_source=summary.config_source(one),
        rule=rule_text(one.rule) if one.rule else "",
        left_out=one.skipped_metrics,
        failure=one.failure.cause if one.failure else "",
        pass_k=pass_ks(repeats) if repeats else [],
    )


def money_parts(run: RunResult) -> list[MoneyPart]:
    """Return the usage of models by purpose."""
    return [
        MoneyPart(
            purpose=purpose,
            name=summary.PURPOSE_NAMES.get(purpose, purpose),
            cost=(cost := summary.purpose_cost(purpose, usages, run.unreported)),
            text=summary.cost_text(cost, usages),
            calls=sum(usage.calls for usage in usages),
            cached=sum(usage.cached for usage in usages),
            tokens=sum(usage.input_tokens + usage.output_tokens for usage in usages),
            unpriced=summary.unpriced_models(usages),
        )
        for purpose, usages in summary.by_purpose(run.spent)
    ]


def judge_parts(run: RunResult) -> list[JudgePart]:
    """Return the LLM judges of a run with their calibrations."""
    badges = {judge.metric: run.badges.get(judge.metric, "") for judge in run.judged_by}
    return [
        copy_fields(JudgePart, judge, badge=badges[judge.metric], void=badges[judge.metric].startswith(VOID))
        for judge in run.judged_by
    ]


def scoring_parts(scorings: Sequence[ScoringManifest], counts: int) -> list[ScoringPart]:
    """Return all scorings; `counts`: the number of the one that counts."""
    return [
        ScoringPart(
            number=one.number,
            created_at=one.created_at,
            config_sources=list(dict.fromkeys(each.config_source for each in one.sets if each.config_source)),
            finished=one.finished,
            counts=one.number == counts,
        )
        for one in scorings
    ]


def manifest_part(stored: StoredRun) -> ManifestPart:
    """Return the manifest of a run."""
    manifest, agent = stored.manifest, stored.manifest.agent
    return copy_fields(
        ManifestPart, manifest, reference=agent.reference, agent_version=agent.version, commit=agent.commit,
        models=stored.listed.run.summary.models, workers=manifest.workers_text, lost_workers=stored.listed.run.summary.lost_text,
    )  # fmt: skip


# --- the page ---------------------------------------------------------------------------------------------------------


class RunPage(PageModel):
    """One scoring of one run."""

    run_id: str
    short: str
    agent: str
    state: RunState
    outcome: Outcome
    """The outcome so far, while the run is running."""
    sentence: str
    exit_code: int
    created_at: float
    duration: float
    judging_duration: float | None
    interrupted: bool
    stopped_by: str
    failure: str
    """The failure that ended the run itself; empty if there is none."""
    cases: int
    num_runs: int
    counts: dict[Outcome, int]
    """Cases by outcome."""
    trials: dict[Outcome, int]
    """Trials by outcome."""
    planned_trials: int
    pass_rate: PassedShare
    flaky: int
    pass_k: list[PassK]
    """For k ≥ 2, if cases have several trials."""
    metrics: list[MetricPart]
    """The deciding ones first."""
    causes: list[CauseGroup]
    """The causes of failures, those of most cases first."""
    figures: list[str]
    """Usage per turn: `1.5 tool calls`, `1,204 tokens a turn`."""
    cost: float | None
    cost_text: str
    """Empty if nothing was reported."""
    money: list[MoneyPart]
    judges: list[JudgePart]
    sets: list[SetPart]
    warnings: list[str]
    """Warnings about the run; `NotesPage` has those of its cases."""
    judgings: list[ScoringPart]
    judging: int
    """The number of the scoring shown."""
    manifest: ManifestPart
    against: Against | None


def run_page(
    run: RunResult,
    figures: Figures,
    stored: StoredRun,
    against: Against | None = None,
    changes: Mapping[str, MeanFigure] = MappingProxyType({}),
    causes: Sequence[FailureGroup] = (),
) -> RunPage:
    """Return the page of a run; `figures`: those of all its cases; `changes`: by metric since the run `against`."""
    entry, repeats = stored.listed, figures.repeats
    trials = figures.digest.trials
    return copy_fields(
        RunPage,
        run,
        run_id=entry.run.run_id,
        short=entry.short,
        state=entry.run.state,
        sentence=summary.verdict_sentence(run, flaky=repeats.flaky),
        created_at=entry.run.created_at,
        failure=run.failure.cause if run.failure else "",
        cases=len(run.cases),
        counts=_counts_in_order(run.counts),
        trials=_counts_in_order(trials),
        planned_trials=max(trials.total(), sum(one.cases * one.num_runs for one in run.sets)),
        pass_rate=passed_share(summary.rate_of_run(run)),
        flaky=repeats.flaky,
        pass_k=pass_ks(repeats),
        metrics=figures.parts(changes, run.score_ranges),
        causes=[copy_fields(CauseGroup, group, text=group.cause.text) for group in causes],
        figures=figures.digest.figures(),
        cost=run.cost,
        cost_text=summary.run_cost_text(run),
        money=money_parts(run),
        judges=judge_parts(run),
        sets=[set_part(one, repeats.by_set.get(one.eval_set_id)) for one in run.sets],
        warnings=list(run.warnings),
        judgings=scoring_parts(stored.scorings, entry.run.scoring),
        judging=stored.scoring,
        judging_duration=run.scoring_duration,
        manifest=manifest_part(stored),
        against=against,
    )


def _counts_in_order(counts: Mapping[Outcome, int]) -> dict[Outcome, int]:
    return {outcome: counts[outcome] for outcome in Outcome if counts.get(outcome)}


# --- the notes, which need all evidence: warnings of cases, faults of simulated users, slow turns ---------------------


_TURNS = "invocation_duration_v1"


class Rate(PageModel):
    """How often the agent or the simulated user was at fault in simulated conversations."""

    who: str
    """`agent` or `simulator`."""
    share: Share


class NotesPage(PageModel):
    """The notes of a run."""

    warnings: list[str]
    """Warnings about the figures of cases, each once with its cases."""
    at_fault: list[Rate]
    """Empty if no user was simulated."""
    fault_kinds: dict[str, int]
    """The number of faults of simulated users, by kind."""
    p95_turn: float | None
    """The 95th percentile of the duration of turns in seconds; null: unknown."""


def notes_page(warnings: CaseWarnings, faults: FaultRates, turns: Iterable[float]) -> NotesPage:
    """Return the notes of a run; `turns`: the duration of each turn in seconds."""
    rates = (("agent", faults.agent), ("simulator", faults.user)) if faults else ()
    return NotesPage(
        warnings=warnings.texts(),
        at_fault=[Rate(who=who, share=share(rate.faults, rate.of)) for who, rate in rates],
        fault_kinds={kind.value: count for kind, count in faults.kinds.most_common()},
        p95_turn=p95(turns),
    )


def turn_seconds(case: CaseResult) -> Iterator[float]:
    """Yield the known durations of a case's turns in seconds."""
    timed = case.metrics.get(_TURNS)
    for score in timed.per_trial if timed is not None else ():
        yield from (
            one.value for one in (score.per_invocation if score is not None else ()) if one.value is not None
        )
