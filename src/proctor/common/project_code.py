"""The source code of a project's modules, and of the modules that they import at module level or inside functions."""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

_MOST_FILES = 2_000
_DYNAMIC_IMPORTS = frozenset(
    {
        "import_module", "__import__", "run_path", "run_module", "spec_from_file_location", "spec_from_loader",
        "exec_module", "load_module", "SourceFileLoader",
    }
)  # fmt: skip
_DYNAMIC_CODE = frozenset({"exec", "eval"})
_COMPUTED = re.compile(rb"\b(%s|modules)\b" % "|".join(_DYNAMIC_IMPORTS | _DYNAMIC_CODE).encode())
"""A file without any of these words imports by statements only."""
_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_OWN_FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class ProjectCode:
    """The hash of a set of modules of a project."""

    hash: str
    """Of the names and contents of the modules; it does not depend on the project's folder."""
    is_complete: bool
    """Whether all modules are known. Otherwise equal hashes do not mean equal code."""
    files: Mapping[Path, str]
    """The hash of each module's file."""


def module_of(code: object) -> ModuleType | None:
    """Return the module that a function or a class was defined in; `None` if it is unknown."""
    names = getattr(code, "__globals__", None)
    name = names.get("__name__") if isinstance(names, dict) else getattr(code, "__module__", None)
    module = sys.modules.get(name) if isinstance(name, str) else None
    if isinstance(names, dict) and (module is None or vars(module) is not names):
        return _module_of(names)  # another module has this name now, or the module was never imported by name
    return module


def _module_of(names: dict[str, object]) -> ModuleType:
    module = ModuleType(str(names.get("__name__", "")))
    vars(module).update(names)
    return module


def modules_of_file(file: Path) -> list[ModuleType]:
    """Return the loaded module of a file and the packages around it, or a module in place of a file that is not loaded."""
    for name, module in reversed(list(sys.modules.items())):  # it was imported lately
        place = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(place, str) and place.endswith(file.name) and Path(place).resolve() == file:
            packages = accumulate(name.split("."), "{}.{}".format)
            return [sys.modules[package] for package in packages if package in sys.modules]
    name = file.parent.name if file.stem == "__init__" else f"{file.parent.name}.{file.stem}"
    return [_module_of({"__name__": name, "__file__": str(file)})]


def is_project_module(module: ModuleType | None) -> bool:
    """Return whether a module belongs to a project: not to the standard library, an installed package or Proctor."""
    if module is None or not _is_candidate(module.__name__):
        return False
    file = _file_of(module, None)
    return file is None or _is_project_file(file)


def project_code(modules: Iterable[ModuleType], *, values: bool = True) -> ProjectCode:
    """Return the code of `modules` and of all modules that they import from the same project.

    `values`: also of the modules of all values in them. A package holds each of its modules that anything imported, so that
    the code then depends on what else this process has loaded.

    The project is everything outside the standard library, the installed packages and Proctor, and always includes the
    packages of `modules`. The code is incomplete if a module has no file, if a file changed after its import, or if a module
    imports others by computed names.
    """
    collector = _Collector(values=values)
    for module in modules:
        collector.packages.add(module.__name__.partition(".")[0])
        collector.add(module.__name__, module)
    collector.follow()
    hashed = blake2b(digest_size=16)
    for name, digest in sorted(collector.digests.items()):
        hashed.update(f"{name}\0{digest}\0".encode())
    return ProjectCode(hashed.hexdigest(), collector.is_complete, collector.files)


