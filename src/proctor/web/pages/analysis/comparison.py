"""Two runs compared: the outcome with what it rests on, what was measured, and what is different case by case."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence

from proctor.analysis.compare.reports.text import FIGURES, left_out_texts, numbers, trials_text
from proctor.analysis.compare.reports.write import write_markdown
from proctor.reports.content.run_list import SHORTEST
from proctor.schema.analysis.comparison import (
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    Trials,
)
from proctor.schema.results.page_model import PageModel

__all__ = ["BaselineRow", "BaselinesPage", "CasePlaces", "ComparisonPage", "Sided", "comparison_page"]

CasePlaces = Mapping[str, int]
"""By `set/case` the place of a case in its run."""


class Sided(PageModel):
    """One of the two runs."""

    run_id: str
    short: str
    """The beginning of its id that no other run shares."""
    baseline: str
    """The name under which it was asked for, where that is a baseline's; empty otherwise."""
    kept: bool
    """Whether the run is still in the store: of a baseline only what a comparison needs may be left."""
    agent: str
    commit: str | None
    cases: int
    num_runs: int
    """Trials of each case."""
    started_at: float
    cost: float | None
    """US dollars; null where a price is not known, or nothing was reported."""


class BaselineRow(PageModel):
    """A run that others are compared with by name."""

    name: str
    run_id: str
    agent: str
    started_at: float


class BaselinesPage(PageModel):
    """The baselines of the store."""

    items: list[BaselineRow]


class MeasuredLine(PageModel):
    """One thing that was measured in both runs, paired by case."""

    name: str
    label: str
    """As people say it: `tokens a turn`."""
    decides: bool
    figure: bool
    """What an agent takes (tokens, seconds, calls), in units of its own; the others are shares or scores."""
    lower_is_better: bool
    base: float
    candidate: float
    difference: float
    """Candidate less base, with its interval."""
    low: float
    high: float
    base_text: str
    candidate_text: str
    difference_text: str
    low_text: str
    high_text: str
    p_value: float
    adjusted: float | None
    """By Holm for the number of things that decide; null of what decides nothing."""
    pairs: int
    apart: bool
    """It was not judged alike in both runs (another option, judge …), and decides nothing."""
    verdict: str
    """`worse`, `better`, or empty where the difference is not significant."""


class ChangedLine(PageModel):
    """One case that is not as it was."""

    eval_set_id: str
    eval_id: str
    change: CaseChange
    base: str
    """Its trials in the base, a letter each, those that passed first."""
    candidate: str
    base_text: str
    """`3/5`; `0/5 (2 in error)`."""
    candidate_text: str
    metric: str
    """The deciding metric that moved most; empty where none did."""
    scores: tuple[float, float] | None
    reason: str
    """Why it failed; of a fix, what was wrong before."""
    base_position: int | None
    """Its place in the base; null where that is not known."""
    candidate_position: int | None


class LoneCase(PageModel):
    """A case that one run has only, or that has another content by now."""

    name: str
    """`set/case`."""
    base_position: int | None
    candidate_position: int | None


class UnlikeLine(PageModel):
    """One thing in which the runs differ beside what the agent did."""

    what: str
    text: str
    expected: bool
    """It is what is compared (the agent): said, not warned of."""


class ComparisonPage(PageModel):
    """What came of comparing two runs."""

    outcome: Change
    exit_code: int
    """That of `proctor compare`."""
    sentence: str
    base: Sided
    candidate: Sided
    margin: float
    confidence: float
    pairs: int
    """Cases whose pass or fail could be compared."""
    undecided: int
    same: int
    """Cases in both that are as they were."""
    more_cases: int | None
    more_trials: int | None
    measures: list[MeasuredLine]
    cases: list[ChangedLine]
    """Regressions (the worst first), newly in error, fixes, flaky ones."""
    only_base: list[LoneCase]
    only_candidate: list[LoneCase]
    changed_cases: list[LoneCase]
    unlike: list[UnlikeLine]
    left_out: list[str]
    """What was not compared, in sentences."""
    markdown: str
    """The comparison for a pull request."""
    command: str
    """What shows the same in a terminal."""


