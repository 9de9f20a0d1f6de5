"""Asking before something is done that cannot be taken back."""

from __future__ import annotations

import sys

import click

from proctor.cli.errors import say
from proctor.errors import SetupError


def is_sure(question: str, *, yes: bool, undone: str, to_do: str) -> bool:
    """Tell whether to go on: `undone` says that nothing was done, `to_do` what --yes would do without asking.

    Raises:
        SetupError: nobody is there to be asked.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise SetupError(f"{undone}: add --yes to {to_do} without being asked")
    if click.confirm(question, default=False, err=True):
        return True
    say(undone)
    return False
