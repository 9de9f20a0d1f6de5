"""The options of a stored run that a new run may have: what is loaded is of the project, and no other machine is named.

A store may come from an untrusted source. So its manifests can start nothing that the project does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from proctor.engine.run_options import OPTIONS, OptionGroup
from proctor.engine.trial.conversation import HOOKS
from proctor.runs.setup.judge_and_user import is_function
from proctor.runs.setup.settings import Settings
from proctor.schema.results.manifest import Manifest
from proctor.web.pages.start import StartRun
from proctor.web.server.security.allowed_names import model_problem

_SCRIPTED = "scripted:"
"""The prefix of a model that answers from a file."""


def names_of(manifest: Manifest, root: Path) -> list[str]:
    """Return the agent and the judge of a run that are files of the project, relative to its folder."""
    names = (manifest.agent.reference, manifest.options.get("judge"))
    folders = folders_of(manifest, root)
    return [path for name in names if isinstance(name, str) and (path := _locate(name, folders, root))]


def repeatable_options(manifest: Manifest, root: Path, settings: Settings) -> dict[str, Any]:
    """Return the options that a request has no field for and that a page may use, by name."""
    options = {
        name: located(value, manifest, root) if name == "user" and isinstance(value, str) else value
        for name, value in _other_options(manifest).items()
    }
    return {name: value for name, value in options.items() if _is_allowed(name, value, root, settings)}


def left_out_options(manifest: Manifest, root: Path, settings: Settings) -> dict[str, Any]:
    """Return the options that a page cannot repeat, by name: all that a request has no field for if the run was imported."""
    repeatable = {} if manifest.imported_from else repeatable_options(manifest, root, settings)
    return {name: value for name, value in _other_options(manifest).items() if name not in repeatable}


def _other_options(manifest: Manifest) -> dict[str, Any]:
    """Return the options that a request has no field for, without those that selected the cases or wrote files."""
    return {
        name: value
        for name, value in manifest.options.items()
        if (option := OPTIONS.get(name)) is not None
        and value != option.default
        and name not in StartRun.model_fields
        and (bool(option.flags) or option.group in (OptionGroup.TRIALS, OptionGroup.SCORING))
        and (option.group is not OptionGroup.CASES or name == "agent_name")
    }


def _is_allowed(name: str, value: Any, root: Path, settings: Settings) -> bool:
    if not OPTIONS[name].flags:
        return False
    if name == "on":
        return bool(value == "processes")
    if name not in ("user", *HOOKS):
        return True
    if not isinstance(value, str):
        return False
    if name == "user" and not is_function(value):
        return _locate(value, [root], root) is not None or not model_problem(value, settings)
    return _is_function(value, root)


def _is_function(reference: str, root: Path) -> bool:
    """Return whether the file of `FILE.py:NAME`, or the first package of `MODULE:NAME`, is below the project's folder."""
    names = reference.partition(":")[0].split(".")
    if all(map(str.isidentifier, names)) and (
        (root / f"{names[0]}.py").is_file() or (root / names[0]).is_dir()
    ):
        return True
    return _locate(reference, [root], root) is not None


def located(reference: str, manifest: Manifest, root: Path) -> str:
    """Return a recorded path, `FILE.py:NAME` or `scripted:FILE`, relative to the project's folder; unchanged if it is not below it."""
    return _locate(reference, folders_of(manifest, root), root) or reference


def _locate(reference: str, folders: Sequence[Path], root: Path) -> str | None:
    """Return a path, `FILE.py:NAME` or `scripted:FILE` relative to `root`; `None` if none of `folders` has it, or only outside of `root`."""
    rest = reference.removeprefix(_SCRIPTED)
    start, colon, name = rest.partition(".py:")
    for folder in folders:
        path = folder / (f"{start}.py" if colon else rest)
        with suppress(OSError, ValueError):
            if path.exists():
                relative = path.resolve().relative_to(root.resolve()).as_posix()
                return reference.removesuffix(rest) + relative + colon[3:] + name
    return None


def folders_of(manifest: Manifest, root: Path) -> list[Path]:
    """Return the folders that recorded paths may be relative to: that of the run, or this project, if it was copied."""
    return [Path(manifest.folder), root] if manifest.folder else [root]
