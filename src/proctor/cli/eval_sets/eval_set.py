"""`proctor eval-set`: create eval sets; add, show and remove cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.command_base import (
    NumberType,
    SectionedCommand,
    SectionedGroup,
    argument,
    common_options,
    option,
    parents_option,
)
from proctor.cli.file_changes import show_problems
from proctor.cli.messages import is_sure, notify
from proctor.cli.run_flags import run_option
from proctor.common.safe_text import clean, count_text, lines_of
from proctor.errors import SetupError, did_you_mean

if TYPE_CHECKING:
    from proctor.authoring.edit_eval_set import Added
    from proctor.schema.format.case import EvalCase

WHAT, HOW = "What", "How"

_SAME = {"add-eval-case": ("add-scenarios",), "generate-eval-cases": ("generate", "--yes")}
"""google-adk's command names -> arguments of Proctor's commands; google-adk saves generated cases without a review."""

EXAMPLES = """
proctor eval-set create trip.evalset.yaml
proctor eval-set add-case trip.evalset.yaml --id rome --message 'Weather in Rome?' --expect Rain
proctor eval-set show trip.evalset.yaml rome
"""


class SetGroup(SectionedGroup):
    """Command group that also accepts google-adk's command names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, by Proctor's or google-adk's name."""
        name = args[0].replace("_", "-")
        return super().resolve_command(ctx, [*_SAME.get(name, (name,)), *args[1:]])


@click.group("eval-set", cls=SetGroup, examples=EXAMPLES)
@common_options
def eval_set() -> None:
    """Create eval sets, and add, show and remove cases.

    SET is a file (NAME.evalset.json, .yaml or .jsonl). An agent's folder followed by the id of a set
    names the file that google-adk stores there. Existing content of a file is not changed, byte for
    byte.
    """


def _set_arguments(command: Any) -> Any:
    command = argument("eval_set_id", metavar="[ID]", required=False)(command)
    return argument("path", metavar="SET", type=click.Path(path_type=Path))(command)


@eval_set.command("create", cls=SectionedCommand, examples="\nproctor eval-set create booking.evalset.json\n")
@_set_arguments
@parents_option(HOW)
@common_options
def create(*, path: Path, eval_set_id: str | None, make_parents: bool) -> None:
    """Write a new set without cases."""
    from proctor.authoring.edit_eval_set import create_eval_set

    set_path = create_eval_set(path, eval_set_id, make_parents=make_parents)
    click.echo(clean(f"{set_path}: a new eval set; `proctor eval-set add-case` puts cases in"))


ADD_EXAMPLES = """
proctor eval-set add-case trip.evalset.yaml --id rome --message 'And in Rome?' --tool 'weather(city=Rome)'
proctor eval-set add-case trip.evalset.json --from other.evalset.json:rome,paris
"""


@eval_set.command("add-case", cls=SectionedCommand, examples=ADD_EXAMPLES)
@_set_arguments
@option(
    "--from",
    "sources",
    section=WHAT,
    multiple=True,
    metavar="SET[:CASE,…]",
    help="Copy cases of another set.",
)
@option("--id", "eval_id", section=WHAT, metavar="CASE", help="The id of a new case of one turn.")
@option("--message", "ask", old=("--ask",), section=WHAT, metavar="TEXT", help="The user message.")
@option("--expect", section=WHAT, allow_empty=True, metavar="TEXT", help="The expected answer.")
@option(
    "--tool", "tools", section=WHAT, multiple=True, metavar="CALL",
    help="An expected tool call, such as 'get_weather(city=Rome)'; may be repeated, in order.",
)  # fmt: skip
@option("--no-tools", section=WHAT, is_flag=True, help="Expect no tool calls.")
@option(
    "--initial-state", "state", old=("--state",), section=WHAT, metavar="JSON",
    help="The session state at the start of the case.",
)  # fmt: skip
@parents_option(HOW)
@common_options
def add_case(
    *, path: Path, eval_set_id: str | None, sources: tuple[str, ...], make_parents: bool, **new: Any
) -> None:
    """Put a case into a set: a new one of one turn, or copies from another set.

    Conversations of several turns are easiest recorded (`proctor record`) or written as YAML.
    """
    from proctor.authoring import edit_eval_set

    file = edit_eval_set.eval_set_path(path, eval_set_id)
    if not sources:
        _report_added(edit_eval_set.add_cases(file, [_new_case(**new)], make_parents=make_parents))
    elif new["eval_id"] or new["ask"]:
        raise SetupError("--from copies cases; --id and --message make a new one: give one or the other")
    else:
        _report_added(edit_eval_set.copy_cases(file, sources, make_parents=make_parents))


