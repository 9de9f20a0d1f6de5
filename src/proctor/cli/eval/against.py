"""The work of `proctor eval --against RUN`, and of going on with such a run: what comes of the comparison is shown, and is the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from proctor.cli.errors import ERROR, say
from proctor.cli.eval.execution import Execution, Start
from proctor.reports.content.summary import exit_code

if TYPE_CHECKING:
    from proctor.schema.analysis.comparison import Comparison
    from proctor.schema.results.run_result import RunResult
    from proctor.stores.base import Store

_WORST_FIRST = (1, 3, 4, 0)


def carry_out_against(
    execution: Execution, start: Start, store: Store | None, against: str, margin: float | None = None
) -> int:
    """Run, show the result and then the comparison with `against`, and return the exit code.

    It is that of the comparison (of several agents the worst one), unless a run did not come to its end, or something
    could not be written.
    """
    from proctor.analysis.compare.until_decided import compared_as_begun

    found: list[Comparison] = []

    def compared(runs: Sequence[RunResult]) -> list[Comparison]:
        if not found:
            ended = [run for run in runs if not (run.stopped_by or run.failure)]
            found.extend([compared_as_begun(run, against, store, margin) for run in ended])
        return found

    def code_of(runs: Sequence[RunResult]) -> int:
        if len(compared(runs)) < len(runs) or not found:
            return exit_code(runs) or ERROR
        return min((one.exit_code for one in found), key=_WORST_FIRST.index)

    execution.afterwards, execution.code_of = lambda runs: _show(compared(runs), execution), code_of
    return execution.carry_out(start)


def _show(found: Sequence[Comparison], execution: Execution) -> None:
    from proctor.analysis.compare.reports.write import write_comparison

    for one in found:
        if execution.stdout_is_free:
            execution.stdout.write("\n")
            write_comparison(one, execution.stdout)
        else:
            say(one.sentence)
