"""ROUGE-1 has the numbers of rouge-score with google-adk's tokenizer."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.metrics import rouge
from proctor.metrics.rouge import Rouge, rouge_1, tokenize

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
    return module.RougeScorer(["rouge1"], use_stemmer=True)


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
    theirs = scorer.score(reference, candidate)["rouge1"]
    ours = rouge_1(reference, candidate)
    assert ours == pytest.approx((theirs.precision, theirs.recall, theirs.fmeasure), rel=1e-9)


@given(ANYTHING, ANYTHING)
def test_figures_are_within_range_and_symmetric(one: str, other: str) -> None:
    there, back = rouge_1(one, other), rouge_1(other, one)
    assert all(0 <= figure <= 1 for figure in there)
    assert there.precision == back.recall
    assert there.fmeasure == pytest.approx(back.fmeasure)


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
    monkeypatch.setattr(rouge, "CACHED_WORDS", 10)
    texts = [f"running{number} jumped 東{chr(0x4E00 + number)}" for number in range(100)]
    first = [tokenize(text) for text in texts]
    assert len(rouge._stems) <= 10
    assert len(rouge._characters) <= 10
    assert [tokenize(text) for text in texts] == first
