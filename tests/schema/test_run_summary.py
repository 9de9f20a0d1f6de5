"""The figures of a run's summary."""

from __future__ import annotations

import pytest

from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.model_usage import Spent

AGENT = Spent(purpose="agent", cost=0.30)
JUDGE = Spent(purpose="judge", cost=0.10)
UNPRICED = Spent(purpose="judge", unpriced=1)


@pytest.mark.parametrize(
    ("attempts", "unreported", "spent", "cost"),
    [
        pytest.param(4, 0, [AGENT, JUDGE], 0.10, id="all purposes, over the trials"),
        pytest.param(4, 2, [AGENT], 0.15, id="without attempts that reported no usage"),
        pytest.param(4, 2, [AGENT, JUDGE], 0.175, id="judges scored attempts that reported no usage"),
        pytest.param(2, 2, [AGENT], None, id="no attempt reported usage"),
        pytest.param(1, 0, [AGENT, UNPRICED], None, id="a price is unknown"),
        pytest.param(1, 0, [JUDGE], None, id="the agent reported no usage"),
        pytest.param(1, 0, [], None, id="nothing was reported"),
        pytest.param(0, 0, [AGENT], None, id="no trial was made"),
    ],
)
def test_the_cost_of_a_trial(attempts: int, unreported: int, spent: list[Spent], cost: float | None) -> None:
    summary = RunSummary(attempts=attempts, unreported=unreported, spent=spent)
    assert summary.trial_cost == (cost if cost is None else pytest.approx(cost))
