"""The options of a run on the command line, from their declarations in `engine/run_options.py`, and the project's settings, which
give them other defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proctor.cli.command_base import NumberType, options
from proctor.cli.messages import notify
from proctor.common.option_kinds import (
    Amount,
    Choice,
    Flag,
    Fraction,
    MemorySize,
    Names,
    OptionKind,
    RepeatedText,
    WholeNumber,
)
from proctor.engine.run_options import OPTIONS, Use, options_for_use
from proctor.errors import SetupProblems

if TYPE_CHECKING:
    from proctor.runs.setup.settings import Settings

_Command = TypeVar("_Command", bound=Callable[..., object])


def run_options(
    names: Sequence[str],
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
        _declaration(name, section=section, unset=(unset or {}).get(name), aliases=aliases) for name in names
    ]
    return options(declared)


def run_option(
    name: str, *, section: str = "", text: str = "", unset: str | None = None
) -> Callable[[_Command], _Command]:
    """Add one option of a run; `text` and `unset` replace the help text and the default text of its declaration."""
    return options([_declaration(name, section=section, text=text, unset=unset)])


def _declaration(
    name: str, *, section: str, text: str = "", unset: str | None = None, aliases: bool = False
) -> tuple[list[str], dict[str, Any]]:
    declared = OPTIONS[name]
    unset = declared.default_text if unset is None else unset
    help_text = _with_flags(text or declared.help) + (f"  [{unset}]" if unset else "")
    return [*(declared.flags if aliases else declared.flags[:1]), name], {
        "section": section or declared.group.value,
        "help": help_text,
        "metavar": declared.metavar or None,
        "completes": "RUN_OR_BASELINE" if name == "against" else "",
        **_click_type(declared.kind),
    }


def _with_flags(text: str) -> str:
    """Replace option names in backticks in a help text by flags: `num_runs` becomes --num-runs."""

    def flag(match: re.Match[str]) -> str:
        known = OPTIONS.get(match[1])
        return next((each for each in known.flags if each.startswith("--")), match[0]) if known else match[0]

    return re.sub(r"`(\w+)`", flag, text)


def _click_type(kind: OptionKind) -> dict[str, Any]:
    """Return the arguments of `click.option` for a kind of value."""
    match kind:
        case Flag():
            return {"is_flag": True}
        case WholeNumber():
            return {"type": NumberType(least=kind.least)}
        case Amount():
            return {"type": NumberType(float, above=0)}
        case Fraction():
            return {"type": NumberType(float, above=0, below=1)}
        case Choice():
            return {"type": click.Choice(kind.words)}
        case RepeatedText():
            return {"multiple": True}
        case Names() | MemorySize():
            return {"callback": partial(_convert, kind)}
        case _:
            return {}


def _convert(kind: OptionKind, _ctx: click.Context, _parameter: click.Parameter, value: str | None) -> object:
    try:
        return None if value is None else kind.read(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def judge_options(*, config: str, judge: str) -> Callable[[_Command], _Command]:
    """Add the options for scoring recorded evidence. `config` and `judge` describe the defaults of these two options."""
    names = [name for name in options_for_use(Use.SCORE) if OPTIONS[name].flags and name != "timeout"]
    return run_options(names, unset={"config": config, "judge": judge})


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
