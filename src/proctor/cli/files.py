"""Checks and messages shared by the commands that write eval sets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.cli.errors import say
from proctor.cli.report_outputs import output_guard

if TYPE_CHECKING:
    from proctor.files.text.problems import Problem


def show_problems(problems: Iterable[Problem]) -> None:
    """Print the problems of a file to stderr."""
    for problem in problems:
        say(str(problem))


def check_new_set(path: Path, source: Path, *, overwrite: bool, make_parents: bool) -> None:
    """Refuse to write an eval set over its source, over an existing file unless `overwrite`, or into a missing folder.

    Raises:
        SetupError: the file may not be written; the message names the option that allows it.
    """
    from proctor.runs.output_guard import EVAL_SET

    given = {"overwrite": overwrite, "make_parents": make_parents}
    output_guard(given, inputs=[source]).check(path, EVAL_SET)
    if make_parents:
        path.parent.mkdir(parents=True, exist_ok=True)
