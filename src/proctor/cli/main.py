"""Entry point of `proctor`: the list of its commands, each imported on demand, and the outermost error handler."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import begin, common_options
from proctor.cli.messages import report_error
from proctor.cli.own_process import (
    duplicate_streams,
    enable_garbage_collector,
    exit_process,
    guard_exit,
    listen_to_environment,
    read_arguments_from_stdin,
)
from proctor.common.registry import load_object
from proctor.common.version import __version__
from proctor.errors import RunInUseError, did_you_mean
from proctor.schema.results.exit_code import EXIT_CODES, ExitCode

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Main commands": {
        "init": (
            "proctor.cli.eval_sets.init:init",
            "Create a project: a sample agent with an eval set that runs.",
        ),
        "eval": (
            "proctor.cli.eval.command:eval_command",
            "Run eval sets against an agent and score the results.",
        ),
        "show": ("proctor.cli.runs.show:show", "Show a run, or all details of one of its cases."),
        "compare": (
            "proctor.cli.runs.compare:compare",
            "Compare two runs case by case: did the candidate get worse?",
        ),
        "web": (
            "proctor.cli.tools.web:web",
            "Show runs, cases and eval sets in a browser; start runs, talk to agents.",
        ),
    },
    "Runs": {
        "runs": ("proctor.cli.runs.runs:runs", "List the stored runs, newest first."),
        "resume": ("proctor.cli.eval.resume:resume", "Resume an unfinished run."),
        "score": (
            "proctor.cli.eval.score:score",
            "Re-score the stored evidence of a run with another config; no agent is called.",
        ),
        "history": (
            "proctor.cli.runs.history:history",
            "Show across many runs since when a case fails or passes, and what is flaky.",
        ),
        "baseline": (
            "proctor.cli.runs.baseline:baseline",
            "Name runs that others are compared with, and export them as files.",
        ),
        "plan": (
            "proctor.cli.runs.plan:plan",
            "Estimate how many cases and trials detect a drop, from the variance of a run.",
        ),
        "export": ("proctor.cli.runs.export:export", "Write a run in a format that other tools read."),
        "import": (
            "proctor.cli.runs.import_:import_command",
            "Import results from files into the store, as runs.",
        ),
        "prune": ("proctor.cli.runs.prune:prune", "Delete runs that are no longer needed."),
    },
    "Eval sets": {
        "check": (
            "proctor.cli.eval_sets.check:check",
            "Validate eval sets, configs and scenarios; nothing is run.",
        ),
        "audit": (
            "proctor.cli.eval_sets.audit:audit",
            "Test eval sets by mutation: which faults would their cases notice?",
        ),
        "record": (
            "proctor.cli.eval_sets.record:record",
            "Talk to an agent in the terminal, and save the conversation as a new case.",
        ),
        "bless": (
            "proctor.cli.eval_sets.bless:bless",
            "Accept what the agent did in a run as the expected behaviour of existing cases.",
        ),
        "eval-set": (
            "proctor.cli.eval_sets.eval_set:eval_set",
            "Create eval sets, and add, show and remove cases.",
        ),
        "convert": (
            "proctor.cli.eval_sets.convert:convert",
            "Convert an eval set between JSON, YAML and JSON lines.",
        ),
        "migrate": (
            "proctor.cli.eval_sets.migrate:migrate",
            "Convert a file of google-adk's first formats to the current format.",
        ),
        "adopt": (
            "proctor.cli.eval_sets.adopt:adopt",
            "Migrate a project from google-adk: check its files, and show which verdicts would differ.",
        ),
    },
    "Metrics, judges and agents": {
        "metrics": ("proctor.cli.tools.metrics:metrics", "List the metrics, or explain one."),
        "judge": (
            "proctor.cli.runs.judge:judge",
            "Measure the agreement of an LLM judge with labels of people.",
        ),
        "agent": ("proctor.cli.tools.agent:agent", "Check whether an agent satisfies the agent contract."),
    },
    "Traces": {
        "score-trace": (
            "proctor.cli.tools.score_trace:score_trace",
            "Score an agent by its OpenTelemetry traces; nothing is run.",
        ),
        "trace": (
            "proctor.cli.tools.trace:trace",
            "Receive traces from an OTLP exporter, or show the contents of a trace file.",
        ),
    },
}
"""Section of `proctor --help` -> name -> import path of the command and its line there, in the order of that list."""

COMMANDS = {name: path for commands in SECTIONS.values() for name, (path, _) in commands.items()}
"""Name -> import path of the command."""


class LazyGroup(click.Group):
    """Click group that knows its commands by name and imports a command only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of `proctor --help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command `cmd_name`; return `None` if it does not exist."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = load_object(COMMANDS[cmd_name])
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that match, without importing a command."""
        from click.shell_completion import CompletionItem

        commands = {name: line for section in SECTIONS.values() for name, (_, line) in section.items()}
        items = [
            CompletionItem(name, help=line) for name, line in commands.items() if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is a usage error that suggests the closest one."""
        name = args[0].replace("_", "-")
        if name in COMMANDS or name.startswith("-"):
            resolved = super().resolve_command(ctx, args)
            if name != "eval":  # `eval` imports more before it calls `enable_garbage_collector`
                enable_garbage_collector()
            return resolved
        raise click.UsageError(f"No command {args[0]!r}.{did_you_mean(name, COMMANDS)}", ctx)

    def main(  # type: ignore[override]  # click overloads it by a flag; this method handles both values of the flag
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; turn every exception into a message and an exit code (see `report_error`)."""
        words = sys.argv[1:] if args is None else list(args)
        begin(words)
        if "_PROCTOR_COMPLETE" in os.environ:  # a shell requests completions
            from proctor.cli.completion import answer_shell

            answer_shell(self, os.environ["_PROCTOR_COMPLETE"])
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=standalone_mode, **extra)
        raise SystemExit(self._exit_code(words, prog_name or "proctor", extra))

    def _exit_code(self, words: list[str], prog_name: str, extra: dict[str, Any]) -> int:
        try:
            with self.make_context(prog_name, words, **extra) as ctx:
                self.invoke(ctx)
        except click.exceptions.Exit as done:
            return done.exit_code
        except BaseException as error:  # noqa: BLE001  (the outermost handler: no error may end in a traceback or in exit code 1)
            code = report_error(error)
            if code == ExitCode.CONFIGURATION_ERROR:
                _record_attempt(words, error)
            return code
        return ExitCode.PASSED


_ATTEMPTS = ("eval", "score", "score-trace", "resume", "import")
"""Commands that create a run, finish one, or add scores to one."""


def _record_attempt(words: Sequence[str], error: BaseException) -> None:
    """Record that a command failed to create a run or scores, so that `latest` does not silently mean an older run."""
    command = next((name for word in words if (name := word.replace("_", "-")) in COMMANDS), "")
    if command not in _ATTEMPTS or "--estimate" in words:
        return
    from proctor.common.secrets import redact_arguments
    from proctor.runs.attempts import NoAttemptError, record_failed_attempt

    if isinstance(error, NoAttemptError | RunInUseError):
        return
    what = " ".join(["proctor", *redact_arguments(words)])
    problem = error.format_message() if isinstance(error, click.ClickException) else str(error)
    is_of_failed = any(word == "--failed" or word.startswith("--failed=") for word in words)
    for url in _stores_of(words):
        record_failed_attempt(
            url,
            what,
            problem,
            is_score=command == "score",
            is_of_failed=is_of_failed,
            is_resume=command == "resume",
        )


def _stores_of(words: Sequence[str]) -> list[str | None]:
    """Return the stores named on the command line, even if click did not parse it; `[None]`: the project's store."""
    urls = [after for word, after in pairwise(words) if word == "--store"]
    urls += [word.partition("=")[2] for word in words if word.startswith("--store=")]
    stores: list[str | None] = [url for url in urls if url.strip() and not url.startswith("adk:")]
    return stores or [None]


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


@click.group(cls=LazyGroup, context_settings=CONTEXT, invoke_without_command=True, epilog=EXIT_CODES)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version."
)
@common_options
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Evaluate AI agents: replay recorded conversations, score what the agent did, show why.

    \b
    Start here:
      proctor init my_project      a sample agent with an eval set, ready to run
      proctor eval AGENT EVAL_SET  run the eval set against the agent

    `proctor COMMAND --help` explains a command. Settings in proctor.toml or [tool.proctor] of
    pyproject.toml make a bare `proctor eval` work. Completion in bash (also zsh, fish):
    eval "$(_PROCTOR_COMPLETE=bash_source proctor)"
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_COLLECTION_THRESHOLD = 50_000
"""Allocations between two collections of the garbage collector (Python's default: 700), after the imports of the command.
Before that the collector is off (see `enable_garbage_collector`): imports create almost no garbage, and collecting took 5 % of the time."""


def main() -> None:
    """Run the command line and end the process, even if an agent has left threads running."""
    gc.set_threshold(_COLLECTION_THRESHOLD, *gc.get_threshold()[1:])
    listen_to_environment()
    read_arguments_from_stdin()
    duplicate_streams()
    guard_exit()
    code: int = ExitCode.ERROR  # cli.main always exits; if it returned, that must not look like success
    try:
        cli.main(prog_name="proctor")
    except SystemExit as done:
        if isinstance(done.code, int):
            code = done.code
    exit_process(code)
