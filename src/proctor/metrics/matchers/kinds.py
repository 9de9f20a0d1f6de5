"""The kinds of matchers: each one notion of "this value is the expected one"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any
from unicodedata import normalize

from proctor.common.json_values import equal_json
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.reason_text import show_text, show_value
from proctor.metrics.text.json.parse import read_json
from proctor.metrics.text.normal_form import BLANKS
from proctor.metrics.text.one_to_one import most_pairs
from proctor.metrics.text.regex.search import Search, matches
from proctor.metrics.trajectory.call_equality import equal_strictly

__all__ = ["Exact", "Ignore", "Json", "Number", "Pattern", "Present", "SameSet", "Subset", "Text"]

SECONDS = 1.0
"""What a pattern that might take very long may take for one value, in a process of its own."""


_WRITTEN = re.compile(r"[+-]?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")


class Exact:
    """Equal as JSON values: 1 is 1.0, true is not 1, keys in any order, lists in theirs."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; what is absent is equal to what is absent."""
        return bool(equal_json(expected, actual))

    def unreadable(self, expected: Any) -> str:
        """Nothing: any value will do."""
        return ""

    def tell(self, expected: Any) -> str:
        """The value."""
        return show_value(expected)


class Ignore:
    """Whatever it is, and whether it is there."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Yes."""
        return True

    def unreadable(self, expected: Any) -> str:
        """Nothing: any value will do."""
        return ""

    def tell(self, expected: Any) -> str:
        """Anything."""
        return "anything or nothing"


class Present:
    """It is there, whatever it is."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Whether there is a value."""
        return actual is not ABSENT

    def unreadable(self, expected: Any) -> str:
        """Nothing: any value will do."""
        return ""

    def tell(self, expected: Any) -> str:
        """Anything that is there."""
        return "any value"


class Subset:
    """All that is expected is there; objects may have more keys and lists more elements, in any order, at every depth."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; each element of an expected list needs one of its own."""
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            return all(key in actual and self.fits(value, actual[key]) for key, value in expected.items())
        if _is_list(expected) and _is_list(actual):
            pairs = most_pairs(len(expected), len(actual), lambda i, j: self.fits(expected[i], actual[j]))
            return len(pairs) == len(expected)
        return bool(equal_json(expected, actual))

    def unreadable(self, expected: Any) -> str:
        """Nothing: any value will do."""
        return ""

    def tell(self, expected: Any) -> str:
        """The value, and that there may be more."""
        return f"{show_value(expected)} or more"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text in which a regular expression (Python's `re`) matches: somewhere, or with `full` the whole text."""

    pattern: re.Pattern[str]
    full: bool = False

    def fits(self, expected: Any, actual: Any) -> bool:
        """Search; only texts can match.

        Raises:
            MetricError: the pattern takes too long on this text.
        """
        if not isinstance(actual, str):
            return False
        return matches(Search(self.pattern, self.full, normalize("NFC", actual)), SECONDS)

    def unreadable(self, expected: Any) -> str:
        """Nothing: any value will do."""
        return ""

    def tell(self, expected: Any) -> str:
        """The pattern."""
        how = "a text that matches" if self.full else "a text with a match of"
        return f"{how} {show_text(self.pattern.pattern)}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number at most so far from the expected one: by `tolerance`, or by `relative`, a share of the expected number.

    Compared as exact decimals: 0.1 and 0.3 lie 0.2 apart. The larger of the two distances counts.
    """

    tolerance: Fraction = Fraction(0)
    relative: Fraction = Fraction(0)
    read_text: bool = False
    """Texts that are a number count as that number."""

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; truth values, NaN and infinity are no numbers."""
        wanted, came = self.read(expected), self.read(actual)
        if wanted is None or came is None:
            return False
        return abs(wanted - came) <= max(self.tolerance, self.relative * abs(wanted))

    def unreadable(self, expected: Any) -> str:
        """What is no number."""
        return "" if self.read(expected) is not None else "no number"

    def tell(self, expected: Any) -> str:
        """The number, and how far one may be from it."""
        ways = [f"{float(self.tolerance):g}"] if self.tolerance else []
        ways += [f"{float(self.relative * 100):g} %"] if self.relative else []
        return f"{show_value(expected)} ± {' or '.join(ways) or '0'}"

    def read(self, value: Any) -> Fraction | None:
        """The number that a value is; `None`: it is none."""
        if self.read_text and isinstance(value, str):
            return Fraction(value.strip()) if _WRITTEN.fullmatch(value.strip()) else None
        return exactly(value)


def exactly(value: Any) -> Fraction | None:
    """A JSON number as it is written, not as the nearest binary fraction; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if isfinite(value) else None


@dataclass(frozen=True, slots=True)
class SameSet:
    """A list with the same elements in any order; with `repeats` each as often, otherwise how often does not count."""

    repeats: bool = False

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; elements are equal as JSON values."""
        if not (_is_list(expected) and _is_list(actual)):
            return False
        try:
            wanted, came = ([_key(each) for each in side] for side in (expected, actual))
        except TypeError:  # what a tool was given that JSON does not have
            return False
        return Counter(wanted) == Counter(came) if self.repeats else set(wanted) == set(came)

    def unreadable(self, expected: Any) -> str:
        """What is no list."""
        return "" if _is_list(expected) else "no list"

    def tell(self, expected: Any) -> str:
        """The elements."""
        return f"{show_value(expected)} in any order"


def _key(value: Any) -> Hashable:
    """The same for values that are equal as JSON values, another for others."""
    if isinstance(value, Mapping):
        return "object", frozenset((name, _key(each)) for name, each in value.items())
    if _is_list(value):
        return "list", tuple(map(_key, value))
    return isinstance(value, bool), value


@dataclass(frozen=True, slots=True)
class Text:
    """The same text, upper and lower case aside; runs of white space are one blank, or with `spaces: "remove"` nothing."""

    spaces: str = " "

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare; only texts can fit."""
        if not (isinstance(expected, str) and isinstance(actual, str)):
            return False
        return self._plain(expected) == self._plain(actual)

    def unreadable(self, expected: Any) -> str:
        """What is no text."""
        return "" if isinstance(expected, str) else "no text"

    def tell(self, expected: Any) -> str:
        """The text."""
        return f"{show_value(expected)} (case and white space aside)"

    def _plain(self, text: str) -> str:
        return BLANKS.sub(self.spaces, normalize("NFC", normalize("NFC", text).casefold())).strip()


@dataclass(frozen=True, slots=True)
class Json:
    """Equal as JSON values; `strict` tells 1 from 1.0. With `parse` a text that holds JSON counts as its value."""

    strict: bool = False
    parse: bool = False

    def fits(self, expected: Any, actual: Any) -> bool:
        """Compare."""
        if self.parse:
            expected, actual = _parsed(expected), _parsed(actual)
        return bool((equal_strictly if self.strict else equal_json)(expected, actual))

    def unreadable(self, expected: Any) -> str:
        """With `parse`: a text that begins as JSON objects and lists do, and is no JSON."""
        if not self.parse or not isinstance(expected, str) or expected.lstrip()[:1] not in {"{", "["}:
            return ""
        try:
            read_json(expected)
        except ValueError as error:
            return f"no JSON ({error})"
        return ""

    def tell(self, expected: Any) -> str:
        """The value."""
        return show_value(expected) + (" (1 and 1.0 differ)" if self.strict else "")


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)
