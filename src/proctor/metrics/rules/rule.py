"""A rule over a trajectory, from JSON; every mistake is found, with the place where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.expectations.call_patterns import CallPattern, read_call
from proctor.metrics.expectations.forbidden_calls import Guard
from proctor.metrics.matchers.kinds import Json
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.matchers.paths import Path, read_path
from proctor.metrics.matchers.templates import Matched, Plain, Template
from proctor.metrics.reason_text import show_value

__all__ = ["Kind", "Rule", "read_rules"]


class Kind(StrEnum):
    """What a rule says; the value is the key that tells it apart in JSON."""

    NEVER = "never"
    AT_MOST = "at_most"
    ONLY_AFTER = "only_after"
    IMPLIES_LATER = "implies_later"
    NOT_BEFORE = "before"


FORMS: Mapping[Kind, frozenset[str]] = {
    Kind.NEVER: frozenset({"never"}),
    Kind.AT_MOST: frozenset({"call", "at_most", "same"}),
    Kind.ONLY_AFTER: frozenset({"call", "only_after", "same"}),
    Kind.IMPLIES_LATER: frozenset({"call", "implies_later", "same"}),
    Kind.NOT_BEFORE: frozenset({"no", "before", "same"}),
}
"""The keys of each kind of rule, beside `name`."""
EXAMPLE = (
    '{"never": "x"}, {"call": "x", "at_most": 1}, {"call": "x", "only_after": "y"}, {"call": "x", "implies_later": "y"} '
    'or {"no": "x", "before": "y"}'
)


Pairs = tuple[tuple[Path, Path], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule about calls `first`, and where there are two kinds of calls, `second`."""

    kind: Kind
    first: CallPattern
    second: CallPattern | None = None
    most: int = 0
    same: Pairs = ()
    """Arguments of the first and of the second call that must be equal for the rule to be about the two."""
    name: str = ""
    where: str = ""
    """The place where it is written."""

    def guards(self) -> Iterator[Guard]:
        """The calls without which nothing could break the rule."""
        if self.kind is not Kind.NOT_BEFORE or self.second is None:
            yield Guard(self.where, self.first)
            return
        yield Guard(self.where, self.first, tuple(first for first, _ in self.same))
        yield Guard(self.where, self.second, tuple(second for _, second in self.same))

    def tell(self) -> str:
        """The rule in words."""
        first, second = self.first.tell(), self.second.tell() if self.second else ""
        told = {
            Kind.NEVER: f"never {first}",
            Kind.AT_MOST: f"{first} at most {'once' if self.most == 1 else f'{self.most} times'}",
            Kind.ONLY_AFTER: f"{first} only after {second}",
            Kind.IMPLIES_LATER: f"{first} implies {second} later",
            Kind.NOT_BEFORE: f"no {first} before {second}",
        }[self.kind]
        if self.same:
            told += f" with the same {' and '.join(_told(*pair) for pair in self.same)}"
        return f"{self.name} ({told})" if self.name else told


def _told(first: Path, second: Path) -> str:
    one, other = (".".join(str(step) for step in path) for path in (first, second))
    return one if one == other else f"{one} (there {other})"


def read_rules(given: Any, reader: MatcherReader, where: str) -> list[Rule]:
    """Read a list of rules."""
    if not isinstance(given, list) or not given:
        reader.problem(where, f"expected a list of rules such as {EXAMPLE}, got {show_value(given)}")
        return []
    found = (_read_rule(each, reader, f"{where}[{index}]") for index, each in enumerate(given))
    return [rule for rule in found if rule is not None]


def _read_rule(given: Any, reader: MatcherReader, where: str) -> Rule | None:
    if not isinstance(given, Mapping):
        reader.problem(where, f"expected a rule such as {EXAMPLE}, got {show_value(given)}")
        return None
    kinds = [kind for kind in Kind if kind.value in given]
    if len(kinds) != 1:
        known = {key for keys in FORMS.values() for key in keys} | {"name"}
        slips = [did_you_mean(str(key), known) for key in given if key not in known]
        said = f"has {' and '.join(f'`{kind.value}`' for kind in kinds)}" if kinds else "says nothing"
        hint = f".{''.join(slips)}" if any(slips) else ""
        reader.problem(where, f"the rule {said}; a rule is one of {EXAMPLE}{hint}")
        return None
    kind = kinds[0]
    keys = FORMS[kind] | {"name"}
    for key in given:
        if key not in keys:
            reader.problem(
                where,
                f"`{kind.value}` has no key {key!r}.{did_you_mean(str(key), keys)} Keys: {', '.join(sorted(keys))}",
            )
    if problem := next((key for key in sorted(FORMS[kind] - {"same"}) if key not in given), ""):
        reader.problem(where, f"`{problem}` is missing beside `{kind.value}`")
        return None
    return _built(kind, given, reader, where)


