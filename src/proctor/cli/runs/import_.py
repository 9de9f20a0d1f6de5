"""`proctor import`: store results from files as runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options, option, store_option
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, clean_json
from proctor.common.secrets import redact_text

if TYPE_CHECKING:
    from proctor.schema.results.run_result import RunResult
    from proctor.stores.base import Store

EXAMPLES = """
proctor import agent/.adk/eval_history/agent_booking_1766303551.164163.evalset_result.json
proctor import agent/.adk/eval_history
proctor import run.json run.jsonl
proctor import .proctor/store.sqlite3 --store postgresql://ada@db.example.com/proctor
"""


@click.command("import", cls=SectionedCommand, examples=EXAMPLES)
@argument("files", nargs=-1, required=True, metavar="FILE...")
@option("--json", "as_json", section="What to show", is_flag=True, help="What was imported, as JSON.")
@store_option
@common_options
def import_command(files: tuple[str, ...], *, as_json: bool, store: str | None) -> None:
    """Import results from files into the store, as runs.

    FILE is a result of google-adk (*.evalset_result.json, of any version), a folder of them, a JSON
    report, or JSON Lines as `proctor export` writes them. Recorded data is imported unchanged.
    google-adk's files also contain the expectations, so that `proctor score` can score them again.

    FILE can also be another store (its path or URL): all its runs are copied, with every scoring and label.
    """
    from proctor.runs.storage.open import open_store

    entries: list[dict[str, Any]] = []
    with closing(open_store(store)) as opened:
        try:
            for file in files:
                entries += [
                    _report_run(run, redact_text(file), quiet=as_json) for run in _import_file(file, opened)
                ]
        finally:  # files before an unreadable one are already imported
            if as_json:
                click.echo(clean_json(json.dumps({"runs": entries}, ensure_ascii=False)))


def _import_file(file: str, store: Store) -> Iterator[RunResult]:
    from proctor.runs.importing.import_runs import copy_runs, import_runs, is_store

    if not is_store(file):
        yield from [store.load(run_id) for run_id in import_runs(file, store)]
        return
    present = 0
    for run_id, is_new in copy_runs(file, store):
        if is_new:
            yield store.load(run_id)
        present += not is_new
    if present:
        notify(f"{redact_text(file)}: {present} of its runs {'was' if present == 1 else 'were'} here already")


def _report_run(run: RunResult, file: str, *, quiet: bool) -> dict[str, Any]:
    """Print the result of an imported run, and return it as data."""
    from proctor.reports.content.summary import verdict_sentence
    from proctor.reports.formats.json_text import failure_data

    if not quiet:
        click.echo(clean(f"{run.run_id}  {file}  {verdict_sentence(run)}"))
    for warning in run.warnings:
        notify(f"{file}: warning: {warning}")
    if run.failure is not None:
        notify(f"{file}: {run.failure.message}")
    counts = {outcome.value: count for outcome, count in run.counts.items()}
    return {
        "run_id": run.run_id,
        "file": file,
        "outcome": run.outcome.value,
        "counts": counts,
        "failure": failure_data(run.failure),
    }
