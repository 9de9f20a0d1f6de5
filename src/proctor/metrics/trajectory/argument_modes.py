"""How much of the arguments must be equal: all, none, what the agent gave, what is expected, or chosen ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from proctor.metrics.base import CaseView, Survey
from proctor.metrics.trajectory.call_equality import ArgumentDifference, ByValue, argument_differences
from proctor.metrics.trajectory.match_rules import Call

__all__ = ["ArgumentMode", "ByMode", "ToolArguments"]

ArgumentMode = Literal["exact", "ignore", "subset", "superset"]
ToolArguments = ArgumentMode | Annotated[list[str], Field(min_length=1)]
"""A mode, or paths (`city`, `address.zip`) of the arguments that are compared."""

LEFT_OUT: Mapping[str, str] = {"subset": "missing", "superset": "extra"}


@dataclass(frozen=True, slots=True)
class ByMode:
    """Calls of one tool are the same when as much of their arguments is equal as the tool's mode asks for.

    `exact`: all; `ignore`: none; `subset`: those that the agent gave are expected, with equal values; `superset`: those
    that are expected were given, with equal values. Only top-level arguments are looked at one by one. Of a path that is
    absent the value is null.
    """

    values: ByValue
    mode: ArgumentMode = "exact"
    tools: Mapping[str, ToolArguments] = field(default_factory=dict)
    """What else holds for the tools named here."""

    @property
    def is_equivalence(self) -> bool:
        """Not where one side may have more arguments than the other."""
        return not any(
            mode in LEFT_OUT for mode in (self.mode, *self.tools.values()) if isinstance(mode, str)
        )

    def same(self, wanted: Call, made: Call) -> bool:
        """Compare names, then arguments."""
        return wanted.name == made.name and not self.differences(wanted, made)

    def survey(self) -> Survey | None:
        """Look through cases for the tools and paths that are named."""
        from proctor.metrics.matchers.argument_survey import ComparedSurvey

        return ComparedSurvey(self.tools) if self.tools else None

    def doubt(self, case: CaseView) -> str:
        """Say which paths neither an expected call has nor one that was made: there null is compared with null."""
        if all(isinstance(mode, str) for mode in self.tools.values()):
            return ""
        from proctor.metrics.matchers.argument_survey import paths_in

        there: defaultdict[str, set[str]] = defaultdict(set)
        for call in (call for turn in (*(case.expected or ()), *case.turns) for call in turn.tool_calls):
            there[call.name or ""].update(paths_in(call.args or {}))
        unknown = [
            f"{tool}.{path}"
            for tool, paths in self.tools.items()
            if not isinstance(paths, str) and tool in there
            for path in paths
            if path not in there[tool]
        ]
        return (
            f"`tool_args` names what no call has, expected or made: {', '.join(unknown)}" if unknown else ""
        )

    def differences(self, wanted: Call, made: Call) -> list[ArgumentDifference]:
        """The arguments that differ, as far as they are compared."""
        mode = self.tools.get(made.name or "", self.mode)
        if mode == "ignore":
            return []
        if mode == "exact":
            return self.values.differences(wanted, made)
        if isinstance(mode, str):
            found = argument_differences(wanted.args or {}, made.args or {}, self.values.equal)
            return [each for each in found if each.kind != LEFT_OUT[mode]]
        pairs = ((path, _at(wanted.args, path), _at(made.args, path)) for path in mode)
        return [
            ArgumentDifference(path, "differs", expected, actual)
            for path, expected, actual in pairs
            if not self.values.equal(expected, actual)
        ]


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
