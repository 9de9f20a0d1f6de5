"""The sentences and numbers of a comparison that all its forms share."""

from __future__ import annotations

from math import floor, log10

from proctor.reports.content.cost_text import dollars
from proctor.reports.terminal.symbols import Marks
from proctor.schema.analysis.comparison import (
    TRIAL_COST,
    TRIAL_SECONDS,
    CaseChange,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    Trials,
)
from proctor.schema.results.outcome import Outcome

HEADINGS = {
    CaseChange.REGRESSION: "passed before, fail now",
    CaseChange.IN_ERROR: "passed before, could not be judged now",
    CaseChange.FIX: "failed before, pass now",
    CaseChange.FLAKY: "another share of the trials passes",
}
FIGURES = {
    "token_usage_v1": ("tokens a turn", "{:,.0f}"),
    TRIAL_COST: ("agent's cost a trial, $", "{:.4f}"),
    TRIAL_SECONDS: ("seconds a trial", "{:.3f}"),
    "invocation_duration_v1": ("seconds a turn", "{:.3f}"),
    "tool_call_count_v1": ("tool calls a turn", "{:.2f}"),
    "inference_call_count_v1": ("model calls a turn", "{:.2f}"),
}
MOST = 50
"""Cases of a kind that are named, unless every one is asked for."""


def numbers(one: Measured) -> tuple[str, str, str, str, str]:
    """Return base, candidate, difference and the ends of its interval, all of one form; differences have a sign."""
    if one.name == "passed":
        form, signed, scale = "{:.1f} %", "{:+.1f}", 100
    else:
        form, scale = "{:.3f}", 1
        if one.name in FIGURES:
            form = _fine_enough(FIGURES[one.name][1], max(abs(one.difference), abs(one.low), abs(one.high)))
        signed = form.replace("{:", "{:+")
    before, now = (form.format(scale * value) for value in (one.base, one.candidate))
    difference, low, high = (
        _without_sign_of_zero(signed.format(scale * value)) for value in (one.difference, one.low, one.high)
    )
    return before, now, difference, low, high


_FINEST = 6


def _fine_enough(form: str, largest: float) -> str:
    """Return `form`, with more digits where the largest of what it is for would be written as 0 and is not."""
    digits = int(form[-3])
    if not 0 < largest < 0.5 * 10**-digits:
        return form
    return f"{form[:-3]}{min(_FINEST, 1 - floor(log10(largest)))}f}}"


def _without_sign_of_zero(text: str) -> str:
    """What is 0 as it is rounded goes neither way: `0.000`, not `-0.000`."""
    return text[1:] if text[:1] in "+-" and not any(digit in text for digit in "123456789") else text


def score_pair(case: ChangedCase) -> tuple[str, str] | None:
    """Return the scores of the metric that moved, before and now."""
    return None if case.scores is None else (f"{case.scores[0]:.2f}", f"{case.scores[1]:.2f}")


def trials_text(trials: Trials) -> str:
    """Return how many trials passed: `3/5`; `0/5 (2 in error)` where not all could be judged."""
    if not trials.total:
        return "not run"
    other = f" ({trials.other} in error)" if trials.other else ""
    return f"{trials.passed}/{trials.total}{other}"


def strip_of(trials: Trials, marks: Marks) -> str:
    """Return the trials as signs: those that passed first."""
    listed = (
        [Outcome.PASSED] * trials.passed + [Outcome.FAILED] * trials.failed + [Outcome.ERROR] * trials.other
    )
    return marks.strip(listed) or "not run"


def run_text(run: ComparedRun) -> str:
    """Return how large a run is: `40 cases x 5`."""
    cases = f"{run.cases:,} {'case' if run.cases == 1 else 'cases'}"
    return f"{cases} x {run.num_runs}" if run.num_runs > 1 else cases


def cost_texts(found: Comparison) -> tuple[str, str] | None:
    """Return what either run cost, where that is known of one of them at least."""
    costs = found.base.cost, found.candidate.cost
    if not any(costs):
        return None
    before, now = ("unknown" if cost is None else dollars(cost) for cost in costs)
    return before, now


def left_out_texts(found: Comparison) -> list[str]:
    """Return what was not compared, in short sentences."""
    told = []
    if found.undecided:
        cases = "1 case is" if found.undecided == 1 else f"{found.undecided:,} cases are"
        told.append(f"{cases} left out of pass and fail: not every trial could be judged in both runs")
    return told
