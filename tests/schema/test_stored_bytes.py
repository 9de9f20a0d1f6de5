"""Evidence and cases as bytes: what no file can hold becomes visible, and equal content has one hash."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Attempt, Failure, Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.case import EvalCase
from proctor.schema.format.content import Blob, Content, FunctionCall, Part, UsageMetadata, user_text
from proctor.schema.serialize import case_hash, content_hash, kept_json

texts = st.text()
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, values, max_size=3)
ids = st.none() | texts
events = st.one_of(
    st.builds(partial, st.just(Event.said), texts),
    st.builds(partial, st.sampled_from([Event.called, Event.returned]), texts, objects, id=ids),
    st.builds(partial, st.just(Event), state_delta=objects, partial=st.booleans(), custom=st.none() | texts),
    st.sampled_from(
        [
            partial(Event, usage_metadata=UsageMetadata(prompt_token_count=7, more=[None, 1])),
            partial(Event, content=Content(parts=[Part(inline_data=Blob(data=b"\xff\xfe", mime_type="image/png"))])),
            partial(Event, content=Content(parts=[Part(function_call=FunctionCall(name="f", other={"a": None}))])),
            partial(Event, content=Content(parts=[Part(text="t", thought_signature=b"\xfb")], role="model"), timestamp=1),
            partial(Event, long_running_tool_ids=["1"], grounding_metadata={"web_search_queries": ["q"], "zzz": {"d": None}}),
        ]
    ),
)  # fmt: skip


def trial(text: str) -> Trial:
    content = Content.model_validate({"role": "user", "parts": [{"text": "?"}]})
    return Trial(
        eval_set_id="s",
        eval_id="e",
        turns=[Turn(user_content=content, events=[Event.said("x")])],
        notes=[text],
    )


@given(st.text())
def test_any_text_is_stored_unchanged_except_for_half_characters(text: str) -> None:
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
def test_identity_of_a_case_follows_its_content(other: object, same: bool) -> None:
    hashed = case_hash(EvalCase.model_validate(CASE))
    assert len(hashed) == 16
    assert (case_hash(EvalCase.model_validate(other)) == hashed) is same


def test_a_hash_is_hex_of_sixteen_bytes() -> None:
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"


@pytest.mark.slow
@given(st.lists(events, max_size=4), values)
def test_evidence_is_written_as_its_serializer_writes_it(made: list[Any], anything: Any) -> None:
    def trial_of(kept: list[Event]) -> Trial:
        turn = Turn(user_content=user_text("q"), duration=0.1, app_details={"a": {"b": None}})
        turn.events.extend(kept)
        failure = Failure(where="agent", message="no", turn=1)
        earlier = Attempt(turns=[turn], failure=failure)
        state = {"k": anything}
        return Trial(
            eval_set_id="s", eval_id="e", turns=[turn], attempts=[earlier], final_state=state, failure=failure, x=1, y=None
        )  # fmt: skip

    trial = trial_of([make() for make in made])
    accessed = trial_of([copy.deepcopy(make()) for make in made])
    expected = accessed.model_dump_json(exclude_none=True, by_alias=False).encode()
    assert kept_json(trial) == expected
    assert kept_json(accessed) == expected
    assert kept_json(trial) == expected
