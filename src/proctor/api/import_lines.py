"""Python files that import google-adk's evaluation, and the same files importing Proctor's in its place."""

from __future__ import annotations

import ast
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

OLD, NEW = "google.adk.evaluation", "proctor.compat.adk.evaluation"
_WORD = re.compile(rb"google\.adk\.evaluation\b(?:\.\w+)*")


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


def rewrite_imports(path: Path) -> Rewritten | None:
    """Return a Python file with the prefix of google-adk's evaluation modules replaced, where they are imported or used.

    `None` for a file that does not name them. Texts and comments are left alone; so are modules that Proctor does not
    mirror, and files that are no Python that can be read: `left` says so.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        return Rewritten(path, "", "", [f"1: cannot be read: {error.strerror}"])
    if OLD.encode() not in data and b"google.adk import evaluation" not in data:
        return None
    mark = data[: len(BOM_UTF8)] if data.startswith(BOM_UTF8) else b""
    data = data[len(mark) :]
    try:
        before = data.decode()
        tree = ast.parse(before)
    except (SyntaxError, ValueError):
        return Rewritten(
            path, "", "", ["1: names google-adk's evaluation, and is no Python 3 in UTF-8: by hand"]
        )
    lines = data.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found = Rewritten(path, before, before)
    edits = sorted(set(_edits(tree, data, starts, found)), reverse=True)
    for start, end in edits:
        data = data[:start] + NEW.encode() + data[end:]
    found.before, found.after = (mark.decode() + text for text in (before, data.decode()))
    seen = {starts.index(max(s for s in starts if s <= start)) + 1 for start, _ in edits}
    found.left += [
        f"{number}: in a text or a comment"
        for number, line in enumerate(lines, 1)
        if OLD.encode() in line
        and number not in seen
        and not any(x.startswith(f"{number}:") for x in found.left)
    ]
    return found


def _edits(tree: ast.Module, data: bytes, starts: list[int], found: Rewritten) -> Iterator[tuple[int, int]]:
    """The places of the prefix in import statements, and in expressions that go through the imported package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            continue  # a package of one's own
        if isinstance(node, ast.ImportFrom) and node.module == "google.adk":
            if any(alias.name == "evaluation" for alias in node.names):
                found.left.append(f"{node.lineno}: write `from proctor.compat.adk import evaluation`")
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            is_import = not isinstance(node, ast.Attribute)
            for match in _WORD.finditer(data, start, end):
                if is_import or match.start() == start:
                    module = match[0].decode()
                    if is_import and not _is_mirrored(module):
                        found.left.append(f"{node.lineno}: {module} has no counterpart in Proctor")
                        continue
                    yield match.start(), match.start() + len(OLD)


def _is_mirrored(module: str) -> bool:
    mirrored = module.replace(OLD, NEW, 1)
    try:
        return find_spec(mirrored) is not None
    except ModuleNotFoundError:
        return False
