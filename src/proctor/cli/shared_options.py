"""Options that several commands share: those of a run, of output files and of the store; durations and points in time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from proctor.cli.command_base import OTHER, option
from proctor.cli.messages import say
from proctor.common.option_kinds import (
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
from proctor.errors import SetupProblems
from proctor.runs.setup.settings import Settings, load_settings, misspelled_settings

_Command = TypeVar("_Command", bound=Callable[..., object])

SHOW = "What to show"
STORE_HELP = "Where runs are kept: a URL (sqlite:///PATH) or a path.  [the project's .proctor/store.sqlite3]"


def store_option(command: _Command) -> _Command:
    """Add `--store`."""
    return option("--store", section=OTHER, metavar="URL", help=STORE_HELP)(command)


def report_options(command: _Command) -> _Command:
    """Add `--details`, `--report` and `--format`, as in `proctor eval`."""
    details = option(
        "--details", section=SHOW, is_flag=True,
        help="Show every case in full, not only those that did not pass (also: -v).",
    )  # fmt: skip
    report = option(
        "--report", "reports", section=SHOW, multiple=True, metavar="NAME=PATH",
        help="Also write this report, for example json=out.json; - is stdout; may be repeated.",
    )  # fmt: skip
    form = option(
        "--format", "format_", section=SHOW, metavar="NAME",
        help="Write this report to stdout, and nothing else: the same as --report NAME=-",
    )  # fmt: skip
    return details(report(form(json_option(SHOW)(output_options(SHOW)(command)))))


def output_options(section: str, *also: str) -> Callable[[_Command], _Command]:
    """Add `--overwrite` (and its older names) and `--make-parents` to a command that writes files."""
    replaced = (
        "an existing file, whose comments are lost"
        if also
        else "a file that is not an earlier output of the same kind"
    )
    overwrite = option(
        "--overwrite", *also, "overwrite", section=section, is_flag=True,
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
            return {"type": click.IntRange(min=kind.least)}
        case Amount():
            return {"type": click.FloatRange(min=0, min_open=True)}
        case Fraction():
            return {"type": click.FloatRange(min=0, max=1, min_open=True, max_open=True)}
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


# --- The project's settings ------------------------------------------------------------------------------------------


def read_settings(given: Mapping[str, object] | None = None) -> Settings:
    """Return the settings of the project that contains the working folder; `given` are the options of the command.

    Raises:
        SettingsError: the settings cannot be read.
        SetupProblems: settings are misspelled, and `warnings_as_errors` is set.
    """
    settings = load_settings(Path.cwd())
    warnings = misspelled_settings(Path.cwd())
    if warnings and (
        (given or {}).get("warnings_as_errors") or settings.options.get("warnings_as_errors", False)
    ):
        from proctor.runs.setup.prepare import errors_from

        raise SetupProblems(errors_from(warnings))
    for warning in warnings:
        say(f"warning: {warning}")
    return settings


# --- Parameter types for durations and points in time: `7d`, `2026-11-20`, `yesterday` --------------------------------


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])[a-z]*", re.IGNORECASE)


class Age(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A duration: `30d`, `12h`, `2w`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Parse `value`."""
        if isinstance(value, timedelta):
            return value
        age = read_age(str(value))
        if age is None:
            self.fail(f"{value!r} is not a valid duration (expected e.g. 30d, 12h, 2w)", param, ctx)
        return age


class Moment(click.ParamType):  # type: ignore[type-arg]  # generic for some releases of click only
    """A point in time: a date, a date with a time, `today`, `yesterday`, or an age (`7d`)."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse `value`; without a time zone it is in local time."""
        if isinstance(value, datetime):
            return value
        moment = read_moment(str(value), datetime.now(tz=UTC).astimezone())
        if moment is None:
            self.fail(
                f"{value!r} is not a valid time (expected e.g. 7d (ago), yesterday, 2026-11-20 or '2026-11-20 14:00')",
                param,
                ctx,
            )
        return moment


def read_age(text: str) -> timedelta | None:
    """Return the duration that `text` denotes, or `None` if it is not valid."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return timedelta(seconds=float(found[1]) * _UNITS[found[2].lower()])
    except OverflowError:
        return None


def read_moment(text: str, now: datetime) -> datetime | None:
    """Return the point in time that `text` denotes relative to `now`, or `None` if it is not valid."""
    word = text.strip().lower()
    if word in {"today", "yesterday"}:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=word == "yesterday")
    try:
        if (age := read_age(text)) is not None:
            return now - age
        found = datetime.fromisoformat(text.strip())
    except (OverflowError, ValueError):
        return None
    return found if found.tzinfo else found.astimezone()
