"""The words and numbers of a comparison that its reports share: changes of cases, measures, runs, missing verdicts."""

from __future__ import annotations

from math import floor, log10

from proctor.analysis.compare.outcome_text import missing_text
from proctor.common.safe_text import count_text
from proctor.reports.content.cost_text import dollars
from proctor.reports.content.symbols import Marks
from proctor.schema.analysis.comparison import (
    TRIAL_COST,
    TRIAL_SECONDS,
    Change,
    ChangedCase,
    ComparedRun,
    Comparison,
    Measured,
    Trials,
)
from proctor.schema.results.score import Outcome

OUTCOMES = {
    Change.REGRESSION: Outcome.FAILED, Change.ERROR: Outcome.ERROR, Change.INCONCLUSIVE: Outcome.INCONCLUSIVE,
    Change.IMPROVEMENT: Outcome.PASSED, Change.NO_REGRESSION: Outcome.PASSED, Change.NO_DIFFERENCE: Outcome.PASSED,
}  # fmt: skip
"""The sign of each outcome."""
FIGURES = {
    "token_usage_v1": ("tokens a turn", "{:,.0f}"),
    TRIAL_COST: ("agent's cost a trial, $", "{:.4f}"),
    TRIAL_SECONDS: ("duration of a trial, s", "{:.3f}"),
    "invocation_duration_v1": ("duration of a turn, s", "{:.3f}"),
    "tool_call_count_v1": ("tool calls a turn", "{:.2f}"),
    "inference_call_count_v1": ("model calls a turn", "{:.2f}"),
}


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
    """Remove the sign of a value that is rounded to 0: `0.000`, not `-0.000`."""
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


def run_text(run: ComparedRun, marks: Marks) -> str:
    """Return how large a run is: `40 cases x 5`."""
    cases = count_text(run.cases, "case")
    return f"{cases} {marks.times} {run.num_runs}" if run.num_runs > 1 else cases


def cost_texts(comparison: Comparison) -> tuple[str, str] | None:
    """Return the cost of both runs, if that of at least one is known."""
    costs = comparison.base.cost, comparison.candidate.cost
    if not any(costs):
        return None
    before, now = ("unknown" if cost is None else dollars(cost) for cost in costs)
    return before, now


def answers(found: Comparison) -> list[tuple[str, str]]:
    """Return the answer to each of the two questions, with its label."""
    both = ("On these cases", found.on_these_cases), ("In general", found.in_general)
    return [(label, text) for label, text in both if text]


def missing_texts(comparison: Comparison) -> list[str]:
    """Return which verdicts are missing, in short sentences."""
    if not comparison.missing_base and not comparison.missing_candidate:
        return []
    has_intervals = any(one.decides for one in comparison.measures)
    hold = ": the intervals hold for every value that they could have" if has_intervals else ""
    return [f"{missing_text(comparison)}{hold}"]
