"""Options of the commands: how an option is declared, the options that several commands share, and those of a run."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.common.option_kinds import (
    LARGEST,
    Amount,
    Choice,
    Flag,
    Fraction,
    Kind,
    MemorySize,
    Names,
    RepeatedText,
    WholeNumber,
)
from proctor.engine.run_options import OPTIONS, Use, options_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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


# --- Numbers ---------------------------------------------------------------------------------------------------------


_LIMITS = {
    "least": ("of at least", operator.ge),
    "most": ("at most", operator.le),
    "above": ("above", operator.gt),
    "below": ("below", operator.lt),
}


class Number(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A whole number, or with `float` any number, within limits: `least` and `most` are allowed, `above` and `below` are not."""

    name = "number"

    def __init__(self, number: Callable[[Any], float] = int, **limits: float) -> None:
        self._number, self._limits = number, limits

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert the value; reject a number that exceeds the integer range of the store."""
        with suppress(ValueError):
            number = self._number(value)
            if number > LARGEST:
                self.fail("a number is at most 2**63 - 1 (9223372036854775807)", param, ctx)
            if all(_LIMITS[name][1](number, limit) for name, limit in self._limits.items()):
                return number
        kind = "a whole number" if self._number is int else "a number"
        limits = " and ".join(f"{_LIMITS[name][0]} {limit:,}" for name, limit in self._limits.items())
        raise click.BadParameter(f"expected {kind} {limits}, got {value}", ctx, param)


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


# --- Options of a run, from their declarations in `engine/run_options.py` ---------------------------------------------


def run_options(
    options: Sequence[str],
    *,
    section: str = "",
    unset: Mapping[str, str] | None = None,
    aliases: bool = False,
) -> Callable[[_Command], _Command]:
    """Add the named options of a run, each in the help section of its group, or all in `section`.

    `unset` replaces, for some of them, the help text about the default. `aliases` adds the alternative spellings of
    `proctor eval`.
    """
    declared = [
        run_option(name, section=section, unset=(unset or {}).get(name), aliases=aliases) for name in options
    ]
    return lambda command: reduce(lambda decorated, declare: declare(decorated), reversed(declared), command)


def run_option(
    name: str, *, section: str = "", text: str = "", unset: str | None = None, aliases: bool = False
) -> Callable[[_Command], _Command]:
    """Add one option of a run; `text` and `unset` replace the help text and the default text of its declaration."""
    declared = OPTIONS[name]
    unset = declared.default_text if unset is None else unset
    help_text = _with_flags(text or declared.help) + (f"  [{unset}]" if unset else "")
    return option(
        *(declared.flags if aliases else declared.flags[:1]),
        name,
        section=section or declared.group.value,
        help=help_text,
        metavar=declared.metavar or None,
        completes="RUN_OR_BASELINE" if name == "against" else "",
        **_click_type(declared.kind),
    )


def _with_flags(text: str) -> str:
    """Replace option names in backticks in a help text by flags: `num_runs` becomes --num-runs."""

    def flag(match: re.Match[str]) -> str:
        known = OPTIONS.get(match[1])
        return next((each for each in known.flags if each.startswith("--")), match[0]) if known else match[0]

    return re.sub(r"`(\w+)`", flag, text)


def _click_type(kind: Kind) -> dict[str, Any]:
    """Return the arguments of `click.option` for a kind of value."""
    match kind:
        case Flag():
            return {"is_flag": True}
        case WholeNumber():
            return {"type": Number(least=kind.least)}
        case Amount():
            return {"type": Number(float, above=0)}
        case Fraction():
            return {"type": Number(float, above=0, below=1)}
        case Choice():
            return {"type": click.Choice(kind.words)}
        case RepeatedText():
            return {"multiple": True}
        case Names() | MemorySize():
            return {"callback": partial(_convert, kind)}
        case _:
            return {}


def _convert(kind: Kind, _ctx: click.Context, _parameter: click.Parameter, value: str | None) -> object:
    try:
        return None if value is None else kind.read(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def judge_options(*, config: str, judge: str) -> Callable[[_Command], _Command]:
    """Add the options for scoring recorded evidence. `config` and `judge` describe the defaults of these two options."""
    names = [name for name in options_of(Use.SCORE) if OPTIONS[name].flags and name != "timeout"]
    return run_options(names, unset={"config": config, "judge": judge})
