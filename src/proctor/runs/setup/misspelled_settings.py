"""Find settings that have no effect because their file or their table is misspelled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from proctor.runs.setup.settings import PYPROJECT, SETTINGS_FILE

_OTHER_FORMS = frozenset({"proctor.yaml", "proctor.yml", "proctor.ini", "proctor.cfg", ".proctor.toml"})
"""Common names of settings files that Proctor does not read."""
_LONGEST = len(SETTINGS_FILE) + 2
_OUTPUTS = (".html", ".htm")
"""Suffixes of reports, which resemble `.toml`."""
_TABLE = re.compile(r"^\s*\[+\s*tool\s*\.\s*[\"']?([\w-]+)", re.MULTILINE)
_BARE_TABLE = re.compile(r"^\s*\[\s*[\"']?proctor[\"']?\s*[\].]", re.MULTILINE)


def misspelled_settings(start: Path, root: Path | None) -> list[str]:
    """Return a warning for each file or table with a name close to that of the settings, from `start` up to the project root."""
    start = start.absolute()
    folders = [folder for folder in (start, *start.parents) if folder.is_relative_to(root or start)]
    return [warning for folder in folders for warning in (*_files(folder), *_tables(folder / PYPROJECT))]


def _files(folder: Path) -> Iterator[str]:
    try:
        names = sorted(entry.name for entry in folder.iterdir() if len(entry.name) <= _LONGEST)
    except OSError:
        return
    for name in names:
        if name != SETTINGS_FILE and _is_near_file(name) and (folder / name).is_file():
            yield f"{folder / name}: nothing reads this file. Did you mean {SETTINGS_FILE!r}?"


def _is_near_file(name: str) -> bool:
    lower = name.lower()
    if lower in _OTHER_FORMS or lower == SETTINGS_FILE:
        return True
    return not lower.endswith(_OUTPUTS) and bool(get_close_matches(lower, [SETTINGS_FILE], cutoff=0.9))


def _tables(file: Path) -> Iterator[str]:
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return
    for name in dict.fromkeys(_TABLE.findall(text)):
        if name != "proctor" and get_close_matches(name.lower(), ["proctor"], cutoff=0.8):
            yield f"{file}: nothing reads the table [tool.{name}]. Did you mean [tool.proctor]?"
    if _BARE_TABLE.search(text):
        yield f"{file}: nothing reads the table [proctor]. Did you mean [tool.proctor]?"
