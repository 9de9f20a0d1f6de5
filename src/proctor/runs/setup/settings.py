"""The project's settings: `proctor.toml`, or `[tool.proctor]` in `pyproject.toml`.

`proctor eval` without arguments uses them. The file is searched from the working folder upwards to the nearest project root. The
command line wins over the settings. Paths in them are relative to the file.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from proctor.agents.import_user_code import before_installed_packages, set_import_path
from proctor.common.option_kinds import Names, OptionKind, Text
from proctor.errors import SettingsError, SetupError
from proctor.files.eval_sets.selectors import CONFIG_NAMES
from proctor.runs.arguments import EvaluateOptions, option_hint
from proctor.runs.setup.judge_and_user import default_judge

SETTINGS_FILE = "proctor.toml"
PYPROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project. Each is optional."""

    file: Path | None = None
    """The file that contains them; `None` if there is none."""
    root: Path | None = field(default=None, compare=False)
    """The root folder of the project; `None` outside of one."""
    agent: tuple[str, ...] = ()
    """AGENT strings; more than one makes a matrix."""
    sets: tuple[str, ...] = ()
    """Eval-set selectors: files, folders, `file:case_1,case_2`, ids of sets in the agent's folder."""
    store: tuple[str, ...] = ()
    """The stores of runs, and places that results are also written to (`adk:DIR`)."""
    artefacts: str = ""
    """The folder or bucket for large images, sounds and files of runs; empty: they are in the store."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for the agent; one that is already set keeps its value."""
    options: EvaluateOptions = field(default_factory=EvaluateOptions)
    """The options of a run that the project sets (`Use.SETTING`)."""

    @property
    def config(self) -> str | None:
        """The path of the config that scores every set."""
        return self._text("config")

    @property
    def judge(self) -> str | None:
        """The name of the model of judges whose criterion names none."""
        return self._text("judge")

    @property
    def user(self) -> str | None:
        """The simulated user of scenarios."""
        return self._text("user")

    def _text(self, name: Literal["config", "judge", "user"]) -> str | None:
        value = self.options.get(name)
        return value if isinstance(value, str) else None

    def override(self, values: Mapping[str, object], folder: Path) -> Settings:
        """Return these settings, overridden by `values` (by setting name); paths in `values` are relative to `folder`."""
        resolved = {name: _resolve_paths(name, value, folder) for name, value in values.items()}
        options: Any = {name: value for name, value in resolved.items() if name not in _PROJECT_KINDS}
        others: Any = {name: value for name, value in resolved.items() if name in _PROJECT_KINDS}
        return replace(self, **others, options={**self.options, **options})


def load_settings(start: Path) -> Settings:
    """Read the settings that apply in the folder `start`; empty settings if the project has none.

    Raises:
        SettingsError: the file cannot be read, has unknown keys or invalid values, or there are two files
            in one folder. Every problem has its line.
    """
    root = project_root(start)
    if root is None:
        return Settings()
    settings = Settings(root=root)
    own, shared = root / SETTINGS_FILE, root / PYPROJECT
    table = _parse(shared)["tool"]["proctor"] if shared.is_file() and has_settings(shared) else None
    if own.is_file() and table is not None:
        raise SettingsError(
            f"Two settings in one folder: {own} and [tool.proctor] in {shared}. Keep one of them: "
            f"it would not be clear which one holds."
        )
    if own.is_file():
        return _read_table(settings, own, _parse(own), "")
    return settings if table is None else _read_table(settings, shared, table, "tool.proctor")


# --- the root of the project, and the config of a set in it -----------------------------------------------------------


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


def find_config(set_path: Path) -> Path | None:
    """Return the `test_config.json` of a set: next to it, else in the nearest folder above, up to the project's root.

    ADK uses only a JSON file next to the set; so does Proctor outside of a project. `None` if there is no config. Raises
    SetupError if a folder has two.
    """
    folder = set_path.absolute().parent
    root = project_root(folder)
    for place in [folder, *folder.parents]:
        configs = [str(place / name) for name in CONFIG_NAMES if _is_config(place / name)]
        if not set_path.is_absolute():
            configs = [*map(relative_to_working_folder, configs)]
        if len(configs) > 1:
            raise SetupError(
                f"{configs[0]} and {configs[1]}: only one may configure {set_path.name}; remove the other"
            )
        if configs:
            return Path(configs[0])
        if place == root or root is None:
            return None
    return None


def _is_config(path: Path) -> bool:
    """Whether a config is a file or a broken link; reading reports the broken link."""
    return path.is_file() or (path.is_symlink() and not path.exists())


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


def _read_table(empty: Settings, path: Path, table: Any, prefix: str) -> Settings:
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: {prefix} must be a table of settings, not {_value_text(table)}")
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
    return replace(empty, file=path).override(values, path.parent)


def _problem(name: str, value: Any) -> str:
    if name in {"tool", "proctor"} and isinstance(value, dict):
        return f"the settings are at the top of {SETTINGS_FILE}, in no table: take the header [{name}…] away"
    kinds = setting_kinds()
    if name not in kinds:
        return f"there is no setting {name!r}.{option_hint(name, kinds)} Known: {', '.join(kinds)}"
    kind = kinds[name]
    return "" if kind.accepts(value) else f"{name!r} must be {kind.expected}, not {_value_text(value)}"


def _place(path: Path, prefix: str, key: str) -> str:
    """Return `file:line` of `key`; only the file if a search of its lines does not find it."""
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


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value).lower() if isinstance(value, bool) else repr(value)
    kind = "the array " if isinstance(value, list) else "the text " if isinstance(value, str) else ""
    return kind + (text if len(text) <= 60 else f"{text[:57]}...")


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


# --- the kinds of values ---------------------------------------------------------------------------------------------


