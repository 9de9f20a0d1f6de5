"""The cost of a trial, by the summary of its run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from proctor.analysis.history.selected_runs import trial_cost
from proctor.schema.results.manifest import RunRecord, RunState, RunSummary
from proctor.schema.results.model_usage import Spent
from proctor.stores.open import open_store

AGENT = Spent(purpose="agent", cost=0.30)
JUDGE = Spent(purpose="judge", cost=0.10)
UNPRICED = Spent(purpose="judge", unpriced=1)


@pytest.mark.parametrize(
    ("attempts", "spent", "cost"),
    [
        pytest.param(4, [AGENT, JUDGE], 0.10, id="all purposes, over the trials"),
        pytest.param(1, [AGENT, UNPRICED], None, id="a price is unknown"),
        pytest.param(1, [JUDGE], None, id="the agent reported no usage"),
        pytest.param(1, [], None, id="nothing was reported"),
        pytest.param(0, [AGENT], None, id="no trial was made"),
    ],
)
def test_the_cost_of_a_trial(tmp_path: Path, attempts: int, spent: list[Spent], cost: float | None) -> None:
    summary = RunSummary(attempts=attempts, spent=spent)
    run = RunRecord("run", 0.0, "agent", ("set",), 1, 1, RunState.FINISHED, summary)
    with closing(open_store(str(tmp_path / "runs.sqlite3"))) as store:
        assert trial_cost(store, run) == (cost if cost is None else pytest.approx(cost))
