"""Executions that end together with another run or process: a comparison with a baseline, or one part of a shared run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from proctor.cli.eval.execution import Execution, Start
from proctor.cli.messages import notify
from proctor.reports.content.summary import exit_code_of_runs, verdict_sentence
from proctor.runs.storage.open import store_option
from proctor.schema.results.exit_code import ExitCode
from proctor.schema.results.manifest import RunState
from proctor.schema.results.run_result import RunResult
from proctor.stores.shared_runs import run_members

if TYPE_CHECKING:
    from proctor.schema.analysis.comparison import Comparison
    from proctor.stores.base import Store


# --- Runs that are compared with a baseline (`--against RUN`) ---------------------------------------------------------

_WORST_FIRST = (ExitCode.FAILED, ExitCode.ERROR, ExitCode.INCONCLUSIVE, ExitCode.PASSED)


def carry_out_against(
    execution: Execution, start: Start, store: Store | None, against: str, margin: float | None = None
) -> int:
    """Run, show the result and its comparison with the baseline run `against`, and return the exit code.

    The exit code is that of the comparison (with several agents the worst one), unless a run stopped early or an output
    could not be written.
    """
    from proctor.analysis.compare.until_decided import compared_as_begun

    comparisons: list[Comparison] = []

    def compare(runs: Sequence[RunResult]) -> list[Comparison]:
        if not comparisons:
            ended = [run for run in runs if not (run.stopped_by or run.failure)]
            comparisons.extend(compared_as_begun(run, against, store, margin) for run in ended)
        return comparisons

    def code_of(runs: Sequence[RunResult]) -> int:
        if len(compare(runs)) < len(runs) or not comparisons:
            return exit_code_of_runs(runs) or ExitCode.ERROR
        return min((comparison.exit_code for comparison in comparisons), key=_WORST_FIRST.index)

    execution.after_runs, execution.code_of = (
        lambda runs: _show_comparisons(compare(runs), execution),
        code_of,
    )
    return execution.carry_out(start)


def _show_comparisons(comparisons: Sequence[Comparison], execution: Execution) -> None:
    from proctor.analysis.compare.comparison_report import write_comparison

    for comparison in comparisons:
        if execution.stdout_is_free:
            execution.stdout.write("\n")
            write_comparison(comparison, execution.stdout)
        else:
            notify(comparison.sentence)


# --- A run that several processes write (`--join RUN`) ----------------------------------------------------------------


def carry_out_part(execution: Execution, start: Start, store: Store, run_id: str) -> int:
    """Run one part of a run. The last member also reports the verdict of the whole run, and returns its exit code."""

    def code_of(runs: Sequence[RunResult]) -> int:
        return exit_code_of_runs([store.load(run_id)] if _is_last(runs) else runs)

    execution.code_of = code_of
    execution.resume_hint = partial(shared_resume_hint, store)
    execution.after_runs = lambda runs: _report_state(store, run_id, is_last=_is_last(runs))
    return execution.carry_out(start)


def _is_last(runs: Sequence[RunResult]) -> bool:
    return any(run.completes_run for run in runs)


def code_after_empty_part(options: Mapping[str, Any], store: Store | None) -> int:
    """Report the run of which this process had a part without a case; return its exit code if it is complete, else 0."""
    run_id = options.get("join")
    if store is None or not run_id:
        return ExitCode.PASSED
    is_complete = store.record(run_id).state is RunState.FINISHED
    _report_state(store, run_id, is_last=is_complete)
    return exit_code_of_runs([store.load(run_id)]) if is_complete else ExitCode.PASSED


def _report_state(store: Store, run_id: str, *, is_last: bool) -> None:
    """Report the verdict of the whole run, or how many parts are complete."""
    if is_last:
        notify(
            f"run {run_id} is complete: {verdict_sentence(store.load(run_id))} (`proctor show {run_id}{store_option(store)}`)"
        )
        return
    if members := run_members(store, run_id):
        done = sum(member.is_complete for member in members)
        state = f"run {run_id}: {done} of {members[0].parts} parts complete"
        if stopped_by := store.summary(run_id, 1).stopped_by:
            notify(f"{state}, the others stopped by {stopped_by}")
        else:
            notify(
                f"{state}. The last one reports the verdict of the run; `proctor show {run_id} --wait{store_option(store)}` "
                "waits for it"
            )


def shared_resume_hint(store: Store, run: RunResult) -> str:
    """Return how a run that several processes write is resumed: after a limit of all, with a higher one."""
    from proctor.runs.storage.join_run import cap_hint

    hint = cap_hint(store, run.run_id, run.stopped_by)
    return hint or f"`proctor resume {run.run_id}{store_option(store)}` resumes it"
