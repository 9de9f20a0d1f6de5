"""Reads the source tree as data: the imports of every module, with their locations in the file."""

import ast
import functools
import gc
import sys
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "proctor"
SRC = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Import:
    """One imported name. `at_import` is true where merely importing the module runs it."""

    importer: str
    target: str
    line: int
    at_import: bool

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.target}"


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    is_package: bool
    tree: ast.Module


@functools.cache
def modules(src: Path = SRC) -> dict[str, Module]:
    """Every module below `src`, by its dotted name."""
    found = {}
    gc.disable()  # a syntax tree has no garbage, and a collection visits all trees again
    for path in sorted((src / PACKAGE).rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = Module(name, path, is_package, ast.parse(path.read_text(encoding="utf-8"), str(path)))
    gc.freeze()  # nor does a later one need to visit them, in the tests of other folders
    gc.enable()
    return found


@functools.cache
def imports(src: Path = SRC) -> list[Import]:
    """Return every import of every module below `src`, resolved to the module that it names if that is in the package."""
    known = modules(src)
    return [found for module in known.values() for found in _imports_of(module, known)]


def third_party(imported: Import) -> bool:
    return imported.top != PACKAGE and imported.top not in sys.stdlib_module_names


def _imports_of(module: Module, known: Container[str]) -> Iterator[Import]:
    for node, at_import in _statements(module.tree, at_import=True):
        for target in _targets(node, module, known):
            yield Import(module.name, target, node.lineno, at_import)


def _statements(parent: ast.AST, *, at_import: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, at_import
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            for child in node.body:
                yield from _statements(ast.Module([child], []), at_import=False)
            for child in node.orelse:
                yield from _statements(ast.Module([child], []), at_import=at_import)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _statements(node, at_import=at_import and not inside)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def _targets(node: ast.Import | ast.ImportFrom, module: Module, known: Container[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = _absolute(node, module)
    for alias in node.names:
        name = f"{base}.{alias.name}"
        yield name if name in known else base


def _absolute(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    package = parts if module.is_package else parts[:-1]
    kept = package[: len(package) - (node.level - 1)]
    return ".".join([*kept, node.module] if node.module else kept)
