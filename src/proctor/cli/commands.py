"""The top-level command group: imports each command on demand and suggests the closest name for an unknown one."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import click

from proctor.cli.command_base import begin
from proctor.cli.errors import SETUP_ERROR, exit_code_of
from proctor.cli.streams import loaded
from proctor.common.registry import load_object
from proctor.errors import RunInUseError, did_you_mean

COMMANDS: dict[str, tuple[str, str]] = {
    "eval": (
        "proctor.cli.eval.command:eval_command",
        "Run eval sets against an agent and judge what it did.",
    ),
    "runs": ("proctor.cli.runs.runs:runs", "List the runs that are kept, newest first."),
    "show": ("proctor.cli.runs.show:show", "Show a run, or everything about one of its cases."),
    "resume": ("proctor.cli.eval.resume:resume", "Go on with a run that was not finished."),
    "score": ("proctor.cli.eval.score:score", "Judge a run's recorded evidence again; no agent is called."),
    "compare": (
        "proctor.cli.runs.compare:compare",
        "Compare two runs case by case: did the candidate get worse?",
    ),
    "baseline": (
        "proctor.cli.runs.baseline:baseline",
        "Give runs names that others are compared with, and take them along as files.",
    ),
    "plan": (
        "proctor.cli.runs.plan:plan",
        "Say how many cases and trials it takes to see a drop, by the variance of a run.",
    ),
    "history": (
        "proctor.cli.runs.history:history",
        "Look back over runs: which cases broke, in which run; which are flaky; what was fixed.",
    ),
    "export": ("proctor.cli.runs.export:export", "Write a run in a form that other tools read."),
    "import": ("proctor.cli.runs.import_:import_command", "Take results from files into the store, as runs."),
    "prune": ("proctor.cli.runs.prune:prune", "Delete runs that are no longer needed."),
    "check": ("proctor.cli.eval_sets.check:check", "Say what is wrong in eval sets, configs and scenarios."),
    "convert": ("proctor.cli.eval_sets.convert:convert", "Turn an eval set into JSON, YAML or JSON lines."),
    "migrate": ("proctor.cli.eval_sets.migrate:migrate", "Bring an old eval file into today's format."),
    "bless": (
        "proctor.cli.eval_sets.bless:bless",
        "Write what the agent did into the eval set, as what is expected from now on.",
    ),
    "record": (
        "proctor.cli.eval_sets.record:record",
        "Talk to an agent in the terminal, and keep the conversation as a case.",
    ),
    "score-trace": (
        "proctor.cli.tools.score_trace:score_trace",
        "Judge what OpenTelemetry traces tell of an agent; nothing is run.",
    ),
    "trace": (
        "proctor.cli.tools.trace:trace",
        "Take traces from an OTLP exporter, or tell what is in a file of them.",
    ),
    "eval-set": (
        "proctor.cli.eval_sets.eval_set:eval_set",
        "Make eval sets, put cases in, look at them, take cases out.",
    ),
    "metrics": ("proctor.cli.tools.metrics:metrics", "List the metrics, or explain one."),
    "agent": ("proctor.cli.tools.agent:agent", "Find out whether an agent keeps its contract."),
    "judge": (
        "proctor.cli.runs.judge:judge",
        "Find out what the verdicts of a judge are worth, by labels of people.",
    ),
    "adopt": (
        "proctor.cli.eval_sets.adopt:adopt",
        "Move in from google-adk: find what is there, check it, say what would differ.",
    ),
    "web": (
        "proctor.cli.tools.web:web",
        "See runs, cases and eval sets in a browser; start runs, talk to agents.",
    ),
    "init": (
        "proctor.cli.eval_sets.init:init",
        "Start a project: a sample agent with an eval set that runs.",
    ),
}
"""Name -> import path of the command and its line in `proctor --help`, in the order of that list."""


class LazyGroup(click.Group):
    """Click group that knows its commands by name and imports a command only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of `proctor --help`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command `cmd_name`; return `None` if it does not exist."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = load_object(COMMANDS[cmd_name][0])
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is a usage error that suggests the closest one."""
        name = args[0].replace("_", "-")
        if name in COMMANDS or name.startswith("-"):
            found = super().resolve_command(ctx, args)
            if name != "eval":  # `eval` imports more before it calls `loaded`
                loaded()
            return found
        hint = did_you_mean(name, COMMANDS) or f" There is: {', '.join(COMMANDS)}."
        raise click.UsageError(f"No command {args[0]!r}.{hint}", ctx)

    def main(  # type: ignore[override]  # click overloads it by a flag; this method handles both values of the flag
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; turn every exception into a message and an exit code (see `errors.exit_code_of`)."""
        words = sys.argv[1:] if args is None else list(args)
        begin(words)
        if not standalone_mode or "_PROCTOR_COMPLETE" in os.environ:  # a shell requests completions
            return super().main(args, prog_name, standalone_mode=standalone_mode, **extra)
        raise SystemExit(self._exit_code(words, prog_name or "proctor", extra))

    def _exit_code(self, words: list[str], prog_name: str, extra: dict[str, Any]) -> int:
        try:
            with self.make_context(prog_name, words, **extra) as ctx:
                self.invoke(ctx)
        except click.exceptions.Exit as done:
            return done.exit_code
        except BaseException as error:  # noqa: BLE001  (the outermost handler: no error may end in a traceback or in exit code 1)
            code = exit_code_of(error)
            if code == SETUP_ERROR:
                _record_attempt(words, error)
            return code
        return 0


_ATTEMPTS = ("eval", "score", "score-trace", "resume", "import")
"""Commands that create a run, finish one, or add scores to one."""


def _record_attempt(words: Sequence[str], error: BaseException) -> None:
    """Record that a command failed to create a run or scores, so that `latest` does not silently mean an older run."""
    command = next((name for word in words if (name := word.replace("_", "-")) in COMMANDS), "")
    if command not in _ATTEMPTS or "--estimate" in words:
        return
    from proctor.common.secrets import redact_arguments
    from proctor.runs.storage.failed_attempts import NoAttemptError, record_failed_attempt

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
    named = [after for word, after in pairwise(words) if word == "--store"]
    named += [word.partition("=")[2] for word in words if word.startswith("--store=")]
    stores: list[str | None] = [url for url in named if url.strip() and not url.startswith("adk:")]
    return stores or [None]
