"""The tool calls of a trial, and patterns that match them: a tool's name, or an object with arguments and a response."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.common.json_values import equal_json
from proctor.errors import did_you_mean
from proctor.metrics.base import CaseView
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import MatchedValue, OneOf, Plain, Present, Template
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.reason_text import show_name, show_value
from proctor.metrics.trajectory.call_matching import ArgumentDifference
from proctor.schema.format.content import FunctionCall, FunctionResponse


@dataclass(frozen=True, slots=True, eq=False)
class ActualCall:
    """One tool call that the agent made."""

    name: str
    args: dict[str, Any] | None
    turn: int = 0
    """Counted from 0."""
    index: int = 0
    """Its position in the turn, from 0."""
    response: object = ABSENT
    """The response of the tool; `ABSENT` if none is recorded or needed."""


def calls_of(case: CaseView, *, with_responses: bool = False) -> list[list[ActualCall]]:
    """Return the calls of each turn, in order."""
    turns = []
    for number, turn in enumerate(case.turns):
        calls = turn.tool_calls
        answers = (
            _answers(calls, case.actual[number].tool_responses) if with_responses else [ABSENT] * len(calls)
        )
        turns.append(
            [
                ActualCall(call.name or "", call.args, number, index, answer)
                for index, (call, answer) in enumerate(zip(calls, answers, strict=True))
            ]
        )
    return turns


def _answers(calls: Sequence[FunctionCall], responses: Sequence[FunctionResponse]) -> list[object]:
    """Return each call's response: the last one with its id, or else the next response without id of the same tool."""
    by_id = {each.id: each.response for each in responses if each.id}
    without_id: defaultdict[str | None, deque[object]] = defaultdict(deque)
    for each in responses:
        if not each.id:
            without_id[each.name].append(each.response)
    answers: list[object] = []
    for call in calls:
        if call.id and call.id in by_id:
            answers.append(by_id[call.id])
        else:
            answers.append(without_id[call.name].popleft() if without_id[call.name] else ABSENT)
    return answers


ANY_TOOL = "*"
CALL_KEYS = frozenset({"tool", "args", "other_args", "response"})
RESPONSE = "(response)"


@dataclass(frozen=True, slots=True, eq=False)
class CallPattern:
    """Matches calls of one of its tools with fitting arguments and a fitting response."""

    tools: tuple[str, ...]
    args: Mapping[str, Template] | None = None
    """`None`: any arguments."""
    other_args: bool = False
    """True if the call may have arguments that the pattern does not name."""
    response: Template | None = None

    def names(self, call: ActualCall) -> bool:
        """Return whether the call is of one of the tools."""
        return call.name in self.tools or ANY_TOOL in self.tools

    def fits(self, call: ActualCall) -> bool:
        """Return whether the call matches."""
        return self.names(call) and not self.differences(call)

    def differences(self, call: ActualCall) -> list[ArgumentDifference]:
        """Return the mismatches of a call of one of the tools."""
        differences = [] if self.args is None else [*self._argument_pairs_of(self.args, call.args or {})]
        if self.response is not None and not self.response.fits(call.response):
            differences.append(_difference(RESPONSE, self.response, call.response))
        return differences

    def takes_any(self) -> bool:
        """Return whether the pattern matches every call of its tools."""
        args = self.args is None or (
            self.other_args and all(each.fits(ABSENT) for each in self.args.values())
        )
        return args and (self.response is None or self.response.fits(ABSENT))

    def may_have(self, name: str) -> bool:
        """Return whether a matching call may have an argument of this name."""
        return self.takes_other_args or name in (self.args or {})

    def takes_any_call(self) -> bool:
        """Return whether the pattern matches every call of every tool."""
        return ANY_TOOL in self.tools and self.takes_any()

    def covers(self, other: CallPattern, ignored: Collection[str] = ()) -> bool:
        """Return whether every call that matches `other` certainly matches this pattern; may miss some.

        `ignored`: arguments whose value does not matter.
        """
        tools = ANY_TOOL in self.tools or ({*other.tools} <= {*self.tools} and ANY_TOOL not in other.tools)
        if not tools or self.takes_any():
            return tools
        has_response = self.response is None or (
            other.response is not None and _is_within(other.response, self.response)
        )
        return has_response and self._covers_args(other, ignored)

    def _covers_args(self, other: CallPattern, ignored: Collection[str]) -> bool:
        args, others = self.args or {}, other.args or {}
        if not self.takes_other_args and (other.other_args or not others.keys() <= args.keys()):
            return False
        required = (name for name, each in args.items() if name not in ignored and not each.fits(ABSENT))
        return all(name in others and _is_within(others[name], args[name]) for name in required)

    @property
    def takes_other_args(self) -> bool:
        """Whether a matching call may have arguments that the pattern does not name."""
        return self.args is None or self.other_args

    def tools_text(self) -> str:
        """Return the tools in words."""
        return "any tool" if ANY_TOOL in self.tools else " or ".join(map(show_name, self.tools))

    def describe(self) -> str:
        """Return the call in words."""
        name = self.tools_text()
        if self.args is not None:
            inside = [f"{show_name(key)}={value.describe()}" for key, value in self.args.items()]
            name += f"({', '.join([*inside, *(['…'] if self.other_args else [])])})"
        return name if self.response is None else f"{name} with the response {self.response.describe()}"

    @property
    def name(self) -> str:
        """The tools, as the details show them."""
        return " | ".join(self.tools)

    @property
    def argument_sources(self) -> dict[str, object]:
        """The arguments as they were written."""
        return {key: value.source for key, value in (self.args or {}).items()}

    def to_data(self) -> dict[str, object]:
        """Return the call as the details show an expected one."""
        return {"name": self.name, "args": self.argument_sources}

    def _argument_pairs_of(
        self, args: Mapping[str, Template], actual: Mapping[str, object]
    ) -> list[ArgumentDifference]:
        differences = [
            _difference(name, template, actual.get(name, ABSENT))
            for name, template in args.items()
            if not template.fits(actual.get(name, ABSENT))
        ]
        if not self.other_args:
            differences += [
                ArgumentDifference(name, "extra", actual=value)
                for name, value in actual.items()
                if name not in args
            ]
        return differences