class _Collector:
    def __init__(self, *, values: bool) -> None:
        self.values = values
        self.packages: set[str] = set()
        self.digests: dict[str, str] = {}
        self.files: dict[Path, str] = {}
        self.is_complete = True
        self._waiting: list[tuple[str, ModuleType | None, Path]] = []

    def add(self, name: str, module: ModuleType | None, spec: ModuleSpec | None = None) -> None:
        """Add a module if it belongs to the project."""
        if name in self.digests or not _is_candidate(name):
            return
        file = _file_of(module, spec)
        if file is None:
            if not _is_built_in(module, spec):
                self.is_complete = False  # typed in, or not loaded from a file
        elif self._is_of_project(name, file):
            self.digests[name] = ""
            self._waiting.append((name, module, file))

    def follow(self) -> None:
        """Read the modules that were added, and those that they import."""
        while self._waiting:
            if len(self.digests) > _MOST_FILES:
                self.is_complete = False
                return
            name, module, file = self._waiting.pop()
            try:
                content = file.read_bytes()
            except OSError:
                self.is_complete = False
                continue
            self.digests[name] = self.files[file] = blake2b(content, digest_size=16).hexdigest()
            self.is_complete &= module is None or _is_unchanged(module, self.digests[name])
            if file.suffix == ".py":
                self._add_imports(name, file, content)
            if self.values:
                self._add_values(module)

    def _is_of_project(self, name: str, file: Path) -> bool:
        return name.partition(".")[0] in self.packages or _is_project_file(file)

    def _add_imports(self, name: str, file: Path, content: bytes) -> None:
        imports = _imports_in(content)
        self.is_complete &= imports.is_complete
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for statement in imports.imports:
            base = _absolute(statement.module, statement.level, package)
            self._add_dotted(base, is_needed=statement.is_late)
            for attribute in statement.names:
                self._add_dotted(f"{base}.{attribute}", is_needed=False)

    def _add_dotted(self, dotted: str, *, is_needed: bool) -> None:
        """Add a module and its parent packages. `is_needed`: the import has not run yet, so that the module must be found."""
        parts = dotted.split(".")
        if not parts[0] or not _is_candidate(dotted):
            return
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            module = sys.modules.get(name)
            spec = None if module is not None else _find(name)
            if module is None and spec is None:
                self.is_complete &= not is_needed
                return
            self.add(name, module, spec)

    def _add_values(self, module: ModuleType | None) -> None:
        """Add the modules of all values in a module."""
        for value in list(getattr(module, "__dict__", {}).values()):
            source_module = _module_of_value(value)
            if source_module is not None and isinstance(source_module.__name__, str):
                self.add(source_module.__name__, source_module)


def _module_of_value(value: object) -> ModuleType | None:
    try:
        if isinstance(value, ModuleType):
            return value
        is_code = isinstance(value, type) or hasattr(value, "__globals__")
    except Exception:  # noqa: BLE001 - a proxy without a target now
        is_code = False
    return module_of(value if is_code else type(value))


# --- files -----------------------------------------------------------------------------------------------------------


def _is_candidate(name: str) -> bool:
    top = name.partition(".")[0]
    return name == "__main__" or (top not in sys.stdlib_module_names and top != "proctor")


def _is_project_file(file: Path) -> bool:
    if _INSTALLED.intersection(file.parts) or file.is_relative_to(_OWN_FOLDER):
        return False
    return not any(file.is_relative_to(folder) for folder in _standard_library())


def _file_of(module: ModuleType | None, spec: ModuleSpec | None) -> Path | None:
    spec = getattr(module, "__spec__", None) or spec
    origin = getattr(module, "__file__", None) or (spec.origin if spec is not None else None)
    file = Path(origin).resolve() if isinstance(origin, str) else None
    return file if file is not None and file.is_file() else None


def _is_built_in(module: ModuleType | None, spec: ModuleSpec | None) -> bool:
    """Return whether a module has no file by nature: a namespace package, or a part of the interpreter."""
    spec = getattr(module, "__spec__", None) or spec
    return spec is not None and (
        spec.origin in {"built-in", "frozen"}
        or (spec.origin is None and spec.submodule_search_locations is not None)
    )


@lru_cache(maxsize=1)
def _standard_library() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple(Path(paths[name]).resolve() for name in ("stdlib", "platstdlib"))


