"""Construction of models from values that are known to be valid, at a fifth of the cost of validation.

Use it only for objects that are built for every event of every trial. The caller is responsible for the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from proctor.schema.format.wire_model import ALWAYS_STATED, WireModel

Model = TypeVar("Model", bound=WireModel)

# The four slots of a model. Writing to them through their descriptors is the fastest way around pydantic's `__setattr__`.
# `event` uses two of them as well; the other two may stay empty.
put_fields = BaseModel.__dict__["__dict__"].__set__
WAITING_ROOM: Any = BaseModel.__dict__["__pydantic_fields_set__"]
"""A slot that may stay empty: a lazy event stores its recipe there."""
_put_stated = WAITING_ROOM.__set__
put_unknown = BaseModel.__dict__["__pydantic_extra__"].__set__
_new = object.__new__


def maker(model: type[Model], *stated: str) -> Callable[[dict[str, Any]], Model]:
    """Return a function that builds a `model` from a dict with a value for each of its fields, in their order.

    `stated` are the fields that count as set, whatever their value (all fields if none is named); any other field
    counts as set if its value is not its default. The model takes ownership of the dict. Two of a model's four slots
    stay empty until first access (see `WireModel.__getattr__`), which saves a third.
    """
    count_as_given(model, stated or model.model_fields)
    new = model.__new__

    def make(fields: dict[str, Any]) -> Model:
        made = new(model)
        put_fields(made, fields)
        put_unknown(made, {})
        return made

    return make


def count_as_given(model: type[WireModel], stated: Iterable[str]) -> None:
    """Make fields count as set in models that are built here, whatever their value; see `maker`."""
    names = frozenset(stated)
    ALWAYS_STATED[model] = names & ALWAYS_STATED.get(model, names)


def twin(model: Model) -> Model:
    """Return a shallow copy: setting a field of one does not change the other.

    The set of fields that count as set is computed on access, as for `maker`; with unknown fields it is copied.
    """
    made = _new(type(model))
    put_fields(made, model.__dict__.copy())
    if unknown := model.__pydantic_extra__:
        put_unknown(made, unknown.copy())
        _put_stated(made, model.__pydantic_fields_set__.copy())
    else:
        put_unknown(made, {})
    return made


def defaults(model: type[WireModel]) -> dict[str, Any]:
    """Return every field of `model` with its default, in order; copy and complete the dict for `maker`.

    A default that is created for each object (a list) is null here.
    """
    return {name: field.get_default() for name, field in model.model_fields.items()}


# --- Plain values under plain keys, as most arguments are: whether they can be stored unchanged, and their size ----------


_LONG = 2**63
_MOST = 64  # the entries of a larger dict are inspected one by one
_SMALL = frozenset({bool, type(None)})


def flat_size(given: dict[Any, Any]) -> int:
    """Count the characters of plain values under plain keys; -1 for any others.

    Plain keys are short ASCII identifiers. Plain values are ASCII texts without NUL, whole numbers of 63 bits, finite
    floats, true, false and null: every store can hold them, and they are immutable.
    """
    if len(given) > _MOST:
        return -1
    size = 0
    for key, item in given.items():  # one loop for all checks: this runs for every call of every trial
        if type(key) is not str or not key.isidentifier():
            return -1
        kind = type(item)
        if kind is str:
            if not item.isascii() or "\0" in item:
                return -1
            size += len(item)
        elif kind is int:
            if not -_LONG < item < _LONG:
                return -1
        elif not (kind in _SMALL or (kind is float and math.isfinite(item))):
            return -1
        size += len(key)
    return size
