"""`proctor migrate`: files of the old formats into today's, as ADK's own helper does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proctor.cli.common import SectionedCommand, common_options, option
from proctor.cli.files import refuse_to_overwrite
from proctor.sanitize import clean

if TYPE_CHECKING:
    from proctor.files.base import Problem

EXAMPLES = """
proctor migrate old.test.json new.evalset.json
proctor migrate old.test.json new.evalset.json --initial-session session.json
"""


@click.command("migrate", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@option(
    "--initial-session", section="What to add", type=click.Path(path_type=Path), metavar="FILE",
    help="The session that a list of turns starts in: a file with app_name, user_id and state.",
)  # fmt: skip
@option(
    "--force", section="What to write", is_flag=True, help="Write NEW even if it is there; its comments go."
)
@common_options
def migrate(old: Path, new: Path, *, initial_session: Path | None, force: bool) -> None:
    """Bring an old eval file into today's format.

    OLD is a list of turns (*.test.json) or a list of cases, as ADK wrote them before it had eval
    sets; NEW is the eval set to write. Proctor also runs old files as they are.
    """
    from proctor.files import migrate as migration

    if not force:
        refuse_to_overwrite(new)
    warnings: list[Problem] = []
    eval_set = migration.migrate(
        old, new, initial_session=initial_session, comments_may_go=force, warnings=warnings
    )
    for warning in warnings:
        click.echo(clean(str(warning)), err=True)
    count = len(eval_set.eval_cases)
    click.echo(clean(f"{new}: {count} {'case' if count == 1 else 'cases'} from {old}"))
