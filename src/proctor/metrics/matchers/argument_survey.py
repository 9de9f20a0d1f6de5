"""Checks the tools and arguments in the options `arguments` and `tool_args` against the calls that cases expect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import did_you_mean
from proctor.metrics.matchers.paths import Path, show_path
from proctor.schema.format.case import EvalCase

__all__ = ["ArgumentSurvey", "ComparedSurvey", "paths_in"]

ANY_TOOL = "*"


class ComparedSurvey:
    """Finds tools and paths of `tool_args` that no expected call has.

    An absent value counts as null, so a misspelled path compares null with null and never differs.
    """

    def __init__(self, tools: Mapping[str, str | Sequence[str]]) -> None:
        self._tools = tools
        self._expected: dict[str, set[str]] = {}

    def see(self, case: EvalCase) -> None:
        """Record the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._expected.setdefault(call.name or "", set()).update(paths_in(call.args or {}))

    def problems(self) -> Iterator[str]:
        """Yield tools for which nothing is compared."""
        for tool, paths, unknown in self._unknown():
            if len(unknown) == len(paths):
                yield f"tool_args.{tool}: {self._message(tool, unknown)}, so nothing of its calls is compared"

    def doubts(self) -> Iterator[str]:
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


def paths_in(args: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield every path to a value in an object: `guest`, `guest.name`."""
    for name, value in args.items():
        yield f"{before}{name}"
        if isinstance(value, Mapping):
            yield from paths_in(value, f"{before}{name}.")


class ArgumentSurvey:
    """Finds matchers for tools that no case expects to be called, and for arguments that are probably misspelled.

    An argument that no expected call has may still be intended: to be ignored if the agent adds it.
    """

    def __init__(self, tools: Mapping[str, Collection[Path]]) -> None:
        self._tools = tools
        self._arguments: dict[str, set[str]] = {}

    def see(self, case: EvalCase) -> None:
        """Record the calls that one case expects."""
        for turn in case.conversation or ():
            for call in turn.tool_calls:
                self._arguments.setdefault(call.name or "", set()).update(call.args or {})

    def problems(self) -> Iterator[str]:
        """Yield nothing: a call that no case expects may still be made."""
        return iter(())

    def doubts(self) -> Iterator[str]:
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
