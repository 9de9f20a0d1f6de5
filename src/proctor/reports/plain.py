"""Plain lines: stable, made for `grep`, logs and pipes. Their form is documented in docs/reference/results/plain-lines.md.

Every line of a run begins with a word in capitals; its fields are separated by two spaces. Lines that begin with four spaces are the
reason and the evidence of the case above. Nothing but line ends is a control character, and our own signs are ASCII.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, singledispatch
from itertools import islice
from typing import ClassVar, TextIO

from proctor.common.safe_text import cells, clean, encodable, shorten, show_spaces
from proctor.reports.base import DEFAULTS, ReportOptions, is_terminal
from proctor.reports.content.run_blocks import cases_in_order, report_blocks
from proctor.reports.content.symbols import ASCII, DiffKind
from proctor.reports.content.text_blocks import (
    NOT_SET,
    Block,
    BuildBlocks,
    CaseGroup,
    Cause,
    Code,
    Evidence,
    EvidenceBlock,
    Fact,
    Findings,
    Gap,
    Line,
    Note,
    OmittedLines,
    Pieces,
    Reason,
    Record,
    RecordedFact,
    Remark,
    StateDifference,
    StepLine,
    Steps,
    Table,
    TextDifference,
    TextStyle,
    Verdict,
)
from proctor.schema.results.run_result import RunResult


class PlainReport:
    """One line a case, in the order of the sets, each failure with its evidence; the verdict is the last line."""

    needs_evidence: ClassVar[bool] = False

    def write(self, runs: Sequence[RunResult], out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
        """Write `runs` to `out` line by line; of several the comparison first, then what each did not pass."""
        write_plain(partial(report_blocks, runs, options, cases_in_order), out, options)


# --- Text blocks; on a terminal they are drawn instead -----------------------------------------------------------------

_AT_ONCE = 100


def write_lines(lines: Iterable[str], out: TextIO) -> None:
    """Write lines to `out`, some at a time, each with everything unsafe as a visible escape."""
    encoding, rest = getattr(out, "encoding", None), iter(lines)
    while some := [*islice(rest, _AT_ONCE)]:
        out.write("".join([encodable(clean(line), encoding).rstrip() + "\n" for line in some]))


def fields(*texts: str) -> str:
    """Return the fields of a line, two spaces apart; empty ones are left out. A space that would look like a separator is `\\x20`."""
    parts = [text for text in texts if text]
    return "  ".join(map(show_spaces, parts)) if len(parts) > 1 else "".join(parts)


def write_blocks(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write text blocks to `out` in the form that suits it; rich is loaded only for a terminal."""
    if not is_terminal(out):
        write_plain(build, out, options)
        return
    from proctor.reports.terminal.block_drawing import draw_blocks

    draw_blocks(build, out, options)


