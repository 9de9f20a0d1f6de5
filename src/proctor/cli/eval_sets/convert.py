"""`proctor convert`: convert eval sets between JSON, YAML and JSON Lines, and from the old formats."""

from __future__ import annotations

from pathlib import Path

import click

from proctor.cli.command_base import SectionedCommand, argument, common_options, option, output_options
from proctor.cli.file_changes import check_new_set, show_problems
from proctor.cli.messages import notify
from proctor.common.safe_text import clean, count_text

EXAMPLES = """
proctor convert booking.evalset.json booking.evalset.yaml
proctor convert booking.evalset.yaml booking.evalset.json
proctor convert old.test.json new.evalset.yaml
proctor convert large.evalset.json large.evalset.jsonl
"""


@click.command("convert", cls=SectionedCommand, examples=EXAMPLES)
@argument("source", metavar="IN", type=click.Path(path_type=Path))
@argument("target", metavar="OUT", type=click.Path(path_type=Path))
@output_options("What to write", old=("--force",))
@option(
    "--allow-duplicate-ids", section="What to accept", is_flag=True,
    help="Write cases that share an id under distinct ones.",
)  # fmt: skip
@common_options
def convert(
    source: Path, target: Path, *, overwrite: bool, make_parents: bool, allow_duplicate_ids: bool
) -> None:
    """Convert an eval set between JSON, YAML and JSON lines.

    IN may be of any generation of the format; the suffix of OUT (.json, .yaml, .yml, .jsonl) selects
    the output format. No data of a case is lost; comments are not kept. ADK reads JSON only.
    """
    from proctor.authoring.check_files import assertion_problems_of_file
    from proctor.files.eval_sets import convert as conversion

    check_new_set(target, source, overwrite=overwrite, make_parents=make_parents)
    done = conversion.convert(source, target, allow_duplicate_ids=allow_duplicate_ids)
    for warning in done.warnings:
        notify(str(warning))
    if done.comments_lost:
        notify(f"{source}: its comments are not in {target}")
    cases = count_text(done.cases, "case")
    click.echo(clean(f"{target}: {cases} from {source}"))
    show_problems(assertion_problems_of_file(target))
