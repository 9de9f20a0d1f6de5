"""The table of a run's cases: one short row per case, for tables of many thousands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from proctor.common.inline_code import shorten_prose
from proctor.reports.content.case_digest import is_repeated, reason_of
from proctor.reports.content.case_words import LETTERS
from proctor.reports.content.failure_causes import FailureCause
from proctor.schema.format.wire_model import PageModel
from proctor.schema.results.case_result import undecided_reason
from proctor.schema.results.run_result import CaseResult, Outcome
from proctor.web.pages.base import finite
from proctor.web.pages.runs.case_changes import Direction

if TYPE_CHECKING:
    from proctor.stores.base import Store

TOKENS, SECONDS = "token_usage_v1", "invocation_duration_v1"
_OWN_FIELDS = frozenset({TOKENS, SECONDS})
_LONGEST_WHY = 400


class CaseRow(PageModel):
    """One case of a run."""

    position: int
    """Its position in the run, from 0, which its page's address contains."""
    eval_set_id: str
    eval_id: str
    outcome: Outcome
    strip: str
    """One letter per trial: the first of passed, failed, error, inconclusive, not run, skipped; of a case without a verdict,
    of recorded or error."""
    why: str
    """Why it did not pass, or which trial did not, in one line; empty if it passed."""
    cause: str
    """The cause that it shares with other cases; empty if it passed."""
    scores: dict[str, float | None]
    """The mean over the trials by metric, without those of `seconds` and `tokens`; null: not computed."""
    missed: list[str]
    """The deciding metrics whose threshold was not met, by the trials that have a score."""
    errors: list[str]
    """The metrics that failed themselves, or that have no score because of an error."""
    low: float | None
    """The confidence interval of its pass rate, if it has several trials."""
    high: float | None
    cost: float | None
    """US dollars, agent and judges together, as far as the agent reported usage; null: unknown."""
    cost_text: str
    """`$0.60`, `at least $0.60`, `unknown`; empty if no model was used, or until the page has read `CaseExtras`."""
    seconds: float | None
    """The mean duration of a turn in seconds."""
    tokens: float | None
    """The mean number of tokens per turn; null: not reported."""
    flaky: bool
    played: bool
    """Whether it has a simulated user (a scenario)."""
    tags: list[str]
    """Empty until the page has read `CaseExtras`, and so are `tools`."""
    tools: list[str]
    """The tools that the agent called."""
    place: str
    """`file:line`, if it is from a file."""
    change: Direction | None
    """The change from the run with which this one is compared."""
    was: Outcome | None
    """Its outcome there; null: that run lacks the case, or has another version of it."""


class CasesPage(PageModel):
    """Cases of a run, in their order."""

    items: list[CaseRow]
    total: int


class CauseGroup(PageModel):
    """The cases that failed for the same cause."""

    text: str
    """The metric and the violated expectation."""
    cases: int
    before: int | None
    """The number of cases with this cause in the run with which this one is compared; null: there is none."""


def case_row(position: int, case: CaseResult, cause: FailureCause | None) -> CaseRow:
    """Return the row of a case, without a change; `cause`: why it failed."""
    low, high = case.interval if is_repeated(case) else (None, None)
    return CaseRow.model_construct(
        position=position,
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        outcome=case.outcome,
        strip=_strip(case),
        why=shorten_prose(reason_of(case) or case.missed, _LONGEST_WHY),
        cause=cause.text if cause else "",
        scores=_scores(case),
        missed=[name for name, metric in case.metrics.items() if metric.is_missed],
        errors=[name for name, metric in case.metrics.items() if metric.is_in_error],
        low=low,
        high=high,
        cost=None,
        cost_text="",
        seconds=_score(case, SECONDS),
        tokens=_score(case, TOKENS),
        flaky=case.flaky,
        played=case.is_played,
        tags=[],
        tools=[],
        place=case.place,
        change=None,
        was=None,
    )


def strip_of(trials: Iterable[Outcome]) -> str:
    """Return one letter for each trial."""
    return "".join(LETTERS.get(outcome, "n") for outcome in trials)


def _strip(case: CaseResult) -> str:
    if case.outcome is Outcome.NOT_RUN:
        return _recorded_strip(trial.outcome is Outcome.ERROR for trial in case.trials)
    return strip_of(trial.outcome for trial in case.trials)


def _recorded_strip(failed: Iterable[bool]) -> str:
    """Return one letter for each trial of a case without a verdict."""
    return "".join("e" if one else "r" for one in failed)


def recorded_trials(
    store: Store, run_id: str, scoring: int, undecided: Sequence[int]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield what the rows of cases without a verdict show of their recorded trials."""
    for position, trials in store.trials(run_id, undecided, scoring):
        strip = _recorded_strip(trial.failed for trial in trials)
        yield position, {"strip": strip, "why": undecided_reason(len(trials))}


def _scores(case: CaseResult) -> dict[str, float | None]:
    return {name: finite(metric.score) for name, metric in case.metrics.items() if name not in _OWN_FIELDS}


def _score(case: CaseResult, name: str) -> float | None:
    return finite(case.metrics[name].score) if name in case.metrics else None
