"""`exact_match` and `contains`: which texts are the same, and which text contains another."""

import time
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError
from proctor.metrics.text.contains import NO_TEXT_TO_SEARCH
from proctor.metrics.text.visible_text import is_blank
from tests.metrics.text.text_scores import explanation, metric, reason, value

IGNORE_ALL = {
    "ignore_case": True,
    "ignore_whitespace": True,
    "ignore_punctuation": True,
    "ignore_accents": True,
}
TEXTS = st.text(st.sampled_from("aAé e\u0301ß.,\n\u200b東ก็"), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("reference", "answer", "options", "matches"),
    [
        ("Paris", "Paris", {}, True),
        ("Paris", " Paris\n", {}, True),
        ("Paris", "paris", {}, False),
        ("Paris", "PARIS", {"ignore_case": True}, True),
        ("Straße", "STRASSE", {"ignore_case": True}, True),
        ("ΟΔΟΣ", "οδος", {"ignore_case": True}, True),
        ("Paris", "Paris.", {}, False),
        ("Paris", "«Paris»!", {"ignore_punctuation": True}, True),
        ("well-known", "well known", {"ignore_punctuation": True}, True),
        ("well-known", "wellknown", {"ignore_punctuation": True}, False),
        ("a  b\n c", "a b c", {}, False),
        ("a  b\n c", "a b c", {"ignore_whitespace": True}, True),
        ("a\u00a0b\u200b", "a b", {"ignore_whitespace": True}, True),
        ("ab", "a b", {"ignore_whitespace": True}, False),
        ("café", "cafe\u0301", {}, True),
        ("café", "cafe", {}, False),
        ("café", "cafe", {"ignore_accents": True}, True),
        ("น้ำ", "น้ํา", {}, False),  # not the same in Unicode's own view
        ("か\u3099", "が", {"ignore_accents": True}, True),  # the same letter
        ("が", "か", {"ignore_accents": True}, False),  # a voiced mark is not an accent
        ("1", "1.0", {}, False),
        ("Résumé, s'il vous plaît!", "RESUME S IL\tVOUS PLAIT", IGNORE_ALL, True),
    ],
)
def test_exact(reference: str, answer: str, options: dict[str, Any], matches: bool) -> None:
    assert value("exact_match", reference, answer, **options) == (1.0 if matches else 0.0)


def test_an_empty_answer_can_be_expected() -> None:
    assert value("exact_match", None, " ", expected="") == 1.0
    assert value("exact_match", None, "something", expected=["", "nothing"]) == 0.0
    assert value("exact_match", None, None, expected="") == 1.0


def test_reference_without_countable_characters_contains_nothing_to_find() -> None:
    assert value("contains", "...", "!", ignore_punctuation=True) is None
    assert value("exact_match", "...", "!") == 0.0


@pytest.mark.parametrize(
    ("expected", "answer", "matches"),
    [
        ("!!!", "???", False),
        ("!!!", "!!!", True),
        ("!!!", " !!! ", True),
        ("!!!", "", False),
        ("!!!", None, False),
        ("", "???", False),
        ("", "", True),
        ("", "\u200b", True),
        ("！？", "？！", False),
        ("😀", "!", False),
        ("!", "!?", False),
    ],
)
@pytest.mark.parametrize("options", [{}, {"ignore_punctuation": True}, IGNORE_ALL])
def test_text_of_punctuation_only_is_compared_unchanged(
    expected: str, answer: str | None, matches: bool, options: dict[str, Any]
) -> None:
    assert value("exact_match", None, answer, expected=expected, **options) == float(matches)
    if expected:
        assert value("exact_match", expected, answer, **options) == float(matches)


