"""Reads a case's `expectations` from JSON; every problem is reported with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.errors import did_you_mean
from proctor.metrics.expectations.call_patterns import ActualCall, CallPattern, read_call
from proctor.metrics.expectations.forbidden_calls import Guard
from proctor.metrics.expectations.grammar import (
    Alternatives,
    AnyOrder,
    InOrder,
    Node,
    One,
    Repeated,
    may_be_empty,
    optional,
    takes_everything,
)
from proctor.metrics.expectations.misspelled_calls import NameSurvey
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.reason_text import show_value
from proctor.schema.format.case import EvalCase

KEYS = frozenset({"turn", "calls", "others", "forbidden", "limits"})
GROUPS: Mapping[str, Callable[[tuple[Node, ...]], Node]] = {
    "any_of": Alternatives,
    "any_order": AnyOrder,
    "in_order": InOrder,
}
"""The keys of groups of calls."""
LARGEST_GROUP = 12
"""Items of a group in any order: twelve items have 4096 subsets that may be finished."""
MOST_TIMES = 100
MOST_CALLS = 300


@dataclass(frozen=True, slots=True)
class Limit:
    """The allowed number of calls that match a pattern; `most` is `None` for any number."""

    pattern: CallPattern
    least: int
    most: int | None
    where: str = ""
    """Where it is written."""

    def over(self, calls: Sequence[ActualCall]) -> Sequence[ActualCall]:
        """Return the calls that exceed the limit."""
        return calls[self.most :] if self.most is not None else ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one block expects of the calls of one turn, or of the whole conversation."""

    where: str
    """Its place in the case, for messages."""
    turn: int | None
    """Counted from 0; `None`: all turns together."""
    calls: Node | None
    """`None`: any calls."""
    others_allowed: bool
    limits: tuple[Limit, ...]
    patterns: tuple[CallPattern, ...]
    """All call patterns in it."""

    def requires_calls(self) -> bool:
        """Return whether an agent without calls does not meet it."""
        requires_listed = self.calls is not None and not may_be_empty(self.calls)
        return requires_listed or any(limit.least for limit in self.limits)

    def guards(self) -> Iterator[Guard]:
        """Yield the calls that are forbidden or limited."""
        for limit in self.limits:
            if not limit.least and limit.most is not None:
                yield Guard(limit.where, limit.pattern)

    def unguarded_patterns(self) -> Iterator[CallPattern]:
        """Yield the other patterns: if one of their names is misspelled, the call is missing, and the expectation fails."""
        guarded = {id(each.pattern) for each in self.guards()}
        yield from (each for each in self.patterns if id(each) not in guarded)


def read_expectations(
    spec: object, turns: int | None, reader: MatcherReader, place: str = "expectations"
) -> list[Expectation]:
    """Read one expectation or a list of them; `turns` is the number of turns of the case, if known."""
    if isinstance(spec, Mapping):
        return [_Block(reader, place, turns).read(spec)]
    if not isinstance(spec, list) or not spec:
        reader.problem(
            place,
            f'expected an object such as {{"calls": [...]}}, or a list of them, got {show_value(spec)}',
        )
        return []
    expectations = []
    for index, each in enumerate(spec):
        where = f"{place}[{index}]"
        if isinstance(each, Mapping):
            expectations.append(_Block(reader, where, turns).read(each))
        else:
            reader.problem(where, f'expected an object such as {{"calls": [...]}}, got {show_value(each)}')
    return expectations


def _has_at_most(spec: object) -> bool:
    if isinstance(spec, Mapping):
        return "at_most" in spec or any(_has_at_most(each) for key, each in spec.items() if key in GROUPS)
    return isinstance(spec, list) and any(map(_has_at_most, spec))


