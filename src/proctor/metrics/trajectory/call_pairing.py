"""Which expected tool call goes with which actual one: the computation behind an alignment."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proctor.metrics.text.one_to_one import most_pairs
from proctor.metrics.trajectory.call_equality import PYTHON, Matching
from proctor.metrics.trajectory.match_rules import Call
from proctor.metrics.trajectory.min_cost_assignment import assign

__all__ = ["MOST_OF_ONE_TOOL", "UNPAIRED", "Pairing", "pair_cost", "pair_up"]

T = TypeVar("T")

UNPAIRED = 10
"""The cost of a call without a partner. A pair of the same tool costs 11 to 19, growing with the share of arguments
that differ: always less than two calls without partners, so such calls are paired whenever they can be."""
MOST_OF_ONE_TOOL = 60
"""Differing calls of one tool on either side for which the cheapest pairs are sought; more are paired as they stand."""

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
    expected: Mapping[int, Call],
    actual: Mapping[int, Call],
    matching: Matching = PYTHON,
    *,
    order_matters: bool = True,
) -> Pairing:
    """Pair calls, given by ascending position: most equal ones, then most in order, then least difference.

    Where `matching` is no equivalence, the first two can be at odds: then what is in order goes first, unless the order
    does not matter.
    """
    if len(expected) == len(actual) == 1:
        return _of_two(next(iter(expected.items())), next(iter(actual.items())), matching)
    if matching.is_equivalence:
        in_place, moved = _equal_calls(expected, actual, matching)
    else:
        in_place, moved = _fitting_calls(expected, actual, matching, order_matters=order_matters)
    equal = {**in_place, **moved}
    differing = _differing(_without(expected, equal), _without(actual, equal.values()), matching)
    return Pairing(in_place, moved, differing)


def pair_cost(wanted: Call, made: Call, differing: int) -> int:
    """How far two calls of one tool are apart of whose arguments so many differ: 11 to 19."""
    names = len({*(wanted.args or {}), *(made.args or {})})
    if not names:
        return UNPAIRED + 1
    return UNPAIRED + 1 + min(8, 8 * differing // names)


def _of_two(expected: tuple[int, Call], actual: tuple[int, Call], matching: Matching) -> Pairing:
    """The same for one call on either side, by far the most frequent case."""
    (i, wanted), (j, made) = expected, actual
    if matching.same(wanted, made):
        return Pairing({i: j}, {}, {})
    return Pairing({}, {}, {i: j} if wanted.name == made.name else {})


# --- equal calls -----------------------------------------------------------------------------------------------------


def _equal_calls(
    expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching
) -> tuple[Pairs, Pairs]:
    """Where "the same" is an equivalence: calls fall into classes, and what is not in order is paired as it stands."""
    classes = _Classes(matching)
    wanted = {index: classes.of(call) for index, call in expected.items()}
    made = {index: classes.of(call) for index, call in actual.items()}
    in_place = _in_order([*wanted], [*made], lambda i, j: wanted[i] == made[j])
    return in_place, _moved(_without(wanted, in_place), _without(made, in_place.values()))


def _fitting_calls(
    expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching, *, order_matters: bool
) -> tuple[Pairs, Pairs]:
    """Where it is none: a call may fit several others that do not fit each other."""
    fitting = {(i, j) for i in expected for j in actual if matching.same(expected[i], actual[j])}

    def fits(i: int, j: int) -> bool:
        return (i, j) in fitting

    if order_matters:
        in_place = _in_order([*expected], [*actual], fits)
        left = [i for i in expected if i not in in_place]
        return in_place, _most(left, [j for j in actual if j not in {*in_place.values()}], fits)
    pairs = _most([*expected], [*actual], fits)
    in_place = _longest_rise(pairs)
    return in_place, {i: j for i, j in pairs.items() if i not in in_place}


class _Classes:
    """Numbers calls so that equal ones have equal numbers (arguments need not be hashable)."""

    def __init__(self, matching: Matching) -> None:
        self._same = matching.same
        self._known: defaultdict[str | None, list[tuple[Call, int]]] = defaultdict(list)
        self._count = 0

    def of(self, call: Call) -> int:
        known = self._known[call.name]
        for other, number in known:
            if self._same(other, call):
                return number
        self._count += 1
        known.append((call, self._count))
        return self._count


def _without(items: Mapping[int, T], taken: Iterable[int]) -> dict[int, T]:
    gone = set(taken)
    return {index: item for index, item in items.items() if index not in gone}


def _in_order(wanted: Sequence[int], made: Sequence[int], fits: Callable[[int, int], bool]) -> Pairs:
    """The longest common subsequence; where several are as long, the earliest calls."""
    table = [[0] * (len(made) + 1) for _ in range(len(wanted) + 1)]
    for row in range(len(wanted) - 1, -1, -1):
        here, below = table[row], table[row + 1]
        for column in range(len(made) - 1, -1, -1):
            if fits(wanted[row], made[column]):
                here[column] = below[column + 1] + 1
            else:
                here[column] = max(below[column], here[column + 1])
    pairs = {}
    row = column = 0
    while row < len(wanted) and column < len(made):
        if fits(wanted[row], made[column]):
            pairs[wanted[row]] = made[column]
            row, column = row + 1, column + 1
        elif table[row + 1][column] >= table[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


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


def _most(wanted: Sequence[int], made: Sequence[int], fits: Callable[[int, int], bool]) -> Pairs:
    """As many pairs as possible, by expected position."""
    pairs = most_pairs(len(wanted), len(made), lambda i, j: fits(wanted[i], made[j]))
    return {wanted[i]: made[j] for i, j in sorted(pairs.items())}


def _longest_rise(pairs: Pairs) -> Pairs:
    """As many of the pairs as possible that keep one order on both sides (pairs come by expected position)."""
    ends: list[int] = []
    last: list[tuple[int, int]] = []  # of the rises found so far, by length: the pair each ends with
    before: dict[int, tuple[int, int] | None] = {}
    for i, j in pairs.items():
        length = bisect_left(ends, j)
        before[i] = last[length - 1] if length else None
        ends[length:], last[length:] = [j, *ends[length + 1 :]], [(i, j), *last[length + 1 :]]
    rise: Pairs = {}
    at = last[-1] if last else None
    while at is not None:
        rise[at[0]] = at[1]
        at = before[at[0]]
    return dict(sorted(rise.items()))


# --- calls of one tool that differ -------------------------------------------------------------------------------------


def _differing(expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching) -> Pairs:
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
        pairs = _cheapest([expected[i] for i in indexes], [actual[j] for j in others], matching)
        found.update((indexes[i], others[j]) for i, j in pairs)
    return found


def _cheapest(expected: Sequence[Call], actual: Sequence[Call], matching: Matching) -> list[tuple[int, int]]:
    """Pairs of least summed cost; of equally cheap ones those that keep the order, then those that stand close."""
    rows, columns = len(expected), len(actual)
    if rows == columns == 1:
        return [(0, 0)]
    if max(rows, columns) > MOST_OF_ONE_TOOL:
        return [(index, index) for index in range(min(rows, columns))]
    apart = max(rows, columns) ** 2
    weight = apart * min(rows, columns) + 1
    return assign(
        [
            [
                weight * pair_cost(wanted, made, len(matching.differences(wanted, made))) + (i - j) ** 2
                for j, made in enumerate(actual)
            ]
            for i, wanted in enumerate(expected)
        ]
    )
