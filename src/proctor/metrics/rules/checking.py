"""Checks whether a trajectory keeps a rule, and which steps break it.

The rules are patterns of M. B. Dwyer, G. S. Avrunin and J. C. Corbett, "Patterns in property specifications for finite-state
verification" (ICSE 1999), over the tool calls c₁ … cₙ of a trial. A(i): the i-th call matches `first`; B(j): the j-th call
matches `second`; i ~ j: the arguments under `same` are equal as JSON values.

* never A (absence): no i with A(i)
* A at most n times (bounded existence): no n + 1 calls A that are ~ each other
* A only after B (precedence): for every A(i) there is B(j), j < i, i ~ j
* A implies B later (response): for every A(i) there is B(j), j > i, i ~ j
* no A before B (absence before): for no A(i) there is B(j), j > i, i ~ j, unless there is B(k), k ≤ i, i ~ k

A call without an argument under `same` has no partner in "only after" and "implies later", so it breaks them; in the other two
rules a missing argument is a value like any other. Each rule is checked in one pass.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.metrics.expectations.actual_calls import Made
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.paths import Path
from proctor.metrics.rules.rule import Kind, Rule

__all__ = ["Breach", "breaches"]

Key = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Breach:
    """One call that breaks a rule."""

    at: int
    """The position of the call among all calls of the trial, from 0."""
    before: int | None = None
    """For "no A before B": the position of the later B."""
    count: int = 0
    """For "at most": the ordinal number of the call."""


def breaches(rule: Rule, calls: Sequence[Made]) -> list[Breach]:
    """Return every call that breaks the rule, in order; empty if the rule is kept."""
    firsts = [index for index, call in enumerate(calls) if rule.first.fits(call)]
    if not firsts or rule.kind is Kind.NEVER:
        return [Breach(index) for index in firsts]
    of_first = {index: _key(calls[index], [path for path, _ in rule.same]) for index in firsts}
    if rule.kind is Kind.AT_MOST:
        return [*_too_many(rule.most, of_first)]
    second = rule.second
    of_second = {
        index: _key(call, [path for _, path in rule.same])
        for index, call in enumerate(calls)
        if second is not None and second.fits(call)
    }
    return [*_PAIRS[rule.kind](of_first, of_second)]


Keys = Mapping[int, Key]


def _too_many(most: int, firsts: Keys) -> Iterator[Breach]:
    counts: defaultdict[Key, int] = defaultdict(int)
    for index, key in firsts.items():
        counts[key] += 1
        if counts[key] > most:
            yield Breach(index, count=counts[key])


def _not_after(firsts: Keys, seconds: Keys) -> Iterator[Breach]:
    earliest = _earliest(seconds)
    for index, key in firsts.items():
        if ABSENT in key or earliest.get(key, index) >= index:
            yield Breach(index)


def _not_followed_by(firsts: Keys, seconds: Keys) -> Iterator[Breach]:
    latest = {key: index for index, key in seconds.items()}
    for index, key in firsts.items():
        if ABSENT in key or latest.get(key, index) <= index:
            yield Breach(index)


def _too_early(firsts: Keys, seconds: Keys) -> Iterator[Breach]:
    earliest = _earliest(seconds)
    for index, key in firsts.items():
        if (other := earliest.get(key, -1)) > index:
            yield Breach(index, before=other)


_PAIRS = {
    Kind.ONLY_AFTER: _not_after,
    Kind.IMPLIES_LATER: _not_followed_by,
    Kind.NOT_BEFORE: _too_early,
}


def _earliest(calls: Keys) -> dict[Key, int]:
    earliest: dict[Key, int] = {}
    for index, key in calls.items():
        earliest.setdefault(key, index)
    return earliest


def _key(call: Made, paths: Sequence[Path]) -> Key:
    return tuple(_hashable(_at(call.args, path)) for path in paths)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list | tuple) and step < len(value) else ABSENT
        else:
            value = value.get(step, ABSENT) if isinstance(value, Mapping) else ABSENT
    return value


def _hashable(value: Any) -> Hashable:
    """Return an object that is equal exactly if two values are equal as JSON: 1 is 1.0, true is neither."""
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, Mapping):
        return ("object", frozenset((key, _hashable(each)) for key, each in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(_hashable, value))
    return value if isinstance(value, Hashable) else ("other", repr(value))
