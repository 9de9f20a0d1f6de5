"""Write a comparison of two runs in one of its forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from proctor.reports.base import DEFAULTS, ReportOptions
from proctor.reports.terminal.choose import is_terminal
from proctor.schema.analysis.comparison import Comparison

Writer = Callable[[Comparison, TextIO], None]


def write_comparison(found: Comparison, out: TextIO, *, options: ReportOptions = DEFAULTS) -> None:
    """Write `found` to `out`: drawn on a terminal, plain lines elsewhere."""
    if is_terminal(out):
        from proctor.analysis.compare.reports.terminal import draw_comparison

        draw_comparison(found, out, options)
        return
    from proctor.analysis.compare.reports.plain import write_plain

    write_plain(found, out, options)


def writer_of(name: str) -> Writer | None:
    """Return what writes a comparison as `json`, `markdown` (`md`) or `text`; `None` for another name."""
    if name == "json":
        from proctor.analysis.compare.reports.json import write_json

        return write_json
    if name in {"markdown", "md"}:
        from proctor.analysis.compare.reports.markdown import write_markdown

        return write_markdown
    if name == "text":
        from proctor.analysis.compare.reports.plain import write_plain

        return write_plain
    return None


NAMES = ("json", "markdown", "md", "text")
"""What `writer_of` knows."""
