"""Detects misspelled tools and arguments in forbidden or limited calls: such an expectation would never fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from unicodedata import normalize

from proctor.common.inline_code import code_mark
from proctor.metrics.expectations.call_patterns import ANY_TOOL, ActualCall, CallPattern
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import Plain, Subset, Template
from proctor.metrics.reason_text import show_name, show_value
from proctor.schema.format.case import EvalCase

SHORTEST = 3
"""The minimum length of the longer of two names that can be misspellings of each other; `x` and `y` are not."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One reason for a mismatch that is probably a mistake in the expectation."""

    text: str
    is_sure: bool
    """True if it is hardly anything else: the same value with another type, one letter of a name."""


def slips_between(pattern: CallPattern, call: ActualCall, known: Collection[str]) -> list[Slip]:
    """Return the reasons for the mismatch of a call if all of them are slips; empty otherwise, or without a mismatch.

    `known`: arguments that are certainly spelled correctly.
    """
    remaining = dict(call.args or {})
    slips = [*_argument_slips(pattern.args or {}, remaining, known)]
    slips += _value_slips("response", pattern.response, call.response) if pattern.response else []
    has_others = bool(remaining) and not pattern.takes_other_args
    return [] if has_others or None in slips else [*filter(None, slips)]


def _argument_slips(
    args: Mapping[str, Template], remaining: dict[str, object], known: Collection[str]
) -> Iterator[Slip | None]:
    """Yield the slips in expected arguments, and remove their counterparts from the `remaining` actual ones."""
    for name, template in args.items():
        if name in remaining or template.fits(ABSENT):
            yield from _value_slips(code_mark(show_name(name)), template, remaining.pop(name, ABSENT))
            continue
        intended = None if name in known else _intended_argument(name, remaining, template, args)
        remaining.pop(intended or "", None)
        text = f"its argument is called {code_mark(show_name(intended))}"
        yield Slip(text, is_sure=True) if intended else None


def _intended_argument(
    name: str, actual: Mapping[str, object], template: Template, known: Collection[str]
) -> str | None:
    candidates = (other for other in actual if other not in known and is_one_slip_from(name, other))
    return next((other for other in candidates if template.fits(actual[other])), None)


def _value_slips(name: str, template: Template, actual: object) -> list[Slip | None]:
    """Return the slip of a value that does not fit: its type, its case, or further keys; `None` if there is another reason."""
    if template.fits(actual):
        return []
    text = show_value(actual) if actual is not ABSENT else "missing"
    other = next((each for each in _other_types(actual) if template.fits(each)), None)
    if other is not None:
        is_sure = isinstance(actual, str) or isinstance(other, str)
        return [Slip(f"its {name} is {text}, of another type", is_sure=is_sure)]
    if not isinstance(template, Plain):
        return [None]
    if _has_more_keys(template.source, actual):
        return [Slip(f"its {name}, {text}, has more keys (`subset` allows them)", is_sure=False)]
    if _fold(template.source) == _fold(actual) is not None:
        return [Slip(f"its {name} is {text} (`text` ignores case and white space)", is_sure=False)]
    return [None]


def _has_more_keys(expected: object, actual: object) -> bool:
    return isinstance(expected, Mapping) and bool(expected) and Subset().fits(expected, actual)


def _other_types(value: object) -> Iterator[object]:
    """Yield the same value written as another type."""
    if isinstance(value, bool):
        yield from (json.dumps(value), str(value), int(value))
    elif isinstance(value, int | float):
        yield from (json.dumps(value), *([bool(value)] if value in (0, 1) else []))
    elif isinstance(value, str) and len(value) <= 40:
        try:
            literal = json.loads(value.strip().lower())
        except ValueError:
            return
        if isinstance(literal, bool | int | float):
            yield literal


