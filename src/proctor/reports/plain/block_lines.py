"""Text blocks as plain lines: stable, made for `grep`, logs and pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from proctor.common.safe_text import cells, clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content.text_blocks import (
    Block,
    BuildBlocks,
    Evidence,
    Fact,
    Gap,
    Group,
    Line,
    Look,
    Note,
    Reason,
    Record,
    Table,
    Verdict,
)


def write_lines(lines: Iterable[str], out: TextIO) -> None:
    """Write lines to `out`, each with everything unsafe as a visible escape."""
    encoding = getattr(out, "encoding", None)
    out.writelines(encodable(clean(line), encoding).rstrip() + "\n" for line in lines)


def fields(*texts: str) -> str:
    """Return the fields of a line, two spaces apart; empty ones are left out."""
    return "  ".join(text for text in texts if text)


def write_plain(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write the blocks line by line."""
    look = Look(verbose=bool(options.verbose))
    write_lines((line for block in build(look) for line in _lines(block, verbose=look.verbose)), out)


def _lines(block: Block, *, verbose: bool) -> Iterator[str]:
    match block:
        case Record():
            yield fields(*block.fields)
        case Note():
            yield fields(block.label.upper().replace(" ", "_"), block.text)
        case Reason():
            yield f"    {block.label}: {block.text}"
        case Group():
            yield from _group_lines(block, verbose=verbose)
        case Gap() if block.is_everywhere:
            yield ""
        case Table() if any(row.record for row in block.rows):
            yield from (fields(*row.record) for row in block.rows if row.record)
        case Table() if block.is_plain:
            yield from _table_lines(block)
        case Evidence():
            yield from _evidence_lines(block)
        case Line() | Fact() | Verdict() if block.record:
            yield fields(*block.record)


def _table_lines(table: Table) -> Iterator[str]:
    """Return the rows of a table without records, in aligned columns."""
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


def _evidence_lines(evidence: Evidence) -> Iterator[str]:
    from proctor.reports.plain.evidence import evidence_lines

    for line in evidence_lines(evidence.case, evidence.reason, full=True):
        yield f"    {line}"


def _group_lines(group: Group, *, verbose: bool) -> Iterator[str]:
    shown = group.items if verbose else group.items[: group.most]
    for item in shown:
        yield fields(*item.record)
        for note in item.notes:
            yield from _lines(note, verbose=verbose)
    if len(shown) < len(group.items):
        yield f"    ... {len(group.items) - len(shown)} more (-v: all)"