class _Variables(Text):
    """Environment variables."""

    def accepts(self, value: object) -> bool:
        """Return whether `value` is a table of strings."""
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


_PROJECT_KINDS = {
    "agent": Names("an agent, or an array of agents to compare"),
    "sets": Names("an eval set, or an array of eval sets"),
    "store": Names("the URL of a store, or an array of URLs"),
    "artefacts": Text("a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER"),
    "env": _Variables("a table of environment variables, each a text"),
}
"""Settings that are not options of a run."""


def setting_kinds() -> dict[str, OptionKind]:
    """Return the kind of each setting by its name."""
    from proctor.engine.run_options import OPTIONS, Use, options_for_use

    return _PROJECT_KINDS | {name: OPTIONS[name].kind for name in options_for_use(Use.SETTING)}


# --- paths are relative to the file ------------------------------------------------------------------------------------


_COMMAND, _SCRIPTED = "cmd:", "scripted:"
"""The prefixes of an agent and of a model that contain the path of a file."""


def _resolve_paths(name: str, value: Any, folder: Path) -> Any:
    """Return the value of a setting with its paths resolved against `folder`, the folder of the settings file."""
    match name:
        case "agent" | "sets":
            return tuple(resolve_reference(reference, folder) for reference in _as_list(value))
        case "store":
            return tuple(_resolve_url(url, folder) for url in _as_list(value))
        case "metrics":
            return _as_list(value)
        case "artefacts":
            return value if "://" in value else str(folder / Path(value).expanduser())
        case "config":
            return str(folder / value)
        case "judge" | "user":
            return _resolve_model(value, folder)
        case _:
            return value


def _as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def resolve_reference(reference: str, folder: Path) -> str:
    """Make the path in `path` or `path:names`, and the files of `cmd:COMMAND`, absolute where they exist.

    Modules, ids and other prefixes remain unchanged.
    """
    if reference.startswith(_COMMAND):
        return _COMMAND + _resolve_command(reference.removeprefix(_COMMAND), folder)
    if (folder / reference).exists():
        return str(folder / reference)
    path, colon, names = reference.partition(":")
    if colon and path and (folder / path).exists():
        return f"{folder / path}:{names}"
    looks_like_path = "/" in path or path.endswith((".json", ".yaml", ".yml", ".py"))
    return f"{folder / path}{colon}{names}" if looks_like_path and not names.startswith("//") else reference


def _resolve_command(command: str, folder: Path) -> str:
    """Make the words of a command that are files of `folder` absolute, if it is not the working folder; no program of PATH."""
    try:
        words = shlex.split(command)
    except ValueError:  # loading the agent reports it
        return command
    if folder == Path.cwd():
        return command
    resolved = [
        str(folder / word) if (number or "/" in word) and _is_file(folder / word) else word
        for number, word in enumerate(words)
    ]
    return command if resolved == words else shlex.join(resolved)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than any path, or with NUL
        return False


def _resolve_model(name: str, folder: Path) -> str:
    """Resolve the path of `scripted:FILE` and of `file.py:function`; leave other models and modules alone."""
    if name.startswith(_SCRIPTED):
        return _SCRIPTED + relative_to_working_folder(str(folder / name.removeprefix(_SCRIPTED)))
    return resolve_reference(name, folder) if re.search(r"\.py(:|$)", name) else name


def _resolve_url(url: str, folder: Path) -> str:
    """Make the path in a store's URL absolute; return a URL without a path unchanged."""
    match = re.fullmatch(r"(sqlite:(?:///)?|adk:(?://)?|)([^:]*)", url)
    if match is None or not match[2] or match[2].startswith("~"):
        return url
    return f"{match[1]}{folder / match[2]}"


# --- The project's settings as options of a run, and the process state that they need ---------------------------------


def relative_to_working_folder(path: str) -> str:
    """Shorten a path below the working folder, so that output does not depend on where the path was written."""
    return path.removeprefix(f"{Path.cwd()}{os.sep}")


def engine_options(values: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """Return the keyword arguments of `evaluate`: the options in `values` that have a value, else the project's settings.

    A flag that is off, an empty list and `None` count as no value, because a command line has them for missing options.
    """
    from proctor.engine.run_options import OPTIONS

    options: dict[str, Any] = dict(settings.options)
    if settings.config is not None:
        options["config"] = relative_to_working_folder(settings.config)
    options |= {name: values[name] for name in OPTIONS if _has_value(values.get(name))}
    judge = default_judge(values.get("judge"), settings.judge)
    return {**options, "judge": judge} if judge is not None else options


def _has_value(value: object) -> bool:
    return value is not None and value is not False and value not in ((), [])


_LIMITS = "max_cost", "max_judge_calls"


def usage_limits(values: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """Return the limits on the usage of models: those in `values`, else those of the settings."""
    limits = {**settings.options, **{name: value for name, value in values.items() if value is not None}}
    return {name: limits[name] for name in _LIMITS if name in limits}


def audited_judge(values: Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """Return the judge of an audit and its limits: those in `values`, completed by the settings.

    An audit asks no judge unless `values` has the judge or a limit: the settings alone must not make it cost money.
    """
    if values.get("no_judge") or all(values.get(name) is None for name in ("judge", *_LIMITS)):
        return {}
    return {"judge": default_judge(values.get("judge"), settings.judge), **usage_limits(values, settings)}


def prepare_process(settings: Settings) -> None:
    """Make the modules of the project importable, and set the environment variables of its settings."""
    folders = [str(Path.cwd()), *([str(settings.file.parent)] if settings.file else [])]
    place = before_installed_packages(sys.path)
    added = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    set_import_path([*sys.path[:place], *added, *sys.path[place:]])
    for name, value in settings.env.items():
        os.environ.setdefault(name, value)