class _Block:
    def __init__(self, reader: MatcherReader, where: str, turns: int | None) -> None:
        self._reader, self._where, self._turns = reader, where, turns
        self._patterns: list[CallPattern] = []

    def read(self, spec: Mapping[str, object]) -> Expectation:
        for key in spec:
            if key not in KEYS:
                self._problem(
                    "", f"unknown key {key!r}.{did_you_mean(str(key), KEYS)} Keys: {', '.join(sorted(KEYS))}"
                )
        if not {"calls", "forbidden", "limits"} & spec.keys():
            self._problem("", "it expects nothing: expected `calls`, `forbidden` or `limits`")
        calls = None
        if "calls" in spec:
            calls = InOrder(self._items(spec["calls"], ".calls", may_be_empty=True))
        expectation = Expectation(
            self._where,
            self._turn(spec),
            calls,
            self._others(spec),
            (*self._limits(spec), *self._forbidden(spec)),
            tuple(self._patterns),
        )
        self._check_that_it_decides(expectation, spec)
        return expectation

    def _check_that_it_decides(self, expectation: Expectation, spec: Mapping[str, object]) -> None:
        """Report an expectation that cannot fail. If other calls are allowed, optional calls and `at_most` have no effect."""
        if expectation.calls is None:
            return
        if not expectation.others_allowed:
            if not expectation.limits and takes_everything(expectation.calls):
                self._problem(".calls", "it can never fail: it accepts any calls, and none")
            return
        if _has_at_most(spec["calls"]):
            self._problem(
                ".calls", '`at_most` has no effect with `"others": "allowed"`: write it under `limits`'
            )
        elif not expectation.limits and may_be_empty(expectation.calls):
            self._problem("", "it can never fail: it requires no call, and others are allowed")

    def _problem(self, where: str, message: str) -> None:
        self._reader.problem(f"{self._where}{where}", message)

    def _turn(self, spec: Mapping[str, object]) -> int | None:
        turn = spec.get("turn")
        if "turn" not in spec:
            return None
        if isinstance(turn, bool) or not isinstance(turn, int) or turn < 1:
            self._problem(".turn", f"turns are counted from 1, got {show_value(turn)}")
            return None
        if self._turns is not None and turn > self._turns:
            self._problem(".turn", f"the case has {self._turns} turn(s), got {turn}")
        return turn - 1

    def _others(self, spec: Mapping[str, object]) -> bool:
        others = spec.get("others", "forbidden")
        if others not in ("allowed", "forbidden"):
            hint = did_you_mean(str(others), ("allowed", "forbidden"))
            self._problem(
                ".others", f'must be "allowed" or "forbidden" (the default), got {show_value(others)}.{hint}'
            )
        elif "others" in spec and "calls" not in spec:
            self._problem(".others", "it has no effect without `calls`")
        return bool(others == "allowed")

    # --- calls, and groups of them ---

    def _items(self, specs: object, where: str, *, may_be_empty: bool = False) -> tuple[Node, ...]:
        if not isinstance(specs, list) or not (specs or may_be_empty):
            self._problem(where, f"expected a list of calls, got {show_value(specs)}")
            return ()
        if len(specs) > MOST_CALLS:
            self._problem(where, f"at most {MOST_CALLS} calls can be expected in one list, got {len(specs)}")
            return ()
        return tuple(self._item(each, f"{where}[{index}]") for index, each in enumerate(specs))

    def _item(self, spec: object, where: str) -> Node:
        if not isinstance(spec, Mapping) or not GROUPS.keys() & spec.keys():
            return self._call(spec, where)
        kind = next(kind for kind in GROUPS if kind in spec)
        for key in (each for each in spec if each not in (kind, "optional")):
            self._problem(where, f"`{key}` cannot be combined with `{kind}` (only `optional` can)")
        read_items = self._alternatives if kind == "any_of" else self._items
        items = read_items(spec[kind], f"{where}.{kind}")
        self._check_group_size(kind, items, where)
        node = GROUPS[kind](items)
        return optional(node) if self._flag(spec, where) else node

    def _check_group_size(self, kind: str, items: Sequence[Node], where: str) -> None:
        if kind == "any_order" and len(items) > LARGEST_GROUP:
            self._problem(
                f"{where}.any_order",
                f"at most {LARGEST_GROUP} items can be in any order, got {len(items)}",
            )

    def _alternatives(self, specs: object, where: str) -> tuple[Node, ...]:
        """Read the alternatives; an alternative that is a list is a sequence of calls."""
        if not isinstance(specs, list) or len(specs) < 2:
            self._problem(where, f"expected a list of two alternatives or more, got {show_value(specs)}")
            return ()
        return tuple(
            InOrder(self._items(each, f"{where}[{i}]", may_be_empty=True))
            if isinstance(each, list)
            else self._item(each, f"{where}[{i}]")
            for i, each in enumerate(specs)
        )

    def _call(self, spec: object, where: str) -> Node:
        pattern = self._pattern(spec, where, other_args=False, also=("optional", "at_least", "at_most"))
        one = One(pattern)
        if not isinstance(spec, Mapping):
            return one
        least, most = self._times(spec, where)
        if self._flag(spec, where):
            if "at_least" in spec:
                self._problem(where, "use either `optional` or `at_least`, not both")
            least = 0
        copies: list[Node] = [one] * least
        if most is None:
            copies.append(Repeated(one))
        else:
            rest: Node = InOrder()
            for _ in range(most - least):  # one more, and perhaps another
                rest = optional(InOrder((one, rest)))
            copies.append(rest)
        return InOrder(tuple(copies))

    def _times(self, spec: Mapping[str, object], where: str) -> tuple[int, int | None]:
        """Return how often a call is expected: once; `at_most` alone: from 0; `at_least` alone: any number from it."""
        least, most = self._count(spec, "at_least", where), self._count(spec, "at_most", where)
        if least is None:
            least = 0 if "at_most" in spec else 1
            most = most if "at_most" in spec else 1
        if most is not None and most < least:
            self._problem(where, f"`at_most` {most} is less than `at_least` {least}")
        if "at_most" in spec and most == 0:
            self._problem(where, "`at_most: 0`: write the call under `forbidden`")
        return least, most

    def _count(self, spec: Mapping[str, object], key: str, where: str) -> int | None:
        if key not in spec:
            return None
        number = spec[key]
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_TIMES:
            self._problem(
                f"{where}.{key}", f"expected a whole number from 0 to {MOST_TIMES}, got {show_value(number)}"
            )
            return None
        return number

    def _flag(self, spec: Mapping[str, object], where: str) -> bool:
        is_optional = spec.get("optional", False)
        if not isinstance(is_optional, bool):
            self._problem(f"{where}.optional", f"must be true or false, got {show_value(is_optional)}")
        return is_optional is True

    def _pattern(
        self, spec: object, where: str, *, other_args: bool, also: tuple[str, ...] = ()
    ) -> CallPattern:
        pattern = read_call(spec, self._reader, f"{self._where}{where}", other_args=other_args, also=also)
        self._patterns.append(pattern)
        return pattern

    # --- limits ---

    def _forbidden(self, spec: Mapping[str, object]) -> list[Limit]:
        if "forbidden" not in spec:
            return []
        forbidden = spec["forbidden"]
        if not isinstance(forbidden, list) or not forbidden:
            self._problem(".forbidden", f"expected a list of calls, got {show_value(forbidden)}")
            return []
        return [
            Limit(
                self._pattern(each, where := f".forbidden[{i}]", other_args=True), 0, 0, self._where + where
            )
            for i, each in enumerate(forbidden)
        ]

    def _limits(self, spec: Mapping[str, object]) -> list[Limit]:
        if "limits" not in spec:
            return []
        limits = spec["limits"]
        if not isinstance(limits, list) or not limits:
            self._problem(
                ".limits",
                f'expected a list such as [{{"tool": "search", "at_most": 3}}], got {show_value(limits)}',
            )
            return []
        return [self._limit(each, f".limits[{i}]") for i, each in enumerate(limits)]

    def _limit(self, spec: object, where: str) -> Limit:
        pattern = self._pattern(spec, where, other_args=True, also=("at_least", "at_most"))
        if not isinstance(spec, Mapping) or not {"at_least", "at_most"} & spec.keys():
            self._problem(where, "a limit needs `at_most`, `at_least`, or both")
            return Limit(pattern, 0, None)
        least, most = self._count(spec, "at_least", where), self._count(spec, "at_most", where)
        if most is not None and least is not None and most < least:
            self._problem(where, f"`at_most` {most} is less than `at_least` {least}")
        if not least and "at_most" not in spec:
            self._problem(where, "a limit from 0 up can never be broken")
        return Limit(pattern, least or 0, most, self._where + where)


