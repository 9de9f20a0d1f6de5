"""Paths to places in a value: `guest.name`, `items[0].id`, `items[*].id`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.reason_text import show_name, show_value

__all__ = ["EVERY", "Path", "read_path", "show_path", "values_at"]

ANY_ITEM = "*"
EVERY = -1
"""The step to every item of a list."""
Path = tuple[str | int, ...]


def read_path(text: str, reader: MatcherReader, where: str) -> Path:
    """Read `guest.name` as its keys, `items[0]` and `items[*]` as positions in a list."""
    path: list[str | int] = []
    for piece in text.split("."):
        name, *places = piece.split("[")
        path += [name] if name or not places else []
        for place in places:
            index = place.removesuffix("]")
            if not place.endswith("]") or not (index == ANY_ITEM or index.isdecimal()):
                reader.problem(
                    where,
                    f"{show_value(text)} is not a path (as in `guest.name`, `items[0].id`, `items[*].id`)",
                )
                return (text,)
            path.append(EVERY if index == ANY_ITEM else int(index))
    if not all(step != "" for step in path):
        reader.problem(
            where, f"{show_value(text)} is not a path (as in `guest.name`, `items[0].id`, `items[*].id`)"
        )
    return tuple(path)


def show_path(path: Path) -> str:
    """Return a path as it is written: `guest.name`, `items[*].id`."""
    steps = (
        f".{step}" if isinstance(step, str) else f"[{ANY_ITEM if step == EVERY else step}]" for step in path
    )
    return show_name("".join(steps).removeprefix("."))


def values_at(value: Any, path: Path) -> Iterator[Any]:
    """Yield the value at a path, or `ABSENT`; for a path through every item of a list, one for each."""
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    if isinstance(value, list | tuple) and step == EVERY:
        for item in value:
            yield from values_at(item, rest)
    elif step in value if isinstance(value, Mapping) else _has_place(value, step):
        yield from values_at(value[step], rest)
    else:
        yield ABSENT


def _has_place(value: Any, step: str | int) -> bool:
    return isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
