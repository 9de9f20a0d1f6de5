"""Pairs of things that fit, each thing in one pair at most."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from heapq import heappop, heappush

__all__ = ["equal_pairs", "most_pairs", "pairs_within"]


def equal_pairs(left: Sequence[Hashable], right: Sequence[Hashable]) -> dict[int, int]:
    """Pairs of equal things, by their places: the first with the first."""
    places: dict[Hashable, list[int]] = {}
    for index in reversed(range(len(right))):
        places.setdefault(right[index], []).append(index)
    return {i: places[thing].pop() for i, thing in enumerate(left) if places.get(thing)}


def pairs_within(ranges: Sequence[tuple[Fraction, Fraction]], points: Sequence[Fraction]) -> dict[int, int]:
    """As many pairs as possible of ranges (from, to) and points inside them, by their places.

    From the smallest point on, each goes to that range around it which ends first: another choice could only be worse.
    """
    begins = sorted(range(len(ranges)), key=lambda i: ranges[i][0], reverse=True)
    open_ranges: list[tuple[Fraction, int]] = []
    pairs = {}
    for j in sorted(range(len(points)), key=lambda j: points[j]):
        while begins and ranges[begins[-1]][0] <= points[j]:
            i = begins.pop()
            heappush(open_ranges, (ranges[i][1], i))
        while open_ranges and open_ranges[0][0] < points[j]:
            heappop(open_ranges)
        if open_ranges:
            pairs[heappop(open_ranges)[1]] = j
    return pairs


def most_pairs(left: int, right: int, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """As many pairs as possible of `left` and `right` things that fit.

    Where fitting is no equivalence (a tolerance), taking the first that fits could leave others without a partner: each
    new thing may make those before it change theirs (H. W. Kuhn, "The Hungarian method for the assignment problem",
    1955).
    """
    partner: dict[int, int] = {}
    for i in range(left):
        _find_partner(i, right, fits, partner)
    return {i: j for j, i in partner.items()}


def _find_partner(start: int, right: int, fits: Callable[[int, int], bool], partner: dict[int, int]) -> None:
    """Give `start` a partner by a chain of changes, the shortest first; none where there is none."""
    came_from: dict[int, int] = {}
    waiting = [start]
    for i in waiting:
        for j in range(right):
            if j in came_from or not fits(i, j):
                continue
            came_from[j] = i
            if j not in partner:
                _change(j, came_from, partner)
                return
            waiting.append(partner[j])


def _change(j: int, came_from: dict[int, int], partner: dict[int, int]) -> None:
    """Along the chain that ends at the free `j`, everybody takes the partner that was found for them."""
    taken = {i: free for free, i in partner.items()}
    while True:
        i = came_from[j]
        left_free = taken.get(i)
        partner[j] = i
        if left_free is None:
            return
        j = left_free
