"""The words for the state of a case: one declaration for `eval`, `compare`, `history`, the reports and the page.

The page has its copy in `ui/src/components/terms/caseWords.ts`; a test compares both.
"""

from __future__ import annotations

from dataclasses import dataclass

from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.analysis.history import Course
from proctor.schema.results.score import Outcome

WORDS = {outcome: outcome.value.replace("_", " ") for outcome in Outcome}
"""The outcome of a case or a trial: `passed`, `not run`."""
FLAKY = "flaky"
"""Some trials passed and some failed; in a history also: the outcome changed without a known cause."""


@dataclass(frozen=True, slots=True)
class CaseWord:
    """The word for one state."""

    state: str
    """For one case: `now fails`."""
    several: str
    """Behind a number above 1: `now fail`."""
    heading: tuple[str, str]
    """Above the cases, behind their number: for one and for several."""


def _case_word(state: str, several: str, heading: tuple[str, str] | None = None) -> CaseWord:
    return CaseWord(state, several, heading or (f"case {state}", f"cases {several}"))


NOW_FAILS = _case_word("now fails", "now fail")
NOW_PASSES = _case_word("now passes", "now pass")
MISSING = _case_word("has missing verdicts", "have missing verdicts")
FEWER_TRIALS = _case_word(
    "fewer trials pass", "pass fewer trials", ("case passes fewer trials", "cases pass fewer trials")
)
MORE_TRIALS = _case_word(
    "more trials pass", "pass more trials", ("case passes more trials", "cases pass more trials")
)

CHANGE_WORDS: dict[CaseChange, CaseWord] = {
    CaseChange.NOW_FAILS: NOW_FAILS,
    CaseChange.MISSING: MISSING,
    CaseChange.NOW_PASSES: NOW_PASSES,
    CaseChange.FEWER_TRIALS: FEWER_TRIALS,
    CaseChange.MORE_TRIALS: MORE_TRIALS,
}
"""What happened to a case between two runs."""
COURSE_WORDS: dict[Course, CaseWord] = {
    Course.BROKE: NOW_FAILS,
    Course.FAILING: _case_word(WORDS[Outcome.FAILED], WORDS[Outcome.FAILED]),
    Course.UNDECIDED: MISSING,
    Course.FLAKY: _case_word(FLAKY, FLAKY, ("case is flaky", "cases are flaky")),
    Course.FIXED: NOW_PASSES,
    Course.STEADY: _case_word(WORDS[Outcome.PASSED], WORDS[Outcome.PASSED]),
}
"""The state of a case over its runs."""


def counted(word: CaseWord, count: int) -> str:
    """Return a number of cases with their state: `1 now fails`, `2 now fail`."""
    return f"{count:,} {word.state if count == 1 else word.several}"
