"""`proctor bless`: accept what the agent did as the new expectation (snapshot)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    argument,
    common_options,
    option,
    store_option,
)
from proctor.cli.file_changes import show_audit, show_changes
from proctor.cli.messages import is_sure, notify, show_setup_error
from proctor.common.safe_text import clean, count_text
from proctor.schema.results.exit_code import ExitCode

if TYPE_CHECKING:
    from proctor.authoring.bless import Blessing

WHICH, HOW = "Which cases", "How"

EXAMPLES = """
proctor bless                            what failed in the latest run; asks first
proctor bless latest two_turn_booking    one case
proctor bless 7f3k2c --dry-run           only show what would change
"""


@click.command("bless", cls=SectionedCommand, examples=EXAMPLES)
@argument("run", metavar="[RUN]", default="latest")
@argument("cases", metavar="[CASE]...", nargs=-1)
@option(
    "--trial",
    section=WHICH,
    type=NumberType(least=1),
    metavar="N",
    help="Learn from this trial, where a case's trials did not go alike.",
)
@option("-y", "--yes", section=HOW, is_flag=True, help="Write without asking.")
@option("--dry-run", section=HOW, is_flag=True, help="Only show what would change.")
@option("--force", section=HOW, is_flag=True, help="Also where a case was changed since it was run.")
@store_option
@common_options
def bless(
    *,
    run: str,
    cases: tuple[str, ...],
    trial: int | None,
    yes: bool,
    dry_run: bool,
    force: bool,
    store: str | None,
) -> None:  # fmt: skip
    """Accept what the agent did in a run as the expected behaviour of existing cases.

    RUN is an id, the beginning of one, latest (the default) or latest~1; CASE is the id of a case, by
    default every case that failed. Answers, tool calls and the stated keys of the final state are
    taken over from the evidence; nothing else in the file changes, not one byte. The difference is shown first,
    and nothing is written before you agree; off a terminal that takes --yes. A case that cannot be
    changed is named, and the others are changed anyway.

    Exit codes: 0 every case was changed, or needed no change, 1 a case cannot be changed, 2 there is
    no such run or case.
    """
    from proctor.authoring.bless import bless as propose

    proposed = propose(run, cases, store=store, trial=trial, force=force)
    changing = [one for one in proposed if one.cases]
    for one in changing:
        show_changes(one.path, one.before, one.line_changes)
    refused = [problem for one in proposed for problem in one.refused]
    for problem in refused:
        show_setup_error(problem)
    for one in changing:
        for lost in one.lost:
            notify(f"warning: {one.path}:{lost}: this comment is removed with its entry")
    if not changing:
        notify(_nothing_to_bless(sum(len(one.unchanged) for one in proposed)))
    elif not dry_run:
        _write(changing, yes=yes)
    if refused:
        click.get_current_context().exit(ExitCode.FAILED)


def _write(changing: list[Blessing], *, yes: bool) -> None:
    count = sum(len(one.cases) for one in changing)
    question = f"Write this into {count_text(count, 'case')}?"
    if not is_sure(question, yes=yes, undone="nothing was written", to_do="write it"):
        return
    for one in changing:
        one.write()
        click.echo(clean(f"{one.path}: {count_text(len(one.cases), 'case')} blessed: {', '.join(one.cases)}"))
        show_audit(one.path, one.cases)


def _nothing_to_bless(unchanged: int) -> str:
    if unchanged:
        return f"nothing to change: {count_text(unchanged, 'case')} expect{'s' if unchanged == 1 else ''} already what was done"
    return "nothing to bless: no case failed; name the cases to bless others"
