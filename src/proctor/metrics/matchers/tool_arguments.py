"""The criterion option `arguments`: how the arguments of each tool are compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.common.inline_code import code_mark
from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView, Survey
from proctor.metrics.criterion_check import misfit
from proctor.metrics.matchers.base import ABSENT, fits_value
from proctor.metrics.matchers.kinds import Exact, MatchedValue, Pattern, Present, Template
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.matchers.paths import EVERY, Path, read_path, show_path, values_at
from proctor.metrics.reason_text import and_more, show_name, show_value
from proctor.metrics.structure.declarations import tools_of_trial
from proctor.metrics.trajectory.call_matching import ArgumentDifference, ByValue, Call, Matching
from proctor.schema.format.case import EvalCase

ANY_TOOL = "*"
Rules = Mapping[Path, Template]
Equal = Callable[[object, object], bool]


def by_matchers(metric: str, option: object, values: ByValue, *, ignore_args: bool) -> ByMatchers:
    """Return the comparison of calls that the option `arguments` of a metric's criterion describes.

    Raises:
        CriterionError: the option cannot be read.
    """
    reader = MatcherReader()
    matching = ByMatchers(read_arguments(option, reader), values)
    if ignore_args:
        reader.problem("arguments", "with `ignore_args` no argument is compared; use only one of the two")
    if reader.problems:
        raise misfit(metric, reader.problems)
    return matching


def read_arguments(
    data: object, reader: MatcherReader, where: str = "arguments"
) -> dict[str, dict[Path, Template]]:
    """Read `{tool: {argument: matcher}}`; `*` is every tool, and an argument may be a path (`guest.name`, `items[*].id`)."""
    if not isinstance(data, Mapping) or not data:
        reader.problem(where, f"expected {{tool: {{argument: matcher}}}}, got {show_value(data)}")
        return {}
    tools = {tool: read_matchers(arguments, reader, f"{where}.{tool}") for tool, arguments in data.items()}
    for tool, rules in tools.items():
        for path, outer in covered_paths(rules):
            reader.problem(f"{where}.{tool}", unused_matcher(path, outer))
    return tools


def read_matchers(data: object, reader: MatcherReader, where: str) -> dict[Path, Template]:
    """Read `{name or path: matcher}`."""
    if not isinstance(data, Mapping) or not data:
        reader.problem(where, f"expected {{name: matcher}}, got {show_value(data)}")
        return {}
    return {
        read_path(name, reader, where): reader.matcher(spec, f"{where}.{name}") for name, spec in data.items()
    }


def covered_paths(rules: Rules) -> Iterator[tuple[Path, Path]]:
    """Yield each path inside a value that has a matcher for the whole of it, with the path of that value."""
    for path in rules:
        outer = next((path[:length] for length in range(1, len(path)) if path[:length] in rules), None)
        if outer is not None:
            yield path, outer


def unused_matcher(path: Path, outer: Path) -> str:
    """Return the problem that the matcher of `outer` compares the value at `path`, too."""
    inner, whole = show_path(path), show_path(outer)
    return (
        f"the matcher of `{inner}` would not be used, because `{whole}` has a matcher, which compares the whole value; "
        f"remove `{whole}` (what has no matcher is compared by value) or `{inner}`"
    )


@dataclass(frozen=True, slots=True)
class ByMatchers(Matching):
    """Calls of one tool are the same if each argument fits: by its matcher, or else by value.

    A matcher compares whenever one side has the argument. The value at a path is compared by its matcher, all other
    values by value. The rules of a tool take precedence over those of `*`.
    """

    tools: Mapping[str, Rules]
    values: ByValue
    is_equivalence: bool = False

    def differences(self, expected: Call, actual: Call) -> list[ArgumentDifference]:
        """Return each argument that does not fit, in the order of the expected ones, then of the others."""
        rules = self._rules_of(actual.name)
        if not rules:
            return self.values.differences(expected, actual)
        expected_args, actual_args = expected.args or {}, actual.args or {}
        equal = self.values.equal
        return [
            _difference(name, expected_args.get(name, ABSENT), actual_args.get(name, ABSENT), rules)
            for name in {**expected_args, **actual_args}
            if not fits((name,), expected_args.get(name, ABSENT), actual_args.get(name, ABSENT), rules, equal)
        ]

    def unreadable(self, case: EvalCase) -> Iterator[str]:
        """Yield the expected values of a case that their matcher cannot compare, with the turn and the call."""
        for number, turn in enumerate(case.conversation or (), 1):
            for call in turn.tool_calls:
                for path, value, why in unreadable_values(self._rules_of(call.name), call.args or {}):
                    yield (
                        f"turn {number}: {code_mark(show_name(call.name))} is expected with `{path}` {show_value(value)}, which is {why}: "
                        "the matcher of `arguments` cannot compare it"
                    )

    def _rules_of(self, tool: str | None) -> Rules:
        return {**self.tools.get(ANY_TOOL, {}), **self.tools.get(tool or "", {})}

    def survey(self) -> Survey:
        """Return the survey for the tools and arguments of the rules."""
        return ArgumentSurvey(self.tools)

    def warning(self, case: CaseView) -> str:
        """Return which tools of the rules the agent does not declare, if it declares any; usually empty."""
        declared = tools_of_trial(case).names
        if not declared:
            return ""
        turns = [*(case.expected or ()), *case.turns]
        known = {*declared, *(call.name or "" for turn in turns for call in turn.tool_calls)}
        unknown = [
            f"{tool!r}{did_you_mean(tool, known)}" for tool in self.tools if tool not in {ANY_TOOL, *known}
        ]
        names = ", ".join(unknown)
        return f"`arguments` names tools that the agent does not declare: {names}" if names else ""


def fits(path: Path, expected: object, actual: object, rules: Rules, equal: Equal) -> bool:
    """Return whether the value at `path` fits: by the rule for it, by those for values inside, or else by value."""
    if (rule := rules.get(path)) is not None:
        return _apply(rule, expected, actual)
    if not _has_rule_below(path, rules):
        return equal(expected, actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return all(
            fits((*path, key), expected.get(key, ABSENT), actual.get(key, ABSENT), rules, equal)
            for key in {**expected, **actual}
        )
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(
            fits(_item_path(path, index, rules), *pair, rules, equal)
            for index, pair in enumerate(zip(expected, actual, strict=True))
        )
    return equal(expected, actual)


def _has_rule_below(path: Path, rules: Rules) -> bool:
    return any(len(each) > len(path) and each[: len(path)] == path for each in rules)


def _item_path(path: Path, index: int, rules: Rules) -> Path:
    """Return the path of a list's item: its own if a rule names it, else that of every item."""
    own = (*path, index)
    return own if own in rules or _has_rule_below(own, rules) else (*path, EVERY)


