"""The cases of a run as a table: a row each, short enough for many thousands."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from proctor.common.safe_text import shorten
from proctor.reports.content.reasons import TELLING, deciding, reason_of
from proctor.reports.content.repeat_stats import is_repeated
from proctor.schema.results.page_model import PageModel
from proctor.schema.results.run_result import CaseResult, Outcome

LETTERS = {
    Outcome.PASSED: "p",
    Outcome.FAILED: "f",
    Outcome.ERROR: "e",
    Outcome.INCONCLUSIVE: "i",
    Outcome.NOT_RUN: "n",
    Outcome.SKIPPED: "s",
}
"""One letter for each trial of a strip."""

TOKENS, SECONDS = "token_usage_v1", "invocation_duration_v1"
_OF_THEIR_OWN = frozenset({TOKENS, SECONDS, "tool_call_count_v1", "inference_call_count_v1"})
_LONGEST_WHY = 300


class CaseRow(PageModel):
    """One case of a run."""

    position: int
    """Its place in the run, from 0: what its page is called by."""
    eval_set_id: str
    eval_id: str
    outcome: Outcome
    strip: str
    """A letter a trial: passed, failed, error, inconclusive, not run, skipped by their first letters."""
    why: str
    """In one line why it did not pass, or which trial did not; empty where nothing is to be said."""
    scores: dict[str, float | None]
    """By metric the mean over the trials; null: not computed."""
    missed: list[str]
    """The deciding metrics that did not pass."""
    low: float | None
    """The interval of its pass rate, where it has several trials."""
    high: float | None
    cost: float | None
    """US dollars of its trials, agent and judges together; null: not known."""
    seconds: float | None
    """Seconds a turn, the mean."""
    tokens: float | None
    """Tokens a turn, the mean; null: not reported."""
    flaky: bool
    played: bool
    """Whether its user was played: a scenario."""
    tags: list[str]
    place: str
    """`file:line`, where it came from a file."""
    change: Literal["worse", "better"] | None
    """How it differs from the run that this one is held against."""
    was: Outcome | None
    """Its outcome there; null: it was not in there, or with another content."""


class CasesPage(PageModel):
    """Some of a run's cases, in their order."""

    items: list[CaseRow]
    total: int


Changed = tuple[Literal["worse", "better"] | None, Outcome]
"""How a case differs from what it was, and what it was."""


def case_row(position: int, case: CaseResult, before: Changed | None = None) -> CaseRow:
    """Return the row of a case; `before`: how it differs from another run."""
    low, high = case.interval if is_repeated(case) else (None, None)
    return CaseRow.model_construct(
        position=position,
        eval_set_id=case.eval_set_id,
        eval_id=case.eval_id,
        outcome=case.outcome,
        strip="".join(LETTERS.get(trial.outcome, "n") for trial in case.trials),
        why=shorten(reason_of(case) or case.missed, _LONGEST_WHY),
        scores={
            name: _finite(metric.score) for name, metric in case.metrics.items() if name not in _OF_THEIR_OWN
        },
        missed=[metric.name for metric in deciding(case)] if case.outcome in TELLING else [],
        low=low,
        high=high,
        cost=None,
        seconds=_score(case, SECONDS),
        tokens=_score(case, TOKENS),
        flaky=case.flaky,
        played=case.is_played,
        tags=[],
        place=case.place,
        change=before[0] if before else None,
        was=before[1] if before else None,
    )


def _score(case: CaseResult, name: str) -> float | None:
    return _finite(case.metrics[name].score) if name in case.metrics else None


def _finite(score: float | None) -> float | None:
    return score if score is not None and isfinite(score) else None


# --- What is known of each case only by its evidence, beside the table that is there at once --------------------------


class CaseExtras(PageModel):
    """Tags and costs of the cases of a run."""

    tags: dict[str, list[int]]
    """By tag the positions of its cases."""
    costs: list[float | None]
    """US dollars by position; null: not known. Empty where nothing is known of any."""