FAMILY, WOMAN, FLAGS = "👩\u200d👩\u200d👧", "👩", "🇸🇪🇬🇧"
SEEN = {
    "letter without its accent": ("e", "cafe\u0301", False),
    "letter without an accent that Unicode cannot compose": ("x", "x\u0301 is the mean", False),
    "accent ignored": ("cafe", "café", False),
    "Hindi word without its vowel sign": ("कल", "कला", False),  # tomorrow, art
    "Hindi word": ("कल", "कल मिलते हैं", True),
    "Thai consonant without its tone": ("น", "น้ำ", False),
    "Thai word": ("น้ำ", "ดื่มน้ำเย็น", True),
    "Arabic without its points": ("كتاب", "هذا كتابٌ", True),  # points may be left out
    "Hebrew without its points": ("שלום", "שלוםְ", True),
    "one of a family": (WOMAN, FAMILY, False),
    "one of a family, last": ("👧", FAMILY, False),
    "family": (FAMILY, f"so: {FAMILY}!", True),
    "another skin": ("👍", "👍🏽", False),
    "how it is drawn": ("❤", "I ❤\ufe0f it", True),
    "number on a key": ("1", "press 1\ufe0f\u20e3", False),
    "two halves of flags": ("🇪🇬", FLAGS, False),  # Egypt is not between Sweden and Britain
    "two halves of many flags": ("🇧🇦", "🇦🇧" * 1500, False),
    "flag": ("🇬🇧", FLAGS, True),
    "flags": (FLAGS, f"at {FLAGS}, too", True),
    "half a flag": ("🇸", FLAGS, False),
    "last half of a flag": ("🇧", FLAGS, False),
    "a letter of flags alone": ("🇧", "a 🇧 c", True),
    "ideograph of extension B": ("野", "𠮷野家", True),
    "no width in it": ("password", "the pass\u200bword", True),
    "soft hyphen in it": ("password", "pass\u00adword", True),
    "joiner in it": ("password", "pass\u2060wo\ufeffrd", True),
    "marks of direction in it": ("password", "pass\u200fwo\u202erd", True),
    "Persian joiner": ("میخواهم", "من می\u200cخواهم", True),
    "Persian joiner looked for": ("می\u200cخواهم", "من میخواهم", True),
    "Hangul in letters": ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", True),
    "full width is read alike": ("ABC", "ＡＢＣ", True),
}


@pytest.mark.parametrize(("text", "answer", "found"), SEEN.values(), ids=SEEN)
def test_match_is_where_a_person_sees_it(text: str, answer: str, found: bool) -> None:
    assert value("contains", None, answer, expected=text) == float(found)
    assert value("contains", text, answer) == float(found)
    assert value("contains", None, answer, forbidden=text) == float(not found)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("a", "a\u0301"),
        ("a", "a\ufe0f"),
        ("🇦🇧", "🇦"),
        ("🇧🇦", "🇦🇧"),
        ("aab", "a\u200b"),
        ("👩", "👩\u200d"),
        ("aa", "a\u00ad"),
    ],
)
def test_hostile_answers_are_looked_through_in_time(text: str, answer: str) -> None:
    """Ten times the text takes about ten times as long: less than forty times, with room for a busy machine."""
    seconds = []
    for count in (2_000, 20_000):
        started = time.process_time()
        value("contains", None, answer * count, expected=text)
        value("contains", None, answer[:1] + answer[1:] * count, forbidden=text, whole_words=True)
        seconds.append(time.process_time() - started)
    assert seconds[1] < max(40 * seconds[0], 1)


def test_ignored_accent_is_not_part_of_a_letter() -> None:
    assert value("contains", None, "x\u0301 cafe\u0301", expected=["x", "cafe"], ignore_accents=True) == 1.0


def test_between_words_a_space_of_no_width_is_a_blank() -> None:
    for answer in ("hello\u200bworld", "hello world", "hello\n world"):
        assert value("contains", None, answer, expected="hello world", ignore_whitespace=True) == 1.0


@pytest.mark.parametrize(
    ("reference", "answer", "options", "message"),
    [
        ("Paris", "Paris", {}, "the answer is the expected text"),
        ("Paris", "Rome", {}, 'the answer is "Rome", expected "Paris"'),
        ("Paris", "paris", {}, 'the answer is "paris", expected "Paris"; it would match with ignore_case'),
        (
            "Café.",
            "CAFE",
            {"ignore_case": True},
            'the answer is "CAFE", expected "Café."; it would match with ignore_punctuation and ignore_accents',
        ),
        (None, "x", {"expected": ["a", "b"]}, "the answer is none of the 2 expected texts"),
        (
            None,
            "A",
            {"expected": ["a", "b"]},
            "the answer is none of the 2 expected texts; it would match with ignore_case",
        ),
    ],
)
def test_exact_reasons(reference: str | None, answer: str, options: dict[str, Any], message: str) -> None:
    assert reason("exact_match", reference, answer, **options) == message


