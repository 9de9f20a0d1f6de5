"""Guards: forbidden and limited calls, whose expectation would always be met if their names were misspelled.

The names in them must therefore be known: declared by the agent, expected by the case, or called. A contradiction to the
agent's declarations is an error (before the run, if the agent declares its tools); so is a call that was made and is the
guarded one except for a misspelling. Unknown names give a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from proctor.common.inline_code import code_mark
from proctor.common.json_values import equal_json
from proctor.errors import MetricError, did_you_mean
from proctor.metrics.base import AgentDeclaration, CaseView
from proctor.metrics.criterion_check import misfit
from proctor.metrics.expectations.call_patterns import ANY_TOOL, ActualCall, CallPattern
from proctor.metrics.expectations.misspelled_calls import lookalike_problems, slips_between
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.dates import SameMoment
from proctor.metrics.matchers.kinds import (
    Exact,
    Items,
    Json,
    MatchedValue,
    Number,
    OneOf,
    Pattern,
    Plain,
    Present,
    SameSet,
    Shape,
    Subset,
    Template,
    Text,
)
from proctor.metrics.matchers.paths import Path
from proctor.metrics.reason_text import TYPE_WORDS, and_more, show_call, show_name, show_value
from proctor.metrics.structure.declarations import (
    OF_FRAMEWORKS,
    Declaration,
    Tools,
    declaration_problems,
    is_open,
    read_declarations,
    tools_in,
    tools_of_trial,
)
from proctor.metrics.trajectory.call_matching import Call
from proctor.schema.format.invocation import Invocation

DECLARATIONS: Mapping[str, str] = {
    "declarations": "tools that the agent has and does not declare: names, or declarations as in `tool_schema`"
}
PRESENT = MatchedValue({"$match": "present"}, Present())
DECLARE_OTHERS = "name tools that it has without declaring them under `declarations` in the criterion"


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """One kind of call that must not be made, or not too often."""

    where: str
    """Where it is written."""
    pattern: CallPattern
    same: tuple[Path, ...] = ()
    """Arguments that the call must have for the rule to apply."""

    def required_arguments(self) -> dict[str, Template]:
        """Return the arguments that a call must have to match."""
        args = {name: value for name, value in (self.pattern.args or {}).items() if not value.fits(ABSENT)}
        return {**{str(path[0]): PRESENT for path in self.same}, **args}

    def tool_names(self) -> Iterator[tuple[str, str]]:
        """Yield the names of its tools, each with the place where it is written."""
        return ((self.where, name) for name in self.pattern.tools)

    def tools(self, names: Iterable[str]) -> Iterable[str]:
        """Return the names of its tools; for any tool, all of `names`."""
        return names if ANY_TOOL in self.pattern.tools else self.pattern.tools


def read_declared_tools(metric: str, option: object) -> list[Declaration]:
    """Read the option `declarations`.

    Raises:
        CriterionError: it is not a list of names or declarations.
    """
    if option is None:
        return []
    if not isinstance(option, list):
        raise misfit(metric, [f"declarations: expected a list of tools, got {show_value(option)}"])
    problems = [
        f"declarations[{at}]: {slip}" for at, each in enumerate(option) for slip in declaration_problems(each)
    ]
    problems += [
        f"declarations[{at}]: expected a tool's name, or its declaration, got {show_value(each)}"
        for at, each in enumerate(option)
        if not isinstance(each, Mapping | str) or not each
    ]
    if problems:
        raise misfit(metric, problems)
    return [*read_declarations(option)]


def impossible_guards(
    guards: Iterable[Guard],
    described: AgentDeclaration,
    declarations: Sequence[Declaration],
    expected: Iterable[Invocation],
) -> Iterator[str]:
    """Yield the guards that no call of this agent can match, by its declarations; `expected` are turns of the case."""
    tools = tools_in([described.app_details], declarations)
    if not tools.names:
        return
    known = _arguments_by_tool(call for turn in expected for call in turn.tool_calls)
    for guard in guards:
        unknown = undeclared_tools(guard.pattern, tools, known) if described.is_complete else []
        if unknown:
            yield f"{guard.where}: the agent declares no tool {', '.join(unknown)} ({DECLARE_OTHERS})"
        elif slips := [*lookalike_problems(guard.tool_names(), {*tools.names, *known})]:
            yield from slips
        elif contradiction := _contradiction(guard, tools, known):
            yield f"{guard.where}: {contradiction}"


class Guards:
    """Checks guards against the calls of a trial."""

    def __init__(
        self, case: CaseView, calls: Sequence[ActualCall], declarations: Sequence[Declaration]
    ) -> None:
        """Take the trial and its calls."""
        self._case, self._calls, self._declarations = case, calls, declarations
        self._expected = _arguments_by_tool(call for turn in case.expected or () for call in turn.tool_calls)
        self._made = _arguments_by_tool(calls)

    @cached_property
    def tools(self) -> Tools:
        """The declared tools."""
        return tools_of_trial(self._case, self._declarations)

    def warning(self, guards: Iterable[Guard], also: Iterable[CallPattern] = ()) -> str:
        """Return the names that are probably misspelled; `also` are patterns that are not guards. Usually empty.

        Raises:
            MetricError: a call was made that certainly is the guarded one, or the agent declares otherwise.
        """
        names_elsewhere = {name for pattern in also for name in pattern.tools}
        unknown: dict[str, None] = {}
        warnings: dict[str, None] = {}
        for guard in guards:
            if any(guard.pattern.fits(call) for call in self._calls) and not guard.same:
                continue
            names = self._unknown(guard.pattern, names_elsewhere)
            known = {*self.tools.names, *self._expected, *self._made, *names_elsewhere}
            if slip := next(lookalike_problems(guard.tool_names(), known), ""):
                raise MetricError(slip)
            unknown |= dict.fromkeys(names)
            warnings |= dict.fromkeys(() if names else self._guard_warnings(guard))
        return "; ".join(and_more([*_unknown_warning(unknown), *warnings]))

    def unknown_tools(self, patterns: Iterable[CallPattern]) -> str:
        """Return a warning with the tools that are neither declared, nor expected, nor called; usually empty."""
        names = dict.fromkeys(name for pattern in patterns for name in self._unknown(pattern, ()))
        return "; ".join(_unknown_warning(names))

    def declares(self) -> bool:
        """Return whether the agent declares its tools."""
        return bool(self.tools.names)

    def _guard_warnings(self, guard: Guard) -> Iterator[str]:
        calls = [call for call in self._calls if guard.pattern.names(call)]
        if not calls:
            return
        if contradiction := _contradiction(guard, self.tools, self._expected):
            raise MetricError(f"{guard.where}: {contradiction}")
        known = self._known_arguments(guard)
        yield from self._near_misses(guard, calls, known)
        for name in guard.required_arguments():
            if name not in known:
                hint = did_you_mean(name, known)
                yield (
                    f"{guard.where}: no call of {guard.pattern.tools_text()} had an argument {name!r}, and none is "
                    f"declared or expected{'.' if hint else ''}{hint}"
                )

    def _near_misses(self, guard: Guard, calls: Sequence[ActualCall], known: set[str]) -> Iterator[str]:
        for call in calls:
            slips = slips_between(guard.pattern, call, known)
            if not slips:
                continue
            why = " and ".join(slip.text for slip in slips)
            message = f"{guard.where}: {code_mark(show_call(call))} is not {code_mark(guard.pattern.describe())} only because {why}"
            if all(slip.is_sure for slip in slips):
                raise MetricError(message)
            yield message

    def _unknown(self, pattern: CallPattern, names_elsewhere: Iterable[str]) -> list[str]:
        known = {*self._expected, *self._made, *names_elsewhere}
        return [] if {*pattern.tools} <= {*known, ANY_TOOL} else undeclared_tools(pattern, self.tools, known)

    def _known_arguments(self, guard: Guard) -> set[str]:
        names = declared_arguments(self.tools, guard.tools(self.tools.names))
        for args in (self._expected, self._made):
            names |= {arg for tool in guard.tools(args) for arg in args.get(tool, ())}
        return names


def _unknown_warning(tools: Iterable[str]) -> list[str]:
    if not (names := ", ".join(tools)):
        return []
    return [f"neither declared by the agent, nor expected in the conversation, nor called: {names}"]


def _contradiction(guard: Guard, tools: Tools, expected: Mapping[str, set[str]]) -> str:
    """Return what contradicts a guard in the declarations of its tools; arguments that the case expects are not checked."""
    known = {arg for name in guard.tools(expected) for arg in expected.get(name, ())}
    required = {name: value for name, value in guard.required_arguments().items() if name not in known}
    problem = unmet_arguments(required, tools, guard.tools(tools.names))
    return f"no call can match this: {problem}" if problem else ""


def _arguments_by_tool(calls: Iterable[Call]) -> dict[str, set[str]]:
    arguments: dict[str, set[str]] = {}
    for call in calls:
        arguments.setdefault(call.name or "", set()).update(call.args or {})
    return arguments


# --- Contradictions between a call pattern and the agent's tool declarations ---
# Only certain ones are reported: none for schemas with alternatives or references, or objects with further keys.


_CLASSES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int, float),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list, tuple),
    "null": (type(None),),
}
_UNSURE = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"})
"""Keywords under which a value is not checked."""


def undeclared_tools(pattern: CallPattern, tools: Tools, known: Iterable[str] = ()) -> list[str]:
    """Return the tools of a pattern that are not declared, each with a hint; `known` tools exist as well."""
    existing = {*tools.names, *known}
    return [
        f"{name!r} ({hint})" if (hint := did_you_mean(name, existing).strip()) else repr(name)
        for name in pattern.tools
        if name != ANY_TOOL and name not in existing and name not in OF_FRAMEWORKS
    ]


def declared_arguments(tools: Tools, names: Iterable[str]) -> set[str]:
    """Return the names of all arguments that some tools declare."""
    schemas = (each.schema for name in names for each in tools.of(name, ""))
    properties = (schema.get("properties") for schema in schemas if isinstance(schema, Mapping))
    return {name for each in properties if isinstance(each, Mapping) for name in each}


def unmet_arguments(required: Mapping[str, Template], tools: Tools, names: Iterable[str]) -> str:
    """Return why no call of these tools can have the required arguments; empty if one of the tools can, or it is unknown."""
    problems = [_tool_problem(each, required) for name in names for each in tools.of(name, "")]
    return problems[0] if problems and all(problems) else ""


def _tool_problem(declared: Declaration, args: Mapping[str, Template]) -> str:
    for name, template in args.items():
        if problem := _key_problem(declared.schema, name, template, ()):
            return f"{show_name(declared.name)} {problem}"
    return ""


def _key_problem(schema: object, name: str, template: Template, path: tuple[str, ...]) -> str:
    """Return what is wrong with one key of an object under `schema`."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties", {}), Mapping):
        return ""
    known = schema.get("properties", {})
    if name in known:
        return _value_problem(known[name], template, (*path, name))
    if is_open(schema) or template.fits(ABSENT):
        return ""
    return f"declares no argument {code_mark(_place((*path, name)))}.{did_you_mean(name, known)}"


