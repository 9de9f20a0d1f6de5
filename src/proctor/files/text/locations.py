"""Positions of the values of a JSON text, by their paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from proctor.files.text.problems import Path_, Place, SourceText

if TYPE_CHECKING:
    from proctor.files.text.json_tree import JsonNode


class Places:
    """The positions of some paths in one text. A missing path has the position of the nearest enclosing object."""

    def __init__(self, source: SourceText, paths: Iterable[Path_], *, base: Path_ = ()) -> None:
        from proctor.files.text.json_tree import JsonTree, Wanted  # needed only to report a problem

        self._source, self._base = source, base
        wanted: Wanted = {}
        for path in paths:
            branch = wanted
            for step in path[len(base) :]:
                branch = branch.setdefault(step, {})
        self._root = JsonTree(source.text, wanted=wanted, allow_cut=True).root

    def value(self, path: Path_) -> Place:
        """Return where the value of `path` starts."""
        node, _ = self._find(path)
        return self._source.place(node.start)

    def key(self, path: Path_) -> Place:
        """Return where the key of `path` starts; for an element of a list, its value."""
        parent, depth = self._find(path[:-1])
        if path and depth == len(path) - 1 and path[-1] in parent.keys:
            return self._source.place(parent.keys[str(path[-1])])
        return self.value(path)

    def _find(self, path: Path_) -> tuple[JsonNode, int]:
        """Return the node at `path`, or its nearest ancestor, and the length of the path to it."""
        node = self._root
        for depth, step in enumerate(path[len(self._base) :], len(self._base)):
            child = node.at(step)
            if child is None:
                return node, depth
            node = child
        return node, len(path)
