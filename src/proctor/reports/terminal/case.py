"""One case on a terminal: the verdict first, then every metric, every trial, and how it was judged before."""

from __future__ import annotations

from typing import TextIO

from rich.table import Column
from rich.text import Text

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.case_data import CaseView, Judged, TrialView
from proctor.reports.content.cost_text import badge_style
from proctor.reports.content.reasons import warnings_beside
from proctor.reports.content.repeat_stats import held_text, rate_sentence
from proctor.reports.content.run_digest import Digest
from proctor.reports.content.run_list import when
from proctor.reports.content.symbols import WORDS
from proctor.reports.evidence.blocks import TrialEvidence
from proctor.reports.evidence.case_evidence import evidence_of, reason_of
from proctor.reports.evidence.played_users import told_of
from proctor.reports.terminal.case_table import CaseRows
from proctor.reports.terminal.console import STYLES, Page
from proctor.reports.terminal.evidence import EvidenceDrawing
from proctor.schema.results.run_result import CaseResult, MetricVerdict, Outcome, RunResult
from proctor.schema.results.score import MetricScore, score_text

MOST_ALIKE = 1
"""Trials that passed whose evidence is drawn, unless every one is asked for."""
_MOST_COMPARED = 10
"""Trials that a later one may be like."""


def draw_case(view: CaseView, out: TextIO, *, options: ReportOptions) -> None:
    """Draw `view` on `out`."""
    page = Page(out, options)
    page.print()
    _draw_head(page, view)
    _draw_scenario(page, view)
    _draw_metrics(page, view)
    _draw_trials(page, view, everything=options.verbose or bool(view.trials))
    if len(view.history) > 1:
        _draw_history(page, view)
    page.print()


def _draw_head(page: Page, view: CaseView) -> None:
    case = view.case
    style = STYLES.get(case.outcome, "dim")
    name = Text.assemble(page.text(f"{case.eval_set_id}/", "dim"), page.text(case.eval_id, "bold"))
    head = Text.assemble((f"{page.marks.outcome(case.outcome)} {WORDS[case.outcome]}", style), "  ", name)
    if len(case.trials) > 1:
        head.append("  ").append_text(_strip(page, [trial.outcome for trial in case.trials]))
        head.append("  ").append_text(page.text(rate_sentence(case, page.marks), "dim"))
    page.print(head)
    judged = f"judging {view.judging} of {len(view.history)}" if len(view.history) > 1 else ""
    facts = [f"run {view.short}", view.agent, when(view.began), judged, case.place]
    page.print(page.joined(page.text(fact, "dim") for fact in facts if fact))
    if reason := reason_of(case) or case.missed:
        page.print()
        page.print(page.prose(reason))
    page.print()


def _draw_scenario(page: Page, view: CaseView) -> None:
    """What the user was to play: who reads a played conversation has to know it."""
    if view.scenario is None:
        return
    grid = page.grid(Column(no_wrap=True), Column(overflow="fold"))
    for label, text in told_of(view.scenario):
        grid.add_row(Text(label, "dim"), page.text(text, lines=True))
    page.print(grid)
    page.print()


def _strip(page: Page, outcomes: list[Outcome]) -> Text:
    """One sign a trial; counts where they are many."""
    styles = {page.marks.trial(outcome): STYLES[outcome] for outcome in STYLES}
    strip = Text()
    for sign in page.marks.strip(outcomes):
        strip.append(sign, styles.get(sign, "dim"))
    return strip


# --- metrics ------------------------------------------------------------------------------------------------------------


def _draw_metrics(page: Page, view: CaseView) -> None:
    shown = [metric for metric in view.case.metrics.values() if _says_something(metric)]
    if not shown:
        return
    grid = page.grid(Column(overflow="fold"), Column(no_wrap=True), Column(overflow="fold"))
    for metric in shown:
        grid.add_row(*_metric(page, view.case, metric))
    page.print(grid)
    for name, badge in view.badges.items():
        page.print(Text.assemble(page.text(f"{name} ", "dim"), page.text(badge, badge_style(badge))))
    for warning in warnings_beside(view.case):
        page.print(Text.assemble(("warning ", "yellow"), page.prose(warning)))
    page.print()


def _says_something(metric: MetricVerdict) -> bool:
    informs = metric.outcome is Outcome.INFORMATIONAL
    return metric.outcome is not Outcome.SKIPPED and not (informs and metric.score is None)


