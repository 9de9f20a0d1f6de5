"""The project's settings: `proctor.toml`, or `[tool.proctor]` in `pyproject.toml`.

They are what a bare `proctor eval` runs. They are searched from the working folder upwards to the nearest project
root; the command line wins over them. Paths in them are relative to the file they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from proctor.common.byte_sizes import EXPECTED, read_size
from proctor.common.quick_dataclasses import dataclass, field
from proctor.errors import SettingsError, did_you_mean

SETTINGS_FILE = "proctor.toml"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the project says about itself. Everything may be left out."""

    file: Path | None = None
    """The file these settings come from; `None` when there is none."""
    agent: tuple[str, ...] = ()
    """AGENT strings; more than one makes a matrix."""
    agent_name: str | None = None
    sets: tuple[str, ...] = ()
    """Eval-set selectors: files, folders, `file:case_1,case_2`, ids of sets in the agent's folder."""
    config: str | None = None
    judge: str | None = None
    user: str | None = None
    """Who plays the users of scenarios: a model's name, `module:function` or `file.py:function`."""
    store: tuple[str, ...] = ()
    """Where runs are kept, and where their results are also written (`adk:DIR`)."""
    concurrency: int | None = None
    isolate: bool = False
    """Whether a Python agent runs in worker processes."""
    isolate_memory: str | int | None = None
    """What each of them may take: `"2GB"`."""
    timeout: float | None = None
    """Seconds for one turn."""
    trial_timeout: float | None = None
    """Seconds for one whole trial."""
    max_text: int | None = None
    """Characters that one text of an agent may have."""
    max_events: int | None = None
    """Events that an agent may emit in one turn."""
    max_cost: float | None = None
    """US dollars that one run may spend on models."""
    max_judge_calls: int | None = None
    """How often one run may ask judges."""
    num_runs: int | None = None
    retry_errors: int | None = None
    metrics: tuple[str, ...] = ()
    compat: str | None = None
    allow_unknown_keys: bool = False
    """Whether keys that state an expectation and that nothing reads are only warned of."""
    warnings_as_errors: bool = False
    """Whether every warning about the set-up of a run is a configuration error."""
    allow_unasserted: bool = False
    """Whether a case that asserts nothing runs as *skipped*; else it is refused."""
    setup: str | None = None
    teardown: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for the agent; one that is already set keeps its value."""


def project_root(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, that is the root of a project; `None` without one.

    That is a folder with a `proctor.toml`, a `[tool.proctor]` or a `.git`; where none has these, the nearest one
    with any `pyproject.toml`.
    """
    folders = _upwards(start)
    marked = (folder for folder in folders if _is_marked(folder))
    packaged = (folder for folder in folders if (folder / PYPROJECT).is_file())
    return next(marked, None) or next(packaged, None)


def load_settings(start: Path) -> Settings:
    """Read the settings that hold in the folder `start`; empty ones when the project has none.

    Raises:
        SettingsError: the file cannot be read, has unknown keys or values that cannot be, or there are two files
            in one folder. Every problem is named with its line.
    """
    root = project_root(start)
    if root is None:
        return Settings()
    own, shared = root / SETTINGS_FILE, root / PYPROJECT
    table = _tool_table(shared) if shared.is_file() else None
    if own.is_file() and table is not None:
        raise SettingsError(
            f"Two settings in one folder: {own} and [tool.proctor] in {shared}. Keep one of them: "
            f"it would not be clear which one holds."
        )
    if own.is_file():
        return _read(own, _parse(own), "")
    return _read(shared, table, "tool.proctor") if table is not None else Settings()


# --- finding ---------------------------------------------------------------------------------------------------------


def _upwards(start: Path) -> list[Path]:
    start = start.absolute()
    return [start, *start.parents]


def _is_marked(folder: Path) -> bool:
    if (folder / SETTINGS_FILE).is_file() or (folder / ".git").exists():
        return True
    shared = folder / PYPROJECT
    return shared.is_file() and _mentions_proctor(shared)


def _mentions_proctor(path: Path) -> bool:
    """Tell whether a pyproject.toml has our table; a broken one that seems to is reported when it is read."""
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


def _tool_table(path: Path) -> Any:
    return _parse(path)["tool"]["proctor"] if _mentions_proctor(path) else None


# --- reading ---------------------------------------------------------------------------------------------------------


