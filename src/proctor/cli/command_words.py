"""Validate the arguments of a command line: an empty argument or an option given twice is a usage error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from proctor.common.secrets import redact_arguments


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
    for group in _repeated(order):
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


def _repeated(order: Sequence[click.Parameter]) -> Iterator[list[click.Parameter]]:
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
        return " ".join(redact_arguments([parameter.opts[0], str(value)]))
    return parameter.secondary_opts[0] if value is False and parameter.secondary_opts else parameter.opts[0]
