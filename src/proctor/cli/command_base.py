"""What every command has: `-v` and `--no-color`, help with sections and examples, and the validation of its arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from proctor.common.option_kinds import LARGEST
from proctor.errors import did_you_mean

OTHER = "Other"
"""The help section of the options that every command has."""

_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(slots=True)
class Common:
    """The options that are accepted before and after the command's name."""

    verbose: int = 0
    """Number of `-v` options: 1 shows details, 2 also the logs of libraries."""
    no_color: bool = False
    arguments: Sequence[str] = ()
    """The command line as entered, without the program's name."""


_current = [Common()]  # not in click's context, which is closed before errors are shown


def common() -> Common:
    """Return the common options of the current command."""
    return _current[-1]


def begin(arguments: Sequence[str]) -> None:
    """Reset the common options for a new command line."""
    _current[-1] = Common(no_color=bool(os.environ.get("NO_COLOR")), arguments=arguments)


def _louder(_ctx: click.Context, _parameter: click.Parameter, value: int) -> None:
    common().verbose += value


def _plain(_ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click calls it)
    common().no_color |= value


def common_options(command: _Command) -> _Command:
    """Add `-v/--verbose` and `--no-color`, which are accepted before and after the command's name."""
    quiet = option(
        "--no-color", section=OTHER, is_flag=True, callback=_plain, expose_value=False,
        help="No colours (also: NO_COLOR=1).",
    )  # fmt: skip
    loud = option(
        "-v", "--verbose", section=OTHER, count=True, callback=_louder, expose_value=False,
        help="Show more details, and the source of an error; -vv also shows the logs of libraries.",
    )  # fmt: skip
    return loud(quiet(command))


# --- Help in sections ------------------------------------------------------------------------------------------------


class SectionedOption(click.Option):
    """Click option with a help section; `allow_empty` permits an empty string as its value."""

    def __init__(
        self, *args: Any, section: str = "Options", allow_empty: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.section, self.allow_empty = section, allow_empty

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert the value; reject a number that exceeds the integer range of the store."""
        converted = super().type_cast_value(ctx, value)
        numbers = converted if isinstance(converted, tuple) else (converted,)
        if any(isinstance(number, int | float) and number > LARGEST for number in numbers):
            raise click.BadParameter("a number is at most 2**63 - 1 (9223372036854775807)", ctx, self)
        return converted

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Omit the range: the help text gives it where needed, and the error message names it."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def option(*names: str, section: str = "Options", **kwargs: Any) -> Callable[[_Command], _Command]:
    """Declare an option listed under the heading `section`."""
    return click.option(*names, cls=SectionedOption, section=section, **kwargs)


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
        hint = did_you_mean(args[0], self.commands) or f" There is: {', '.join(self.commands)}."
        raise click.UsageError(f"No command {args[0]!r}.{hint}", ctx)


class SectionedCommand(_WithExamples):
    """Click command whose help lists options by section, in the order of their declaration, and ends with examples."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; reject empty arguments and repeated options."""
        if not ctx.resilient_parsing:  # true while a shell requests completions
            check_words(self, ctx, args)
        return super().parse_args(ctx, args)

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
        given = _spellings(command, ctx, args, group)
        raise click.UsageError(
            f"{' and '.join(given)}: these words exclude one another. Give only one of them", ctx
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
    found: list[str] = []
    for end in range(1, len(args) + 1):
        try:
            values, _, order = command.make_parser(ctx).parse_args(args=list(args[:end]))
        except click.UsageError:  # the value of an option is the next argument
            continue
        given = [one for one in order if one in group]
        if len(given) > len(found):
            found.append(_spelling(given[-1], values[given[-1].name or ""]))
    return found


def _spelling(parameter: click.Parameter, value: Any) -> str:
    if not getattr(parameter, "is_flag", False):
        from proctor.common.secrets import redact_arguments

        return " ".join(redact_arguments([parameter.opts[0], str(value)]))
    return parameter.secondary_opts[0] if value is False and parameter.secondary_opts else parameter.opts[0]
