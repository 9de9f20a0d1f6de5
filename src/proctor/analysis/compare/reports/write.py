"""Write a comparison of two runs, or why there is none, in one of its forms."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import partial
from typing import TextIO

from proctor.common.safe_text import clean
from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.terminal.choose import write_blocks
from proctor.schema.analysis.comparison import Comparison

Writer = Callable[[Comparison, TextIO], None]
NAMES = ("json", "markdown", "md", "text")
"""The names that `writer_of` knows."""


def write_comparison(comparison: Comparison, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write a comparison to `out`: drawn on a terminal, plain lines elsewhere."""
    from proctor.analysis.compare.reports.text_and_markdown import comparison_blocks

    write_blocks(partial(comparison_blocks, comparison), out, options)


def writer_of(name: str) -> Writer | None:
    """Return the function that writes a comparison as `json`, `markdown` (`md`) or `text`; `None` for another name."""
    if name == "json":
        from proctor.analysis.compare.reports.json import write_json

        return write_json
    return {"markdown": write_markdown, "md": write_markdown, "text": _write_plain}.get(name)


def write_markdown(comparison: Comparison, out: TextIO) -> None:
    """Write a comparison for a pull request."""
    from proctor.analysis.compare.reports.text_and_markdown import comparison_blocks
    from proctor.reports.formats import markdown_blocks

    markdown_blocks.write_markdown(partial(comparison_blocks, comparison), out)


def _write_plain(comparison: Comparison, out: TextIO) -> None:
    from proctor.analysis.compare.reports.text_and_markdown import comparison_blocks
    from proctor.reports.plain.block_lines import write_plain

    write_plain(partial(comparison_blocks, comparison), out)


def write_comparison_error(name: str, message: str, out: TextIO) -> None:
    """Write why there is no comparison, as the report `name` (`json`, `markdown`, `md`, `text` or `html`)."""
    from proctor.analysis.compare.reports.json import VERSION
    from proctor.reports.content import public_text
    from proctor.reports.formats.empty_html import write_note_page

    text = public_text.hidden(clean(message, lines=True))
    sentence = f"configuration error: {text}"
    if name == "json":
        data = {"version": VERSION, "outcome": "error", "exit_code": 2, "sentence": sentence}
        out.write(json.dumps(data, indent=2) + "\n")
    elif name == "html":
        write_note_page(out, sentence)
    elif name == "text":
        out.write(f"ERROR  configuration error: {clean(text)}\n")
    else:
        out.write(f"<h3>! configuration error: not compared</h3>\n\n<pre>\n{html.escape(text)}\n</pre>\n\n")
