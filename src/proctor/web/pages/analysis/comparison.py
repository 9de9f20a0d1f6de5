"""The comparison of two runs: the outcome with its basis, the measures, and the cases that changed."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence

from proctor.analysis.compare.comparison_report import write_markdown
from proctor.analysis.compare.measure_table import (
    FIGURES,
    cost_texts,
    has_general_interval,
    interval_texts,
    is_too_few,
    numbers,
    values_text,
)
from proctor.analysis.compare.outcome_text import count_unlisted, missing_texts, trials_text
from proctor.reports.content.symbols import SHORTEST
from proctor.schema.analysis.comparison import (
    CaseChange,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    RunDifference,
    Trials,
)
from proctor.schema.format.wire_model import PageModel
from proctor.web.pages.base import copy_fields

CasePlaces = Mapping[str, int]
"""The position of each case in its run, by `set/case`."""


class ComparedRunPart(PageModel):
    """One of the two runs."""

    run_id: str
    short: str
    """The beginning of its id that no other run shares."""
    baseline: str
    """The baseline's name, if the user named the run by it; else empty."""
    kept: bool
    """Whether the run is still in the store; a baseline may have only the data for a comparison."""
    agent: str
    commit: str | None
    cases: int
    num_runs: int
    """Trials of each case."""
    started_at: float


class BaselineRow(PageModel):
    """A baseline: a run with a name, to compare others with."""

    name: str
    run_id: str
    agent: str
    started_at: float


class BaselinesPage(PageModel):
    """The baselines of the store."""

    items: list[BaselineRow]


class MeasuredLine(PageModel):
    """One measure of both runs, paired by case."""

    name: str
    label: str
    """Its name for people: `tokens a turn`."""
    decides: bool
    figure: bool
    """Whether it is a usage figure (tokens, seconds, calls) with a unit; the others are shares or scores."""
    lower_is_better: bool
    base: float
    candidate: float
    difference: float
    """Candidate minus baseline, with its confidence interval."""
    low: float | None
    """Null, as `high` is: too few cases for an interval."""
    high: float | None
    base_text: str
    candidate_text: str
    difference_text: str
    interval_text: str
    """`-0.120 to +0.040`; empty if there is none."""
    p_value: float
    confidence: float
    """The confidence of the interval: the level at which the measure was tested."""
    pairs: int
    """Paired cases."""
    known: int
    """The paired cases with all of their values: the means are theirs."""
    apart: bool
    """The two runs did not score it in the same way (other options, another judge …), so it does not decide."""
    too_few: bool
    """Whether no difference could be significant, because it has too few cases."""
    verdict: str
    """`worse`, `better`, or empty if the difference is not significant."""


class ChangedLine(PageModel):
    """One case that changed."""

    eval_set_id: str
    eval_id: str
    change: CaseChange
    base: str
    """Its trials in the baseline, one letter each, passed trials first."""
    candidate: str
    base_text: str
    """`3/5`; `0/5 (2 in error)`."""
    candidate_text: str
    metric: str
    """The deciding metric that `reason` names, otherwise the one that changed most; empty if neither has scores."""
    scores: tuple[float, float] | None
    reason: str
    """Why it did not pass in the candidate."""
    before: str
    """Why it did not pass in the baseline."""
    base_position: int | None
    """Its position in the baseline; null if unknown."""
    candidate_position: int | None


class LoneCase(PageModel):
    """A case that only one run has, or whose content differs."""

    name: str
    """`set/case`."""
    base_position: int | None
    candidate_position: int | None


class UnlikeLine(PageModel):
    """A difference between the runs other than the agent's behaviour."""

    what: str
    text: str
    expected: bool
    """It is the subject of the comparison (the agent), so it causes no warning."""


class GeneralLine(PageModel):
    """The difference of pass rates for cases like these."""

    difference: float
    low: float | None
    """Null, as `high` is: too few cases for an interval."""
    high: float | None
    confidence: float
    p_value: float


class ComparisonPage(PageModel):
    """The comparison of two runs."""

    outcome: Change
    exit_code: int
    """The exit code of `proctor compare`."""
    sentence: str
    base: ComparedRunPart
    candidate: ComparedRunPart
    margin: float
    confidence: float
    on_these_cases: str
    """Did the candidate get worse on these cases? A sentence."""
    in_general: str
    """Would cases like these get worse? A sentence."""
    general: GeneralLine | None
    next_steps: list[str]
    """What would decide, the cheapest first: sentences and commands."""
    pairs: int
    """Cases of both runs."""
    same: int
    """Cases of both runs that did not change."""
    without_verdicts: int
    """Cases of both runs that are not in `cases`, and of which verdicts are missing: it is unknown whether they changed."""
    more_cases: int | None
    more_trials: int | None
    measures: list[MeasuredLine]
    cases: list[ChangedLine]
    """Cases that now fail (the worst first), missing verdicts, cases that now pass or are no longer in error, then other pass rates."""
    only_base: list[LoneCase]
    only_candidate: list[LoneCase]
    changed_cases: list[LoneCase]
    unlike: list[UnlikeLine]
    missing: list[str]
    """Sentences about missing verdicts."""
    costs: tuple[str, str] | None
    """The costs of the baseline and of the candidate: `$0.60`, `at least $0.60`, `unknown`; null if both are unknown."""
    markdown: str
    """The comparison for a pull request."""
    command: str
    """The equivalent command."""


