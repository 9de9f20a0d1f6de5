"""`rouge_1`, `rouge_2`, `rouge_l`: the figures of ROUGE with a choice of measure and of words."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError
from proctor.metrics.text.rouge_metrics import OTHER_ORDER
from proctor.metrics.text.word_overlap import IDENTICAL
from tests.metrics.text.text_scores import explanation, metric, reason, value

ROUGE = ["rouge_1", "rouge_2", "rouge_l"]
SENTENCES = st.lists(
    st.sampled_from("It rains raining, rain in Paris. Tomorrow 21 degrees no".split()), min_size=1
)
TEXTS = SENTENCES.map(" ".join)


@pytest.fixture(scope="module")
def scorer() -> Any:
    module = pytest.importorskip(
        "rouge_score.rouge_scorer", reason="rouge-score, the oracle, is not installed"
    )
    return {
        stem: module.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stem) for stem in (True, False)
    }


@pytest.mark.nightly(check=3)
@pytest.mark.parametrize("name", ROUGE)
@pytest.mark.parametrize("tokenizer", ["adk", "unicode"])
@pytest.mark.parametrize("stem", [True, False])
@given(reference=TEXTS, answer=TEXTS)
def test_english_scores_as_in_rouge_score(
    scorer: Any, name: str, tokenizer: str, stem: bool, reference: str, answer: str
) -> None:
    theirs = scorer[stem].score(reference, answer)[name.replace("_", "").replace("l", "L")]
    for measure, wanted in (
        ("f", theirs.fmeasure),
        ("precision", theirs.precision),
        ("recall", theirs.recall),
    ):
        ours = value(name, reference, answer, measure=measure, tokenizer=tokenizer, stem=stem)
        assert ours == pytest.approx(1.0 if reference == answer else wanted)


@pytest.mark.slow
def test_recorded_pairs_of_google_adk(shared: Path) -> None:
    """`rouge_1` with ADK's tokenizer is `response_match_score`, with its stated differences."""
    vectors = json.loads((shared / "golden" / "rouge_pairs.json").read_text("utf-8"))["vectors"]
    assert len(vectors) == 288
    for vector in vectors:
        reference, answer = vector["reference"], vector["candidate"]
        ours = value("rouge_1", reference, answer, tokenizer="adk")
        assert ours == value("response_match_score", reference, answer)
        if reference.strip() and reference.strip() != answer.strip():
            assert ours == pytest.approx(vector["score"], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("spelling", "meant"),
    [("f", "f"), ("F1", "f"), ("fmeasure", "f"), ("Recall", "recall"), ("PRECISION", "precision")],
)
def test_measures_have_the_names_that_people_know(spelling: str, meant: str) -> None:
    assert metric("rouge_1", measure=spelling).criterion.measure == meant


@pytest.mark.parametrize(
    ("name", "reference", "answer", "options", "score"),
    [
        ("rouge_1", "a b c d", "a b", {"measure": "recall"}, 1 / 2),
        ("rouge_1", "a b c d", "a b", {"measure": "precision"}, 1.0),
        ("rouge_1", "raining", "rains", {}, 1.0),
        ("rouge_1", "raining", "rains", {"stem": False}, 0.0),
        ("rouge_1", "café ok", "cafe ok", {}, 1 / 2),
        ("rouge_1", "café ok", "cafe ok", {"ignore_accents": True}, 1.0),
        ("rouge_1", "١٢٣", "123", {}, 1.0),
        ("rouge_1", "١٢٣", "123", {"tokenizer": "adk"}, 0.0),
        ("rouge_1", "ไทย123", "ไทย 123", {}, 1.0),
        ("rouge_1", "ไทย123", "ไทย 123", {"tokenizer": "adk"}, pytest.approx(4 / 7)),
        ("rouge_1", "𠮷野家", "吉野家", {}, pytest.approx(2 / 3)),
        ("rouge_1", "👍 👍", "👍", {}, pytest.approx(2 / 3)),
        ("rouge_2", "rain", "rain", {}, 1.0),
        ("rouge_2", "rain", "rain.", {}, 0.0),
        ("rouge_l", "a b c", "c b a", {}, pytest.approx(1 / 3)),
        ("rouge_l", "a b c", "a x b y c", {"measure": "recall"}, 1.0),
    ],
)
def test_options(name: str, reference: str, answer: str, options: dict[str, Any], score: Any) -> None:
    assert value(name, reference, answer, **options) == score


