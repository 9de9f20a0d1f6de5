"""`proctor history`: show since when a case fails or passes, and what changed between the runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    SHOW,
    NumberType,
    SectionedCommand,
    argument,
    common_options,
    option,
    store_option,
    terminal_options,
)
from proctor.cli.runs.times import MomentType

if TYPE_CHECKING:
    from proctor.schema.analysis.history import RunHistory

WHICH = "Which runs"
LIMIT = 50

EXAMPLES = """
proctor history                             what fails since when, what is flaky
proctor history refund                      one case, run by run
proctor history booking/refund --metric response_match_score
proctor history --agent 'travel*' --since 30d
proctor history --metric response_match_score
"""


@click.command("history", cls=SectionedCommand, examples=EXAMPLES)
@argument("case", required=False, metavar="[CASE]")
@option(
    "--agent",
    section=WHICH,
    metavar="NAME",
    completes="AGENT_LABEL",
    help="Only runs of this agent, by its label in `proctor runs` (elsewhere --agent takes an AGENT); * and ? are wildcards.",
)
@option(
    "--set",
    "eval_set",
    section=WHICH,
    metavar="ID",
    completes="SET_ID",
    help="Only cases of the eval set with this id (elsewhere --set takes a file); * and ? are wildcards.",
)
@option(
    "--combine-agents",
    section=WHICH,
    is_flag=True,
    help="Treat the runs of all agents as one history, for an agent that was renamed.",
)
@option(
    "--since",
    section=WHICH,
    type=MomentType(),
    metavar="WHEN",
    help="Only runs that began then or later: 30d (ago), yesterday, 2026-11-20.",
)
@option(
    "--limit",
    section=WHICH,
    type=NumberType(least=0),
    default=LIMIT,
    metavar="N",
    help=f"At most the newest N runs; 0: all.  [{LIMIT}]",
)
@option(
    "--metric",
    section=SHOW,
    default="",
    metavar="NAME",
    completes="METRIC",
    help="Show the score of this metric over the runs, with its 95 % confidence interval; `passed` is the share of cases.",
)
@option("--json", "as_json", section=SHOW, is_flag=True, help="The history as JSON, and nothing else.")
@store_option
@common_options
def history(
    *, case: str | None, store: str | None, metric: str, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Show across many runs since when a case fails or passes, and what is flaky.

    Cases that matter come first: those that now fail, failed, have missing verdicts, are flaky (the
    outcome changed although no known property of the run did, or it alternates), now pass. If two
    runs differ in more than the agent, the differences are listed. Each agent has its own history.

    The pass rate of each run is drawn with its 95 % confidence interval, and with what changed since
    the run before: you changed something (code, cases, config, a package), or the provider did (these
    are the same, and other models answered or the results differ significantly).

    With CASE, the id of a case or SET/CASE: one line a run, newest first, with scores and with
    what was changed since the run before.
    """
    from proctor.analysis.history.history import history_sync

    run_history = history_sync(case, store=store, **options)
    if not run_history.runs:
        from proctor.errors import UnknownNameError

        raise UnknownNameError("no run matches these options; `proctor runs` lists all runs")
    if metric:
        _check_metric(run_history, metric)
    _write(run_history, metric, as_json=as_json)


def _check_metric(run_history: RunHistory, metric: str) -> None:
    from proctor.errors import UnknownNameError, did_you_mean

    if metric not in run_history.metrics:
        known = ", ".join(run_history.metrics) or "none"
        raise UnknownNameError(
            f"no metric of these runs is called {metric!r}.{did_you_mean(metric, run_history.metrics)} Known: {known}."
        )


def _write(run_history: RunHistory, metric: str, *, as_json: bool) -> None:
    from proctor.analysis.history.history_data import history_data
    from proctor.analysis.history.history_report import write_history
    from proctor.reports.formats.json_text import write_json

    if as_json:
        write_json(history_data(run_history, metric), sys.stdout)
        return
    write_history(run_history, sys.stdout, metric=metric, options=terminal_options())
