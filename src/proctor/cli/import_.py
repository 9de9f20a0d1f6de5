"""`proctor import`: results from files become runs of the store."""

from __future__ import annotations

from contextlib import closing

import click

from proctor.cli.common import SectionedCommand, common_options
from proctor.cli.failures import say
from proctor.cli.stored import store_option
from proctor.sanitize import clean

EXAMPLES = """
proctor import agent/.adk/eval_history/agent_booking_1766303551.164163.evalset_result.json
proctor import agent/.adk/eval_history
proctor import run.json run.jsonl
"""


@click.command("import", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@store_option
@common_options
def import_command(files: tuple[str, ...], *, store: str | None) -> None:
    """Take results from files into the store, as runs.

    FILE is a result of google-adk (*.evalset_result.json, of any version), a folder of them, a JSON
    report, or JSON Lines as `proctor export` writes them. What was recorded is taken over as it is.
    google-adk's files also say what was expected, so that `proctor score` can judge them again.
    """
    from proctor.api.importing_runs import import_runs
    from proctor.api.runs import open_store
    from proctor.reports.summary import sentence

    with closing(open_store(store)) as opened:
        for file in files:
            for run_id in import_runs(file, opened):
                run = opened.load(run_id)
                click.echo(clean(f"{run_id}  {file}  {sentence(run)}"))
                if run.failure is not None:
                    say(f"{file}: {run.failure.message}")
