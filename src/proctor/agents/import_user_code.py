"""Import the user's code as the package that it is, next to other agents with files of the same names."""

from __future__ import annotations

import linecache
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain, count
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TypeVar

from proctor.agents.reference import Reference, find_module, is_package, shorten
from proctor.common.error_text import safe_str
from proctor.common.registry import AGENTS
from proctor.common.secrets import hide_secrets
from proctor.errors import AgentLoadError, SetupError, did_you_mean

Loaded = TypeVar("Loaded")

_roots: set[Path] = set()
"""Folders of imported agents; their modules give way to the next agent's modules of the same name."""

_packages: dict[Path, str] = {}
"""Agent folders that were imported, and the name of each one's package."""

_kept: dict[tuple[Path, ...], dict[str, ModuleType]] = {}
"""Modules that were replaced by another agent's modules of the same name, by folder; restored for the next import there."""

_running: list[tuple[Path, ...]] = []
"""The folders of the agent that is running: one at a time, for all share one table of modules."""

_read_at: dict[Path, float] = {}
"""Agent folders that were imported, and when that began (Unix seconds)."""

_AGENT_FILES = (
    ".py",
    ".yaml",
    ".yml",
    ".toml",
    ".json",
    ".env",
    ".md",
    ".txt",
    ".j2",
    ".jinja",
    ".jinja2",
)
_EVALUATION_FILES = (".evalset.json", ".evalset.yaml", ".evalset.yml", ".test.json", "test_config.json")
_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages"}


def import_module_path(dotted: str) -> ModuleType:
    """Import a module by its dotted name, the working folder included.

    A package of that name from another agent does not interfere.
    """
    cwd = Path.cwd()
    first, _, rest = dotted.partition(".")
    is_foreign = first in sys.modules and _belongs_to_another(first, (cwd,))
    with _own_modules(cwd):
        if not (is_foreign and (cwd / first).is_dir()):
            return import_module(dotted)
        package = _import_package(cwd / first)
        return import_module(f"{package}.{rest}" if rest else package)


def import_folder(folder: Path, submodule: str = "") -> ModuleType:
    """Import a folder as a package (with or without `__init__.py`), or a submodule of it, so that relative imports work.

    Its parent folder is put on `sys.path`; without `__init__.py` the folder itself, too.
    """
    folder = folder.resolve()
    with _own_modules(folder.parent, *([] if is_package(folder) else [folder])):
        package = _import_package(folder)
        return import_module(f"{package}.{submodule}" if submodule else package)


def load_in_folder(folder: Path, load: Callable[[], Loaded]) -> Loaded:
    """Call `load` so that its imports resolve as from a module of that folder's package."""
    folder = folder.resolve()
    with _own_modules(folder.parent, folder):
        _import_package(folder)
        return load()


@contextmanager
def imported_late(*roots: Path) -> Iterator[None]:
    """Let the functions of a running agent import from its own folders, even if another agent imported the name first.

    Concurrent agents share the modules: the first of them keeps the names.
    """
    if not roots or _running:
        yield
        return
    _running.append(roots)
    try:
        with _own_modules(*roots):
            yield
    finally:
        _running.clear()


@contextmanager
def read_anew_next_time(folder: Path | None) -> Iterator[None]:
    """Forget the imports from the agent's folder if the load fails, so that a corrected file needs no restart."""
    before = frozenset(sys.modules)
    if folder is not None:
        _read_at.setdefault(folder.resolve(), time.time())
    try:
        yield
    except BaseException:
        if folder is not None:
            _forget(folder.resolve(), before)
        raise


def forget_outdated_imports(folder: Path) -> None:
    """Forget the imports from an agent's folder if a file there has changed, so that they are imported again.

    A loaded agent stays as it was. Files that evaluations write or read do not count.
    """
    folder = folder.resolve()
    since = _read_at.get(folder)
    if since is None:
        return
    imported = (file for _, file in _imported_from(folder) if not file.is_dir())
    if any(_change_time(file) >= since for file in (*_files_of_agent(folder), *imported)):
        del _read_at[folder]
        _forget(folder, frozenset())
        _packages.pop(folder, None)


def _files_of_agent(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS and not name.startswith(".")]
        for name in names:
            if name.endswith(_AGENT_FILES) and not name.endswith(_EVALUATION_FILES):
                yield Path(where, name)


def _change_time(file: Path) -> float:
    """Return when a file was changed or moved to its place: a moved or unpacked file may have an older time."""
    try:
        status = file.stat()
    except OSError:  # it was deleted
        return float("inf")
    return max(status.st_mtime, status.st_ctime)


