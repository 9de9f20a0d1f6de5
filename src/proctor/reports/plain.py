"""A run as plain lines: stable, made for `grep`, logs and pipes. Its form is documented in docs/text-report.md.

Every line begins with a word in capitals; its fields stand two spaces apart. Lines that begin with four spaces are the
evidence of the case above. Nothing but line ends is a control character, and our own signs are ASCII.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import ClassVar, TextIO

from proctor.reports import summary
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.blocks import (
    NOT_SET,
    Block,
    Cause,
    Kind,
    LeftOut,
    Note,
    Pieces,
    StateDifference,
    StepLine,
    Steps,
    TextDifference,
)
from proctor.reports.evidence import evidence_of, reason_of
from proctor.reports.lineup import line_up
from proctor.reports.marks import ASCII
from proctor.sanitize import clean, encodable
from proctor.schema.verdict import CaseResult, MetricVerdict, Outcome, RunResult

_EVIDENCE = "    "
_LETTERS = {Outcome.PASSED: "P", Outcome.FAILED: "F", Outcome.ERROR: "E", Outcome.INCONCLUSIVE: "I"}


class PlainReport:
    """One line a case, in the order of the sets, each failure with its evidence; the verdict is the last line."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out` line by line; several runs stand one below the other, then their differences."""
        encoding = getattr(out, "encoding", None)
        out.writelines(encodable(clean(line), encoding) + "\n" for line in _lines(runs, options))


def _lines(runs: Sequence[RunResult], options: ReportOptions) -> Iterator[str]:
    rows = line_up(runs) if len(runs) > 1 else []
    shown = {id(case) for row in rows if row.differs or not options.only_different for case in row.cases}
    for run in runs:
        yield from _heading(run)
        for case in run.cases:
            if not rows or id(case) in shown:
                yield from _case(case, options)
        yield from _ending(run)
    for row in rows:
        if row.differs:
            cells = [
                f"{run.agent}={case.outcome.value if case else Outcome.NOT_RUN.value}"
                for run, case in zip(runs, row.cases, strict=True)
            ]
            yield _fields("DIFFERS", row.name, *cells)


def _fields(*fields: str) -> str:
    return "  ".join(field for field in fields if field)


def _heading(run: RunResult) -> Iterator[str]:
    yield _fields("RUN", run.agent, f"cases={len(run.cases)}", f"runs={run.num_runs}")
    for one in run.sets:
        yield _fields(
            "SET",
            summary.set_name(one),
            f"cases={one.cases}",
            f"criteria={one.config_source}" if one.config_source else "",
        )
        for name, why in one.skipped_metrics.items():
            yield _fields("LEFT-OUT", name, why)


def _ending(run: RunResult) -> Iterator[str]:
    for one in run.sets:
        if one.failure is not None:
            yield _fields("ERROR", summary.set_name(one), f"could not be run: {one.failure.cause}")
    for warning in summary.grouped_warnings(run):
        yield _fields("WARNING", warning)
    if figures := summary.efficiency(run):
        yield _fields("FIGURES", ", ".join(figures))
    took = f"duration={summary.duration(run.duration)}" if run.duration else ""
    yield _fields("VERDICT", summary.sentence(run), summary.rate(run, ASCII), took)


def _case(case: CaseResult, options: ReportOptions) -> Iterator[str]:
    trials = "".join(_LETTERS.get(trial.outcome, "-") for trial in case.trials)
    scores = [
        _score(metric)
        for metric in case.metrics.values()
        if metric.gate and metric.outcome is not Outcome.INFORMATIONAL
    ]
    yield _fields(
        f"{case.outcome.value.upper():6}",
        f"{case.eval_set_id}/{case.eval_id}",
        f"trials={trials}" if trials else "",
        *scores,
        reason_of(case),
    )
    if case.outcome in {Outcome.FAILED, Outcome.ERROR, Outcome.INCONCLUSIVE}:
        for line in _evidence(case, full=options.verbose):
            yield _EVIDENCE + line


def _score(metric: MetricVerdict) -> str:
    return f"{metric.name}={summary.against(metric, ASCII).replace(' ', '')}"


def _evidence(case: CaseResult, *, full: bool) -> Iterator[str]:
    for trial in evidence_of(case, full=full):
        if len(case.trials) > 1:
            yield f"trial {trial.trial + 1} of {len(case.trials)}"
        for section in trial.sections:
            place = f"turn {section.turn + 1}: " if section.turn is not None else ""
            if section.said:
                yield f"{place}user: {section.said}"
            for block in section.blocks:
                yield from (place + line for line in _block(block))


@singledispatch
def _block(block: Block) -> Iterator[str]:
    raise TypeError(f"no lines for {type(block).__name__}")


@_block.register
def _(block: Steps) -> Iterator[str]:
    for line in block.lines:
        yield from _step(line)


def _step(line: StepLine | LeftOut) -> Iterator[str]:
    if isinstance(line, LeftOut):
        yield f"= ({line.count} more that match)"
        return
    mark = ASCII.steps[line.kind]
    if line.kind is Kind.DIFFERS:
        yield f"{mark} expected {_marked(line.expected, '[-', '-]')}"
        yield f"{mark} actual   {_marked(line.actual, '{+', '+}')}"
    else:
        yield f"{mark} {_marked(line.expected or line.actual, '', '')}"


@_block.register
def _(block: TextDifference) -> Iterator[str]:
    yield f"expected: {_marked(block.expected, '[-', '-]')}"
    yield f"actual: {_marked(block.actual, '{+', '+}')}"


@_block.register
def _(block: StateDifference) -> Iterator[str]:
    for line in block.lines:
        yield f"state: {line.key}: {line.expected or NOT_SET} -> {line.actual or NOT_SET}"


@_block.register
def _(block: Cause) -> Iterator[str]:
    yield f"cause: {block.what}: {block.error}"
    if block.place:
        yield f"at: {block.place}: {block.code}" if block.code else f"at: {block.place}"


@_block.register
def _(block: Note) -> Iterator[str]:
    yield f"{block.label}: {block.text}"


def _marked(pieces: Pieces, before: str, after: str) -> str:
    return "".join(f"{before}{piece.text}{after}" if piece.changed else piece.text for piece in pieces)
