"""Messages of the command line: errors with their exit codes, and prompts."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from proctor.cli.command_base import common
from proctor.cli.own_process import report_problems
from proctor.common.error_text import safe_str, traceback_text
from proctor.common.safe_text import clean
from proctor.errors import ProctorError, SetupError, SetupProblems, UnknownNameError
from proctor.schema.results.exit_code import ExitCode

_MARGIN = "       "
_PLACE = re.compile(r"^(\S.*?:\d+:\d+): error: ")
_STARTS_WITH_PLACE = re.compile(r"^\S.*?:\d+:\d+: ")


class Stopped(Exception):  # noqa: N818  (not an error: the user or the system requested it)
    """A signal stopped the run; `code` is the exit code of that signal."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(f"stopped with exit code {code}")


def report_error(error: BaseException) -> int:
    """Print the message for `error` to stderr and return the exit code, which is never 0 or 1."""
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        notify("interrupted")
        return ExitCode.INTERRUPTED
    if isinstance(error, Stopped):
        return error.code
    if isinstance(error, SetupError):
        report_problems(single_problems(error))
        show_setup_error(error)
        return ExitCode.CONFIGURATION_ERROR
    if isinstance(error, BrokenPipeError):
        return ExitCode.ERROR
    return _report_bug(error)


def notify(text: str) -> None:
    """Write one message to stderr without control sequences; ignore a closed stderr."""
    with suppress(OSError, ValueError):  # stderr is closed
        click.echo(clean(text, lines=True), err=True)


def show_setup_error(error: SetupError) -> None:
    """Write one `error: …` block per problem; with `-v` add the known names, or the traceback of its cause."""
    for problem in single_problems(error):
        notify(_block(str(problem)))
        if not common().verbose:
            continue
        cause = problem.__cause__ or problem
        if isinstance(cause, UnknownNameError) and cause.known:
            notify(_indent(f"Known: {', '.join(cause.known)}"))
        elif problem.__cause__ is not None:
            notify(_indent(traceback_text(problem.__cause__)))


def single_problems(error: SetupError) -> Sequence[SetupError]:
    """Return the single problems of a configuration error: nested ones flattened, duplicate messages removed."""
    if not isinstance(error, SetupProblems):
        return [error]
    flat = [problem for inner in error.problems for problem in single_problems(inner)]
    return list({str(problem): problem for problem in flat}.values())


def _usage(error: click.ClickException) -> int:
    text = f"error: {error.format_message()}"
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    notify(f"{text}\n{_MARGIN}See: {ctx.command_path} --help" if ctx else text)
    return ExitCode.CONFIGURATION_ERROR


def _report_bug(error: BaseException) -> int:
    """Report an error that is not a mistake in the user's input."""
    if isinstance(error, ProctorError):
        notify(_block(str(error)))
    elif isinstance(error, OSError) and error.strerror:
        notify(f"error: {error.filename or 'what was to be printed could not be written'}: {error.strerror}")
    else:
        notify(
            f"error: {type(error).__name__}: {safe_str(error)}\n{_MARGIN}This is a bug in Proctor; -v shows where."
        )
    if common().verbose:
        notify(_indent(traceback_text(error)))
    return ExitCode.ERROR


def _block(text: str) -> str:
    """Return `error: text`; further lines are indented, or get their own `error:` if they start with a location."""
    first, *rest = [_PLACE.sub(r"\1: ", line) for line in text.strip().splitlines()] or ["unknown"]
    return "\n".join([f"error: {first}", *(f"{_head(line)}{line}" for line in rest)])


def _head(line: str) -> str:
    return "error: " if _STARTS_WITH_PLACE.match(line) else _MARGIN


def _indent(text: str) -> str:
    return "\n".join(f"{_MARGIN}{line}" for line in text.rstrip().splitlines())


# --- Confirmation prompts for actions that cannot be undone -----------------------------------------------------------


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
    notify(undone)
    return False
