"""The options: those of `proctor eval` with `proctor-` in front, each with a twin in pytest's ini file."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pytest


class Option(NamedTuple):
    """One option, as `proctor eval` calls it."""

    name: str
    help: str
    metavar: str = ""
    """Empty for a flag."""
    read: Callable[[str], Any] = str

    @property
    def key(self) -> str:
        """What settings and `proctor.evaluate` call it."""
        return self.name.replace("-", "_")


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, got {text!r}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and up to 1, such as 0.8, got {text!r}")
    return value


def _memory(text: str) -> str:
    from proctor.common.byte_sizes import EXPECTED, read_size

    if read_size(text) is None:
        raise argparse.ArgumentTypeError(f"expected {EXPECTED}, got {text!r}")
    return text


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError(f"expected one or more names, separated by commas, got {text!r}")
    return names


def _compat(text: str) -> str:
    if text != "adk":
        raise argparse.ArgumentTypeError(f"expected adk, got {text!r}")
    return text


def _flag(text: str) -> bool:
    known = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    if text.strip().lower() not in known:
        raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")
    return known[text.strip().lower()]


OPTIONS = (
    Option("agent", "Agent under test; with it, eval sets in folders are collected, too.", "AGENT"),
    Option("agent-name", "Run this sub-agent instead of the root agent.", "NAME"),
    Option("config", "The criteria. Without it: test_config.json beside each set or above it.", "FILE"),
    Option("num-runs", "Run every case N times.", "N", _whole(1)),
    Option("min-pass-rate", "The share of a case's trials that must pass, such as 0.8.", "SHARE", _share),
    Option("concurrency", "Trials under way at once (8).", "N", _whole(1)),
    Option("isolate", "Run a Python agent in worker processes.", "", _flag),
    Option("isolate-memory", "What each of them may take, such as 2GB; isolates, too.", "SIZE", _memory),
    Option("timeout", "Seconds that one turn may take (300).", "S", _seconds),
    Option("trial-timeout", "Seconds that one trial may take.", "S", _seconds),
    Option(
        "retry-errors",
        "Try a trial again up to N times after an infrastructure error or a played user at fault.",
        "N",
        _whole(0),
    ),
    Option("max-text", "Characters of one text of the agent that are kept (1048576).", "N", _whole(1)),
    Option("max-events", "Events in one turn after which an agent is stopped (10000).", "N", _whole(1)),
    Option("store", "Keep the run there, for `proctor show`: a URL (sqlite:///PATH) or a path.", "URL"),
    Option("metrics", "Only these metrics of the config.", "A,B", _names),
    Option("no-judge", "Leave out the metrics that ask a language model.", "", _flag),
    Option("judge", "The model that judge metrics ask.", "MODEL"),
    Option("user", "Who plays the users of scenarios: a model, module:function or file.py:function.", "WHO"),
    Option("compat", "`adk`: score exactly as google-adk does.", "adk", _compat),
    Option("allow-duplicate-ids", "Run cases that share an id under distinct ones.", "", _flag),
    Option(
        "allow-unknown-keys",
        "Only warn of keys that seem to state an expectation and that nothing reads.",
        "",
        _flag,
    ),
    Option("warnings-as-errors", "Refuse eval sets and configs that have warnings.", "", _flag),
    Option(
        "allow-unasserted", "Run a case that asserts nothing, and skip it, instead of refusing it.", "", _flag
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its twin."""
    group = parser.getgroup("proctor", "evaluating agents (proctor)")
    for option in OPTIONS:
        dest = f"proctor_{option.key}"
        # pytest formats its help with %
        told = option.help.replace("%", "%%")
        if option.metavar:
            group.addoption(
                f"--proctor-{option.name}", dest=dest, metavar=option.metavar, type=option.read, help=told
            )
        else:
            group.addoption(
                f"--proctor-{option.name}", dest=dest, action="store_true", default=None, help=told
            )
        parser.addini(dest, option.help, default="")


def given(config: pytest.Config) -> dict[str, Any]:
    """Return what the command line says; `None` for what it does not say."""
    return {option.key: config.getoption(f"proctor_{option.key}") for option in OPTIONS}


def stated(config: pytest.Config) -> dict[str, Any]:
    """Return what pytest's ini file says.

    Raises:
        ValueError: something in it cannot be.
    """
    found = {}
    for option in OPTIONS:
        text = config.getini(f"proctor_{option.key}")
        if text not in (None, ""):
            try:
                found[option.key] = option.read(str(text))
            except argparse.ArgumentTypeError as error:
                raise ValueError(f"proctor_{option.key}: {error}") from None
    return found
