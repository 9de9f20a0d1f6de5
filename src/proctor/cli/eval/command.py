"""`proctor eval`: run eval sets against one agent, or several agents, and score the results."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

import click

from proctor import api
from proctor.cli.command_base import SectionedCommand, common, common_options, option
from proctor.cli.eval.eval_request import EvalRequest, first_store, input_guard
from proctor.cli.eval.execution import Execution, ResultOutputs, Start, carry_out_against
from proctor.cli.messages import say
from proctor.cli.outputs import NOWHERE, reported_errors, write_nothing_run
from proctor.cli.process import enable_garbage_collector, reserve_stdout
from proctor.cli.shared_options import SHOW, json_option, output_options, read_settings, run_options
from proctor.engine.run_options import OPTIONS, Group
from proctor.errors import NothingToRunError, SettingsError
from proctor.reports.content.estimate import estimate_data, write_estimate
from proctor.reports.formats.json_data import write_json
from proctor.runs.estimate import estimate_sync
from proctor.runs.load import ADK_RS_SOURCE
from proctor.runs.output_guard import OutputGuard
from proctor.runs.setup.settings import Settings, load_settings, prepare_process
from proctor.runs.storage.failed_attempts import attempts_recorded_by_caller
from proctor.schema.results.run_result import RunResult

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


_OUTPUT_OPTIONS = [
    option("--print_detailed_results", "--details", "details", section=SHOW, is_flag=True,
           help="Show every case in full, not only those that did not pass (also: -v)."),
    option("--report", "reports", section=SHOW, multiple=True, metavar="NAME=PATH",
           help="Also write this report, for example json=out.json; - is stdout; may be repeated."),
    option("--format", "format_", section=SHOW, metavar="NAME",
           help="Write this report to stdout, and nothing else: the same as --report NAME=-"),
    json_option(SHOW),
    output_options(SHOW),
    option("--only-different", section=SHOW, is_flag=True, help="With several agents: only cases on which they differ."),
]  # fmt: skip
_ADK_OPTIONS = [
    option("--log_level", section=ADK, metavar="LEVEL",
           type=click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False),
           help="Show what libraries log, from this level on, on stderr."),
    option("--eval_storage_uri", section=ADK, metavar="URI", help="Not in this version: gs:// is refused."),
]  # fmt: skip
_OPTIONS = [
    option("--agent", "agents", section=Group.CASES.value, multiple=True, metavar="AGENT",
           help="Agent to run; several make one table side by side."),
    option("--set", "sets", section=Group.CASES.value, multiple=True, metavar="SET", help="Eval set to run; may be repeated."),
    option("--failed", section=Group.CASES.value, metavar="RUN",
           help="Only the cases that did not pass in RUN: an id, the beginning of one, latest, latest~1, or a "
                "report written with --report json=RUN."),
    option("--watch", section=Group.CASES.value, is_flag=True,
           help="Run again whenever the agent, a set or a config changes; Ctrl-C ends it."),
    option("--estimate", section=Group.CASES.value, is_flag=True,
           help="Run nothing; show the expected calls, tokens and dollars, estimated from an earlier run of the sets."),
    run_options([name for name, declared in OPTIONS.items() if declared.flags], aliases=True),
    option("--store", "stores", section=Group.RESULT.value, multiple=True, metavar="URL",
           help="Where the run is kept: a URL (sqlite:///PATH), a path, or memory: for nowhere.  [the project's "
                ".proctor/store.sqlite3]  With adk:DIR its results go to DIR/APP/.adk/eval_history, too."),
    *_OUTPUT_OPTIONS,
    *_ADK_OPTIONS,
    common_options,
]  # fmt: skip


def _eval_options(command: Callable[..., None]) -> Callable[..., None]:
    for declare in reversed(_OPTIONS):
        command = declare(command)
    return command


@click.command("eval", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[AGENT] [SET[:CASE,CASE]]...")
@_eval_options
@click.pass_context
def eval_command(ctx: click.Context, /, words: tuple[str, ...], **given: Any) -> None:
    """Run eval sets against an agent and score the results.

    AGENT is a folder or file, a module (pkg.agent), module:attribute, one that lives elsewhere
    (http+sse:URL, adk+http:URL, a2a+http:URL, openai+http:URL, cmd:COMMAND), or `replay`, which plays
    the recorded conversation back. SET is a file (JSON or YAML), a folder of them, or the id of a set in
    the agent's folder; `file.json:case_1,case_2` runs only these cases. What is left out comes from
    proctor.toml or [tool.proctor] of pyproject.toml; without a SET anywhere, the sets in the agent's
    folder run.

    \b
    Exit codes: 0 every case passed (or a shard is empty, or no case has changed), 1 a case failed,
    2 configuration error, nothing was run, 3 something could not be computed, 4 inconclusive.
    """
    if given.pop("estimate"):
        enable_garbage_collector()
        ctx.exit(show_estimate(words, given))
    if given.pop("watch"):
        from proctor.cli.eval.watch import watch

        enable_garbage_collector()
        ctx.exit(watch(words, given))
    enable_garbage_collector()
    ctx.exit(run_and_show(words, given))


# --- `proctor eval`: run and show the result --------------------------------------------------------------------------


def run_and_show(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `proctor eval` and return its exit code.

    Raises:
        SetupProblems: all configuration errors; nothing was run.
    """
    executions: list[Execution] = []
    with reported_errors(given, lambda: _guard(words, given), lambda: any(one.has_run for one in executions)):
        return _run_and_show(words, given, executions)


