"""A run, and any text blocks, as HTML for a notebook: the verdict first, then the tables of the other reports.

Text from files, agents and models is escaped: it never becomes markup, and secrets in it are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from proctor.common.inline_code import code_parts
from proctor.common.safe_text import clean
from proctor.reports.content import public_text
from proctor.reports.content.case_digest import Digest, WorstCases
from proctor.reports.content.failure_causes import SharedCauses
from proctor.reports.content.run_blocks import (
    figure_blocks,
    head_blocks,
    problem_table,
    rate_facts,
    run_facts,
    verdict_block,
)
from proctor.reports.content.symbols import UNICODE
from proctor.reports.content.text_blocks import (
    Block,
    Fact,
    Line,
    Note,
    Reason,
    Spans,
    Table,
    TextSpan,
    TextStyle,
    Verdict,
)
from proctor.schema.results.run_result import RunResult

_LOOK = TextStyle(UNICODE)
_MOST = 50
"""Cases that are named."""
_STYLE = "text-align: left; vertical-align: top; padding: 0.2em 1em 0.2em 0"
_SCROLLS = "overflow-x: auto; margin-bottom: 1em"
_BREAKS = "; overflow-wrap: anywhere; min-width: 14em"
"""For a cell with a long word only: in other cells, a narrow column would break words, too."""
_LONG_WORD = re.compile(r"\S{41}")
_STAYS = "; white-space: nowrap"
"""For a short cell: a notebook gives the room to the longest column, and `0 of 5 passed` would have two lines."""
_SHORT = 24
"""Characters of a short cell."""
_MINUS = re.compile(r"(?<![^\s(])-(?=\d)")
_TIMES = re.compile(r" x (?=\d)")


def run_html(run: RunResult) -> str:
    """Return a run as HTML: the verdict, the figures, the causes that several cases share, and the cases that did not pass."""
    digest, worst_cases, causes = Digest(), WorstCases(_MOST), SharedCauses()
    for case in run.cases:
        digest.add(case)
        worst_cases.add(case)
        causes.add(case)
    cases = [*worst_cases.problem_cases()]
    more = worst_cases.missed - len(cases)
    return blocks_html([
        verdict_block(run, digest, _LOOK),
        *head_blocks(run, _LOOK),
        *rate_facts(run, _LOOK),
        *figure_blocks(run, digest, _LOOK, has_means=True),
        *run_facts(run),
        causes.table(),
        problem_table(run, cases, _LOOK),
        *([Line([TextSpan(f"… and {more:,} more")])] if more else []),
    ])  # fmt: skip


def blocks_html(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML; blocks that only programs read, and tables without rows, are left out."""
    return "".join(map(_html, blocks))


def _html(block: Block) -> str:
    match block:
        case Verdict(sign, text):
            return f"<p><b>{escape(sign)} {escape(clean(_with_signs(text)))}</b></p>"
        case Line(spans):
            return f"<p>{_spans(spans)}</p>"
        case Fact(label, parts):
            return f"<p>{escape(label)}: {' · '.join(map(_spans, parts))}</p>"
        case Note(label, text):
            return f"<p>{escape(label)}: {_prose(public_text.hidden(text))}</p>"
        case Reason(_, text, prefix):
            return f"<p>{escape(clean(prefix))}<code>{escape(clean(public_text.hidden(text)))}</code></p>"
        case Table() if block.rows:
            return _table(block)
    return ""


def _table(table: Table) -> str:
    indexes = table.filled_columns()
    heads = "".join(f'<th style="{_STYLE}">{escape(table.columns[index].heading)}</th>' for index in indexes)
    rows = ("".join(_cell(row.cells[index]) for index in indexes) for row in table.rows)
    body = "".join(f"<tr>{cells}</tr>" for cells in rows)
    table_html = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="{_SCROLLS}">{table_html}</div>'


def _cell(spans: Spans) -> str:
    text = "".join(span.text for span in spans)
    lines = _STAYS if len(text) <= _SHORT else _BREAKS if _LONG_WORD.search(text) else ""
    return f'<td style="{_STYLE}{lines}">{_spans(spans)}</td>'


def _spans(spans: Spans) -> str:
    return "".join(map(_span, spans))


def _span(span: TextSpan) -> str:
    text = public_text.hidden(span.text) if span.is_data else _with_signs(span.text)
    return _prose(text) if span.is_prose else escape(clean(text))


def _with_signs(text: str) -> str:
    """Return a text of a report with the signs of a page: `−32.5` and `10 cases × 2`."""
    return _TIMES.sub(" × ", _MINUS.sub("−", text))


def _prose(text: str) -> str:
    """Return a sentence in which names are marked as code."""
    return "".join(
        f"<code>{escape(part)}</code>" if is_code else escape(part)
        for part, is_code in code_parts(clean(text))
    )
