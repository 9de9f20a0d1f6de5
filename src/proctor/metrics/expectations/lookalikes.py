"""Names of tools that a reader can hardly distinguish: they differ only by case, separators or look-alike letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from unicodedata import normalize

from proctor.metrics.base import Survey
from proctor.metrics.expectations.call_patterns import ANY_TOOL
from proctor.metrics.expectations.misspelled_calls import is_one_slip_from
from proctor.metrics.reason_text import show_name
from proctor.schema.format.case import EvalCase

__all__ = ["JoinedSurvey", "NameSurvey", "describe", "expected_names", "lookalike", "lookalike_problems"]

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
