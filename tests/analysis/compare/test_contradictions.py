"""Random comparisons: interval and test, a case's line, the table and the outcome never contradict each other."""

import pytest

from proctor.schema.analysis.comparison import Change
from tests.analysis.compare.contradictions import contradictions, is_misled
from tests.analysis.compare.drawn_comparisons import Drawn, draw

COMPARISONS = 500
MANY = 100_000


def problems(drawn: Drawn) -> list[str]:
    found = [*contradictions(drawn.found), *contradictions(drawn.complete)]
    if is_misled(drawn):
        found.append(f"{drawn.found.sentence}; with all verdicts {drawn.complete.sentence}")
    return [f"comparison {drawn.number}: {text}" for text in found]


@pytest.mark.parametrize("number", [497, 904, 1102, 2150, 2440, 6182, 51_768, 55_313, 59_378])
def test_comparisons_that_once_contradicted_themselves(number: int) -> None:
    """Missing verdicts misled these: the interval and the range of a metric, the bound of a drop, the correction for flaky cases."""
    assert problems(draw(number)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "comparisons",
    [
        COMPARISONS,
        pytest.param(MANY, marks=[pytest.mark.nightly, pytest.mark.timeout(0)]),  # half an hour
    ],
    ids=["few", "many"],
)
def test_no_comparison_contradicts_itself(comparisons: int) -> None:
    found, outcomes = [], set()
    for number in range(comparisons):
        drawn = draw(number)
        outcomes.add(drawn.found.outcome)
        found += problems(drawn)
    assert found == []
    assert outcomes == {*Change}, "each outcome is among those drawn"