def _guard(words: Sequence[str], given: Mapping[str, Any]) -> OutputGuard:
    """Return the output guard of the reports, even if the settings cannot be read."""
    try:
        settings = load_settings(Path.cwd())
    except SettingsError:
        settings = Settings()
    return input_guard(words, given, settings)


def _run_and_show(words: Sequence[str], given: Mapping[str, Any], executions: list[Execution]) -> int:
    settings = read_settings(given)
    prepare_process(settings)
    _show_logs(given["log_level"])
    with reserve_stdout() as stdout:
        request = EvalRequest(words, given, settings)
        if request.is_empty:
            return _say_nothing_to_run(f"every case passed in {given['failed']}", request, stdout)
        shown = ResultOutputs(
            request.outputs,
            request.details,
            request.only_different,
            False if common().no_color else None,
            request.targets,
        )
        with closing(request.targets), attempts_recorded_by_caller():
            try:
                execution = Execution(shown, stdout)
                executions.append(execution)
                if against := request.options.get("against"):
                    store, margin = request.targets.store, request.options.get("margin")
                    return carry_out_against(execution, _evaluation(request), store, str(against), margin)
                return execution.carry_out(_evaluation(request))
            except NothingToRunError as nothing:
                return _say_nothing_to_run(str(nothing), request, stdout)


def _say_nothing_to_run(why: str, request: EvalRequest, stdout: TextIO) -> int:
    """Report in every requested report that there is nothing to run and no error; return the exit code."""
    note = f"nothing to run: {why}"
    say(f"{note}; the reports are empty" if request.outputs else note)
    write_nothing_run(request.outputs, [], stdout, note, is_empty=True)
    return 0


def _evaluation(request: EvalRequest) -> Start:
    """Return the coroutine function that evaluates the requested agents."""
    agents, sets = request.selection.agents, request.selection.sets

    async def evaluate(options: dict[str, Any]) -> Sequence[RunResult]:
        given: dict[str, Any] = {**request.options, **options, "store": request.targets.store}
        if len(agents) == 1:
            runs = [await api.evaluate(agents[0], sets, **given)]
        else:
            runs = await api.evaluate_matrix(agents, sets, **given)
        _say_default_criteria(runs)
        return runs

    return evaluate


def _say_default_criteria(runs: Sequence[RunResult]) -> None:
    """Report which sets were scored with adk-rs's default criteria."""
    sets = [one for run in runs for one in run.sets if one.config_source == ADK_RS_SOURCE]
    if names := dict.fromkeys(one.path or one.eval_set_id for one in sets):
        say(
            f"no config found for {', '.join(names)}: scored by adk-rs's criteria, tool_trajectory_avg_score 1.0 and "
            "final_response_match_v1 0.5 in every invocation (a test_config.json or --config names others)"
        )


def _show_logs(level: str | None) -> None:
    """Log to stderr from `level` on; without a level, only `-vv` enables logging."""
    chosen = level or ("DEBUG" if common().verbose > 1 else None)
    if chosen:
        logging.basicConfig(
            level=chosen.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )


# --- `proctor eval --estimate`: show the expected usage and cost of a run; nothing is run -----------------------------


def show_estimate(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Show the estimate of a run for each agent, and return the exit code.

    Raises:
        SetupProblems: all configuration errors.
    """
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    as_json = given["format_"] == "json"
    store = first_store(given["stores"])
    with reserve_stdout() as stdout:
        # an estimate creates neither a store nor a report
        unkept = {**given, "stores": (NOWHERE,), "reports": (), "format_": None}
        request = EvalRequest(words, unkept, settings, earlier=store)
        if request.is_empty:
            say(f"nothing to run: every case passed in {given['failed']}")
            return 0
        for agent in request.selection.agents:
            try:
                found = estimate_sync(agent, request.selection.sets, **{**request.options, "store": store})
            except NothingToRunError as nothing:
                say(f"nothing to run: {nothing}")
                continue
            if as_json:
                write_json(estimate_data(found), stdout)
                continue
            if len(request.selection.agents) > 1:
                stdout.write(f"{agent}\n")
            write_estimate(found, stdout)
    sys.stdout.flush()
    return 0
