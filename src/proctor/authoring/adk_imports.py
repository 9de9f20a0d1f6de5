"""Python files that import google-adk's evaluation, and the same files importing Proctor's in its place."""

from __future__ import annotations

import ast
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from proctor.errors import EvalFileError

OLD, NEW = "google.adk", "proctor.compat.adk"
MODULES = ("evaluation", "cli.cli_eval")
"""What is mirrored, in both packages."""
_OLD_MODULES = tuple(f"{OLD}.{module}" for module in MODULES)
_DOT = rb"[ \t]*\.[ \t]*"
_PACKAGE = re.compile(rb"\bgoogle" + _DOT + rb"adk\b")
_WORD = re.compile(
    rb"\b(google"
    + _DOT
    + rb"adk"
    + _DOT
    + rb"(?:evaluation|cli"
    + _DOT
    + rb"cli_eval))\b(?:"
    + _DOT
    + rb"\w+)*"
)
_MOST_SHOWN = 80  # characters of a line of a notebook


@dataclass(slots=True)
class Rewritten:
    """One file: its text, and the text with rewritten imports."""

    path: Path
    before: str
    after: str
    left: list[str] = field(default_factory=list)
    """`line: why` of what names google-adk's evaluation and was left alone."""

    @property
    def is_changed(self) -> bool:
        """Whether the text differs."""
        return self.after != self.before

    def write(self) -> None:
        """Write the new text. Raises EvalFileError: the file was changed since it was read, or cannot be written."""
        from proctor.files.edit.editable_file import text_of_file
        from proctor.files.eval_sets.save import write_text

        if text_of_file(self.path) != self.before:
            raise EvalFileError(
                f"{self.path}: the file was changed since it was read; nothing was written to it"
            )
        write_text(self.path, self.after)


