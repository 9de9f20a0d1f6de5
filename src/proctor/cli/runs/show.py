"""`proctor show`: what came of a run, or everything about one of its cases."""

from __future__ import annotations

import sys
from typing import Any

import click

from proctor.cli.options import SectionedCommand, common, common_options, option
from proctor.cli.run_options import output_options, store_option

SHOW = "What to show"

EXAMPLES = """
proctor show                             the newest run
proctor show 7f3k2c                      a run, by the beginning of its id
proctor show latest two_turn_booking     a case: every trial, evidence and scores
proctor show latest two_turn_booking --trial 3 --judging 1
proctor show latest --report json=out.json
"""


@click.command("show", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("run", default="latest", metavar="[RUN]")
@click.argument("case", required=False, metavar="[CASE]")
@option(
    "--judging",
    section=SHOW,
    type=click.IntRange(min=1),
    metavar="N",
    help="As judging N had it; 1 is the run's own, each `proctor score` adds one.  [the last]",
)
@option(
    "--trial",
    "trials",
    section=SHOW,
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Of a case: only this trial; may be repeated.",
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
    help="Of a run: write this report to stdout, and nothing else.",
)
@output_options(SHOW)
@store_option
@common_options
def show(run: str, case: str | None, *, store: str | None, **given: Any) -> None:  # fmt: skip
    """Show a run, or everything about one of its cases.

    RUN is an id, the beginning of one, `latest` or `latest~1`, the one before it. CASE is the id of a
    case, or SET/CASE where several sets have one of that id.

    \b
    Exit codes: 0 it was shown (whatever the verdict was), 2 there is no such run or case.
    """
    from proctor.cli.error_reports import reported_errors
    from proctor.cli.report_outputs import output_guard
    from proctor.cli.runs.showing import show_case, show_run

    given["verbose"] = bool(common().verbose)
    given["color"] = False if common().no_color else None
    if case is None:
        with reported_errors(given, lambda: output_guard({**given, "store": store})):
            show_run(run, store, given, sys.stdout)
    else:
        show_case(run, case, store, given, sys.stdout)