def write_plain(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write the blocks line by line."""
    style = TextStyle(verbose=bool(options.verbose))
    write_lines((line for block in build(style) for line in _lines(block, verbose=style.verbose)), out)


def _lines(block: Block, *, verbose: bool) -> Iterator[str]:
    match block:
        case Record():
            yield fields(*block.fields)
        case Note():
            yield fields(block.label.upper().replace(" ", "_"), block.text)
        case Reason():
            yield f"    {block.label}: {block.text}"
        case CaseGroup():
            yield from _group_lines(block, verbose=verbose)
        case Gap() if block.is_everywhere:
            yield ""
        case Table():
            yield from _table_lines(block)
        case Code():
            yield from (f"    {line}" for line in block.text.splitlines())
        case Evidence():
            yield from (f"    {line}" for line in evidence_lines(block))
        case Line() | Fact() | Verdict() if block.record:
            yield fields(*block.record)


def _table_lines(table: Table) -> Iterator[str]:
    """Return the records of a table; the rows of a plain table without records in aligned columns."""
    records = [row.record for row in table.rows if row.record]
    if records:
        yield from (fields(*record) for record in records)
    elif table.is_plain:
        yield from _aligned_lines(table)


def _aligned_lines(table: Table) -> Iterator[str]:
    headings = [column.heading for column in table.columns]
    rows = [["".join(span.text for span in cell) for cell in row.cells] for row in table.rows]
    lines = [*([headings] if any(headings) else []), *rows]
    widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        texts = (
            " " * (width - cells(text)) + text if column.right else text + " " * (width - cells(text))
            for text, width, column in zip(line, widths, table.columns, strict=True)
        )
        yield " " * table.indent + "  ".join(texts)


def _group_lines(group: CaseGroup, *, verbose: bool) -> Iterator[str]:
    visible_items = group.items if verbose else group.items[: group.most]
    for item in visible_items:
        yield fields(*item.record)
        for note in item.notes:
            yield from _lines(note, verbose=verbose)
    if len(visible_items) < len(group.items):
        yield f"    ... {len(group.items) - len(visible_items)} more (-v: all)"


# --- evidence: one line for each step, text or finding ----------------------------------------------------------------


_CODE = 100  # columns of a source line


def evidence_lines(evidence: Evidence) -> Iterator[str]:
    """Return evidence line by line."""
    for trial in evidence.trials:
        if evidence.of > 1:
            yield f"trial {trial.trial + 1} of {evidence.of}"
        for section in trial.sections:
            place = f"turn {section.turn + 1}: " if section.turn is not None else ""
            if section.user_text:
                yield f"{place}user: {section.user_text}"
            for block in section.blocks:
                yield from (place + line for line in block_lines(block))


@singledispatch
def block_lines(block: EvidenceBlock) -> Iterator[str]:
    """Return a block of evidence line by line."""
    raise TypeError(f"no lines for {type(block).__name__}")


@block_lines.register
def _(block: Steps) -> Iterator[str]:
    for line in block.lines:
        yield from _step(line)


def _step(line: StepLine | OmittedLines) -> Iterator[str]:
    if isinstance(line, OmittedLines):
        yield f"= ({line.count} more that match)"
        return
    mark = ASCII.steps[line.kind]
    if line.kind is DiffKind.DIFFERS:
        yield f"{mark} expected {_mark_changes(line.expected, '[-', '-]')}"
        yield f"{mark} actual   {_mark_changes(line.actual, '{+', '+}')}"
    else:
        yield f"{mark} {_mark_changes(line.expected or line.actual, '', '')}"


@block_lines.register
def _(block: TextDifference) -> Iterator[str]:
    yield f"expected: {_mark_changes(block.expected, '[-', '-]')}"
    yield f"actual: {_mark_changes(block.actual, '{+', '+}')}"


@block_lines.register
def _(block: StateDifference) -> Iterator[str]:
    for line in block.lines:
        yield f"state: {line.key}: {line.expected or NOT_SET} -> {line.actual or NOT_SET}"


@block_lines.register
def _(block: Findings) -> Iterator[str]:
    for line in block.lines:
        if isinstance(line, OmittedLines):
            yield f"= ({line.count} more that hold)"
            continue
        why = f" ({line.why})" if line.why else ""
        yield f"{_HELD[line.holds]} {block.label.removesuffix('s')} {line.name}: {line.text}{why}"


_HELD = {True: "=", False: "-", None: "?"}


@block_lines.register
def _(block: Cause) -> Iterator[str]:
    if block.error:
        yield f"cause: {block.what}: {block.error}"
    if block.place:
        code = shorten(block.code, _CODE, mark="...")
        yield f"at: {block.place}: {code}" if code else f"at: {block.place}"


@block_lines.register
def _(block: Remark) -> Iterator[str]:
    yield f"{block.label}: {block.text}"


@block_lines.register
def _(block: RecordedFact) -> Iterator[str]:
    yield f"{block.label}: {block.text}"


def _mark_changes(pieces: Pieces, before: str, after: str) -> str:
    return "".join(f"{before}{piece.text}{after}" if piece.changed else piece.text for piece in pieces)
