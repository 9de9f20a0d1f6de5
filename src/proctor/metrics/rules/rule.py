"""Rules over a trajectory: how they are read from JSON, and which calls break them.

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
from enum import StrEnum

from proctor.errors import did_you_mean
from proctor.metrics.expectations.call_patterns import ActualCall, CallPattern, read_call
from proctor.metrics.expectations.forbidden_calls import Guard
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import Json, MatchedValue, Plain, Template, json_key
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.matchers.paths import Path, read_path, values_at
from proctor.metrics.reason_text import show_value


class RuleKind(StrEnum):
    """The kind of a rule; the value is the key that identifies it in JSON."""

    NEVER = "never"
    AT_MOST = "at_most"
    ONLY_AFTER = "only_after"
    IMPLIES_LATER = "implies_later"
    NOT_BEFORE = "before"


FORMS: Mapping[RuleKind, frozenset[str]] = {
    RuleKind.NEVER: frozenset({"never"}),
    RuleKind.AT_MOST: frozenset({"call", "at_most", "same"}),
    RuleKind.ONLY_AFTER: frozenset({"call", "only_after", "same"}),
    RuleKind.IMPLIES_LATER: frozenset({"call", "implies_later", "same"}),
    RuleKind.NOT_BEFORE: frozenset({"no", "before", "same"}),
}
"""The keys of each kind of rule, without `name`."""
EXAMPLE = (
    '{"never": "x"}, {"call": "x", "at_most": 1}, {"call": "x", "only_after": "y"}, {"call": "x", "implies_later": "y"} '
    'or {"no": "x", "before": "y"}'
)


Pairs = tuple[tuple[Path, Path], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule about the calls `first` and, for a rule about two calls, `second`."""

    kind: RuleKind
    first: CallPattern
    second: CallPattern | None = None
    most: int = 0
    same: Pairs = ()
    """Arguments of the first and of the second call that must be equal; the rule is about pairs of calls with equal ones."""
    name: str = ""
    where: str = ""
    """Where the rule is written."""

    def guards(self) -> Iterator[Guard]:
        """Yield the calls without which nothing can break the rule."""
        if self.kind is not RuleKind.NOT_BEFORE or self.second is None:
            yield Guard(self.where, self.first)
            return
        yield Guard(self.where, self.first, tuple(first for first, _ in self.same))
        yield Guard(self.where, self.second, tuple(second for _, second in self.same))

    def describe(self) -> str:
        """Return the rule in words."""
        first, second = self.first.describe(), self.second.describe() if self.second else ""
        text = {
            RuleKind.NEVER: f"never {first}",
            RuleKind.AT_MOST: f"{first} at most {'once' if self.most == 1 else f'{self.most} times'}",
            RuleKind.ONLY_AFTER: f"{first} only after {second}",
            RuleKind.IMPLIES_LATER: f"{first} implies {second} later",
            RuleKind.NOT_BEFORE: f"no {first} before {second}",
        }[self.kind]
        if self.same:
            text += f" with the same {' and '.join(_pair_text(*pair) for pair in self.same)}"
        return f"{self.name} ({text})" if self.name else text


def _pair_text(first: Path, second: Path) -> str:
    one, other = (".".join(str(step) for step in path) for path in (first, second))
    return one if one == other else f"{one} (as {other})"


def read_rules(data: object, reader: MatcherReader, where: str) -> list[Rule]:
    """Read a list of rules."""
    if not isinstance(data, list) or not data:
        reader.problem(where, f"expected a list of rules such as {EXAMPLE}, got {show_value(data)}")
        return []
    rules = (_read_rule(each, reader, f"{where}[{index}]") for index, each in enumerate(data))
    return [rule for rule in rules if rule is not None]


def _read_rule(data: object, reader: MatcherReader, where: str) -> Rule | None:
    if not isinstance(data, Mapping):
        reader.problem(where, f"expected a rule such as {EXAMPLE}, got {show_value(data)}")
        return None
    kind = _read_kind(data, reader, where)
    if kind is None:
        return None
    keys = FORMS[kind] | {"name"}
    for key in data:
        if key not in keys:
            reader.problem(
                where,
                f"`{kind.value}` has no key {key!r}.{did_you_mean(str(key), keys)} Keys: {', '.join(sorted(keys))}",
            )
    if missing := next((key for key in sorted(FORMS[kind] - {"same"}) if key not in data), ""):
        reader.problem(where, f"a rule with `{kind.value}` also needs `{missing}`")
        return None
    return _build_rule(kind, data, reader, where)


def _read_kind(data: Mapping[str, object], reader: MatcherReader, where: str) -> RuleKind | None:
    """Return the kind of a rule, recognised by its keys."""
    kinds = [kind for kind in RuleKind if kind.value in data]
    if len(kinds) == 1:
        return kinds[0]
    known = {"name"}.union(*FORMS.values())
    hints = "".join(did_you_mean(str(key), known) for key in data if key not in known)
    problem = f"has {' and '.join(f'`{kind.value}`' for kind in kinds)}" if kinds else "has no kind"
    reader.problem(where, f"the rule {problem}; expected one of {EXAMPLE}{f'.{hints}' if hints else ''}")
    return None


def _build_rule(kind: RuleKind, data: Mapping[str, object], reader: MatcherReader, where: str) -> Rule:
    first_key = {RuleKind.NEVER: "never", RuleKind.NOT_BEFORE: "no"}.get(kind, "call")
    first = read_call(data[first_key], reader, f"{where}.{first_key}", other_args=True)
    second, most = None, 0
    if kind is RuleKind.AT_MOST:
        most = _read_count(data["at_most"], reader, f"{where}.at_most")
    elif kind is not RuleKind.NEVER:
        second = read_call(data[kind.value], reader, f"{where}.{kind.value}", other_args=True)
    name = data.get("name", "")
    if not isinstance(name, str):
        reader.problem(f"{where}.name", f"expected text, got {show_value(name)}")
    same = (
        _read_same(data["same"], reader, f"{where}.same", pairs=second is not None) if "same" in data else ()
    )
    rule = Rule(kind, first, second, most, same, str(name), where)
    _check_rule(rule, reader)
    return rule


