"""The mean changes of scores between two runs."""

from __future__ import annotations

import pytest

from proctor.stats.intervals import ClusteredMean
from proctor.web.pages.base import change_figures


def _mean(*changes: float) -> ClusteredMean:
    mean = ClusteredMean()
    for change in changes:
        mean.add(change, 1)
    return mean


@pytest.mark.parametrize(
    ("score_range", "low", "high"),
    [((0.0, 1.0), -1.0, 1.0), ((1.0, 5.0), -4.0, 4.0)],
    ids=["a score from 0 to 1", "a grade from 1 to 5"],
)
def test_an_interval_is_within_what_scores_can_change_by(
    score_range: tuple[float, float], low: float, high: float
) -> None:
    way = 1.0 if score_range == (0.0, 1.0) else 4.0
    means = {"falls": _mean(-way, -way, 0.0), "rises": _mean(way, way, 0.0)}
    changes = change_figures(means, dict.fromkeys(means, score_range))
    assert changes["falls"].low == low
    assert changes["rises"].high == high


def test_a_metric_without_a_known_range_has_the_whole_interval_and_one_without_scores_has_none() -> None:
    changes = change_figures({"count": _mean(-1.0, -1.0, 0.0), "none": _mean()}, {})
    assert [*changes] == ["count"]
    assert changes["count"].low is not None
    assert changes["count"].low < -2