@given(TEXTS, TEXTS)
def test_ignoring_more_never_takes_a_match_away(one: str, other: str) -> None:
    if value("exact_match", one, other) == 1.0 and value("exact_match", one, one, **IGNORE_ALL) is not None:
        assert value("exact_match", one, other, **IGNORE_ALL) == 1.0


@given(TEXTS, TEXTS)
def test_what_matches_exactly_is_contained(one: str, other: str) -> None:
    if value("exact_match", one, other) == 1.0:
        assert value("contains", one, other) == 1.0


@given(TEXTS, TEXTS, TEXTS)
def test_a_text_is_contained_between_blanks(before: str, text: str, after: str) -> None:
    if not is_blank(text):
        assert value("contains", text, f"{before} {text.strip()} {after}") == 1.0


@pytest.mark.parametrize(
    ("expected", "answer", "options", "score"),
    [
        ("rain", "It will rain today", {}, 1.0),
        ("rain", "Rain is near", {}, 0.0),
        ("rain", "Rain is near", {"ignore_case": True}, 1.0),
        ("art", "the party", {}, 1.0),
        ("art", "the party", {"whole_words": True}, 0.0),
        ("art", "the party of art", {"whole_words": True}, 1.0),
        ("art", "art, not party", {"whole_words": True}, 1.0),
        ("art", "a small part", {"whole_words": True}, 0.0),
        ("art", "arts and crafts", {"whole_words": True}, 0.0),
        ("art", "art", {"whole_words": True}, 1.0),
        ("art", "part, party, art", {"whole_words": True}, 1.0),
        ("4", "42", {"whole_words": True}, 0.0),
        ("é", "été", {"whole_words": True}, 0.0),
        ("東京", "東京都", {"whole_words": True}, 1.0),  # no blanks, so no words to be a piece of
        ("ฝน", "มีฝนตก", {"whole_words": True}, 1.0),
        ("C++", "C++ is old", {"whole_words": True}, 1.0),
        ("C", "C++ is old", {"whole_words": True}, 1.0),  # + is not a letter
        (["a", "b"], "a c", {}, 0.5),
        (["a", "b"], "a c", {"require": "any"}, 1.0),
        (["a", "b"], "c", {"require": "any"}, 0.0),
        (["a", "b"], "b a", {}, 1.0),
        ("two words", "two\nwords", {}, 0.0),
        ("two words", "two\nwords", {"ignore_whitespace": True}, 1.0),
        ("Paris.", "to Paris, today", {"ignore_punctuation": True}, 1.0),
        (" a ", "b a c", {}, 1.0),
        (" a ", "bac", {}, 0.0),  # blanks of an option are meant
        ("e", "é", {}, 0.0),  # a letter with its accent is another letter,
        ("e", "e\u0301", {}, 0.0),  # however it is written
        ("a", "a", {"forbidden": "b"}, 1.0),
        ("a", "a b", {"forbidden": "b"}, 0.0),
        ("a", "A B", {"forbidden": ["b", "c"], "ignore_case": True}, 0.0),
        ("a", "a bc", {"forbidden": "b", "whole_words": True}, 1.0),
    ],
)
def test_contains(expected: Any, answer: str, options: dict[str, Any], score: float) -> None:
    assert value("contains", None, answer, expected=expected, **options) == score


def test_the_whole_reference_is_looked_for() -> None:
    assert value("contains", " rain today\n", "It will rain today.") == 1.0
    assert value("contains", "rain today", "It will rain.") == 0.0


