"""How long a regular expression could take at worst, told from its structure before it runs.

Python's `re` tries one way to match after the other, and a pattern such as `(a+)+$` has 2ⁿ of them. Here the ways and
the steps are counted for a text of a given length: an upper bound, so that what is called cheap surely is. What is not
called cheap may still be quick; it has to run where it can be stopped (see `regex_search`).
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["matches_anything", "most_steps"]

try:
    from re import _constants as constants  # type: ignore[attr-defined]  # private, and the only parser of the syntax
    from re import _parser as parser  # type: ignore[attr-defined]  # the same
except ImportError:  # another Python may lay it out in another way: then nothing is called cheap
    constants = parser = None

UNKNOWN = float("inf")


def most_steps(pattern: re.Pattern[str], length: int, *, anywhere: bool = True) -> float:
    """An upper bound, up to a small factor, of the steps to match a text of `length` characters; inf: no bound known.

    `anywhere`: the match may begin at each of them.
    """
    if parser is None:
        return UNKNOWN
    _, steps = _sequence(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), length)
    return steps * (length + 1 if anywhere else 1)


def matches_anything(pattern: re.Pattern[str]) -> bool:
    """Whether searching any text for `pattern` must succeed: it can be empty, and nothing in it looks around."""
    if parser is None:
        return False
    parsed = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    return parsed.getwidth()[0] == 0 and not _looks_around(parsed)


def _sequence(items: Any, length: int) -> tuple[float, float]:
    """Ways and steps of one thing after another: what follows is tried once for each way of what came before."""
    ways, steps = 1.0, 1.0
    for op, argument in items:
        more, cost = _item(op, argument, length)
        steps += ways * cost
        ways *= more
    return ways, steps


def _item(op: Any, argument: Any, length: int) -> tuple[float, float]:
    parts = _parts(op, argument)
    if op in _REPEATS:
        return _repeated(argument[0], argument[1], _sequence(parts[0], length), length)
    if not parts:
        return 1.0, float(length) if op is constants.GROUPREF else 1.0
    each = [_sequence(part, length) for part in parts]
    return sum(ways for ways, _ in each), sum(steps for _, steps in each)


def _repeated(least: int, most: int, body: tuple[float, float], length: int) -> tuple[float, float]:
    """A body that is one way to match can be repeated in as many ways as there are counts; any other multiplies."""
    ways, steps = body
    counts = float(min(int(most), max(least, length + 1)))
    if ways <= 1:
        return counts - min(least, counts) + 1, (counts + 1) * steps
    try:
        return ways ** (counts + 1), ways ** (counts + 1) * steps
    except OverflowError:
        return UNKNOWN, UNKNOWN


def _parts(op: Any, argument: Any) -> list[Any]:
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


def _looks_around(items: Any) -> bool:
    around = (constants.AT, constants.ASSERT, constants.ASSERT_NOT, constants.GROUPREF_EXISTS)
    return any(op in around or any(map(_looks_around, _parts(op, argument))) for op, argument in items)


_REPEATS = (
    (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT) if constants is not None else ()
)
