"""The base of the commands: how a command and its options are declared, help in sections, the validation of the arguments, and the
options that several commands share. `run_flags` adds the options of a run.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.common.option_kinds import LARGEST
from proctor.errors import did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from proctor.reports.base import ReportOptions

OTHER = "Other"
"""The help section of the options that every command has."""
SHOW = "What to show"

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


def terminal_options(*, verbose: bool = False, only_different: bool = False) -> ReportOptions:
    """Return what a report on the terminal shows, by `-v`, `--no-color` and the options of a command."""
    from proctor.reports.base import ReportOptions

    color = False if common().no_color else None
    verbose = verbose or bool(common().verbose)
    return ReportOptions(verbose=verbose, color=color, only_different=only_different)


def common_options(command: _Command) -> _Command:
    """Add `-v/--verbose` and `--no-color`, which are accepted before and after the command's name."""
    no_color_option = option(
        "--no-color", section=OTHER, is_flag=True, callback=_plain, expose_value=False,
        help="No colours (also: NO_COLOR=1).",
    )  # fmt: skip
    verbose_option = option(
        "-v", "--verbose", section=OTHER, count=True, callback=_louder, expose_value=False,
        help="Show more details, and the source of an error; -vv also shows the logs of libraries.",
    )  # fmt: skip
    return verbose_option(no_color_option(command))


# --- Help in sections ------------------------------------------------------------------------------------------------


class SectionedOption(click.Option):
    """Click option with a help section; `allow_empty` permits an empty string as its value, `old` are hidden spellings."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        section: str = "Options",
        allow_empty: bool = False,
        old: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__([*names, *old], **kwargs)
        self.section, self.allow_empty, self.old = section, allow_empty, frozenset(old)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line of the help, without the old spellings."""
        spellings = self.opts
        self.opts = [name for name in spellings if name not in self.old]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = spellings


def option(
    *names: str, section: str = "Options", metavar: str | None = None, completes: str = "", **kwargs: Any
) -> Callable[[_Command], _Command]:
    """Declare an option listed under the heading `section`; `old` are spellings that still work and are not shown.

    A shell completes its value by `completes`, a key of the table in `completion.py`; by default this is the metavar.
    """
    complete = partial(_complete, completes or metavar or "")
    return click.option(
        *names, cls=SectionedOption, section=section, metavar=metavar, shell_complete=complete, **kwargs
    )


def options(declared: Sequence[tuple[Sequence[str], dict[str, Any]]]) -> Callable[[_Command], _Command]:
    """Declare options in the order of the help; each with the names and the other arguments of `option`."""
    added = [option(*names, **others) for names, others in declared]
    return lambda command: reduce(lambda decorated, add: add(decorated), reversed(added), command)


def argument(
    name: str, *, metavar: str | None = None, completes: str = "", **kwargs: Any
) -> Callable[[_Command], _Command]:
    """Declare an argument. A shell completes it as it does an option: `[RUN]` and `RUN...` like `RUN`."""
    complete = partial(_complete, completes or (metavar or name.upper()).strip("[]."))
    return click.argument(name, metavar=metavar, shell_complete=complete, **kwargs)


def _complete(
    kind: str, ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from proctor.cli.completion import complete

    return complete(kind, ctx, parameter, incomplete)


def _example(line: str, width: int) -> str:
    command, _, comment = line.partition("  ")
    if command and comment and len(line) + 2 > width:
        return f"  {command}\n      {comment.strip()}\n"
    return f"  {line}".rstrip() + "\n"


class _WithExamples(click.Command):
    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples.strip("\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog and the examples, each command on one line; a comment that has no room next to it is below it."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.splitlines():
                    formatter.write(_example(line, formatter.width))


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


# --- Numbers ---------------------------------------------------------------------------------------------------------


_LIMITS = {
    "least": ("of at least", operator.ge),
    "most": ("at most", operator.le),
    "above": ("above", operator.gt),
    "below": ("below", operator.lt),
}


@dataclass
class NumberType(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A whole number, or with `float` any number, within limits: `least` and `most` are allowed, `above` and `below` are not."""

    read: Callable[[Any], float] = int
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert the value; reject a number that exceeds the integer range of the store."""
        limits = {name: limit for name in _LIMITS if (limit := getattr(self, name)) is not None}
        with suppress(ValueError):
            number = self.read(value)
            if number > LARGEST:
                self.fail("a number is at most 2**63 - 1 (9223372036854775807)", param, ctx)
            if all(_LIMITS[name][1](number, limit) for name, limit in limits.items()):
                return number
        kind = "a whole number" if self.read is int else "a number"
        bounds = " and ".join(f"{_LIMITS[name][0]} {limit:,}" for name, limit in limits.items())
        raise click.BadParameter(f"expected {kind} {bounds}, got {value}", ctx, param)


# --- Options that several commands share -----------------------------------------------------------------------------

STORE_HELP = "Where runs are kept: a path, or a URL (postgresql://USER@HOST/DATABASE).  [the project's .proctor/store.sqlite3]"


def store_option(command: _Command) -> _Command:
    """Add `--store`."""
    return option("--store", section=OTHER, metavar="URL", help=STORE_HELP)(command)


def report_options(*aliases: str) -> Callable[[_Command], _Command]:
    """Add `--details`, with its `aliases`, and the options of reports, as in `proctor eval`."""
    details = option(
        "--details", *aliases, "details", section=SHOW, is_flag=True,
        help="Show every case in full, not only those that did not pass (also: -v).",
    )  # fmt: skip
    reports = report_outputs("Also write this report, for example json=out.json")
    return lambda command: details(reports(command))


def report_outputs(text: str) -> Callable[[_Command], _Command]:
    """Add `--report`, whose help begins with `text`, `--format` and `--json`, and the options of a command that writes files."""
    report = option(
        "--report", "reports", section=SHOW, multiple=True, metavar="NAME=PATH", help=f"{text}; - is stdout; may be repeated.",
    )  # fmt: skip
    return lambda command: report(format_option(json_option(SHOW)(output_options(SHOW)(command))))


def format_option(command: _Command) -> _Command:
    """Add `--format`."""
    return option(
        "--format", "format_", section=SHOW, metavar="NAME", completes="REPORT",
        help="Write this report to stdout, and nothing else: the same as --report NAME=-",
    )(command)  # fmt: skip


def output_options(section: str, *, old: Sequence[str] = ()) -> Callable[[_Command], _Command]:
    """Add `--overwrite` (with its `old` spellings) and `--make-parents` to a command that writes files."""
    replaced = (
        "an existing file, whose comments are lost"
        if old
        else "a file that is not an earlier output of the same kind"
    )
    overwrite = option(
        "--overwrite", old=old, section=section, is_flag=True,
        help=f"Replace {replaced}; never one that Proctor reads or keeps.",
    )  # fmt: skip
    parents = parents_option(section)
    return lambda command: overwrite(parents(command))


def parents_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--make-parents`."""
    return option(
        "--make-parents", section=section, is_flag=True, help="Create missing parent folders of output files.",
    )  # fmt: skip


def json_option(section: str) -> Callable[[_Command], _Command]:
    """Add `--json` to a command that has `--format`."""
    return option(
        "--json", "format_", section=section, flag_value="json",
        help="The JSON report, and nothing else: the same as --format json",
    )  # fmt: skip
