"""Checks, messages and diffs for the commands that write eval sets."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.messages import say
from proctor.common.safe_text import clean, lines_of

if TYPE_CHECKING:
    from proctor.files.edit.line_changes import LineChange
    from proctor.files.text.problems import Problem

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def show_difference(path: Path, before: str, after: str, *, context: int = 2) -> None:
    """Write a unified diff of two texts to stdout, coloured on a terminal."""
    _echo_diff(_difference(str(path), before, after, context))


def show_changes(path: Path, before: str, changes: Sequence[LineChange], *, context: int = 2) -> None:
    """Write the known changes of a text as a unified diff; the rest of the text is not compared."""
    from proctor.files.edit.line_changes import group_changes

    _echo_diff([f"--- {path}", f"+++ {path}"])
    for group in group_changes(lines_of(before), changes, context):
        _echo_diff([group.header(), *(sign + text for sign, text in group.lines)])


def _echo_diff(lines: Iterable[str]) -> None:
    from proctor.reports.base import ReportOptions, wants_color

    color = sys.stdout.isatty() and wants_color(ReportOptions())
    for line in lines:
        style = _COLORS.get(line[:1]) if color else None
        click.echo(click.style(clean(line), fg=style) if style else clean(line))


def _difference(name: str, before: str, after: str, context: int) -> Iterator[str]:
    old, new = lines_of(before), lines_of(after)
    yield from difflib.unified_diff(old, new, fromfile=name, tofile=name, n=context, lineterm="")


def show_problems(problems: Iterable[Problem]) -> None:
    """Print the problems of a file to stderr."""
    for problem in problems:
        say(str(problem))


def show_audit(path: Path, eval_ids: Collection[str]) -> None:
    """Print to stderr what the cases that were written catch."""
    from proctor.authoring.audit.audit_note import audit_note

    for line in audit_note(path, eval_ids):
        say(line)


def check_new_set(path: Path, source: Path, *, overwrite: bool, make_parents: bool) -> None:
    """Refuse to write an eval set over its source, over an existing file unless `overwrite`, or into a missing folder.

    Raises:
        SetupError: the file may not be written; the message names the option that allows it.
    """
    from proctor.cli.outputs import output_guard
    from proctor.runs.output_guard import EVAL_SET

    given = {"overwrite": overwrite, "make_parents": make_parents}
    output_guard(given, inputs=[source]).check(path, EVAL_SET)
    if make_parents:
        path.parent.mkdir(parents=True, exist_ok=True)
