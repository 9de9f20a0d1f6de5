"""The kinds of matchers, which compare an actual with an expected value, and expected values with matchers in any place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, Protocol, TypeGuard
from unicodedata import normalize

from proctor.common.json_values import equal_json
from proctor.metrics.matchers.base import ABSENT, Matcher, fits_value
from proctor.metrics.reason_text import show_name, show_text, show_value
from proctor.metrics.text.json.parse import read_json
from proctor.metrics.text.normal_form import BLANKS
from proctor.metrics.text.one_to_one import most_pairs
from proctor.metrics.text.regex.search import Search, matches
from proctor.metrics.trajectory.call_matching import equal_strictly

SECONDS = 1.0
"""The time limit for a pattern on one value."""


_WRITTEN = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")


class Exact(Matcher):
    """Equal as JSON values: 1 is 1.0, true is not 1, keys in any order, lists in theirs."""

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; absent equals absent."""
        return equal_json(expected, actual)

    def describe(self, expected: object) -> str:
        """Return the value."""
        return show_value(expected)


class Ignore(Matcher):
    """Any value, or none."""

    def fits(self, expected: object, actual: object) -> bool:
        """Accept everything."""
        return True

    def describe(self, expected: object) -> str:
        """Return that anything fits."""
        return "anything or nothing"


class Present(Matcher):
    """Any value, but not none."""

    def fits(self, expected: object, actual: object) -> bool:
        """Return whether there is a value."""
        return actual is not ABSENT

    def describe(self, expected: object) -> str:
        """Return that any value fits."""
        return "any value"


