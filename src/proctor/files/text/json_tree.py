"""The values of a JSON text as a tree with offsets, and their lines and columns by path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from json import JSONDecoder
from typing import TypeAlias

from proctor.files.text.problems import Path_, Place, SourceText

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|#[^\n]*)*")
_GAP_STARTS = frozenset(" \t\r\n/#")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_WORD = re.compile(r"[^\s{}\[\]:,\"#/]+")
_DECODER = JSONDecoder()
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|//[^\n]*|#[^\n]*|[{}\[\]]', re.DOTALL)

PathTree: TypeAlias = "dict[str | int, PathTree]"
"""The paths to locate, as a tree of their steps."""


@dataclass(slots=True, eq=False)
class JsonNode:
    """One value of a text, from `start` to `end`, with the nodes inside it."""

    start: int
    end: int = 0
    members: dict[str, JsonNode] | None = None
    """The members of an object by key; of a duplicate key the last one, which counts."""
    items: list[JsonNode] | None = None
    keys: dict[str, int] = field(default_factory=dict)
    """The offset of each member's key."""

    @property
    def children(self) -> list[JsonNode]:
        """The members or items, in order."""
        return list(self.members.values()) if self.members is not None else self.items or []

    def at(self, *path: str | int) -> JsonNode | None:
        """Return the node at a path, `None` if there is none."""
        node: JsonNode | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, str):
                node = (node.members or {}).get(step)
            else:
                node = node.items[step] if node.items and step < len(node.items) else None
        return node


class JsonTree:
    """The tree of a text that is known to be readable; comments and trailing commas are allowed.

    `ends` maps offsets at which values start to their ends; `wanted` limits the tree to some paths. Other values get no
    nodes inside them. With `allow_cut` the text may end anywhere; the tree then contains what precedes the end.

    Raises:
        ValueError: the text is not JSON.
    """

    def __init__(
        self,
        text: str,
        start: int = 0,
        *,
        ends: Mapping[int, int] | None = None,
        path_tree: PathTree | None = None,
        allow_cut: bool = False,
    ) -> None:
        self.gaps: list[tuple[int, int]] = []
        """Where comments are, among white space."""
        self._text = text
        self._at = start
        self._ends = ends or {}
        self._skip_gap()
        self.root = JsonNode(self._at)
        try:
            self._read(self.root, path_tree)
        except ValueError:
            if not allow_cut:
                raise

    def _skip_gap(self) -> str:
        """Skip white space and comments; return the next character."""
        sign = self._text[self._at : self._at + 1]
        if sign not in _GAP_STARTS:
            return sign
        gap = _GAP.match(self._text, self._at)
        if gap and gap[0].strip():
            self.gaps.append(gap.span())
        self._at = gap.end() if gap else self._at
        return self._text[self._at : self._at + 1]

    def _read(self, node: JsonNode, path_tree: PathTree | None) -> None:
        sign = self._text[self._at : self._at + 1]
        if (end := self._ends.get(self._at)) is not None:
            self._at = end
        elif sign not in {"{", "["}:
            self._at = self._end_of(_STRING if sign == '"' else _WORD)
        elif path_tree is not None and not path_tree:
            self._at = self._end_of_brackets()
        elif sign == "{":
            self._read_members(node, path_tree)
        else:
            self._read_items(node, path_tree)
        node.end = self._at

    def _end_of(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError(f"no JSON at character {self._at}")
        return match.end()

    def _end_of_brackets(self) -> int:
        depth = 0
        for match in _BRACKET.finditer(self._text, self._at):
            depth += (match[0] in "{[") - (match[0] in "}]")
            if depth == 0:
                return match.end()
        raise ValueError(f"no end of the value at character {self._at}")

    def _read_members(self, node: JsonNode, path_tree: PathTree | None) -> None:
        node.members = {}
        self._at += 1
        while (sign := self._skip_gap()) != "}":
            start = self._at
            if sign != '"':
                raise ValueError(f"no key at character {start}")
            key, self._at = _DECODER.raw_decode(self._text, start)
            self._skip_gap()
            self._at += 1  # the colon
            self._skip_gap()
            node.members.pop(key, None)  # of a duplicate key the last value counts, at its own position
            member = JsonNode(self._at)
            node.members[key], node.keys[key] = member, start
            self._read(member, None if path_tree is None else path_tree.get(key, {}))
            self._skip_comma()
        self._at += 1

    def _read_items(self, node: JsonNode, path_tree: PathTree | None) -> None:
        node.items = []
        self._at += 1
        while self._skip_gap() != "]":
            item = JsonNode(self._at)
            node.items.append(item)
            self._read(item, None if path_tree is None else path_tree.get(len(node.items) - 1, {}))
            self._skip_comma()
        self._at += 1

    def _skip_comma(self) -> None:
        if self._skip_gap() == ",":
            self._at += 1


# --- positions by path ------------------------------------------------------------------------------------------------


class Places:
    """The positions of some paths in one text. A missing path has the position of the nearest enclosing object."""

    def __init__(self, source: SourceText, paths: Iterable[Path_], *, base: Path_ = ()) -> None:
        self._source, self._base = source, base
        path_tree: PathTree = {}
        for path in paths:
            branch = path_tree
            for step in path[len(base) :]:
                branch = branch.setdefault(step, {})
        self._root = JsonTree(source.text, path_tree=path_tree, allow_cut=True).root

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
