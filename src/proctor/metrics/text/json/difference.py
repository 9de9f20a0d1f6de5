"""The differences of two JSON values, place by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeGuard
from unicodedata import is_normalized

from proctor.common.safe_text import cut_text
from proctor.metrics.text.one_to_one import equal_pairs, most_pairs

LONGEST_NAME = 100
"""The number of characters of a key that are shown."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Differences that JSON values may have and still be equal. The order of keys never counts."""

    strict: bool = False
    """1 and 1.0 differ."""
    ignore_order: bool = False
    """Lists are equal in any order."""
    allow_extra: bool = False
    """Objects may have keys that are not expected."""
    tolerance: float = 0.0
    """The largest allowed difference of numbers."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place at which two values differ."""

    path: str
    """`$.items[0].name`; `$` is the whole value."""
    kind: str
    """`differs`, `missing` (only expected) or `extra` (only actual)."""
    expected: object = None
    actual: object = None

    def to_data(self) -> dict[str, object]:
        """Return the difference as JSON, with the existing sides."""
        data: dict[str, object] = {"path": self.path, "kind": self.kind}
        if self.kind != "extra":
            data["expected"] = self.expected
        if self.kind != "missing":
            data["actual"] = self.actual
        return data


def json_differences(expected: object, actual: object, rules: Rules, path: str = "$") -> Iterator[Difference]:
    """Yield every place at which `actual` differs from `expected`; nothing if they are equal."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        yield from _object_differences(expected, actual, rules, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from (_bag_differences if rules.ignore_order else _list_differences)(
            expected, actual, rules, path
        )
    elif not _same(expected, actual, rules):
        yield Difference(path, "differs", expected, actual)


def _object_differences(
    expected: Mapping[str, object], actual: Mapping[str, object], rules: Rules, path: str
) -> Iterator[Difference]:
    for name, value in expected.items():
        if name in actual:
            yield from json_differences(value, actual[name], rules, _member(path, name))
        else:
            yield Difference(_member(path, name), "missing", expected=value)
    for name, value in actual.items():
        if name not in expected and not rules.allow_extra:
            yield Difference(_member(path, name), "extra", actual=value)


def _member(path: str, name: str) -> str:
    """Return the path of a key; a key that is not in Unicode's normal form NFC is escaped."""
    name = cut_text(name, LONGEST_NAME)
    if not is_normalized("NFC", name):
        return f"{path}[{name!a}]"
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]"


def _list_differences(
    expected: Sequence[object], actual: Sequence[object], rules: Rules, path: str
) -> Iterator[Difference]:
    for index, (expected_item, actual_item) in enumerate(zip(expected, actual, strict=False)):
        yield from json_differences(expected_item, actual_item, rules, f"{path}[{index}]")
    for index in range(len(actual), len(expected)):
        yield Difference(f"{path}[{index}]", "missing", expected=expected[index])
    for index in range(len(expected), len(actual)):
        yield Difference(f"{path}[{index}]", "extra", actual=actual[index])


def _bag_differences(
    expected: Sequence[object], actual: Sequence[object], rules: Rules, path: str
) -> Iterator[Difference]:
    pairs = _pairs(expected, actual, rules)
    for index, value in enumerate(expected):
        if index not in pairs:
            yield Difference(f"{path}[{index}]", "missing", expected=value)
    paired_indexes = set(pairs.values())
    for index, value in enumerate(actual):
        if index not in paired_indexes:
            yield Difference(f"{path}[{index}]", "extra", actual=value)


def _pairs(expected: Sequence[object], actual: Sequence[object], rules: Rules) -> dict[int, int]:
    """Return the pairs of equal members of two lists; a search is only needed if equality is not an equivalence."""
    if rules.tolerance or rules.allow_extra:
        return most_pairs(
            len(expected),
            len(actual),
            lambda i, j: next(json_differences(expected[i], actual[j], rules), None) is None,
        )
    keys = ([_key(value, rules) for value in values] for values in (expected, actual))
    return equal_pairs(*keys)


def _key(value: object, rules: Rules) -> Hashable:
    """Return an object that is equal exactly for equal values."""
    if isinstance(value, Mapping):
        return "object", frozenset((name, _key(each, rules)) for name, each in value.items())
    if isinstance(value, list):
        members = [_key(each, rules) for each in value]
        return "list", frozenset(Counter(members).items()) if rules.ignore_order else tuple(members)
    if not _is_number(value):
        return type(value), value
    return rules.strict and isinstance(value, int), "number", exact_decimal(value)


def _same(expected: object, actual: object, rules: Rules) -> bool:
    if not (_is_number(expected) and _is_number(actual)):
        return type(expected) is type(actual) and bool(expected == actual)
    if rules.strict and isinstance(expected, int) is not isinstance(actual, int):
        return False
    expected_number, actual_number = exact_decimal(expected), exact_decimal(actual)
    if not rules.tolerance:
        return expected_number == actual_number
    return abs(Fraction(expected_number) - Fraction(actual_number)) <= Fraction(repr(rules.tolerance))


def exact_decimal(number: float | Decimal) -> Decimal | int:
    """Return a number as it is written: 0.1, not the nearest binary fraction."""
    return Decimal(repr(number)) if isinstance(number, float) else number


def _is_number(value: object) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
