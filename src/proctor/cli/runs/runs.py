"""`proctor runs`: list the stored runs and their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    common_options,
    option,
    store_option,
    terminal_options,
)
from proctor.cli.runs.times import MomentType

if TYPE_CHECKING:
    from proctor.reports.content.run_list import ListedRun
    from proctor.runs.storage.queries import RunFilter
    from proctor.schema.results.manifest import RunRecord
    from proctor.schema.results.run_result import RunKind
    from proctor.stores.base import Store

WHICH, SHOW = "Which runs", "What to show"
LIMIT = 20
"""Default number of runs in the list; JSON contains all runs."""

EXAMPLES = """
proctor runs
proctor runs --outcome failed --since 7d
proctor runs --agent 'travel*' --set booking
proctor runs --json
"""


@click.command("runs", cls=SectionedCommand, examples=EXAMPLES)
@option(
    "--agent",
    section=WHICH,
    metavar="NAME",
    completes="AGENT_LABEL",
    help="Only runs of this agent, by its label in the list (elsewhere --agent takes an AGENT); * and ? are wildcards.",
)
@option(
    "--set",
    "eval_set",
    section=WHICH,
    metavar="ID",
    completes="SET_ID",
    help="Only runs with the eval set of this id (elsewhere --set takes a file); * and ? are wildcards.",
)
@option(
    "--outcome",
    "outcomes",
    section=WHICH,
    multiple=True,
    type=click.Choice(["passed", "failed", "error", "inconclusive"]),
    help="Only runs that ended so; may be repeated.",
)
@option(
    "--state",
    "states",
    section=WHICH,
    multiple=True,
    type=click.Choice(["running", "unfinished", "finished"]),
    help="Only runs in this state; may be repeated.",
)
@option(
    "--since",
    section=WHICH,
    type=MomentType(),
    metavar="WHEN",
    help="Only runs that began then or later: 7d (ago), yesterday, 2026-11-20, '2026-11-20 14:00'.",
)
@option("--starred", section=WHICH, is_flag=True, help="Only runs with a star (the web page gives it).")
@option("--until", section=WHICH, type=MomentType(), metavar="WHEN", help="Only runs that began before.")
@option(
    "--kind",
    section=WHICH,
    type=click.Choice(["run", "audit"]),
    default="run",
    help="audit: list the audits of eval sets (`proctor audit`) instead of runs.  [run]",
)
@option(
    "--limit",
    section=SHOW,
    type=NumberType(least=0),
    metavar="N",
    help=f"At most N runs; 0: all.  [{LIMIT}; with --json all]",
)
@option("--json", "as_json", section=SHOW, is_flag=True, help="As JSON, a run on each line.")
@store_option
@common_options
def runs(*, store: str | None, as_json: bool, limit: int | None, **options: Any) -> None:  # fmt: skip
    """List the stored runs, newest first.

    The id in each line is as short as it can be; `latest` is the newest. `proctor show RUN` shows
    its result; `proctor resume RUN` resumes an unfinished run.
    """
    from proctor.cli.messages import notify
    from proctor.runs.storage.open import NoRunsError, open_runs
    from proctor.schema.results.run_result import RunKind

    kind = RunKind(options["kind"])
    try:
        opened = open_runs(store, read_only=True)
    except NoRunsError as problem:
        if store is not None:
            raise
        notify(str(problem))
        _write([], 0, as_json=as_json)
        return
    if limit is None:
        limit = 0 if as_json else LIMIT
    with closing(opened):
        records, more, count = _list_runs(opened, _filter(options, opened), limit, kind)
        if not records and not as_json:
            notify(_no_runs_text(opened, count, kind))
        _write(_list_entries(opened, records), more, as_json=as_json)


def _filter(options: dict[str, Any], store: Store) -> RunFilter:
    from proctor.runs.storage.queries import RunFilter, starred_runs
    from proctor.schema.results.manifest import RunState
    from proctor.schema.results.run_result import Outcome

    return RunFilter(
        agent=options["agent"],
        eval_set=options["eval_set"],
        outcome=[Outcome(name) for name in options["outcomes"]],
        state=[RunState(name) for name in options["states"]],
        since=options["since"],
        until=options["until"],
        run_ids=starred_runs(store) if options["starred"] else None,
    )


def _list_runs(
    store: Store, run_filter: RunFilter, limit: int, kind: RunKind
) -> tuple[list[RunRecord], int, int]:
    """Return the runs to list, the number of further matches, and the number of all runs of that kind."""
    records: list[RunRecord] = []
    more = count = 0
    for run in store.runs(kind):
        count += 1
        if not run_filter.takes(run):
            continue
        if limit and len(records) >= limit:
            more += 1
        else:
            records.append(run)
    return records, more, count


def _list_entries(store: Store, records: Sequence[RunRecord]) -> Iterator[ListedRun]:
    from proctor.reports.content.run_list import ListedRun
    from proctor.reports.content.symbols import short_ids
    from proctor.schema.results.manifest import NO_ANNOTATION

    short = short_ids([entry.run_id for entry in store.index(None)])
    annotations = store.annotations()
    for run in records:
        manifest = store.manifest(run.run_id)
        annotation = annotations.get(run.run_id, NO_ANNOTATION)
        yield ListedRun(run, short[run.run_id], manifest.agent.commit, manifest.imported_from, annotation)


def _no_runs_text(store: Store, count: int, kind: RunKind) -> str:
    if kind == "audit":
        message = f"none of the {count} audits matches" if count else f"no audits yet in {store.name}"
        return f"{message}; `proctor audit SET` keeps its audit"
    if not count and store.index(None):
        return f"no runs yet in {store.name}, only audits (--kind audit). `proctor eval AGENT SET` keeps its runs"
    if not count:
        return f"no runs yet: the store {store.name} is empty. `proctor eval AGENT SET` keeps its runs"
    return f"none of the {count} runs matches; `proctor runs` lists them"


def _write(entries: Iterator[ListedRun] | list[ListedRun], more: int, *, as_json: bool) -> None:
    import sys

    from proctor.reports.content.run_list import write_list, write_list_json

    if as_json:
        write_list_json(entries, sys.stdout)
    elif listed_runs := list(entries):
        write_list(listed_runs, sys.stdout, more=more, options=terminal_options())
