"""Reads matchers from JSON; every problem is reported with its place.

There are two spellings: `{"match": "number", "tolerance": 0.1}` where only a matcher is allowed, and `{"$match": "number",
"value": 5, "tolerance": 0.1}` in the place of a value (a plain object is compared as a value).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from fractions import Fraction
from unicodedata import normalize

from proctor.errors import did_you_mean
from proctor.metrics.matchers.base import ABSENT, INLINE, Matcher, holds_matcher, misspelled_matcher
from proctor.metrics.matchers.contrary_values import CANNOT_FAIL, DATES, contrary_values
from proctor.metrics.matchers.dates import DAY, SameMoment, read_zone
from proctor.metrics.matchers.kinds import (
    Exact,
    Ignore,
    Items,
    Json,
    MatchedValue,
    Number,
    OneOf,
    Pattern,
    Plain,
    Present,
    SameSet,
    Shape,
    Subset,
    Template,
    Text,
    exact_fraction,
)
from proctor.metrics.reason_text import show_value
from proctor.metrics.text.regex.search import compile_pattern
from proctor.metrics.text.regex.trivial_patterns import trivial_pattern_problem

ONE_OF = "one_of"
KINDS: Mapping[str, frozenset[str]] = {
    "exact": frozenset(),
    "ignore": frozenset(),
    "present": frozenset(),
    "subset": frozenset(),
    "regex": frozenset({"pattern", "full", "ignore_case"}),
    "number": frozenset({"tolerance", "relative", "read_text"}),
    "set": frozenset({"repeats"}),
    "text": frozenset({"spaces"}),
    "date": frozenset({"part", "within", "timezone", "formats"}),
    ONE_OF: frozenset({"values"}),
    "json": frozenset({"strict", "parse"}),
}
"""The kinds of matchers, and the options of each."""

WITHOUT_VALUE = frozenset({"ignore", "present", "regex", ONE_OF})
FLAGS = frozenset({"full", "ignore_case", "read_text", "repeats", "strict", "parse"})
AMOUNTS = frozenset({"tolerance", "relative", "within"})


class MatcherReader:
    """Reads matchers, and collects problems in `problems`."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def problem(self, where: str, message: str) -> None:
        """Record a problem and its place."""
        self.problems.append(f"{where}: {message}")

    # --- values ---

    def template(self, value: object, where: str) -> Template:
        """Return a value that may contain matchers."""
        if isinstance(value, Mapping) and INLINE in value:
            return self._inline(value, where)
        if not holds_matcher(value):
            if slip := misspelled_matcher(value):
                self.problem(where, f"{show_value(slip)} is not a matcher. Did you mean {INLINE!r}?")
            return Plain(value)
        if isinstance(value, Mapping):
            return Shape(value, {key: self.template(each, f"{where}.{key}") for key, each in value.items()})
        items = value if isinstance(value, list | tuple) else ()
        return Items(value, [self.template(each, f"{where}[{i}]") for i, each in enumerate(items)])

    def _inline(self, spec: Mapping[str, object], where: str) -> Template:
        template = self._read_matcher(spec, where, INLINE)
        kind = spec[INLINE]
        if isinstance(kind, str) and kind in KINDS and kind not in WITHOUT_VALUE and "value" not in spec:
            self.problem(
                where,
                f'{show_value(kind)} needs a `value` to compare with: {{"{INLINE}": "{kind}", "value": …}}',
            )
        return template

    # --- matchers ---

    def matcher(self, spec: object, where: str) -> Template:
        """Return a matcher where nothing else is allowed; its name is enough if it has no options.

        If it has a `value`, that replaces the expected value.
        """
        if isinstance(spec, str):
            spec = {"match": spec}
        if not isinstance(spec, Mapping):
            self.problem(where, f'expected a matcher such as {{"match": "text"}}, got {show_value(spec)}')
            return MatchedValue(spec, Exact())
        if "match" not in spec and INLINE in spec:
            return self._read_matcher(spec, where, INLINE)
        return self._read_matcher(spec, where, "match")

    def _read_matcher(self, spec: Mapping[str, object], where: str, key: str) -> Template:
        kind = spec.get(key)
        if not isinstance(kind, str) or kind not in KINDS:
            hint = did_you_mean(kind, KINDS) if isinstance(kind, str) else ""
            actual = show_value(kind) if key in spec else f"an object without `{key}`"
            self.problem(where, f"expected a kind of matcher, got {actual}.{hint} Kinds: {', '.join(KINDS)}")
            return MatchedValue(spec, Exact())
        self._check_options(kind, spec, where, key)
        value = spec.get("value", ABSENT)
        if holds_matcher(value):
            self.problem(
                where,
                "the `value` of a matcher cannot contain another matcher; put it in the place of the value itself",
            )
        if kind == ONE_OF:
            return OneOf(spec, self._options(spec, where))
        problems_before = len(self.problems)
        template = MatchedValue(spec, _BUILDERS[kind](self, spec, where), value)
        if (
            len(self.problems) == problems_before
            and kind not in _ACCEPTING_KINDS
            and _cannot_fail(template, kind)
        ):
            self.problem(where, f"{show_value(kind)} with {_show_options(spec, key)}: {CANNOT_FAIL}")
        return template

    def _options(self, spec: Mapping[str, object], where: str) -> list[Template]:
        values = spec.get("values")
        if not isinstance(values, list | tuple) or not values:
            self.problem(where, f"`values` must be a list with at least one value, got {show_value(values)}")
            return []
        options = [self.template(each, f"{where}.values[{i}]") for i, each in enumerate(values)]
        for index, option in enumerate(options):
            if isinstance(option, MatchedValue) and isinstance(option.matcher, Ignore | Present):
                kind = '"ignore"' if isinstance(option.matcher, Ignore) else '"present"'
                self.problem(
                    f"{where}.values[{index}]",
                    f"{kind} accepts every value, so the other `values` have no effect; write {kind} alone, or leave it out",
                )
        return options

    def _check_options(self, kind: str, spec: Mapping[str, object], where: str, key: str) -> None:
        allowed = KINDS[kind] if kind in WITHOUT_VALUE else KINDS[kind] | {"value"}
        for name, value in spec.items():
            if name != key and (problem := _option_problem(kind, name, value, allowed)):
                self.problem(where, problem)

    def regex(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Compile a pattern."""
        text = spec.get("pattern")
        if not isinstance(text, str):
            self.problem(where, f"`pattern` must be a regular expression, got {show_value(text)}")
            return Exact()
        try:
            flags = re.IGNORECASE if spec.get("ignore_case") is True else 0
            compiled = compile_pattern(normalize("NFC", text), flags)
        except (re.error, ValueError, OverflowError, RecursionError) as error:
            self.problem(where, f"{show_value(text)} is not a regular expression: {error}")
            return Exact()
        full = spec.get("full") is True
        if problem := trivial_pattern_problem(compiled, full=full, is_trimmed=False):
            present = '; to accept any text, use {"match": "present"}' if "any" in problem else ""
            self.problem(where, f"{show_value(text)} {problem}{present}")
        return Pattern(compiled, full)

    def number(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Read the allowed difference of numbers."""
        tolerance, relative = (exact_fraction(spec.get(name, 0)) for name in ("tolerance", "relative"))
        if "tolerance" not in spec and "relative" not in spec:
            self.problem(where, "`number` needs `tolerance`, `relative` (a share: 0.01), or both")
        nothing = Fraction(0)
        if relative is not None and relative >= 1:
            self.problem(
                where, f"`relative` is a share below 1 (0.05 is 5 %), got {show_value(spec['relative'])}"
            )
        matcher = Number(tolerance or nothing, relative or nothing, spec.get("read_text") is True)
        value = spec.get("value", 0)
        if matcher.number_of(value) is None:
            self.problem(where, f"`value` must be a number, got {show_value(value)}")
        return matcher

    def text(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Read how white space is compared."""
        spaces = spec.get("spaces", "collapse")
        if spaces not in ("collapse", "remove"):
            self.problem(where, f'`spaces` must be "collapse" or "remove", got {show_value(spaces)}')
        if not isinstance(spec.get("value", ""), str):
            self.problem(where, f"`value` must be a text, got {show_value(spec['value'])}")
        return Text("" if spaces == "remove" else " ")

    def date(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Read the compared part of a date or time, and its formats."""
        part, zone = spec.get("part"), None
        if part not in (None, "date", "time"):
            self.problem(where, f'`part` must be "date" or "time", got {show_value(part)}')
        if "timezone" in spec:
            try:
                zone = read_zone(str(spec["timezone"]))
            except ValueError as error:
                self.problem(where, str(error))
        within = float(exact_fraction(spec.get("within", 0)) or 0)
        part = part if isinstance(part, str) else None
        matcher = SameMoment(part, within, zone, self._formats(spec, where))
        self._check_moment(matcher, spec, where)
        return matcher

    def _check_moment(self, matcher: SameMoment, spec: Mapping[str, object], where: str) -> None:
        moment = matcher.moment_of(spec.get("value"))
        is_time_of_day = matcher.part == "time" or (moment is not None and moment.day is None)
        if matcher.within >= DAY / 2 and is_time_of_day:
            self.problem(
                where, f"`within`: two times of day differ by at most {DAY // 2} seconds, so all would fit"
            )
        if "value" in spec and moment is None:
            self.problem(
                where, f'`value` must be a date or time such as "2024-05-01", got {show_value(spec["value"])}'
            )

    def _formats(self, spec: Mapping[str, object], where: str) -> tuple[str, ...]:
        value = spec.get("formats", [])
        formats = [value] if isinstance(value, str) else value
        if not isinstance(formats, list | tuple) or not all(isinstance(each, str) for each in formats):
            self.problem(where, f'`formats` must be texts such as "%d.%m.%Y", got {show_value(value)}')
            return ()
        for form in formats:
            if not _is_date_format(form):
                self.problem(
                    where, f"{show_value(form)} is not a format of a date or time (Python's strptime)"
                )
        return tuple(formats)

    def same_set(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Read the comparison of lists in any order."""
        if not isinstance(spec.get("value", []), list | tuple):
            self.problem(where, f"`value` must be a list, got {show_value(spec['value'])}")
        return SameSet(spec.get("repeats") is True)

    def json(self, spec: Mapping[str, object], where: str) -> Matcher:
        """Read the comparison of JSON values."""
        matcher = Json(spec.get("strict") is True, spec.get("parse") is True)
        if why := matcher.unreadable(spec.get("value")):
            self.problem(where, f"`value` is {why}, got {show_value(spec['value'])}")
        return matcher


def _option_problem(kind: str, name: str, value: object, allowed: frozenset[str]) -> str:
    if name not in allowed:
        takes = f"it takes {', '.join(sorted(allowed))}" if allowed else "it takes no options"
        return f"{kind!r} has no option {name!r}.{did_you_mean(name, allowed)} ({takes})"
    if name in FLAGS and not isinstance(value, bool):
        return f"`{name}` must be true or false, got {show_value(value)}"
    if name in AMOUNTS and ((number := exact_fraction(value)) is None or number < 0):
        return f"`{name}` must be a number from 0, got {show_value(value)}"
    return ""


_ACCEPTING_KINDS = frozenset({"ignore", "present", "regex"})
"""Kinds that are intended to accept anything, or that check their pattern themselves."""


def _cannot_fail(template: MatchedValue, kind: str) -> bool:
    """Return whether a matcher accepts all contrary values of its kind, by its own value or by a sample."""
    value = DATES[0] if kind == "date" else template.value
    if kind == "number" and value is ABSENT:
        value = 0
    if value is ABSENT or template.matcher.unreadable(value):
        return False
    candidates = DATES if kind == "date" else contrary_values(value)
    return all(template.matcher.fits(value, each) for each in candidates)


def _is_date_format(form: str) -> bool:
    try:
        datetime.strptime(datetime(2000, 1, 2).strftime(form), form)  # noqa: DTZ001, DTZ007 - only a test of the format
    except ValueError:
        return False
    return "%" in form


def _show_options(spec: Mapping[str, object], key: str) -> str:
    return ", ".join(f"`{name}` {show_value(value)}" for name, value in spec.items() if name != key)


_BUILDERS: Mapping[str, Callable[[MatcherReader, Mapping[str, object], str], Matcher]] = {
    "exact": lambda _reader, _spec, _where: Exact(),
    "ignore": lambda _reader, _spec, _where: Ignore(),
    "present": lambda _reader, _spec, _where: Present(),
    "subset": lambda _reader, _spec, _where: Subset(),
    "regex": MatcherReader.regex,
    "number": MatcherReader.number,
    "set": MatcherReader.same_set,
    "text": MatcherReader.text,
    "date": MatcherReader.date,
    "json": MatcherReader.json,
}
