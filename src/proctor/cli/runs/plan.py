"""`proctor plan`: compute how many cases and trials detect a drop (power analysis)."""

from __future__ import annotations

import sys

import click

from proctor.cli.command_base import SHOW, SectionedCommand, argument, common_options, option, store_option

WHAT = "What to see"

EXAMPLES = """
proctor plan                               to see a drop of 5 points, by the newest run
proctor plan 7f3k2c --detect 0.02 --power 0.9
proctor plan --metric response_match_score --detect 0.1
proctor plan --trials 1,4,8 --json
"""


def counts(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Parse whole numbers that are separated by commas."""
    if value is None:
        return None
    try:
        return tuple(int(word) for word in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"give one or more whole numbers, separated by commas; got {value!r}"
        ) from None


@click.command("plan", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", default="latest", metavar="[RUN]")
@option(
    "--detect",
    section=WHAT,
    type=float,
    default=0.05,
    metavar="D",
    help="The detectable drop: of the pass rate, or of each --metric in its own units.  [0.05: 5 points]",
)
@option(
    "--power",
    section=WHAT,
    type=float,
    default=0.8,
    metavar="P",
    help="The power: the probability that such a drop is detected.  [0.8]",
)
@option(
    "--confidence",
    section=WHAT,
    type=float,
    default=0.95,
    metavar="C",
    help="The confidence level: the probability that two equal builds are not reported as different.  [0.95]",
)
@option(
    "--metric",
    "metrics",
    section=WHAT,
    multiple=True,
    metavar="NAME",
    completes="METRIC",
    help="Plan for the scores of this metric instead of pass and fail; may be repeated. (`eval --metrics A,B` selects "
    "the metrics that are computed.)",
)
@option(
    "--trials",
    section=WHAT,
    callback=counts,
    metavar="N,N",
    help="Show the plan for these numbers of trials per case.  [1,2,3,5,10]",
)
@option("--json", "as_json", section=SHOW, is_flag=True, help="The plan as JSON, and nothing else.")
@store_option
@common_options
def plan(
    *,
    run: str,
    detect: float,
    power: float,
    confidence: float,
    metrics: tuple[str, ...],
    trials: tuple[int, ...] | None,
    as_json: bool,
    store: str | None,
) -> None:  # fmt: skip
    """Estimate how many cases and trials detect a drop, from the variance of a run.

    RUN is an id, the beginning of one, `latest` or `latest~1`. Shows the drop that a run of the
    same size detects, then for several numbers of trials the cases needed, and their cost and
    duration as far as the run records them. Nothing is run.
    """
    from proctor.analysis.power.plan import TRIALS, plan_sync
    from proctor.analysis.power.plan_report import run_size_data, write_run_size
    from proctor.reports.formats.json_text import write_json

    size = plan_sync(
        run,
        detect=detect,
        power=power,
        confidence=confidence,
        trials=TRIALS if trials is None else trials,
        metrics=metrics,
        store=store,
    )
    if as_json:
        write_json(run_size_data(size), sys.stdout)
    else:
        write_run_size(size, sys.stdout)
