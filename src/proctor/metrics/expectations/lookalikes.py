"""Names of tools that a person can hardly tell apart: they differ only by case, separators or look-alike letters."""

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
"""A place, and the name of a tool that is written there."""

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
    """The same for names that differ only by case, separators, width, invisible characters or look-alike letters."""
    text = normalize("NFKC", name).casefold()
    text = "".join(each for each in text if each.isprintable())
    return _SEPARATORS.sub("", text).translate(_HOMOGLYPHS)


def lookalike(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` is, but for case, separators and look-alike letters; `None` where it is known or unlike."""
    there = list(known)
    if name in there or name == ANY_TOOL:
        return None
    wanted = _skeleton(name)
    return next((each for each in there if _skeleton(each) == wanted), None)


def lookalike_problems(named: Iterable[Named], known: Collection[str]) -> Iterator[str]:
    """Say which of the names (each with its place) are slips of a known one."""
    for where, name in dict.fromkeys(named):
        if (meant := lookalike(name, known)) is not None:
            yield describe(where, name, meant)


def describe(where: str, name: str, meant: str) -> str:
    """The sentence about a name that is a slip of another."""
    return (
        f"{where}: no tool is called `{show_name(name)}`, and `{show_name(meant)}` differs from it only by case, separators "
        f"or look-alike letters: write `{show_name(meant)}`"
    )


class NameSurvey:
    """Compares the names in prohibitions and limits with the calls that cases expect."""

    def __init__(self, named: Iterable[Named], stated_by: Callable[[EvalCase], Iterable[Named]]) -> None:
        """Take the names of the criterion, each with its place, and what returns those that a case states."""
        self._named = list(dict.fromkeys(named))
        self._stated_by = stated_by
        self._known: set[str] = set()
        self._doubts: dict[str, None] = {}

    def see(self, case: EvalCase) -> None:
        """Note which calls a case expects; compare them with what it forbids itself."""
        expected = expected_names(case)
        self._known |= expected
        for where, name in self._stated_by(case):
            self._doubts |= dict.fromkeys(_doubts(f"case {case.eval_id!r}: {where}", name, expected))

    def problems(self) -> Iterator[str]:
        """Names of the criterion that are slips of an expected call's; those of a case are reported with the case."""
        yield from lookalike_problems(self._named, self._known)

    def doubts(self) -> Iterator[str]:
        """Names that differ by one letter from the name of an expected call."""
        yield from self._doubts
        for where, name in self._named:
            yield from _doubts(where, name, self._known)


def expected_names(case: EvalCase) -> set[str]:
    """The tools that a case expects to be called."""
    return {call.name for turn in case.conversation or () for call in turn.tool_calls if call.name}


def _doubts(where: str, name: str, known: Collection[str]) -> Iterator[str]:
    if name in known or name == ANY_TOOL or lookalike(name, known) is not None:
        return
    if meant := next((each for each in sorted(known) if is_one_slip_from(name, each)), None):
        yield f"{where}: no call of `{show_name(name)}` is expected. Did you mean `{show_name(meant)}`?"


class JoinedSurvey:
    """Several surveys as one."""

    def __init__(self, surveys: Iterable[Survey]) -> None:
        self._surveys = list(surveys)

    def see(self, case: EvalCase) -> None:
        """Show a case to each."""
        for survey in self._surveys:
            survey.see(case)

    def problems(self) -> Iterator[str]:
        """Those of all."""
        return (problem for survey in self._surveys for problem in survey.problems())

    def doubts(self) -> Iterator[str]:
        """Those of all."""
        return (doubt for survey in self._surveys for doubt in survey.doubts())
