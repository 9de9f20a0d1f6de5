"""The option `state` of `final_session_state`: matchers for parts of the final session state.

A matcher with a `value`, or of a kind that needs none (`regex`, `present`, `one_of`), expects something in every case.
Any other matcher only determines how a value that the case states is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from proctor.common.inline_code import code_mark
from proctor.common.json_values import equal_json
from proctor.errors import did_you_mean
from proctor.metrics.matchers.base import ABSENT, INLINE
from proctor.metrics.matchers.kinds import Template
from proctor.metrics.matchers.parse import WITHOUT_VALUE, MatcherReader
from proctor.metrics.matchers.paths import Path, show_path, values_at
from proctor.metrics.matchers.tool_arguments import (
    Rules,
    covered_paths,
    describe_rule,
    fits,
    read_matchers,
    unreadable_values,
    unused_matcher,
)
from proctor.metrics.reason_text import show_value
from proctor.schema.format.case import EvalCase
from proctor.schema.results.score import expectation_entry

OPTION = "state"


class StateRules:
    """The matchers of the option `state`."""

    def __init__(self, spec: object, reader: MatcherReader) -> None:
        """Read `{key or path: matcher}`; the reader collects the problems."""
        self._rules = read_matchers(spec, reader, OPTION)
        self.own = {path: rule for path, rule in self._rules.items() if _expects(rule)}
        """The matchers that expect something in every case."""
        for path in self._rules:
            if not isinstance(path[0], str):
                reader.problem(
                    OPTION, f"{show_path(path)!r}: a state is an object, so a path must begin with a key"
                )

        for path, outer in covered_paths(self._rules):
            if path not in self.own:  # the value of an own matcher is also looked up by its path
                reader.problem(OPTION, unused_matcher(path, outer))

    def compare(self, name: str, expected: object, actual: object) -> tuple[bool, str]:
        """Return whether the value of a key fits, and what was expected if that is not the value itself."""
        rule = self._rules.get((name,))
        expectation = describe_rule(rule, expected) if rule else ""
        if not fits((name,), expected, actual, self._rules, equal_json):
            return False, expectation
        if path := next(iter(dict(self.broken({} if actual is ABSENT else {name: actual}, {name}))), None):
            return False, f"{code_mark(show_path(path))} to be {self.own[path].describe()}"
        return True, expectation

    def accepted(self, name: str, expected: object, actual: object) -> list[str]:
        """Return the paths inside the value of a key that differ and that a matcher accepts: reports do not list them."""
        return [*_accepted((name,), expected, actual, self._rules)]

    def unreadable(self, expected: Mapping[str, object]) -> Iterator[str]:
        """Yield the values of a case that the matcher of the criterion cannot compare."""
        for path, value, why in unreadable_values(self._rules, expected):
            yield (
                f"final_session_state: `{path}` is expected to be {show_value(value)}, which is {why}: the matcher of "
                f"`{OPTION}` cannot compare it"
            )

    def broken(self, state: Mapping[str, object], roots: Collection[str]) -> Iterator[tuple[Path, object]]:
        """Yield each path below `roots` at which the state does not meet the criterion, with the value there."""
        for path, rule in self.own.items():
            if path[0] in roots:
                wrong = (value for value in values_at(state, path) if not rule.fits(value))
                if (value := next(wrong, _FINE)) is not _FINE:
                    yield path, value

    def entries(
        self, state: Mapping[str, object], expected: Mapping[str, object]
    ) -> Iterator[dict[str, object]]:
        """Yield the entries of the details for keys that only the criterion expects."""
        roots = {str(path[0]) for path in self.own} - expected.keys()
        broken = dict(self.broken(state, roots))
        for path, rule in self.own.items():
            if path[0] not in roots:
                continue
            mismatch = broken.get(path, _FINE)
            value = next(values_at(state, path), ABSENT) if mismatch is _FINE else mismatch
            entry = {"key": show_path(path), "kind": "matched", "expected": rule.source}
            if value is not ABSENT:
                entry["actual"] = value
            if mismatch is not _FINE:
                entry |= {
                    "kind": "missing" if value is ABSENT else "differs",
                    **expectation_entry(rule.describe()),
                }
            yield entry

    def survey(self) -> StateSurvey:
        """Return the survey for the keys of these matchers."""
        return StateSurvey({path: path in self.own for path in self._rules})


_FINE: object = object()


def _accepted(path: Path, expected: object, actual: object, rules: Rules) -> Iterator[str]:
    if not (isinstance(expected, Mapping) and isinstance(actual, Mapping)):
        return
    for key in {**expected, **actual}:
        inner, sides = (*path, key), (expected.get(key, ABSENT), actual.get(key, ABSENT))
        if ABSENT not in sides and equal_json(*sides):
            continue
        if fits(inner, *sides, rules, equal_json):
            yield ".".join(map(str, inner))
        else:
            yield from _accepted(inner, *sides, rules)


class StateSurvey:
    """Finds keys of a criterion that no case states."""

    def __init__(self, paths: Mapping[Path, bool]) -> None:
        self._paths = paths
        self._unstated = set(paths)
        self._similar: dict[Path, dict[str, None]] = {path: {} for path in paths}

    def add_case(self, case: EvalCase) -> None:
        """Record which keys one case states."""
        for path in [*self._unstated]:
            known = _known_at(case.final_session_state or {}, path)
            if known is None:
                self._unstated.discard(path)
            else:
                self._similar[path] |= dict.fromkeys(known)

    def problems(self) -> Iterator[str]:
        """Yield a problem if the criterion decides nothing in any case."""
        if self._unstated == self._paths.keys() and not any(self._paths.values()):
            hints = "".join(self._hint(path) for path in self._paths)
            paths = ", ".join(code_mark(show_path(path)) for path in self._paths)
            yield (
                f"{OPTION}: it only determines how {paths} would be compared, which no case states, so it decides "
                f"nothing.{hints} Give the matcher a `value`, or state the key in `final_session_state` of a case"
            )

    def warnings(self) -> Iterator[str]:
        """Yield keys that are probably misspelled."""
        for path, expects in self._paths.items():
            if path in self._unstated and (self._hint(path) or not expects):
                yield f"{OPTION}.{show_path(path)}: no case states {code_mark(show_path(path))}.{self._hint(path)}"

    def _hint(self, path: Path) -> str:
        return next((hint for step in path if (hint := did_you_mean(str(step), self._similar[path]))), "")


def _expects(rule: Template) -> bool:
    source = rule.source if isinstance(rule.source, Mapping) else {}
    kind = source.get("match", source.get(INLINE))
    return "value" in source or (kind in WITHOUT_VALUE and kind != "ignore")


def _known_at(expected: Mapping[str, object], path: Path) -> list[str] | None:
    """Return `None` if a case states a value at `path` or may do so; else the keys that it states in its place."""
    if path[0] not in expected:
        return [*expected]
    parent = next(values_at(expected, path[:-1]), ABSENT)
    if len(path) == 1 or not isinstance(parent, Mapping) or path[-1] in parent:
        return None
    return [*parent] if did_you_mean(str(path[-1]), parent) else None
