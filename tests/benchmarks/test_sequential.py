"""Trials that are added until it is decided: no more errors than of one look, and a third fewer of them."""

import pytest

from benchmarks.sequential import CONFIDENCE, MODELS, MOST, RATE, against, gate
from proctor.schema.analysis.comparison import Change
from proctor.stats.intervals import wilson
from proctor.stats.sequential import share_bounds

pytestmark = pytest.mark.slow


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("share", [0.75, RATE, 0.85])
def test_error_rate_of_decisions_is_within_the_confidence(share: float) -> None:
    found = gate(share, 4_000)
    assert found.wrong <= wilson(100, 4_000, confidence=0.999)[1]  # of 2.5 %


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("share", [0.5, 0.65, 0.7, RATE, 0.9, 0.95, 0.99])
def test_case_takes_a_third_fewer_trials_at_any_rate(share: float) -> None:
    found = gate(share, 1_000)
    assert found.saved >= 0.3
    if share not in (0.7, RATE, 0.9):
        assert found.right >= found.right_beforehand - 0.08
    assert share_bounds(RATE, MOST, CONFIDENCE).most == MOST


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "least"), [("60 cases x 10, the same, margin 10", 0.3), ("60 cases x 5, the same", 0.3)]
)
def test_builds_that_do_the_same_are_called_worse_no_more_often(name: str, least: float) -> None:
    (model,) = [one for one in MODELS if one.name == name]
    found = against(model, 150)
    assert found.outcomes.get(Change.REGRESSION, 0.0) <= wilson(8, 150, confidence=0.999)[1]
    assert found.saved >= least


@pytest.mark.nightly
def test_a_build_that_is_worse_is_found_with_a_third_fewer_trials() -> None:
    (model,) = [one for one in MODELS if one.name == "60 cases x 10, 15 points worse"]
    found = against(model, 60)
    assert found.saved >= 0.3
    assert found.outcomes[Change.REGRESSION] >= found.beforehand[Change.REGRESSION] - 0.1