# --- Expectations of a criterion are for every case; those of a turn that a case lacks do not apply to it ---


class ExpectationSurvey(NameSurvey):
    """Finds misspelled names, and the cases that lack the turns which a criterion's expectations name."""

    def __init__(
        self, common: Sequence[Expectation], stated_by: Callable[[EvalCase], Iterable[Expectation]]
    ) -> None:
        super().__init__(guarded_names(common), lambda case: guarded_names(stated_by(case)))
        self._turns_by_place = {each.where: each.turn + 1 for each in common if each.turn is not None}
        self._without: Counter[str] = Counter()
        self._seen = self._most = 0

    def add_case(self, case: EvalCase) -> None:
        """Record one case; a scenario may have any number of turns."""
        super().add_case(case)
        self._seen += 1
        if case.conversation is None:
            return
        turns = len(case.conversation)
        self._most = max(self._most, turns)
        self._without.update(where for where, turn in self._turns_by_place.items() if turn > turns)

    def problems(self) -> Iterator[str]:
        """Yield turns that no case has, and misspelled names."""
        for where, turn in self._turns_by_place.items():
            if self._seen and self._without[where] == self._seen:
                yield f"{where}.turn: it is about turn {turn}, and no case has more than {self._most} turn(s)"
        yield from super().problems()

    def warnings(self) -> Iterator[str]:
        """Yield turns that some cases do not have, and names that are probably misspelled."""
        for where, turn in self._turns_by_place.items():
            if 0 < self._without[where] < self._seen:
                cases = f"{self._without[where]} of {self._seen} cases"
                yield f"{where} is about turn {turn}, which {cases} do not have: it does not apply to them"
        yield from super().warnings()


def guarded_names(expectations: Iterable[Expectation]) -> Iterator[tuple[str, str]]:
    """Yield the tools of forbidden calls and limits, each with its place."""
    return (name for each in expectations for guard in each.guards() for name in guard.tool_names())


def turns_lacking(common: Sequence[Expectation], turns: int) -> str:
    """Return why nothing in a criterion applies to a conversation with `turns` turns."""
    numbers = [str(each.turn + 1) for each in common if each.turn is not None]
    return f"the criterion expects something of turn {' and '.join(numbers)}, and this conversation has {turns} turn(s)"
