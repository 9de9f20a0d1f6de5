"""Which words of two texts differ."""

import pytest
from hypothesis import given, strategies as st

from proctor.reports.content.text_blocks import Pieces
from proctor.reports.evidence.value_diff import MOST_WORDS, elide, word_difference


def shown(pieces: Pieces) -> str:
    return "".join(f"[{piece.text}]" if piece.changed else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("expected", "actual", "left", "right"),
    [
        ("same words", "same words", "same words", "same words"),
        ("a table for 2 at 7", "a table for 4 at 7", "a table for [2] at 7", "a table for [4] at 7"),
        ("the end", "not the end", "the end", "[not ]the end"),
        ("one two three four", "one four", "one [two three ]four", "one four"),
        ("I booked a red car now", "I booked an old van now", "I booked [a red car] now", "I booked [an old van] now"),
        ("", "something", "", "[something]"),
        ("something", "", "[something]", ""),
        ("entirely different", "no word alike at all!", "[entirely different]", "[no word alike at all!]"),
        ("今日は晴れです", "今日は雨です", "今日は[晴れ]です", "今日は[雨]です"),
        ("Done", "done", "[Done]", "[done]"),
        ("a b", "a  b", "a[ ]b", "a[  ]b"),
        ("मैं हिन्दी बोलता हूँ", "मैं तमिल बोलता हूँ", "मैं [हिन्दी] बोलता हूँ", "मैं [तमिल] बोलता हूँ"),
        ("الطاولة لشخصين", "الطاولة لأربعة", "الطاولة [لشخصين]", "الطاولة [لأربعة]"),
        ("cafe\u0301 noir", "cafe noir", "[cafe\u0301] noir", "[cafe] noir"),
        ("ok 👍🏽 now", "ok 👍🏿 now", "ok [👍🏽] now", "ok [👍🏿] now"),
        ("a 👩\u200d🚀 b", "a 👩\u200d🏫 b", "a [👩\u200d🚀] b", "a [👩\u200d🏫] b"),
    ],
)  # fmt: skip
def test_what_is_marked(expected: str, actual: str, left: str, right: str) -> None:
    wanted, made = word_difference(expected, actual)
    assert (shown(wanted), shown(made)) == (left, right)


WORDS = st.lists(st.sampled_from(["a", "b", "the", "table", " ", ".", "\n", "é"]), max_size=30).map("".join)


@given(WORDS, WORDS)
def test_pieces_joined_are_the_texts_and_unchanged_words_are_the_same(expected: str, actual: str) -> None:
    wanted, made = word_difference(expected, actual)
    assert "".join(piece.text for piece in wanted) == expected
    assert "".join(piece.text for piece in made) == actual
    same = ["".join(piece.text for piece in side if not piece.changed).split() for side in (wanted, made)]
    assert same[0] == same[1]
    assert (expected == actual) == (not any(piece.changed for piece in [*wanted, *made]))


def test_of_long_texts_only_the_words_that_differ_are_marked() -> None:
    sentences = [f"Sentence {number} is about the table of guest {number}." for number in range(200)]
    changed = [
        *sentences[:40],
        "Sentence 40 is about the bill of guest 40.",
        *sentences[41:90],
        *sentences[91:],
    ]
    wanted, made = word_difference(" ".join(sentences), " ".join(changed))
    assert [piece.text.strip(" .") for piece in wanted if piece.changed] == [
        "table",
        sentences[90].strip("."),
    ]
    assert [piece.text for piece in made if piece.changed] == ["bill"]


def test_a_very_long_sentence_is_compared_from_both_ends_only() -> None:
    expected = "start " + "x y z " * MOST_WORDS + "end"
    actual = "start " + "p q r " * MOST_WORDS + "end"
    wanted, _ = word_difference(expected, actual)
    assert [piece.changed for piece in wanted] == [False, True, False]


def test_the_middle_of_long_unchanged_stretches_is_left_out() -> None:
    long = "word " * 60
    wanted, made = word_difference(f"{long}2 {long}", f"{long}4 {long}")
    assert len(shown(elide(wanted))) < 120
    assert "[2]" in shown(elide(wanted))
    assert shown(elide(made)).startswith("… ")
    assert shown(elide(made)).endswith(" …")


def test_short_texts_are_shown_whole() -> None:
    wanted, made = word_difference("Table for 2 at 7", "Table for 4 at 7")
    assert elide(wanted) == wanted
    assert elide(made) == made
