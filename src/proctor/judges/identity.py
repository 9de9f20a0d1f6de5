"""Who a model is, for answers that are kept: a name says it; an object or a function is what its code says.

Of what code holds besides, texts and truth values count, also within mappings and tuples: another table of answers is
another judge. Numbers and lists do not: they count calls and collect them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from proctor.models.base import ChatModel

__all__ = ["identity_of"]

_DEEPEST = 4


def identity_of(model: ChatModel) -> str:
    """Return a name for a model that was given as an object: another one when its code, or what it holds, is another."""
    told = "\x00".join(_told(model, 0))
    return f"{model.name} {blake2b(told.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _told(value: Any, depth: int) -> Iterator[str]:
    if value is None or isinstance(value, str | bool):
        yield repr(value)
    elif depth > _DEEPEST or isinstance(value, int | float | bytes | list | set):
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield repr(key)
            yield from _told(item, depth + 1)
    elif isinstance(value, tuple):
        for item in value:
            yield from _told(item, depth + 1)
    elif inspect.isroutine(value):
        yield from _of_function(value, depth)
    elif not inspect.ismodule(value) and not isinstance(value, type):
        yield from _of_object(value, depth)


def _of_function(function: Any, depth: int) -> Iterator[str]:
    yield _source(function)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        yield from _told(held, depth + 1)
    for held in (getattr(function, "__defaults__", None), getattr(function, "__kwdefaults__", None)):
        yield from _told(held, depth + 1)
    if (owner := getattr(function, "__self__", None)) is not None:
        yield from _told(owner, depth + 1)


def _of_object(value: Any, depth: int) -> Iterator[str]:
    yield _source(type(value))
    slots = {name: getattr(value, name, None) for name in getattr(type(value), "__slots__", ())}
    for name, held in {**slots, **getattr(value, "__dict__", {})}.items():
        yield name
        yield from _told(held, depth + 1)


def _source(code: Any) -> str:
    name = f"{code.__module__}.{getattr(code, '__qualname__', '')}"
    try:
        return f"{name} {inspect.getsource(code)}"
    except (OSError, TypeError):
        return name
