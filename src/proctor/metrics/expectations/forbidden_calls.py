"""Calls that must not come, or not too often: where their names are misspelled none ever comes, and all seems well.

So the names in them must be known: declared by the agent, expected by the case, or of a call that was made. What the agent's
declarations contradict is refused (before the run, where the agent says what tools it has); a call that was made and is
the one that was meant but for a slip is an error; what nothing knows is warned about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

__all__ = ["DECLARATIONS", "Guard", "Guards", "read_given", "refused"]

DECLARATIONS: Mapping[str, str] = {
    "declarations": "tools that the agent has and does not declare: names, or declarations as in `tool_schema`"
}
PRESENT = Matched({"$match": "present"}, Present())
WAY_OUT = "tools that it has without declaring them are named by `declarations` in the criterion"


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """One kind of call that something is only right without."""

    where: str
    """The place where it is written."""
    pattern: CallPattern
    same: tuple[Path, ...] = ()
    """Arguments that it must have for the rule to be about it."""

    def asked(self) -> dict[str, Template]:
        """What a call must have among its arguments."""
        args = {name: value for name, value in (self.pattern.args or {}).items() if not value.fits(ABSENT)}
        return {**{str(path[0]): PRESENT for path in self.same}, **args}

    def named(self) -> Iterator[tuple[str, str]]:
        """The names of its tools, each with the place where it is written."""
        return ((self.where, name) for name in self.pattern.tools)

    def tools(self, there: Iterable[str]) -> Iterable[str]:
        """The names of the tools that it is about, of those that are `there`."""
        return there if ANY_TOOL in self.pattern.tools else self.pattern.tools


def read_given(metric: str, given: Any) -> list[Declaration]:
    """Read the option `declarations`.

    Raises:
        CriterionError: it cannot be read.
    """
    if given is None:
        return []
    listed = given if isinstance(given, list) else [given]
    slips = [f"declarations[{at}]: {slip}" for at, each in enumerate(listed) for slip in misspelled(each)]
    unread = [at for at, each in enumerate(listed) if not isinstance(each, Mapping | str) or not each]
    slips += [
        f"declarations[{at}]: expected a tool's name, or its declaration, got {show_value(listed[at])}"
        for at in unread
    ]
    if slips or not isinstance(given, list):
        raise misfit(metric, slips or [f"declarations: expected a list of tools, got {show_value(given)}"])
    return [*read_declarations(listed)]


def refused(
    guards: Iterable[Guard],
    described: Described,
    *,
    given: Sequence[Declaration],
    expected: Iterable[Call],
) -> Iterator[str]:
    """What no call of this agent can ever be, by its own account; `expected` are calls of the case."""
    tools = tools_in([described.app_details], given)
    if not tools.names:
        return
    known = _arguments_by_tool(expected)
    for guard in guards:
        unknown = undeclared_tools(guard.pattern, tools, known) if described.is_complete else []
        if unknown:
            yield f"{guard.where}: the agent declares no tool {', '.join(unknown)} ({WAY_OUT})"
        elif slips := [*lookalike_problems(guard.named(), {*tools.names, *known})]:
            yield from slips
        elif said := _contradiction(guard, tools, known):
            yield f"{guard.where}: {said}"


class Guards:
    """What there is to say about guards after a trial."""

    def __init__(self, case: CaseView, calls: Sequence[Made], given: Sequence[Declaration]) -> None:
        """Take the trial and its calls."""
        self._case, self._calls, self._given = case, calls, given
        self._expected = _arguments_by_tool(call for turn in case.expected or () for call in turn.tool_calls)
        self._made = _arguments_by_tool(calls)
        self._tools: Tools | None = None

    @property
    def tools(self) -> Tools:
        """What is declared; read once, where somebody asks."""
        if self._tools is None:
            self._tools = tools_of_trial(self._case, self._given)
        return self._tools

    def doubts(self, guards: Iterable[Guard], also: Iterable[CallPattern] = ()) -> str:
        """What is probably a slip; `also` are calls that are named beside the guards. Usually empty.

        Raises:
            MetricError: a call was made that is surely the one that was meant, or the agent declares otherwise.
        """
        named = {name for pattern in also for name in pattern.tools}
        unknown: dict[str, None] = {}
        found: dict[str, None] = {}
        for guard in guards:
            if any(guard.pattern.fits(call) for call in self._calls) and not guard.same:
                continue
            names = self._unknown(guard.pattern, named)
            if slip := next(lookalike_problems(guard.named(), self._all_known(named)), ""):
                raise MetricError(slip)
            unknown |= dict.fromkeys(names)
            found |= dict.fromkeys(() if names else self._of(guard))
        return "; ".join(and_more([*_nobody_knows(unknown), *found]))

    def unknown_tools(self, patterns: Iterable[CallPattern]) -> str:
        """Say which tools are named that are neither declared, nor expected, nor called; usually empty."""
        found = dict.fromkeys(name for pattern in patterns for name in self._unknown(pattern, ()))
        return "; ".join(_nobody_knows(found))

    def declares(self) -> bool:
        """Whether the agent says which tools it has."""
        return bool(self.tools.names)

    def _of(self, guard: Guard) -> Iterator[str]:
        there = [call for call in self._calls if guard.pattern.names(call)]
        if not there:
            return
        if said := _contradiction(guard, self.tools, self._expected):
            raise MetricError(f"{guard.where}: {said}")
        known = self._known(guard)
        yield from self._near(guard, there, known)
        for name in guard.asked():
            if name not in known:
                hint = did_you_mean(name, known)
                yield (
                    f"{guard.where}: no call of {guard.pattern.tell_tools()} had an argument {name!r}, and nothing declares or "
                    f"expects one{'.' if hint else ''}{hint}"
                )

    def _near(self, guard: Guard, there: Sequence[Made], known: set[str]) -> Iterator[str]:
        for call in there:
            slips = slips_between(guard.pattern, call, known)
            if not slips:
                continue
            why = " and ".join(slip.said for slip in slips)
            told = f"{guard.where}: `{show_call(call)}` is not `{guard.pattern.tell()}` only because {why}"
            if all(slip.is_sure for slip in slips):
                raise MetricError(told)
            yield told

    def _unknown(self, pattern: CallPattern, named: Iterable[str]) -> list[str]:
        known = {*self._expected, *self._made, *named}
        return [] if {*pattern.tools} <= {*known, ANY_TOOL} else undeclared_tools(pattern, self.tools, known)

    def _all_known(self, named: Iterable[str]) -> set[str]:
        return {*self.tools.names, *self._expected, *self._made, *named}

    def _known(self, guard: Guard) -> set[str]:
        found = declared_arguments(self.tools, guard.tools(self.tools.names))
        for args in (self._expected, self._made):
            found |= {arg for name in guard.tools(args) for arg in args.get(name, ())}
        return found


def _nobody_knows(tools: Iterable[str]) -> list[str]:
    named = ", ".join(tools)
    return (
        [f"neither declared by the agent, nor expected in the conversation, nor called: {named}"]
        if named
        else []
    )


def _contradiction(guard: Guard, tools: Tools, expected: Mapping[str, set[str]]) -> str:
    """What the declarations of its tools say against a guard; nothing about arguments that a case expects all the same."""
    known = {arg for name in guard.tools(expected) for arg in expected.get(name, ())}
    asked = {name: value for name, value in guard.asked().items() if name not in known}
    said = unmet_arguments(asked, tools, guard.tools(tools.names))
    return f"this can never come: {said}" if said else ""


def _arguments_by_tool(calls: Iterable[Call]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for call in calls:
        found.setdefault(call.name or "", set()).update(call.args or {})
    return found