@pytest.mark.parametrize(
    ("name", "reference", "answer", "message", "warning"),
    [
        ("rouge_1", "It rains", "It rains", IDENTICAL, ""),
        ("rouge_1", "It rains", "it rained!", "the answer has the reference's words", ""),
        ("rouge_1", "no rain", "rain? no!", "the answer has the reference's words", OTHER_ORDER),
        (
            "rouge_1",
            "It will rain",
            "It will snow",
            '2 of the reference\'s 3 words are in the answer of 3 words; missing: "rain"; not in the reference: "snow"',
            "",
        ),
        (
            "rouge_2",
            "It will rain",
            "It will snow",
            '1 of the reference\'s 2 pairs of words are in the answer of 2 pairs of words; missing: "will rain"; not in the reference: "will snow"',
            "",
        ),
        (
            "rouge_l",
            "no rain now",
            "rain no",
            '1 of the reference\'s 3 words are in the same order in the answer of 2 words; missing: "rain", "now"; not in the reference: "rain"',
            "",
        ),
        ("rouge_l", "no rain", "no", '1 of the reference\'s 2 words are in the same order in the answer of 1 word; missing: "rain"', ""),
        ("rouge_l", "no", "no rain", '1 of the reference\'s 1 word is in the same order in the answer of 2 words; not in the reference: "rain"', ""),
        ("rouge_1", "no rain", "no", '1 of the reference\'s 2 words are in the answer of 1 word; missing: "rain"', ""),
        ("rouge_1", "no", "no rain", '1 of the reference\'s 1 word is in the answer of 2 words; not in the reference: "rain"', ""),
        ("rouge_2", "rain", "rain.", "the reference has fewer than 2 words that ROUGE counts, so only an identical answer can match it", None),
        ("rouge_l", "...", "!", "the reference has no words that ROUGE counts, so only an identical answer can match it", None),
    ],
)  # fmt: skip
def test_reasons(name: str, reference: str, answer: str, message: str, warning: str | None) -> None:
    found = explanation(name, reference, answer)
    assert found.reason == message
    assert found.warning == (message if warning is None else warning)


def test_details_hold_figures_and_words_of_the_best_reference() -> None:
    found = explanation("rouge_1", None, "a b b", expected=["x y", "a b c c"])
    assert found.details == {
        "text": {"expected": "a b c c", "actual": "a b b"},
        "precision": pytest.approx(2 / 3),
        "recall": 1 / 2,
        "fmeasure": pytest.approx(4 / 7),
        "missing_words": ["c", "c"],
        "extra_words": ["b"],
    }


def test_accents_are_for_the_unicode_tokenizer_to_ignore() -> None:
    with pytest.raises(CriterionError, match="ignore_accents needs tokenizer 'unicode'"):
        metric("rouge_1", tokenizer="adk", ignore_accents=True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"measure": "f2"}, "measure: Input should be 'f', 'precision' or 'recall'"),
        ({"measure": 2}, "measure"),
        ({"tokenizer": "nltk"}, "tokenizer: Input should be 'unicode' or 'adk'"),
        ({"stemmer": True}, "unknown option 'stemmer'.* Did you mean 'stem'"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(CriterionError, match=problem):
        metric("rouge_1", **options)


@pytest.mark.parametrize("name", ROUGE)
@given(
    st.text(st.sampled_from("aé1 東ไย👍."), min_size=1, max_size=12),
    st.text(st.sampled_from("aé1 東ไย👍."), max_size=12),
)
def test_f_is_symmetric_and_recall_mirrors_precision(name: str, one: str, other: str) -> None:
    if one.strip() and other.strip():
        assert value(name, one, other) == pytest.approx(value(name, other, one))
        recall = value(name, one, other, measure="recall")
        assert recall == pytest.approx(value(name, other, one, measure="precision"))


def test_the_reason_of_a_long_text_is_short() -> None:
    words = [f"word{number}" for number in range(3000)]
    assert len(reason("rouge_l", " ".join(words), " ".join(words[::-1]))) < 500


def test_very_long_texts_are_explained_without_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.metrics.text.word_overlap.MOST_CELLS", 3)
    assert reason("rouge_l", "a b", "b a x") == (
        '2 of the reference\'s 2 words are in the answer of 3 words; not in the reference: "x"'
    )
    assert value("rouge_l", "a b", "b a x", measure="recall") == 1 / 2


SIGNS = [
    ("-5 degrees", "5 degrees", 'missing: "-"'),
    ("5 degrees", "−5 degrees", 'not in the reference: "-"'),
    ("5 < 6", "5 > 6", 'missing: "<"; not in the reference: ">"'),
    ("C++ or C#", "C or C", 'missing: "#", "+"'),
    ("$5", "€5", 'missing: "$"; not in the reference: "€"'),
    ("50 %", "50", 'missing: "%"'),
    ("1/2 cup", "1 2 cup", 'missing: "/"'),
    ("2^10", "2*10", 'missing: "^"; not in the reference: "*"'),
    ("-5 °C", "−5 °C", ""),  # one minus, two ways to write it
    ("sunny and 21", "**Sunny** and *21*!", ""),  # Markdown
    ("sunny", "# Sunny\n===\n> ~~sunny~~", ""),
    ("5-10 days", "5 to 10 days", ""),
    ("well-known", "well known", ""),
    ("C++", "C and more", ""),  # other words: reported anyway
]


@pytest.mark.parametrize(("reference", "answer", "message"), SIGNS)
@pytest.mark.parametrize("name", ["rouge_1", "rouge_2", "rouge_l", "response_match_score"])
def test_signs_that_no_word_shows_are_warned_about(
    name: str, reference: str, answer: str, message: str
) -> None:
    warning = explanation(name, reference, answer).warning
    if name == "rouge_2" and "fewer than 2 words" in warning:
        return
    assert ("signs differ, which this metric ignores" in warning) == bool(message)
    assert message in warning
    assert explanation(name, reference, reference).warning == ""
