"""Which expected tool call goes with which actual one: the computation behind an alignment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proctor.metrics.trajectory import Call, same

__all__ = ["UNPAIRED", "Pairing", "pair_up"]

T = TypeVar("T")

UNPAIRED = 10
"""The cost of a call without a partner. A pair of the same tool costs 11 to 19, growing with the share of arguments
that differ: always less than two calls without partners, so such calls are paired whenever they can be."""

Pairs = dict[int, int]
"""Expected position -> actual position."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Who goes with whom; what is in none of the three has no partner."""

    in_place: Pairs
    """Equal calls, in the same order on both sides."""
    moved: Pairs
    """Equal calls in another order."""
    differing: Pairs
    """Calls of one tool with different arguments."""


def pair_up(
    expected: Mapping[int, Call], actual: Mapping[int, Call], *, ignore_args: bool = False
) -> Pairing:
    """Pair calls, given by ascending position: most equal ones, then most in order, then least difference."""
    if len(expected) == len(actual) == 1:
        return _of_two(*expected.items(), *actual.items(), ignore_args=ignore_args)
    classes = _Classes(ignore_args=ignore_args)
    wanted = {index: classes.of(call) for index, call in expected.items()}
    made = {index: classes.of(call) for index, call in actual.items()}
    in_place = _in_place(wanted, made)
    moved = _moved(_without(wanted, in_place), _without(made, in_place.values()))
    equal = {**in_place, **moved}
    differing = _differing(_without(expected, equal), _without(actual, equal.values()))
    return Pairing(in_place, moved, differing)


def _of_two(expected: tuple[int, Call], actual: tuple[int, Call], *, ignore_args: bool) -> Pairing:
    """The same for one call on either side, by far the most frequent case."""
    (i, wanted), (j, made) = expected, actual
    if same(wanted, made, ignore_args=ignore_args):
        return Pairing({i: j}, {}, {})
    return Pairing({}, {}, {i: j} if wanted.name == made.name else {})


class _Classes:
    """Numbers calls so that equal ones have equal numbers (arguments need not be hashable)."""

    def __init__(self, *, ignore_args: bool) -> None:
        self._ignore_args = ignore_args
        self._known: defaultdict[str | None, list[tuple[Call, int]]] = defaultdict(list)
        self._count = 0

    def of(self, call: Call) -> int:
        known = self._known[call.name]
        for other, number in known:
            if same(other, call, ignore_args=self._ignore_args):
                return number
        self._count += 1
        known.append((call, self._count))
        return self._count


def _without(items: Mapping[int, T], taken: Iterable[int]) -> dict[int, T]:
    gone = set(taken)
    return {index: item for index, item in items.items() if index not in gone}


def _in_place(wanted: Mapping[int, int], made: Mapping[int, int]) -> Pairs:
    """The longest common subsequence of both lists of classes; where several are as long, the earliest calls."""
    rows, columns = [*wanted.values()], [*made.values()]
    longest = _longest(rows, columns)
    wanted_at, made_at = [*wanted], [*made]
    pairs = {}
    i = j = 0
    while i < len(rows) and j < len(columns):
        if rows[i] == columns[j]:
            pairs[wanted_at[i]] = made_at[j]
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _longest(rows: Sequence[int], columns: Sequence[int]) -> list[list[int]]:
    """How long the longest common subsequence of `rows[i:]` and `columns[j:]` is, at `[i][j]`."""
    table = [[0] * (len(columns) + 1) for _ in range(len(rows) + 1)]
    for i in range(len(rows) - 1, -1, -1):
        row, below, here = table[i], table[i + 1], rows[i]
        for j in range(len(columns) - 1, -1, -1):
            if columns[j] == here:
                row[j] = below[j + 1] + 1
            else:
                row[j] = max(below[j], row[j + 1])
    return table


def _moved(wanted: Mapping[int, int], made: Mapping[int, int]) -> Pairs:
    """Equal calls among those left over, the first with the first."""
    free: defaultdict[int, list[int]] = defaultdict(list)
    for index in reversed([*made]):
        free[made[index]].append(index)
    pairs = {}
    for index, number in wanted.items():
        if others := free.get(number):
            pairs[index] = others.pop()
    return pairs


def _differing(expected: Mapping[int, Call], actual: Mapping[int, Call]) -> Pairs:
    """Calls of one tool among those left over, tool by tool."""
    made: defaultdict[str | None, list[int]] = defaultdict(list)
    for index, call in actual.items():
        made[call.name].append(index)
    wanted: defaultdict[str | None, list[int]] = defaultdict(list)
    for index, call in expected.items():
        if call.name in made:
            wanted[call.name].append(index)
    found: Pairs = {}
    for name, indexes in wanted.items():
        others = made[name]
        pairs = cheapest_pairs([expected[i] for i in indexes], [actual[j] for j in others])
        found.update((indexes[i], others[j]) for i, j in pairs)
    return found


def cheapest_pairs(expected: Sequence[Call], actual: Sequence[Call]) -> list[tuple[int, int]]:
    """Pair calls of one tool in their order so that the summed cost (see `UNPAIRED`) is least; earliest on a tie."""
    rows, columns = len(expected), len(actual)
    costs = [[pair_cost(wanted, made) for made in actual] for wanted in expected]
    least = [[UNPAIRED * (rows - i + columns - j) for j in range(columns + 1)] for i in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            alone = UNPAIRED + min(least[i + 1][j], least[i][j + 1])
            least[i][j] = min(alone, least[i + 1][j + 1] + costs[i][j])
    pairs = []
    i = j = 0
    while i < rows and j < columns:
        if least[i][j] == least[i + 1][j + 1] + costs[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif least[i][j] == UNPAIRED + least[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def pair_cost(wanted: Call, made: Call) -> int:
    """How far two calls of one tool with different arguments are apart: 11 to 19."""
    expected, actual = wanted.args or {}, made.args or {}
    names = len({*expected, *actual})
    if not names:
        return UNPAIRED + 1
    equal = sum(1 for name in expected if name in actual and expected[name] == actual[name])
    return UNPAIRED + 1 + 8 * (names - equal) // names
