"""The project's settings as options of a run, and the process state that they need."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.common.error_text import safe_str
from proctor.engine.run_options import OPTIONS
from proctor.errors import SetupError, did_you_mean
from proctor.runs.setup.judge_provider import judge_named
from proctor.runs.setup.settings import Settings


def as_seen_from_here(path: str) -> str:
    """Shorten a path below the working folder, so that output does not depend on where the path was written."""
    return path.removeprefix(f"{Path.cwd()}{os.sep}")


def engine_options(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of `evaluate`: the options in `given` that have a value, else the project's settings.

    A flag that is off, an empty list and `None` count as no value, because a command line has them for missing options.
    """
    options: dict[str, Any] = dict(settings.options)
    if settings.config is not None:
        options["config"] = as_seen_from_here(settings.config)
    options |= {name: given[name] for name in OPTIONS if _has_value(given.get(name))}
    judge = judge_named(given.get("judge"), settings.judge)
    return {**options, "judge": judge} if judge is not None else options


def _has_value(value: object) -> bool:
    return value is not None and value is not False and value not in ((), [])


def caps(given: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the limits on the usage of models: those in `given`, else those of the settings."""
    limits = {**settings.options, **{name: value for name, value in given.items() if value is not None}}
    return {name: limits[name] for name in ("max_cost", "max_judge_calls") if name in limits}


def prepare_process(settings: Settings) -> None:
    """Make the modules of the project importable, and set the environment variables of its settings."""
    folders = [str(Path.cwd()), *([str(settings.file.parent)] if settings.file else [])]
    installed = (i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
    place = next(installed, len(sys.path))  # no folder may shadow the standard library
    sys.path[place:place] = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    for name, value in settings.env.items():
        os.environ.setdefault(name, value)


def load_function(reference: str, said_by: str) -> Callable[..., Any]:
    """Return the function that `module:function` names.

    Raises:
        SetupError: the function cannot be found; an exception that the module raised is the cause.
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
