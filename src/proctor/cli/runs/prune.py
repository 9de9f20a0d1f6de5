"""`proctor prune`: list runs and delete them after confirmation."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import NumberType, SectionedCommand, common_options, option, store_option
from proctor.cli.messages import is_sure, notify
from proctor.cli.runs.times import Age
from proctor.common.safe_text import clean, clean_json, count_text
from proctor.errors import SetupError

if TYPE_CHECKING:
    from proctor.schema.results.manifest import RunRecord
    from proctor.stores.base import Store

WHICH, HOW = "Which runs", "How"
_MOST_LISTED = 20

EXAMPLES = """
proctor prune --keep 50
proctor prune --older-than 30d
proctor prune --older-than 30d --keep 10 --yes     what is old, but never the newest ten
proctor prune --run 7f3k2c
"""


@click.command("prune", cls=SectionedCommand, examples=EXAMPLES)
@option("--keep", section=WHICH, type=NumberType(least=0), metavar="N", help="All but the newest N.")
@option(
    "--older-than",
    section=WHICH,
    type=Age(),
    metavar="AGE",
    help="Those that began longer ago: 30d, 12h, 2w. With --keep: of these, all but the newest N runs.",
)
@option(
    "--run",
    "names",
    section=WHICH,
    multiple=True,
    metavar="RUN",
    help="This one: an id, the beginning of one, latest or latest~1; may be repeated.",
)
@option("-y", "--yes", section=HOW, is_flag=True, help="Delete without asking.")
@option("--dry-run", section=HOW, is_flag=True, help="Only list what would be deleted.")
@option("--json", "as_json", section=HOW, is_flag=True, help="Print JSON; needs --yes or --dry-run.")
@store_option
@common_options
def prune(
    *,
    keep: int | None,
    older_than: timedelta | None,
    names: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    as_json: bool,
    store: str | None,
) -> None:  # fmt: skip
    """Delete runs that are no longer needed.

    Their evidence is deleted, too: they cannot be shown, scored again or resumed. The command lists
    the runs and asks for confirmation; without a terminal it needs --yes. A run that is in progress
    or a baseline is never deleted.
    """
    from proctor.runs.storage.open import open_runs
    from proctor.runs.storage.queries import prune_runs

    if bool(names) == (keep is not None or older_than is not None):
        raise SetupError(
            "--run names single runs, --keep and --older-than choose: give one or the other"
            if names
            else "which runs are to go? Give --keep N, --older-than AGE or --run RUN"
        )
    if as_json and not (yes or dry_run):
        raise SetupError("--json cannot ask: add --yes to delete them, or --dry-run only to list them")
    with closing(open_runs(store, read_only=True)) as opened:
        doomed = prune_runs(opened, keep=keep, older_than=older_than, runs=names, dry_run=True)
        text = _as_json(doomed, opened, deleted=not dry_run) if as_json else _as_text(doomed, opened)
    if as_json:
        if not dry_run:
            _delete(doomed, store)
        click.echo(text)
    elif not doomed:
        notify("nothing to delete")
    else:
        click.echo(text)
        if not dry_run:
            _delete_if_sure(doomed, store, yes=yes)


def _delete_if_sure(doomed: Sequence[RunRecord], store: str | None, *, yes: bool) -> None:
    question = f"Delete {count_text(len(doomed), 'run')}?"
    if is_sure(question, yes=yes, undone="nothing was deleted", to_do="delete them"):
        click.echo(f"deleted {count_text(_delete(doomed, store), 'run')}")


def _delete(doomed: Sequence[RunRecord], store: str | None) -> int:
    from proctor.runs.storage.open import open_runs
    from proctor.runs.storage.queries import prune_runs

    if not doomed:
        return 0
    with closing(open_runs(store)) as opened, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)  # none of the library of an object store
        deleted = prune_runs(opened, runs=[run.run_id for run in doomed])
    for warning in caught:
        notify(f"warning: {warning.message}")
    return len(deleted)


def _as_json(doomed: Sequence[RunRecord], store: Store, *, deleted: bool) -> str:
    from proctor.reports.content.run_list import ListedRun, run_data

    runs = [run_data(ListedRun(run, run.run_id)) for run in doomed]
    text = json.dumps({"deleted": deleted, "of": len(store.index(None)), "runs": runs}, ensure_ascii=False)
    return clean_json(text)


def _as_text(doomed: Sequence[RunRecord], store: Store) -> str:
    from proctor.reports.content.run_list import state_text, when
    from proctor.reports.content.symbols import short_ids

    short = short_ids([entry.run_id for entry in store.index(None)])
    lines = [f"{count_text(len(doomed), 'run')} of {len(short)} in {store.name}:"]
    for run in doomed[:_MOST_LISTED]:
        cases = count_text(run.cases, "case")
        sets = ", ".join(run.sets)
        lines.append(
            f"  {short[run.run_id]}  {when(run.created_at)}  {run.agent}  {sets}  {cases}  {state_text(run)}"
        )
    if len(doomed) > _MOST_LISTED:
        lines.append(f"  … and {len(doomed) - _MOST_LISTED} older ones")
    return "\n".join(map(clean, lines))
