"""`proctor resume`: resume an interrupted run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    OTHER,
    STORE_HELP,
    SectionedCommand,
    argument,
    common_options,
    option,
    report_options,
    terminal_options,
)
from proctor.cli.messages import single_problems
from proctor.cli.run_flags import run_options
from proctor.engine.run_options import OPTIONS, OptionGroup, Use, options_for_use
from proctor.errors import SetupError, SetupProblems

if TYPE_CHECKING:
    from proctor.cli.eval.execution import Execution, Start
    from proctor.cli.outputs import MakeGuard, RunOutput, RunTargets
    from proctor.runs.setup.settings import Settings
    from proctor.schema.results.run_result import RunResult
    from proctor.stores.base import Store

HOW = "How to resume"
_OPTIONS = [name for name in options_for_use(Use.RESUME) if OPTIONS[name].flags and name != "judge"]
_LIMITS = [name for name in _OPTIONS if OPTIONS[name].group is OptionGroup.LIMITS]
_KEPT = [name for name in _OPTIONS if name not in _LIMITS]

EXAMPLES = """
proctor resume                     the newest run that is unfinished
proctor resume 7f3k2c
proctor resume 7f3k2c --retry-errors
proctor resume --report json=out.json
"""


@click.command("resume", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", required=False, metavar="[RUN]")
@option(
    "--force",
    section=HOW,
    is_flag=True,
    help="Resume although the set, the config, the agent or a version has changed since.",
)
@option(
    "--retry-errors",
    section=HOW,
    is_flag=True,
    help="Also repeat the trials that ended in an error; both attempts are kept. A flag: `eval --retry-errors N` "
    "repeats at once, up to N times.",
)
@run_options(_KEPT, section=HOW, unset=dict.fromkeys(_KEPT, "as before"))
@run_options(_LIMITS, section="Limits, counted from now")
@report_options()
@option(
    "--store",
    "stores",
    section=OTHER,
    multiple=True,
    metavar="URL",
    help=f"{STORE_HELP} With adk:DIR its results go there.",
)
@common_options
@click.pass_context
def resume(ctx: click.Context, /, run: str | None, **options: Any) -> None:
    """Resume an unfinished run.

    The original options and working folder apply. Only trials without evidence run, and only
    evidence without a score is scored. RUN is an id, the beginning of one, `latest` or `latest~1`;
    the default is the newest unfinished run. A finished run is not changed. The reports and results
    of the original command (--report, --store adk:DIR) are written again, now complete.

    Exit codes: as `proctor eval`; of a run with nothing left to do, the one that it ended with.
    """
    from proctor.cli.messages import notify
    from proctor.cli.outputs import output_guard, reported_errors

    with reported_errors(options, lambda: output_guard(options)) as executions:
        code = _resume(run, options, executions)
    if not any(one.has_run for one in executions):
        notify("nothing to do: the run is finished")
    ctx.exit(code)


def _resume(run: str | None, options: dict[str, Any], executions: list[Execution]) -> int:
    from proctor.cli.eval.execution import Execution
    from proctor.cli.eval.joint_execution import carry_out_against, shared_resume_hint
    from proctor.cli.messages import notify
    from proctor.cli.outputs import store_of
    from proctor.cli.own_process import reserve_stdout
    from proctor.cli.run_flags import read_settings
    from proctor.runs.attempts import warning_of_attempt
    from proctor.runs.resume import caps_of_killed, run_to_resume
    from proctor.runs.setup.settings import prepare_process, usage_limits
    from proctor.runs.storage.open import open_runs
    from proctor.stores.shared_runs import run_members

    settings = read_settings(options)
    prepare_process(settings)
    opened = open_runs(store_of(options["stores"]))
    with closing(opened), reserve_stdout() as stdout:
        run_id = run_to_resume(opened, run)
        outputs, targets = output_targets(opened, run_id, options, settings)
        execution = Execution(stdout, outputs, terminal_options(verbose=options["details"]), targets)
        executions.append(execution)
        if run_members(opened, run_id):  # it has its own limits, until a flag changes them
            execution.resume_hint = partial(shared_resume_hint, opened)
        else:
            caps = caps_of_killed(opened, run_id)
            limits = usage_limits(options, settings)
            options |= {
                name: limits[name] for name in limits if options[name] is not None or name not in caps
            }
        if run is None:
            for message in filter(None, (warning_of_attempt(opened), _other_unfinished_runs(opened))):
                notify(message)
        start, manifest = _resuming(run_id, opened, options), opened.manifest(run_id)
        if manifest.against:
            return carry_out_against(execution, start, opened, str(manifest.options.get("against", "")))
        return execution.carry_out(start)


_MOST_NAMED = 3


def _other_unfinished_runs(store: Store) -> str:
    """Return a message that names the run to be resumed if several are unfinished, otherwise an empty string."""
    from proctor.runs.resume import unfinished_runs
    from proctor.runs.storage.open import store_option

    left = list(unfinished_runs(store))
    if len(left) < 2:
        return ""
    newest, *others = left
    names = [f"{one.run_id} ({one.agent})" for one in others[:_MOST_NAMED]]
    more = f", and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return (
        f"{len(left)} runs are unfinished. This resumes the newest, {newest.run_id} ({newest.agent}); "
        f"left are {', '.join(names)}{more}: `proctor resume {others[0].run_id}{store_option(store)}`"
    )


def _resuming(run: str, store: Store, options: dict[str, Any]) -> Start:
    """Return the coroutine function that resumes the run."""
    from proctor.runs.resume import resume as resume_run

    async def start(callbacks: dict[str, Any]) -> Sequence[RunResult]:
        arguments = {name: options[name] for name in ("force", "retry_errors")}
        # an omitted flag leaves the option of the run unchanged
        arguments |= {name: options[name] or None for name in (*_KEPT, *_LIMITS)}
        watching = {name: callbacks[name] for name in ("progress", "stop")}
        return [await resume_run(run, store=store, results=(), **arguments, **watching)]

    return start


# --- Outputs of a resumed run: those of the original command, unless this command names others -----------------------


def output_targets(
    store: Store, run_id: str, options: Mapping[str, Any], settings: Settings
) -> tuple[list[RunOutput], RunTargets]:
    """Return the reports and stores to which the result of a run is written.

    The outputs of the original command apply, except that a new report replaces an earlier one of the same name, and new
    `adk:` folders replace the earlier ones. If nothing is left to run, only the outputs of this command apply.

    Raises:
        SetupProblems: an output is not valid, or an earlier one can no longer be written.
    """
    from proctor.cli.outputs import RunTargets, output_guard, parse_outputs, result_folders
    from proctor.runs.resume import Outputs, nothing_to_do, outputs_of

    guard = partial(output_guard, options)
    outputs = parse_outputs(options["reports"], options["format_"], guard)
    adk = result_folders(options["stores"])
    if nothing_to_do(store, run_id, retry_errors=options["retry_errors"]):
        return outputs, RunTargets(store, adk)
    before = outputs_of(store.manifest(run_id)) or Outputs([], list(settings.store))
    reports = _reports_again(before.reports, outputs, guard)
    return [*outputs, *reports], RunTargets(store, adk or _again(result_folders, before.results, "--store"))


def _reports_again(words: Sequence[str], outputs: Sequence[RunOutput], guard: MakeGuard) -> list[RunOutput]:
    from proctor.cli.outputs import parse_outputs

    names = {output.name for output in outputs if output.path is not None}
    left = [word for word in words if word.partition("=")[0] not in names]
    reports: list[RunOutput] = _again(lambda known: parse_outputs(known, None, guard), left, "--report")
    paths = {output.path for output in outputs}
    return [output for output in reports if output.path not in paths]


def _again(parse: Any, places: Sequence[str], option: str) -> Any:
    """Parse outputs of the original command; an error message names their origin."""
    from proctor.runs.resume import known_places

    try:
        return parse(known_places(places, option))
    except SetupError as problem:
        begun = f"(it was asked for when the run was begun; {option} names another place)"
        raise SetupProblems([SetupError(f"{one} {begun}") for one in single_problems(problem)]) from None