def _built(kind: Kind, given: Mapping[str, Any], reader: MatcherReader, where: str) -> Rule:
    first_key = {Kind.NEVER: "never", Kind.NOT_BEFORE: "no"}.get(kind, "call")
    first = read_call(given[first_key], reader, f"{where}.{first_key}", other_args=True)
    second, most = None, 0
    if kind is Kind.AT_MOST:
        most = _times(given["at_most"], reader, f"{where}.at_most")
    elif kind is not Kind.NEVER:
        second = read_call(given[kind.value], reader, f"{where}.{kind.value}", other_args=True)
    name = given.get("name", "")
    if not isinstance(name, str):
        reader.problem(f"{where}.name", f"expected text, got {show_value(name)}")
    same = _same(given["same"], reader, f"{where}.same", pairs=second is not None) if "same" in given else ()
    for path, pattern in (
        (path, each) for pair in same for path, each in zip(pair, (first, second), strict=True) if each
    ):
        if not pattern.may_have(str(path[0])):
            reader.problem(f"{where}.same", f"{pattern.tell()} can have no argument {str(path[0])!r}")
    if kind is Kind.NOT_BEFORE and second is not None and (why := _unbreakable(first, second, same)):
        reader.problem(where, f"it can never be broken: {why}")
    return Rule(kind, first, second, most, same, str(name), where)


def _unbreakable(first: CallPattern, second: CallPattern, same: Pairs) -> str:
    """Why no call can be one that is too early, as far as that is sure."""
    if all(_is_alike(first, *pair) for pair in same) and second.covers(first, _alike(second, same)):
        return f"{first.tell()} is {second.tell()} itself, so none comes before the first of those"
    for one, other in same:
        here, there = ((each.args or {}).get(str(path[0])) for each, path in ((first, one), (second, other)))
        if len(one) == len(other) == 1 and here is not None and there is not None and _apart(here, there):
            return f"`{one[0]}` is {here.tell()} of the one and {there.tell()} of the other, so they are never the same"
    return ""


def _is_alike(call: CallPattern, one: Path, other: Path) -> bool:
    """Whether a call surely has the same at both places, so that it goes with itself."""
    here, there = ((call.args or {}).get(str(path[0])) for path in (one, other))
    if one == other:
        return True
    plain = len(one) == len(other) == 1 and isinstance(here, Plain) and isinstance(there, Plain)
    return plain and there is not None and here is not None and there.fits(here.source)


def _alike(pattern: CallPattern, same: Pairs) -> set[str]:
    """Arguments of which it need not be asked what they are, since they are the same as those of the other call anyway."""
    names = {str(path[0]) for path, _ in same if len(path) == 1}
    return {
        name for name in names if name in (pattern.args or {}) and not _is_strict((pattern.args or {})[name])
    }


def _is_strict(value: Template) -> bool:
    """Whether it may tell values apart that are the same under `same`: 1 and 1.0."""
    return isinstance(value, Matched) and isinstance(value.matcher, Json) and value.matcher.strict


def _apart(one: Template, other: Template) -> bool:
    return (isinstance(one, Plain) and not other.fits(one.source)) or (
        isinstance(other, Plain) and not one.fits(other.source)
    )


def _times(given: Any, reader: MatcherReader, where: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        reader.problem(where, f"expected a whole number from 0, got {show_value(given)}")
        return 0
    return given


def _same(given: Any, reader: MatcherReader, where: str, *, pairs: bool) -> Pairs:
    """An argument, several, or `{of the first call: of the second}`; each may be a path."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list):
        given = {each: each for each in given} if all(isinstance(each, str) for each in given) else None
    elif not pairs:
        given = None
    if (
        not isinstance(given, Mapping)
        or not given
        or not all(isinstance(each, str) for each in given.values())
    ):
        also = ", or {argument of the first call: argument of the second}" if pairs else ""
        reader.problem(where, f"expected the name of an argument, or a list of them{also}")
        return ()
    found = [(_path(one, reader, where), _path(other, reader, where)) for one, other in given.items()]
    return tuple(found)


def _path(text: str, reader: MatcherReader, where: str) -> Path:
    path = read_path(text, reader, where)
    if -1 in path:
        reader.problem(where, f"{show_value(text)}: `[*]` names no single value to compare")
    return path
