"""How the probability of a false regression is divided over the tests that can cause one.

All tests are one-sided: 2 % for single cases, 2 % for the pass rate of the set, 1 % for the metrics. If a drop in general is
a regression, too (`--generalize`), it gets 2 %, and cases and set get 1 % each. By Bonferroni's inequality the probability
that any of them is wrong is at most the sum. The same levels hold for improvements.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The one-sided significance level of each kind of test."""

    cases: float
    """Of all single cases together."""
    overall: float
    """Of the pass rate over the set."""
    metrics: float
    """Of all metrics that decide, together."""
    general: float
    """Of the pass rate in general; 0: it does not decide."""


_SHARES = ErrorBudget(cases=0.4, overall=0.4, metrics=0.2, general=0.0)
_SHARES_IF_GENERAL = ErrorBudget(cases=0.2, overall=0.2, metrics=0.2, general=0.4)


def divide_error(error: float, *, generalize: bool = False) -> ErrorBudget:
    """Divide the probability `error` of a false regression over the tests."""
    shares = _SHARES_IF_GENERAL if generalize else _SHARES
    return ErrorBudget(
        shares.cases * error, shares.overall * error, shares.metrics * error, shares.general * error
    )
