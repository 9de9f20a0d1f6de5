"""How long a regular expression could take at worst on a text, told from its structure before it runs.

Python's `re` tries one way to match after the other, and a pattern such as `(a+)+$` has 2ⁿ of them. Here the ways and
the steps are counted: an upper bound (up to a small factor), so that what is called cheap surely is. The text helps:
`\\d+` can be no longer than its longest run of digits, and begins nowhere else. What is not called cheap may still be
quick; it has to run where it can be stopped (see `regex_search`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import groupby
from typing import Any

__all__ = ["constants", "most_steps", "named", "parsed", "parts"]

constants: Any = None
parser: Any = None
with suppress(ImportError):  # another Python may lay it out in another way: then nothing is called cheap
    # private, and the only parser of the syntax
    constants, parser = import_module("re._constants"), import_module("re._parser")

UNKNOWN = float("inf")


def most_steps(pattern: re.Pattern[str], text: str, *, anywhere: bool = True) -> float:
    """An upper bound of the steps to match `text`, or with `anywhere` to find a match in it; inf: no bound known."""
    items = parsed(pattern)
    if items is None:
        return UNKNOWN
    count = _Count(text)
    _, steps = count.sequence(items)
    return len(text) + 1 + steps * (count.starts(items, pattern.flags) if anywhere else 1)


def parsed(pattern: re.Pattern[str]) -> Any:
    """The pattern as the items of Python's own parser; `None` where that is elsewhere."""
    return None if parser is None else parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


class _Count:
    """Counts ways and steps for one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._characters = set(text)

    def sequence(self, items: Any) -> tuple[float, float]:
        """Ways and steps of one thing after another: what follows is tried once for each way of what came before."""
        ways, steps = 1.0, 1.0
        for op, argument in items:
            more, cost = self._item(op, argument)
            steps += ways * cost
            ways *= more
        return ways, steps

    def starts(self, items: Any, flags: int) -> int:
        """At how many places of the text more than a first look is taken."""
        first = next(iter(items), None)
        if first is None:
            return 1
        op, argument = first
        if op is constants.AT and argument in _BEGINNINGS and not flags & re.MULTILINE:
            return 1
        if op in _REPEATS and argument[0] > 0 and len(argument[2]) == 1:
            op, argument = argument[2][0]
        if op not in _SINGLE:
            return len(self._text) + 1
        return 1 + self._occurrences(self._members(op, argument))

    def _item(self, op: Any, argument: Any) -> tuple[float, float]:
        inside = parts(op, argument)
        if op in _REPEATS:
            return self._repeated(argument[0], argument[1], inside[0])
        if not inside:
            return 1.0, float(len(self._text)) if op is constants.GROUPREF else 1.0
        each = [self.sequence(part) for part in inside]
        return sum(ways for ways, _ in each), sum(steps for _, steps in each)

    def _repeated(self, least: int, most: int, body: Any) -> tuple[float, float]:
        """What matches in one way can be repeated in as many ways as there are counts; anything else multiplies."""
        ways, steps = self.sequence(body)
        counts = float(min(int(most), max(int(least), self._most_times(body))))
        if ways <= 1:
            return max(counts - least, 0) + 1, (counts + 1) * steps
        try:
            return ways ** (counts + 1), ways ** (counts + 1) * steps
        except OverflowError:
            return UNKNOWN, UNKNOWN

    def _most_times(self, body: Any) -> int:
        """How often the body of a repeat can match in a row: as often as the text has what it cannot do without."""
        singles = [self._members(op, argument) for op, argument in body if op in _SINGLE]
        if len(singles) == len(body) == 1:
            runs = (len([*run]) for inside, run in groupby(self._text, singles[0].__contains__) if inside)
            return max(runs, default=0) + 1
        width = max(int(body.getwidth()[0]), 1)
        return min([len(self._text) // width, *map(self._occurrences, singles)]) + 1

    def _occurrences(self, members: set[str]) -> int:
        return sum(character in members for character in self._text)

    def _members(self, op: Any, argument: Any) -> set[str]:
        """The text's characters that an item for one character may match; rather too many than too few."""
        if op is constants.ANY:
            return self._characters
        if op is constants.NOT_LITERAL:
            return self._characters - {chr(argument)}
        options = [(op, argument)] if op is constants.LITERAL else [*argument]
        if options[0][0] is constants.NEGATE:
            excluded = [option for option in options[1:] if option[0] is not constants.CATEGORY]
            return {each for each in self._characters if not any(_is_in(each, *one) for one in excluded)}
        return {each for each in self._characters if any(_may_be_in(each, *one) for one in options)}


def _is_in(character: str, op: Any, argument: Any) -> bool:
    if op is constants.LITERAL:
        return ord(character) == int(argument)
    return op is constants.RANGE and argument[0] <= ord(character) <= argument[1]


def _may_be_in(character: str, op: Any, argument: Any) -> bool:
    """In any case: whether that counts is for the pattern's flags to say."""
    if op is constants.CATEGORY:
        category = _CATEGORIES.get(argument)
        return category is None or category.match(character) is not None
    cases = {character, character.lower(), character.upper(), character.casefold()}
    return any(len(each) > 1 or _is_in(each, op, argument) for each in cases)


def parts(op: Any, argument: Any) -> list[Any]:
    """The patterns inside one item."""
    if op in _REPEATS:
        return [argument[2]]
    if op is constants.SUBPATTERN:
        return [argument[3]]
    if op is constants.BRANCH:
        return [*argument[1]]
    if op in (constants.ASSERT, constants.ASSERT_NOT):
        return [argument[1]]
    if op is constants.ATOMIC_GROUP:
        return [argument]
    if op is constants.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []


def named(*names: str) -> Iterator[Any]:
    """The parser's constants of these names, as far as this Python has them."""
    return (getattr(constants, name) for name in names if hasattr(constants, name))


_REPEATS = (*named("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"),)
_SINGLE = (*named("LITERAL", "NOT_LITERAL", "ANY", "IN"),)
_BEGINNINGS = (*named("AT_BEGINNING", "AT_BEGINNING_STRING"),)
_CATEGORIES = dict(
    zip(
        named("CATEGORY_DIGIT", "CATEGORY_WORD", "CATEGORY_SPACE"),
        map(re.compile, (r"\d", r"\w", r"\s")),
        strict=False,
    )
)
