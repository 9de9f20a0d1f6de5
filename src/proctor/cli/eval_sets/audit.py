"""`proctor audit`: test eval sets by mutation: which faults would their cases notice?"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from proctor.cli.command_base import (
    SHOW,
    NumberType,
    SectionedCommand,
    argument,
    common,
    common_options,
    option,
    report_outputs,
    terminal_options,
)
from proctor.cli.messages import notify
from proctor.cli.outputs import HTML, ResultOutput, ResultReports, output_guard, write_result
from proctor.cli.run_flags import run_options
from proctor.errors import SetupError
from proctor.runs.storage.open import store_url
from proctor.schema.results.exit_code import ExitCode
from proctor.stores.open import split_url

if TYPE_CHECKING:
    from proctor.authoring.audit.audit_baseline import AuditChange
    from proctor.authoring.audit.audit_report import AuditView, Writer
    from proctor.schema.analysis.audit_result import AuditResult

HOW = "How to audit"

JUDGED = "judge", "max_judge_calls", "max_cost"
"""A judge is asked if one of these is given."""

EXAMPLES = """
proctor audit booking.evalset.json
proctor audit evals/ --config strict.json -v
proctor audit booking.evalset.json --mutants answers,argument-changed
proctor audit booking.evalset.json --case two_turn_booking
proctor audit booking.evalset.json --fail-under 0.9 --report md=audit.md
proctor audit booking.evalset.json --baseline main.json
proctor audit booking.evalset.json --agent agent.py
proctor audit scenarios.evalset.json --from latest
proctor audit booking.evalset.json --judge openai:gpt-5 --max-judge-calls 100
"""


@click.command("audit", cls=SectionedCommand, examples=EXAMPLES)
@argument("sets", nargs=-1, required=True, metavar="SET...")
@run_options(["config"], section=HOW)
@option("--agent", section=HOW, metavar="AGENT",
        help="Check whether this agent could see the expected values: in its environment, its code and the files that it opens. "
             "An agent in Python answers up to three cases for that.")  # fmt: skip
@option("--from", "from_run", section=HOW, metavar="RUN",
        help="Mutate the conversations of the trials of this run that passed, also of scenarios, which record none.")  # fmt: skip
@run_options(["judge", "max_judge_calls", "max_cost"], section=HOW, unset={
    "judge": "none is asked", "max_judge_calls": "200 if a judge is asked"})  # fmt: skip
@option(
    "--mutants",
    section=HOW,
    metavar="LIST",
    help="Make only these mutants: families (calls, answers, state, conversation) or operators such as wrong-number, "
    "separated by commas.  [all]",
)
@option("--seed", section=HOW, type=NumberType(least=0), default=0, metavar="N",
        help="Choose other mutants where there are many.  [0]")  # fmt: skip
@option("--fail-under", section=HOW, type=NumberType(float, least=0, most=1), metavar="SHARE",
        help="Exit with 1 if a smaller share of the mutants is caught, an agent that does nothing passes a case, the recorded "
             "conversation of a case does not pass, or --agent could see expected values.")  # fmt: skip
@option("--baseline", section=HOW, type=click.Path(path_type=Path), metavar="FILE",
        help="An earlier audit (--json). Exit with 1 if a mutant that it caught is not caught now.")  # fmt: skip
@run_options(["allow_unknown_keys"])
@option("--store", section=HOW, metavar="URL",
        help="Where the audit is kept, apart from the runs of agents: a path, a URL, or memory: for nowhere. With --case it is "
             "not kept.  [the project's .proctor/store.sqlite3]")  # fmt: skip
@option("--case", section=SHOW, metavar="ID",
        help="Show the mutants that survive in this case: what was recorded, what was planted, and why the case passes.")  # fmt: skip
@report_outputs(
    "Also write the audit as json, markdown (md; for a pull request), github (annotations), text or html (the page as one file)"
)
@common_options
@click.pass_context
def audit(ctx: click.Context, /, sets: tuple[str, ...], **options: Any) -> None:
    """Test eval sets by mutation: which faults would their cases notice?

    The recorded conversation of a case is an agent that must pass. Each mutant of it has one fault:
    a call is missing, a number in the answer is wrong, a sentence is negated. A case catches a mutant
    if it does not pass. Agents that do nothing must fail, too. The metrics and criteria are those of
    `proctor eval`. No model is called but that of --judge, and no agent but that of --agent; without
    --judge, metrics that ask a judge are left out.
    The audit is kept with its mutants: `proctor show AUDIT CASE` shows those that a case does not
    notice. No list of runs has it; `proctor runs --kind audit` does.

    Exit codes: 0 audited, 1 below --fail-under or worse than --baseline, 2 configuration error,
    3 no mutant could be scored.
    """
    reports = _reports(options)
    with reports.reported_errors(options["reports"], options["format_"]):
        result, change = _audit(sets, options, reports)
    if common().verbose:
        for warning in result.warnings:
            notify(f"warning: {warning}")
    ctx.exit(_exit_code(result, options["fail_under"], change))


def _audit(
    sets: Sequence[str], options: Mapping[str, Any], reports: ResultReports[AuditView]
) -> tuple[AuditResult, AuditChange | None]:
    """Audit the sets and write the reports; return the result, and how it differs from --baseline."""
    from proctor.authoring.audit.audit_baseline import compare_with, load_baseline
    from proctor.authoring.audit.audit_report import AuditView, write_for_people

    outputs = reports.outputs(options["reports"], options["format_"])
    store = _store(options, outputs)
    earlier = None if options["baseline"] is None else load_baseline(options["baseline"], options["seed"])
    result = _make(sets, options, store)
    change = None if earlier is None else compare_with(earlier, result)
    audit = AuditView(result, terminal_options(), change, options["case"])
    if not any(output.path is None for output in outputs):
        write_for_people(audit, sys.stdout)
    write_result(outputs, audit, sys.stdout)
    return result, change


def _make(sets: Sequence[str], options: Mapping[str, Any], store: str | None) -> AuditResult:
    from proctor.authoring.audit.audit_sets import audit_sync
    from proctor.cli.run_flags import read_settings
    from proctor.runs.setup.settings import audited_judge, prepare_process

    settings, mutants = read_settings(), options["mutants"]
    prepare_process(settings)
    return audit_sync(
        list(sets),
        config=options["config"] or settings.config,
        notify=notify,
        mutants=None if mutants is None else [name.strip() for name in mutants.split(",") if name.strip()],
        proposals=options["case"] is None,
        store=store,
        allow_unknown_keys=options["allow_unknown_keys"] or settings.options.get("allow_unknown_keys", False),
        **{name: options[name] for name in ("agent", "from_run", "seed", "case")},
        **audited_judge(options, settings),
    )


# --- Its store and its reports ----------------------------------------------------------------------------------------


def _store(options: Mapping[str, Any], outputs: Sequence[ResultOutput[AuditView]]) -> str | None:
    """Return the URL of the store; `None` if the audit is not kept: in memory, or because only one case is shown.

    Raises:
        SetupError: a report needs a stored audit.
    """
    if options["case"] is not None and any(options[name] is not None for name in JUDGED):
        raise SetupError(
            "--case keeps nothing, and the answers of a judge cost money: audit without --case, then `proctor show AUDIT CASE`"
        )
    url = store_url(options["store"])
    is_kept = options["case"] is None and split_url(url)[0] != "memory"
    if not is_kept and any(output.name == HTML for output in outputs):
        raise SetupError(
            "--report html shows an audit that is kept: leave --case and --store memory: out, or choose another report"
        )
    return url if is_kept else None


def _reports(options: Mapping[str, Any]) -> ResultReports[AuditView]:
    from proctor.authoring.audit.audit_report import WRITERS, write_audit_error

    inputs = [options["baseline"]] if options["baseline"] is not None else []
    guard = partial(output_guard, options, inputs=inputs)
    return ResultReports("audit", WRITERS, partial(page_writer, options["store"]), write_audit_error, guard)


def page_writer(url: str | None) -> Writer:
    """Return what writes a stored audit as its page in one file; `url` is the store.

    Raises:
        SetupError: the page is not built.
    """
    from proctor.runs.storage.open import open_runs
    from proctor.web.pages.bundle.single_file import read_page
    from proctor.web.pages.bundle.store_pages import write_audit_file

    page = read_page()

    def write(audit: AuditView, out: TextIO) -> None:
        with closing(open_runs(url, read_only=True)) as store:
            write_audit_file(store, audit.result.run_id, page, out)

    return write


def _exit_code(audit: AuditResult, fail_under: float | None, change: AuditChange | None) -> int:
    from proctor.authoring.audit.audit_sentence import shortfall

    if change is not None and change.is_worse:
        return ExitCode.FAILED
    if audit.score.share is None:
        return ExitCode.ERROR
    if fail_under is not None and (problem := shortfall(audit, fail_under)):
        notify(f"--fail-under: {problem}")
        return ExitCode.FAILED
    return ExitCode.PASSED
