"""`edit_similarity` is 1 − Levenshtein / length, and names the package to install where rapidfuzz is missing."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.errors import CriterionError, MissingExtraError
from tests.metrics.text.text_scores import TEXT_METRICS, explanation, metric, reason, value

TEXTS = st.text(st.sampled_from("abc é東"), max_size=8)


def distance(one: str, other: str) -> int:
    """The textbook's table."""
    row: list[int] = [*range(len(other) + 1)]
    for i, left in enumerate(one):
        before, row = row, [i + 1]
        for j, right in enumerate(other):
            row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + (left != right)))
    return row[-1]


@pytest.mark.parametrize(
    ("reference", "answer", "options", "score"),
    [
        ("kitten", "sitting", {}, 1 - 3 / 7),
        ("kitten", " kitten\n", {}, 1.0),
        ("Paris", "paris", {}, 4 / 5),
        ("Paris", "paris", {"ignore_case": True}, 1.0),
        ("café", "cafe\u0301", {}, 1.0),
        ("café", "cafe", {}, 3 / 4),
        ("café", "cafe", {"ignore_accents": True}, 1.0),
        ("a  b", "a b", {"ignore_whitespace": True}, 1.0),
        ("a-b", "a.b", {"ignore_punctuation": True}, 1.0),
        ("東京は雨", "東京は晴", {}, 3 / 4),
        ("It will rain", "it will, rain!", {"unit": "words"}, 1.0),
        ("It will rain", "It will not rain", {"unit": "words"}, 3 / 4),
        ("It rains", "It rain", {"unit": "words"}, 1 / 2),  # words as they are written, without stems
    ],
)
def test_scores(reference: str, answer: str, options: dict[str, Any], score: float) -> None:
    assert value("edit_similarity", reference, answer, **options) == pytest.approx(score)


@pytest.mark.parametrize("options", [{}, {"unit": "words"}, {"ignore_punctuation": True}])
def test_text_without_countable_characters_is_compared_unchanged(options: dict[str, Any]) -> None:
    for answer, score in (("!!!", 1.0), ("???", 0.0), ("!!", 2 / 3), ("", 0.0), ("well", 0.0)):
        assert value("edit_similarity", "!!!", answer, **options) == pytest.approx(score)
        assert value("edit_similarity", None, answer, expected="!!!", **options) == pytest.approx(score)
    assert "of 3 characters" in reason("edit_similarity", "!!!", "???", **options)


@pytest.mark.slow
@given(TEXTS.filter(str.strip), TEXTS)
def test_the_distance_is_that_of_the_table(reference: str, answer: str) -> None:
    one, other = reference.strip(), answer.strip()
    wanted = 1 - distance(one, other) / max(len(one), len(other))
    assert value("edit_similarity", reference, answer) == pytest.approx(wanted)


@given(TEXTS.filter(str.strip), TEXTS.filter(str.strip))
def test_it_is_symmetric(one: str, other: str) -> None:
    assert value("edit_similarity", one, other) == value("edit_similarity", other, one)


def test_reasons_and_details() -> None:
    assert reason("edit_similarity", "a", "a") == "the answer is the expected text"
    found = explanation("edit_similarity", "kitten", "sitting")
    assert found.reason == "3 of 7 characters must change to make the answer the expected text"
    assert found.details == {"text": {"expected": "kitten", "actual": "sitting"}, "changes": 3, "length": 7}


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(CriterionError, match="unit: Input should be 'characters' or 'words'"):
        metric("edit_similarity", unit="letters")


def test_message_without_rapidfuzz_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "rapidfuzz"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(
        MissingExtraError, match=r"'edit_similarity' needs .*pip install 'proctor\[rapidfuzz\]'"
    ):
        metric("edit_similarity")


@pytest.mark.slow
def test_listing_metrics_and_using_the_others_does_not_import_rapidfuzz() -> None:
    code = f"""
import sys
from proctor.common.registry import METRICS
from proctor.schema.format.criterion import BaseCriterion
for name in {TEXT_METRICS!r}:
    METRICS.get(name).facts
    if name != "edit_similarity":
        METRICS.get(name)(BaseCriterion(threshold=0.5))
print("rapidfuzz" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
