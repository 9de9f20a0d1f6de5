"""One word for each state of a case: declared once, with a copy for the page, and used by every surface."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.reports.content.case_words import CHANGE_WORDS, COURSE_WORDS, WORDS, counted
from proctor.schema.analysis.comparison import CaseChange
from proctor.schema.analysis.history import Course
from proctor.schema.results.score import Outcome

ROOT = Path(__file__).resolve().parents[3]
COPY = ROOT / "ui/src/components/terms/caseWords.ts"
DECLARATION = ROOT / "src/proctor/reports/content/case_words.py"


def copied(name: str) -> dict[str, str | tuple[str, ...]]:
    """Return a table of the page's copy: one text or several by key."""
    text = COPY.read_text(encoding="utf-8").partition(f"export const {name} = {{")[2].partition("}")[0]
    lines = re.findall(r"^  (\w+): (.+),$", text, re.MULTILINE)
    found = {key: tuple(re.findall(r'"([^"]*)"', value)) for key, value in lines}
    return {key: words[0] if len(words) == 1 else words for key, words in found.items()}


def test_the_page_has_the_words_of_the_declaration() -> None:
    assert copied("OUTCOME_WORDS") == {outcome.value: word for outcome, word in WORDS.items()}
    for name, table in (("CHANGE_WORDS", CHANGE_WORDS), ("COURSE_WORDS", COURSE_WORDS)):
        assert copied(name) == {key.value: (word.state, word.several) for key, word in table.items()}


def test_every_state_has_a_word() -> None:
    assert ([*WORDS], [*CHANGE_WORDS], [*COURSE_WORDS]) == ([*Outcome], [*CaseChange], [*Course])


def test_the_same_state_has_the_same_word_in_a_comparison_and_in_a_history() -> None:
    assert COURSE_WORDS[Course.BROKE] is CHANGE_WORDS[CaseChange.NOW_FAILS]
    assert COURSE_WORDS[Course.FIXED] is CHANGE_WORDS[CaseChange.NOW_PASSES]
    assert COURSE_WORDS[Course.UNDECIDED] is CHANGE_WORDS[CaseChange.MISSING]
    assert COURSE_WORDS[Course.FAILING].state == WORDS[Outcome.FAILED]
    assert COURSE_WORDS[Course.STEADY].state == WORDS[Outcome.PASSED]


@pytest.mark.parametrize(("count", "text"), [(1, "1 now fails"), (1200, "1,200 now fail")], ids=str)
def test_a_number_of_cases_has_their_word(count: int, text: str) -> None:
    assert counted(CHANGE_WORDS[CaseChange.NOW_FAILS], count) == text


def _literals(folder: str, pattern: str) -> Iterator[tuple[str, str]]:
    for path in (ROOT / folder).rglob("*.*"):
        if (
            path.suffix in {".py", ".ts", ".tsx"}
            and ".test." not in path.name
            and path not in (COPY, DECLARATION)
        ):
            for text in re.findall(r"\"([^\"\n]*)\"", path.read_text(encoding="utf-8")):
                if re.fullmatch(pattern, text, re.IGNORECASE):
                    yield path.name, text


def test_no_surface_declares_a_word_of_its_own() -> None:
    words = {
        text
        for word in (*CHANGE_WORDS.values(), *COURSE_WORDS.values())
        for text in (word.state, word.several)
    }
    states = "|".join(sorted(words - {"passed", "failed", "flaky"}))
    other = "broke|still failing|fixed|not scored|verdicts missing|not reached"
    found = [
        *_literals("src/proctor/analysis", states),
        *_literals("src/proctor/reports", states),
        *_literals("ui/src", states),
    ]
    assert found == []
    names = {
        ("history.py", "broke"),
        ("history.py", "fixed"),
        ("api.gen.ts", "broke"),
        ("api.gen.ts", "fixed"),
    }
    seen = {*_literals("src/proctor/analysis/history", other), *_literals("ui/src/screens/history", other)}
    assert seen <= names
