"""The criterion option `arguments`: which arguments of which tool are compared how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.matchers.base import ABSENT, ask
from proctor.metrics.matchers.kinds import Exact, Pattern, Present
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.matchers.paths import EVERY, Path, read_path, show_path, values_at
from proctor.metrics.matchers.templates import Matched, Template
from proctor.metrics.reason_text import and_more, show_name, show_value
from proctor.metrics.trajectory.call_equality import ArgumentDifference, ByValue
from proctor.metrics.trajectory.match_rules import Call
from proctor.schema.format.case import EvalCase

__all__ = [
    "ANY_TOOL",
    "ByMatchers",
    "Rules",
    "fits",
    "read_arguments",
    "read_matchers",
    "unreadable_values",
]

ANY_TOOL = "*"
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
        raise misfit(metric, reader.problems)
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
        rules = self._rules_of(made.name)
        if not rules:
            return self.values.differences(wanted, made)
        expected, actual = wanted.args or {}, made.args or {}
        equal = self.values.equal
        found = (
            _difference(name, expected.get(name, ABSENT), actual.get(name, ABSENT), rules)
            for name in {**expected, **actual}
            if not fits((name,), expected.get(name, ABSENT), actual.get(name, ABSENT), rules, equal)
        )
        return [*found]

    def unreadable(self, case: EvalCase) -> Iterator[str]:
        """What the case expects that its matcher cannot compare, with the turn and the call."""
        for number, turn in enumerate(case.conversation or (), 1):
            for call in turn.tool_calls:
                for path, value, why in unreadable_values(self._rules_of(call.name), call.args or {}):
                    yield (
                        f"turn {number}: `{show_name(call.name)}` is expected with `{path}` {show_value(value)}, which is {why}: "
                        "the matcher of `arguments` cannot compare it"
                    )

    def _rules_of(self, tool: str | None) -> Rules:
        return {**self.tools.get(ANY_TOOL, {}), **self.tools.get(tool or "", {})}

    def survey(self) -> Survey:
        """Look through cases for the tools and arguments that the rules name."""
        from proctor.metrics.matchers.argument_survey import ArgumentSurvey

        return ArgumentSurvey(self.tools)

    def doubt(self, case: CaseView) -> str:
        """Say which tools of the rules the agent does not have, where it declares those that it has; usually empty."""
        from proctor.metrics.structure.declarations import tools_of_trial

        declared = tools_of_trial(case).names
        if not declared:
            return ""
        turns = [*(case.expected or ()), *case.turns]
        known = {*declared, *(call.name or "" for turn in turns for call in turn.tool_calls)}
        unknown = [
            f"{tool!r}{did_you_mean(tool, known)}" for tool in self.tools if tool not in {ANY_TOOL, *known}
        ]
        said = ", ".join(unknown)
        return f"`arguments` names tools that the agent does not declare: {said}" if said else ""


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
        return ask(rule.matcher, expected, actual)
    return rule.fits(actual)


def unreadable_values(rules: Rules, values: Any) -> Iterator[tuple[str, Any, str]]:
    """Of expected values those that their matcher cannot compare: path, value, and what it is not."""
    for path, rule in rules.items():
        if not isinstance(rule, Matched) or rule.value is not ABSENT:
            continue
        for value in values_at(values, path):
            if value is not None and value is not ABSENT and (why := rule.matcher.unreadable(value)):
                yield show_path(path), value, why


def tell(rule: Template, expected: Any) -> str:
    """What a rule expects, in words."""
    return rule.matcher.tell(expected) if isinstance(rule, Matched) and rule.value is ABSENT else rule.tell()


def _difference(name: str, expected: Any, actual: Any, rules: Rules) -> ArgumentDifference:
    told = _told(name, expected, actual, rules)
    if actual is ABSENT:
        return ArgumentDifference(name, "missing", None if expected is ABSENT else expected, told=told)
    if expected is ABSENT:
        return ArgumentDifference(name, "extra", actual=actual, told=told)
    return ArgumentDifference(name, "differs", expected, actual, told)


def _told(name: str, expected: Any, actual: Any, rules: Rules) -> str:
    """What the matchers of an argument that do not fit expect, in words; empty where that is the case's value."""
    wanted, came = {name: expected}, {name: actual}
    broken = {
        path: next(values_at(wanted, path))
        for path, rule in rules.items()
        if path[0] == name and not _fits_everywhere(rule, wanted, came, path)
    }
    told = {path: tell(rules[path], value) for path, value in broken.items() if _tells(rules[path], value)}
    if (name,) in broken:
        return told.get((name,), "")
    inside = and_more([f"`{show_path(path)}` being {each}" for path, each in told.items()])
    return f"{show_value(expected)} with {', '.join(inside)}" if inside else ""


def _fits_everywhere(rule: Template, wanted: Any, came: Any, path: Path) -> bool:
    return all(
        _ask(rule, *pair) for pair in zip(values_at(wanted, path), values_at(came, path), strict=False)
    )


def _tells(rule: Template, expected: Any) -> bool:
    """Whether a rule has more to tell than the case's value, or than that the case has none."""
    if not isinstance(rule, Matched) or rule.value is not ABSENT:
        return True
    needs_none = isinstance(rule.matcher, Pattern | Present)
    return needs_none or (expected is not ABSENT and not isinstance(rule.matcher, Exact))
