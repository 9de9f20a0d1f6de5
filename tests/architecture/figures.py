"""Figures about the shape of the code: widths, names, complexity, dialect, cycles. `test_ratchets` holds them."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.architecture.source import PACKAGE, Import, Module, imports, modules

Function = ast.FunctionDef | ast.AsyncFunctionDef

MIRROR = f"{PACKAGE}.compat.adk.evaluation"
"""Mirrors the modules of google-adk: neither its width nor its names are chosen here."""

VAGUE = frozenset(
    "around aside asking beginning beside common deciding describing doubled drawing failed flat following foreign given "
    "going handed holder keeping kept known large late lazy looking made making misc near opened opening other others "
    "parting pending placing playing preparing pump reading refusing repeating running said showing stated stored "
    "talking telling things told unknown viewing waiting watching when words world".split()
)
"""Stems of file names that give no information about the content of a file."""

DIALECT = re.compile(
    r"\b(told|tells|said|says|beside|whoever|whatever|anew|amiss|whom|nobody|anybody|somebody|stands?|stood|"
    r"goes on|went on|held against|put together|of its own|of ours|lies|looked at|as it was|comes to|comes of)\b",
    re.IGNORECASE,
)
"""Words that documentation in plain technical English does not need."""

PARTICIPLES = frozenset(
    "asked found gone given held kept listed made named placed played read said seen shown stated taken told wanted".split()
)
"""Names of variables that give no information about their content."""

_COMMENT = re.compile(r"(?m)(?:^|\s)# .*$")
"""Finds a line in a text, too, that looks like a comment; `tokenize` takes ten times as long."""

_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.Assert,
    ast.IfExp,
    ast.match_case,
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def widths(root: Path) -> dict[str, int]:
    """Return for each folder with Python files its number of modules and packages."""
    found: Counter[str] = Counter()
    for path in root.rglob("*.py"):
        folder = path.parent
        if path.name != "__init__.py":
            found[folder.relative_to(root).as_posix()] += 1
    for folder in {path.parent for path in root.rglob("*.py")} - {root}:
        found[folder.parent.relative_to(root).as_posix()] += 1
    return dict(found)


def vague_modules() -> list[str]:
    """Return the modules with a vague file name."""
    return sorted(
        module.name
        for module in modules().values()
        if module.path.stem in VAGUE and not module.name.startswith(MIRROR)
    )


def shared_stems() -> dict[str, list[str]]:
    """Return the file names (without suffix) that several modules have."""
    found = defaultdict(list)
    for module in modules().values():
        if not module.is_package:
            found[module.path.stem].append(module.name)
    return {stem: names for stem, names in found.items() if len(names) > 1}


def shared_names() -> dict[str, list[str]]:
    """Return the public classes and functions that several modules define, with these modules.

    `compat` and the routes for google-adk have the names of other tools.
    """
    found = defaultdict(list)
    for module in modules().values():
        if not module.name.startswith(("proctor.compat", "proctor.web.server.adk")):
            for name in {
                node.name
                for node in module.tree.body
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            }:
                if not name.startswith("_"):
                    found[name].append(module.name)
    return {name: names for name, names in found.items() if len(names) > 1}


@cache
def functions() -> Sequence[tuple[Module, Function]]:
    """Return every function and method, nested ones too."""
    return [
        (module, node)
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def participle_variables() -> set[tuple[str, str, str]]:
    """Return the module, the function and the name of every parameter and local variable that is a bare participle."""
    return {
        (module.name, function.name, name)
        for module, function in functions()
        for name in _variables(function) & PARTICIPLES
    }


def _variables(function: Function) -> set[str]:
    nodes = [*ast.walk(function)]
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return assigned | {node.arg for node in nodes if isinstance(node, ast.arg)}


def complexity(function: Function) -> int:
    """Return the cyclomatic complexity (McCabe 1976), without that of functions inside."""
    total, waiting = 1, list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, _BRANCHES):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            total += 1 + len(node.ifs)
        waiting.extend(ast.iter_child_nodes(node))
    return total


def dialect_rate(files: Iterable[tuple[Path, ast.Module]]) -> float:
    """Return how many words of the dialect there are in 1,000 words of docstrings, comments and other texts."""
    words = dialect = 0
    for path, tree in files:
        text = " ".join(_prose(path.read_text(encoding="utf-8"), tree))
        words += len(re.findall(r"\w+", text))
        dialect += len(DIALECT.findall(text))
    return 1000 * dialect / words


def _prose(source: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value
    yield from _COMMENT.findall(source)


def fragments(lines: int = 100) -> list[str]:
    """Return the modules of fewer lines than `lines` that only one other module imports."""
    importers = defaultdict(set)
    for one in imports():
        if one.top == PACKAGE and one.target != one.importer:
            importers[one.target].add(one.importer)
    return sorted(
        name
        for name, module in modules().items()
        if not module.is_package
        and len(importers[name]) == 1
        and module.path.read_text(encoding="utf-8").count("\n") < lines
    )


def cyclic_modules(found: list[Import]) -> set[str]:
    """Return the modules that are in an import cycle of any kind: at module level, inside functions, for types only."""
    graph: dict[str, set[str]] = {}
    for one in found:
        if one.top == PACKAGE and one.target != one.importer:
            graph.setdefault(one.importer, set()).add(one.target)
    return {name for name in graph if name in _reachable(graph, name)}


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [*graph.get(start, ())]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(graph.get(name, ()))
    return seen