def rewrite_imports(path: Path) -> Rewritten | None:
    """Return a Python file with the prefix of google-adk's evaluation modules replaced, where they are imported or used.

    `None` for a file that does not name them. Texts and comments are left alone; so are modules that Proctor does not
    mirror, ways around the prefix (`from google import adk`), notebooks, and files that are no Python that can be read:
    `left` has the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        return Rewritten(path, "", "", [f"1: cannot be read: {error.strerror}"])
    names_it = _WORD.search(data) is not None
    if path.suffix == ".ipynb":
        return Rewritten(path, "", "", list(_of_notebook(data))) if names_it else None
    if not names_it and not (
        b"adk" in data and b"google" in data and (b"evaluation" in data or b"cli_eval" in data)
    ):
        return None
    mark = data[: len(BOM_UTF8)] if data.startswith(BOM_UTF8) else b""
    file = _Source(data[len(mark) :])
    try:
        before, tree = file.data.decode(), ast.parse(file.data)
    except (SyntaxError, ValueError):
        why = "1: names google-adk's evaluation, and is no Python 3 in UTF-8: by hand"
        return Rewritten(path, "", "", [why]) if names_it else None
    edits = sorted(set(file.edits(tree)), reverse=True)
    after = file.data
    for start, end, new in edits:
        after = after[:start] + new + after[end:]
    left = [*file.left, *file.in_texts({file.line(start) for start, _, _ in edits})]
    if not edits and not left:
        return None
    found = Rewritten(path, mark.decode() + before, mark.decode() + after.decode())
    found.left = [f"{line}: {why}" for line, why in sorted(set(left))]
    return found


def _of_notebook(data: bytes) -> Iterator[str]:
    for number, line in enumerate(data.splitlines(), 1):
        if _WORD.search(line):
            code = line.decode("utf-8", "replace").strip().rstrip(",").strip('"').removesuffix("\\n")
            yield f"{number}: in a notebook, which is not rewritten: {code[:_MOST_SHOWN]}"


Edit = tuple[int, int, bytes]


class _Source:
    """A Python file, and where google-adk's evaluation is named in it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines = data.splitlines(keepends=True)
        self.left: list[tuple[int, str]] = []
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))

    def line(self, offset: int) -> int:
        """Return the line of an offset, counted from 1."""
        return sum(start <= offset for start in self._starts)

    def edits(self, tree: ast.Module) -> Iterator[Edit]:
        """Yield what is to be replaced in import statements, and in expressions that go through them."""
        nodes = list(ast.walk(tree))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        packages, prefixes = set[str](), set[str]()
        for node in imports:
            if isinstance(node, ast.ImportFrom) and node.level:
                continue  # a package of one's own
            found = list(self._of_import(node))
            yield from found
            packages |= _names_of_package(node)
            if isinstance(node, ast.Import) and found:
                prefixes |= {one for a in node.names for one in _OLD_MODULES if _is_in(a.name, one)}
        for use in nodes:
            if isinstance(use, ast.Attribute):
                yield from self._of_use(use, packages, prefixes)
        if prefixes:
            self._tell_lost_name(nodes, imports)

    def in_texts(self, seen: set[int]) -> Iterator[tuple[int, str]]:
        """Yield the lines that name it where nothing is an import: texts and comments."""
        reported = {line for line, _ in self.left}
        for number, line in enumerate(self.lines, 1):
            if _WORD.search(line) and number not in seen | reported and not _is_relative(line):
                yield number, "in a text or a comment"

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Edit]:
        start, end = self._span(node)
        for match in _WORD.finditer(self.data, start, end):
            module = b"".join(match[0].split()).decode()
            if _is_mirrored(module):
                yield match.start(1), match.end(1), _new(b"".join(match[1].split()).decode()).encode()
            else:
                self.left.append((node.lineno, f"{module} has no counterpart in Proctor"))
        package = _PACKAGE.search(self.data, start, end)
        if not isinstance(node, ast.ImportFrom) or package is None:
            return
        for old in _OLD_MODULES:
            parent, _, module = old.rpartition(".")
            names = {alias.name for alias in node.names} if node.module == parent else set()
            if names == {module}:
                yield package.start(), package.end(), NEW.encode()
            elif module in names:
                self.left.append((node.lineno, f"take `{module}` out of it: `{_import_of(old)}`"))

    def _of_use(self, node: ast.Attribute, packages: set[str], prefixes: set[str]) -> Iterator[Edit]:
        if not isinstance(node.value, ast.Name | ast.Attribute):
            return
        through = ast.unparse(node)
        if through in prefixes:
            yield (*self._span(node), _new(through).encode())
        for package, old in product(packages, _OLD_MODULES):
            if through not in prefixes and through == f"{package}{old.removeprefix(OLD)}":
                self.left.append((node.lineno, f"goes through `{through}`: write `{_import_of(old)}`"))

    def _tell_lost_name(self, nodes: list[ast.AST], imports: list[ast.Import | ast.ImportFrom]) -> None:
        """Report where `google` is used although its import was rewritten."""
        others = [
            a.name for node in imports if isinstance(node, ast.Import) for a in node.names if not a.asname
        ]
        if any(name.split(".")[0] == "google" and not name.startswith(_OLD_MODULES) for name in others):
            return
        uses = [node for node in nodes if isinstance(node, ast.Attribute)]
        rewritten = {id(node.value) for node in uses if ast.unparse(node) in _OLD_MODULES}
        for node in uses:
            if id(node) not in rewritten and ast.unparse(node).startswith("google.adk."):
                used = ast.unparse(node)
                if used.count(".") == 2 and used not in _OLD_MODULES:  # google.adk.NAME
                    self.left.append(
                        (node.lineno, f"`{used}` came by an import that is rewritten: import it, too")
                    )

    def _span(self, node: ast.Import | ast.ImportFrom | ast.Attribute) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return start, end


def _is_relative(line: bytes) -> bool:
    return re.match(rb"\s*from\s*\.", line) is not None


def _names_of_package(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The names by which `google.adk` itself is known after an import."""
    if isinstance(node, ast.ImportFrom):
        return {a.asname or a.name for a in node.names if node.module == "google" and a.name == "adk"}
    return {a.asname or a.name for a in node.names if a.name == "google.adk"}


def _new(module: str) -> str:
    return module.replace(OLD, NEW, 1)


def _import_of(module: str) -> str:
    parent, _, name = _new(module).rpartition(".")
    return f"from {parent} import {name}"


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_mirrored(module: str) -> bool:
    try:
        return find_spec(_new(module)) is not None
    except ModuleNotFoundError:
        return False
