"""Show the changes to a file as a diff before they are written."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from proctor.common.safe_text import clean
from proctor.reports.content.source_locations import lines_of

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def show_difference(path: Path, before: str, after: str, *, context: int = 2) -> None:
    """Write a unified diff of two texts to stdout, coloured on a terminal."""
    from proctor.reports.base import ReportOptions, wants_color

    color = sys.stdout.isatty() and wants_color(ReportOptions())
    for line in _difference(str(path), before, after, context):
        style = _COLORS.get(line[:1]) if color else None
        click.echo(click.style(clean(line), fg=style) if style else clean(line))


def _difference(name: str, before: str, after: str, context: int) -> Iterator[str]:
    old, new = lines_of(before), lines_of(after)
    yield from difflib.unified_diff(old, new, fromfile=name, tofile=name, n=context, lineterm="")
