"""Confirmation prompts for actions that cannot be undone."""

from __future__ import annotations

import sys

import click

from proctor.cli.errors import say
from proctor.errors import SetupError


def is_sure(question: str, *, yes: bool, undone: str, to_do: str) -> bool:
    """Return whether the user confirms an action.

    `undone` reports that nothing changed; `to_do` names what --yes does without a prompt.

    Raises:
        SetupError: stdin is not a terminal, and `yes` is false.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise SetupError(f"{undone}: add --yes to {to_do} without being asked")
    if click.confirm(question, default=False, err=True):
        return True
    say(undone)
    return False
