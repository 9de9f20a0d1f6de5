"""The size of a run that detects a drop, as text blocks and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TextIO

from proctor.common.json_values import JsonObject
from proctor.reports.content.summary import dollars, duration
from proctor.reports.content.text_blocks import (
    Block,
    Column,
    Gap,
    Table,
    text_line,
    text_table,
)
from proctor.reports.plain import write_blocks
from proctor.schema.analysis.comparison import PASSED
from proctor.schema.analysis.power_plan import RunSize, SizeRow


def write_run_size(size: RunSize, out: TextIO) -> None:
    """Write it for people: the drop that the run detects now, then the run sizes that detect more."""
    write_blocks(lambda _: run_size_blocks(size), out)


def run_size_data(size: RunSize) -> JsonObject:
    """Return it as plain data, as docs/schemas/plan.schema.json has it; what is not known is null."""
    return {"version": 2, **asdict(size), "run_id": size.run_id or None}


def run_size_blocks(size: RunSize) -> Iterator[Block]:
    """Return a plan as blocks, the same in every form."""
    yield from map(text_line, size.sentence.split(". "))
    yield text_line(f"by run {size.run_id} of {size.agent}" if size.run_id else f"by a run of {size.agent}")
    for measure in size.measures:
        yield Gap(is_everywhere=True)
        drop = f"{100 * measure.detect:.3g} points" if measure.name == PASSED else f"{measure.detect:g}"
        of = "the pass rate" if measure.name == PASSED else measure.name
        yield text_line(f"to notice a drop of {drop} in {of}:")
        yield _table(measure.rows)
        yield from (text_line(f"note: {note}") for note in measure.notes)
    if size.left_out:
        cases = "1 case is" if size.left_out == 1 else f"{size.left_out:,} cases are"
        yield text_line(f"note: {cases} left out: not every trial could be scored")
    yield from (text_line(f"note: {text}") for text in _assumptions(size))
    yield text_line("note: trials, cost and time are those of one run; a comparison needs two")
    yield text_line(
        "note: a comparison estimates the variance from both runs, so the drop that it reports may differ by a few points"
    )


def _assumptions(size: RunSize) -> Iterator[str]:
    names = {measure.name for measure in size.measures}
    if PASSED in names:
        yield (
            "an overall drop is on these cases, and every trial fails more often; a drop of a few flaky cases alone may need more trials"
        )
    if names - {PASSED}:
        yield "the drop of a metric hits a few cases completely; fewer cases notice a drop that is spread over many"


def _table(rows: Sequence[SizeRow]) -> Table:
    columns: dict[str, Callable[[SizeRow], str]] = {
        "trials a case": lambda row: f"{row.trials:,}",
        "cases": lambda row: f"{row.cases:,}",
        "trials": lambda row: f"{row.total:,}",
    }
    if any(row.cost is not None for row in rows):
        columns["cost"] = _cost
    if all(row.seconds is not None for row in rows):
        columns["time"] = lambda row: duration(row.seconds or 0.0)
    return text_table(
        [Column(heading, right=True) for heading in columns],
        [[text(row) for text in columns.values()] for row in rows],
    )


def _cost(row: SizeRow) -> str:
    return "unknown" if row.cost is None else f"about {dollars(row.cost)}"
