"""`proctor eval`: run eval sets against one agent, or several agents, and score the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from proctor.cli.command_base import SHOW, SectionedCommand, argument, common_options, option, report_options
from proctor.cli.own_process import enable_garbage_collector
from proctor.cli.run_flags import run_options
from proctor.engine.run_options import OPTIONS, OptionGroup
from proctor.schema.results.exit_code import EXIT_CODES

ADK = "As in ADK"

EXAMPLES = """
proctor eval my_agent my_agent/booking.evalset.json
proctor eval my_agent booking.evalset.json:two_turns,refund --num-runs 5
proctor eval agents/v1.py:agent evals/ --config strict.json --report json=out.json
proctor eval --agent v1 --agent v2 evals/ --only-different
proctor eval --failed latest           run again what did not pass
proctor eval agent evals/ --shard 2/4  the second of four parts, for four machines
proctor eval agent evals/ --changed-since main --report junit=junit.xml
proctor eval agent evals/ --estimate   what it would cost
proctor eval --watch                   run again whenever the agent or a set changes
proctor eval                           as configured in proctor.toml
"""


_ADK_OPTIONS = [
    option("--log_level", section=ADK, metavar="LEVEL",
           type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
           help="Show what libraries log, from this level on, on stderr."),
    option("--eval_storage_uri", section=ADK, metavar="URI", help="Not supported: gs:// is refused."),
]  # fmt: skip
_OPTIONS = [
    option("--agent", "agents", section=OptionGroup.CASES.value, multiple=True, metavar="AGENT",
           help="Agent to run; may be repeated: several agents are shown side by side."),
    option("--set", "sets", section=OptionGroup.CASES.value, multiple=True, metavar="SET", help="Eval set to run; may be repeated."),
    option("--failed", section=OptionGroup.CASES.value, metavar="RUN",
           help="Only the cases that did not pass in RUN: an id, the beginning of one, latest, latest~1, or a "
                "report written with --report json=RUN."),
    option("--watch", section=OptionGroup.CASES.value, is_flag=True,
           help="Run again whenever the agent, a set or a config changes; Ctrl-C ends it."),
    option("--estimate", section=OptionGroup.CASES.value, is_flag=True,
           help="Run nothing; show the expected calls, tokens and dollars, estimated from an earlier run of the sets."),
    run_options([name for name, declared in OPTIONS.items() if declared.flags], aliases=True),
    option("--store", "stores", section=OptionGroup.RESULT.value, multiple=True, metavar="URL",
           help="Where the run is kept: a path, a URL (postgresql://USER@HOST/DATABASE), or memory: for nowhere.  [the project's "
                ".proctor/store.sqlite3]  With adk:DIR its results go to DIR/APP/.adk/eval_history, too."),
    report_options("--print_detailed_results"),
    option("--only-different", section=SHOW, is_flag=True, help="With several agents: only cases on which they differ."),
    *_ADK_OPTIONS,
    common_options,
]  # fmt: skip


def _eval_options(command: Callable[..., None]) -> Callable[..., None]:
    for declare in reversed(_OPTIONS):
        command = declare(command)
    return command


@click.command("eval", cls=SectionedCommand, epilog=EXIT_CODES, examples=EXAMPLES)
@argument("words", nargs=-1, metavar="[AGENT] [SET[:CASE,CASE]]...", completes="AGENT SET")
@_eval_options
@click.pass_context
def eval_command(ctx: click.Context, /, words: tuple[str, ...], **options: Any) -> None:
    """Run eval sets against an agent and score the results.

    AGENT is a folder or file, a module (pkg.agent), module:attribute, one that lives elsewhere
    (http+sse:URL, adk+http:URL, a2a+http:URL, openai+http:URL, cmd:COMMAND), or `replay`, which plays
    the recorded conversation back. SET is a file (JSON or YAML), a folder of them, or the id of a set in
    the agent's folder; `file.json:case_1,case_2` runs only these cases. What is left out comes from
    proctor.toml or [tool.proctor] of pyproject.toml; without a SET anywhere, the sets in the agent's
    folder run.
    """
    from proctor.cli.eval.eval_request import run_and_show, show_estimate

    is_estimate, is_watched = options.pop("estimate"), options.pop("watch")
    if is_estimate:
        run = show_estimate
    elif is_watched:
        from proctor.cli.eval.watch import watch as run
    else:
        run = run_and_show
    enable_garbage_collector()
    ctx.exit(run(words, options))
