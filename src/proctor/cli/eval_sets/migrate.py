"""`proctor migrate`: convert files of the old formats to the current format, as ADK's own helper does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options, option, output_options
from proctor.cli.file_changes import check_new_set
from proctor.common.safe_text import clean, count_text
from proctor.errors import EvalFileError

if TYPE_CHECKING:
    from proctor.files.text.problems import Problem

EXAMPLES = """
proctor migrate old.test.json new.evalset.json
proctor migrate old.test.json new.evalset.json --session-input-file session.json
"""


@click.command("migrate", cls=SectionedCommand, examples=EXAMPLES)
@argument("old", type=click.Path(path_type=Path))
@argument("new", type=click.Path(path_type=Path))
@option(
    "--session-input-file", "initial_session", old=("--initial-session",), section="What to add", type=click.Path(path_type=Path), metavar="FILE",
    help="The session that a list of turns starts in: a file with app_name, user_id and state.",
)  # fmt: skip
@output_options("What to write", old=("--force",))
@common_options
def migrate(
    old: Path, new: Path, *, initial_session: Path | None, overwrite: bool, make_parents: bool
) -> None:
    """Convert a file of google-adk's first formats to the current format.

    OLD is a list of turns (*.test.json) or a list of cases, as ADK wrote them before it had eval
    sets; NEW is the eval set to write. Proctor also runs old files as they are.
    """
    from proctor.files.eval_sets import convert as migration

    check_new_set(new, old, overwrite=overwrite, make_parents=make_parents)
    warnings: list[Problem] = []
    eval_set = migration.migrate(
        old, new, initial_session=initial_session, comments_may_go=overwrite, warnings=warnings
    )
    warnings += _assertion_warnings(old, new)
    for warning in warnings:
        click.echo(clean(str(warning)), err=True)
    count = len(eval_set.eval_cases)
    click.echo(clean(f"{new}: {count_text(count, 'case')} from {old}"))


def _assertion_warnings(old: Path, new: Path) -> list[Problem]:
    """Return the warnings about the cases of the old file, in which the list of calls may be absent.

    Like google-adk, the conversion writes an absent list as `tool_uses: []` to the new file.
    """
    from proctor.authoring.check_files import assertion_problems
    from proctor.files.eval_sets.source import open_eval_set

    negative = (
        f"in {new} it runs as negative only, for google-adk's form of an absent list is `tool_uses: []`"
    )
    try:
        source = open_eval_set(old, allow_empty=True, allow_duplicate_ids=True)
        return assertion_problems(source, new, consequence=negative)
    except EvalFileError:  # google-adk's helper accepts the file
        return []