def _find(name: str) -> ModuleSpec | None:
    """Find a module without importing its packages."""
    path: Any = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        part = ".".join(parts[:end])
        loaded = sys.modules.get(part)
        try:
            spec = getattr(loaded, "__spec__", None) or PathFinder.find_spec(part, path)
        except KeyError:  # a namespace package within one that is not imported
            spec = ModuleSpec(part, None, is_package=True)
            spec.submodule_search_locations = [str(Path(folder, parts[end - 1])) for folder in path]
        except (ImportError, ValueError):
            return None
        if spec is None or (end < len(parts) and spec.submodule_search_locations is None):
            return None
        path = spec.submodule_search_locations
    return spec


_digests: dict[int, tuple[object, str]] = {}


def _is_unchanged(module: ModuleType, digest: str) -> bool:
    """Return whether a module's file is unchanged since this process first read it."""
    identity: object = getattr(module, "__spec__", None) or module  # a reload creates a new spec
    known = _digests.setdefault(id(identity), (identity, digest))
    return known[1] == digest


# --- imports ---------------------------------------------------------------------------------------------------------


class _Import(NamedTuple):
    module: str
    level: int
    names: tuple[str, ...]
    is_late: bool


class _Imports(NamedTuple):
    imports: tuple[_Import, ...]
    is_complete: bool


@lru_cache(maxsize=_MOST_FILES)
def _imports_in(content: bytes) -> _Imports:
    try:
        nodes = list(_nodes(ast.parse(content), expressions=_COMPUTED.search(content) is not None))
    except (SyntaxError, ValueError, RecursionError):
        return _Imports((), is_complete=False)
    imports: list[_Import] = []
    literal: set[ast.AST] = set()
    for node, is_late in nodes:
        if isinstance(node, ast.Import):
            imports += [_Import(alias.name, 0, (), is_late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names if alias.name != "*")
            imports.append(_Import(node.module or "", node.level, names, is_late))
        elif isinstance(node, ast.Call) and (name := _literal_import(node)):
            imports.append(_Import(name, 0, (), is_late))
            literal.add(node.func)
    is_dynamic = any(_is_dynamic(node) for node, _ in nodes if node not in literal)
    return _Imports(tuple(imports), not is_dynamic)


def _nodes(tree: ast.AST, *, expressions: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Walk a module's nodes, or only its statements, each with whether it is inside a function."""
    children = ast.iter_child_nodes if expressions else _statements
    waiting = [(tree, False)]
    while waiting:
        node, is_late = waiting.pop()
        yield node, is_late
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting += [(child, is_late or is_function) for child in children(node)]


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for name in _BLOCKS.intersection(node._fields):
        yield from getattr(node, name)


def _literal_import(call: ast.Call) -> str:
    """Return what `import_module("a.b")` imports; empty for other calls, and for computed or relative names."""
    is_import = _name_of(call.func) in {"import_module", "__import__"}
    first = call.args[0] if is_import and len(call.args) == 1 and not call.keywords else None
    name = first.value if isinstance(first, ast.Constant) else None
    return name if isinstance(name, str) and not name.startswith(".") else ""


def _is_dynamic(node: ast.AST) -> bool:
    """Return whether a node imports modules by computed names, or runs computed code."""
    if isinstance(node, ast.alias):
        return node.asname is not None and node.name in _DYNAMIC_IMPORTS
    if isinstance(node, ast.Name) and node.id in _DYNAMIC_CODE:
        return True
    if isinstance(node, ast.Attribute) and node.attr == "modules":
        return _name_of(node.value) == "sys"
    return isinstance(node, ast.Name | ast.Attribute) and _name_of(node) in _DYNAMIC_IMPORTS


def _name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _absolute(module: str, level: int, package: str) -> str:
    if not level:
        return module
    above = package.split(".")[: len(package.split(".")) - level + 1]
    return ".".join(filter(None, [*above, module]))