def _value_problem(schema: object, template: Template, path: tuple[str, ...]) -> str:
    if not isinstance(schema, Mapping) or schema.keys() & _UNSURE:
        return ""
    if isinstance(template, OneOf):
        problems = [_value_problem(schema, each, path) for each in template.options]
        return problems[0] if all(problems) else ""
    if isinstance(template, Shape):
        return _type_problem(schema, ("object",), "an object", path) or _keys_problem(
            schema, template.keys, path
        )
    if isinstance(template, Items):
        return _type_problem(schema, ("array",), "a list", path)
    if isinstance(template, MatchedValue):
        return _matcher_problem(schema, template, path)
    return _plain_problem(schema, template.source, path)


def _matcher_problem(schema: Mapping[str, object], template: MatchedValue, path: tuple[str, ...]) -> str:
    matcher = template.matcher
    if isinstance(matcher, Exact | Subset) or (isinstance(matcher, Json) and not matcher.parse):
        return _plain_problem(schema, template.value, path)
    types: tuple[str, ...] = ()
    if isinstance(matcher, Pattern | Text | SameMoment):
        types = ("string",)
    elif isinstance(matcher, Number):
        types = ("integer", "number", *(["string"] if matcher.read_text else []))
    elif isinstance(matcher, SameSet):
        types = ("array",)
    return _type_problem(schema, types, template.describe(), path) if types else ""


