"""In what two JSON values differ, place by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unicodedata import is_normalized

from proctor.metrics.text.one_to_one import equal_pairs, most_pairs

__all__ = ["Difference", "Rules", "differences", "exactly"]


LONGEST_NAME = 100
"""Characters of a key that are shown."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What JSON values may differ in and be equal all the same. The order of keys never counts."""

    strict: bool = False
    """1 and 1.0 differ."""
    ignore_order: bool = False
    """Lists are equal in any order."""
    allow_extra: bool = False
    """Objects may have keys that are not expected."""
    tolerance: float = 0.0
    """How far numbers may lie apart."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ."""

    path: str
    """`$.items[0].name`; `$` is the whole."""
    kind: str
    """`differs`, `missing` (expected, not there) or `extra` (there, not expected)."""
    expected: Any = None
    actual: Any = None

    def to_data(self) -> dict[str, Any]:
        """The difference as JSON, with the sides that there are."""
        data = {"path": self.path, "kind": self.kind}
        if self.kind != "extra":
            data["expected"] = self.expected
        if self.kind != "missing":
            data["actual"] = self.actual
        return data


def differences(expected: Any, actual: Any, rules: Rules, path: str = "$") -> Iterator[Difference]:
    """Every place where `actual` differs from `expected`; none where they are equal."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        yield from _of_objects(expected, actual, rules, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from (_of_bags if rules.ignore_order else _of_lists)(expected, actual, rules, path)
    elif not _same(expected, actual, rules):
        yield Difference(path, "differs", expected, actual)


def _of_objects(
    expected: Mapping[str, Any], actual: Mapping[str, Any], rules: Rules, path: str
) -> Iterator[Difference]:
    for name, value in expected.items():
        if name in actual:
            yield from differences(value, actual[name], rules, _member(path, name))
        else:
            yield Difference(_member(path, name), "missing", expected=value)
    for name, value in actual.items():
        if name not in expected and not rules.allow_extra:
            yield Difference(_member(path, name), "extra", actual=value)


def _member(path: str, name: str) -> str:
    """The place of a key; one that looks like another (in another form of Unicode) in escapes."""
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    if not is_normalized("NFC", name):
        return f"{path}[{name!a}]"
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]"


def _of_lists(
    expected: Sequence[Any], actual: Sequence[Any], rules: Rules, path: str
) -> Iterator[Difference]:
    for index, (wanted, made) in enumerate(zip(expected, actual, strict=False)):
        yield from differences(wanted, made, rules, f"{path}[{index}]")
    for index in range(len(actual), len(expected)):
        yield Difference(f"{path}[{index}]", "missing", expected=expected[index])
    for index in range(len(expected), len(actual)):
        yield Difference(f"{path}[{index}]", "extra", actual=actual[index])


def _of_bags(expected: Sequence[Any], actual: Sequence[Any], rules: Rules, path: str) -> Iterator[Difference]:
    pairs = _pairs(expected, actual, rules)
    for index, value in enumerate(expected):
        if index not in pairs:
            yield Difference(f"{path}[{index}]", "missing", expected=value)
    taken = set(pairs.values())
    for index, value in enumerate(actual):
        if index not in taken:
            yield Difference(f"{path}[{index}]", "extra", actual=value)


def _pairs(expected: Sequence[Any], actual: Sequence[Any], rules: Rules) -> dict[int, int]:
    """Which members of two lists are equal; pairs are looked for only where equality is no equivalence."""
    if rules.tolerance or rules.allow_extra:
        return most_pairs(
            len(expected),
            len(actual),
            lambda i, j: next(differences(expected[i], actual[j], rules), None) is None,
        )
    keys = ([_key(value, rules) for value in values] for values in (expected, actual))
    return equal_pairs(*keys)


def _key(value: Any, rules: Rules) -> Hashable:
    """The same for equal values, another for others."""
    if isinstance(value, Mapping):
        return "object", frozenset((name, _key(each, rules)) for name, each in value.items())
    if isinstance(value, list):
        members = [_key(each, rules) for each in value]
        return "list", frozenset(Counter(members).items()) if rules.ignore_order else tuple(members)
    if not _is_number(value):
        return type(value), value
    return rules.strict and isinstance(value, int), "number", exactly(value)


def _same(expected: Any, actual: Any, rules: Rules) -> bool:
    if not (_is_number(expected) and _is_number(actual)):
        return type(expected) is type(actual) and bool(expected == actual)
    if rules.strict and isinstance(expected, int) is not isinstance(actual, int):
        return False
    wanted, made = exactly(expected), exactly(actual)
    if not rules.tolerance:
        return wanted == made
    return abs(Fraction(wanted) - Fraction(made)) <= Fraction(repr(rules.tolerance))


def exactly(number: float | Decimal) -> Decimal | int:
    """A number as it is written: 0.1 and not the nearest binary fraction."""
    return Decimal(repr(number)) if isinstance(number, float) else number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
