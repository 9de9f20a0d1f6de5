"""Pages of the commands and their options, and of the exit codes, from the declarations of the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

import click

from proctor.cli.command_base import OTHER
from proctor.cli.main import COMMANDS, SECTIONS, cli
from proctor.common.registry import load_object
from proctor.schema.results.exit_code import LABELS, MEANINGS
from tests.docs.reference.docstrings import escape, table

FOLDER = "reference/commands"
EXIT_CODES = "reference/exit-codes.md"

INTRODUCTION = """# Commands

`make reference` writes this page and the pages to which it links from the declarations of the commands. `proctor COMMAND --help` prints the same.

[Exit codes](../exit-codes.md) · [settings of a project](../settings.md), the defaults of these options
"""


def pages() -> dict[str, str]:
    """Return the text of every page by its path in `docs`."""
    texts = {f"{FOLDER}/{_file(section)}": "\n".join(_page(section)) for section in SECTIONS}
    return {f"{FOLDER}/index.md": "\n".join(_index()), EXIT_CODES: "\n".join(_exit_codes()), **texts}


def _file(section: str) -> str:
    return re.sub(r"\W+", "-", section.lower()) + ".md"


def _index() -> Iterator[str]:
    yield INTRODUCTION
    for section, commands in SECTIONS.items():
        yield f"## {section}\n"
        rows = [
            [f"[`proctor {name}`]({_file(section)}#proctor-{name})", line]
            for name, (_, line) in commands.items()
        ]
        yield table(["command", "description"], rows)
    yield "## Options of every command\n"
    yield from _options(load_object(COMMANDS["eval"]), lambda section: section == OTHER)


def _page(section: str) -> Iterator[str]:
    yield f"# {section}\n"
    yield "Every command also has `-h`, `--help`, `-v`, `--verbose` and `--no-color`. [All commands](index.md)\n"
    for name in SECTIONS[section]:
        yield from _command(load_object(COMMANDS[name]), f"proctor {name}", "##")


def _command(command: click.Command, name: str, level: str) -> Iterator[str]:
    context = _context(command, name)
    yield f"{level} {name}\n"
    yield f"```text\n{' '.join([name, *command.collect_usage_pieces(context)])}\n```\n"
    yield from _paragraphs(command.help or "")
    if not isinstance(command, click.Group):
        yield from _options(command, lambda section: section != OTHER)
    if command.epilog:
        yield from _paragraphs(command.epilog)
    if examples := getattr(command, "examples", ""):
        yield f"Examples:\n\n```text\n{examples}\n```\n"
    if isinstance(command, click.Group):
        for child, subcommand in command.commands.items():
            yield from _command(subcommand, f"{name} {child}", "###")


def _context(command: click.Command, name: str) -> click.Context:
    return click.Context(command, info_name=name, parent=cli.make_context("proctor", []))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            lines = paragraph.removeprefix("\b\n")
            is_prose = not re.search(r"^  |\S {3,}\S", lines, re.MULTILINE)
            yield f"{escape(lines)}\n" if is_prose else f"```text\n{lines}\n```\n"
        else:
            yield f"{escape(paragraph)}\n"


def _options(command: click.Command, shows: Callable[[str], bool]) -> Iterator[str]:
    context = _context(command, command.name or "")
    sections: dict[str, list[list[str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        section = getattr(parameter, "section", OTHER)
        if record is not None and isinstance(parameter, click.Option) and shows(section):
            sections.setdefault(section, []).append([f"`{record[0]}`", record[1]])
    for section, rows in sections.items():
        yield table([section, "meaning"], rows)


# --- Exit codes -------------------------------------------------------------------------------------------------------


def _exit_codes() -> Iterator[str]:
    yield "# Exit codes\n"
    yield "`make reference` writes this page from the code. Which reports are written does not change the exit code of a command.\n"
    rows = [[str(code), LABELS[code], meaning] for code, meaning in MEANINGS.items()]
    yield table(["code", "name", "meaning"], rows)
    yield "If cases have different outcomes, *failed* takes precedence over *error*, and *error* over *inconclusive*."
    yield "[Verdicts](../explanation/verdicts.md) describes how they are decided.\n"
    yield "## Of each command\n"
    yield "`eval` has those above. Commands that are not listed exit with 0, or with 2 and 3 as above.\n"
    rows = [
        [f"[`{name}`]({_link(name)})", found[1]]
        for name, command in _all_commands()
        if (found := re.search(r"Exit codes?:? (.*?)(?=\n\n|\Z)", command.help or "", re.DOTALL))
    ]
    yield table(["command", "exit codes"], rows)


def _all_commands() -> Iterator[tuple[str, click.Command]]:
    for name, path in COMMANDS.items():
        command: click.Command = load_object(path)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {child}", subcommand) for child, subcommand in command.commands.items())


def _link(name: str) -> str:
    main = name.partition(" ")[0]
    section = next(section for section, commands in SECTIONS.items() if main in commands)
    return f"commands/{_file(section)}#proctor-{name.replace(' ', '-')}"
