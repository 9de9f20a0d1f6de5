"""`proctor eval --watch`: re-run whenever the agent, an eval set, a config or the settings change.

Each run is a separate process, so that it imports the changed code. Changes are detected by polling modification times and
sizes; this needs no further package.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from proctor.cli.command_base import common
from proctor.cli.eval.eval_request import select_agents_and_sets
from proctor.cli.messages import Stopped, notify
from proctor.files.eval_sets.selectors import CONFIG_NAMES, split_existing
from proctor.runs.setup.settings import PYPROJECT, SETTINGS_FILE, load_settings, prepare_process, project_root
from proctor.schema.results.exit_code import ExitCode

_PAUSE = 0.3
"""Seconds between two polls."""
_CHILD_ENDS = 12.0
"""Seconds until a run that does not end after SIGTERM is killed: slightly more than an orderly end takes."""
_SOURCES = {".py", ".json", ".jsonc", ".yaml", ".yml", ".toml", ".md", ".txt", ".env", ".prompt", ".j2"}
_IGNORED = {"__pycache__", "node_modules", "venv", "build", "dist"}
_MOST_FILES = 10_000

Snapshot = dict[Path, tuple[int, int]]


def watch(words: Sequence[str], options: Mapping[str, Any]) -> int:
    """Run, wait for a change, and re-run, until Ctrl-C ends the loop with exit code 130."""
    settings = load_settings(Path.cwd())
    prepare_process(settings)
    request = select_agents_and_sets(words, options["agents"], options["sets"], settings)
    files = _named_files(request.sets, options.get("config") or settings.config)
    folders = list(_agent_folders(request.agents))
    command = [sys.executable, "-m", "proctor", *(word for word in common().arguments if word != "--watch")]
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        while True:
            _run_once(command, files, folders)
    except KeyboardInterrupt:
        notify("stopped watching")
        return ExitCode.INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Stopped(ExitCode.TERMINATED)


def _run_once(command: Sequence[str], files: Sequence[Path], folders: Sequence[Path]) -> None:
    """Run the command once and return after the next change. A change during the run stops it early.

    During the run only code and the named files count, because the agent itself may change other files.
    """
    before = snapshot(files, folders)
    child = subprocess.Popen(command)
    try:
        while child.poll() is None:
            time.sleep(_PAUSE)
            changed = [
                path
                for path in _changes(before, snapshot(files, folders))
                if path.suffix == ".py" or path in files
            ]
            if changed:
                return _announce(changed)
        before = snapshot(files, folders)
        notify(f"watching {len(before)} files; Ctrl-C ends it")
        while not (changed := _changes(before, snapshot(files, folders))):
            time.sleep(_PAUSE)
        return _announce(changed)
    finally:
        _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_CHILD_ENDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _announce(changed: Sequence[Path]) -> None:
    more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
    notify(f"changed: {changed[0]}{more}")
    time.sleep(_PAUSE)  # editors save in several steps


# --- Watched files ---------------------------------------------------------------------------------------------------


def snapshot(files: Iterable[Path], folders: Iterable[Path]) -> Snapshot:
    """Return the modification time and the size of every watched file that exists."""
    stamps: Snapshot = {}
    for path in (*files, *(file for folder in folders for file in _files_in(folder))):
        try:
            status = path.stat()
        except OSError:
            continue
        stamps[path] = (status.st_mtime_ns, status.st_size)
        if len(stamps) >= _MOST_FILES:
            break
    return stamps


def _changes(before: Snapshot, after: Snapshot) -> list[Path]:
    """Return the files that were added, removed or changed."""
    return sorted({path for path, _ in before.items() ^ after.items()})


def _named_files(selectors: Iterable[str], config: str | None) -> list[Path]:
    """Return the eval sets, all files that may configure them, and the settings, whether they exist or not."""
    root = project_root(Path.cwd()) or Path.cwd()
    files = [root / SETTINGS_FILE, root / PYPROJECT]
    if config:
        files.append(Path(config).absolute())
    for selector in selectors:
        path = Path(split_existing(selector)[0]).absolute()
        files += _files_in(path) if path.is_dir() else [path]
        above = [folder for folder in (path, *path.parents) if folder == root or root in folder.parents]
        files += [folder / name for folder in above or [path.parent] for name in CONFIG_NAMES]
    return list(dict.fromkeys(files))


def _agent_folders(agents: Iterable[str]) -> Iterator[Path]:
    """Return the folders of the agents; an agent that is not a local file has none."""
    from proctor.agents.reference import read_reference

    for agent in agents:
        folder = read_reference(agent).folder
        if folder is not None:
            yield folder


def _files_in(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _IGNORED]
        yield from (Path(where, name) for name in names if Path(name).suffix in _SOURCES or name == ".env")
