"""Models made of values that are known to be valid, at a fifth of what validating them costs.

For what is made for every event of every trial, and nothing else: whoever calls this answers for the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from proctor.schema.format.wire_model import ALWAYS_STATED, WireModel

Model = TypeVar("Model", bound=WireModel)

# The four slots of a model. Writing to them by their descriptors is the cheapest way past pydantic's own `__setattr__`.
# Two of them are for `event`, too; the other two may stay empty.
put_fields = BaseModel.__dict__["__dict__"].__set__
WAITING_ROOM: Any = BaseModel.__dict__["__pydantic_fields_set__"]
"""One of those that may stay empty: an event that waits has its recipe there."""
_put_stated = WAITING_ROOM.__set__
put_unknown = BaseModel.__dict__["__pydantic_extra__"].__set__
_new = object.__new__


def maker(model: type[Model], *stated: str) -> Callable[[dict[str, Any]], Model]:
    """Return a function that makes a `model` of a dict with a value for each of its fields, in their order.

    `stated` are the fields that count as given, whatever their value (all of them where none is named); any other
    does when it has a value that is not its default. The dict becomes the model's own. Two of a model's four slots
    stay empty until somebody looks at them (see `WireModel.__getattr__`), which takes a third off.
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
    """Have fields of models that are made here count as given, whatever their value; see `maker`."""
    names = frozenset(stated)
    ALWAYS_STATED[model] = names & ALWAYS_STATED.get(model, names)


def twin(model: Model) -> Model:
    """Return a shallow copy: setting a field of the one does not change the other.

    What counts as given is worked out when it is asked for, as for what `maker` makes; with unknown fields it is copied.
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
    """Every field of `model` with its default, in order; to be copied, and completed, for `maker`.

    A default that each object has for itself (a list) is null here.
    """
    return {name: field.get_default() for name, field in model.model_fields.items()}


# --- Plain values under plain names, as most arguments of most calls are: what can be kept as it is, and how long it is ---


_LONG = 2**63
_MOST = 64  # a dict of more entries is looked at one by one
_SMALL = frozenset({bool, type(None)})


def flat_size(given: dict[Any, Any]) -> int:
    """Count the characters of plain values under plain names; -1 for any other.

    Plain are short ASCII identifiers as keys, and as values ASCII texts without NUL, whole numbers of 63 bits, finite
    ones, true, false and null: any store holds them, and nothing in them can be changed.
    """
    if len(given) > _MOST:
        return -1
    size = 0
    for key, item in given.items():  # one loop for all questions: this runs for every call of every trial
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
