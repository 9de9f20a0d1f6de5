"""The words for outcomes and for the state of a case: between two runs, and over many.

The page has its copy of them in `ui/src/components/terms/caseWords.ts`; a test compares both.
"""

from __future__ import annotations

from dataclasses import dataclass

from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.analysis.history import Course
from proctor.schema.results.run_result import Outcome

WORDS = {outcome: outcome.value.replace("_", " ") for outcome in Outcome}
"""The outcome of a case or a trial: `passed`, `not run`."""
LETTERS = {
    Outcome.PASSED: "p", Outcome.FAILED: "f", Outcome.ERROR: "e", Outcome.INCONCLUSIVE: "i", Outcome.NOT_RUN: "n",
    Outcome.SKIPPED: "s",
}  # fmt: skip
"""One letter for each case or trial of a strip."""
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


NOW_FAILS = CaseWord("now fails", "now fail", ("case now fails", "cases now fail"))
NOW_PASSES = CaseWord("now passes", "now pass", ("case now passes", "cases now pass"))
MISSING = CaseWord(
    "has missing verdicts",
    "have missing verdicts",
    ("case has missing verdicts", "cases have missing verdicts"),
)
CHANGE_WORDS: dict[CaseChange, CaseWord] = {
    CaseChange.NOW_FAILS: NOW_FAILS,
    CaseChange.MISSING: MISSING,
    CaseChange.NOW_IN_ERROR: CaseWord(
        "now in error", "now in error", ("case now in error", "cases now in error")
    ),
    CaseChange.NOW_PASSES: NOW_PASSES,
    CaseChange.NO_LONGER_IN_ERROR: CaseWord(
        "no longer in error", "no longer in error", ("case no longer in error", "cases no longer in error")
    ),
    CaseChange.FEWER_TRIALS: CaseWord(
        "fewer trials pass", "pass fewer trials", ("case passes fewer trials", "cases pass fewer trials")
    ),
    CaseChange.MORE_TRIALS: CaseWord(
        "more trials pass", "pass more trials", ("case passes more trials", "cases pass more trials")
    ),
    CaseChange.WITHIN_NOISE: CaseWord(
        "changed within noise",
        "changed within noise",
        ("case changed within noise", "cases changed within noise"),
    ),
}
"""What happened to a case between two runs."""
COURSE_WORDS: dict[Course, CaseWord] = {
    Course.BROKE: NOW_FAILS,
    Course.FAILING: CaseWord("failed", "failed", ("case failed", "cases failed")),
    Course.UNDECIDED: MISSING,
    Course.FLAKY: CaseWord(FLAKY, FLAKY, ("case is flaky", "cases are flaky")),
    Course.FIXED: NOW_PASSES,
    Course.STEADY: CaseWord("passed", "passed", ("case passed", "cases passed")),
}
"""The state of a case over its runs."""


def counted(word: CaseWord, count: int) -> str:
    """Return a number of cases with their state: `1 now fails`, `2 now fail`."""
    return f"{count:,} {word.state if count == 1 else word.several}"