def comparison_page(
    comparison: Comparison,
    sides: tuple[ComparedRunPart, ComparedRunPart],
    places: tuple[CasePlaces, CasePlaces],
    store: str = "",
) -> ComparisonPage:
    """Return the page of a comparison.

    `places` are the positions of the cases that it names, in the two runs; `store` ends the command if it needs `--store`.
    """

    def lone(names: Sequence[str]) -> list[LoneCase]:
        return [
            LoneCase(name=name, base_position=places[0].get(name), candidate_position=places[1].get(name))
            for name in names
        ]

    without_verdicts = count_unlisted(comparison)
    return copy_fields(
        ComparisonPage,
        comparison,
        base=sides[0],
        candidate=sides[1],
        general=_general(comparison),
        same=max(0, comparison.pairs - len(comparison.cases) - without_verdicts),
        without_verdicts=without_verdicts,
        measures=[_measure(comparison, measure) for measure in comparison.measures],
        cases=[_case(case, places) for case in comparison.cases],
        only_base=lone(comparison.only_base),
        only_candidate=lone(comparison.only_candidate),
        changed_cases=lone(comparison.changed_cases),
        unlike=difference_lines(comparison.unlike),
        missing=missing_texts(comparison),
        costs=cost_texts(comparison),
        markdown=_markdown(comparison),
        command=_command(comparison, sides) + store,
    )


def difference_lines(differences: Sequence[RunDifference]) -> list[UnlikeLine]:
    """Return the page's model of the differences between two runs."""
    return [copy_fields(UnlikeLine, difference) for difference in differences]


def comparison_side(
    run: ComparedRun, short: str | None, commit: str | None, *, baseline: str = ""
) -> ComparedRunPart:
    """Return one of the runs; `short`: the beginning of its id (`None`: it is not in the store), `commit`: its agent's."""
    return copy_fields(
        ComparedRunPart, run,
        short=short or run.run_id[:SHORTEST], baseline=baseline, kept=short is not None, commit=commit,
    )  # fmt: skip


def _general(comparison: Comparison) -> GeneralLine | None:
    if comparison.general is None:
        return None
    line = copy_fields(GeneralLine, comparison.general)
    return line if has_general_interval(comparison) else line.model_copy(update={"low": None, "high": None})


def _measure(comparison: Comparison, measure: Measured) -> MeasuredLine:
    ends = interval_texts(comparison, measure)
    low, high = (measure.low, measure.high) if ends else (None, None)
    before, now = values_text(measure)
    rate = "mean pass rate of the cases" if measure.trials is None else "pass rate of the trials"
    labels = {"passed": rate} | {name: texts[0] for name, texts in FIGURES.items()}
    return copy_fields(
        MeasuredLine,
        measure,
        label=labels.get(measure.name, measure.name),
        figure=measure.name in FIGURES,
        base_text=before,
        candidate_text=now,
        low=low,
        high=high,
        difference_text=numbers(measure)[2],
        interval_text=" to ".join(ends or ()),
        too_few=is_too_few(comparison, measure),
    )


def _case(case: ChangedCase, places: tuple[CasePlaces, CasePlaces]) -> ChangedLine:
    return copy_fields(
        ChangedLine,
        case,
        base=_letters(case.base),
        candidate=_letters(case.candidate),
        base_text=trials_text(case.base),
        candidate_text=trials_text(case.candidate),
        base_position=places[0].get(case.name),
        candidate_position=places[1].get(case.name),
    )


def _letters(trials: Trials) -> str:
    return "p" * trials.passed + "f" * trials.failed + "e" * trials.other


def _markdown(comparison: Comparison) -> str:
    text = io.StringIO()
    write_markdown(comparison, text)
    return text.getvalue()


def _command(comparison: Comparison, sides: tuple[ComparedRunPart, ComparedRunPart]) -> str:
    margin = ["--margin", f"{comparison.margin:g}"] if comparison.margin != _MARGIN else []
    base, candidate = sides
    names = ["--baseline", base.baseline, candidate.short] if base.baseline else [base.short, candidate.short]
    return shlex.join(["proctor", "compare", *names, *margin])


_MARGIN = 0.05
