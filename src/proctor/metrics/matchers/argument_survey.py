"""Tools and arguments that the option `arguments` names, beside the calls that cases expect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from proctor.errors import did_you_mean
from proctor.metrics.matchers.paths import Path, show_path
from proctor.schema.case import EvalCase

__all__ = ["ArgumentSurvey"]

ANY_TOOL = "*"


class ArgumentSurvey:
    """Looks for matchers of tools that no case expects to be called, and of arguments that look like a slip.

    An argument that no expected call has may be meant all the same: to be ignored where the agent gives it.
    """

    def __init__(self, tools: Mapping[str, Collection[Path]]) -> None:
        self._tools = tools
        self._arguments: dict[str, set[str]] = {}

    def see(self, case: EvalCase) -> None:
        """Note the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._arguments.setdefault(call.name or "", set()).update(call.args or {})

    def problems(self) -> Iterator[str]:
        """None: a call that nobody expects may be made."""
        return iter(())

    def doubts(self) -> Iterator[str]:
        """What is probably a slip."""
        for tool, paths in self._tools.items():
            if tool not in self._arguments and tool != ANY_TOOL:
                yield f"arguments.{tool}: no case expects a call of {tool!r}.{did_you_mean(tool, self._arguments)}"
                continue
            known = set().union(*self._arguments.values()) if tool == ANY_TOOL else self._arguments[tool]
            for path in paths:
                if path[0] not in known and (meant := did_you_mean(str(path[0]), known)):
                    where = show_path(path)
                    yield f"arguments.{tool}.{where}: no expected call has the argument {str(path[0])!r}.{meant}"
