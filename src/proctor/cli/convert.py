"""`proctor convert`: an eval set as JSON or as YAML for people."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.common import SectionedCommand, common_options, option
from proctor.cli.files import refuse_to_overwrite
from proctor.sanitize import clean

EXAMPLES = """
proctor convert booking.evalset.json booking.evalset.yaml
proctor convert booking.evalset.yaml booking.evalset.json
proctor convert old.test.json new.evalset.json
"""


@click.command("convert", cls=SectionedCommand, examples=EXAMPLES)
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@option("--force", section="What to write", is_flag=True, help="Write OUT even if it is there.")
@option(
    "--allow-duplicate-ids", section="What to accept", is_flag=True,
    help="Let cases of IN share an id; the second x is written as x#2.",
)  # fmt: skip
@common_options
def convert(source: Path, target: Path, *, force: bool, allow_duplicate_ids: bool) -> None:
    """Turn an eval set into JSON or YAML.

    IN is an eval set of any generation of the format; OUT is JSON or YAML by its suffix. Both say
    the same: nothing is lost on the way there and back, except comments. YAML is the form for
    people that docs/yaml.md describes.
    """
    from proctor.files import convert as conversion

    if not force:
        refuse_to_overwrite(target)
    done = conversion.convert(source, target, allow_duplicate_ids=allow_duplicate_ids)
    for warning in done.warnings:
        click.echo(clean(str(warning)), err=True)
    if done.comments_lost:
        click.echo(clean(f"{source}: its comments are not in {target}: they are not kept"), err=True)
    count = len(done.eval_set.eval_cases)
    click.echo(clean(f"{target}: {count} {'case' if count == 1 else 'cases'} from {source}"))