def _apply(rule: Template, expected: object, actual: object) -> bool:
    """Compare by a matcher: with its own value, or else with the expected one."""
    if isinstance(rule, MatchedValue) and rule.value is ABSENT:
        return fits_value(rule.matcher, expected, actual)
    return rule.fits(actual)


def unreadable_values(rules: Rules, values: object) -> Iterator[tuple[str, object, str]]:
    """Yield the expected values that their matcher cannot compare: path, value, and the reason."""
    for path, rule in rules.items():
        if not isinstance(rule, MatchedValue) or rule.value is not ABSENT:
            continue
        for value in values_at(values, path):
            if value is not None and value is not ABSENT and (why := rule.matcher.unreadable(value)):
                yield show_path(path), value, why


def describe_rule(rule: Template, expected: object) -> str:
    """Return what a rule expects, in words."""
    return (
        rule.matcher.describe(expected)
        if isinstance(rule, MatchedValue) and rule.value is ABSENT
        else rule.describe()
    )


def _difference(name: str, expected: object, actual: object, rules: Rules) -> ArgumentDifference:
    text = _expectation_text(name, expected, actual, rules)
    if actual is ABSENT:
        return ArgumentDifference(name, "missing", None if expected is ABSENT else expected, rule=text)
    if expected is ABSENT:
        return ArgumentDifference(name, "extra", actual=actual, rule=text)
    return ArgumentDifference(name, "differs", expected, actual, text)


def _expectation_text(name: str, expected: object, actual: object, rules: Rules) -> str:
    """Return what the violated matchers of an argument expect; empty if that is the case's value."""
    expected_args, actual_args = {name: expected}, {name: actual}
    violated = {
        path: next(values_at(expected_args, path))
        for path, rule in rules.items()
        if path[0] == name and not _fits_everywhere(rule, expected_args, actual_args, path)
    }
    texts = {
        path: describe_rule(rules[path], value)
        for path, value in violated.items()
        if _is_informative(rules[path], value)
    }
    if (name,) in violated:
        return texts.get((name,), "")
    inside = and_more([f"{code_mark(show_path(path))} being {text}" for path, text in texts.items()])
    return f"{show_value(expected)} with {', '.join(inside)}" if inside else ""


