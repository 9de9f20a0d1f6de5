"""The root folder of a user's project."""

from __future__ import annotations

import re
from pathlib import Path

SETTINGS_FILE = "proctor.toml"
PYPROJECT = "pyproject.toml"


def project_root(start: Path) -> Path | None:
    """Return the root of the project that `start` is in: the nearest folder upwards with a mark; `None` without one.

    Marks are a `proctor.toml`, a `[tool.proctor]` and a `.git`; if no folder has one, any `pyproject.toml`.
    """
    start = start.absolute()
    folders = [start, *start.parents]
    marked = (folder for folder in folders if _is_marked(folder))
    packaged = (folder for folder in folders if (folder / PYPROJECT).is_file())
    return next(marked, None) or next(packaged, None)


def _is_marked(folder: Path) -> bool:
    if (folder / SETTINGS_FILE).is_file() or (folder / ".git").exists():
        return True
    shared = folder / PYPROJECT
    return shared.is_file() and has_settings(shared)


def has_settings(path: Path) -> bool:
    """Return whether a pyproject.toml has `[tool.proctor]`. A broken file that seems to have it counts: reading it reports the error."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    try:
        if "proctor" not in text:
            return False
        tool = tomllib.loads(text).get("tool")
        return isinstance(tool, dict) and "proctor" in tool
    except tomllib.TOMLDecodeError:
        return re.search(r"^\s*\[\s*tool\s*\.\s*[\"']?proctor\b", text, re.MULTILINE) is not None
