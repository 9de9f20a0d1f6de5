"""The base of the commands: help with sections and examples, the validation of the arguments, and the project's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.messages import notify
from proctor.cli.shared_options import OTHER
from proctor.errors import SetupProblems, did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from proctor.runs.setup.settings import Settings


class _WithExamples(click.Command):
    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples.strip("\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples without reformatting."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("\n".join(f"  {line}".rstrip() for line in self.examples.splitlines()) + "\n")


class SectionedGroup(_WithExamples, click.Group):
    """Click group whose help ends with examples and which suggests the closest name for an unknown subcommand."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is a usage error that suggests the closest one."""
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        hint = did_you_mean(args[0], self.commands)
        raise click.UsageError(f"No command {args[0]!r}.{hint}", ctx)


class SectionedCommand(_WithExamples):
    """Click command whose help lists options by section, in the order of their declaration, and ends with examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; reject empty arguments and repeated options."""
        if not ctx.resilient_parsing:  # true while a shell requests completions
            check_words(self, ctx, args)
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options that match, without their old spellings."""
        old = {name for parameter in self.get_params(ctx) for name in getattr(parameter, "old", ())}
        return [item for item in super().shell_complete(ctx, incomplete) if item.value not in old]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section with its options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", OTHER), []).append(record)
        sections[OTHER] = sections.pop(OTHER)  # move it to the end; it exists, because it always has --help
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


# --- Validate the arguments of a command line: an empty argument or an option given twice is a usage error ------------


def check_words(command: click.Command, ctx: click.Context, args: Sequence[str]) -> None:
    """Reject empty arguments, and single-value options that are given twice, before any value is converted.

    An empty argument is usually an unset variable of a script. If it counted as "not given", the command would do
    something other than what was requested, and might exit with 0.

    Raises:
        UsageError: the first such problem, or an error of the parser.
    """
    values, _, order = command.make_parser(ctx).parse_args(args=list(args))
    if any(parameter.is_eager for parameter in order):  # eager options such as --help take precedence
        return
    for parameter in dict.fromkeys(order):
        if isinstance(parameter, click.Option):
            _check_option_value(parameter, values.get(parameter.name or ""), ctx)
    _check_arguments(command, ctx, values)
    for group in _repetitions(order):
        spellings = _spellings(command, ctx, args, group)
        raise click.UsageError(
            f"{' and '.join(spellings)}: these options exclude one another. Give only one of them", ctx
        )


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, list | tuple) and any(map(_is_empty, value))


def _check_option_value(option: click.Option, value: Any, ctx: click.Context) -> None:
    if _is_empty(value) and not getattr(option, "allow_empty", False):
        name = option.opts[0]
        raise click.UsageError(
            f"{name} is empty: expected {name} {option.metavar or 'VALUE'}. Give a value, or leave {name} out",
            ctx,
        )


def _check_arguments(command: click.Command, ctx: click.Context, values: dict[str, Any]) -> None:
    arguments = [one for one in command.get_params(ctx) if isinstance(one, click.Argument)]
    words: list[Any] = []
    for argument in arguments:
        value = values.get(argument.name or "")
        words += value if isinstance(value, list | tuple) else [value]
    for number, word in enumerate(words, 1):
        if _is_empty(word):
            usage = " ".join(argument.human_readable_name for argument in arguments)
            raise click.UsageError(
                f"argument {number} is empty (usage: {usage}): give a value, or leave it out", ctx
            )


def _repetitions(order: Sequence[click.Parameter]) -> Iterator[list[click.Parameter]]:
    """Yield each group of single-value options of which several are given. Repeating the same flag is allowed."""
    by_name: dict[str, list[click.Parameter]] = {}
    for parameter in order:
        if isinstance(parameter, click.Option) and not parameter.multiple and not parameter.count:
            by_name.setdefault(parameter.name or "", []).append(parameter)
    for group in by_name.values():
        if len(group) > 1 and (len(set(group)) > 1 or _may_differ(group[0])):
            yield group


def _may_differ(parameter: click.Parameter) -> bool:
    return bool(parameter.secondary_opts) or not getattr(parameter, "is_flag", False)


def _spellings(
    command: click.Command, ctx: click.Context, args: Sequence[str], group: Sequence[click.Parameter]
) -> list[str]:
    """Return the options of `group` as written on the command line, in order."""
    spellings: list[str] = []
    for end in range(1, len(args) + 1):
        try:
            values, _, order = command.make_parser(ctx).parse_args(args=list(args[:end]))
        except click.UsageError:  # the value of an option is the next argument
            continue
        matches = [one for one in order if one in group]
        if len(matches) > len(spellings):
            spellings.append(_spelling(matches[-1], values[matches[-1].name or ""], args[:end]))
    return spellings


def _spelling(parameter: click.Parameter, value: Any, args: Sequence[str]) -> str:
    if not getattr(parameter, "is_flag", False):
        from proctor.common.secrets import redact_arguments

        names = (word.partition("=")[0] for word in reversed(args))
        name = next((name for name in names if name in parameter.opts), parameter.opts[0])
        return " ".join(redact_arguments([name, str(value)]))
    return parameter.secondary_opts[0] if value is False and parameter.secondary_opts else parameter.opts[0]


# --- The project's settings ------------------------------------------------------------------------------------------


def read_settings(options: Mapping[str, object] | None = None) -> Settings:
    """Return the settings of the project that contains the working folder; `options` are the options of the command.

    Raises:
        SettingsError: the settings cannot be read.
        SetupProblems: settings are misspelled, and `warnings_as_errors` is set.
    """
    from proctor.runs.setup.settings import load_settings, misspelled_settings

    settings = load_settings(Path.cwd())
    warnings = misspelled_settings(Path.cwd(), settings.root)
    if warnings and (
        (options or {}).get("warnings_as_errors") or settings.options.get("warnings_as_errors", False)
    ):
        from proctor.runs.setup.prepare import errors_from

        raise SetupProblems(errors_from(warnings))
    for warning in warnings:
        notify(f"warning: {warning}")
    return settings