class Subset(Matcher):
    """Every expected part is present; objects may have more keys and lists more elements, in any order, at every depth."""

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; each element of an expected list needs a different one."""
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return all(key in actual and self.fits(value, actual[key]) for key, value in expected.items())
        if _is_list(expected) and _is_list(actual):
            pairs = most_pairs(len(expected), len(actual), lambda i, j: self.fits(expected[i], actual[j]))
            return len(pairs) == len(expected)
        return equal_json(expected, actual)

    def describe(self, expected: object) -> str:
        """Return the value, with the note that more is allowed."""
        return f"{show_value(expected)} or more"


@dataclass(frozen=True, slots=True)
class Pattern(Matcher):
    """A text in which a regular expression (Python's `re`) matches: somewhere, or with `full` the whole text."""

    pattern: re.Pattern[str]
    full: bool = False

    def fits(self, expected: object, actual: object) -> bool:
        """Search; only texts can match.

        Raises:
            MetricError: the pattern takes too long on this text.
        """
        if not isinstance(actual, str):
            return False
        return matches(Search(self.pattern, self.full, normalize("NFC", actual)), SECONDS)

    def describe(self, expected: object) -> str:
        """Return the pattern."""
        how = "a text that matches" if self.full else "a text with a match of"
        return f"{how} {show_text(self.pattern.pattern)}"


@dataclass(frozen=True, slots=True)
class Number(Matcher):
    """A number that differs from the expected one by at most `tolerance`, or by `relative`, a share of the expected number.

    Compared as exact decimals: 0.1 and 0.3 differ by 0.2. The larger of the two limits counts.
    """

    tolerance: Fraction = Fraction(0)
    relative: Fraction = Fraction(0)
    read_text: bool = False
    """A text with a number counts as that number."""

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; booleans, NaN and infinity are not numbers."""
        expected_number, actual_number = self.number_of(expected), self.number_of(actual)
        if expected_number is None or actual_number is None:
            return False
        return abs(expected_number - actual_number) <= max(
            self.tolerance, self.relative * abs(expected_number)
        )

    def unreadable(self, expected: object) -> str:
        """Return that a value is not a number."""
        return "" if self.number_of(expected) is not None else "not a number"

    def describe(self, expected: object) -> str:
        """Return the number and the allowed difference."""
        ways = [f"{float(self.tolerance):g}"] if self.tolerance else []
        ways += [f"{float(self.relative * 100):g} %"] if self.relative else []
        return f"{show_value(expected)} ± {' or '.join(ways) or '0'}"

    def number_of(self, value: object) -> Fraction | None:
        """Return the number that a value is; `None` if it is not one."""
        if self.read_text and isinstance(value, str):
            return Fraction(value.strip()) if _WRITTEN.fullmatch(value.strip()) else None
        return exact_fraction(value)


def exact_fraction(value: object) -> Fraction | None:
    """Return a JSON number as it is written, not as the nearest binary fraction; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class SameSet(Matcher):
    """A list with the same elements in any order; `repeats`: each as often, otherwise the number does not count."""

    repeats: bool = False

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; elements are equal as JSON values."""
        if not (_is_list(expected) and _is_list(actual)):
            return False
        expected_keys, actual_keys = ([json_key(each) for each in side] for side in (expected, actual))
        return (
            Counter(expected_keys) == Counter(actual_keys)
            if self.repeats
            else set(expected_keys) == set(actual_keys)
        )

    def unreadable(self, expected: object) -> str:
        """Return that a value is not a list."""
        return "" if _is_list(expected) else "not a list"

    def describe(self, expected: object) -> str:
        """Return the elements."""
        return f"{show_value(expected)} in any order"


def json_key(value: Any) -> Hashable:
    """Return an object that is equal exactly if two values are equal as JSON: 1 is 1.0, true is neither."""
    if isinstance(value, bool):
        return "truth", value
    if isinstance(value, Mapping):
        return "object", frozenset((name, json_key(each)) for name, each in value.items())
    if _is_list(value):
        return "list", tuple(map(json_key, value))
    return value if isinstance(value, Hashable) else ("other", repr(value))  # an argument that is not JSON


@dataclass(frozen=True, slots=True)
class Text(Matcher):
    """The same text, ignoring case; runs of white space count as one blank, or with `spaces: "remove"` as nothing."""

    spaces: str = " "

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; only texts can fit."""
        if not (isinstance(expected, str) and isinstance(actual, str)):
            return False
        return self._plain(expected) == self._plain(actual)

    def unreadable(self, expected: object) -> str:
        """Return that a value is not a text."""
        return "" if isinstance(expected, str) else "not a text"

    def describe(self, expected: object) -> str:
        """Return the text."""
        return f"{show_value(expected)} (ignoring case and white space)"

    def _plain(self, text: str) -> str:
        return BLANKS.sub(self.spaces, normalize("NFC", normalize("NFC", text).casefold())).strip()


@dataclass(frozen=True, slots=True)
class Json(Matcher):
    """Equal as JSON values; `strict`: 1 and 1.0 differ. `parse`: a text that contains JSON counts as its value."""

    strict: bool = False
    parse: bool = False

    def fits(self, expected: object, actual: object) -> bool:
        """Compare."""
        if self.parse:
            expected, actual = _parse(expected), _parse(actual)
        return bool((equal_strictly if self.strict else equal_json)(expected, actual))

    def unreadable(self, expected: object) -> str:
        """With `parse`: return that a text begins like a JSON object or list, but is not JSON."""
        if not self.parse or not isinstance(expected, str) or expected.lstrip()[:1] not in {"{", "["}:
            return ""
        try:
            read_json(expected)
        except ValueError as error:
            return f"not JSON ({error})"
        return ""

    def describe(self, expected: object) -> str:
        """Return the value."""
        return show_value(expected) + (" (1 and 1.0 differ)" if self.strict else "")


def _parse(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


# --- Expected values ---


EXACT = Exact()


class Template(Protocol):
    """An expected value."""

    @property
    def source(self) -> object:
        """The JSON as it was written."""

    def fits(self, actual: object) -> bool:
        """Return whether a value, or `ABSENT`, is the expected one."""

    def describe(self) -> str:
        """Return what is expected, in words."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One value, compared as JSON."""

    source: object

    def fits(self, actual: object) -> bool:
        """Compare."""
        return EXACT.fits(self.source, actual)

    def describe(self) -> str:
        """Return the value."""
        return show_value(self.source)


@dataclass(frozen=True, slots=True)
class MatchedValue:
    """A value that a matcher compares."""

    source: object
    matcher: Matcher
    value: object = ABSENT

    def fits(self, actual: object) -> bool:
        """Compare with the matcher."""
        return fits_value(self.matcher, self.value, actual)

    def describe(self) -> str:
        """Return the description of the matcher."""
        return self.matcher.describe(self.value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several expected values."""

    source: object
    options: Sequence[Template]

    def fits(self, actual: object) -> bool:
        """Return whether one of them fits."""
        return any(option.fits(actual) for option in self.options)

    def describe(self) -> str:
        """Return all of them."""
        return f"one of {', '.join(option.describe() for option in self.options)}"


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with exactly these keys."""

    source: object
    keys: Mapping[str, Template]

    def fits(self, actual: object) -> bool:
        """Compare key by key."""
        return (
            isinstance(actual, Mapping)
            and actual.keys() <= self.keys.keys()
            and all(template.fits(actual.get(key, ABSENT)) for key, template in self.keys.items())
        )

    def describe(self) -> str:
        """Return the keys with their values."""
        inside = ", ".join(f"{show_name(key)}: {template.describe()}" for key, template in self.keys.items())
        return f"{{{inside}}}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of these elements in this order."""

    source: object
    elements: Sequence[Template]

    def fits(self, actual: object) -> bool:
        """Compare element by element."""
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(self.elements)
            and all(template.fits(item) for template, item in zip(self.elements, actual, strict=True))
        )

    def describe(self) -> str:
        """Return the elements."""
        return f"[{', '.join(template.describe() for template in self.elements)}]"