def _difference(name: str, template: Template, actual: object) -> ArgumentDifference:
    if actual is ABSENT:
        return ArgumentDifference(name, "missing", expected=template.source)
    return ArgumentDifference(name, "differs", template.source, actual)


def _is_within(one: Template, other: Template) -> bool:
    """Return whether every value that fits the one certainly fits the other."""
    if equal_json(one.source, other.source) or (isinstance(one, Plain) and other.fits(one.source)):
        return True
    if isinstance(one, OneOf):
        return all(_is_within(each, other) for each in one.options)
    return isinstance(other, MatchedValue) and isinstance(other.matcher, Present) and not one.fits(ABSENT)


def read_call(
    spec: object, reader: MatcherReader, where: str, *, other_args: bool, also: Collection[str] = ()
) -> CallPattern:
    """Read a call: the tool's name, or `{tool, args, other_args, response}`.

    `other_args`: whether other arguments are allowed by default. `also`: further keys of the object, which the caller
    reads.
    """
    if isinstance(spec, str):
        spec = {"tool": spec}
    if not isinstance(spec, Mapping):
        reader.problem(where, f'expected a tool\'s name or {{"tool": …, "args": …}}, got {show_value(spec)}')
        return CallPattern((ANY_TOOL,))
    for key in spec:
        if key not in CALL_KEYS and key not in also:
            known = CALL_KEYS | {*also}
            reader.problem(
                where, f"unknown key {key!r}.{did_you_mean(str(key), known)} Keys: {', '.join(sorted(known))}"
            )
    return CallPattern(
        _tools(spec, reader, where),
        _args(spec, reader, where),
        _other_args(spec, reader, where, usual=other_args),
        reader.template(spec["response"], f"{where}.response") if "response" in spec else None,
    )


def _tools(spec: Mapping[str, object], reader: MatcherReader, where: str) -> tuple[str, ...]:
    tool = spec.get("tool")
    tools = tuple(tool) if isinstance(tool, list) else (tool,)
    if not tools or not all(isinstance(each, str) and each for each in tools):
        reader.problem(
            where, f'`tool` must be a tool\'s name, a list of names or "*", got {show_value(tool)}'
        )
        return (ANY_TOOL,)
    for each in tools:
        if "(" in each:
            hint = f'write {{"tool": {show_value(each.partition("(")[0])}, "args": {{…}}}}'
            reader.problem(where, f"{show_value(each)} is not a tool's name; for its arguments {hint}")
    return tools


def _args(spec: Mapping[str, object], reader: MatcherReader, where: str) -> dict[str, Template] | None:
    args = spec.get("args")
    if args is None:
        if "args" in spec:
            reader.problem(where, "`args` is null: leave it out for any arguments, or write {} for none")
        return None
    if not isinstance(args, Mapping):
        reader.problem(where, f"`args` must be {{argument: value}}, got {show_value(args)}")
        return None
    return {name: reader.template(value, f"{where}.args.{name}") for name, value in args.items()}


def _other_args(spec: Mapping[str, object], reader: MatcherReader, where: str, *, usual: bool) -> bool:
    policy = spec.get("other_args")
    if "other_args" not in spec:
        return usual
    if policy not in ("allowed", "forbidden"):
        hint = did_you_mean(str(policy), ("allowed", "forbidden"))
        reader.problem(
            where, f'`other_args` must be "allowed" or "forbidden", got {show_value(policy)}.{hint}'
        )
    elif spec.get("args") is None:
        reader.problem(where, "`other_args` has no effect without `args`: without them any arguments fit")
    return policy == "allowed"
