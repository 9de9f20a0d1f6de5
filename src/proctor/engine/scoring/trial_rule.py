"""Which share of a case's trials must pass: what so many passes mean under a config's `trials`. Pure, like `verdict`."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.schema.results.outcome import Outcome
from proctor.schema.results.repeats import CONFIDENCE, TrialRule
from proctor.stats.intervals import more_trials, pass_hat, wilson
from proctor.stats.sequential import FUTILE, ShareBounds, share_bounds


def decide_trials(rule: TrialRule, trials: Sequence[Outcome]) -> Outcome:
    """Decide from the outcomes of the trials whether enough of them pass.

    A trial that is neither passed nor failed might have been anything: the case is an *error*, unless it fails even
    if all of these had passed. No trials at all are an *error*, too.
    """
    passed = sum(trial is Outcome.PASSED for trial in trials)
    unknown = len(trials) - passed - sum(trial is Outcome.FAILED for trial in trials)
    if rule.at_most is not None:
        return _decide_as_added(rule, trials, is_all_known=not unknown)
    if not unknown:
        return held_against(rule, passed, len(trials))
    best = held_against(rule, passed + unknown, len(trials))
    return Outcome.FAILED if best is Outcome.FAILED else Outcome.ERROR


_SIDES = {-1: Outcome.FAILED, 0: Outcome.INCONCLUSIVE, 1: Outcome.PASSED}


def _decide_as_added(rule: TrialRule, trials: Sequence[Outcome], *, is_all_known: bool) -> Outcome:
    """Decide where trials were added until that could be done: the first time that it could counts, whatever came later."""
    bounds = bounds_of(rule)
    side, looked_at = bounds.decided(trial is not Outcome.FAILED for trial in trials)
    if is_all_known or side < 0:
        return _SIDES[side] if trials else Outcome.ERROR
    known = all(trial in (Outcome.PASSED, Outcome.FAILED) for trial in trials[:looked_at])
    return _SIDES[side] if known and side else Outcome.ERROR


def bounds_of(rule: TrialRule) -> ShareBounds:
    """Return the bounds for looking after each trial, of a rule by which trials are added."""
    return share_bounds(rule.rate, rule.at_most or 1, rule.confidence or CONFIDENCE)


def held_against(rule: TrialRule, passed: int, total: int) -> Outcome:
    """Hold `passed` of `total` trials against `rule`; too few trials for what it asks are an *error*.

    Without a confidence the unbiased estimate decides (pass^k, which is the share for k = 1). With one, the Wilson
    interval of the share does, raised to the power k: passed when all of it reaches the rate asked for, failed when
    none of it does, else inconclusive.
    """
    if total < 1 or (rule.confidence is None and total < rule.pass_k):
        return Outcome.ERROR
    if rule.confidence is None:
        enough = pass_hat(passed, total, rule.pass_k) >= rule.min_pass_rate
        return Outcome.PASSED if enough else Outcome.FAILED
    low, high = wilson(passed, total, confidence=rule.confidence)
    if low >= rule.rate:
        return Outcome.PASSED
    return Outcome.FAILED if high < rule.rate else Outcome.INCONCLUSIVE


def trials_reason(rule: TrialRule, outcome: Outcome, trials: Sequence[Outcome], missed: str) -> str:
    """Say how many trials passed, what was asked for, and what is to be done or went wrong."""
    passed, total = sum(trial is Outcome.PASSED for trial in trials), len(trials)
    found, asked = f"{passed:,} of {total:,} trials passed", f"{rule.min_pass_rate:g} asked for"
    if outcome is Outcome.ERROR:
        return f"{found}, and pass^{rule.pass_k} takes at least {rule.pass_k} trials to tell"
    if rule.pass_k > 1:
        if rule.confidence is None:
            found = f"pass^{rule.pass_k} {pass_hat(passed, total, rule.pass_k):.2f} ({found})"
        else:
            asked = f"pass^{rule.pass_k} {asked}"
    if rule.confidence is not None:
        asked += f" at {100 * rule.confidence:g} %"
    if outcome is Outcome.INCONCLUSIVE:
        return f"{found}, {asked}: {_how_many_more(rule, passed, total)}"
    return f"{found}, {asked}{': ' if missed else ''}{missed}"


def _how_many_more(rule: TrialRule, passed: int, total: int) -> str:
    if rule.at_most is not None:
        return _left_over(rule, passed, total, rule.at_most - total)
    more = more_trials(passed, total, rule.rate, confidence=rule.confidence or 0.0)
    if more is None:
        return "that is exactly the share so far, and more trials like these would not decide"
    return f"about {_rounded(more):,} more {'trial' if more == 1 else 'trials'}"


def _left_over(rule: TrialRule, passed: int, total: int, left: int) -> str:
    """Why trials that could have been added were not."""
    if left <= 0:
        return f"not decided within {total:,} trials"
    if bounds_of(rule).more(passed, total):  # judged again by other criteria
        return f"undecided, and up to {left:,} more {'trial' if left == 1 else 'trials'} could be made"
    what = "the 1 trial that is" if left == 1 else f"the {left:,} trials that are"
    return f"undecided, and {what} left would hardly decide it (a chance below {FUTILE:.0%})".replace(
        "%", " %"
    )


def _rounded(number: int) -> int:
    """Two digits say all that a forecast knows; rounded up."""
    unit: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // unit) * unit
