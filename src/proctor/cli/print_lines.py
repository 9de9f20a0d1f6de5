"""Print the lines of a list: as they are into a file or pipe, wrapped on a terminal."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from proctor.common.safe_text import clean

_LABELS = re.compile(r" *(?:\S+(?: \S+)* {2,})*")
"""The indentation and the columns before the last one; two spaces end a column."""


def print_lines(lines: Iterable[str], out: TextIO | None = None) -> None:
    """Print lines without control sequences; a terminal wraps them below their last column."""
    out = out or sys.stdout
    width = shutil.get_terminal_size().columns if out.isatty() else 0
    for line in map(clean, lines):
        click.echo(_wrap(line, width) if 0 < width < len(line) else line, file=out)


def _wrap(line: str, width: int) -> str:
    labels = _LABELS.match(line)
    indent = labels.end() if labels else 0
    return click.wrap_text(line, width, subsequent_indent=" " * (indent if indent < width // 2 else 2))
