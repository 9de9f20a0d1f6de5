"""`proctor eval`: run eval sets against one agent, or several side by side, and judge what they did."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import click

from proctor import api
from proctor.cli.error_reports import reported_errors, write_nothing_run
from proctor.cli.errors import say
from proctor.cli.eval.against import carry_out_against
from proctor.cli.eval.arguments import Asking, guard_of, store_named
from proctor.cli.eval.execution import Execution, Shown, Start
from proctor.cli.eval.isolation import isolation
from proctor.cli.eval.stores import NOWHERE
from proctor.cli.options import SectionedCommand, common, common_options, option
from proctor.cli.project_settings import read_settings
from proctor.cli.run_options import json_option, keys_option, output_options, strict_option
from proctor.cli.streams import loaded, stdout_is_ours
from proctor.errors import NothingToRunError, SettingsError
from proctor.reports.content.estimate import write_estimate, write_json
from proctor.runs.estimate import estimate_sync
from proctor.runs.failed_attempts import attempts_recorded_by_caller
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.find_config import ADK_RS_SOURCE
from proctor.runs.setup.project_defaults import prepare_process
from proctor.schema.results.run_result import RunResult
from proctor.settings import Settings, load_settings

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
        loaded()
        ctx.exit(show_estimate(words, given))
    if given.pop("watch"):
        from proctor.cli.eval.watch import watch

        loaded()
        ctx.exit(watch(words, given))
    loaded()
    ctx.exit(run_and_show(words, given))


# --- The work of `proctor eval`: run what was asked for, show what came of it -----------------------------------------


def run_and_show(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for; nothing was run.
    """
    executions: list[Execution] = []
    with reported_errors(given, lambda: _guard(words, given), lambda: any(one.has_run for one in executions)):
        return _run_and_show(words, given, executions)


def _guard(words: Sequence[str], given: Mapping[str, Any]) -> OutputGuard:
    """Return the guard of the reports, also where the settings cannot be read."""
    try:
        settings = load_settings(Path.cwd())
    except SettingsError:
        settings = Settings()
    return guard_of(words, given, settings)


def _run_and_show(words: Sequence[str], given: Mapping[str, Any], executions: list[Execution]) -> int:
    settings = read_settings(given)
    prepare_process(settings)
    _show_logs(given["log_level"])
    with stdout_is_ours() as stdout:
        asking = Asking(words, given, settings)
        if asking.is_empty:
            return _say_nothing_to_run(f"every case passed in {given['failed']}", asking, stdout)
        shown = Shown(
            asking.outputs,
            asking.details,
            asking.only_different,
            False if common().no_color else None,
            asking.keeping,
        )
        with closing(asking.keeping), attempts_recorded_by_caller():
            try:
                execution = Execution(shown, stdout)
                executions.append(execution)
                if against := asking.options.get("against"):
                    store, margin = asking.keeping.store, asking.options.get("margin")
                    return carry_out_against(execution, _evaluation(asking), store, str(against), margin)
                return execution.carry_out(_evaluation(asking))
            except NothingToRunError as nothing:
                return _say_nothing_to_run(str(nothing), asking, stdout)


def _say_nothing_to_run(why: str, asking: Asking, stdout: TextIO) -> int:
    """Report that nothing is wrong and nothing was run, also in every requested report; return the exit code."""
    note = f"nothing to run: {why}"
    say(f"{note}; the reports are empty" if asking.outputs else note)
    write_nothing_run(asking.outputs, [], stdout, note, is_empty=True)
    return 0


def _evaluation(asking: Asking) -> Start:
    """Return what runs the agents that were asked for."""
    agents, sets = asking.chosen.agents, asking.chosen.sets

    async def evaluate(options: dict[str, Any]) -> Sequence[RunResult]:
        given: dict[str, Any] = {**asking.options, **options, "store": asking.keeping.store}
        if len(agents) == 1:
            runs = [await api.evaluate(agents[0], sets, **given)]
        else:
            runs = await api.evaluate_matrix(agents, sets, **given)
        _say_default_criteria(runs)
        return runs

    return evaluate


def _say_default_criteria(runs: Sequence[RunResult]) -> None:
    """Report which sets were scored by adk-rs's criteria, as its report suggests to its readers."""
    sets = [one for run in runs for one in run.sets if one.config_source == ADK_RS_SOURCE]
    if names := dict.fromkeys(one.path or one.eval_set_id for one in sets):
        say(
            f"no config found for {', '.join(names)}: scored by adk-rs's criteria, tool_trajectory_avg_score 1.0 and "
            "final_response_match_v1 0.5 in every invocation (a test_config.json or --config names others)"
        )


def _show_logs(level: str | None) -> None:
    """Let libraries log to stderr from `level` on; without one, as loud as `-v` says."""
    chosen = level or ("DEBUG" if common().verbose > 1 else None)
    if chosen:
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )


# --- The work of `proctor eval --estimate`: what a run would take; nothing is run -------------------------------------


def show_estimate(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Show what a run would take, agent by agent, and return the exit code.

    Raises:
        SetupProblems: everything that is wrong with what was asked for.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    as_json = given["format_"] == "json"
    store = store_named(given["stores"])
    with stdout_is_ours() as stdout:
        # no store is made for it, and no report
        unkept = {**given, "stores": (NOWHERE,), "reports": (), "format_": None}
        asking = Asking(words, unkept, settings, earlier=store)
        if asking.is_empty:
            say(f"nothing to run: every case passed in {given['failed']}")
            return 0
        for agent in asking.chosen.agents:
            try:
                found = estimate_sync(agent, asking.chosen.sets, **{**asking.options, "store": store})
            except NothingToRunError as nothing:
                say(f"nothing to run: {nothing}")
                continue
            if as_json:
                write_json(found, stdout)
                continue
            if len(asking.chosen.agents) > 1:
                stdout.write(f"{agent}\n")
            write_estimate(found, stdout)
    sys.stdout.flush()
    return 0
