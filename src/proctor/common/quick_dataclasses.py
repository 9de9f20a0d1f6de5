"""Data classes that are quick to make: a command makes a hundred of them before it does anything."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """`dataclasses.dataclass`, whose comparison, `repr` and hash are written once and not compiled for each class.

        That takes half of the time it takes to make a class, and more to compare two objects, which is done by tests.
        """
        if cls is None:
            return lambda given: dataclass(given, **options)
        compares, told = options.pop("eq", True), options.pop("repr", True)
        made = dataclasses.dataclass(cls, eq=False, repr=False, **options)
        if compares and "__eq__" not in cls.__dict__:
            made.__eq__ = _equal
            if "__hash__" not in cls.__dict__:
                made.__hash__ = _hash if options.get("frozen") else None
        if told and "__repr__" not in cls.__dict__:
            made.__repr__ = _repr
        return made


def _equal(one: Any, other: object) -> Any:
    if other.__class__ is not one.__class__:
        return NotImplemented
    names = _compared(type(one))
    return [getattr(one, name) for name in names] == [getattr(other, name) for name in names]


def _hash(one: Any) -> int:
    return hash(tuple(getattr(one, name) for name in _compared(type(one))))


@recursive_repr()
def _repr(one: Any) -> str:
    told = ", ".join(f"{name}={getattr(one, name)!r}" for name in _told(type(one)))
    return f"{one.__class__.__qualname__}({told})"


def _compared(cls: type) -> list[str]:
    return _names(cls, "compare")


def _told(cls: type) -> list[str]:
    return _names(cls, "repr")


def _names(cls: Any, wanted: str) -> list[str]:
    return [each.name for each in dataclasses.fields(cls) if getattr(each, wanted)]
