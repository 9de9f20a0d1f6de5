"""Evidence and cases as bytes: what no file can hold becomes visible, and equal content has one hash."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from proctor.schema.case import EvalCase
from proctor.schema.content import Content
from proctor.schema.event import Event
from proctor.schema.kept import case_hash, content_hash, kept_json
from proctor.schema.trial import Trial, Turn


def trial(text: str) -> Trial:
    said = Content.model_validate({"role": "user", "parts": [{"text": "?"}]})
    return Trial(
        eval_set_id="s", eval_id="e", turns=[Turn(user_content=said, events=[Event.said("x")])], notes=[text]
    )


@given(st.text())
def test_any_text_is_kept_as_it_is_but_for_half_characters(text: str) -> None:
    kept = Trial.model_validate_json(kept_json(trial(text)))
    assert kept.notes == [text]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("\ud800", "\ufffd", id="half a character"),
        pytest.param("a\udc00b\ud800", "a\ufffdb\ufffd", id="two halves in the wrong order"),
        pytest.param("\ud83d\ude00", "\U0001f600", id="both halves of one"),
        pytest.param("\x00", "\x00", id="NUL is a character of JSON"),
    ],
)
def test_half_a_character_becomes_visible(text: str, kept: str) -> None:
    assert json.loads(kept_json(trial(text)))["notes"] == [kept]


CASE = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}
CAMEL = {"evalId": "a", "conversation": [{"userContent": {"parts": [{"text": "hi"}]}}]}
EDITED = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "hi!"}]}}]}
EXTRA = {**CASE, "tags": ["new"]}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(CASE, True, id="the same"),
        pytest.param(CAMEL, True, id="spelled in camelCase"),
        pytest.param(EDITED, False, id="another word"),
        pytest.param(EXTRA, False, id="one more key, known or not"),
    ],
)
def test_a_case_is_known_by_what_it_says(other: object, same: bool) -> None:
    hashed = case_hash(EvalCase.model_validate(CASE))
    assert len(hashed) == 16
    assert (case_hash(EvalCase.model_validate(other)) == hashed) is same


def test_a_hash_is_hex_of_sixteen_bytes() -> None:
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"
