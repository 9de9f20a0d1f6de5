"""`proctor compare`: did the candidate get worse?"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.options import SectionedCommand, common, common_options, option
from proctor.cli.run_options import SHOW, output_options, store_option

if TYPE_CHECKING:
    from proctor.reports.base import ReportOptions

HOW = "How to compare"

EXAMPLES = """
proctor compare                            the newest run with the one before it
proctor compare 7f3k2c latest              two runs, by the beginnings of their ids
proctor compare 7f3k2c latest --margin 0.02 --report md=comparison.md
proctor compare previous latest refund     one case side by side: where the two runs part
proctor compare 7f3k2c latest --strict     refuse runs that differ in more than the agent
proctor compare --baseline main            the newest run with the baseline called main
proctor compare --baseline baselines/main.json latest
"""


@click.command("compare", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("words", nargs=-1, metavar="[BASE] [CANDIDATE] [CASE]")
@option(
    "--baseline",
    section=HOW,
    metavar="NAME",
    help="The base is this baseline: a name (`proctor baseline list`), or a file that ends in .json.",
)
@option(
    "--margin",
    section=HOW,
    type=click.FloatRange(min=0, max=1, min_open=True, max_open=True),
    metavar="D",
    help="By how much the pass rate may fall and still be called no worse.  [as the candidate was made, or 0.05: 5 points]",
)
@option(
    "--confidence",
    section=HOW,
    type=click.FloatRange(min=0.5, max=1, min_open=True, max_open=True),
    default=0.95,
    metavar="C",
    help="Of tests and intervals.  [0.95]",
)
@option(
    "--changed-cases",
    section=HOW,
    type=click.Choice(["leave-out", "keep"]),
    default="leave-out",
    help="What becomes of cases whose content is not the same in both runs.  [leave-out]",
)
@option(
    "--changed-metrics",
    section=HOW,
    type=click.Choice(["leave-out", "keep"]),
    default="leave-out",
    help="Whether metrics decide that were not judged alike, and pass and fail, which rest on them.  [leave-out]",
)
@option(
    "--strict",
    section=HOW,
    is_flag=True,
    help="Refuse to compare where the runs differ in more than the agent.",
)
@option(
    "--json",
    "format_",
    section=SHOW,
    flag_value="json",
    help="The comparison (or the two trials of CASE) as JSON, and nothing else.",
)
@option(
    "--report",
    "reports",
    section=SHOW,
    multiple=True,
    metavar="NAME=PATH",
    help="Also write it as json, markdown (md), text or html (the page as one file); - is stdout; may be repeated.",
)
@option("--format", "format_", section=SHOW, metavar="NAME", help="Write it so to stdout, and nothing else.")
@output_options(SHOW)
@store_option
@common_options
@click.pass_context
def compare(
    ctx: click.Context, /, words: tuple[str, ...], *, baseline: str | None, store: str | None, **given: Any
) -> None:
    """Compare two runs case by case: did the candidate get worse?

    A run is an id, the beginning of one, `latest`, or `latest~1` (the one before it, also called
    `previous`). Cases are paired by eval set and id; regressions come first. The outcome is
    regression, improvement, no regression (the pass rate has not fallen by more than --margin) or
    inconclusive, with about how many more cases or trials would tell.

    With CASE, the id of a case or SET/CASE: a trial of each run side by side, from the turn in
    which they part, and what the metrics saw in both (exit code 0, whatever it shows).

    \b
    Exit codes: 0 no regression or an improvement, 1 regression, 2 the runs cannot be compared,
    3 cases that passed could not be judged this time, 4 inconclusive.
    """
    from proctor.cli.runs.comparing import reported_comparison_errors

    base, candidate, case = _named(words, has_base=baseline is not None)
    if case is not None:
        _show_case(base, candidate, case, baseline, store, given)
        return
    with reported_comparison_errors(given, store, baseline or ""):
        code = _compare(base, candidate, baseline, store, given)
    ctx.exit(code)


def _options() -> ReportOptions:
    from proctor.reports.base import ReportOptions

    return ReportOptions(verbose=bool(common().verbose), color=False if common().no_color else None)


def _show_case(
    base: str, candidate: str, case: str, baseline: str | None, store: str | None, given: Mapping[str, Any]
) -> None:
    from proctor.cli.runs.comparing import run_of_baseline, show_parting
    from proctor.errors import SetupError

    as_json = given["format_"] == "json"
    if given["reports"] or (given["format_"] and not as_json):
        raise SetupError("--report and --format are about whole runs: leave the case out, or give --json")
    if baseline is not None:
        base = run_of_baseline(baseline, store)
    show_parting((base, candidate), case, store, sys.stdout, None if as_json else _options())


def _compare(
    base: str, candidate: str, baseline: str | None, store: str | None, given: Mapping[str, Any]
) -> int:
    from proctor.analysis.compare.compare_runs import compare_sync
    from proctor.analysis.compare.reports.write import write_comparison
    from proctor.cli.runs.comparing import parse_places, write_places

    places = parse_places(given, store, baseline or "")
    found = compare_sync(
        base,
        candidate,
        store=store,
        margin=given["margin"],
        confidence=given["confidence"],
        keep_changed_cases=given["changed_cases"] == "keep",
        keep_changed_metrics=given["changed_metrics"] == "keep",
        strict=given["strict"],
        baseline=baseline,
    )
    if not any(place.path is None for place in places):
        write_comparison(found, sys.stdout, options=_options())
    write_places(places, found, sys.stdout)
    return found.exit_code


def _named(words: Sequence[str], *, has_base: bool) -> tuple[str, str, str | None]:
    """Read BASE, CANDIDATE and CASE; with a baseline there is no BASE."""
    most = 2 if has_base else 3
    if len(words) > most:
        what = "CANDIDATE and CASE beside --baseline" if has_base else "BASE, CANDIDATE and CASE"
        raise click.UsageError(f"expected at most {what}, got {' '.join(words)!r}")
    base, candidate, case = [*([""] if has_base else []), *words, *[""] * (most - len(words))]
    return base or "previous", candidate or "latest", case or None
