"""The grammar of expected calls, and the cheapest alignment of actual calls with it.

A list of calls fits if its alignment costs nothing. Otherwise the cost measures the distance: 10 for a call that is missing
or not expected, 11 to 19 for a call of the right tool that does not fit (as in `proctor.metrics.trajectory.alignment`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from heapq import heappop, heappush
from typing import Any

from proctor.errors import MetricError
from proctor.metrics.expectations.call_patterns import ActualCall, CallPattern
from proctor.metrics.trajectory.call_matching import ArgumentDifference

ALONE = 10
"""The cost of a call that is missing or not expected."""
SCALE = 1000
"""One unit of cost. Allowed calls cost less than a unit, so of equally good alignments the one that uses more calls is preferred."""
MOST = 100_000
"""The largest number of steps in the search for the cheapest alignment."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """One call."""

    pattern: CallPattern


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """One after the other; no calls if empty."""

    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """One of these."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOrder:
    """All of these, in any order; each is finished before the next begins."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """Any number of times, none included."""

    item: Node


Node = One | InOrder | Alternatives | AnyOrder | Repeated


def optional(node: Node) -> Node:
    """Return a node that matches the same, or nothing."""
    return Alternatives((node, InOrder()))


def may_be_empty(node: Node) -> bool:
    """Return whether no calls at all fit."""
    if isinstance(node, Alternatives):
        return any(map(may_be_empty, node.items))
    if isinstance(node, InOrder | AnyOrder):
        return all(map(may_be_empty, node.items))
    return isinstance(node, Repeated)


def takes_everything(node: Node) -> bool:
    """Return whether any list of calls fits.

    Only patterns of any tool and any arguments match every call, so this depends on the numbers of calls that such patterns
    alone can match.
    """
    lengths = _lengths(node)
    return lengths.tail is not None and {*range(lengths.tail)} <= lengths.some


@dataclass(frozen=True, slots=True)
class _Lengths:
    """The numbers of arbitrary calls that a node matches: these, and every number from `tail`."""

    some: frozenset[int] = frozenset()
    tail: int | None = None

    def least(self) -> int | None:
        return min((*self.some, *(() if self.tail is None else (self.tail,))), default=None)

    def then(self, other: _Lengths) -> _Lengths:
        least, others = self.least(), other.least()
        if least is None or others is None:
            return _Lengths()
        tails = ([] if self.tail is None else [self.tail + others]) + (
            [] if other.tail is None else [other.tail + least]
        )
        return _Lengths(frozenset(a + b for a in self.some for b in other.some), min(tails, default=None))

    def otherwise(self, other: _Lengths) -> _Lengths:
        tails = [tail for tail in (self.tail, other.tail) if tail is not None]
        return _Lengths(self.some | other.some, min(tails, default=None))


def _lengths(node: Node) -> _Lengths:
    if isinstance(node, One):
        return _Lengths(frozenset({1})) if node.pattern.takes_any_call() else _Lengths()
    if isinstance(node, Repeated):
        return _Lengths(frozenset({0}), 0 if _lengths(node.item).least() == 1 else None)
    lengths = [_lengths(each) for each in node.items]
    if isinstance(node, Alternatives):
        return reduce(_Lengths.otherwise, lengths, _Lengths())
    return reduce(_Lengths.then, lengths, _Lengths(frozenset({0})))


@dataclass(slots=True)
class AlignedCall:
    """One step of an alignment: an expected call, an actual one, or both."""

    kind: str
    """`matched`, `missing`, `extra`, `allowed` (not expected, but harmless) or `differs`."""
    pattern: CallPattern | None = None
    made: ActualCall | None = None
    differences: list[ArgumentDifference] = field(default_factory=list)

    @property
    def cost(self) -> int:
        """The cost of the step."""
        if self.kind == "differs":
            return _difference_cost(self)
        return ALONE if self.kind in ("missing", "extra") else 0


@dataclass(slots=True, eq=False)
class _Way:
    """The path to a state: the last step, and the path before it."""

    before: _Way | None
    step: AlignedCall | None

    def steps(self) -> list[AlignedCall]:
        steps: list[AlignedCall] = []
        way: _Way | None = self
        while way is not None:
            if way.step is not None:
                steps.append(way.step)
            way = way.before
        return steps[::-1]


Stack = tuple[Any, ...]
"""What remains to be matched: () or (first node, the rest). A group in any order is (group, bits of the finished items)."""


def read_as(
    node: Node, calls: Sequence[ActualCall], *, others_allowed: bool = False, only_fitting: bool = False
) -> list[AlignedCall] | None:
    """Return the cheapest alignment of `calls` with `node`; with `only_fitting` one that costs nothing, or `None`.

    Deterministic: of equally cheap alignments the one with the fewest unmatched calls, then the first. `None` also if the search
    for the cheapest takes too many steps (Dijkstra's algorithm over the remaining nodes and calls).

    Raises:
        MetricError: the search for a fitting alignment takes too many steps.
    """
    return _Search(calls, others_allowed=others_allowed, only_fitting=only_fitting).run(node)


class _Search:
    def __init__(self, calls: Sequence[ActualCall], *, others_allowed: bool, only_fitting: bool) -> None:
        self._calls = calls
        self._others_allowed = others_allowed
        self._only_fitting = only_fitting
        self._heap: list[tuple[int, int, Stack, int, _Way]] = []
        self._count = 0
        self._compared: dict[tuple[CallPattern, int], AlignedCall | None] = {}

    def run(self, node: Node) -> list[AlignedCall] | None:
        done: set[tuple[Stack, int]] = set()
        self._push(0, (node, ()), 0, _Way(None, None))
        while self._heap:
            cost, _, stack, at, way = heappop(self._heap)
            if (stack, at) in done:
                continue
            done.add((stack, at))
            if not stack and at == len(self._calls):
                return way.steps()
            if len(done) > MOST:
                if self._only_fitting:
                    raise MetricError(
                        "the expected calls can be aligned in too many ways; make the groups under `any_order` smaller"
                    )
                return None
            self._follow(cost, stack, at, way)
        return None

    def _push(self, cost: int, stack: Stack, at: int, way: _Way) -> None:
        if not (self._only_fitting and cost >= SCALE):
            self._count += 1
            heappush(self._heap, (cost, self._count, stack, at, way))

    def _follow(self, cost: int, stack: Stack, at: int, way: _Way) -> None:
        head = stack[0] if stack else None
        if stack and not isinstance(head, One):
            for new in _expand(head, stack[1]):
                self._push(cost, new, at, way)
            return
        if isinstance(head, One):
            self._match_call(head.pattern, cost, stack[1], at, way)
        if at < len(self._calls):
            allowed = self._others_allowed
            step = AlignedCall("allowed" if allowed else "extra", made=self._calls[at])
            self._push(cost + (1 if allowed else ALONE * SCALE), stack, at + 1, _Way(way, step))

    def _match_call(self, pattern: CallPattern, cost: int, rest: Stack, at: int, way: _Way) -> None:
        if at < len(self._calls) and (step := self._compare(pattern, at)) is not None:
            self._push(cost + step.cost * SCALE, rest, at + 1, _Way(way, step))
        self._push(cost + ALONE * SCALE, rest, at, _Way(way, AlignedCall("missing", pattern)))

    def _compare(self, pattern: CallPattern, at: int) -> AlignedCall | None:
        key = (pattern, at)
        if key not in self._compared:
            call, fit = self._calls[at], None
            if pattern.names(call):
                differences = pattern.differences(call)
                fit = AlignedCall("differs" if differences else "matched", pattern, call, differences)
            self._compared[key] = fit
        return self._compared[key]


def _expand(head: object, rest: Stack) -> Iterator[Stack]:
    """Yield the stacks that can replace a node other than `One`."""
    if isinstance(head, InOrder):
        for item in reversed(head.items):
            rest = (item, rest)
        yield rest
    elif isinstance(head, Alternatives):
        yield from ((item, rest) for item in head.items)
    elif isinstance(head, Repeated):
        yield (head.item, (head, rest))
        yield rest
    else:
        group, done = head if isinstance(head, tuple) else (head, 0)
        yield from _expand_group(group, done, rest)


def _expand_group(group: AnyOrder, done: int, rest: Stack) -> Iterator[Stack]:
    """Yield the stacks that begin with one of the items that are not finished; `done` has a bit for each finished one."""
    remaining = [index for index in range(len(group.items)) if not done >> index & 1]
    if not remaining:
        yield rest
    for index in remaining:
        yield (group.items[index], ((group, done | 1 << index), rest))


def _difference_cost(step: AlignedCall) -> int:
    """Return 11 to 19, growing with the share of the arguments that differ."""
    pattern, call = step.pattern, step.made
    names = {*((pattern and pattern.args) or {}), *((call and call.args) or {})}
    compared = len(names) + (pattern is not None and pattern.response is not None)
    return ALONE + 1 + min(8, 8 * len(step.differences) // max(1, compared))
