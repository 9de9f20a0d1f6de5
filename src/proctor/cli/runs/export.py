"""`proctor export`: write a run in a format for other tools."""

from __future__ import annotations

import sys
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    argument,
    common_options,
    json_option,
    option,
    output_options,
    store_option,
)
from proctor.cli.messages import notify
from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.stores.base import Store

WHAT, WHERE = "What to write", "Where to write it"
_BY_SUFFIX = {
    ".evalset_result.json": "adk",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".xml": "junit",
    ".md": "markdown",
    ".json": "json",
    ".txt": "text",
    ".html": "html",
    ".svg": "svg",
}

EXAMPLES = """
proctor export latest --output run.json
proctor export 7f3k2c --format jsonl | jq 'select(.outcome == "failed")'
proctor export 7f3k2c --output trials.csv
proctor export 7f3k2c --format adk --output results/
"""


@click.command("export", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", default="latest", metavar="[RUN]")
@option(
    "--format",
    "format_",
    section=WHAT,
    metavar="NAME",
    completes="REPORT",
    help="json, jsonl (a line for each trial), csv, csv-raw (cells not made safe for spreadsheets), junit, "
    "markdown, svg, github, html, adk, adk-rs, or another report.  [by the suffix of --output]",
)
@json_option(WHAT)
@option(
    "--scoring",
    old=("--judging",),
    section=WHAT,
    type=NumberType(least=1),
    metavar="N",
    help="The verdicts of scoring N.  [the last]",
)
@option(
    "--app",
    "app_name",
    section=WHAT,
    metavar="NAME",
    help="With adk: the name of the agent's folder there.  [the agent's name]",
)
@option(
    "--output",
    "-o",
    section=WHERE,
    metavar="PATH",
    help="The file; with adk a folder, for a file per eval set, or one *.json.  [stdout]",
)
@output_options(WHERE)
@store_option
@common_options
def export(
    run: str,
    *,
    format_: str | None,
    scoring: int | None,
    app_name: str | None,
    output: str | None,
    store: str | None,
    overwrite: bool,
    make_parents: bool,
) -> None:  # fmt: skip
    """Write a run in a format that other tools read.

    RUN is an id, the beginning of one, `latest` or `latest~1`. JSON and JSON Lines have everything; CSV has a
    row for each trial; adk is google-adk's *.evalset_result.json, which its own tools read. A file
    is whole or not there. `proctor import` reads all but CSV back. An audit is written as json, with the
    evidence of every mutant that survives, as html, markdown, github or text.
    """
    from proctor.cli.outputs import output_guard, reported_errors

    form = format_ or _form_of(output)
    if app_name and form != "adk":
        raise SetupError("--app is about the form of google-adk: it goes with --format adk")
    target = output if output != "-" else None
    how: dict[str, Any] = {"overwrite": overwrite, "make_parents": make_parents}
    requested = [f"{form}={target}"] if target and form != "adk" else []  # adk writes a folder of files
    with reported_errors(
        {"reports": requested, "format_": None}, lambda: output_guard({**how, "store": store})
    ):
        _export(run, form, target, store, scoring=scoring, app_name=app_name, **how)


def _export(
    run: str, form: str, target: str | None, store: str | None, *, scoring: int | None, **how: Any
) -> None:
    from proctor.runs.attempts import find_current_run
    from proctor.runs.storage.export import export_run
    from proctor.runs.storage.lookup import listed_run
    from proctor.runs.storage.open import kept_stores, open_runs
    from proctor.schema.results.manifest import RunState, scoring_number
    from proctor.schema.results.run_result import RunKind
    from proctor.web.pages.bundle.store_pages import StoreExtras

    with closing(open_runs(store, read_only=True)) as opened:
        run_id = find_current_run(opened, run, with_audits=True)
        if opened.record(run_id).kind is RunKind.AUDIT:
            _export_audit(opened, run_id, form, target, **how)
            return
        number = scoring_number(opened.scorings(run_id), scoring)
        result, extras = opened.load(run_id, number), StoreExtras(opened, number)
        stores = kept_stores([opened.url, None])
        for path in export_run(result, form, target or sys.stdout, extras=extras, stores=stores, **how):
            notify(f"{path}: run {run_id} as {form}")
        if listed_run(opened, run_id).run.state is RunState.RUNNING:
            notify(
                f"run {run_id} is under way: this is how far it has come, cases and counts at different moments. "
                "Export it again when it is finished"
            )


def _export_audit(store: Store, run_id: str, form: str, target: str | None, **how: Any) -> None:
    """Write an audit with the evidence of all survivors. Reports of runs do not take mutants."""
    from proctor.authoring.audit.audit_report import WRITERS, AuditView
    from proctor.authoring.audit.stored_audit import load_audit, load_survivors
    from proctor.cli.eval_sets.audit import page_writer
    from proctor.cli.outputs import HTML, output_guard
    from proctor.reports.base import ReportOptions

    if form not in (known := [*WRITERS, HTML]):
        raise SetupError(f"{run_id} is an audit: expected --format {', '.join(known)}, got {form}")
    audit = load_audit(store, run_id)
    if form == "json":
        audit.evidence = [
            each
            for position, case in enumerate(audit.cases)
            if not case.problem
            for each in load_survivors(store, run_id, position)
        ]
    write = page_writer(store.url) if form == HTML else WRITERS[form]
    guard = output_guard({**how, "store": store.url})
    with nullcontext(sys.stdout) if target is None else guard.open(Path(target), f"audit {form}") as out:
        write(AuditView(audit, ReportOptions(verbose=True, color=False)), out)
    if target is not None:
        notify(f"{target}: audit {run_id} as {form}")


def _form_of(output: str | None) -> str:
    """Return the format that the suffix of the file name implies."""
    for suffix, form in _BY_SUFFIX.items():
        if output is not None and output.endswith(suffix):
            return form
    raise SetupError(
        "which form? Give --format json, jsonl, csv, junit, markdown, html or adk, or an --output that ends in .json, .jsonl, .csv, .xml, .md or .html"
    )
