"""Pairs of fitting things, with each thing in one pair at most."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from heapq import heappop, heappush


def equal_pairs(left: Sequence[Hashable], right: Sequence[Hashable]) -> dict[int, int]:
    """Return pairs of equal things by their positions: the first with the first."""
    places: dict[Hashable, list[int]] = {}
    for index in reversed(range(len(right))):
        places.setdefault(right[index], []).append(index)
    return {i: places[thing].pop() for i, thing in enumerate(left) if places.get(thing)}


def pairs_within(ranges: Sequence[tuple[Fraction, Fraction]], points: Sequence[Fraction]) -> dict[int, int]:
    """Return as many pairs as possible of ranges (from, to) and points inside them, by their positions.

    Each point, from the smallest, gets the range around it that ends first; no other choice gives more pairs.
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
    """Return as many pairs as possible of `left` and `right` things that fit.

    If fitting is not an equivalence (a tolerance), taking the first fit could leave others without a partner, so each
    new thing may make earlier ones change their partner (H. W. Kuhn, "The Hungarian method for the assignment problem",
    1955).
    """
    partner: dict[int, int] = {}
    for i in range(left):
        _find_partner(i, right, fits, partner)
    return {i: j for j, i in partner.items()}


def _find_partner(start: int, right: int, fits: Callable[[int, int], bool], partner: dict[int, int]) -> None:
    """Give `start` a partner by the shortest chain of changes, if there is one."""
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
    """Give each thing along the chain that ends at the free `j` the partner that was found for it."""
    partner_of = {i: free for free, i in partner.items()}
    while True:
        i = came_from[j]
        left_free = partner_of.get(i)
        partner[j] = i
        if left_free is None:
            return
        j = left_free
