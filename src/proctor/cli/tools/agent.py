"""`proctor agent check`: check whether an agent satisfies the agent contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import SectionedCommand, SectionedGroup, argument, common_options, option
from proctor.cli.print_lines import print_lines
from proctor.cli.run_flags import run_option
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.runs.conformance.check_agent import Finding

HOW = "What to send"

EXAMPLES = """
proctor agent check my_agent
proctor agent check 'cmd:node agent.mjs' --set booking.evalset.json
proctor agent check my.adapter:agent --message 'What is 2 + 2?' --failing 'divide by zero'
"""


@click.group("agent", cls=SectionedGroup, examples=EXAMPLES)
@common_options
def agent() -> None:
    """Check whether an agent satisfies the agent contract."""


@agent.command("check", cls=SectionedCommand, examples=EXAMPLES)
@argument("agent_ref", metavar="AGENT")
@option("--message", "messages", section=HOW, multiple=True, allow_empty=True, metavar="TEXT",
        help="A user message; may be repeated, one per turn.  ['Hello!', 'What can you do?']")  # fmt: skip
@option("--set", "eval_set", section=HOW, metavar="SET", type=click.Path(path_type=Path),
        help="Send the user messages of its first five conversations; choose some with tool calls and state changes.")  # fmt: skip
@option(
    "--failing", section=HOW, allow_empty=True, metavar="TEXT", help="A message that makes the agent fail."
)
@run_option("timeout", section=HOW, unset="60")
@option(
    "--only",
    section="What to check",
    multiple=True,
    metavar="CHECK",
    help="Only this check; may be repeated.",
)
@option("--json", "as_json", section="What to show", is_flag=True, help="As JSON.")
@common_options
@click.pass_context
def check(
    ctx: click.Context,
    /,
    agent_ref: str,
    *,
    messages: tuple[str, ...],
    eval_set: Path | None,
    failing: str | None,
    timeout: float | None,
    only: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check whether an agent satisfies the contract that Proctor expects of every agent.

    Each rule is a check: order of events, final response, tool calls and their responses, state,
    cancellation, conversations at once, errors. A check that does not apply gives the reason and
    the remedy: send messages that make the agent call its tools.

    Exit codes: 0 every check passes, 1 a check fails, 2 the agent cannot be loaded.
    """
    from proctor.cli.own_process import reserve_stdout
    from proctor.engine.execution.run_control import run_sync
    from proctor.runs.conformance.check_agent import MESSAGES, TURN_SECONDS, Fit, check_agent
    from proctor.runs.setup.settings import load_settings, prepare_process

    prepare_process(load_settings(Path.cwd()))
    with reserve_stdout() as stdout:
        findings = run_sync(
            lambda: check_agent(
                agent_ref,
                messages=messages or MESSAGES,
                eval_set=eval_set,
                failing=failing,
                timeout=timeout or TURN_SECONDS,
                only=only,
            )
        )
        if as_json:
            click.echo(_json_of(findings), file=stdout)
        else:
            print_lines(_lines(findings), stdout)
    has_failed = any(finding.fit is Fit.FAILED for finding in findings)
    ctx.exit(ExitCode.FAILED if has_failed else ExitCode.PASSED)


def _lines(findings: list[Finding]) -> list[str]:
    """Return a line for each check, followed by its evidence, and a line of totals."""
    wide = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.fit.value:<14}  {finding.name:<{wide}}  {finding.shows}")
        if finding.evidence:
            lines.append(f"{'':<14}  {finding.evidence}")
    counts = {
        fit: sum(one.fit is fit for one in findings) for fit in dict.fromkeys(one.fit for one in findings)
    }
    return [*lines, ", ".join(f"{count} {fit.value}" for fit, count in counts.items())]


def _json_of(findings: list[Finding]) -> str:
    rows = [
        {"check": one.name, "shows": one.shows, "fit": one.fit.value, "evidence": one.evidence}
        for one in findings
    ]
    return json.dumps({"checks": rows}, ensure_ascii=False, indent=2)
