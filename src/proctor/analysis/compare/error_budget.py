"""The tests of a comparison, and how the probability of a false regression is divided over those that can cause one.

All tests are one-sided: 2 % for single cases, 2 % for the pass rate of the set, 1 % for the metrics. If a drop in general is
a regression, too (`--generalize`), it gets 2 %, and cases and set get 1 % each. By Bonferroni's inequality the probability
that any of them is wrong is at most the sum. The same levels hold for improvements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proctor.schema.analysis.comparison import PASSED, Comparison


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


def describe_tests(comparison: Comparison) -> list[str]:
    """Return the tests of a comparison with their levels and corrections, and the p-values of the cases that are worse."""
    if comparison.general is None:
        return []
    cases = (
        f"{one.name}: p = {one.p_value:.2g}, {one.adjusted:.2g} after correction"
        for one in comparison.significant_cases
    )
    return [
        *_deciding_tests(comparison, divide_error(_error(comparison), generalize=comparison.general.gates)),
        f"other measures: {_SIGNS}; {_percent(1 - comparison.confidence)} each, without correction",
        f"in general: {_SIGNS}, and a bootstrap over cases; {_percent(1 - comparison.general.confidence)}",
        *cases,
    ]


def _deciding_tests(comparison: Comparison, budget: ErrorBudget) -> Iterator[str]:
    is_single = comparison.base.num_runs == comparison.candidate.num_runs == 1
    rate_test = "McNemar's exact test" if is_single else "permutation test of the trials within each case"
    metrics = sum(one.decides and one.name != PASSED for one in comparison.measures)
    yield f"single cases: Fisher's exact test, one-sided; {_percent(budget.cases)} over all cases, with Tarone's and Holm's corrections"
    yield f"{PASSED}: {rate_test}, two-sided; {_percent(2 * budget.overall)}"
    if metrics:
        yield f"metrics that decide: {_SIGNS}; {_percent(2 * budget.metrics)} over {metrics}, with Holm's correction"


_SIGNS = "permutation test of the signs of the cases' differences, two-sided"


def _error(comparison: Comparison) -> float:
    return 1 - comparison.confidence if comparison.look is None else comparison.look.one_sided


def _percent(level: float) -> str:
    return f"{100 * level:.2g} %"
