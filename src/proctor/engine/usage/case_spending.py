"""What one case took on models: its trials, its played users and its judges, by the evidence that is kept."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.engine.trial.played_conversation import spent_on_user
from proctor.engine.usage.agent_costs import costs_of
from proctor.engine.usage.run_costs import all_details, spent_on
from proctor.schema.results.model_usage import Spent, together, total_cost
from proctor.schema.results.run_result import CaseResult


def spent_on_case(case: CaseResult) -> list[Spent]:
    """Return what a case took, by purpose and model; attempts that were made again are in it. Reads its evidence."""
    return together(_all(case))


def cost_of_case(case: CaseResult) -> float | None:
    """Return the US dollars that a case took; `None` where a price is not known, or nothing was reported."""
    return total_cost(spent_on_case(case))


def _all(case: CaseResult) -> Iterator[Spent]:
    for trial in case.trials:
        for one in (*trial.earlier, trial):
            if (evidence := one.trial) is not None:
                yield from costs_of(evidence)
                if evidence.played_user is not None:
                    yield from spent_on_user(evidence.played_user)
    for metric in case.metrics.values():
        for score in metric.per_trial:
            for details in all_details(score) if score is not None else ():
                yield from spent_on(details)
