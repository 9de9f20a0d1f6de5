"""Messages about unknown names."""

import pytest

from proctor.errors import did_you_mean

KNOWN = ["tool_trajectory_avg_score", "safety_v1"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tool_trajectory_avg", "tool_trajectory_avg_score"),
        ("TOOL_TRAJECTORY_AVG_SCORE", "tool_trajectory_avg_score"),
        ("PrebuiltMetrics.SAFETY_V1", "safety_v1"),
        ("weather", ""),
        ("", ""),
    ],
)
def test_closest_name_is_suggested(name: str, meant: str) -> None:
    assert did_you_mean(name, KNOWN) == (f" Did you mean {meant!r}?" if meant else "")
