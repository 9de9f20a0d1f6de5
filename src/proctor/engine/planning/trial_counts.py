"""How many trials a case gets, and whether so many trials can decide a config's `trials` rule."""

from __future__ import annotations

from math import ceil, log

from proctor.engine.run_options import RunOptions
from proctor.engine.scoring.verdict import bounds_of, decide_share
from proctor.errors import SetupError
from proctor.schema.format.config import EvalConfig
from proctor.schema.results.case_statistics import TrialRule
from proctor.schema.results.score import Outcome
from proctor.stats.intervals import more_trials

_HALF = 0.5
"""With a single trial every rate requires that it passes; a rate below this is probably a mistake."""


def runs_of(config: EvalConfig, options: RunOptions) -> int:
    """Return how many trials each case gets: the option `num_runs`, or the config's number, or 1."""
    stated = config.trials.num_runs if config.trials is not None else None
    return options.num_runs or stated or 1


def problems_of_trials(config: EvalConfig, num_runs: int) -> list[SetupError]:
    """Return the problems of a config's `trials` for so many trials a case."""
    if not (message := undecidable(config.rule_for(num_runs), num_runs)):
        return []
    problem = SetupError(message)
    problem.path, problem.parts = ("trials",), [message.removeprefix("trials: ")]
    problem.is_mistake = (
        config.trials is not None and config.trials.num_runs is not None
    )  # else --num-runs helps
    return [problem]


def undecidable(rule: TrialRule | None, num_runs: int) -> str:
    """Explain why so many trials can decide nothing under `rule`; empty if they can decide something."""
    if rule is None:
        return ""
    if rule.confidence is None:
        if rule.pass_k <= num_runs:
            return ""
        return f"trials: pass_k is {rule.pass_k}, and a case has {_trials(num_runs)}: it takes at least {rule.pass_k}"
    if _can_pass(rule, num_runs) or _can_fail(rule, num_runs):
        return ""
    return (
        f"trials: {_trials(num_runs)} a case can decide nothing at a confidence of "
        f"{rule.confidence:g}: from {least_to_pass(rule)} trials on a case can pass"
    )


def too_few_trials(rule: TrialRule, num_runs: int) -> str:
    """Explain which verdict so many trials cannot reach; empty if both passed and failed are possible."""
    if rule.confidence is None or undecidable(rule, num_runs):
        return ""
    asked = f"{rule.min_pass_rate:g} at a confidence of {rule.confidence:g}"
    if not _can_pass(rule, num_runs):
        return (
            f"trials: no case can pass with {_trials(num_runs)}: even if all pass, that does not show {asked}; "
            f"it takes at least {least_to_pass(rule)}"
        )
    if not _can_fail(rule, num_runs):
        return f"trials: no case can fail with {_trials(num_runs)}: even if none passes, {asked} is not ruled out"
    return ""


def loose_rate(rule: TrialRule, num_runs: int) -> str:
    """Warn about a rate below one trial, which a case that fails all trials but one still meets; empty for others.

    With a confidence one trial that passes is not enough, and `too_few_trials` reports what is out of reach.
    """
    trials = rule.at_most or num_runs
    is_strict = rule.confidence is not None or rule.rate * trials >= 1
    if is_strict or (trials == 1 and rule.rate >= _HALF):
        return ""
    return (
        f"trials: min_pass_rate {rule.min_pass_rate:g} is below one of {_trials(trials)}: a case passes if a single trial "
        "passes. State a rate such as 0.8"
    )


def _can_pass(rule: TrialRule, num_runs: int) -> bool:
    if rule.at_most is not None:
        return any(most <= count for count, most in enumerate(bounds_of(rule).above) if count)
    return decide_share(rule, num_runs, num_runs) is Outcome.PASSED


def _can_fail(rule: TrialRule, num_runs: int) -> bool:
    if rule.at_most is not None:
        return any(most >= 0 for most in bounds_of(rule).below)
    return decide_share(rule, 0, num_runs) is Outcome.FAILED


def least_to_pass(rule: TrialRule) -> int:
    """Return how many trials it takes at least, all of them passing, for a case to pass."""
    if rule.confidence is None:
        return rule.pass_k
    if rule.at_most is not None:  # exact, unlike the interval: all trials may be needed
        each = (1 - rule.confidence) / 2
        return ceil(log(each) / log(rule.rate))
    return 1 + (more_trials(1, 1, rule.rate, confidence=rule.confidence) or 0)


def _trials(count: int) -> str:
    return "1 trial" if count == 1 else f"{count} trials"
