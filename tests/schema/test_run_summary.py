"""The figures of a run's summary."""

from __future__ import annotations

import pytest

from proctor.schema.results.manifest import RunSummary
from proctor.schema.results.model_usage import Spent

AGENT = Spent(purpose="agent", cost=0.30)
JUDGE = Spent(purpose="judge", cost=0.10)
UNPRICED = Spent(purpose="judge", unpriced=1)


@pytest.mark.parametrize(
    ("counts", "spent", "cost"),
    [
        pytest.param({"passed": 3, "failed": 1}, [AGENT, JUDGE], 0.10, id="all purposes, over the cases"),
        pytest.param({"passed": 1, "error": 1, "not_run": 7, "skipped": 1}, [AGENT], 0.15, id="executed cases only"),
        pytest.param({"passed": 1}, [AGENT, UNPRICED], None, id="a price is unknown"),
        pytest.param({"passed": 1}, [], None, id="nothing was reported"),
        pytest.param({"not_run": 2}, [AGENT], None, id="no case was executed"),
    ],
)  # fmt: skip
def test_the_cost_of_a_case(counts: dict[str, int], spent: list[Spent], cost: float | None) -> None:
    assert RunSummary(counts=counts, spent=spent).case_cost == (cost if cost is None else pytest.approx(cost))
