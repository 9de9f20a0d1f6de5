"""Which apps there are: the folders of agents, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor.agents.load import agent_folder
from proctor.agents.reference import CONFIG_FILE
from proctor.errors import unknown_name
from proctor.files.find import require_path_segment
from proctor.settings import load_settings

_MARKS = ("agent.py", CONFIG_FILE, "__init__.py", "agent/__init__.py")
"""What makes a folder an agent's: one of these."""


@dataclass(frozen=True, slots=True)
class App:
    """One agent's folder."""

    name: str
    folder: Path
    reference: str
    """The AGENT string."""


def apps_of(agents: Path | None, root: Path) -> dict[str, App]:
    """Return the apps by name, sorted: the folders in `agents`, or `agents` itself where it is one agent's.

    Without `agents` those that the project's settings name; none named: the folders in the project's root.
    """
    if agents is None:
        return _named_by_settings(root) or _in_folder(root)
    folder = agents.absolute()
    own = not folder.is_dir() or is_app(folder)
    found = _one(folder) if own else {}
    return found or _in_folder(folder)


def is_app(folder: Path) -> bool:
    """Whether a folder is an agent's. One with agents in it and an `__init__.py` is not."""
    if not any((folder / mark).is_file() for mark in _MARKS):
        return False
    return (folder / "agent.py").is_file() or (folder / CONFIG_FILE).is_file() or not _in_folder(folder)


def _one(folder: Path) -> dict[str, App]:
    """A folder, or a file in it (`agents/travel/flawed.py`)."""
    home = folder if folder.is_dir() else folder.parent
    return {home.name: App(home.name, home, str(folder))} if folder.exists() else {}


def _in_folder(folder: Path) -> dict[str, App]:
    if not folder.is_dir():
        return {}
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _may_be_one(entry.name))
    inside = {name: folder / name for name in names}
    return {
        name: App(name, place, str(place))
        for name, place in inside.items()
        if any((place / mark).is_file() for mark in _MARKS)
    }


def _may_be_one(name: str) -> bool:
    return not name.startswith((".", "__")) and name not in {"node_modules", "tests", "test"}


def _named_by_settings(root: Path) -> dict[str, App]:
    found = {}
    for reference in load_settings(root).agent:
        if (folder := agent_folder(reference)) is not None:
            found[folder.name] = App(folder.name, folder, reference)
    return dict(sorted(found.items()))


def find_app(apps: Mapping[str, App], name: str) -> App:
    """Return an app.

    Raises:
        UnknownNameError: there is none of that name.
        SetupError: the name could never be one.
    """
    require_path_segment(name, "the app name")
    if name not in apps:
        raise unknown_name("app", name, list(apps))
    return apps[name]
