"""Text blocks as Markdown for a pull request or a job's summary: the verdict first, then facts, cases and tables.

Text from files, agents and models is written in HTML blocks as `<code>`, so that no Markdown is read there.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import groupby
from typing import TextIO

from proctor.common.safe_text import clean, encodable
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.content import public_text
from proctor.reports.content.symbols import UNICODE
from proctor.reports.content.text_blocks import (
    Block,
    BuildBlocks,
    Evidence,
    Fact,
    Gap,
    Group,
    Item,
    Line,
    Look,
    Note,
    Reason,
    Record,
    Row,
    Span,
    Spans,
    Table,
    Verdict,
)
from proctor.reports.plain.block_lines import evidence_lines

_LONGEST = 300
"""Characters of a text from elsewhere."""


def write_markdown(build: BuildBlocks, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write the blocks; consecutive lines, facts and notes form one paragraph or list."""
    blocks = list(build(Look(UNICODE, verbose=bool(options.verbose))))
    encoding = getattr(out, "encoding", None)
    blocks.sort(key=lambda block: not isinstance(block, Verdict))
    shown = (block for block in blocks if not isinstance(block, (Gap, Record)))
    for kind, same in groupby(shown, key=type):
        parts = [_html(block) for block in same]
        out.write(encodable(_join(kind, parts), encoding))


def _join(kind: type[Block], parts: Sequence[str]) -> str:
    if kind in {Line, Fact}:
        return f"<p>{'<br>'.join(parts)}</p>\n\n"
    if kind in {Note, Reason}:
        return "\n".join(["<ul>", *(f"<li>{part}</li>" for part in parts), "</ul>", "", ""])
    return "".join(parts)


@singledispatch
def _html(block: Block) -> str:
    raise TypeError(f"no Markdown for {type(block).__name__}")


@_html.register
def _(block: Line) -> str:
    return _spans(block.spans)


@_html.register
def _(block: Fact) -> str:
    return f"{_text(block.label)} {' · '.join(map(_spans, block.parts))}"


@_html.register
def _(block: Note) -> str:
    warning = "⚠ " if block.role == "warning" else ""
    return f"{warning}{_code(block.text) if block.is_data else _text(block.text)}"


@_html.register
def _(block: Reason) -> str:
    return f"{_text(block.prefix)}{_code(block.text)}"


@_html.register
def _(block: Verdict) -> str:
    return f"<h3>{block.sign} {_text(block.sentence)}</h3>\n\n"


@_html.register
def _(block: Group) -> str:
    rows = [line for item in block.items[: block.most] for line in _item(item)]
    if len(block.items) > block.most:
        rows.append(f"<tr><td>… and {len(block.items) - block.most:,} more</td><td></td><td></td></tr>")
    table = "\n".join(["<table>", *rows, "</table>"])
    is_open = " open" if block.is_open else ""
    head = f"{len(block.items):,} {_text(block.heading)}"
    return f"<details{is_open}><summary>{head}</summary>\n{table}\n</details>\n\n"


@_html.register
def _(block: Evidence) -> str:
    if not block.is_drawn:
        return ""
    lines = (_text(public_text.hidden(line)) for line in evidence_lines(block))
    text = "\n".join(line for line in lines if line.strip())  # an empty line would end the HTML block
    return f"<details><summary>evidence</summary>\n<pre>\n{text}\n</pre>\n</details>\n\n"


def _item(item: Item) -> Iterator[str]:
    for line in item.above:
        yield f'<tr><td colspan="3">{_html(line)}</td></tr>'
    first, *others = item.parts
    notes = [_html(note) for note in item.notes if not isinstance(note, Record)]
    below = "<br>".join([*map(_spans, others), *notes])
    yield f"<tr><td>{_code(item.name)}</td><td>{_spans(first)}</td><td>{below}</td></tr>"


@_html.register
def _(block: Table) -> str:
    headings = [column.heading for column in block.columns]
    head = ["<tr>" + "".join(f"<th>{_text(heading)}</th>" for heading in headings) + "</tr>"]
    rows = [*(head if any(headings) else []), *map(_row, block.rows)]
    return "\n".join(["<table>", *rows, "</table>", ""])


def _row(row: Row) -> str:
    return "<tr>" + "".join(f"<td>{_spans(cell)}</td>" for cell in row.cells) + "</tr>"


def _spans(spans: Spans) -> str:
    return "".join(map(_span, spans))


def _span(span: Span) -> str:
    text = _code(span.text) if span.is_data else _text(span.text)
    return f"<b>{text}</b>" if span.role == "strong" and not span.is_data else text


def _text(text: str) -> str:
    return html.escape(clean(text), quote=False)


def _code(text: str) -> str:
    shown = public_text.hidden(clean(text))
    return f"<code>{html.escape(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + '…', quote=False)}</code>"
