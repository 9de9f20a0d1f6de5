"""Outcomes and how they combine: failed before error before inconclusive before not run; green only with a pass in it."""

import itertools

import pytest

from proctor.schema.results.score import Outcome, worst


def test_an_outcome_is_its_text_as_a_key_too() -> None:
    assert {"passed": 1}[Outcome.PASSED] == 1
    assert {Outcome.FAILED: 2}["failed"] == 2  # type: ignore[index]  # a text of the same value


@pytest.mark.parametrize(
    ("outcomes", "found"),
    [
        pytest.param([], Outcome.ERROR, id="nothing"),
        pytest.param([Outcome.SKIPPED], Outcome.ERROR, id="nothing that decides"),
        pytest.param([Outcome.INFORMATIONAL, Outcome.NOT_APPLICABLE], Outcome.ERROR, id="nothing that gates"),
        pytest.param([Outcome.PASSED], Outcome.PASSED, id="a pass"),
        pytest.param([Outcome.PASSED, Outcome.SKIPPED], Outcome.PASSED, id="a pass and what was left out"),
        pytest.param([Outcome.PASSED, Outcome.NOT_RUN], Outcome.NOT_RUN, id="something was not reached"),
        pytest.param([Outcome.INCONCLUSIVE, Outcome.NOT_RUN], Outcome.INCONCLUSIVE, id="inconclusive"),
        pytest.param([Outcome.ERROR, Outcome.INCONCLUSIVE], Outcome.ERROR, id="an error"),
        pytest.param([Outcome.PASSED, Outcome.ERROR, Outcome.FAILED], Outcome.FAILED, id="a failure"),
    ],
)
def test_the_worst_decides_in_any_order(outcomes: list[Outcome], found: Outcome) -> None:
    for order in itertools.permutations(outcomes):
        assert worst(order) is found
        assert worst(iter([*order, *order])) is found
