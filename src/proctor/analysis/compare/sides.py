"""The two sides of a comparison: a stored run or a result in memory, with what it was and how it was scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.errors import UnknownNameError
from proctor.schema.analysis.comparison import ComparedRun
from proctor.schema.results.run_result import RunResult

if TYPE_CHECKING:
    from proctor.analysis.compare.compare import Side
    from proctor.schema.results.manifest import Judging, Manifest
    from proctor.stores.base import Store

KnownSide = tuple["Side", "tuple[Manifest, Judging]"]
"""A side, its manifest and the scoring that counts."""


def side_of_run(store: Store, given: str | RunResult) -> KnownSide:
    """Return a run, by its name in `store` or as a result, as one side of a comparison.

    Raises:
        UnknownNameError: there is no such run.
        SetupError: the name depends on which run is the newest, and the last attempt to run made none.
    """
    if isinstance(given, RunResult):
        return side_of_result(given)
    from proctor.analysis.compare.compare import Side
    from proctor.analysis.compare.trial_costs import figures_of_kept, with_figures
    from proctor.schema.results.manifest import counting
    from proctor.schema.results.model_usage import total_cost

    run_id = find_run(store, given)
    manifest, judging = store.manifest(run_id), counting(store.judgings(run_id))
    summary = store.summary(run_id, judging.number)
    cases = sum(one.cases for one in manifest.sets)
    run = ComparedRun(
        run_id, manifest.agent.label, cases, manifest.num_runs, manifest.created_at,
        total_cost(summary.spent) if summary.spent else None,
        against=manifest.against, most=manifest.num_runs if store.load(run_id).at_most else 0,
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in summary.spent)
    made = sum(one.cases * one.num_runs for one in manifest.sets)
    figures = figures_of_kept(store, run_id, trials=made, priced=priced)
    return Side(run, with_figures(store.verdicts(run_id, judging.number), figures)), (manifest, judging)


def find_run(store: Store, name: str) -> str:
    """Return the id of the run that `name` names.

    Raises:
        UnknownNameError: there is no such run; where there is such a baseline, it says how that is named.
        SetupError: the name depends on which run is the newest, and the last attempt to run made none.
    """
    from proctor.runs.failed_attempts import find_current_run
    from proctor.stores.baselines import is_baseline

    try:
        return find_current_run(store, name)
    except UnknownNameError as problem:
        if not is_baseline(name, store):
            raise
        raise UnknownNameError(
            f"{problem}. There is a baseline {name}, which can be the base: `proctor compare --baseline {name} CANDIDATE` "
            f"(in Python baseline={name!r})"
        ) from None


def side_of_result(result: RunResult) -> KnownSide:
    """Return a result in memory as one side. The content of its cases is unknown, so they are paired by their ids."""
    from proctor.analysis.compare.compare import Side
    from proctor.analysis.compare.trial_costs import MOST_TRIALS, figures_of_case, with_figures
    from proctor.runs.differences import told_by_result

    cost = result.cost if result.spent else None
    run = ComparedRun(
        result.run_id, result.agent, len(result.cases), result.num_runs, result.started_at, cost,
        against=result.against, most=result.num_runs if result.at_most else 0,
    )  # fmt: skip
    priced = any(one.purpose == "agent" and not one.unpriced for one in result.spent)
    cases = [("", case) for case in result.cases]
    few = sum(len(case.trials) for _, case in cases) <= MOST_TRIALS
    figures = {at: figures_of_case(one, priced=priced) for at, (_, one) in enumerate(cases) if few}
    return Side(run, [*with_figures(cases, figures)]), told_by_result(result)