def _plain_problem(schema: Mapping[str, object], value: object, path: tuple[str, ...]) -> str:
    types = [name for name in _CLASSES if _is(value, name)]
    if problem := _type_problem(schema, types, show_value(value), path) or _enum_problem(schema, value, path):
        return problem
    if isinstance(value, Mapping):
        return _keys_problem(schema, {name: Plain(each) for name, each in value.items()}, path)
    if isinstance(value, list | tuple) and "items" in schema:
        return next(filter(None, (_value_problem(schema["items"], Plain(each), path) for each in value)), "")
    return ""


def _enum_problem(schema: Mapping[str, object], value: object, path: tuple[str, ...]) -> str:
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if not isinstance(allowed, list) or any(equal_json(each, value) for each in allowed):
        return ""
    words = [each for each in allowed if isinstance(each, str)]
    hint = did_you_mean(value, words) if isinstance(value, str) else ""
    choices = ", ".join(and_more([show_value(each) for each in allowed], 6))
    return f"declares {code_mark(_place(path))} as one of {choices}, not {show_value(value)}.{hint}"


def _keys_problem(schema: Mapping[str, object], keys: Mapping[str, Template], path: tuple[str, ...]) -> str:
    problems = (_key_problem(schema, name, template, path) for name, template in keys.items())
    return next(filter(None, problems), "")


def _type_problem(
    schema: Mapping[str, object], types: Iterable[str], expected: str, path: tuple[str, ...]
) -> str:
    """Return a problem if only values of these types fit, and none of the types is declared."""
    declared = schema.get("type")
    allowed = [declared] if isinstance(declared, str) else declared
    if not isinstance(allowed, list) or not {*allowed} <= _CLASSES.keys() or {*types} & {*allowed}:
        return ""
    words = " or ".join(TYPE_WORDS[each] for each in allowed)
    return f"declares {code_mark(_place(path))} as {words}, not {expected}"


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _CLASSES[name])


def _place(path: Iterable[str]) -> str:
    return ".".join(map(show_name, path))
