"""`proctor eval`: run eval sets against one agent, or several side by side, and judge what they did."""

from __future__ import annotations

from typing import Any

import click

from proctor.cli.eval.isolation import isolation
from proctor.cli.options import SectionedCommand, common_options, option
from proctor.cli.run_options import json_option, keys_option, output_options, strict_option
from proctor.cli.streams import loaded

RUN, JUDGE, SHOW, ADK = "What and how to run", "How to judge", "What to show", "As in ADK"

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
proctor eval                           whatever proctor.toml says
"""


def names(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> list[str] | None:
    """Read names that stand between commas."""
    found = [name.strip() for name in (value or "").split(",") if name.strip()]
    if value is not None and not found:
        raise click.BadParameter("give one or more names, separated by commas")
    return found or None


def _eval_options(command: Any) -> Any:
    seconds = click.FloatRange(min=0, min_open=True)
    count = click.IntRange(min=1)
    declared = [
        option("--agent", "agents", section=RUN, multiple=True, metavar="AGENT",
               help="Agent to run; several make one table side by side."),
        option("--set", "sets", section=RUN, multiple=True, metavar="SET",
               help="Eval set to run; may be repeated."),
        option("--agent-name", section=RUN, metavar="NAME", help="Run this sub-agent instead of the root agent."),
        option("--num-runs", section=RUN, type=count, metavar="N", help="Run every case N times.  [the config's `trials`, else 1]"),
        option("--until-decided", section=RUN, is_flag=True,
               help="Begin with few trials and add more where they are needed, up to --num-runs of a case, until each case is "
                    "decided as the config's `trials` asks; with --against, until the comparison is."),
        option("--against", section=RUN, metavar="RUN",
               help="With --until-decided: compare with this run, and leave with what comes of that."),
        option("--margin", section=RUN, type=click.FloatRange(min=0, max=1, min_open=True, max_open=True), metavar="D",
               help="With --against: by how much the pass rate may fall and still be called no worse.  [0.05: 5 points]"),
        option("--concurrency", section=RUN, type=count, metavar="N", help="Trials under way at once.  [8]"),
        isolation(RUN),
        option("--timeout", section=RUN, type=seconds, metavar="S", help="Seconds that one turn may take.  [300]"),
        option("--trial-timeout", section=RUN, type=seconds, metavar="S", help="Seconds that one trial may take."),
        option("--limit", section=RUN, type=count, metavar="N", help="Only the first N cases of each set."),
        option("--tag", "tags", section=RUN, multiple=True, metavar="T",
               help="Only cases with this tag; may be repeated."),
        option("--shard", section=RUN, metavar="I/N",
               help="Only the I-th of N parts of the cases, for N machines: a case belongs to one by its id."),
        option("--changed-since", section=RUN, metavar="REF",
               help="Only cases whose content is another one than at REF, a commit of git; all of a set whose config is."),
        option("--failed", section=RUN, metavar="RUN",
               help="Only the cases that did not pass in RUN: an id, the beginning of one, latest, latest~1, or a "
                    "report written with --report json=RUN."),
        option("--retry-errors", section=RUN, type=click.IntRange(min=0), metavar="N",
               help="Try a trial again up to N times after an infrastructure error or a played user at fault (never after a wrong answer)."),
        option("--keep-going", section=RUN, is_flag=True,
               help="A set that cannot be read is an error; the others run."),
        option("-x", "--fail-fast", section=RUN, is_flag=True, help="Stop after the first case that does not pass."),
        option("--watch", section=RUN, is_flag=True,
               help="Run again whenever the agent, a set or a config changes; Ctrl-C ends it."),
        option("--allow-duplicate-ids", section=RUN, is_flag=True,
               help="Run cases that share an id under distinct ones instead of refusing the set."),
        keys_option(RUN),
        strict_option(RUN),
        option("--allow-unasserted", section=RUN, is_flag=True,
               help="Run a case that asserts nothing, and record it as skipped, instead of refusing it."),
        option("--user", section=RUN, metavar="WHO",
               help="Who plays the users of scenarios: a model, module:function or file.py:function.  [the config's "
                    "user_simulator_config]"),
        option("--setup", section=RUN, metavar="MODULE:FUNCTION", help="Called before each case."),
        option("--teardown", section=RUN, metavar="MODULE:FUNCTION", help="Called after each case."),
        option("--max-time", section=RUN, type=seconds, metavar="S",
               help="Begin no trial after S seconds; `proctor resume` runs the rest."),
        option("--max-tokens", section=RUN, type=count, metavar="N",
               help="Begin no trial once the agent has used N tokens."),
        option("--max-cost", section=RUN, type=click.FloatRange(min=0, min_open=True), metavar="USD",
               help="Spend at most USD on models: judges, played users and, where its price is known, the agent; "
                    "passed by less than one call of a judge."),
        option("--max-judge-calls", section=RUN, type=count, metavar="N", help="Ask judges at most N times."),
        option("--estimate", section=RUN, is_flag=True,
               help="Only tell what it would take: calls, tokens and dollars, by an earlier run of the sets; nothing is run."),
        option("--max-failures", section=RUN, type=count, metavar="N",
               help="Begin no trial once N cases did not pass."),
        option("--max-text", section=RUN, type=count, metavar="N",
               help="Keep N characters of a text of the agent; what is longer is cut, and an error.  [1048576]"),
        option("--max-events", section=RUN, type=count, metavar="N",
               help="Stop an agent after N events in one turn, which is an error.  [10000]"),
        option("--store", "stores", section=RUN, multiple=True, metavar="URL",
               help="Where the run is kept: a URL (sqlite:///PATH), a path, or memory: for nowhere.  [the project's "
                    ".proctor/store.sqlite3]  With adk:DIR its results go to DIR/APP/.adk/eval_history, too."),
        option("--config", "--config_file_path", "config", section=JUDGE, metavar="FILE",
               help="The criteria. Without it: test_config.json beside each set or in a folder above it, "
                    "else ADK's defaults."),
        option("--metrics", section=JUDGE, callback=names, metavar="A,B",
               help="Only these metrics of the config; the others are reported as skipped."),
        option("--no-judge", section=JUDGE, is_flag=True, help="Leave out the metrics that ask a language model."),
        option("--judge", section=JUDGE, metavar="MODEL",
               help="The model that metrics ask whose criterion names none: gemini-2.5-flash, openai:gpt-5, ollama/llama3.2 …  "
                    "[PROCTOR_JUDGE_MODEL, the setting `judge`, else gemini-2.5-flash]"),
        option("--compat", section=JUDGE, type=click.Choice(["adk"]),
               help="Score exactly as google-adk does, known weaknesses included."),
        option("--print_detailed_results", "--details", "details", section=SHOW, is_flag=True,
               help="Show every case in full, not only those that did not pass (also: -v)."),
        option("--report", "reports", section=SHOW, multiple=True, metavar="NAME=PATH",
               help="Also write this report, for example json=out.json; - is stdout; may be repeated."),
        option("--format", "format_", section=SHOW, metavar="NAME",
               help="Write this report to stdout, and nothing else: the same as --report NAME=-"),
        json_option(SHOW),
        output_options(SHOW),
        option("--only-different", section=SHOW, is_flag=True,
               help="With several agents: only cases on which they differ."),
        option("--log_level", section=ADK, metavar="LEVEL",
               type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
               help="Show what libraries log, from this level on, on stderr."),
        option("--eval_storage_uri", section=ADK, metavar="URI", help="Not in this version: gs:// is refused."),
        common_options,
    ]  # fmt: skip
    for declare in reversed(declared):
        command = declare(command)
    return command


@click.command("eval", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[AGENT] [SET[:CASE,CASE]]...")
@_eval_options
@click.pass_context
def eval_command(ctx: click.Context, /, words: tuple[str, ...], **given: Any) -> None:
    """Run eval sets against an agent and judge what it did.

    AGENT is a folder or file, a module (pkg.agent), module:attribute, one that lives elsewhere
    (http+sse:URL, adk+http:URL, a2a+http:URL, openai+http:URL, cmd:COMMAND), or `replay`, which plays
    the recorded conversation back. SET is a file (JSON or YAML), a folder of them, or the id of a set in
    the agent's folder; `file.json:case_1,case_2` runs only these cases. What is left out comes from
    proctor.toml or [tool.proctor] of pyproject.toml; without a SET anywhere, the sets in the agent's
    folder run.

    \b
    Exit codes: 0 every case passed (or a shard is empty, or no case has changed), 1 a case failed,
    2 set-up error, nothing was run, 3 something could not be computed, 4 inconclusive.
    """
    if given.pop("estimate"):
        from proctor.cli.eval.estimate import show_estimate

        loaded()
        ctx.exit(show_estimate(words, given))
    if given.pop("watch"):
        from proctor.cli.eval.watch import watch

        loaded()
        ctx.exit(watch(words, given))
    from proctor.cli.eval.evaluation import run_and_show

    loaded()
    ctx.exit(run_and_show(words, given))
