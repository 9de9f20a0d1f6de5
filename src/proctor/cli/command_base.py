"""Options of every command (verbosity, colour), and help texts with sections and examples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from proctor.common.option_kinds import LARGEST
from proctor.errors import did_you_mean

OTHER = "Other"
"""The help section of the options that every command has."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


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
        help="Say more, and where an error comes from; -vv also what libraries log.",
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
            from proctor.cli.command_words import check_words

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
