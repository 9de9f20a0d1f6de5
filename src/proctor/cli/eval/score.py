"""`proctor score`: re-score the recorded evidence of a run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    SectionedCommand,
    argument,
    common_options,
    option,
    report_options,
    store_option,
    terminal_options,
)
from proctor.cli.run_flags import judge_options
from proctor.engine.run_options import OptionGroup, Use, options_for_use

if TYPE_CHECKING:
    from proctor.cli.eval.execution import Execution, Start
    from proctor.cli.outputs import MakeGuard
    from proctor.schema.results.run_result import RunResult
    from proctor.stores.base import Store

EXAMPLES = """
proctor score latest --config strict.json
proctor score 7f3k2c --config strict.json --report json=out.json
proctor score 7f3k2c --metrics response_match_score
proctor score latest --batch --judge claude-haiku-4-5      judges at half the price
proctor show 7f3k2c --scoring 1           the original scores
"""


@click.command("score", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", default="latest", metavar="[RUN]")
@judge_options(
    config="the criteria that the run was last scored with",
    judge="that of the run, else PROCTOR_JUDGE_MODEL, the setting `judge`",
)
@option(
    "--batch",
    section=OptionGroup.EXECUTION.value,
    is_flag=True,
    help="Ask LLM judges through the batch endpoint of OpenAI or Anthropic: half the price, within 24 hours.",
)
@report_options()
@store_option
@common_options
@click.pass_context
def score(ctx: click.Context, /, run: str, *, store: str | None, **options: Any) -> None:
    """Re-score the stored evidence of a run with another config; no agent is called.

    Shows the new verdicts and their changes since the previous scoring. They become the run's
    verdicts; earlier ones stay in its history (`proctor show RUN --scoring 1`). RUN is an id, the
    beginning of one, `latest` or `latest~1`, the one before it.

    Exit codes: as `proctor eval`, of the new verdicts.
    """
    from proctor.cli.outputs import output_guard, reported_errors

    guard = partial(output_guard, {**options, "store": store})
    with reported_errors(options, guard) as executions:
        ctx.exit(_score(run, store, options, guard, executions))


def _score(
    run: str, store: str | None, options: dict[str, Any], guard: MakeGuard, executions: list[Execution]
) -> int:
    from proctor.cli.eval.execution import Execution
    from proctor.cli.outputs import parse_outputs
    from proctor.cli.own_process import reserve_stdout
    from proctor.cli.run_flags import read_settings
    from proctor.runs.setup.settings import prepare_process, usage_limits
    from proctor.runs.storage.open import open_runs

    settings = read_settings(options)
    prepare_process(settings)
    options |= usage_limits(options, settings)
    for name in ("allow_unknown_keys", "warnings_as_errors"):
        options[name] = options[name] or settings.options.get(name, False)
    outputs = parse_outputs(options["reports"], options["format_"], guard)
    opened = open_runs(store)
    with closing(opened), reserve_stdout() as stdout:
        hint = "`proctor score {run}{store}` re-scores it"
        execution = Execution(stdout, outputs, terminal_options(verbose=options["details"]), resume_hint=hint)
        executions.append(execution)
        execution.after_runs = lambda runs: _show_outcome(opened, runs[0], execution)
        return execution.carry_out(_scoring(run, opened, options, settings.judge))


def _scoring(run: str, store: Store, options: dict[str, Any], setting: str | None) -> Start:
    """Return the coroutine function that re-scores the run. `setting`: the judge that the project's settings name."""
    from proctor.runs.attempts import find_current_run
    from proctor.runs.rescore import rescore
    from proctor.runs.setup.judge_and_user import rescoring_judge

    async def judge(callbacks: dict[str, Any]) -> Sequence[RunResult]:
        arguments: dict[str, Any] = {
            name: options[name] for name in options_for_use(Use.SCORE) if options.get(name)
        }
        arguments["judge"] = rescoring_judge(
            options["judge"], store.manifest(find_current_run(store, run, purpose="score")), setting
        )
        watching = {name: callbacks[name] for name in ("progress", "stop", "explain")}
        return [await rescore(run, store=store, batch=options["batch"], **arguments, **watching)]

    return judge


def _show_outcome(store: Store, result: RunResult, execution: Execution) -> None:
    """Show the changed verdicts, and suggest `proctor resume` if the run is incomplete."""
    from proctor.cli.messages import notify
    from proctor.runs.storage.open import store_option
    from proctor.schema.results.run_result import Outcome

    _show_changes(store, result, execution)
    if result.counts.get(Outcome.NOT_RUN):
        notify(f"not all of it was run: `proctor resume {result.run_id}{store_option(store)}` resumes it")


def _show_changes(store: Store, result: RunResult, execution: Execution) -> None:
    """Show the cases whose outcome differs from the previous scoring."""
    from proctor.reports.content.rescoring_changes import changes_of, write_changes
    from proctor.schema.results.manifest import counting

    if not execution.stdout_is_free:
        return
    *earlier, last = store.scorings(result.run_id)
    before, now = counting(earlier).number, last.number
    changes = changes_of(
        result,
        store.outcomes(result.run_id, before),
        store.outcomes(result.run_id, now),
        numbers=(before, now),
    )
    write_changes(changes, execution.stdout, options=execution.options)
