"""How large a run must be to see a drop, in words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from proctor.common.safe_text import clean, clean_json, encodable
from proctor.reports.content.cost_text import dollars
from proctor.schema.analysis.power_plan import MeasureSize, RunSize, SizeRow


def write_run_size(found: RunSize, out: TextIO) -> None:
    """Write it for people: what the run finds as it stands, then the ways to find more."""
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding).rstrip() + "\n" for line in _lines(found))


def write_json(found: RunSize, out: TextIO) -> None:
    """Write it for programs; docs/schemas/plan.schema.json has its form."""
    out.write(clean_json(json.dumps(as_data(found), indent=2, ensure_ascii=False, allow_nan=False)) + "\n")


def as_data(found: RunSize) -> dict[str, Any]:
    """Return it as plain data; what is not known is null."""
    return {
        "version": 1,
        "run_id": found.run_id or None,
        "agent": found.agent,
        "cases": found.cases,
        "left_out": found.left_out,
        "trials": found.trials,
        "power": found.power,
        "confidence": found.confidence,
        "sentence": found.sentence,
        "measures": [_measure(one) for one in found.measures],
    }


def _measure(one: MeasureSize) -> dict[str, Any]:
    return {
        "name": one.name,
        "mean": one.mean,
        "detect": one.detect,
        "detectable": one.detectable,
        "within": one.within,
        "between": one.between,
        "level": one.level,
        "more_trials": one.more_trials,
        "rows": [
            {"trials": row.trials, "cases": row.cases, "total": row.total, "cost": row.cost, "seconds": row.seconds}
            for row in one.rows
        ],
        "notes": list(one.notes),
    }  # fmt: skip


def _lines(found: RunSize) -> Iterator[str]:
    yield from found.sentence.split(". ")
    name = f"run {found.run_id} of {found.agent}" if found.run_id else f"a run of {found.agent}"
    yield f"by {name}"
    for one in found.measures:
        yield ""
        yield from _table(one, named=len(found.measures) > 1)
        for note in one.notes:
            yield f"note: {note}"
    if found.left_out:
        cases = "1 case is" if found.left_out == 1 else f"{found.left_out:,} cases are"
        yield f"note: {cases} left out: not every trial could be judged"
    yield "note: the drop is taken to break a few cases wholly; one that is spread over many is found with fewer"
    yield "note: trials, cost and time are those of one run; a comparison takes two of them"


def _table(one: MeasureSize, *, named: bool) -> Iterator[str]:
    if named:
        yield f"{one.name}, a drop of {one.detect:g}"
    heads = ["trials a case", "cases", "trials"]
    columns: list[Sequence[str]] = [
        [f"{row.trials:,}" for row in one.rows],
        [f"{row.cases:,}" for row in one.rows],
        [f"{row.total:,}" for row in one.rows],
    ]
    if any(row.cost for row in one.rows):
        heads.append("cost")
        columns.append([_cost(row) for row in one.rows])
    if all(row.seconds is not None for row in one.rows):
        heads.append("time")
        columns.append([duration(row.seconds or 0.0) for row in one.rows])
    widths = [max(map(len, (head, *cells))) for head, cells in zip(heads, columns, strict=True)]
    for line in zip(*([head, *cells] for head, cells in zip(heads, columns, strict=True)), strict=True):
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))


def _cost(row: SizeRow) -> str:
    return "unknown" if row.cost is None else f"about {dollars(row.cost)}"


def duration(seconds: float) -> str:
    """Return a time to come in one unit: `40 s`, `12 min`, `3.5 h`, `2.1 days`."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "< 1 s"
