"""Entry point of `proctor` and `python -m proctor`."""

from __future__ import annotations

import gc
import os
import sys

import click

from proctor.cli.command_base import common_options
from proctor.cli.commands import LazyGroup
from proctor.cli.status_file import listen_to_environment
from proctor.cli.streams import leave, own_end, own_streams
from proctor.common.version import __version__

CONTEXT = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    # ADK spells options with underscores; accept both spellings.
    "token_normalize_func": lambda name: name.replace("_", "-"),
}


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click calls it)
    if value and not ctx.resilient_parsing:
        click.echo(f"proctor {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings=CONTEXT, invoke_without_command=True)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version."
)
@common_options
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Evaluate AI agents: replay recorded conversations, judge what the agent did, show why.

    \b
    Start here:
      proctor init my_project       a sample agent, an eval set, a config: ready to run
      proctor eval AGENT EVAL_SET   run the eval set against the agent

    `proctor COMMAND --help` explains a command. Settings in proctor.toml or [tool.proctor] of
    pyproject.toml make a bare `proctor eval` work.

    \b
    Exit codes: 0 passed, 1 failed, 2 usage or set-up error (nothing was run),
    3 error, 4 inconclusive, 130 interrupted, 143 terminated.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_OFTEN = 50_000
"""Allocations between two collections of the garbage collector (Python's default: 700), after the imports of the command.
Before that the collector is off (see `loaded`): imports create almost no garbage, and collecting took 5 % of the time."""


def main() -> None:
    """Run the command line and end the process, even if an agent has left threads running."""
    gc.set_threshold(_OFTEN, *gc.get_threshold()[1:])
    listen_to_environment()
    take_words()
    own_streams()
    own_end()
    try:
        cli.main(prog_name="proctor")
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else 3
    else:
        code = 3  # unreachable: cli.main always exits; if it returned, that must not look like success
    leave(code)


# --- Arguments on standard input: a program that starts `proctor` can hide them from the list of processes -------------


VARIABLE = "PROCTOR_WORDS"
"""If its value is `stdin`, standard input holds the arguments after `proctor` as a JSON array of strings, instead of argv."""


def take_words() -> None:
    """Read the arguments from standard input, and hide the variable and the input from child processes of the agent."""
    if os.environ.pop(VARIABLE, "") != "stdin":
        return
    import json

    with open(0, "rb", closefd=False) as given:
        sys.argv[1:] = json.load(given)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
