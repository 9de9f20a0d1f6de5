"""A comparison as plain lines: stable, made for `grep`, logs and pipes. Its form is documented in docs/compare.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from proctor.analysis.compare.reports.text import (
    MOST,
    cost_texts,
    left_out_texts,
    numbers,
    score_pair,
    trials_text,
)
from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.schema.analysis.comparison import CaseChange, ChangedCase, Comparison, Measured


def write_plain(found: Comparison, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write `found` line by line; the outcome is the last line."""
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(found, options))


def _lines(found: Comparison, options: ReportOptions) -> Iterator[str]:
    for word, run in (("BASE", found.base), ("CANDIDATE", found.candidate)):
        name = f"run={run.run_id}" if run.run_id else ""
        yield _fields(word, run.agent, f"cases={run.cases}", f"runs={run.num_runs}", name)
    for one in found.unlike:
        yield _fields("DIFFERS" if one.expected else "WARNING", one.text)
    for text in left_out_texts(found):
        yield _fields("LEFT_OUT", text)
    for change in CaseChange:
        cases = found.changed(change)
        shown = cases if options.verbose else cases[:MOST]
        for case in shown:
            yield from _case(case)
        if len(shown) < len(cases):
            yield f"    ... {len(cases) - len(shown)} more (-v: all)"
    for measured in found.measures:
        yield _measure(measured, found.confidence)
    if costs := cost_texts(found):
        yield _fields("COST", f"{costs[0]} -> {costs[1]}")
    yield _fields("OUTCOME", found.sentence)


def _case(case: ChangedCase) -> Iterator[str]:
    scores = score_pair(case)
    yield _fields(
        case.change.value.upper(),
        case.name,
        f"{trials_text(case.base)} -> {trials_text(case.candidate)}",
        f"{case.metric}={scores[0]} -> {scores[1]}" if scores else "",
    )
    if case.reason:
        yield f"    {'before' if case.change is CaseChange.FIX else 'reason'}: {case.reason}"


def _measure(one: Measured, confidence: float) -> str:
    before, now, difference, low, high = numbers(one)
    adjusted = f"adjusted={_p(one.adjusted)}" if one.adjusted is not None else ""
    return _fields(
        "MEASURE",
        one.name,
        f"{before} -> {now}",
        f"{difference} ({100 * confidence:g} %: {low} to {high})",
        f"p={_p(one.p_value)}",
        adjusted,
        f"pairs={one.pairs}",
        one.verdict,
        "not judged alike" if one.apart else "",
    )


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.2g}"


def _fields(*fields: str) -> str:
    return "  ".join(field for field in fields if field)
