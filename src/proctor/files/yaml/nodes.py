"""A YAML document as a tree with positions, and the JSON values of its scalars."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from proctor.files.text.json_scanner import MAX_DIGITS
from proctor.files.text.problems import Path_, Place, quote

Scalar = str | int | float | bool | None

_LITERALS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_AMBIGUOUS = re.compile(r"[-+]?0[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?0[xX][0-9a-fA-F]+|[-+]?0o[0-7]+")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAY_BE_SPECIAL = frozenset("+-.0123456789~nNtTfF")


class Fault(NamedTuple):
    """The reason why a word is refused, and a hint."""

    message: str
    hint: str


def resolve(word: str) -> Scalar | Fault:
    """Return the value of an unquoted word, or the reason why it has none."""
    if word and word[0] not in _MAY_BE_SPECIAL:
        return word
    if word in _LITERALS:
        return _LITERALS[word]
    if _INTEGER.fullmatch(word):
        return _integer(word)
    if _FLOAT.fullmatch(word):
        number = float(word)
        if math.isinf(number):
            return Fault(f"the number {quote(word, 20)} is too large", "the largest is about 1.8e308")
        return number
    if _AMBIGUOUS.fullmatch(word):
        message = f"YAML readers disagree about the value of {quote(word, 20)}"
        return Fault(
            message, f'write "{word[:20]}" in quotes for a text, or the number without leading zeros'
        )
    if _NOT_FINITE.fullmatch(word):
        return Fault(f"JSON has no number {quote(word)}", "write a finite number, or null")
    return word


def is_text(word: str) -> bool:
    """Whether an unquoted `word` is text, and neither another value nor refused."""
    return isinstance(resolve(word), str)


def _integer(word: str) -> int | Fault:
    if len(word.lstrip("+-")) > MAX_DIGITS:
        return Fault(f"a number with {len(word)} digits", f"the limit is {MAX_DIGITS} digits")
    return int(word)


Json = Scalar | list["Json"] | dict[str, "Json"]


@dataclass(slots=True, eq=False)
class Word:
    """A scalar. `plain`: without quotes, so that it may be a number; `start`, `end`: its offsets in the source."""

    place: Place
    text: str
    plain: bool = False
    start: int = -1
    end: int = -1
    weight: int = 1


@dataclass(slots=True, eq=False)
class Seq:
    """A list."""

    place: Place
    items: list[Node] = field(default_factory=list)
    weight: int = 1


@dataclass(slots=True, eq=False)
class Map:
    """An object. `keys` has the position of each key."""

    place: Place
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, Place] = field(default_factory=dict)
    weight: int = 1

    def put(self, key: str, value: Node, key_place: Place | None = None) -> None:
        """Add an entry."""
        self.values[key] = value
        self.keys[key] = key_place or value.place


Node = Word | Seq | Map
"""One value of a document. `weight` is its number of values, for the limit on aliases."""

OnFault = Callable[[Place, Path_, Fault], None]


def to_json(node: Node, on_fault: OnFault | None = None, path: Path_ = ()) -> Json:
    """Return the JSON value of a node.

    Scalars without a value are passed to `on_fault` and become null; without it they become their text.
    """
    if isinstance(node, Word):
        value = resolve(node.text) if node.plain else node.text
        if isinstance(value, Fault):
            if on_fault is None:
                return node.text
            on_fault(node.place, path, value)
            return None
        return value
    if isinstance(node, Seq):
        return [to_json(item, on_fault, (*path, index)) for index, item in enumerate(node.items)]
    return {key: to_json(item, on_fault, (*path, key)) for key, item in node.values.items()}


def is_null(node: Node) -> bool:
    """Whether a node is null, explicit or empty."""
    return isinstance(node, Word) and node.plain and resolve(node.text) is None


def map_node(place: Place, entries: Iterable[tuple[str, Node]]) -> Map:
    """Return an object that is not in the file."""
    result = Map(place)
    for key, value in entries:
        result.put(key, value)
    return result


class TreePlaces:
    """The positions of the values of a tree (`proctor.files.eval_sets.documents.ValuePositions`)."""

    def __init__(self, root: Node) -> None:
        self._root = root

    def value(self, path: Path_) -> Place:
        """Return where the value of `path` starts; for a missing path, the nearest enclosing object."""
        return self._find(path)[0].place

    def key(self, path: Path_) -> Place:
        """Return where the key of `path` starts; for an element of a list, its value."""
        node, rest = self._find(path[:-1])
        if not rest and path and isinstance(node, Map) and path[-1] in node.keys:
            return node.keys[str(path[-1])]
        return self.value(path)

    def _find(self, path: Path_) -> tuple[Node, Path_]:
        node = self._root
        for depth, step in enumerate(path):
            inner: Node | None = None
            if isinstance(node, Map) and isinstance(step, str):
                inner = node.values.get(step)
            elif isinstance(node, Seq) and isinstance(step, int) and step < len(node.items):
                inner = node.items[step]
            if inner is None:
                return node, path[depth:]
            node = inner
        return node, ()
