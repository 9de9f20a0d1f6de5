"""Tools and arguments that the options `arguments` and `tool_args` name, beside the calls that cases expect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.matchers.paths import Path, show_path
from proctor.schema.format.case import EvalCase

__all__ = ["ArgumentSurvey", "ComparedSurvey", "paths_in"]

ANY_TOOL = "*"


class ComparedSurvey:
    """Looks for tools and paths of `tool_args` that no expected call has.

    What is absent is null there, so of a path that is misspelled null is compared with null: then nothing differs.
    """

    def __init__(self, tools: Mapping[str, str | Sequence[str]]) -> None:
        self._tools = tools
        self._expected: dict[str, set[str]] = {}

    def see(self, case: EvalCase) -> None:
        """Note the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._expected.setdefault(call.name or "", set()).update(paths_in(call.args or {}))

    def problems(self) -> Iterator[str]:
        """Tools of which nothing is compared."""
        for tool, paths, unknown in self._unknown():
            if len(unknown) == len(paths):
                yield f"tool_args.{tool}: {self._told(tool, unknown)}, so nothing of its calls would be compared"

    def doubts(self) -> Iterator[str]:
        """Tools that no case expects, and single paths that no expected call has."""
        for tool in self._tools:
            if tool not in self._expected:
                yield f"tool_args.{tool}: no case expects a call of {tool!r}.{did_you_mean(tool, self._expected)}"
        for tool, paths, unknown in self._unknown():
            if unknown and len(unknown) < len(paths):
                yield f"tool_args.{tool}: {self._told(tool, unknown)}; only null is compared with null there"

    def _unknown(self) -> Iterator[tuple[str, Sequence[str], list[str]]]:
        for tool, paths in self._tools.items():
            if not isinstance(paths, str) and tool in self._expected:
                yield tool, paths, [path for path in paths if path not in self._expected[tool]]

    def _told(self, tool: str, unknown: Sequence[str]) -> str:
        named = (
            f"{path!r} ({hint.strip()})" if (hint := did_you_mean(path, self._expected[tool])) else repr(path)
            for path in unknown
        )
        return f"no expected call has {' or '.join(named)}"


def paths_in(args: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Every path to a value within an object: `guest`, `guest.name`."""
    for name, value in args.items():
        yield f"{before}{name}"
        if isinstance(value, Mapping):
            yield from paths_in(value, f"{before}{name}.")


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
