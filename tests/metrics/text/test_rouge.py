"""ROUGE has the numbers of rouge-score, ROUGE-1 with google-adk's tokenizer those of google-adk."""

import json
import random
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.metrics.text import rouge
from proctor.metrics.text.rouge import (
    Rouge,
    common_sequence,
    longest_common,
    ngrams,
    rouge_1,
    rouge_l,
    rouge_n,
    tokenize,
)

ASCII = st.text(st.characters(max_codepoint=127), max_size=80)
PHRASES = st.lists(
    st.sampled_from("the Rainy raining rains weather in Paris, Paris. is 21 2024".split())
).map(" ".join)
ANYTHING = st.text(max_size=60)


@pytest.fixture(scope="module")
def scorer() -> Any:
    module = pytest.importorskip(
        "rouge_score.rouge_scorer", reason="rouge-score, the oracle, is not installed"
    )
    return module.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("  ...!? ", []),
        ("😀👍", []),
        ("The Dogs are running.", ["the", "dog", "are", "run"]),
        ("a_b-c", ["a", "b", "c"]),
        ("naïve cafés", ["naïve", "cafés"]),  # not ASCII: kept whole, not stemmed
        ("ＦＵＬＬ　width", ["full", "width"]),
        ("東京は雨", ["東", "京", "は", "雨"]),
        ("東京2024年", ["東", "京", "2024", "年"]),
        ("ไทย123", ["ไ", "ท", "ย123"]),
        ("น้ำ", ["น้ํ", "า"]),  # NFKC splits SARA AM, and its second half is a letter
        ("ตี x", ["ตี", "x"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("١٢٣", ["١٢٣"]),
        ("x²", ["x2"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("", "", Rouge(0, 0, 0)),
        ("a", "", Rouge(0, 0, 0)),
        ("a b c d", "a b", Rouge(1, 1 / 2, 2 / 3)),
        ("a a", "a a a a", Rouge(1 / 2, 1, 2 / 3)),
        ("no rain tomorrow", "Tomorrow: rain, no?", Rouge(1, 1, 1)),
    ],
)
def test_figures(reference: str, candidate: str, expected: Rouge) -> None:
    assert rouge_1(reference, candidate) == pytest.approx(expected)


def test_recorded_pairs(shared: Path) -> None:
    vectors = json.loads((shared / "golden" / "rouge_pairs.json").read_text("utf-8"))["vectors"]
    assert len(vectors) == 288
    for vector in vectors:
        figure = rouge_1(vector["reference"], vector["candidate"]).fmeasure
        assert figure == pytest.approx(vector["score"], rel=1e-9, abs=1e-12), vector


@given(ASCII | PHRASES, ASCII | PHRASES)
def test_ascii_texts_score_as_in_rouge_score(scorer: Any, reference: str, candidate: str) -> None:
    theirs = scorer.score(reference, candidate)
    expected, actual = tokenize(reference), tokenize(candidate)
    ours = {
        "rouge1": rouge_1(reference, candidate),
        "rouge2": rouge_n(expected, actual, 2),
        "rougeL": rouge_l(expected, actual),
    }
    for name, figures in ours.items():
        wanted = theirs[name]
        assert figures == pytest.approx((wanted.precision, wanted.recall, wanted.fmeasure), rel=1e-9), name


MEASURES: dict[str, Callable[[list[str], list[str]], Rouge]] = {
    "ROUGE-1": lambda expected, actual: rouge_n(expected, actual, 1),
    "ROUGE-2": lambda expected, actual: rouge_n(expected, actual, 2),
    "ROUGE-3": lambda expected, actual: rouge_n(expected, actual, 3),
    "ROUGE-L": rouge_l,
}
TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)


@pytest.mark.parametrize("name", MEASURES)
@given(TOKENS, TOKENS)
def test_figures_are_within_range_and_symmetric(name: str, one: list[str], other: list[str]) -> None:
    there, back = MEASURES[name](one, other), MEASURES[name](other, one)
    assert all(0 <= figure <= 1 for figure in there)
    assert there.precision == back.recall
    assert there.fmeasure == pytest.approx(back.fmeasure)


@pytest.mark.parametrize(("name", "fewest"), [*zip(MEASURES, (1, 2, 3, 1), strict=True)])
@given(TOKENS)
def test_a_text_matches_itself_entirely(name: str, fewest: int, tokens: list[str]) -> None:
    assert MEASURES[name](tokens, tokens).fmeasure == (1.0 if len(tokens) >= fewest else 0.0)


@pytest.mark.parametrize("name", MEASURES)
@given(TOKENS, TOKENS, TOKENS)
def test_saying_more_never_lowers_recall(
    name: str, reference: list[str], answer: list[str], more: list[str]
) -> None:
    assert MEASURES[name](reference, answer + more).recall >= MEASURES[name](reference, answer).recall


@pytest.mark.parametrize("name", MEASURES)
@given(TOKENS, TOKENS)
def test_words_that_the_reference_lacks_never_raise_precision(
    name: str, reference: list[str], answer: list[str]
) -> None:
    foreign = [*answer, "x"]
    assert MEASURES[name](reference, foreign).precision <= MEASURES[name](reference, answer).precision


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("name", MEASURES)
@given(TOKENS, TOKENS)
def test_only_equal_tokens_reach_one(name: str, reference: list[str], answer: list[str]) -> None:
    if MEASURES[name](reference, answer).fmeasure == 1.0 and name == "ROUGE-L":
        assert reference == answer
    elif MEASURES[name](reference, answer).fmeasure == 1.0:
        assert len(reference) == len(answer)


@given(TOKENS, TOKENS)
def test_the_order_narrows_what_is_shared(one: list[str], other: list[str]) -> None:
    """What both have in the same order, both have."""
    assert rouge_l(one, other).fmeasure <= rouge_n(one, other, 1).fmeasure + 1e-12


def longest_by_table(one: list[str], other: list[str]) -> int:
    """The textbook's table."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(TOKENS, TOKENS)
def test_the_longest_common_sequence_is_that_of_the_table(one: list[str], other: list[str]) -> None:
    assert longest_common(one, other) == longest_by_table(one, other)


@given(TOKENS, TOKENS)
def test_a_common_sequence_is_one_and_the_longest(one: list[str], other: list[str]) -> None:
    pairs = common_sequence(one, other)
    assert len(pairs) == longest_common(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(pairs))


def test_long_texts_are_compared_whole() -> None:
    chance = random.Random(3)
    one, other = ([chance.choice("abcdefgh") for _ in range(700)] for _ in range(2))
    assert longest_common(one, other) == len(common_sequence(one, other)) == longest_by_table(one, other)


@pytest.mark.parametrize(
    ("tokens", "n", "expected"),
    [("abc", 1, ["a", "b", "c"]), ("abc", 2, ["ab", "bc"]), ("abc", 3, ["abc"]), ("abc", 4, []), ("", 2, [])],
)
def test_runs(tokens: str, n: int, expected: list[str]) -> None:
    assert ["".join(run) for run in ngrams(tokens, n)] == expected


@pytest.mark.parametrize(
    ("reference", "candidate", "two", "longest"),
    [
        ("a b c d", "a b c d", 1.0, 1.0),
        ("a b c d", "a b d c", 1 / 3, 3 / 4),
        ("a b a b", "b a b a", 2 / 3, 3 / 4),
        (
            "police killed the gunman",
            "police kill the gunman",
            1.0,
            1.0,
        ),  # Lin's own; stems make them the same
        ("police killed the gunman", "the gunman kill police", 1 / 3, 1 / 2),
        ("a", "a", 0.0, 1.0),
        ("a b", "", 0.0, 0.0),
    ],
)
def test_pairs_and_sequences(reference: str, candidate: str, two: float, longest: float) -> None:
    expected, actual = tokenize(reference), tokenize(candidate)
    assert rouge_n(expected, actual, 2).fmeasure == pytest.approx(two)
    assert rouge_l(expected, actual).fmeasure == pytest.approx(longest)


@given(ANYTHING)
def test_a_text_with_words_matches_itself_entirely(text: str) -> None:
    assert rouge_1(text, text).fmeasure == (1.0 if tokenize(text) else 0.0)


@given(ANYTHING)
def test_tokens_are_never_empty(text: str) -> None:
    assert all(tokenize(text))


def test_order_of_words_does_not_count() -> None:
    words = "one two three four four five".split()
    shuffled = random.Random(7).sample(words, len(words))
    assert rouge_1(" ".join(words), " ".join(shuffled)).fmeasure == 1.0


def test_caches_are_bounded_and_do_not_change_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = {name: lru_cache(10)(getattr(rouge, name).__wrapped__) for name in ("_token", "_separate")}
    for name, cache in caches.items():
        assert getattr(rouge, name).cache_info().maxsize == rouge.CACHED_WORDS
        monkeypatch.setattr(rouge, name, cache)
    texts = [f"running{number} jumped 東{chr(0x4E00 + number)}" for number in range(100)]
    first = [tokenize(text) for text in texts]
    assert all(0 < cache.cache_info().currsize <= 10 for cache in caches.values())
    assert [tokenize(text) for text in texts] == first
