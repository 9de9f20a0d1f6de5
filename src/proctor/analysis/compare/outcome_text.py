"""The outcome of a comparison as a sentence: the difference, its confidence interval, and the number of cases."""

from __future__ import annotations

from proctor.analysis.compare.futility import FUTILE
from proctor.schema.analysis.comparison import (
    PASSED,
    CaseChange,
    Change,
    ComparedRun,
    Comparison,
    Look,
    Measured,
)


def sentence_of(found: Comparison, lowest: float | None) -> str:
    """Return the sentence; `lowest` is the one-sided bound of the pass rate's difference."""
    head = found.outcome.value.replace("_", " ")
    return f"{head}: {_SAID[found.outcome](found, lowest)}{_rests_on(found)}"


def is_fall(difference: float, margin: float) -> bool:
    """Return whether the loss exceeds the margin; the needed cases are then computed for a loss of this size."""
    return difference < -margin


def points(share: float) -> str:
    """Return a difference of shares in points, with its sign: `-7.5`."""
    text = f"{100 * share:+.1f}"
    return "0.0" if float(text) == 0 else text


def probability(p_value: float) -> str:
    """Return a p-value as text: `p = 0.004`, `p < 0.001`."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def change_text(one: Measured, confidence: float) -> str:
    """Return the change of one measure, with its confidence interval and p-value."""
    p_value = probability(one.p_value if one.adjusted is None else one.adjusted)
    way = "fell" if one.difference < 0 else "rose" if one.difference > 0 else "went"
    if one.name == PASSED:
        moved = f"the pass rate {way} from {one.base:.1%} to {one.candidate:.1%}".replace("%", " %")
        bounds = f"{points(one.difference)} points, {confidence:.0%}: {points(one.low)} to {points(one.high)}"
    else:
        moved = f"{one.name} {way} from {one.base:.3g} to {one.candidate:.3g}"
        bounds = f"{one.difference:+.2g}, {confidence:.0%}: {one.low:+.2g} to {one.high:+.2g}"
    return f"{moved} ({bounds.replace('%', ' %')}; {p_value})"


def _rests_on(found: Comparison) -> str:
    if not found.pairs:
        return ""
    cases = f"{found.pairs:,} case{'' if found.pairs == 1 else 's'}"
    if found.look is not None:
        return f"; by {cases}, {_look_text(found, found.look)}"
    base, candidate = _trials(found.base), _trials(found.candidate)
    if base != candidate:
        return f"; by {cases} x {base} and {candidate} trials"
    return f"; by {cases}" + (f" x {base} trials" if base != "1" else "")


def _trials(run: ComparedRun) -> str:
    """Return the number of trials of a case, or the maximum of a sequential run."""
    return f"up to {run.num_runs:,}" if run.most else f"{run.num_runs:,}"


def _look_text(found: Comparison, look: Look) -> str:
    """Return after how many trials the look was, and its significance level."""
    run = found.candidate
    made, most = run.num_runs * run.cases, run.most * run.cases
    saved = f" ({1 - made / most:.0%} fewer)".replace("%", " %") if made < most else ""
    head = "after" if found.outcome is Change.INCONCLUSIVE else "decided after"
    end = f"{head} {made:,} of {most:,} trials{saved}, look {look.number} of {look.of} at p < {look.two_sided:.2g}"
    if not found.futile:
        return end
    return f"{end}; the others would hardly decide it (a chance below {FUTILE:.0%})".replace("%)", " %)")


def _regression(found: Comparison, _: float | None) -> str:
    worse = [one for one in found.measures if one.decides and one.verdict == "worse"]
    text = ", ".join(change_text(one, found.confidence) for one in worse)
    small = len(worse) == 1 and worse[0].name == PASSED and worse[0].low >= -found.margin
    return text + (f", significant, but less than the margin of {_margin(found)}" if small else "")


def _improvement(found: Comparison, _: float | None) -> str:
    better = [one for one in found.measures if one.decides and one.verdict == "better"]
    return ", ".join(change_text(one, found.confidence) for one in better)


def _no_regression(found: Comparison, lowest: float | None) -> str:
    one = found.measure(PASSED)
    rates = f"the pass rate was {one.base:.1%} and is {one.candidate:.1%}".replace("%", " %")
    fallen = max(0.0, -(lowest or 0.0))
    sure = f"{found.confidence:.0%}".replace("%", " %")
    return (
        f"{rates}; if it has fallen, then by at most {100 * fallen:.1f} points ({sure}), where {_margin(found)} "
        "are allowed"
    )


def _inconclusive(found: Comparison, _: float | None) -> str:
    one = found.measure(PASSED)
    if one.apart:
        return (
            "pass and fail were not judged alike in both runs, so that they are not comparable: "
            "`proctor score RUN --config FILE` re-scores one run like the other, and calls no agent"
        )
    text = (
        f"{change_text(one, found.confidence)}, not significant, and a drop of more than {_margin(found)} is not "
        "ruled out"
    )
    more = f"about {found.more_cases:,} more cases" if found.more_cases else "more cases"
    if found.more_trials and not found.futile:
        more += f", or about {found.more_trials:,} more trial{'' if found.more_trials == 1 else 's'} of each,"
    if is_fall(one.difference, found.margin):
        return f"{text}: {more} are needed, if the difference stays the same"
    return f"{text}: {more} are needed"


def _error(found: Comparison, _: float | None) -> str:
    broken = len(found.changed(CaseChange.IN_ERROR))
    if broken:
        cases = "1 case that passed" if broken == 1 else f"{broken:,} cases that passed"
        return f"{cases} could not be judged this time, so that a regression cannot be assessed"
    return "no case could be judged in both runs, so that a regression cannot be assessed"


def _margin(found: Comparison) -> str:
    return f"{100 * found.margin:g} points"


_SAID = {
    Change.REGRESSION: _regression,
    Change.ERROR: _error,
    Change.INCONCLUSIVE: _inconclusive,
    Change.IMPROVEMENT: _improvement,
    Change.NO_REGRESSION: _no_regression,
}
