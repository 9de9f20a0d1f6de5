"""The sisters' matches of tokens have their figures; where ours differ by default, they are listed here."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.metrics.base import CaseView
from proctor.schema.format.invocation import Invocation
from proctor.schema.results.score import MetricScore
from tests.metrics.invocations import view
from tests.metrics.recorded import equal
from tests.metrics.text.text_scores import metric, reason, scored, value

SCRIPTS = st.text(st.sampled_from("ab AB.é東\u3000\x1c_1"), max_size=20)


def sister(shared: Path, name: str, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared / "golden" / "sister" / name).read_text("utf-8"))[
        "cases"
    ]
    assert len(found) == count
    return found


def invocation(parts: list[dict[str, str]] | None) -> Invocation:
    response = None if parts is None else {"role": "model", "parts": parts}
    return Invocation.model_validate({"user_content": {}, "final_response": response})


def texts(parts: list[str] | None) -> list[dict[str, str]] | None:
    return None if parts is None else [{"text": text} for text in parts]


def one_turn(vector: dict[str, Any]) -> CaseView:
    return view([invocation(vector["actual_parts"])], [invocation(vector["expected_parts"])])


def has_reference(vector: dict[str, Any]) -> bool:
    return any(part["text"].strip() for part in vector["expected_parts"])


def is_expected(score: MetricScore, vector: dict[str, Any]) -> bool:
    wanted = vector["expected_result"]
    turns = [turn["score"] for turn in wanted.get("per_invocation", [{"score": wanted.get("score")}])]
    return equal([each.value for each in score.per_invocation], turns)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("adk_rs_response.json", "final_response_match_v1"),
        ("ts_rouge.json", "token_set_f1"),
        ("ts_response_match.json", "token_set_f1"),
    ],
)
class TestRecordedAnswers:
    def test_to_the_letter_with_compat(self, shared: Path, file: str, name: str) -> None:
        for vector in sister(shared, file, 116):
            assert is_expected(scored(metric(name, compat="adk"), one_turn(vector)), vector), vector

    def test_by_default_but_for_empty_references(self, shared: Path, file: str, name: str) -> None:
        """Nothing to compare with is neither adk-rs's 1 nor @iqai/adk's 0: it is not applicable."""
        differing = 0
        for vector in sister(shared, file, 116):
            score = scored(metric(name), one_turn(vector))
            if has_reference(vector):
                assert is_expected(score, vector), vector
            else:
                assert score.not_applicable
                differing += 1
        assert differing == 16


def test_recorded_conversations(shared: Path) -> None:
    """Two differences: lists of different lengths are an error there, too, and an empty list has no turn to score."""
    for vector in sister(shared, "ts_response_match_lists.json", 28):
        actual, expected = (
            [invocation(texts(parts)) for parts in vector[side]] for side in ("actual", "expected")
        )
        if len(actual) != len(expected):
            assert "error" in vector["expected_result"]
            continue
        score = scored(metric("token_set_f1", compat="adk"), view(actual, expected))
        assert is_expected(score, vector), vector


def test_absent_answer_is_not_scored_where_the_original_rule_excludes_it() -> None:
    for actual, expected in ((None, [{"text": "a"}]), ([{"text": "a"}], None)):
        case = view([invocation(actual)], [invocation(expected)])
        assert scored(metric("token_set_f1", compat="adk"), case).not_applicable
    case = view([invocation(None)], [invocation([{"text": "a"}])])
    assert scored(metric("token_set_f1"), case).value == 0.0


@pytest.mark.parametrize(
    ("reference", "answer", "recall", "set_f1"),
    [
        ("The answer is 4", "4", 1 / 4, 2 / 5),
        ("4", "The answer is 4", 1.0, 2 / 5),
        ("the the the", "the", 1.0, 1.0),
        ("Rain.", "Rain", 0.0, 1.0),  # adk-rs leaves punctuation at the word
        ("café", "caf", 0.0, 1.0),  # @iqai/adk drops what is not ASCII
        ("東京 雨", "雨", 1 / 2, 0.0),
        ("a\u3000b", "b", 1 / 2, 2 / 3),
        ("a\x1cb", "b", 0.0, 2 / 3),  # a separator of files is not white space in Unicode
        ("ΟΔΟΣ", "οδος", 1.0, 0.0),
        ("don't", "don t", 0.0, 1.0),
        ("snake_case", "snake case", 0.0, 0.0),
    ],
)
def test_answers(reference: str, answer: str, recall: float, set_f1: float) -> None:
    assert value("final_response_match_v1", reference, answer) == pytest.approx(recall)
    assert value("token_set_f1", reference, answer) == pytest.approx(set_f1)


def test_reasons() -> None:
    assert reason("final_response_match_v1", "It rains today", "It rains") == (
        '2 of the reference\'s 3 words are in the answer of 2 words; missing: "today"'
    )
    assert reason("final_response_match_v1", "a a b", "a") == (
        '2 of the reference\'s 3 words are in the answer of 1 word; missing: "b"'
    )
    assert "ASCII" in reason("token_set_f1", "東京", "東京")


@given(SCRIPTS, SCRIPTS, SCRIPTS)
def test_saying_more_never_lowers_recall(reference: str, answer: str, more: str) -> None:
    if reference.strip():
        before = value("final_response_match_v1", reference, answer)
        after = value("final_response_match_v1", reference, f"{answer} {more}")
        assert after is not None
        assert before is not None
        assert after >= before


@given(SCRIPTS, SCRIPTS)
def test_the_f1_of_sets_is_symmetric(one: str, other: str) -> None:
    if one.strip() and other.strip():
        assert value("token_set_f1", one, other) == value("token_set_f1", other, one)


@pytest.mark.parametrize("name", ["final_response_match_v1", "token_set_f1"])
def test_canonically_equal_texts_are_equal_unless_compat_is_requested(name: str) -> None:
    for one, other in (
        ("café noir", "cafe\u0301 noir"),
        ("서울 rain", "\u1109\u1165\u110b\u116e\u11af rain"),
    ):
        assert value(name, one, other) == 1.0
    assert value(name, "café noir", "cafe\u0301 noir", compat="adk") != 1.0
