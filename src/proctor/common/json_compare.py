"""When are two values of JSON the same? What decides about them and what shows how they differ ask the same question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["equal_json"]


def equal_json(expected: Any, actual: Any) -> bool:
    """Equal as JSON values: 1 is 1.0, truth values are no numbers, the order of keys does not count, tuples are lists.

    However deep they are: nothing here calls itself.
    """
    pending = [(expected, actual)]
    compared: set[tuple[int, int]] = set()
    while pending:
        one, other = pending.pop()
        if isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
            continue
        members = _members(one, other)
        if members is None:
            if not one == other:  # noqa: SIM201 - values of somebody's own may know `==` only
                return False
        elif len(members) != max(len(one), len(other)):
            return False
        elif (id(one), id(other)) not in compared:  # what holds itself is looked at once
            compared.add((id(one), id(other)))
            pending += members
    return True


def _members(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """The members that two objects, or two lists, have both; `None`: they are not both of one kind."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return [(value, other[key]) for key, value in one.items() if key in other]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(zip(one, other, strict=False))
    return None
