"""What a package that brings metrics along should have among its tests. Run: pytest examples/custom_metric"""

from typing import Any

import pytest

from examples.custom_metric.metrics import NamesUnit, response_brevity, same_numbers
from proctor.testing import check_metric


@pytest.mark.parametrize("metric", [response_brevity, same_numbers, NamesUnit])
def test_it_keeps_the_rules_of_a_metric(metric: Any) -> None:
    """Scores in range, with reasons, reproducible, for any conversation."""
    check_metric(metric)


def test_its_own_options() -> None:
    """Options of the criterion come as an object; the scores are returned, for more questions."""
    scores = check_metric(response_brevity, {"threshold": 0.5, "max_words": 14})
    assert scores["as expected"].value == 1.0
    assert scores["a long answer"].value == 14 / 2000
