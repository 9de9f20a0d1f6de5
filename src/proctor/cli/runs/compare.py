"""`proctor compare`: test whether a candidate run is worse than a baseline run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import click

from proctor.analysis.compare.baselines import load_baseline
from proctor.analysis.compare.case_diff import case_diff_data, diff_case, write_case_diff
from proctor.analysis.compare.comparison_report import WRITERS, Writer, write_comparison_error
from proctor.analysis.compare.sides import find_run
from proctor.cli.command_base import (
    SHOW,
    NumberType,
    SectionedCommand,
    argument,
    common_options,
    format_option,
    option,
    output_options,
    store_option,
    terminal_options,
)
from proctor.cli.outputs import ResultReports, output_guard, write_result
from proctor.errors import SetupError, UnknownNameError
from proctor.reports.base import ReportOptions
from proctor.reports.formats.json_text import write_json
from proctor.runs.storage.lookup import find_case
from proctor.runs.storage.open import open_runs
from proctor.schema.analysis.comparison import Comparison
from proctor.stores.baselines import is_file

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
@argument("words", nargs=-1, metavar="[BASE] [CANDIDATE] [CASE]", completes="COMPARED")
@option(
    "--baseline",
    section=HOW,
    metavar="NAME",
    completes="BASELINE",
    help="Compare with this stored baseline: a name (`proctor baseline list`), or a file that ends in .json.",
)
@option(
    "--margin",
    section=HOW,
    type=NumberType(float, above=0, below=1),
    metavar="D",
    help="Require proof that the pass rate did not drop by more than this.  [as the candidate was run, or 0.05: 5 points, "
    "not required]",
)
@option(
    "--require-proof",
    section=HOW,
    is_flag=True,
    help="Inconclusive, not passed, as long as a drop larger than the margin is not ruled out.",
)
@option(
    "--generalize",
    section=HOW,
    is_flag=True,
    help="A significant drop in general, for cases like these, is a regression, too.",
)
@option(
    "--deterministic/--no-deterministic",
    section=HOW,
    default=None,
    help="The agent always does the same: one trial that now fails is a regression.  [as the candidate was run]",
)
@option(
    "--confidence",
    section=HOW,
    type=NumberType(float, above=0.5, below=1),
    default=0.95,
    metavar="C",
    help="One minus the probability of a false regression.  [0.95]",
)
@option(
    "--changed-cases",
    section=HOW,
    type=click.Choice(["leave-out", "keep"]),
    default="leave-out",
    help="Leave out or keep the cases whose content differs between the runs.  [leave-out]",
)
@option(
    "--changed-metrics",
    section=HOW,
    type=click.Choice(["leave-out", "keep"]),
    default="leave-out",
    help="Leave out or keep the metrics that were scored differently in the two runs, and the verdicts that depend on them.  [leave-out]",
)
@option(
    "--strict",
    section=HOW,
    is_flag=True,
    help="Refuse to compare if the runs differ in more than the agent.",
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
    help="Also write the comparison as json, markdown (md), github (annotations), text or html (the page as one file); - is stdout; may be repeated.",
)
@format_option
@output_options(SHOW)
@store_option
@common_options
@click.pass_context
def compare(
    ctx: click.Context, /, words: tuple[str, ...], *, baseline: str | None, store: str | None, **options: Any
) -> None:
    """Compare two runs case by case: did the candidate get worse?

    A run is an id, the beginning of one, `latest`, or `latest~1` (the one before it, also called
    `previous`). Cases are paired by eval set and id; those that now fail come first. The outcome is
    about these cases: regression, improvement, no regression (a drop larger than --margin is ruled
    out), no difference seen (nothing fell), or inconclusive, with the commands that would decide.
    A second line answers whether cases like these would get worse.

    With CASE, the id of a case or SET/CASE: a trial of each run side by side, from the first turn
    that differs, with the scores of both (exit code always 0).

    Exit codes: 0 no difference, no regression or an improvement, 1 regression, 2 the runs cannot
    be compared, 3 missing verdicts could be a regression, neither run could run a set, or nothing
    could be compared, 4 inconclusive.
    """
    base, candidate, case = _parse_words(words, has_base=baseline is not None)
    if case is not None:
        _show_case(base, candidate, case, baseline, store, options)
        return
    reports = reports_of(options, store, baseline or "")
    with reports.reported_errors(options["reports"], options["format_"]):
        code = _compare(base, candidate, baseline, store, options, reports)
    ctx.exit(code)


def _show_case(
    base: str, candidate: str, case: str, baseline: str | None, store: str | None, options: Mapping[str, Any]
) -> None:
    as_json = options["format_"] == "json"
    if options["reports"] or (options["format_"] and not as_json):
        raise SetupError("--report and --format are about whole runs: leave the case out, or give --json")
    if baseline is not None:
        base = run_of_baseline(baseline, store)
    show_parting((base, candidate), case, store, sys.stdout, None if as_json else terminal_options())


def _compare(
    base: str,
    candidate: str,
    baseline: str | None,
    store: str | None,
    options: Mapping[str, Any],
    reports: ResultReports[Comparison],
) -> int:
    from proctor.analysis.compare.compare_runs import compare_sync
    from proctor.analysis.compare.comparison_report import write_comparison

    outputs = reports.outputs(options["reports"], options["format_"])
    comparison = compare_sync(
        base,
        candidate,
        store=store,
        margin=options["margin"],
        confidence=options["confidence"],
        require_proof=options["require_proof"],
        generalize=options["generalize"],
        deterministic=options["deterministic"],
        keep_changed_cases=options["changed_cases"] == "keep",
        keep_changed_metrics=options["changed_metrics"] == "keep",
        strict=options["strict"],
        baseline=baseline,
    )
    if not any(output.path is None for output in outputs):
        write_comparison(comparison, sys.stdout, options=terminal_options())
    write_result(outputs, comparison, sys.stdout)
    return comparison.exit_code


def _parse_words(words: Sequence[str], *, has_base: bool) -> tuple[str, str, str | None]:
    """Parse BASE, CANDIDATE and CASE; `--baseline` replaces BASE."""
    most = 2 if has_base else 3
    if len(words) > most:
        what = "CANDIDATE and CASE in addition to --baseline" if has_base else "BASE, CANDIDATE and CASE"
        raise click.UsageError(f"expected at most {what}, got {' '.join(words)!r}")
    base, candidate, case = [*([""] if has_base else []), *words, *[""] * (most - len(words))]
    return base or "previous", candidate or "latest", case or None


# --- Implementation of `proctor compare`: its reports, and one case side by side --------------------------------------


def reports_of(
    options: Mapping[str, Any], store_url: str | None, baseline: str = ""
) -> ResultReports[Comparison]:
    """Return the reports of a comparison; `store_url` is the store of the runs, `baseline` the name of a stored baseline."""
    inputs = [Path(baseline)] if baseline and is_file(baseline) else []
    guard = partial(output_guard, {**options, "store": store_url}, inputs=inputs)
    page = partial(_page_writer, store_url, baseline)
    return ResultReports("comparison", WRITERS, page, write_comparison_error, guard)


def _page_writer(store_url: str | None, baseline: str) -> Writer:
    from proctor.web.pages.bundle.single_file import read_page
    from proctor.web.pages.bundle.store_pages import write_comparison_file

    page = read_page()

    def write(comparison: Comparison, out: TextIO) -> None:
        with closing(open_runs(store_url, read_only=True)) as store:
            write_comparison_file(store, comparison, page, out, baseline=baseline)

    return write


def run_of_baseline(name: str, store_url: str | None) -> str:
    """Return the id of the run of a baseline. The run must be in the store, because a baseline contains no evidence.

    Raises:
        UnknownNameError: the baseline does not exist, or its run is not in the store.
        EvalFileError: the baseline cannot be read.
    """
    run_id = load_baseline(name, store_url).run_id
    with closing(open_runs(store_url, read_only=True)) as store:
        try:
            return store.find(run_id)
        except UnknownNameError:
            raise UnknownNameError(
                f"The run {run_id} of the baseline {name} is not in {store.name}, and a case side by side takes what its agent "
                "did: leave the case out, or name the store that has it with --store"
            ) from None


def show_parting(
    names: tuple[str, str], case: str, store_url: str | None, stdout: TextIO, options: ReportOptions | None
) -> None:
    """Show one case of two runs side by side; write JSON if `options` is `None`.

    Raises:
        SetupError: a run or the case does not exist.
    """
    with closing(open_runs(store_url, read_only=True)) as store:
        runs = [find_run(store, name) for name in names]
        cases = [store.load(run).cases[find_case(store.planned(run), case).position] for run in runs]
        two = diff_case(*cases)
        if options is None:
            write_json(case_diff_data(two), stdout)
        else:
            write_case_diff(two, stdout, options=options)