def test_only_forbidding_asks_for_nothing_else() -> None:
    assert value("contains", "reference", "something", forbidden="sorry") == 1.0
    assert value("contains", "reference", "I am sorry", forbidden="sorry") == 0.0
    assert explanation("contains", None, "", forbidden="sorry").warning == ""
    assert value("contains", None, "", forbidden="sorry") == 1.0


def test_empty_answer_without_forbidden_text_is_a_warning() -> None:
    from tests.metrics.text.text_scores import case_of, scored

    score = scored(metric("contains", forbidden="sorry"), case_of(None, ""))
    assert score.per_invocation[0].warning == NO_TEXT_TO_SEARCH


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        ("a b", {"expected": ["a", "b"]}, "the answer contains the expected texts and no forbidden ones"),
        ("a", {"expected": ["a", "b", "c"]}, 'not in the answer: "b", "c"'),
        ("a", {"expected": ["a", "b"], "require": "any"}, "the answer contains the expected texts and no forbidden ones"),
        ("x", {"expected": ["a", "b"], "require": "any"}, 'not in the answer: "a", "b"'),
        ("x", {"expected": "a", "forbidden": ["x", "y"]}, 'forbidden text in the answer: "x"; not in the answer: "a"'),
    ],
)  # fmt: skip
def test_contains_reasons(answer: str, options: dict[str, Any], message: str) -> None:
    assert reason("contains", None, answer, **options) == message


def test_details_contain_the_matches() -> None:
    found = explanation("contains", None, "a", expected=["a", "b"], forbidden="c")
    assert found.details == {
        "checks": [
            {"expected": "a", "found": True, "forbidden": False},
            {"expected": "b", "found": False, "forbidden": False},
            {"expected": "c", "found": False, "forbidden": True},
        ]
    }


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"expected": "...", "ignore_punctuation": True},
            "expected: a text without characters to search for",
        ),
        ({"forbidden": " "}, "forbidden: a text without characters to search for"),
        ({"require": "some"}, "require: Input should be 'all' or 'any'"),
        ({"forbiden": "x"}, "Did you mean 'forbidden'"),
        ({"forbidden": []}, "forbidden"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        metric("contains", **options)


HIDDEN = {
    "a space of zero width": "I am as an A\u200bI here",
    "a word joiner": "as an\u2060 AI",
    "fullwidth letters": "ａｓ ａｎ ＡＩ",
    "mathematical letters": "𝐚𝐬 𝐚𝐧 𝐀𝐈",
    "a soft hyphen": "as an A\u00adI",
    "all at once": "ａs\u200b ａn \U0001d400I",
}


@pytest.mark.parametrize("answer", HIDDEN.values(), ids=HIDDEN)
def test_what_is_forbidden_is_found_as_a_person_reads_it(answer: str) -> None:
    assert value("contains", None, answer, forbidden="as an AI") == 0.0
    assert value("contains", None, answer, forbidden="AS AN AI", ignore_case=True) == 0.0
    assert value("contains", None, answer, expected="as an AI") == 1.0
    assert value("regex_match", None, answer, forbidden=r"\bas an AI\b") == 0.0
    assert value("regex_match", None, answer, pattern="a", forbidden=["x", "(?i)as an ai"]) == 0.0


def test_what_is_forbidden_may_be_written_in_fullwidth_letters() -> None:
    assert value("contains", None, "as an AI", forbidden="ＡＩ") == 0.0


@pytest.mark.parametrize(
    ("expected", "answer", "same"),
    [
        ("Paris", "Ｐａｒｉｓ", 1.0),
        ("Paris", "Pa\u200bris", 1.0),
        ("Ｐaris", "Paris", 1.0),
        ("102", "10²", 0.0),
        ("1", "①", 0.0),
        ("Paris", "paris", 0.0),
    ],
)
def test_exact_match_compares_texts_as_a_person_reads_them(expected: str, answer: str, same: float) -> None:
    assert value("exact_match", expected, answer) == same
    assert value("contains", expected, answer) == same


def test_a_pattern_that_must_match_is_searched_in_the_exact_text() -> None:
    assert value("regex_match", None, "Ｐaris", pattern="^[A-Za-z]+$") == 0.0
