"""The import path of a process that also imports the user's code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

REQUIRED = ("click", "dotenv", "pydantic", "rich", "yaml")
"""The packages that Proctor itself requires. Most are imported late, when the user's folders are on the path."""


def set_import_path(path: Sequence[str]) -> None:
    """Replace `sys.path`. No folder that is new on it hides a package that Proctor itself requires."""
    for folder in {*path} - {*sys.path}:
        for name in REQUIRED:
            if Path(folder, name).is_dir() or Path(folder, f"{name}.py").is_file():
                import_module(name)
    sys.path[:] = path


def before_installed_packages(path: Sequence[str]) -> int:
    """Return where a user's folder has its place: no folder may hide the standard library."""
    installed = (i for i, entry in enumerate(path) if entry.endswith(("site-packages", "dist-packages")))
    return next(installed, len(path))