def _parse(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8: {error.reason} at byte {error.start}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None


def _read(path: Path, table: Any, prefix: str) -> Settings:
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: {prefix} must be a table of settings, not {_shown(table)}")
    values: dict[str, Any] = {}
    problems: list[str] = []
    spelled: dict[str, str] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        problem = _problem(name, value)
        if name in spelled:
            problem = f"{key!r} and {spelled[name]!r} are the same setting: keep one"
        if problem:
            problems.append(f"{_place(path, prefix, key)}: {problem}")
        spelled[name] = key
        values[name] = value
    if problems:
        raise SettingsError("\n".join(problems))
    return Settings(file=path, **{name: resolved(name, value, path.parent) for name, value in values.items()})


def _problem(name: str, value: Any) -> str:
    if name in {"tool", "proctor"} and isinstance(value, dict):
        return (
            f"the settings stand at the top of {SETTINGS_FILE}, in no table: take the header [{name}…] away"
        )
    if name not in _KINDS:
        known = ", ".join(_KINDS)
        return f"there is no setting {name!r}.{did_you_mean(name, _KINDS)} Known: {known}"
    expected, fits = _KINDS[name]
    return "" if fits(value) else f"{name!r} must be {expected}, not {_shown(value)}"


def _place(path: Path, prefix: str, key: str) -> str:
    """Return `file:line` of `key`; the file alone where a search of its lines does not find it."""
    inside = not prefix
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        text = line.strip()
        header = re.match(r"\[+\s*([^\]]+?)\s*\]+", text)
        if header:
            name = header[1].replace(" ", "").replace('"', "").replace("'", "")
            inside = name == prefix
            if name == f"{prefix}.{key}".lstrip(".") or (not prefix and name.startswith(f"{key}.")):
                return f"{path}:{number}"
        elif inside and re.match(rf"[\"']?{re.escape(key)}[\"']?\s*[=.]", text):
            return f"{path}:{number}"
    return str(path)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    kind = "the array " if isinstance(value, list) else "the text " if isinstance(value, str) else ""
    return kind + (text if len(text) <= 60 else f"{text[:57]}...")


# --- what each setting may be ----------------------------------------------------------------------------------------


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return _text(value) or (isinstance(value, list) and bool(value) and all(map(_text, value)))


def _whole(least: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _above_0(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")


def _variables(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _function(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[^:\s]+:[A-Za-z_][\w.]*", value) is not None


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "agent": ("an agent, or an array of agents to compare", _texts),
    "agent_name": ("the name of an agent", _text),
    "sets": ("an eval set, or an array of eval sets", _texts),
    "config": ("the path of a config file", _text),
    "judge": ("the name of a model", _text),
    "user": ("the name of a model, module:function or file.py:function", _text),
    "store": ("the URL of a store, or an array of URLs", _texts),
    "concurrency": ("a whole number of at least 1", _whole(1)),
    "isolate": ("true or false", lambda value: isinstance(value, bool)),
    "isolate_memory": (EXPECTED, lambda value: read_size(value) is not None),
    "timeout": ("a number of seconds above 0", _above_0),
    "trial_timeout": ("a number of seconds above 0", _above_0),
    "max_text": ("a whole number of at least 1", _whole(1)),
    "max_events": ("a whole number of at least 1", _whole(1)),
    "max_cost": ("a number of US dollars above 0", _above_0),
    "max_judge_calls": ("a whole number of at least 1", _whole(1)),
    "num_runs": ("a whole number of at least 1", _whole(1)),
    "retry_errors": ("a whole number of at least 0", _whole(0)),
    "metrics": ("the name of a metric, or an array of names", _texts),
    "compat": ('"adk"', lambda value: value == "adk"),
    "allow_unknown_keys": ("true or false", lambda value: isinstance(value, bool)),
    "warnings_as_errors": ("true or false", lambda value: isinstance(value, bool)),
    "allow_unasserted": ("true or false", lambda value: isinstance(value, bool)),
    "setup": ('"module:function"', _function),
    "teardown": ('"module:function"', _function),
    "env": ("a table of environment variables, each a text", _variables),
}


# --- paths are relative to the file ------------------------------------------------------------------------------------


def resolved(name: str, value: Any, folder: Path) -> Any:
    """Return the value of the setting `name` with its paths seen from `folder`, where it was written."""
    if name in {"agent", "sets", "metrics"}:
        items = [value] if isinstance(value, str) else value
        return tuple(items if name == "metrics" else [anchored(item, folder) for item in items])
    if name == "config":
        return str(folder / value)
    if name == "user":
        return anchored(value, folder) if re.search(r"\.py(:|$)", value) else value
    if name == "store":
        return tuple(_anchored_url(url, folder) for url in ([value] if isinstance(value, str) else value))
    return value


def anchored(reference: str, folder: Path) -> str:
    """Make the path in `path` or `path:names` absolute where it exists; leave modules, ids and prefixes alone."""
    if (folder / reference).exists():
        return str(folder / reference)
    path, colon, names = reference.partition(":")
    if colon and path and (folder / path).exists():
        return f"{folder / path}:{names}"
    looks_like_path = "/" in path or path.endswith((".json", ".yaml", ".yml", ".py"))
    return f"{folder / path}{colon}{names}" if looks_like_path and not names.startswith("//") else reference


def _anchored_url(url: str, folder: Path) -> str:
    """Make the path in a store's URL absolute; what names no path stays."""
    found = re.fullmatch(r"(sqlite:(?:///)?|adk:(?://)?|)([^:]*)", url)
    if found is None or not found[2] or found[2].startswith("~"):
        return url
    return f"{found[1]}{folder / found[2]}"
