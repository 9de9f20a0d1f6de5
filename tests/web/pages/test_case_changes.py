"""How the page of a run names the change of a case since the run before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proctor.analysis.compare.sides import BriefCase
from proctor.schema.analysis.comparison import Trials
from proctor.schema.results.score import Outcome
from proctor.web.pages.runs.load_run import direction_of

_CASE = BriefCase(Outcome.PASSED, Trials(0, 0), 0, {}, (), frozenset(), {}, "")


def case(outcome: Outcome, passed: int, failed: int = 0, error: int = 0) -> BriefCase:
    return replace(
        _CASE, outcome=outcome, trials=Trials(passed, failed, error), count=passed + failed + error
    )


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        pytest.param(
            case(Outcome.PASSED, 4), case(Outcome.ERROR, 2, error=6), "worse", id="passed, now in error"
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1), case(Outcome.FAILED, 6, 1, error=1), None, id="failed, and more pass"
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1), case(Outcome.ERROR, 3, error=1), None, id="failed, now in error"
        ),
        pytest.param(
            case(Outcome.FAILED, 3, 1),
            case(Outcome.FAILED, 0, 3, error=1),
            "worse",
            id="fewer pass for certain",
        ),
        pytest.param(case(Outcome.PASSED, 4), case(Outcome.NOT_RUN, 0), None, id="not reached"),
    ],
)
def test_missing_verdicts_are_worse_only_if_the_case_had_passed(
    before: BriefCase, now: BriefCase, change: str | None
) -> None:
    assert direction_of(before, now) == change
