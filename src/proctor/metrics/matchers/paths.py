"""Paths to places in a value: `guest.name`, `items[0].id`, `items[*].id`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.reason_text import show_name, show_value

ANY_ITEM = "*"
EVERY = -1
"""The step to every item of a list."""
Path = tuple[str | int, ...]
_PIECE = re.compile(r"(?P<key>[^\[]*)(?P<places>(\[(\*|\d+)\])*)")
_PLACE = re.compile(r"\[(\*|\d+)\]")


def read_path(text: str, reader: MatcherReader, where: str) -> Path:
    """Read a path; dots separate keys, `items[0]` and `items[*]` are positions in a list."""
    path: list[str | int] = []
    for piece in text.split("."):
        parts = _PIECE.fullmatch(piece)
        if not piece or parts is None:
            problem = f"{show_value(text)} is not a path (as in `guest.name`, `items[0].id`, `items[*].id`)"
            reader.problem(where, problem)
            return (text,)
        path += [parts["key"]] if parts["key"] else []
        path += [EVERY if place == ANY_ITEM else int(place) for place in _PLACE.findall(parts["places"])]
    return tuple(path)


def show_path(path: Path) -> str:
    """Return a path as it is written: `guest.name`, `items[*].id`."""
    steps = (
        f".{step}" if isinstance(step, str) else f"[{ANY_ITEM if step == EVERY else step}]" for step in path
    )
    return show_name("".join(steps).removeprefix("."))


def values_at(value: object, path: Path) -> Iterator[object]:
    """Yield the value at a path, or `ABSENT`; for a path through every item of a list, one for each."""
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        yield from values_at(value[step], rest) if step in value else (ABSENT,)
    elif isinstance(value, list | tuple) and step == EVERY:
        for item in value:
            yield from values_at(item, rest)
    elif isinstance(value, list | tuple) and isinstance(step, int) and step < len(value):
        yield from values_at(value[step], rest)
    else:
        yield ABSENT
