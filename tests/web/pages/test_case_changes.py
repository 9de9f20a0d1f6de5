"""How the page of a run names the change of a case since the run before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proctor.analysis.compare.sides import BriefCase, Pairs, changed_cases
from proctor.schema.analysis.comparison import CaseChange, Trials
from proctor.schema.results.score import Outcome
from proctor.web.pages.runs.case_changes import direction_of

_CASE = BriefCase(Outcome.PASSED, Trials(0, 0), 0, {}, (), frozenset(), {}, "the reason")


def case(outcome: Outcome, passed: int, failed: int = 0, error: int = 0) -> BriefCase:
    return replace(
        _CASE, outcome=outcome, trials=Trials(passed, failed, error), count=passed + failed + error
    )


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        pytest.param(
            case(Outcome.PASSED, 4), case(Outcome.ERROR, 2, error=6), "missing", id="passed, now in error"
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1),
            case(Outcome.FAILED, 6, 1, error=1),
            "missing",
            id="failed, and one is in error",
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1), case(Outcome.ERROR, 3, error=1), "missing", id="failed, now in error"
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1),
            case(Outcome.FAILED, 0, 3, error=1),
            "worse",
            id="fewer pass for certain",
        ),
        pytest.param(
            case(Outcome.FAILED, 0, 4),
            case(Outcome.ERROR, 0, error=4),
            "missing",
            id="no trial passed, now in error",
        ),
        pytest.param(
            case(Outcome.ERROR, 0, error=4),
            case(Outcome.FAILED, 0, 4),
            "no_longer_in_error",
            id="in error, now failed",
        ),
        pytest.param(
            case(Outcome.ERROR, 0, error=4),
            case(Outcome.PASSED, 4),
            "no_longer_in_error",
            id="in error, now passed",
        ),
        pytest.param(
            case(Outcome.FAILED, 7, error=1),
            case(Outcome.FAILED, 7, error=1),
            None,
            id="one in error in both",
        ),
        pytest.param(case(Outcome.NOT_RUN, 0), case(Outcome.PASSED, 4), None, id="not run, now passed"),
        pytest.param(
            case(Outcome.NOT_RUN, 0), case(Outcome.FAILED, 0, 4), "missing", id="not run, now failed"
        ),
        pytest.param(case(Outcome.PASSED, 4), case(Outcome.FAILED, 0, 4), "worse", id="now fails"),
        pytest.param(case(Outcome.FAILED, 0, 4), case(Outcome.PASSED, 4), "better", id="now passes"),
        pytest.param(
            case(Outcome.PASSED, 1), case(Outcome.FAILED, 3, 1), "within_noise", id="1 of 1, now 3 of 4"
        ),
    ],
)
def test_a_change_is_that_of_a_comparison(before: BriefCase, now: BriefCase, change: str | None) -> None:
    assert direction_of(before, now) == change
    compared = changed_cases(Pairs([(("set", "case", 0), before, now)]))
    directions = [
        one.change.value
        if one.change is CaseChange.NO_LONGER_IN_ERROR and one.reason
        else _DIRECTIONS[one.change]
        for one in compared
    ]
    assert directions == ([change] if change else [])


_DIRECTIONS = {
    CaseChange.NOW_FAILS: "worse",
    CaseChange.FEWER_TRIALS: "worse",
    CaseChange.MISSING: "missing",
    CaseChange.NOW_IN_ERROR: "missing",
    CaseChange.NOW_PASSES: "better",
    CaseChange.NO_LONGER_IN_ERROR: "no_longer_in_error",
    CaseChange.MORE_TRIALS: "better",
    CaseChange.WITHIN_NOISE: "within_noise",
}


def test_a_case_that_was_not_reached_has_not_changed() -> None:
    assert direction_of(case(Outcome.PASSED, 4), case(Outcome.NOT_RUN, 0)) is None