def _check_rule(rule: Rule, reader: MatcherReader) -> None:
    """Report arguments under `same` that a call cannot have, and a rule that no call can break."""
    for pair in rule.same:
        for path, pattern in zip(pair, (rule.first, rule.second), strict=True):
            if pattern and not pattern.may_have(str(path[0])):
                reader.problem(
                    f"{rule.where}.same", f"{pattern.describe()} can have no argument {str(path[0])!r}"
                )
    if rule.kind is not RuleKind.NOT_BEFORE or rule.second is None:
        return
    if why := _unbreakable_reason(rule.first, rule.second, rule.same):
        reader.problem(rule.where, f"no call can break this rule: {why}")


def _unbreakable_reason(first: CallPattern, second: CallPattern, same: Pairs) -> str:
    """Return why no call can be too early; empty unless that is certain."""
    if all(_has_equal_values(first, *pair) for pair in same) and second.covers(
        first, _implied_names(second, same)
    ):
        return f"each {first.describe()} is itself {second.describe()}, so none can come before the first of those"
    for one, other in same:
        value, other_value = _value_at(first, one), _value_at(second, other)
        if value and other_value and _exclude(value, other_value):
            return f"`{one[0]}` is {value.describe()} in one and {other_value.describe()} in the other, so they are never the same"
    return ""


def _value_at(call: CallPattern, path: Path) -> Template | None:
    """Return what a call pattern expects of an argument; `None` for nothing, and for a path inside an argument."""
    return (call.args or {}).get(str(path[0])) if len(path) == 1 else None


def _has_equal_values(call: CallPattern, one: Path, other: Path) -> bool:
    """Return whether a call certainly has equal values at two paths, so that it is a pair with itself."""
    if one == other:
        return True
    value, other_value = _value_at(call, one), _value_at(call, other)
    if not (isinstance(value, Plain) and isinstance(other_value, Plain)):
        return False
    return other_value.fits(value.source)


def _implied_names(pattern: CallPattern, same: Pairs) -> set[str]:
    """Return the arguments that need no comparison, because they equal those of the other call."""
    args = pattern.args or {}
    names = {str(path[0]) for path, _ in same if len(path) == 1}
    return {name for name in names & args.keys() if not _is_strict(args[name])}


def _is_strict(value: Template) -> bool:
    """Return whether a template may distinguish values that are equal under `same`: 1 and 1.0."""
    return isinstance(value, MatchedValue) and isinstance(value.matcher, Json) and value.matcher.strict


def _exclude(one: Template, other: Template) -> bool:
    return (isinstance(one, Plain) and not other.fits(one.source)) or (
        isinstance(other, Plain) and not one.fits(other.source)
    )


def _read_count(number: object, reader: MatcherReader, where: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        reader.problem(where, f"expected a whole number from 0, got {show_value(number)}")
        return 0
    return number


def _read_same(data: object, reader: MatcherReader, where: str, *, pairs: bool) -> Pairs:
    """Read an argument, several, or `{of the first call: of the second}`; each may be a path."""
    names = _argument_pairs(data) if pairs or not isinstance(data, Mapping) else {}
    if not names or not all(isinstance(each, str) for each in names.values()):
        also = ", or {argument of the first call: argument of the second}" if pairs else ""
        reader.problem(where, f"expected the name of an argument, or a list of them{also}")
        return ()
    return tuple(
        (_read_path(str(one), reader, where), _read_path(str(other), reader, where))
        for one, other in names.items()
    )


def _argument_pairs(data: object) -> Mapping[object, object]:
    """Return the arguments of the first call with those of the second; empty for any other type of data."""
    if isinstance(data, Mapping):
        return data
    if isinstance(data, str):
        return {data: data}
    return {str(each): each for each in data} if isinstance(data, list) else {}


def _read_path(text: str, reader: MatcherReader, where: str) -> Path:
    path = read_path(text, reader, where)
    if -1 in path:
        reader.problem(where, f"{show_value(text)}: `[*]` does not name a single value to compare")
    return path


# --- Checking ---


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


def breaches(rule: Rule, calls: Sequence[ActualCall]) -> list[Breach]:
    """Return every call that breaks the rule, in order; empty if the rule is kept."""
    firsts = _keys(rule.first, calls, [path for path, _ in rule.same])
    if not firsts or rule.kind is RuleKind.NEVER:
        return [Breach(index) for index in firsts]
    if rule.kind is RuleKind.AT_MOST:
        return [*_too_many(rule.most, firsts)]
    seconds = _keys(rule.second, calls, [path for _, path in rule.same]) if rule.second else {}
    return [*_PAIRS[rule.kind](firsts, seconds)]


def _keys(pattern: CallPattern, calls: Sequence[ActualCall], paths: Sequence[Path]) -> dict[int, Key]:
    """Return the values that must be the same, for the position of each call that matches a pattern."""
    return {
        index: tuple(json_key(next(values_at(call.args, path))) for path in paths)
        for index, call in enumerate(calls)
        if pattern.fits(call)
    }


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
    RuleKind.ONLY_AFTER: _not_after,
    RuleKind.IMPLIES_LATER: _not_followed_by,
    RuleKind.NOT_BEFORE: _too_early,
}


def _earliest(calls: Keys) -> dict[Key, int]:
    return {key: index for index, key in reversed([*calls.items()])}
