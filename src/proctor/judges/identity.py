"""Who a model is, for answers that are kept: a name says it; an object or a function is what its code says and holds.

Whatever may make it answer otherwise makes it another one: a line of its module, a number or a text that it holds. One
that counts calls is another one each time that it is asked who it is, and is paid again: better than an answer that it
would not give any more. A model that knows better has an attribute `identity`, a text or the values that make it out.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import blake2b
from typing import Any

from proctor.models.base import ChatModel

__all__ = ["identity_of"]

_DEEPEST = 4


def identity_of(model: ChatModel) -> str:
    """Return a name for a model that was given as an object: another one when its module, or what it holds, is another."""
    told = "\x00".join(_told(getattr(model, "identity", model), 0))
    return f"{model.name} {blake2b(told.encode('utf-8', 'replace'), digest_size=8).hexdigest()}"


def _told(value: Any, depth: int) -> Iterator[str]:
    if value is None or isinstance(value, str | int | float | bytes):
        yield repr(value)
    elif depth > _DEEPEST:
        return
    elif isinstance(value, Mapping | set | frozenset | tuple | list):
        yield from _of_many(value, depth)
    elif isinstance(value, partial):
        yield from _told((value.func, value.args, value.keywords), depth)
    elif inspect.isroutine(value):
        yield from _of_function(value, depth)
    elif isinstance(value, type):
        yield _source(value)
    elif not inspect.ismodule(value):
        yield from _of_object(value, depth)


def _of_many(values: Any, depth: int) -> Iterator[str]:
    if isinstance(values, set | frozenset):
        yield from sorted(repr(item) for item in values)
    elif isinstance(values, Mapping):
        for key, item in values.items():
            yield repr(key)
            yield from _told(item, depth + 1)
    else:
        for item in values:
            yield from _told(item, depth + 1)


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
    slots = _slots(type(value))
    if not hasattr(value, "__dict__") and not slots:  # a date, a pattern, a path: what it is, its text says
        text = repr(value)
        yield "" if hex(id(value)) in text else text  # where it lies in memory is no part of it
    held_in_slots = {name: getattr(value, name, None) for name in slots}
    for name, held in {**held_in_slots, **getattr(value, "__dict__", {})}.items():
        yield name
        yield from _told(held, depth + 1)


def _slots(kind: type) -> list[str]:
    """Return the slots of a class and of those above it; Python's own classes keep in theirs what they like."""
    found = [getattr(one, "__slots__", ()) for one in kind.__mro__ if not _is_pythons_own(one)]
    return [name for names in found for name in ([names] if isinstance(names, str) else names)]


def _is_pythons_own(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in sys.stdlib_module_names


def _source(code: Any) -> str:
    """Return its name, its text, and that of its module: there stands what it calls."""
    told = [f"{code.__module__}.{getattr(code, '__qualname__', '')}"]
    for what in (code, inspect.getmodule(code)):
        try:
            told.append(inspect.getsource(what) if what is not None else "")
        except (OSError, TypeError):  # typed in, or not written in Python
            continue
    return " ".join(told)