def _imported_from(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules that lie in a folder, each with its file (a package may have its folder only); no installed ones."""
    inside = f"{folder}{os.sep}"
    for name, module in list(sys.modules.items()):  # of these there are thousands: no path objects
        place = _place_of(module)
        if place and f"{os.path.normpath(place)}{os.sep}".startswith(inside):
            file = Path(place)
            if "site-packages" not in file.parts:
                yield name, file


def _place_of(module: ModuleType) -> str | None:
    try:
        return getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
    except (KeyError, TypeError):  # a removed namespace; another object in place of a module
        return None


def _forget(folder: Path, before: frozenset[str]) -> None:
    for name in {name for name, _ in _imported_from(folder)} - before:
        sys.modules.pop(name, None)
    invalidate_caches()


def _import_package(folder: Path) -> str:
    name = _packages.get(folder)
    if name is not None and name in sys.modules:
        return name
    plain = re.sub(r"\W", "_", folder.name) or "agent"
    existing = sys.modules.get(plain)
    if existing is not None and _origin(existing) == folder.parent and hasattr(existing, "__path__"):
        return plain
    reserved = _is_reserved(plain, folder)
    name = _free_name(plain, reserved=reserved)
    module = _new_module(name, folder)
    sys.modules[name] = module
    if plain not in sys.modules and not reserved:
        sys.modules[plain] = module  # while it is imported: `from hello_world import tools` means this one
    if is_package(folder):
        _execute(module)
    _packages[folder] = name
    return name


def _execute(module: ModuleType) -> None:
    """Run a package's `__init__.py`; after an exception, forget the package and its submodules."""
    name = module.__name__
    try:
        if module.__spec__ is not None and module.__spec__.loader is not None:
            module.__spec__.loader.exec_module(module)
    except BaseException:
        for each in [n for n in sys.modules if n == name or n.startswith(f"{name}.")]:
            del sys.modules[each]
        raise


def _is_reserved(name: str, folder: Path) -> bool:
    """Return whether the name of a folder is another package's: without `__init__.py` of any installed one, as in Python."""
    if is_package(folder) or name in sys.stdlib_module_names:
        return name in sys.stdlib_module_names
    installed = sys.path[before_installed_packages(sys.path) :]
    return PathFinder.find_spec(name, [entry for entry in installed if Path(entry) not in _roots]) is not None


def _free_name(plain: str, *, reserved: bool) -> str:
    """Return a name that no module has: `plain` unless it is reserved, else with a number."""
    names = chain([] if reserved else [plain], (f"{plain}__{number}" for number in count(2)))
    return next(name for name in names if name not in sys.modules and name not in _packages.values())


def _new_module(name: str, folder: Path) -> ModuleType:
    spec: ModuleSpec | None
    if is_package(folder):
        spec = spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    else:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
    if spec is None:
        raise ImportError(f"{folder} cannot be imported")
    return module_from_spec(spec)


@contextmanager
def _own_modules(*roots: Path) -> Iterator[None]:
    """Import with `roots` on the path, and without the modules of other agents with the same names.

    Names stay with the agent that imported them first; later agents keep references to their modules.
    """
    for root in roots:
        _insert_path(root, first=True)
    names = set().union(*map(_names_in, roots)) - sys.stdlib_module_names
    aside = _remove_modules({name for name in names if _belongs_to_another(name, roots)})
    if aside:
        sys.modules.update(_kept.get(roots, {}))
    try:
        yield
    finally:
        if aside:
            _kept[roots] = _remove_modules({name.partition(".")[0] for name in aside})
            sys.modules.update(aside)
        for root in roots:
            _insert_path(root, first=False)
        _roots.update(roots)


def _insert_path(root: Path, *, first: bool) -> None:
    """Insert `root` after the standard library, which no folder may hide, and before the installed packages.

    It comes before the folders of other agents (`first`) or after them.
    """
    if root == Path.cwd() and "" in sys.path:
        return
    path = [entry for entry in sys.path if entry != str(root)]
    place = before_installed_packages(path)
    others = (i for i, entry in enumerate(path[:place]) if first and Path(entry) in _roots)
    path.insert(next(others, place), str(root))
    set_import_path(path)


def _names_in(root: Path) -> set[str]:
    """Return the names that modules in a folder have; next to the agent there may be thousands of other entries."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries]
    except OSError:  # a folder that may be entered but not listed
        return set()
    return {name.removesuffix(".py") for name in names if name.endswith(".py") or "." not in name}


def _belongs_to_another(name: str, roots: tuple[Path, ...]) -> bool:
    module = sys.modules.get(name)
    origin = _origin(module) if module is not None else None
    return origin is not None and origin in _roots and origin not in roots


def _remove_modules(names: set[str]) -> dict[str, ModuleType]:
    """Remove modules and their submodules from `sys.modules`; the packages of agents stay under their own names."""
    own_names = [name for name in sys.modules if name.partition(".")[0] in names] if names else []
    return {name: sys.modules.pop(name) for name in own_names}


def _origin(module: ModuleType) -> Path | None:
    """Return the folder of a top-level module or package."""
    try:
        file = next(iter(module.__path__)) if hasattr(module, "__path__") else module.__file__
        return Path(file).resolve().parent if file else None
    except (AttributeError, KeyError, StopIteration, TypeError):  # built in, or a removed namespace
        return None


# --- Messages for failed imports: the exception, the line of the user's code, and a hint ------------------------------


_EXTRAS = {
    "google": "adk",
    "pydantic_ai": "pydantic-ai",
    "agents": "openai-agents",
    "langgraph": "langgraph",
    "langchain_core": "langgraph",
}
"""Packages that users' agents import -> the extra that brings them."""

_OURS = str(Path(__file__).resolve().parent)


@contextmanager
def import_error_context(reference: Reference) -> Iterator[None]:
    """Convert exceptions of an import to an AgentLoadError with the cause; Ctrl-C passes through."""
    try:
        yield
    except (SetupError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        if reference.module and error.name and f"{reference.module}.".startswith(f"{error.name}."):
            raise AgentLoadError(_no_module(reference, error.name)) from error
        raise AgentLoadError(_message(reference, error)) from error
    except BaseException as error:  # SystemExit too: a script that ends itself when imported
        raise AgentLoadError(_message(reference, error)) from error


def _message(reference: Reference, error: BaseException) -> str:
    # str() of a SyntaxError repeats file and line
    text = error.msg if isinstance(error, SyntaxError) else safe_str(error) or "no message"
    lines = [f"The agent {reference.label} cannot be loaded: {type(error).__name__}: {text}"]
    if (place := _place(error, reference)) is not None:
        file, line = place
        code = linecache.getline(file, line).strip()
        lines.append(f"  at {_short(file)}:{line}" + (f": {code}" if code else ""))
    if hint := _hint(error, reference):
        lines.append(f"  {hint}")
    return hide_secrets("\n".join(lines))


def _place(error: BaseException, reference: Reference) -> tuple[str, int] | None:
    """Return the last line of the agent's own code that the import reached, else of any code but Python's and ours."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    lines = [place for place in _lines(error.__traceback__) if not _is_machinery(place[0])]
    root = reference.folder
    own = [] if root is None else [place for place in lines if Path(place[0]).is_relative_to(root)]
    return next(reversed(own or lines), None)


def _lines(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next


def _is_machinery(file: str) -> bool:
    return file.startswith(("<frozen ", _OURS)) or "importlib" in Path(file).parts


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _hint(error: BaseException, reference: Reference) -> str:
    if isinstance(error, SystemExit):
        return "It ends the program when it is imported; put that under: if __name__ == '__main__'."
    if not isinstance(error, ImportError):
        return ""
    if "beyond top-level package" in str(error):
        return "Name it as a dotted module, from the folder of its topmost package: package.subpackage.agent"
    if "partially initialized module" in str(error) and _imports_itself(error):
        name = reference.file.stem if reference.file is not None else reference.label
        return f"Is there a package called {name}, too? Then this file hides it: rename the file."
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    return _missing_module_hint(error.name.partition(".")[0], reference.folder)


def _missing_module_hint(name: str, folder: Path | None) -> str:
    if folder is not None and ((folder / f"{name}.py").is_file() or is_package(folder / name)):
        return f"{name} is in the agent's own folder: write `from . import {name}`."
    if name in _EXTRAS:
        return f"Run: pip install 'proctor[{_EXTRAS[name]}]'"
    return f"Install what brings {name!r} into the Python that runs Proctor ({Path(sys.executable).name})."


def _imports_itself(error: ImportError) -> bool:
    """Whether a file met itself under the name of a package; modules that import each other are another mistake."""
    where = [file for file, _ in _lines(error.__traceback__) if not _is_machinery(file)]
    return error.path is None or bool(where and where[-1] == error.path)


def _no_module(reference: Reference, missing: str) -> str:
    """Return the message if the agent's module itself is missing: the missing part of its name, and similar names."""
    parent, _, name = missing.rpartition(".")
    if hasattr(sys.modules.get(parent), name):
        return f"The agent {reference.text!r} is not there: {name} is not a module. Write {parent}:{name}."
    if parent and find_module(parent) is not None and (file := find_module(missing)) is not None:
        return f"The agent {reference.text!r} is not there: {parent} is another package. Write {_short(str(file))}."
    where = f"in the package {parent}" if parent else f"in {Path.cwd()} and among the installed packages"
    prefix = f", and no prefix {name}:" if reference.attribute and name == reference.module else ""
    return (
        f"The agent {shorten(reference.text)!r} is not there: no module or folder {shorten(name)!r} {where}{prefix}."
        f"{did_you_mean(name, _modules_in(parent))}"
    )


def _modules_in(package: str) -> list[str]:
    """Return the modules of a package; without a name: the modules and agents in the working folder, and the plug-ins."""
    from pkgutil import iter_modules  # needed for messages only

    if package:
        paths = getattr(sys.modules.get(package), "__path__", ())
        return [module.name for module in iter_modules(paths)]
    modules = [module.name for module in iter_modules([str(Path.cwd())])]
    agents = [entry.name for entry in Path.cwd().iterdir() if (entry / "agent.py").is_file()]
    return [*modules, *agents, *AGENTS.names()]


# --- The import path of a process that also imports the user's code -----------------------------------------------------

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