def _fold(value: object) -> str | None:
    """Return a text without its case and white space; `None` for any other value."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else None


def is_one_slip_from(name: str, other: str) -> bool:
    """Return whether two names differ by one letter (missing, added, replaced, or swapped with the next), ignoring case and separators.

    Names with different digits (`x1`, `x2`) are never a slip.
    """
    one, two = (each.casefold().replace("_", "").replace("-", "") for each in (name, other))
    if max(len(one), len(two)) < SHORTEST or _numbers(one) != _numbers(two):
        return False
    start = next(
        (at for at, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(two)),
    )
    one, two = one[start:], two[start:]
    is_swapped = one[1::-1] == two[:2] and one[2:] == two[2:]
    return is_swapped or one[1:] == two[1:] or one[1:] == two or one == two[1:]


def _numbers(name: str) -> str:
    return "".join(filter(str.isdigit, name))


# --- Names of tools that differ from a known one only by case, separators or look-alike letters ---


Named = tuple[str, str]
"""The place and the name of a tool that is written there."""

_SEPARATORS = re.compile(r"[\s_\-./:\u2010-\u2015\u2212]+")
_HOMOGLYPHS = str.maketrans(
    {
        **dict(zip("авсԁеһіјкмопрԛгѕтуԝх", "abcdehijkmonpqrstywx", strict=True)),
        **dict(zip("αβεηικνορτυχω", "abeniknoptuxw", strict=True)),
        **dict(zip("ɑɡı01l|", "agioiii", strict=True)),
    }
)
"""Look-alike letters after case folding."""


def _skeleton(name: str) -> str:
    """Return the same text for names that differ only by case, separators, width, invisible characters or look-alike letters."""
    text = normalize("NFKC", name).casefold()
    text = "".join(each for each in text if each.isprintable())
    return _SEPARATORS.sub("", text).translate(_HOMOGLYPHS)


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that differs from `name` only by case, separators and look-alike letters; `None` if there is none."""
    candidates = list(known)
    if name in candidates or name == ANY_TOOL:
        return None
    skeleton = _skeleton(name)
    return next((each for each in candidates if _skeleton(each) == skeleton), None)


def lookalike_problems(names: Iterable[Named], known: Collection[str]) -> Iterator[str]:
    """Yield a message for each of the names (with its place) that is a misspelled known one."""
    for where, name in dict.fromkeys(names):
        if (intended := lookalike(name, known)) is not None:
            yield misspelling_text(where, name, intended)


def misspelling_text(where: str, name: str, intended: str) -> str:
    """Return the message about a name that is another one misspelled."""
    return (
        f"{where}: no tool is called {code_mark(show_name(name))}, and {code_mark(show_name(intended))} differs from it only by case, separators "
        f"or look-alike letters: write {code_mark(show_name(intended))}"
    )


class NameSurvey:
    """Compares the names in forbidden calls and limits with the calls that cases expect."""

    def __init__(self, names: Iterable[Named], stated_by: Callable[[EvalCase], Iterable[Named]]) -> None:
        """Take the names of the criterion, each with its place, and a function that returns those of a case."""
        self._names = list(dict.fromkeys(names))
        self._stated_by = stated_by
        self._known: set[str] = set()
        self._warnings: dict[str, None] = {}

    def add_case(self, case: EvalCase) -> None:
        """Record which calls a case expects, and compare them with the calls that it forbids."""
        expected = expected_names(case)
        self._known |= expected
        for where, name in self._stated_by(case):
            self._warnings |= dict.fromkeys(_warnings(f"case {case.eval_id!r}: {where}", name, expected))

    def problems(self) -> Iterator[str]:
        """Yield names of the criterion that are misspelled names of expected calls; those of a case are reported with the case."""
        yield from lookalike_problems(self._names, self._known)

    def warnings(self) -> Iterator[str]:
        """Names that differ by one letter from the name of an expected call."""
        yield from self._warnings
        for where, name in self._names:
            yield from _warnings(where, name, self._known)


def expected_names(case: EvalCase) -> set[str]:
    """Return the tools that a case expects to be called."""
    return {call.name for turn in case.conversation or () for call in turn.tool_calls if call.name}


def _warnings(where: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name in known or name == ANY_TOOL or lookalike(name, known) is not None:
        return
    if intended := next((each for each in sorted(known) if is_one_slip_from(name, each)), None):
        yield f"{where}: no call of {code_mark(show_name(name))} is expected. Did you mean {code_mark(show_name(intended))}?"
