"""Evidence as plain lines: one line for each thing, what it is about in front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import singledispatch

from proctor.common.safe_text import shorten
from proctor.reports.content.symbols import ASCII
from proctor.reports.evidence.blocks import (
    NOT_SET,
    Block,
    Cause,
    Fact,
    Findings,
    Kind,
    LeftOut,
    Note,
    Pieces,
    StateDifference,
    StepLine,
    Steps,
    TextDifference,
)
from proctor.reports.evidence.case_evidence import evidence_of
from proctor.schema.results.run_result import CaseResult

_CODE = 100  # columns of a source line


def evidence_lines(case: CaseResult, reason: str, *, full: bool) -> Iterator[str]:
    """Return the evidence of `case` line by line, without what its `reason` already states."""
    for trial in evidence_of(case, full=full):
        if len(case.trials) > 1:
            yield f"trial {trial.trial + 1} of {len(case.trials)}"
        for section in trial.sections:
            place = f"turn {section.turn + 1}: " if section.turn is not None else ""
            if section.said:
                yield f"{place}user: {section.said}"
            for block in section.blocks:
                yield from (place + line for line in _block(_untold(block, reason)))


def _untold(block: Block, reason: str) -> Block:
    """Return the block without what `reason` already states."""
    if isinstance(block, Cause) and block.error in reason:
        return replace(block, error="")
    return Note(block.label, "") if isinstance(block, Note) and block.text in reason else block


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
        yield f"{mark} expected {_mark_changes(line.expected, '[-', '-]')}"
        yield f"{mark} actual   {_mark_changes(line.actual, '{+', '+}')}"
    else:
        yield f"{mark} {_mark_changes(line.expected or line.actual, '', '')}"


@_block.register
def _(block: TextDifference) -> Iterator[str]:
    yield f"expected: {_mark_changes(block.expected, '[-', '-]')}"
    yield f"actual: {_mark_changes(block.actual, '{+', '+}')}"


@_block.register
def _(block: StateDifference) -> Iterator[str]:
    for line in block.lines:
        yield f"state: {line.key}: {line.expected or NOT_SET} -> {line.actual or NOT_SET}"


@_block.register
def _(block: Findings) -> Iterator[str]:
    for line in block.lines:
        if isinstance(line, LeftOut):
            yield f"= ({line.count} more that hold)"
            continue
        why = f" ({line.why})" if line.why else ""
        yield f"{_HELD[line.holds]} {block.label.removesuffix('s')} {line.name}: {line.text}{why}"


_HELD = {True: "=", False: "-", None: "?"}


@_block.register
def _(block: Cause) -> Iterator[str]:
    if block.error:
        yield f"cause: {block.what}: {block.error}"
    if block.place:
        code = shorten(block.code, _CODE, mark="...")
        yield f"at: {block.place}: {code}" if code else f"at: {block.place}"


@_block.register
def _(block: Note) -> Iterator[str]:
    if block.text:
        yield f"{block.label}: {block.text}"


@_block.register
def _(block: Fact) -> Iterator[str]:
    yield f"{block.label}: {block.text}"


def _mark_changes(pieces: Pieces, before: str, after: str) -> str:
    return "".join(f"{before}{piece.text}{after}" if piece.changed else piece.text for piece in pieces)
