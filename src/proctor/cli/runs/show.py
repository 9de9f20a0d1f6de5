"""`proctor show`: show the result of a run, or all details of one of its cases."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    argument,
    common,
    common_options,
    option,
    output_options,
    store_option,
    terminal_options,
)
from proctor.cli.messages import notify
from proctor.common.safe_text import clean_json
from proctor.errors import SetupError, UnknownNameError
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.reports.content.case_data import StoredCase
    from proctor.reports.content.run_list import ListedRun
    from proctor.schema.results.run_result import CaseResult, RunResult
    from proctor.stores.base import Store

SHOW = "What to show"

EXAMPLES = """
proctor show                             the newest run
proctor show 7f3k2c                      a run, by the beginning of its id
proctor show latest two_turn_booking     a case: every trial, evidence and scores
proctor show latest two_turn_booking --trial 3 --scoring 1
proctor show latest --report json=out.json
proctor show nightly-42 --wait           wait for its verdict, and exit with its code
proctor show 9q95hq two_turn_booking     of an audit: the mutants that this case does not notice
"""


@click.command("show", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", default="latest", metavar="[RUN]")
@argument("case", required=False, metavar="[CASE]")
@option(
    "--scoring",
    old=("--judging",),
    section=SHOW,
    type=NumberType(least=1),
    metavar="N",
    help="The verdicts of scoring N; 1 is the run's own, each `proctor score` adds one.  [the last]",
)
@option(
    "--trial",
    "trials",
    section=SHOW,
    type=NumberType(least=1),
    multiple=True,
    metavar="N",
    help="Of a case: only this trial; may be repeated.",
)
@option(
    "--wait",
    section=SHOW,
    is_flag=True,
    help="Of a run: wait until it is complete; then exit with the code of its verdict, as `proctor eval` does.",
)
@option(
    "--wait-timeout",
    section=SHOW,
    type=NumberType(float, least=0),
    default=3600.0,
    metavar="S",
    help="With --wait: show the run as it is after S seconds, and exit with 3.  [3600]",
)
@option("--json", "as_json", section=SHOW, is_flag=True, help="The same as JSON, and nothing else.")
@option(
    "--report",
    "reports",
    section=SHOW,
    multiple=True,
    metavar="NAME=PATH",
    help="Of a run: also write this report, as `proctor eval` does.",
)
@option(
    "--format",
    "format_",
    section=SHOW,
    metavar="NAME",
    completes="REPORT",
    help="Of a run: write this report to stdout, and nothing else.",
)
@output_options(SHOW)
@store_option
@common_options
def show(run: str, case: str | None, *, store: str | None, **options: Any) -> None:  # fmt: skip
    """Show a run, or all details of one of its cases.

    RUN is an id, the beginning of one, `latest` or `latest~1`, the one before it. CASE is the id of a
    case, or SET/CASE where several sets have one of that id. The id of an audit shows the audit, and
    with CASE the mutants that survive: what was recorded, what was planted, and why the case passes.

    Exit codes: 0 it was shown (whatever the verdict was), 2 there is no such run or case;
    with --wait: as `proctor eval`, and 3 if the run is not complete in time.
    """
    from proctor.cli.outputs import output_guard, reported_errors

    if case is None:
        with reported_errors(options, lambda: output_guard({**options, "store": store})):
            if code := show_run(run, store, options, sys.stdout):
                raise click.exceptions.Exit(code)
    else:
        show_case(run, case, store, options, sys.stdout)


# --- Implementation of `proctor show` ---------------------------------------------------------------------------------


def show_run(name: str, store_url: str | None, options: Mapping[str, Any], stdout: TextIO) -> int:
    """Show a run as the terminal report of `proctor eval` does; return the exit code.

    Raises:
        SetupError: the run or the scoring does not exist, an option does not apply, or `latest` is requested for a report
            although the last attempt to run failed.
    """
    from proctor.cli.outputs import output_guard, parse_outputs, write_outputs
    from proctor.reports.content.summary import exit_code_of_runs
    from proctor.runs.storage.join_run import wait_for_end
    from proctor.runs.storage.open import open_runs
    from proctor.schema.results.manifest import scoring_number
    from proctor.schema.results.run_result import RunKind

    if options["trials"]:
        raise SetupError("--trial is about one case: name it after the run (proctor show RUN CASE --trial N)")
    form = "json" if options["as_json"] else options["format_"]
    guard = partial(output_guard, {**options, "store": store_url})
    outputs = parse_outputs(options["reports"], form, guard)
    with closing(open_runs(store_url, read_only=True)) as store:
        run_id = _find(store, name, is_for_people=not outputs)
        if store.record(run_id).kind is RunKind.AUDIT:
            _show_audit(store, run_id, None, options, stdout)
            return ExitCode.PASSED
        late = wait_for_end(store, run_id, options["wait_timeout"]) if options["wait"] else ""
        scoring = scoring_number(store.scorings(run_id), options["scoring"])
        result = store.load(run_id, scoring)
        if not any(output.path is None for output in outputs):
            _show_for_people(store, result, scoring, stdout)
        if not write_outputs(
            outputs, [result], stdout, verbose=bool(common().verbose), store=store, scoring=scoring
        ):
            return ExitCode.ERROR
    if late:
        notify(late)
        return ExitCode.ERROR
    return exit_code_of_runs([result]) if options["wait"] else ExitCode.PASSED


def _find(store: Store, name: str, *, is_for_people: bool) -> str:
    """Return the id of the run. If `latest` is older than a failed attempt, warn a person, but raise for a report or JSON."""
    from proctor.runs.attempts import find_current_run, warning_of_attempt

    if not is_for_people:
        return find_current_run(store, name, with_audits=True)
    try:
        run_id = store.find(name, None)
    except UnknownNameError as error:
        if hint := _case_hint(store, name):
            raise UnknownNameError(f"No run named {name!r}. {hint}", error.known) from None
        raise
    if warning := warning_of_attempt(store, name):
        notify(warning)
    return run_id


_MOST_SEARCHED = 20


def _case_hint(store: Store, name: str) -> str:
    """Return the command that shows the case `name` of the newest run that has it; empty if no recent run has it."""
    from proctor.runs.storage.lookup import find_case

    for age, entry in enumerate(store.index()[:_MOST_SEARCHED]):
        with suppress(SetupError):
            find_case(store.planned(entry.run_id), name)
            run = "latest" if age == 0 else entry.run_id
            return f"It is a case of the run {entry.run_id}: `proctor show {run} {shlex.quote(name)}`"
    return ""


def _show_for_people(store: Store, result: RunResult, scoring: int, stdout: TextIO) -> None:
    from proctor.cli.outputs import report_for
    from proctor.reports.content.run_list import write_run_header
    from proctor.runs.storage.lookup import listed_run
    from proctor.runs.storage.open import store_option
    from proctor.schema.results.manifest import RunState

    report_options = terminal_options()
    entry = listed_run(store, result.run_id)
    write_run_header(entry, scoring, stdout, options=report_options)
    report_for(stdout).write([result], stdout, options=report_options)
    if entry.run.state is RunState.UNFINISHED:
        notify(_resume_hint(entry, store_option(store)))
    elif (last := store.scorings(result.run_id)[-1]).number > entry.run.scoring:
        notify(
            f"scoring {last.number} does not count: it was interrupted, or the run was resumed after it. "
            f"`proctor score {entry.short}{store_option(store)}` re-scores the whole run"
        )


def _resume_hint(entry: ListedRun, store: str) -> str:
    """Return the message for an unfinished run: the command, with the option `store`, that resumes it or removes a partial import."""
    if entry.imported_from:
        return (
            f"incomplete: its import from {entry.imported_from} was interrupted. "
            f"`proctor prune --run {entry.short}{store}` deletes it, and the file can be imported again"
        )
    return f"unfinished: `proctor resume {entry.short}{store}` resumes it"


def show_case(
    name: str, case: str, store_url: str | None, options: Mapping[str, Any], stdout: TextIO
) -> None:
    """Show all details of one case of a run.

    Raises:
        SetupError: the run, case, trial or scoring does not exist, or an option does not apply.
    """
    from proctor.reports.content.case_blocks import write_case
    from proctor.runs.storage.lookup import find_case, lacks_reasons, listed_run, view_case
    from proctor.runs.storage.open import open_runs
    from proctor.schema.results.manifest import scoring_number
    from proctor.schema.results.run_result import RunKind

    if options["wait"]:
        raise SetupError("--wait is about a whole run: leave the case out")
    if options["reports"] or options["format_"]:
        raise SetupError("--report and --format are about a whole run: leave the case out, or use --json")
    with closing(open_runs(store_url, read_only=True)) as store:
        run_id = _find(store, name, is_for_people=not options["as_json"])
        if store.record(run_id).kind is RunKind.AUDIT:
            _show_audit(store, run_id, case, options, stdout)
            return
        scoring = scoring_number(store.scorings(run_id), options["scoring"])
        planned = find_case(store.planned(run_id), case)
        view = view_case(store, listed_run(store, run_id), planned, scoring)
    view = replace(view, trials=_trial_indexes(options["trials"], view.case))
    if options["as_json"]:
        stdout.write(_as_json(view))
    else:
        write_case(view, stdout, options=terminal_options())
        if lacks_reasons(view.case):
            stdout.flush()
            notify(
                "Why turns passed was not kept, only why they missed. "
                f"`proctor score {view.short} --details` finds it out and keeps it (no agent is called)"
            )


_OF_RUNS = {"scoring": "--scoring", "trials": "--trial", "reports": "--report", "wait": "--wait"}


def _show_audit(
    store: Store, run_id: str, case: str | None, options: Mapping[str, Any], stdout: TextIO
) -> None:
    """Show an audit, or the mutants that survive in one of its cases."""
    from proctor.authoring.audit.audit_report import WRITERS, AuditView, write_for_people
    from proctor.authoring.audit.stored_audit import load_audit, load_case_audit

    form = "json" if options["as_json"] else options["format_"]
    unfit = [flag for name, flag in _OF_RUNS.items() if options[name]]
    if unfit or form not in (None, *WRITERS):
        what = unfit[0] if unfit else f"--format {form}"
        raise SetupError(
            f"{what} is about a run, and {run_id} is an audit: show it without, or with --format {', '.join(WRITERS)}"
        )
    result = load_audit(store, run_id) if case is None else load_case_audit(store, run_id, case)
    audit = AuditView(
        result, terminal_options(), eval_id=None if case is None else next(result.cases).eval_id
    )
    write = write_for_people if form is None else WRITERS[form]
    write(audit, stdout)


def _trial_indexes(numbers: Sequence[int], case: CaseResult) -> list[int]:
    """Return the trials to show, numbered from 0."""
    there = [trial.number + 1 for trial in case.trials]
    unknown = [number for number in numbers if number not in there]
    if unknown:
        raise UnknownNameError(
            f"--trial {unknown[0]}: the case has {f'trials 1 to {there[-1]}' if there else 'no trial'}"
        )
    return [number - 1 for number in numbers]


def _as_json(view: StoredCase) -> str:
    """Return the case as in the JSON report, with all its scorings."""
    trials = [trial for trial in view.case.trials if not view.trials or trial.number in view.trials]
    data = {
        "run_id": view.run_id,
        "agent": view.agent,
        "started_at": view.began,
        "judging": view.scoring,
        "calibrations": dict(view.badges),
        "case": _case_json(replace(view.case, trials=trials)),
        "earlier_attempts": [
            {"trial": number, "evidence": attempt.model_dump(mode="json", exclude_none=True)}
            for number, attempts in view.earlier.items()
            for attempt in attempts
        ],
        "judgings": [
            {
                "number": judged.number,
                "created_at": judged.created_at,
                "config_source": judged.criteria,
                "outcome": judged.case.outcome.value,
                "reason": judged.case.reason,
                "metrics": {
                    name: {
                        "outcome": metric.outcome.value,
                        "score": metric.score,
                        "threshold": metric.threshold,
                    }
                    for name, metric in judged.case.metrics.items()
                },
            }
            for judged in view.history
        ],
    }
    return clean_json(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def _case_json(case: CaseResult) -> Any:
    from proctor.reports.formats.json import JsonReport
    from proctor.schema.results.run_result import RunResult

    text = io.StringIO()
    JsonReport().write([RunResult("", cases=[case])], text)
    return json.loads(text.getvalue())["runs"][0]["cases"][0]