def _fits_everywhere(rule: Template, expected: object, actual: object, path: Path) -> bool:
    return all(
        _apply(rule, *pair) for pair in zip(values_at(expected, path), values_at(actual, path), strict=False)
    )


def _is_informative(rule: Template, expected: object) -> bool:
    """Return whether the rule's text adds something to the case's value, or to its absence."""
    if not isinstance(rule, MatchedValue) or rule.value is not ABSENT:
        return True
    needs_none = isinstance(rule.matcher, Pattern | Present)
    return needs_none or (expected is not ABSENT and not isinstance(rule.matcher, Exact))


# --- Surveys of the tools and arguments in `arguments` and `tool_args`: does any case expect such calls? ---


class ComparedSurvey:
    """Finds tools and paths of `tool_args` that no expected call has.

    An absent value counts as null, so a misspelled path compares null with null and never differs.
    """

    def __init__(self, tools: Mapping[str, str | Sequence[str]]) -> None:
        self._tools = tools
        self._expected: dict[str, set[str]] = {}

    def add_case(self, case: EvalCase) -> None:
        """Record the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._expected.setdefault(call.name or "", set()).update(paths_in(call.args or {}))

    def problems(self) -> Iterator[str]:
        """Yield tools for which nothing is compared."""
        for tool, paths, unknown in self._unknown():
            if len(unknown) == len(paths):
                yield f"tool_args.{tool}: {self._message(tool, unknown)}, so nothing of its calls is compared"

    def warnings(self) -> Iterator[str]:
        """Yield tools that no case expects, and single paths that no expected call has."""
        for tool in self._tools:
            if tool not in self._expected:
                yield f"tool_args.{tool}: no case expects a call of {tool!r}.{did_you_mean(tool, self._expected)}"
        for tool, paths, unknown in self._unknown():
            if unknown and len(unknown) < len(paths):
                yield f"tool_args.{tool}: {self._message(tool, unknown)}; only null is compared with null there"

    def _unknown(self) -> Iterator[tuple[str, Sequence[str], list[str]]]:
        for tool, paths in self._tools.items():
            if not isinstance(paths, str) and tool in self._expected:
                yield tool, paths, [path for path in paths if path not in self._expected[tool]]

    def _message(self, tool: str, unknown: Sequence[str]) -> str:
        paths = (
            f"{path!r} ({hint.strip()})" if (hint := did_you_mean(path, self._expected[tool])) else repr(path)
            for path in unknown
        )
        return f"no expected call has {' or '.join(paths)}"


def paths_in(args: Mapping[str, object], before: str = "") -> Iterator[str]:
    """Yield every path to a value in an object: `guest`, `guest.name`."""
    for name, value in args.items():
        yield f"{before}{name}"
        if isinstance(value, Mapping):
            yield from paths_in(value, f"{before}{name}.")


class ArgumentSurvey(Survey):
    """Finds matchers for tools that no case expects to be called, and for arguments that are probably misspelled.

    An argument that no expected call has may still be intended: to be ignored if the agent adds it. None of these names is a
    problem: a call that no case expects may still be made.
    """

    def __init__(self, tools: Mapping[str, Collection[Path]]) -> None:
        self._tools = tools
        self._arguments: dict[str, set[str]] = {}

    def add_case(self, case: EvalCase) -> None:
        """Record the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._arguments.setdefault(call.name or "", set()).update(call.args or {})

    def warnings(self) -> Iterator[str]:
        """Yield the names that are probably misspelled."""
        for tool, paths in self._tools.items():
            if tool not in self._arguments and tool != ANY_TOOL:
                yield f"arguments.{tool}: no case expects a call of {tool!r}.{did_you_mean(tool, self._arguments)}"
                continue
            known = set().union(*self._arguments.values()) if tool == ANY_TOOL else self._arguments[tool]
            for path in paths:
                if path[0] not in known and (hint := did_you_mean(str(path[0]), known)):
                    where = show_path(path)
                    yield f"arguments.{tool}.{where}: no expected call has the argument {str(path[0])!r}.{hint}"
