"""Resolution of the name of a simulated user: a model, or a function in a module or a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.common.error_text import safe_str
from proctor.errors import SetupError, UnknownNameError, did_you_mean

__all__ = ["AN_OBJECT", "FUNCTION", "find_user", "is_function"]

FUNCTION = "user"
"""The default name of the function in a file."""
AN_OBJECT = "<an object in Python>"
"""Placeholder in a manifest for a simulated user that has no name."""
_FILE = re.compile(r"(?P<file>.+\.py)(:(?P<name>[^\W\d][\w.]*))?", re.DOTALL)
_DOTTED = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):[^\W\d][\w.]*")
_FUNCTIONS = "A function is named by MODULE:FUNCTION or FILE.py:FUNCTION."


def find_user(named: str) -> str | Callable[..., Any]:
    """Return the function with this name, or the name of a model unchanged.

    `file.py:function` and `module:function` are functions (`file.py` alone: its function `user`), unless the part
    before the colon is a provider of models.

    Raises:
        SetupError: the function does not exist, or no model has this name.
    """
    from proctor.common.registry import MODELS
    from proctor.models.names import parse_name

    if named == AN_OBJECT:
        raise SetupError(
            "user: whoever played in this run was an object in Python: give it again, resume(run, user=…)"
        )
    if is_function(named):
        if (found := _FILE.fullmatch(named)) is not None:
            return _in_file(Path(found["file"]), found["name"] or FUNCTION, named)
        return _in_module(named.partition(":")[0], named)
    try:
        parse_name(named, MODELS.names())
    except UnknownNameError as problem:
        raise UnknownNameError(f"user: {problem} {_FUNCTIONS}") from None
    return named


def is_function(named: str) -> bool:
    """Return whether the name is that of a function rather than of a model; nothing is imported."""
    from proctor.common.registry import MODELS
    from proctor.models.names import ALIASES

    prefix = named.partition(":")[0].strip().lower()
    if prefix in {*MODELS.names(), *ALIASES}:
        return False
    dotted = _DOTTED.fullmatch(named)
    return _FILE.fullmatch(named) is not None or (dotted is not None and _is_module(dotted["module"]))


def _in_module(dotted: str, named: str) -> Callable[..., Any]:
    from proctor.agents.import_user_code import import_module_path
    from proctor.runs.setup.project_defaults import load_function

    with suppress(Exception):  # imports as agents are imported; `load_function` reports errors
        import_module_path(dotted)
    return load_function(named, "user")


def _is_module(dotted: str) -> bool:
    """Return whether a package or module with the first name exists; nothing is imported."""
    from importlib.util import find_spec

    first = dotted.partition(".")[0]
    if Path(first).is_dir() or Path(f"{first}.py").is_file():
        return True
    try:
        return find_spec(first) is not None
    except (ImportError, ValueError):
        return False


def _in_file(file: Path, name: str, named: str) -> Callable[..., Any]:
    if not file.is_file():
        raise SetupError(f"user: there is no file {file}. {_FUNCTIONS}")
    from proctor.agents.import_user_code import import_folder

    try:
        module = import_folder(file.parent, file.stem)
    except (Exception, SystemExit) as error:  # a script that exits on import must not end this process
        raise SetupError(
            f"user: {file} cannot be imported: {type(error).__name__}: {safe_str(error)}"
        ) from error
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        has = [known for known, value in vars(module).items() if callable(value) and known[0] != "_"]
        what = "no function" if function is None else f"a {type(function).__name__}, and no function, called"
        raise SetupError(f"user: {named}: {file} has {what} {name!r}.{did_you_mean(name, has)}")
    found: Callable[..., Any] = function
    return found
