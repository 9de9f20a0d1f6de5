"""Python files that import google-adk's evaluation, and the same files importing Proctor's in its place."""

from __future__ import annotations

import ast
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from proctor.errors import EvalFileError

OLD, NEW = "google.adk.evaluation", "proctor.compat.adk.evaluation"
_DOT = rb"[ \t]*\.[ \t]*"
_PACKAGE = re.compile(rb"\bgoogle" + _DOT + rb"adk\b")
_WORD = re.compile(rb"\b(google" + _DOT + rb"adk" + _DOT + rb"evaluation)\b(?:" + _DOT + rb"\w+)*")
_MOST_SHOWN = 80  # characters of a line of a notebook


@dataclass(slots=True)
class Rewritten:
    """One file: its text as it is, and with its imports rewritten."""

    path: Path
    before: str
    after: str
    left: list[str] = field(default_factory=list)
    """`line: why` of what names google-adk's evaluation and was left alone."""

    @property
    def is_changed(self) -> bool:
        """Whether anything is to be written."""
        return self.after != self.before

    def write(self) -> None:
        """Put the new text in the place of the old. Raises EvalFileError: it was changed meanwhile, or cannot be written."""
        from proctor.files.editable import text_of_file
        from proctor.files.save import write_text

        if text_of_file(self.path) != self.before:
            raise EvalFileError(f"{self.path}: the file was changed meanwhile; nothing was written to it")
        write_text(self.path, self.after)


def rewrite_imports(path: Path) -> Rewritten | None:
    """Return a Python file with the prefix of google-adk's evaluation modules replaced, where they are imported or used.

    `None` for a file that does not name them. Texts and comments are left alone; so are modules that Proctor does not
    mirror, ways around the prefix (`from google import adk`), notebooks, and files that are no Python that can be read:
    `left` says so.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        return Rewritten(path, "", "", [f"1: cannot be read: {error.strerror}"])
    names_it = _WORD.search(data) is not None
    if path.suffix == ".ipynb":
        return Rewritten(path, "", "", list(_of_notebook(data))) if names_it else None
    if not names_it and not (b"adk" in data and b"evaluation" in data and b"google" in data):
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
        packages, has_prefix = set[str](), False
        for node in imports:
            if isinstance(node, ast.ImportFrom) and node.level:
                continue  # a package of one's own
            found = list(self._of_import(node))
            yield from found
            packages |= _names_of_package(node)
            has_prefix |= isinstance(node, ast.Import) and bool(found)
        for use in nodes:
            if isinstance(use, ast.Attribute):
                yield from self._of_use(use, packages, has_prefix=has_prefix)
        if has_prefix:
            self._tell_lost_name(nodes, imports)

    def in_texts(self, seen: set[int]) -> Iterator[tuple[int, str]]:
        """Yield the lines that name it where nothing is an import: texts and comments."""
        told = {line for line, _ in self.left}
        for number, line in enumerate(self.lines, 1):
            if _WORD.search(line) and number not in seen | told and not _is_relative(line):
                yield number, "in a text or a comment"

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Edit]:
        start, end = self._span(node)
        for match in _WORD.finditer(self.data, start, end):
            module = b"".join(match[0].split()).decode()
            if _is_mirrored(module):
                yield match.start(1), match.end(1), NEW.encode()
            else:
                self.left.append((node.lineno, f"{module} has no counterpart in Proctor"))
        if not (isinstance(node, ast.ImportFrom) and node.module == "google.adk"):
            return
        names = {alias.name for alias in node.names}
        package = _PACKAGE.search(self.data, start, end)
        if names == {"evaluation"} and package:
            yield package.start(), package.end(), b"proctor.compat.adk"
        elif "evaluation" in names:
            self.left.append(
                (node.lineno, "take `evaluation` out of it: `from proctor.compat.adk import evaluation`")
            )

    def _of_use(self, node: ast.Attribute, packages: set[str], *, has_prefix: bool) -> Iterator[Edit]:
        if node.attr != "evaluation" or not isinstance(node.value, ast.Name | ast.Attribute):
            return
        through, package = ast.unparse(node), ast.unparse(node.value)
        if has_prefix and through == OLD:
            yield (*self._span(node), NEW.encode())
        elif package in packages:
            self.left.append(
                (node.lineno, f"goes through `{through}`: write `from proctor.compat.adk import evaluation`")
            )

    def _tell_lost_name(self, nodes: list[ast.AST], imports: list[ast.Import | ast.ImportFrom]) -> None:
        """Say where `google` is used that came by an import which is none of google any more."""
        others = [
            a.name for node in imports if isinstance(node, ast.Import) for a in node.names if not a.asname
        ]
        if any(name.split(".")[0] == "google" and not name.startswith(OLD) for name in others):
            return
        for node in nodes:
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("google.adk."):
                used = ast.unparse(node)
                if used.count(".") == 2 and used != OLD:  # google.adk.NAME
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


def _is_mirrored(module: str) -> bool:
    mirrored = module.replace(OLD, NEW, 1)
    try:
        return find_spec(mirrored) is not None
    except ModuleNotFoundError:
        return False
