"""Stems are those of NLTK's Porter stemmer in its default (extended) mode."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proctor.metrics.porter import IRREGULAR, STEP_2, STEP_3, STEP_4, stem

SUFFIXES = [
    *(suffix for suffix, _ in (*STEP_2, *STEP_3)),
    *STEP_4,
    *"s es ies ied eed ed ing y e ll logi alli fulli sses at bl iz ss zz tt ying".split(),
]
ROOTS = st.text("abcdefghilmnorstuvwxyz", max_size=6) | st.text("aeybst019", max_size=4)
WORDS = st.builds("".join, st.tuples(ROOTS, *[st.sampled_from(["", *SUFFIXES])] * 3))


@pytest.fixture(scope="module")
def nltk_stem() -> Callable[[str], str]:
    porter = pytest.importorskip("nltk.stem.porter", reason="nltk, the oracle for stems, is not installed")
    stemmer: Callable[[str], str] = porter.PorterStemmer().stem
    return stemmer


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("a", "a"),
        ("is", "is"),
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("dies", "die"),
        ("dying", "die"),
        ("skies", "sky"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("sized", "size"),
        ("happy", "happi"),
        ("enjoy", "enjoy"),
        ("relational", "relat"),
        ("rationally", "ration"),
        ("hopefully", "hope"),
        ("geology", "geolog"),
        ("triplicate", "triplic"),
        ("adoption", "adopt"),
        ("cease", "ceas"),
        ("controlling", "control"),
        ("2ed", "2ed"),
    ],
)
def test_words(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(WORDS)
@settings(max_examples=2000)
@example("yyying")
@example("logi")
@example("sss")
def test_generated_words_stem_as_in_nltk(nltk_stem: Callable[[str], str], word: str) -> None:
    assert stem(word) == nltk_stem(word)


def test_irregular_words_stem_as_in_nltk(nltk_stem: Callable[[str], str]) -> None:
    assert {word: stem(word) for word in IRREGULAR} == {word: nltk_stem(word) for word in IRREGULAR}


def test_every_word_of_the_published_eval_sets_stems_as_in_nltk(
    nltk_stem: Callable[[str], str], shared: Path
) -> None:
    words: set[str] = set()
    for path in sorted((shared / "corpus").rglob("*.json")):
        words.update(re.findall(r"[a-z0-9]{1,30}", path.read_text("utf-8", errors="replace").lower()))
    assert len(words) > 5000
    assert {word for word in words if stem(word) != nltk_stem(word)} == set()
