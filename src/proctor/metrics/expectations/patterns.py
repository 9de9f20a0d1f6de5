"""Which calls are meant: a tool's name, or an object that says more about the call."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.expectations.made import Made
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.reading import MatcherReader
from proctor.metrics.matchers.templates import Template
from proctor.metrics.matching import ArgumentDifference
from proctor.metrics.wording import show_name, show_value

__all__ = ["CALL_KEYS", "CallPattern", "read_call"]

ANY_TOOL = "*"
CALL_KEYS = frozenset({"tool", "args", "other_args", "response"})
RESPONSE = "(response)"


@dataclass(frozen=True, slots=True, eq=False)
class CallPattern:
    """Calls of one of these tools whose arguments, and response, fit."""

    tools: tuple[str, ...]
    args: Mapping[str, Template] | None = None
    """`None`: whatever they are."""
    other_args: bool = False
    """Arguments that are not named may be there."""
    response: Template | None = None

    def names(self, made: Made) -> bool:
        """Whether the call is one of these tools."""
        return made.name in self.tools or ANY_TOOL in self.tools

    def fits(self, made: Made) -> bool:
        """Whether the call is one that is meant."""
        return self.names(made) and not self.differences(made)

    def differences(self, made: Made) -> list[ArgumentDifference]:
        """What does not fit about a call of one of these tools."""
        found = [] if self.args is None else [*self._of_args(self.args, made.args or {})]
        if self.response is not None and not self.response.fits(made.response):
            found.append(_difference(RESPONSE, self.response, made.response))
        return found

    def tell_tools(self) -> str:
        """The tools in words."""
        return "any tool" if ANY_TOOL in self.tools else " or ".join(map(show_name, self.tools))

    def tell(self) -> str:
        """The call in words."""
        name = self.tell_tools()
        if self.args is not None:
            inside = [f"{show_name(key)}={value.tell()}" for key, value in self.args.items()]
            name += f"({', '.join([*inside, *(['…'] if self.other_args else [])])})"
        return name if self.response is None else f"{name} with the response {self.response.tell()}"

    def to_data(self) -> dict[str, Any]:
        """The call as details show an expected one."""
        args = {} if self.args is None else {key: value.source for key, value in self.args.items()}
        return {"name": " | ".join(self.tools), "args": args}

    def _of_args(self, args: Mapping[str, Template], given: Mapping[str, Any]) -> list[ArgumentDifference]:
        found = [
            _difference(name, template, given.get(name, ABSENT))
            for name, template in args.items()
            if not template.fits(given.get(name, ABSENT))
        ]
        if not self.other_args:
            found += [
                ArgumentDifference(name, "extra", actual=value)
                for name, value in given.items()
                if name not in args
            ]
        return found


def _difference(name: str, template: Template, actual: Any) -> ArgumentDifference:
    if actual is ABSENT:
        return ArgumentDifference(name, "missing", expected=template.source)
    return ArgumentDifference(name, "differs", template.source, actual)


def read_call(
    given: Any, reader: MatcherReader, where: str, *, other_args: bool, also: Collection[str] = ()
) -> CallPattern:
    """Read a call: the tool's name, or `{tool, args, other_args, response}`.

    `other_args`: whether arguments that are not named may be there when the object does not say so itself. `also`: keys
    of the object that somebody else reads.
    """
    if isinstance(given, str):
        given = {"tool": given}
    if not isinstance(given, Mapping):
        reader.problem(where, f'expected a tool\'s name or {{"tool": …, "args": …}}, got {show_value(given)}')
        return CallPattern((ANY_TOOL,))
    for key in given:
        if key not in CALL_KEYS and key not in also:
            known = CALL_KEYS | {*also}
            reader.problem(
                where, f"unknown key {key!r}.{did_you_mean(str(key), known)} Keys: {', '.join(sorted(known))}"
            )
    return CallPattern(
        _tools(given, reader, where),
        _args(given, reader, where),
        _other_args(given, reader, where, usual=other_args),
        reader.template(given["response"], f"{where}.response") if "response" in given else None,
    )


def _tools(given: Mapping[str, Any], reader: MatcherReader, where: str) -> tuple[str, ...]:
    tool = given.get("tool")
    tools = tuple(tool) if isinstance(tool, list) else (tool,)
    if not tools or not all(isinstance(each, str) and each for each in tools):
        reader.problem(
            where, f'`tool` must be a tool\'s name, a list of names or "*", got {show_value(tool)}'
        )
        return (ANY_TOOL,)
    for each in tools:
        if "(" in each:
            hint = f'write {{"tool": {show_value(each.partition("(")[0])}, "args": {{…}}}}'
            reader.problem(where, f"{show_value(each)} is no tool's name; for its arguments {hint}")
    return tools


def _args(given: Mapping[str, Any], reader: MatcherReader, where: str) -> dict[str, Template] | None:
    args = given.get("args")
    if args is None:
        if "args" in given:
            reader.problem(where, "`args` is null: leave it out for any arguments, or write {} for none")
        return None
    if not isinstance(args, Mapping):
        reader.problem(where, f"`args` must be {{argument: value}}, got {show_value(args)}")
        return None
    return {name: reader.template(value, f"{where}.args.{name}") for name, value in args.items()}


def _other_args(given: Mapping[str, Any], reader: MatcherReader, where: str, *, usual: bool) -> bool:
    said = given.get("other_args")
    if "other_args" not in given:
        return usual
    if said not in ("allowed", "forbidden"):
        meant = did_you_mean(str(said), ("allowed", "forbidden"))
        reader.problem(
            where, f'`other_args` must be "allowed" or "forbidden", got {show_value(said)}.{meant}'
        )
    elif given.get("args") is None:
        reader.problem(
            where, "`other_args` says something only beside `args`; without them any arguments fit"
        )
    return said == "allowed"
