"""The page of one run: the verdict as a sentence, figures with confidence intervals, LLM judges, the manifest.

Sentences, means and costs come from the same functions as the terminal's report.
"""

from __future__ import annotations

from collections.abc import Mapping

from proctor.reports.content import summary
from proctor.reports.content.cost_text import cost_text
from proctor.reports.content.symbols import UNICODE
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import Outcome, RunResult
from proctor.web.pages.base import Share, share
from proctor.web.pages.runs.figures import Figures, MetricPart, PassK, pass_ks
from proctor.web.pages.runs.run_parts import (
    JudgePart,
    JudgingPart,
    ManifestPart,
    MoneyPart,
    SetPart,
    StoredRun,
    judge_parts,
    judging_parts,
    manifest_part,
    money_parts,
    set_part,
)


class Against(PageModel):
    """The run with which this one is compared, and the number of changes."""

    run_id: str
    short: str
    kind: str
    """`previous`: the previous run of the same agent and sets; else the baseline's name."""
    created_at: float
    outcome: Outcome | None
    pass_rate: Share
    worse: int
    better: int
    same: int
    unpaired: int
    """Cases of this run that the other run lacks, or has in another version."""


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
    pass_rate: Share
    """The share of the executed cases that passed."""
    pass_rate_text: str
    """The same as text; empty for fewer than two cases."""
    flaky: int
    pass_k: list[PassK]
    """For k ≥ 2, if cases have several trials."""
    metrics: list[MetricPart]
    """The deciding ones first."""
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
    judgings: list[JudgingPart]
    judging: int
    """The number of the scoring shown."""
    manifest: ManifestPart
    against: Against | None


def run_page(run: RunResult, figures: Figures, kept: StoredRun, against: Against | None = None) -> RunPage:
    """Return the page of a run; `figures`: those of all its cases."""
    listed, repeats = kept.listed, figures.repeats
    trials = figures.digest.trials
    return RunPage(
        run_id=listed.run.run_id,
        short=listed.short,
        agent=run.agent,
        state=listed.run.state,
        outcome=run.outcome,
        sentence=summary.sentence(run, flaky=repeats.flaky),
        exit_code=run.exit_code,
        created_at=listed.run.created_at,
        duration=run.duration,
        judging_duration=run.judging_duration,
        interrupted=run.interrupted,
        stopped_by=run.stopped_by,
        failure=run.failure.cause if run.failure else "",
        cases=len(run.cases),
        num_runs=run.num_runs,
        counts=_in_order(run.counts),
        trials=_in_order(trials),
        planned_trials=max(trials.total(), sum(one.cases * one.num_runs for one in run.sets)),
        pass_rate=share(run.counts.get(Outcome.PASSED, 0), summary.cases_run(run)),
        pass_rate_text=summary.rate(run, UNICODE),
        flaky=repeats.flaky,
        pass_k=pass_ks(repeats),
        metrics=figures.parts(),
        figures=figures.digest.figures(),
        cost=run.cost if run.spent else None,
        cost_text=cost_text(run.spent) if run.spent else "",
        money=money_parts(run.spent),
        judges=judge_parts(run),
        sets=[set_part(one, repeats.by_set.get(one.eval_set_id)) for one in run.sets],
        warnings=list(run.warnings),
        judgings=judging_parts(kept.judgings, listed.run.judging),
        judging=kept.judging,
        manifest=manifest_part(kept),
        against=against,
    )


def _in_order(counts: Mapping[Outcome, int]) -> dict[Outcome, int]:
    return {outcome: counts[outcome] for outcome in Outcome if counts.get(outcome)}
