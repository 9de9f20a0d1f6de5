"""Guards: forbidden and limited calls, whose expectation would always be met if their names were misspelled.

The names in them must therefore be known: declared by the agent, expected by the case, or called. A contradiction to the
agent's declarations is an error (before the run, if the agent declares its tools); so is a call that was made and is the
guarded one except for a misspelling. Unknown names give a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.errors import MetricError, did_you_mean
from proctor.metrics.base import CaseView, Described
from proctor.metrics.criterion_check import misfit
from proctor.metrics.expectations.actual_calls import Made
from proctor.metrics.expectations.call_patterns import ANY_TOOL, CallPattern
from proctor.metrics.expectations.declared_tools import declared_arguments, undeclared_tools, unmet_arguments
from proctor.metrics.expectations.lookalikes import lookalike_problems
from proctor.metrics.expectations.misspelled_calls import slips_between
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import Present
from proctor.metrics.matchers.paths import Path
from proctor.metrics.matchers.templates import Matched, Template
from proctor.metrics.reason_text import and_more, show_call, show_value
from proctor.metrics.structure.declarations import (
    Declaration,
    Tools,
    misspelled,
    read_declarations,
    tools_in,
    tools_of_trial,
)
from proctor.metrics.trajectory.match_rules import Call

__all__ = ["DECLARATIONS", "Guard", "Guards", "impossible_guards", "read_declared_tools"]

DECLARATIONS: Mapping[str, str] = {
    "declarations": "tools that the agent has and does not declare: names, or declarations as in `tool_schema`"
}
PRESENT = Matched({"$match": "present"}, Present())
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
    items = option if isinstance(option, list) else [option]
    problems = [f"declarations[{at}]: {slip}" for at, each in enumerate(items) for slip in misspelled(each)]
    problems += [
        f"declarations[{at}]: expected a tool's name, or its declaration, got {show_value(each)}"
        for at, each in enumerate(items)
        if not isinstance(each, Mapping | str) or not each
    ]
    if problems or not isinstance(option, list):
        raise misfit(
            metric, problems or [f"declarations: expected a list of tools, got {show_value(option)}"]
        )
    return [*read_declarations(items)]


def impossible_guards(
    guards: Iterable[Guard],
    described: Described,
    *,
    declarations: Sequence[Declaration],
    expected: Iterable[Call],
) -> Iterator[str]:
    """Yield the guards that no call of this agent can match, by its declarations; `expected` are calls of the case."""
    tools = tools_in([described.app_details], declarations)
    if not tools.names:
        return
    known = _arguments_by_tool(expected)
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

    def __init__(self, case: CaseView, calls: Sequence[Made], declarations: Sequence[Declaration]) -> None:
        """Take the trial and its calls."""
        self._case, self._calls, self._declarations = case, calls, declarations
        self._expected = _arguments_by_tool(call for turn in case.expected or () for call in turn.tool_calls)
        self._made = _arguments_by_tool(calls)
        self._tools: Tools | None = None

    @property
    def tools(self) -> Tools:
        """The declared tools, read when they are first needed."""
        if self._tools is None:
            self._tools = tools_of_trial(self._case, self._declarations)
        return self._tools

    def doubts(self, guards: Iterable[Guard], also: Iterable[CallPattern] = ()) -> str:
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
            if slip := next(lookalike_problems(guard.tool_names(), self._all_known(names_elsewhere)), ""):
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
                    f"{guard.where}: no call of {guard.pattern.tell_tools()} had an argument {name!r}, and none is "
                    f"declared or expected{'.' if hint else ''}{hint}"
                )

    def _near_misses(self, guard: Guard, calls: Sequence[Made], known: set[str]) -> Iterator[str]:
        for call in calls:
            slips = slips_between(guard.pattern, call, known)
            if not slips:
                continue
            why = " and ".join(slip.text for slip in slips)
            message = f"{guard.where}: `{show_call(call)}` is not `{guard.pattern.tell()}` only because {why}"
            if all(slip.is_sure for slip in slips):
                raise MetricError(message)
            yield message

    def _unknown(self, pattern: CallPattern, names_elsewhere: Iterable[str]) -> list[str]:
        known = {*self._expected, *self._made, *names_elsewhere}
        return [] if {*pattern.tools} <= {*known, ANY_TOOL} else undeclared_tools(pattern, self.tools, known)

    def _all_known(self, names_elsewhere: Iterable[str]) -> set[str]:
        return {*self.tools.names, *self._expected, *self._made, *names_elsewhere}

    def _known_arguments(self, guard: Guard) -> set[str]:
        names = declared_arguments(self.tools, guard.tools(self.tools.names))
        for args in (self._expected, self._made):
            names |= {arg for tool in guard.tools(args) for arg in args.get(tool, ())}
        return names


def _unknown_warning(tools: Iterable[str]) -> list[str]:
    names = ", ".join(tools)
    return (
        [f"neither declared by the agent, nor expected in the conversation, nor called: {names}"]
        if names
        else []
    )


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
