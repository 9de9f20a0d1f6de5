"""Pairs expected with actual tool calls: the computation behind an alignment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proctor.metrics.text.one_to_one import equal_pairs, most_pairs
from proctor.metrics.trajectory.call_matching import PYTHON, Call, Matching
from proctor.metrics.trajectory.min_cost_assignment import assign

T = TypeVar("T")

UNPAIRED = 10
"""The cost of a call without a partner. A pair of the same tool costs 11 to 19, growing with the share of arguments
that differ: always less than two calls without partners, so such calls are paired if possible."""
MOST_OF_ONE_TOOL = 60
"""The number of differing calls of one tool for which the cheapest pairs are computed; more are paired in order."""

Pairs = dict[int, int]
"""Expected position -> actual position."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs; calls in none of the three have no partner."""

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
    """Pair calls, keyed by ascending position: most equal ones, then most in order, then least difference.

    If `matching` is not an equivalence, the first two can conflict: then pairs in order take precedence, unless the order
    does not matter.
    """
    if matching.is_equivalence:
        in_place, moved = _equal_calls(expected, actual, matching)
    else:
        in_place, moved = _fitting_calls(expected, actual, matching, order_matters=order_matters)
    equal = {**in_place, **moved}
    differing = _differing(_without(expected, equal), _without(actual, equal.values()), matching)
    return Pairing(in_place, moved, differing)


def pair_cost(expected: Call, actual: Call, differing: int) -> int:
    """Return the distance of two calls of one tool with `differing` different arguments: 11 to 19."""
    names = len({*(expected.args or {}), *(actual.args or {})})
    if not names:
        return UNPAIRED + 1
    return UNPAIRED + 1 + min(8, 8 * differing // names)


# --- equal calls -----------------------------------------------------------------------------------------------------


def _equal_calls(
    expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching
) -> tuple[Pairs, Pairs]:
    """Pair under an equivalence: calls form classes, and calls that are not in order are paired in sequence."""
    classes = _Classes(matching)
    expected_classes = {index: classes.number(call) for index, call in expected.items()}
    actual_classes = {index: classes.number(call) for index, call in actual.items()}
    in_place = _in_order(
        [*expected_classes], [*actual_classes], lambda i, j: expected_classes[i] == actual_classes[j]
    )
    return in_place, _pair_remaining(
        _without(expected_classes, in_place), _without(actual_classes, in_place.values())
    )


def _fitting_calls(
    expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching, *, order_matters: bool
) -> tuple[Pairs, Pairs]:
    """Pair without an equivalence: a call may fit several others that do not fit each other."""
    fitting = {(i, j) for i in expected for j in actual if matching.same(expected[i], actual[j])}

    def fits(i: int, j: int) -> bool:
        return (i, j) in fitting

    if order_matters:
        in_place = _in_order([*expected], [*actual], fits)
        expected_rest, actual_rest = _without(expected, in_place), _without(actual, in_place.values())
        return in_place, _most([*expected_rest], [*actual_rest], fits)
    pairs = _most([*expected], [*actual], fits)
    in_place = _in_order([*pairs], sorted(pairs.values()), lambda i, j: pairs[i] == j)
    return in_place, _without(pairs, in_place)


class _Classes:
    """Numbers calls so that equal ones have equal numbers (arguments need not be hashable)."""

    def __init__(self, matching: Matching) -> None:
        self._same = matching.same
        self._known: defaultdict[str | None, list[tuple[Call, int]]] = defaultdict(list)
        self._count = 0

    def number(self, call: Call) -> int:
        known = self._known[call.name]
        for other, number in known:
            if self._same(other, call):
                return number
        self._count += 1
        known.append((call, self._count))
        return self._count


def _without(items: Mapping[int, T], excluded: Iterable[int]) -> dict[int, T]:
    indexes = set(excluded)
    return {index: item for index, item in items.items() if index not in indexes}


def _in_order(expected: Sequence[int], actual: Sequence[int], fits: Callable[[int, int], bool]) -> Pairs:
    """Return the longest common subsequence; of several, the earliest calls."""
    table = [[0] * (len(actual) + 1) for _ in range(len(expected) + 1)]
    for row in range(len(expected) - 1, -1, -1):
        here, below = table[row], table[row + 1]
        for column in range(len(actual) - 1, -1, -1):
            if fits(expected[row], actual[column]):
                here[column] = below[column + 1] + 1
            else:
                here[column] = max(below[column], here[column + 1])
    pairs = {}
    row = column = 0
    while row < len(expected) and column < len(actual):
        if fits(expected[row], actual[column]):
            pairs[expected[row]] = actual[column]
            row, column = row + 1, column + 1
        elif table[row + 1][column] >= table[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _pair_remaining(expected: Mapping[int, int], actual: Mapping[int, int]) -> Pairs:
    """Pair equal calls among the remaining ones, the first with the first."""
    expected_indexes, actual_indexes = [*expected], [*actual]
    pairs = equal_pairs([*expected.values()], [*actual.values()])
    return {expected_indexes[i]: actual_indexes[j] for i, j in pairs.items()}


def _most(expected: Sequence[int], actual: Sequence[int], fits: Callable[[int, int], bool]) -> Pairs:
    """Return as many pairs as possible, by expected position."""
    pairs = most_pairs(len(expected), len(actual), lambda i, j: fits(expected[i], actual[j]))
    return {expected[i]: actual[j] for i, j in sorted(pairs.items())}


# --- calls of one tool that differ -------------------------------------------------------------------------------------


def _differing(expected: Mapping[int, Call], actual: Mapping[int, Call], matching: Matching) -> Pairs:
    """Pair remaining calls of one tool, tool by tool."""
    actual_by_tool: defaultdict[str | None, list[int]] = defaultdict(list)
    for index, call in actual.items():
        actual_by_tool[call.name].append(index)
    expected_by_tool: defaultdict[str | None, list[int]] = defaultdict(list)
    for index, call in expected.items():
        if call.name in actual_by_tool:
            expected_by_tool[call.name].append(index)
    result: Pairs = {}
    for name, indexes in expected_by_tool.items():
        others = actual_by_tool[name]
        pairs = _cheapest([expected[i] for i in indexes], [actual[j] for j in others], matching)
        result.update((indexes[i], others[j]) for i, j in pairs)
    return result


def _cheapest(expected: Sequence[Call], actual: Sequence[Call], matching: Matching) -> list[tuple[int, int]]:
    """Return the pairs with the least total cost; of equally cheap ones those in order, then those close together."""
    rows, columns = len(expected), len(actual)
    if max(rows, columns) > MOST_OF_ONE_TOOL:
        return [(index, index) for index in range(min(rows, columns))]
    apart = max(rows, columns) ** 2
    weight = apart * min(rows, columns) + 1
    return assign(
        [
            [
                weight
                * pair_cost(expected_call, actual_call, len(matching.differences(expected_call, actual_call)))
                + (i - j) ** 2
                for j, actual_call in enumerate(actual)
            ]
            for i, expected_call in enumerate(expected)
        ]
    )