def _metric(page: Page, case: CaseResult, metric: MetricVerdict) -> list[Text]:
    informs = metric.outcome is Outcome.INFORMATIONAL
    style = "dim" if informs else STYLES.get(metric.outcome, "dim")
    sign = page.marks.dot if informs else page.marks.outcome(metric.outcome)
    scores = metric.per_trial if len(metric.per_trial) > 1 else []
    return [
        Text.assemble((f"{sign} ", style), page.text(metric.name, "dim" if informs else "")),
        page.text(held_text(case, metric, page.marks), style if metric.outcome in _MISSED else "dim"),
        Text(" ").join(_one_score(page, metric, score) for score in scores),
    ]


_MISSED = {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}


def _one_score(page: Page, metric: MetricVerdict, score: MetricScore | None) -> Text:
    if score is None or score.value is None:
        return Text(
            page.marks.outcome(Outcome.ERROR) if score is not None and score.failure else page.marks.rest,
            "dim",
        )
    misses = metric.threshold is not None and score.value < metric.threshold
    return Text(
        score_text(score.value, metric.threshold),
        STYLES[Outcome.FAILED] if misses and metric.gate else "dim",
    )


# --- trials -------------------------------------------------------------------------------------------------------------


def _draw_trials(page: Page, view: CaseView, *, everything: bool) -> None:
    left = len(view.case.trials) if everything else MOST_ALIKE
    hidden = 0
    seen: list[tuple[int, list[TrialEvidence]]] = []
    for shown in view.shown():
        if shown.alone.outcome is Outcome.PASSED:
            left -= 1
            if left < 0:
                hidden += 1
                continue
        evidence = evidence_of(shown.alone, full=True)
        like = None if everything else next((number for number, each in seen if each == evidence), None)
        _draw_trial(page, shown, evidence, like=like, several=len(view.case.trials) > 1)
        if len(seen) < _MOST_COMPARED:
            seen.append((shown.number, evidence))
    if hidden:
        mark = page.marks.trial(Outcome.PASSED)
        told = f"{mark} … {hidden} more that passed (-v: all, --trial N: one)"
        page.print(page.text(told, "dim"))
        page.print()


def _draw_trial(
    page: Page, view: TrialView, evidence: list[TrialEvidence], *, like: int | None, several: bool
) -> None:
    case = view.alone
    style = STYLES.get(case.outcome, "dim")
    head = Text.assemble((page.marks.trial(case.outcome), style), f" trial {view.number + 1}")
    head.stylize("bold", 1)
    facts = [*view.facts(), *([f"like trial {like + 1}"] if like is not None else [])]
    page.print(page.joined([head, *(page.text(fact, "dim") for fact in facts)]))
    if like is not None:
        page.print()
        return
    reason = reason_of(case)
    if several and reason:
        page.print(page.prose(reason), indent=6)
    for attempt in view.attempts():
        page.print(page.text(attempt, "dim"), indent=6)
    for note in view.trial.notes if view.trial else []:
        page.print(Text.assemble(("note ", "yellow"), page.prose(note)), indent=6)
    EvidenceDrawing(page, reason=reason).draw(evidence)
    page.print()


# --- judgings -----------------------------------------------------------------------------------------------------------


def _draw_history(page: Page, view: CaseView) -> None:
    page.print(Text("judged", "bold"))
    grid = page.grid(*(Column(no_wrap=True) for _ in range(3)), Column(overflow="fold"))
    for judged in view.history:
        grid.add_row(*_judging(page, judged, shown=judged.number == view.judging))
    page.print(grid, indent=4)


def _judging(page: Page, judged: Judged, *, shown: bool) -> list[Text]:
    outcome = judged.case.outcome
    scored = [
        m
        for m in judged.case.metrics.values()
        if m.gate and (m.score is not None or m.outcome is Outcome.ERROR)
    ]
    told = [page.text(f"{m.name} {held_text(judged.case, m, page.marks)}") for m in scored]
    criteria = page.text(f"criteria from {judged.criteria}" if judged.criteria else "", "dim")
    return [
        Text(str(judged.number), "bold" if shown else "dim"),
        Text(f"{page.marks.outcome(outcome)} {WORDS[outcome]}", STYLES.get(outcome, "dim")),
        Text(when(judged.created_at), "dim"),
        page.joined([*([criteria] if criteria.plain else []), *told]),
    ]


# --- One case that did not pass, as the terminal's report draws it: for reports that are not of a whole run -----------


def draw_failure(case: CaseResult, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Draw the row of `case` and its evidence on `out`."""
    page = Page(out, options)
    run = RunResult("", cases=[case], num_runs=max(1, len(case.trials)))
    CaseRows(page, run, Digest(), verbose=options.verbose, failures_only=True).draw()
