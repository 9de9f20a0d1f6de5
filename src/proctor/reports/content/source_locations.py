"""The location of a case as the tools of a repository name it: a path from the root of the git working copy, and a line."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

_PLACE = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d{0,8})", re.DOTALL)


def place_of(place: str) -> tuple[str, int | None]:
    """Return file and line of `file:line`; a place of another form is all file, and ("", None) is nowhere.

    The file is named from the root of the git working copy that it is in, with `/` between folders; outside of one,
    as it came.
    """
    found = _PLACE.fullmatch(place)
    file, line = (found["file"], int(found["line"])) if found else (place, None)
    return file_of(file), line


def file_of(file: str) -> str:
    """Return how a file is named from the root of its working copy."""
    try:
        return _from_root(file, str(Path.cwd())) if file else ""
    except (OSError, ValueError):  # no path at all (too long, NUL), or the working folder is gone
        return file


@lru_cache(maxsize=256)
def _from_root(file: str, here: str) -> str:
    path = Path(os.path.normpath(Path(here, file)))  # links stay: git has them under this name
    root = next((above for above in path.parents if (above / ".git").exists()), None)
    if root is None or not path.is_file():
        return file.replace(os.sep, "/")
    return path.relative_to(root).as_posix()


# --- The lines of a file, as its line ends part them ------------------------------------------------------------------


def lines_of(text: str) -> list[str]:
    """Return the lines of a file: only line ends part them, not what Unicode takes for one (U+2028)."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]
