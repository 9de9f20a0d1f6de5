"""Detects misspelled tools and arguments in forbidden or limited calls: such an expectation would never fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from unicodedata import normalize

from proctor.metrics.base import Survey
from proctor.metrics.expectations.call_patterns import ANY_TOOL, CallPattern, Made
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.kinds import Plain, Subset, Template
from proctor.metrics.reason_text import show_name, show_value
from proctor.schema.format.case import EvalCase

__all__ = [
    "JoinedSurvey",
    "NameSurvey",
    "Slip",
    "describe",
    "expected_names",
    "is_one_slip_from",
    "lookalike",
    "lookalike_problems",
    "slips_between",
]

SHORTEST = 3
"""The minimum length of the longer of two names that can be misspellings of each other; `x` and `y` are not."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One reason for a mismatch that is probably a mistake in the expectation."""

    text: str
    is_sure: bool
    """True if it is hardly anything else: the same value with another type, one letter of a name."""


def slips_between(pattern: CallPattern, made: Made, known: Collection[str]) -> list[Slip]:
    """Return the reasons for the mismatch of a call if all of them are slips; empty otherwise, or without a mismatch.

    `known`: arguments that are certainly spelled correctly.
    """
    args, remaining = pattern.args or {}, dict(made.args or {})
    slips: list[Slip | None] = []
    for name, template in args.items():
        if name not in remaining and not template.fits(ABSENT):
            other = None if name in known else _intended_argument(name, remaining, template, args)
            remaining.pop(other or "", None)
            slips.append(
                Slip(f"its argument is called `{show_name(other)}`", is_sure=True) if other else None
            )
        elif not template.fits(value := remaining.pop(name, ABSENT)):
            slips.append(_value_slip(f"`{show_name(name)}`", template, value))
    if pattern.response is not None and not pattern.response.fits(made.response):
        slips.append(_value_slip("response", pattern.response, made.response))
    if pattern.args is not None and remaining and not pattern.other_args:
        return []
    return [] if None in slips else [slip for slip in slips if slip is not None]


def _intended_argument(
    name: str, actual: Mapping[str, object], template: Template, stated: Collection[str]
) -> str | None:
    candidates = (other for other in actual if other not in stated and is_one_slip_from(name, other))
    return next((other for other in candidates if template.fits(actual[other])), None)


def _value_slip(name: str, template: Template, actual: object) -> Slip | None:
    """Return the slip if a value is the expected one except for its type, its case, or further keys."""
    shown = show_value(actual) if actual is not ABSENT else "missing"
    if (other := next((each for each in _other_types(actual) if template.fits(each)), None)) is not None:
        return Slip(
            f"its {name} is {shown}, of another type",
            is_sure=isinstance(actual, str) or isinstance(other, str),
        )
    if not isinstance(template, Plain):
        return None
    expected = template.source
    if (
        isinstance(expected, Mapping)
        and isinstance(actual, Mapping)
        and expected
        and Subset().fits(expected, actual)
    ):
        return Slip(f"its {name}, {shown}, has more keys (`subset` allows them)", is_sure=False)
    if isinstance(expected, str) and isinstance(actual, str) and _fold(expected) == _fold(actual):
        return Slip(f"its {name} is {shown} (`text` ignores case and white space)", is_sure=False)
    return None


def _other_types(value: object) -> Iterator[object]:
    """Yield the same value written as another type."""
    if isinstance(value, bool):
        yield from (json.dumps(value), str(value), int(value))
    elif isinstance(value, int | float):
        yield from (json.dumps(value), *([bool(value)] if value in (0, 1) else []))
    elif isinstance(value, str) and len(value) <= 40:
        try:
            read = json.loads(value.strip().lower())
        except ValueError:
            return
        if isinstance(read, bool | int | float):
            yield read


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def is_one_slip_from(name: str, other: str) -> bool:
    """Return whether two names differ by one letter (missing, added, replaced, or swapped with the next), ignoring case and separators.

    Names with different digits (`x1`, `x2`) are never a slip.
    """
    one, two = (each.casefold().replace("_", "").replace("-", "") for each in (name, other))
    if max(len(one), len(two)) < SHORTEST or _numbers(one) != _numbers(two):
        return False
    if len(one) > len(two):
        one, two = two, one
    start = next((at for at in range(len(one)) if one[at] != two[at]), len(one))
    rest, others = one[start:], two[start:]
    if len(one) < len(two):
        return len(two) - len(one) == 1 and rest == others[1:]
    return rest[1:] == others[1:] or (rest[1::-1] == others[:2] and rest[2:] == others[2:])


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
            yield describe(where, name, intended)


def describe(where: str, name: str, intended: str) -> str:
    """Return the message about a name that is another one misspelled."""
    return (
        f"{where}: no tool is called `{show_name(name)}`, and `{show_name(intended)}` differs from it only by case, separators "
        f"or look-alike letters: write `{show_name(intended)}`"
    )


class NameSurvey:
    """Compares the names in forbidden calls and limits with the calls that cases expect."""

    def __init__(self, names: Iterable[Named], stated_by: Callable[[EvalCase], Iterable[Named]]) -> None:
        """Take the names of the criterion, each with its place, and a function that returns those of a case."""
        self._names = list(dict.fromkeys(names))
        self._stated_by = stated_by
        self._known: set[str] = set()
        self._doubts: dict[str, None] = {}

    def see(self, case: EvalCase) -> None:
        """Record which calls a case expects, and compare them with the calls that it forbids."""
        expected = expected_names(case)
        self._known |= expected
        for where, name in self._stated_by(case):
            self._doubts |= dict.fromkeys(_doubts(f"case {case.eval_id!r}: {where}", name, expected))

    def problems(self) -> Iterator[str]:
        """Yield names of the criterion that are misspelled names of expected calls; those of a case are reported with the case."""
        yield from lookalike_problems(self._names, self._known)

    def doubts(self) -> Iterator[str]:
        """Names that differ by one letter from the name of an expected call."""
        yield from self._doubts
        for where, name in self._names:
            yield from _doubts(where, name, self._known)


def expected_names(case: EvalCase) -> set[str]:
    """Return the tools that a case expects to be called."""
    return {call.name for turn in case.conversation or () for call in turn.tool_calls if call.name}


def _doubts(where: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name in known or name == ANY_TOOL or lookalike(name, known) is not None:
        return
    if intended := next((each for each in sorted(known) if is_one_slip_from(name, each)), None):
        yield f"{where}: no call of `{show_name(name)}` is expected. Did you mean `{show_name(intended)}`?"


class JoinedSurvey:
    """Several surveys as one."""

    def __init__(self, surveys: Iterable[Survey]) -> None:
        self._surveys = list(surveys)

    def see(self, case: EvalCase) -> None:
        """Pass a case to each survey."""
        for survey in self._surveys:
            survey.see(case)

    def problems(self) -> Iterator[str]:
        """Yield the problems of all surveys."""
        return (problem for survey in self._surveys for problem in survey.problems())

    def doubts(self) -> Iterator[str]:
        """Yield the warnings of all surveys."""
        return (doubt for survey in self._surveys for doubt in survey.doubts())