def comparison_page(
    found: Comparison, sides: tuple[Sided, Sided], places: tuple[CasePlaces, CasePlaces]
) -> ComparisonPage:
    """Return a comparison as a page; `places` are those of the cases that it names."""

    def lone(names: Sequence[str]) -> list[LoneCase]:
        return [
            LoneCase(name=name, base_position=places[0].get(name), candidate_position=places[1].get(name))
            for name in names
        ]

    return ComparisonPage(
        outcome=found.outcome,
        exit_code=found.exit_code,
        sentence=found.sentence,
        base=sides[0],
        candidate=sides[1],
        margin=found.margin,
        confidence=found.confidence,
        pairs=found.pairs,
        undecided=found.undecided,
        same=max(0, found.pairs + found.undecided - len(found.cases)),
        more_cases=found.more_cases,
        more_trials=found.more_trials,
        measures=[_measure(one) for one in found.measures],
        cases=[_case(case, places) for case in found.cases],
        only_base=lone(found.only_base),
        only_candidate=lone(found.only_candidate),
        changed_cases=lone(found.changed_cases),
        unlike=[UnlikeLine(what=one.what, text=one.text, expected=one.expected) for one in found.unlike],
        left_out=left_out_texts(found),
        markdown=_markdown(found),
        command=_command(found, sides),
    )


def sided(run: ComparedRun, short: str | None, commit: str | None, *, baseline: str = "") -> Sided:
    """Return one of the runs; `short` is the beginning of its id (`None`: it is no longer kept), `commit` its agent's."""
    return Sided(
        run_id=run.run_id,
        short=short or run.run_id[:SHORTEST],
        baseline=baseline,
        kept=short is not None,
        agent=run.agent,
        commit=commit,
        cases=run.cases,
        num_runs=run.num_runs,
        started_at=run.started_at,
        cost=run.cost,
    )


def _measure(one: Measured) -> MeasuredLine:
    before, now, difference, low, high = numbers(one)
    return MeasuredLine(
        name=one.name,
        label="pass rate"
        if one.name == "passed"
        else FIGURES[one.name][0]
        if one.name in FIGURES
        else one.name,
        decides=one.decides,
        figure=one.name in FIGURES,
        lower_is_better=one.lower_is_better,
        base=one.base,
        candidate=one.candidate,
        difference=one.difference,
        low=one.low,
        high=one.high,
        base_text=before,
        candidate_text=now,
        difference_text=difference,
        low_text=low,
        high_text=high,
        p_value=one.p_value,
        adjusted=one.adjusted,
        pairs=one.pairs,
        apart=one.apart,
        verdict=one.verdict,
    )


def _case(case: ChangedCase, places: tuple[CasePlaces, CasePlaces]) -> ChangedLine:
    return ChangedLine(
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        change=case.change,
        base=_letters(case.base),
        candidate=_letters(case.candidate),
        base_text=trials_text(case.base),
        candidate_text=trials_text(case.candidate),
        metric=case.metric,
        scores=case.scores,
        reason=case.reason,
        base_position=places[0].get(case.name),
        candidate_position=places[1].get(case.name),
    )


def _letters(trials: Trials) -> str:
    return "p" * trials.passed + "f" * trials.failed + "e" * trials.other


def _markdown(found: Comparison) -> str:
    text = io.StringIO()
    write_markdown(found, text)
    return text.getvalue()


def _command(found: Comparison, sides: tuple[Sided, Sided]) -> str:
    margin = ["--margin", f"{found.margin:g}"] if found.margin != _MARGIN else []
    base, candidate = sides
    named = ["--baseline", base.baseline, candidate.short] if base.baseline else [base.short, candidate.short]
    return shlex.join(["proctor", "compare", *named, *margin])


_MARGIN = 0.05
