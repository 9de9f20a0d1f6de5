"""`proctor baseline`: manage named baselines for comparisons."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import (
    SHOW,
    SectionedCommand,
    SectionedGroup,
    argument,
    common_options,
    option,
    output_options,
    store_option,
)
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, clean_json

if TYPE_CHECKING:
    from proctor.schema.analysis.comparison import NamedBaseline

EXAMPLES = """
proctor baseline set main                        the newest run, from now on called main
proctor baseline export main baselines/main.json --make-parents
proctor compare --baseline main
proctor compare --baseline baselines/main.json   without a store, as in CI
"""


@click.group("baseline", cls=SectionedGroup, examples=EXAMPLES)
@common_options
def baseline() -> None:
    """Name runs that others are compared with, and export them as files.

    A baseline is a copy of what a comparison needs of a run. It is stored next to the store, and its
    run is not pruned. Scoring the run again does not change the baseline: set it again.
    """


@baseline.command("set", cls=SectionedCommand, examples="proctor baseline set main 7f3k2c\n")
@argument("name", completes="BASELINE")
@argument("run", default="latest", metavar="[RUN]")
@store_option
@common_options
def set_(*, name: str, run: str, store: str | None) -> None:
    """Make a finished run the baseline NAME, in place of the one that was.

    RUN is an id, the beginning of one, `latest` (the default) or `latest~1`, the one before it.
    """
    from proctor.analysis.compare.baselines import set_baseline

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stored = set_baseline(name, run, store)
    for warning in caught:
        notify(f"warning: {warning.message}")
    click.echo(clean(_line(stored)))


@baseline.command("list", cls=SectionedCommand, examples="proctor baseline list --json\n")
@option("--json", "as_json", section=SHOW, is_flag=True, help="As JSON.")
@store_option
@common_options
def list_(*, as_json: bool, store: str | None) -> None:
    """List the baselines of a store, by name."""
    from proctor.analysis.compare.baselines import list_baselines

    baselines = list_baselines(store)
    if as_json:
        click.echo(
            clean_json(
                json.dumps([one.model_dump(mode="json") for one in baselines], ensure_ascii=False, indent=2)
            )
        )
        return
    for one in baselines:
        click.echo(clean(_line(one)))
    if not baselines:
        notify("No baselines yet. `proctor baseline set NAME RUN` makes one")


@baseline.command("show", cls=SectionedCommand, examples="proctor baseline show main\n")
@argument("name", completes="BASELINE")
@store_option
@common_options
def show(*, name: str, store: str | None) -> None:
    """Write a baseline, the whole of it, to stdout; NAME may be a file that ends in .json."""
    from proctor.analysis.compare.baselines import load_baseline
    from proctor.files.results.baselines import text_of_baseline

    click.echo(clean_json(text_of_baseline(load_baseline(name, store))), nl=False)


@baseline.command("remove", cls=SectionedCommand, examples="proctor baseline remove main\n")
@argument("name", completes="BASELINE")
@store_option
@common_options
def remove(*, name: str, store: str | None) -> None:
    """Forget the baseline NAME; its run stays, and may be pruned from now on."""
    from proctor.analysis.compare.baselines import remove_baseline

    remove_baseline(name, store)
    click.echo(clean(f"removed {name}"))


@baseline.command(
    "export",
    cls=SectionedCommand,
    examples="proctor baseline export main baselines/main.json --make-parents\n",
)
@argument("name", completes="BASELINE")
@argument("file", type=click.Path())
@output_options("What to write")
@store_option
@common_options
def export(*, name: str, file: str, store: str | None, overwrite: bool, make_parents: bool) -> None:
    """Write a baseline to a file that goes with the code: `compare --baseline FILE` needs no store for it."""
    from proctor.analysis.compare.baselines import export_baseline

    path = export_baseline(name, file, store, overwrite=overwrite, make_parents=make_parents)
    click.echo(f"{path}: baseline {clean(name)}, {path.stat().st_size:,} bytes")


def _line(one: NamedBaseline) -> str:
    from proctor.reports.content.run_list import when
    from proctor.reports.plain import fields

    runs = f"runs={one.num_runs}" if one.num_runs > 1 else ""
    return fields(
        one.name, f"run={one.run_id}", when(one.started_at), f"agent={one.agent}", f"cases={one.cases}", runs
    )
