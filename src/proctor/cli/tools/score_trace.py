"""`proctor score-trace`: score an agent from its OpenTelemetry traces."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    SectionedCommand,
    argument,
    common_options,
    option,
    report_options,
    terminal_options,
)
from proctor.cli.run_flags import judge_options
from proctor.engine.run_options import Use, options_for_use

if TYPE_CHECKING:
    from proctor.cli.eval.execution import Execution, Start
    from proctor.cli.outputs import MakeGuard
    from proctor.schema.results.run_result import RunResult

WHAT = "What to score"

EXAMPLES = """
proctor score-trace traces.jsonl --set booking.evalset.json
proctor score-trace traces/ --config rules.json
proctor score-trace traces.jsonl --set evals/ --report junit=junit.xml
proctor trace receive traces.jsonl       takes traces from an OTLP exporter into a file
proctor trace show traces.jsonl          shows its contents
"""


def _options(command: Any) -> Any:
    declared = [
        option("--set", "sets", section=WHAT, multiple=True, metavar="SET",
               help="What was expected: an eval set, as `proctor eval` takes it; may be repeated.  [each conversation "
                    "is a case that expects nothing]"),
        option("--store", "stores", section=WHAT, multiple=True, metavar="URL",
               help="Where the run is kept: a path, a URL (postgresql://USER@HOST/DATABASE), or memory: for nowhere.  [the project's "
                    ".proctor/store.sqlite3]"),
    ]  # fmt: skip
    for declare in reversed(declared):
        command = declare(command)
    return command


@click.command("score-trace", cls=SectionedCommand, examples=EXAMPLES)
@argument("traces", nargs=-1, required=True, metavar="TRACE...")
@_options
@judge_options(
    config="with --set: test_config.json in the folder of each set or above it, else ADK's defaults",
    judge="PROCTOR_JUDGE_MODEL, the setting `judge`",
)
@report_options()
@common_options
@click.pass_context
def score_trace(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> None:
    """Score an agent by its OpenTelemetry traces; nothing is run.

    TRACE is a file of OTLP's JSON (whole, or a request a line as the collector's file exporter
    writes), of spans as an SDK prints them, google-adk's SQLite file of spans, or a folder. With --set,
    a conversation belongs to the case that its spans name (proctor.eval_id), whose id is its
    conversation's, or whose user messages are the same; a case without a conversation is an error.
    A trace without the contents of messages is an error, too; its message explains how to capture them.

    Exit codes: as `proctor eval`.
    """
    from proctor.cli.outputs import output_guard, reported_errors

    inputs = [*traces, *options["sets"], *([options["config"]] if options["config"] else [])]
    guard = partial(output_guard, options, inputs=[Path(one) for one in inputs])
    with reported_errors(options, guard) as executions:
        ctx.exit(_score_traces(traces, options, guard, executions))


def _score_traces(
    traces: Sequence[str], options: dict[str, Any], guard: MakeGuard, executions: list[Execution]
) -> int:
    from proctor.cli.eval.execution import Execution
    from proctor.cli.outputs import open_targets, parse_outputs
    from proctor.cli.own_process import reserve_stdout
    from proctor.cli.run_flags import read_settings
    from proctor.runs.setup.settings import engine_options, prepare_process

    settings = read_settings(options)
    prepare_process(settings)
    scoring_options = {
        name: value
        for name, value in engine_options(options, settings).items()
        if name in options_for_use(Use.SCORE)
    }
    outputs = parse_outputs(options["reports"], options["format_"], guard)
    targets = open_targets(options["stores"], settings)
    look, hint = terminal_options(verbose=options["details"]), "`proctor score {run}{store}` re-scores it"
    with closing(targets), reserve_stdout() as stdout:
        start = _scoring(traces, options["sets"], {**scoring_options, "store": targets.store})
        executions.append(Execution(stdout, outputs, look, targets, hint))
        return executions[-1].carry_out(start)


def _scoring(traces: Sequence[str], sets: Sequence[str], options: dict[str, Any]) -> Start:
    from proctor.runs.traces.score import score_trace

    async def judge(more: dict[str, Any]) -> Sequence[RunResult]:
        watching = {name: more[name] for name in ("progress", "stop", "explain")}
        return [await score_trace(list(traces), list(sets) or None, **options, **watching)]

    return judge
