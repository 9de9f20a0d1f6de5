"""The criterion option `arguments`: which arguments of which tool are compared how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import CriterionError, did_you_mean
from proctor.metrics.base import CaseView
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.reading import MatcherReader
from proctor.metrics.matchers.templates import Matched, Template
from proctor.metrics.matching import ArgumentDifference, ByValue
from proctor.metrics.trajectory import Call
from proctor.metrics.wording import show_value

__all__ = [
    "ANY_TOOL",
    "EVERY",
    "ByMatchers",
    "Path",
    "Rules",
    "fits",
    "read_arguments",
    "read_matchers",
    "read_path",
]

ANY_TOOL = "*"
ANY_ITEM = "*"
EVERY = -1
"""The place of every item of a list, in a path."""
Path = tuple[str | int, ...]
Rules = Mapping[Path, Template]
Equal = Callable[[Any, Any], bool]


def by_matchers(metric: str, given: Any, values: ByValue, *, ignore_args: bool) -> ByMatchers:
    """The notion of "the same call" that the option `arguments` of a metric's criterion says.

    Raises:
        CriterionError: what it says cannot be read.
    """
    reader = MatcherReader()
    made = ByMatchers(read_arguments(given, reader), values)
    if ignore_args:
        reader.problem("arguments", "with `ignore_args` no argument is compared; leave one of the two out")
    if reader.problems:
        raise CriterionError(f"The criterion of {metric!r} does not fit: {'; '.join(reader.problems)}.")
    return made


def read_arguments(
    given: Any, reader: MatcherReader, where: str = "arguments"
) -> dict[str, dict[Path, Template]]:
    """Read `{tool: {argument: matcher}}`; `*` is every tool, and an argument may be a path (`guest.name`, `items[*].id`)."""
    found: dict[str, dict[Path, Template]] = {}
    if not isinstance(given, Mapping) or not given:
        reader.problem(where, f"expected {{tool: {{argument: matcher}}}}, got {show_value(given)}")
        return found
    for tool, arguments in given.items():
        found[tool] = read_matchers(arguments, reader, f"{where}.{tool}")
    return found


def read_matchers(given: Any, reader: MatcherReader, where: str) -> dict[Path, Template]:
    """Read `{name or path: matcher}`."""
    if not isinstance(given, Mapping) or not given:
        reader.problem(where, f"expected {{name: matcher}}, got {show_value(given)}")
        return {}
    return {
        read_path(name, reader, where): reader.matcher(spec, f"{where}.{name}")
        for name, spec in given.items()
    }


def read_path(text: str, reader: MatcherReader, where: str) -> Path:
    """`guest.name` as its keys, `items[0]` and `items[*]` as places in a list."""
    path: list[str | int] = []
    for piece in text.split("."):
        name, *places = piece.split("[")
        path += [name] if name or not places else []
        for place in places:
            index = place.removesuffix("]")
            if not place.endswith("]") or not (index == ANY_ITEM or index.isdecimal()):
                reader.problem(
                    where, f"{show_value(text)} is no path (as in `guest.name`, `items[0].id`, `items[*].id`)"
                )
                return (text,)
            path.append(EVERY if index == ANY_ITEM else int(index))
    if not all(step != "" for step in path):
        reader.problem(
            where, f"{show_value(text)} is no path (as in `guest.name`, `items[0].id`, `items[*].id`)"
        )
    return tuple(path)


@dataclass(frozen=True, slots=True)
class ByMatchers:
    """Calls of one tool are the same when each argument fits: by its matcher, or else by value.

    A matcher is asked wherever one side has the argument. What stands under a path is compared by its matcher, all that
    stands beside it by value. The rules of a tool go before those of `*`.
    """

    tools: Mapping[str, Rules]
    values: ByValue
    is_equivalence: bool = False

    def same(self, wanted: Call, made: Call) -> bool:
        """Compare names, then arguments."""
        return wanted.name == made.name and not self.differences(wanted, made)

    def differences(self, wanted: Call, made: Call) -> list[ArgumentDifference]:
        """Each argument that does not fit, in the order of the expected ones, then of the others."""
        rules = {**self.tools.get(ANY_TOOL, {}), **self.tools.get(made.name or "", {})}
        if not rules:
            return self.values.differences(wanted, made)
        expected, actual = wanted.args or {}, made.args or {}
        equal = self.values.equal
        found = (
            _difference(name, expected.get(name, ABSENT), actual.get(name, ABSENT))
            for name in {**expected, **actual}
            if not fits((name,), expected.get(name, ABSENT), actual.get(name, ABSENT), rules, equal)
        )
        return [*found]

    def doubt(self, case: CaseView) -> str:
        """Say which tools of the rules the agent does not have, where it declares those that it has; usually empty."""
        from proctor.metrics.expectations.made import declared_tools, known_tools

        if not declared_tools(case):
            return ""
        known = known_tools(case)
        unknown = [
            f"{tool!r}{did_you_mean(tool, known)}" for tool in self.tools if tool not in {ANY_TOOL, *known}
        ]
        return (
            f"`arguments` names tools that the agent does not declare: {', '.join(unknown)}"
            if unknown
            else ""
        )


def fits(path: Path, expected: Any, actual: Any, rules: Rules, equal: Equal) -> bool:
    """Whether what stands at `path` fits: by the rule for it, by those for what is inside, or else by value."""
    if (rule := rules.get(path)) is not None:
        return _ask(rule, expected, actual)
    if not any(len(each) > len(path) and each[: len(path)] == path for each in rules):
        return equal(expected, actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(
            fits((*path, key), expected.get(key, ABSENT), actual.get(key, ABSENT), rules, equal)
            for key in {**expected, **actual}
        )
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(
            fits(_of_item(path, index, rules), *pair, rules, equal)
            for index, pair in enumerate(zip(expected, actual, strict=True))
        )
    return equal(expected, actual)


def _of_item(path: Path, index: int, rules: Rules) -> Path:
    """The path of a list's item: its own where a rule names it, else that of every item."""
    own = (*path, index)
    return own if any(each[: len(own)] == own for each in rules) else (*path, EVERY)


def _ask(rule: Template, expected: Any, actual: Any) -> bool:
    """A matcher with a value of its own goes by that; one without by the expected one."""
    if isinstance(rule, Matched) and rule.value is ABSENT:
        return rule.matcher.fits(expected, actual)
    return rule.fits(actual)


def tell(rule: Template, expected: Any) -> str:
    """What a rule expects, in words."""
    return rule.matcher.tell(expected) if isinstance(rule, Matched) and rule.value is ABSENT else rule.tell()


def _difference(name: str, expected: Any, actual: Any) -> ArgumentDifference:
    if actual is ABSENT:
        return ArgumentDifference(name, "missing", expected=None if expected is ABSENT else expected)
    if expected is ABSENT:
        return ArgumentDifference(name, "extra", actual=actual)
    return ArgumentDifference(name, "differs", expected, actual)
