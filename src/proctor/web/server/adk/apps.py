"""The apps: the folders of agents, by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from proctor.agents.load import agent_folder
from proctor.agents.reference import CONFIG_FILE
from proctor.agents.remote.http.address import Address, read_address
from proctor.errors import AgentLoadError, unknown_name
from proctor.files.eval_sets.selectors import path_segment_fault, require_path_segment
from proctor.runs.setup.settings import load_settings

_ADK_SERVER = "adk+http"
_MARKS = ("agent.py", CONFIG_FILE, "__init__.py", "agent/__init__.py")
"""A folder with one of these files is an agent's."""


@dataclass(frozen=True, slots=True)
class App:
    """One agent's folder."""

    name: str
    folder: Path
    reference: str
    """The AGENT string."""
    is_remote: bool = False
    """Whether its agent is an app of another server; the folder then contains only eval sets and results."""


def apps_of(agents: Path | None, root: Path) -> dict[str, App]:
    """Return the apps by name, sorted: the folders in `agents`, or `agents` itself if it is an agent's folder.

    Without `agents` the apps are those of the project's settings, else the folders in the project's root.
    """
    if agents is None:
        return _named_by_settings(root) or _apps_in_folder(root)
    folder = agents.absolute()
    single = _single_app(folder) if not folder.is_dir() or is_app(folder) else {}
    return single or _apps_in_folder(folder)


def is_app(folder: Path) -> bool:
    """Return whether a folder is an agent's. A folder that contains agents and an `__init__.py` is not."""
    if not any((folder / mark).is_file() for mark in _MARKS):
        return False
    return (folder / "agent.py").is_file() or (folder / CONFIG_FILE).is_file() or not _apps_in_folder(folder)


def _single_app(folder: Path) -> dict[str, App]:
    """Return the app of a folder, or of a file in it (`agents/travel/flawed.py`)."""
    home = folder if folder.is_dir() else folder.parent
    return {home.name: App(home.name, home, str(folder))} if folder.exists() else {}


def _apps_in_folder(folder: Path) -> dict[str, App]:
    if not folder.is_dir():
        return {}
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and _may_be_app(entry.name))
    inside = {name: folder / name for name in names}
    return {
        name: App(name, place, str(place))
        for name, place in inside.items()
        if any((place / mark).is_file() for mark in _MARKS)
    }


def _may_be_app(name: str) -> bool:
    return not name.startswith((".", "__")) and name not in {"node_modules", "tests", "test"}


def _named_by_settings(root: Path) -> dict[str, App]:
    apps: dict[str, App] = {}
    remote: list[Address] = []
    references: dict[Address, str] = {}
    for reference in load_settings(root).agent:
        if (folder := agent_folder(reference)) is not None:
            apps[folder.name] = App(folder.name, folder, reference)
        elif (address := _adk_server(reference)) is not None:
            remote.append(address)
            references[address] = reference
    for address in remote:
        name = _free_name(address, apps)
        apps[name] = App(name, root / name, references[address], is_remote=True)
    return dict(sorted(apps.items()))


def _adk_server(reference: str) -> Address | None:
    """Return the address after `adk+http:`; `None` for any other reference, and for an invalid address."""
    kind, _, rest = reference.strip().partition(":")
    if kind != _ADK_SERVER:
        return None
    try:
        return read_address(rest, kind=kind)
    except AgentLoadError:  # a run reports it
        return None


def _free_name(address: Address, apps: Mapping[str, App]) -> str:
    """Return the name for an app of another server: its own, with the server's name if another app has it."""
    server = re.sub(r"\W+", "_", f"{address.host}_{address.port}").strip("_")
    own = unquote(address.path.rpartition("/")[2])
    if path_segment_fault(own):
        return server
    return own if own not in apps else f"{own}_{server}"


def find_app(apps: Mapping[str, App], name: str) -> App:
    """Return an app.

    Raises:
        UnknownNameError: there is no app of that name.
        SetupError: the name is invalid.
    """
    require_path_segment(name, "the app name")
    if name not in apps:
        raise unknown_name("app", name, list(apps))
    return apps[name]