def _new_case(
    *,
    eval_id: str | None,
    ask: str | None,
    expect: str | None,
    tools: tuple[str, ...],
    no_tools: bool,
    state: str | None,
) -> EvalCase:
    from proctor.authoring.edit_eval_set import new_case

    if not eval_id or ask is None:
        raise SetupError("a new case takes --id CASE and --message TEXT; --from SET:CASE copies one")
    if tools and no_tools:
        raise SetupError("--tool and --no-tools contradict each other")
    calls = list(tools) if tools or no_tools else None
    return new_case(eval_id, ask, expect=expect, tools=calls, state=_object(state))


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SetupError(f"--initial-state takes a JSON object; this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise SetupError(f"--initial-state takes a JSON object, got {text}")
    return value


@eval_set.command(
    "add-scenarios",
    cls=SectionedCommand,
    examples="\nproctor eval-set add-scenarios trip.evalset.json --scenarios-file scenarios.json\n",
)
@_set_arguments
@option("--scenarios-file", section=WHAT, required=True, metavar="FILE", help="Conversation scenarios.")
@option("--session-input-file", section=WHAT, metavar="FILE", help="The session that each of them starts in.")
@parents_option(HOW)
@common_options
def add_scenarios(
    *,
    path: Path,
    eval_set_id: str | None,
    scenarios_file: str,
    session_input_file: str | None,
    make_parents: bool,
) -> None:
    """Put a case for each scenario into a set; its id is google-adk's: a hash of the scenario.

    Also: `proctor eval_set add_eval_case AGENT_DIR ID --scenarios_file F --session_input_file F`.
    """
    from proctor.authoring import edit_eval_set

    file = edit_eval_set.eval_set_path(path, eval_set_id)
    if eval_set_id is not None and not file.exists():
        raise SetupError(
            f"{file}: there is no such set; `proctor eval-set create {path} {eval_set_id}` makes it"
        )
    session = session_input_file
    _report_added(
        edit_eval_set.add_scenarios(file, scenarios_file, session_input=session, make_parents=make_parents)
    )


GENERATE_EXAMPLES = """
proctor eval-set generate my_agent --output trip.evalset.yaml
proctor eval-set generate my_agent --count 20 --guidance 'Users who change their mind' --output more.evalset.json
proctor eval-set generate my_agent > scenarios.json
"""


@eval_set.command("generate", cls=SectionedCommand, examples=GENERATE_EXAMPLES)
@argument("agent", metavar="AGENT")
@argument("eval_set_id", metavar="[ID]", required=False)
@option(
    "--count",
    section=WHAT,
    type=NumberType(least=1, most=200),
    metavar="N",
    help="The number of scenarios.  [5]",
)
@option("--guidance", section=WHAT, metavar="TEXT", help="The kind of scenarios to write.")
@option(
    "--environment",
    section=WHAT,
    metavar="TEXT",
    help="Facts that they may use: what is in the data, who the users are.",
)
@option("--persona", section=WHAT, metavar="ID", help="How the users behave: EXPERT, NOVICE or EVALUATOR.")
@option("--model", section=WHAT, metavar="MODEL", help="The model that writes them.  [gemini-2.5-flash]")
@run_option("agent_name", section=WHAT, text="Write for this sub-agent instead of the root agent.")
@option(
    "--user-simulation-config-file",
    "--user_simulation_config_file",
    "config_file",
    section=WHAT,
    metavar="FILE",
    help="google-adk's file: count, generation_instruction, environment_context, model_name.",
)
@option(
    "--output",
    "-o",
    "out",
    old=("--out",),
    section=HOW,
    type=click.Path(path_type=Path),
    metavar="SET",
    help="The eval set to which they are added as cases; created if it does not exist.  [printed as a file of scenarios]",
)
@option("-y", "--yes", section=HOW, is_flag=True, help="Keep all of them without asking.")
@option("--dry-run", section=HOW, is_flag=True, help="Only show them; write nothing.")
@option("--max-cost", section=HOW, type=NumberType(float, above=0), metavar="USD",
        help="Spend at most USD on the model; write what it has returned until then.")  # fmt: skip
@parents_option(HOW)
@common_options
@click.pass_context
def generate(
    ctx: click.Context, /, agent: str, eval_set_id: str | None, out: Path | None, **options: Any
) -> None:
    """Write new scenarios for an agent, by a model that knows its instructions and tools.

    Each has a starting prompt and a plan, names only tools that the agent has, and differs from
    the others and from those in the set. On a terminal each is shown and saved if you confirm it.
    Also: `proctor eval_set generate_eval_cases AGENT_DIR ID --user_simulation_config_file F`.

    Exit codes: 0 as many as were asked for, 1 fewer, 2 configuration error, 3 none.
    """
    from proctor.authoring.edit_eval_set import eval_set_path
    from proctor.cli.eval_sets.generate import generate_and_keep

    if eval_set_id is not None and out is not None:
        raise SetupError("--output names the set, and so does the id: give one of the two")
    if eval_set_id is not None:
        out = eval_set_path(agent, eval_set_id)
    ctx.exit(generate_and_keep(agent, out, options))


def _report_added(added: Added) -> None:
    for eval_id in added.skipped:
        notify(f"{added.path}: the set already has the case {eval_id}")
    count = len(added.cases)
    what = count_text(count, "case")
    names = f": {', '.join(added.cases)}" if added.cases else ""
    click.echo(clean(f"{added.path}: {what} added{names}"))
    show_problems(added.warnings)


@eval_set.command("list", cls=SectionedCommand, examples="\nproctor eval-set list tests\n")
@argument("folder", metavar="[FOLDER]", default=".", type=click.Path(path_type=Path))
@option("--json", "as_json", section=HOW, is_flag=True, help="For programs.")
@common_options
def list_sets(*, folder: Path, as_json: bool) -> None:
    """List the eval sets in a folder and below it, with their cases."""
    rows = list(_sets_in(folder))
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        text = (
            row["problem"] or f"{row['cases']} case{'' if row['cases'] == 1 else 's'}  {row['eval_set_id']}"
        )
        click.echo(clean(f"{row['file']}  {text}"))


def _sets_in(folder: Path) -> Iterator[dict[str, Any]]:
    from proctor.errors import EvalFileError
    from proctor.files.eval_sets.selectors import find_sets
    from proctor.files.eval_sets.source import open_eval_set

    for path in find_sets([str(folder)]):
        row: dict[str, Any] = {"file": path.label, "eval_set_id": None, "cases": None, "problem": None}
        try:
            source = open_eval_set(path.path, label=path.label, allow_empty=True, allow_duplicate_ids=True)
            row |= {"eval_set_id": source.eval_set_id, "cases": len(source)}
        except EvalFileError as problem:
            row["problem"] = f"cannot be read: {str(problem).splitlines()[0]}"
        yield row


@eval_set.command("show", cls=SectionedCommand, examples="\nproctor eval-set show trip.evalset.json rome\n")
@argument("path", metavar="SET", type=click.Path(path_type=Path))
@argument("cases", metavar="[CASE]...", nargs=-1)
@option("--json", "as_json", section=HOW, is_flag=True, help="As JSON; else as YAML.")
@common_options
def show(*, path: Path, cases: tuple[str, ...], as_json: bool) -> None:
    """Print the cases of a set."""
    from proctor.files.yaml.writer import write_yaml
    from proctor.runs.load import load_eval_set
    from proctor.schema.serialize import to_adk_json

    loaded = load_eval_set(path)
    if cases:
        loaded.eval_cases = list(_find_cases(path, loaded.eval_cases, cases))
    text = to_adk_json(loaded, keep_written=True) if as_json else write_yaml(loaded)
    for line in lines_of(text):
        click.echo(clean(line))


def _find_cases(path: Path, there: list[EvalCase], names: tuple[str, ...]) -> Iterator[EvalCase]:
    by_id = {case.eval_id: case for case in there}
    for name in names:
        if name not in by_id:
            raise SetupError(f"{path}: there is no case {name!r}.{did_you_mean(name, by_id)}")
        yield by_id[name]


@eval_set.command(
    "remove", cls=SectionedCommand, examples="\nproctor eval-set remove trip.evalset.json rome\n"
)
@argument("path", metavar="SET", type=click.Path(path_type=Path))
@argument("cases", metavar="CASE...", nargs=-1, required=True)
@option("-y", "--yes", section=HOW, is_flag=True, help="Remove without asking.")
@common_options
def remove(*, path: Path, cases: tuple[str, ...], yes: bool) -> None:
    """Take cases out of a set; off a terminal that takes --yes."""
    from proctor.authoring import edit_eval_set

    what = count_text(len(cases), "case")
    if not is_sure(f"Remove {what} from {path}?", yes=yes, undone="nothing was removed", to_do="remove"):
        return
    edit_eval_set.remove_cases(path, cases)
    click.echo(clean(f"{path}: {what} removed: {', '.join(cases)}"))
