"""What a criterion says about the final session state: how parts of it are compared, and what it expects by itself.

A matcher with a `value` of its own, or of a kind that needs none (`regex`, `present`, `one_of`), expects something in every
case, whatever the case states. One without says only how a value that the case states is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from proctor.common.json_values import equal_json
from proctor.errors import did_you_mean
from proctor.metrics.matchers.base import ABSENT, INLINE
from proctor.metrics.matchers.parse import WITHOUT_VALUE, MatcherReader
from proctor.metrics.matchers.paths import Path, show_path, values_at
from proctor.metrics.matchers.templates import Template
from proctor.metrics.matchers.tool_arguments import fits, read_matchers, tell, unreadable_values
from proctor.metrics.reason_text import show_value
from proctor.schema.format.case import EvalCase

__all__ = ["OPTION", "StateRules"]

OPTION = "state"


class StateRules:
    """The option `state` of a criterion, read."""

    def __init__(self, given: Any, reader: MatcherReader) -> None:
        """Read `{key or path: matcher}`; mistakes go to the reader."""
        self._rules = read_matchers(given, reader, OPTION)
        self.own = {path: rule for path, rule in self._rules.items() if _expects(rule)}
        """Those that expect something by themselves."""
        for path in self._rules:
            if not isinstance(path[0], str):
                reader.problem(
                    OPTION, f"{show_path(path)!r}: a state is an object, so a path begins with a key"
                )

    def compare(self, name: str, expected: Any, actual: Any) -> tuple[bool, str]:
        """Whether a key that a case states has a value that fits, and what was expected where that is not the value."""
        rule = self._rules.get((name,))
        told = tell(rule, expected) if rule else ""
        if not fits((name,), expected, actual, self._rules, equal_json):
            return False, told
        if path := next(iter(dict(self.broken({} if actual is ABSENT else {name: actual}, {name}))), None):
            return False, f"`{show_path(path)}` to be {self.own[path].tell()}"
        return True, told

    def unreadable(self, stated: Mapping[str, Any]) -> Iterator[str]:
        """What a case states that the matcher of the criterion cannot compare."""
        for path, value, why in unreadable_values(self._rules, stated):
            yield (
                f"final_session_state: `{path}` is expected to be {show_value(value)}, which is {why}: the matcher of "
                f"`{OPTION}` cannot compare it"
            )

    def broken(self, state: Mapping[str, Any], roots: Collection[str]) -> Iterator[tuple[Path, Any]]:
        """The paths below `roots` at which the state is not what the criterion expects by itself, each with what is there."""
        for path, rule in self.own.items():
            if path[0] in roots:
                wrong = (value for value in values_at(state, path) if not rule.fits(value))
                if (value := next(wrong, _FINE)) is not _FINE:
                    yield path, value

    def entries(self, state: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """What the criterion expects of keys that the case does not state, as details show it."""
        roots = {str(path[0]) for path in self.own} - stated.keys()
        broken = dict(self.broken(state, roots))
        for path, rule in self.own.items():
            if path[0] not in roots:
                continue
            there = broken.get(path, _FINE)
            value = next(values_at(state, path), ABSENT) if there is _FINE else there
            entry = {"key": show_path(path), "kind": "matched", "expected": rule.source}
            if value is not ABSENT:
                entry["actual"] = value
            if there is not _FINE:
                entry |= {"kind": "missing" if value is ABSENT else "differs", "told": rule.tell()}
            yield entry

    def survey(self) -> StateSurvey:
        """Look through cases for what these rules are about."""
        return StateSurvey({path: path in self.own for path in self._rules})


_FINE: Any = object()


class StateSurvey:
    """Which keys that a criterion names are stated by no case."""

    def __init__(self, paths: Mapping[Path, bool]) -> None:
        self._paths = paths
        self._unheard = set(paths)
        self._near: dict[Path, dict[str, None]] = {path: {} for path in paths}

    def see(self, case: EvalCase) -> None:
        """Note what one case states."""
        for path in [*self._unheard]:
            known = _known_at(case.final_session_state or {}, path)
            if known is None:
                self._unheard.discard(path)
            else:
                self._near[path] |= dict.fromkeys(known)

    def problems(self) -> Iterator[str]:
        """A criterion that says nothing that could decide any of the cases."""
        if self._unheard == self._paths.keys() and not any(self._paths.values()):
            meant = "".join(self._meant(path) for path in self._paths)
            yield (
                f"{OPTION}: it says only how {self._list()} would be compared, which no case states, so it decides "
                f"nothing.{meant} Give the matcher a `value`, or state the key in `final_session_state` of a case"
            )

    def doubts(self) -> Iterator[str]:
        """Keys that are probably slips."""
        for path, expects in self._paths.items():
            if path in self._unheard and (self._meant(path) or not expects):
                yield f"{OPTION}.{show_path(path)}: no case states `{show_path(path)}`.{self._meant(path)}"

    def _meant(self, path: Path) -> str:
        return next((hint for step in path if (hint := did_you_mean(str(step), self._near[path]))), "")

    def _list(self) -> str:
        return ", ".join(f"`{show_path(path)}`" for path in self._paths)


def _expects(rule: Template) -> bool:
    source = rule.source if isinstance(rule.source, Mapping) else {}
    kind = source.get("match", source.get(INLINE))
    return "value" in source or (kind in WITHOUT_VALUE and kind != "ignore")


def _known_at(stated: Mapping[str, Any], path: Path) -> list[str] | None:
    """`None` where a case states what is at `path`, or so much around it that the path can be meant; else what it has there."""
    if path[0] not in stated:
        return [*stated]
    parent = next(values_at(stated, path[:-1]), ABSENT)
    if len(path) == 1 or not isinstance(parent, Mapping) or path[-1] in parent:
        return None
    return [*parent] if did_you_mean(str(path[-1]), parent) else None
