"""The options of the plug-in: those of a run with the prefix `--proctor-`. pytest's ini file may also set each of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from proctor.common.option_kinds import Choice, Flag, OptionKind, Share
from proctor.engine.run_options import OPTIONS as OPTIONS_OF_RUN, Use, options_for_use

if TYPE_CHECKING:
    import pytest


class PluginOption(NamedTuple):
    """One option of the plug-in."""

    key: str
    """The name in the settings and in `proctor.evaluate`."""
    kind: OptionKind
    help: str
    metavar: str

    def parse(self, text: str) -> object:
        """Parse the value on the command line."""
        try:
            return self.kind.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None


def _from_run(name: str) -> PluginOption:
    declared = OPTIONS_OF_RUN[name]
    default = f"  [{declared.default_text}]" if declared.default_text else ""
    words = "|".join(declared.kind.words) if isinstance(declared.kind, Choice) else ""
    return PluginOption(name, declared.kind, declared.help + default, declared.metavar or words)


OPTIONS = (
    PluginOption(
        "agent", OptionKind(), "Agent under test; with it, eval sets in folders are collected, too.", "AGENT"
    ),
    PluginOption(
        "store",
        OptionKind(),
        "Keep the run there, for `proctor show`: a path or a URL (postgresql://USER@HOST/DATABASE).",
        "URL",
    ),
    *map(_from_run, options_for_use(Use.PYTEST)),
)
AUDIT = PluginOption(
    "audit",
    Share(),
    "Also audit each eval set: a test `(audit)` fails if a smaller share of the mutants is caught, an agent that does nothing "
    "passes a case, or a recorded conversation does not pass. It asks a judge only if the command line names one.",
    "SHARE",
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option for the command line and for pytest's ini file."""
    group = parser.getgroup("proctor", "evaluating agents (proctor)")
    for option in (*OPTIONS, AUDIT):
        name = f"proctor_{option.key}"
        flag = "--" + name.replace("_", "-")
        text = option.help.replace("%", "%%")  # pytest formats its help with %
        if not isinstance(option.kind, Flag):
            group.addoption(flag, dest=name, metavar=option.metavar, type=option.parse, help=text)
        else:
            group.addoption(flag, dest=name, action="store_true", default=None, help=text)
        parser.addini(name, option.help, default="")


def command_line_values(config: pytest.Config) -> dict[str, object]:
    """Return the value of each option on the command line; `None` if it is absent."""
    return {option.key: config.getoption(f"proctor_{option.key}") for option in OPTIONS}


def audited_share(config: pytest.Config) -> float | None:
    """Return the share of mutants that each eval set must catch; `None` if sets are not audited.

    Raises:
        ValueError: the value in the ini file is not valid.
    """
    share: float | None = config.getoption("proctor_audit")
    if share is None and (text := config.getini("proctor_audit")):
        try:
            return float(str(AUDIT.kind.read(str(text))))
        except ValueError as error:
            raise ValueError(f"proctor_audit: {error}") from None
    return share


def ini_values(config: pytest.Config) -> dict[str, object]:
    """Return the values of the options in pytest's ini file.

    Raises:
        ValueError: a value is not valid.
    """
    values = {}
    for option in OPTIONS:
        text = config.getini(f"proctor_{option.key}")
        if text not in (None, ""):
            try:
                values[option.key] = option.kind.read(str(text))
            except ValueError as error:
                raise ValueError(f"proctor_{option.key}: {error}") from None
    return values
