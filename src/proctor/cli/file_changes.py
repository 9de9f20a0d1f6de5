"""Checks, messages and diffs for the commands that write eval sets."""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import terminal_options
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, lines_of

if TYPE_CHECKING:
    from proctor.files.edit.line_changes import LineChange
    from proctor.files.text.problems import Problem

_CONTEXT = 2
"""Unchanged lines that are shown around a change."""
_MOST_AUDITED = 50
"""Cases; more would take longer than a second."""
_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def show_difference(path: Path, before: str, after: str) -> None:
    """Write a unified diff of two texts without context to stdout, coloured on a terminal."""
    old, new, name = lines_of(before), lines_of(after), str(path)
    _echo_diff(difflib.unified_diff(old, new, fromfile=name, tofile=name, n=0, lineterm=""))


def show_changes(path: Path, before: str, changes: Sequence[LineChange]) -> None:
    """Write the known changes of a text as a unified diff; the rest of the text is not compared."""
    from proctor.files.edit.line_changes import TextLines, group_changes

    _echo_diff([f"--- {path}", f"+++ {path}"])
    for group in group_changes(TextLines(before), changes, _CONTEXT):
        _echo_diff([group.header(), *(sign + text for sign, text in group.lines)])


def _echo_diff(lines: Iterable[str]) -> None:
    from proctor.reports.base import wants_color

    color = sys.stdout.isatty() and wants_color(terminal_options())
    for line in lines:
        style = _COLORS.get(line[:1]) if color else None
        click.echo(click.style(clean(line), fg=style) if style else clean(line))


def show_problems(problems: Iterable[Problem]) -> None:
    """Print the problems of a file to stderr."""
    for problem in problems:
        notify(str(problem))


def show_audit(path: Path, eval_ids: Collection[str]) -> None:
    """Print to stderr what the cases that were written catch."""
    for line in audit_note(path, eval_ids):
        notify(line)


def audit_note(path: Path, eval_ids: Collection[str]) -> list[str]:
    """Return what these cases of a file catch, and how to see more.

    It is an extra of a command that has done its work: nothing is returned where the audit is not possible, and a config with
    custom metrics is left out, because their code may be slow or cost money.
    """
    from proctor.authoring.audit.audit_sentence import audit_sentence
    from proctor.authoring.audit.audit_sets import audit_sync
    from proctor.authoring.audit.mutant import SCENARIO
    from proctor.errors import ProctorError, SetupError
    from proctor.files.eval_sets.source import open_cases
    from proctor.runs.load import Configs
    from proctor.runs.setup.settings import load_settings

    if not 0 < len(eval_ids) <= _MOST_AUDITED:
        return []
    try:
        problems: list[SetupError] = []
        config, _ = Configs(load_settings(Path.cwd()).config, problems, []).of(path)
        source = open_cases(path, eval_ids)
        eval_set = source.header.model_copy()
        eval_set.eval_cases = [source.case_of(eval_id) for eval_id in eval_ids]
        has_code = config is not None and config.custom_metrics
        if problems or has_code:
            return []
        result = audit_sync(eval_set, config=config, proposals=False, allow_unknown_keys=True)
    except (ProctorError, OSError):
        return []
    if not result.score.made:
        scenarios = sum(case.problem == SCENARIO for case in result.cases)
        return (
            [f"audit: {scenarios} of {len(eval_set.eval_cases)} cases not audited: {SCENARIO}"]
            if scenarios
            else []
        )
    text = audit_sentence(result)
    lines = [f"audit: {text[0].lower()}{text[1:]}"]
    if result.passed_by_any:
        names = ", ".join(case.eval_id for case in result.passed_by_any)
        lines.append(f"warning: an agent that does nothing passes {names}")
    if result.score.made > result.score.caught:
        lines.append(f"next: `proctor audit {shlex.quote(str(path))} -v` lists the survivors")
    return lines


def check_new_set(path: Path, source: Path, *, overwrite: bool, make_parents: bool) -> None:
    """Refuse to write an eval set over its source, over an existing file unless `overwrite`, or into a missing folder.

    Raises:
        SetupError: the file may not be written; the message names the option that allows it.
    """
    from proctor.cli.outputs import output_guard
    from proctor.runs.output_guard import EVAL_SET

    options = {"overwrite": overwrite, "make_parents": make_parents}
    output_guard(options, inputs=[source]).check(path, EVAL_SET)
    if make_parents:
        path.parent.mkdir(parents=True, exist_ok=True)
