"""What a project asks of a run: its settings under what was given with the run, and what they need of this process."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.common.error_text import safe_str
from proctor.errors import SetupError, did_you_mean
from proctor.runs.setup.judge_provider import judge_named
from proctor.settings import Settings


def as_seen_from_here(path: str) -> str:
    """Shorten a path below the working folder: where it was written changes nothing that is printed."""
    return path.removeprefix(f"{Path.cwd()}{os.sep}")


def first_given(*values: Any) -> Any:
    """Return the first value that was given at all."""
    return next((value for value in values if value is not None), None)


def engine_options(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of `proctor.api.evaluate`: what was given, else the settings, else its defaults."""
    wanted: dict[str, Any] = {
        name: first_given(given.get(name), getattr(settings, name))
        for name in (
            "config", "agent_name", "num_runs", "concurrency", "timeout", "trial_timeout", "retry_errors",
            "compat", "setup", "teardown", "user", "max_text", "max_events", "max_cost", "max_judge_calls",
            "isolate_memory",
        )
    }  # fmt: skip
    if settings.config and not given.get("config"):
        wanted["config"] = as_seen_from_here(settings.config)
    for name in ("isolate", "allow_unknown_keys", "warnings_as_errors", "allow_unasserted"):
        wanted[name] = given.get(name) or getattr(settings, name) or None
    wanted["judge"] = judge_named(given.get("judge"), settings.judge)
    wanted["metrics"] = given.get("metrics") or list(settings.metrics) or None
    for name in (
        "until_decided",
        "limit",
        "no_judge",
        "keep_going",
        "allow_duplicate_ids",
        "fail_fast",
        "tags",
        "max_time",
        "max_tokens",
        "max_failures",
    ):
        wanted[name] = given.get(name) or None
    for name in (
        "min_pass_rate",
        "against",
        "margin",
        "shard",
        "changed_since",
    ):  # empty (a variable that is not set) is a slip, not "all cases"
        wanted[name] = given.get(name)
    return {name: value for name, value in wanted.items() if value is not None}


def caps(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the caps on what judges may cost: what was given, else the settings."""
    names = ("max_cost", "max_judge_calls")
    found = {name: first_given(given.get(name), getattr(settings, name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def prepare_process(settings: Settings) -> None:
    """Let modules of the project be imported, and set the environment that its settings ask for."""
    folders = [str(Path.cwd()), *([str(settings.file.parent)] if settings.file else [])]
    installed = (i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
    place = next(installed, len(sys.path))  # no folder may shadow the standard library
    sys.path[place:place] = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    for name, value in settings.env.items():
        os.environ.setdefault(name, value)


def load_function(reference: str, said_by: str) -> Callable[..., Any]:
    """Return the function that `module:function` names.

    Raises:
        SetupError: it cannot be found, with what the module itself raised as the cause.
    """
    module, colon, name = reference.partition(":")
    if not (module and colon and name):
        raise SetupError(f"{said_by} takes module:function, got {reference!r}")
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise SetupError(
            f"{said_by} {reference}: the module {module!r} cannot be imported: {type(error).__name__}: {safe_str(error)}"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = (
                [known for known in vars(found) if not known.startswith("_")]
                if hasattr(found, "__dict__")
                else []
            )
            raise SetupError(f"{said_by} {reference}: {module!r} has no {name!r}.{did_you_mean(name, known)}")
        found = getattr(found, part)
    if not callable(found):
        raise SetupError(f"{said_by} {reference}: that is {type(found).__name__}, not a function")
    function: Callable[..., Any] = found
    return function
