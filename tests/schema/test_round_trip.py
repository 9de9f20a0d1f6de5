"""A file is written back as it was read: any eval set of the models survives both ways of reading."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic.alias_generators import to_camel

from proctor.schema import EvalSet, to_adk_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
SECONDS = st.floats(0, 1e10, exclude_max=True)
UNKNOWN = st.dictionaries(st.sampled_from(["x_tags", "xNote", "x"]), JSON, max_size=2)


def _object(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    known = st.fixed_dictionaries(
        required, optional={name: st.none() | value for name, value in optional.items()}
    )
    return st.builds(lambda fields, unknown: {**fields, **unknown}, known, UNKNOWN)


CALLS = _object({}, id=TEXTS, name=TEXTS, args=OBJECTS)
RESPONSES = _object({}, id=TEXTS, name=TEXTS, response=OBJECTS)
BLOBS = _object({}, data=st.sampled_from(["", "Pj4=", "_z7_Pg=="]), mime_type=TEXTS)
PARTS = _object(
    {}, text=TEXTS, thought=st.booleans(), function_call=CALLS, function_response=RESPONSES, inline_data=BLOBS
)
CONTENTS = _object({}, parts=st.lists(PARTS, max_size=3), role=TEXTS)
EVENTS = _object(
    {"author": TEXTS}, content=CONTENTS, usage_metadata=_object({}, total_token_count=st.integers(0, 9))
)
OLDER = st.fixed_dictionaries(
    {},
    optional={
        "tool_uses": st.lists(CALLS, max_size=2),
        "tool_responses": st.lists(RESPONSES, max_size=2),
        "intermediate_responses": st.lists(
            st.tuples(TEXTS, st.lists(PARTS, max_size=2)).map(list), max_size=2
        ),
    },
)
DATA = OLDER | st.fixed_dictionaries({"invocation_events": st.lists(EVENTS, max_size=3)})
RUBRICS = _object({"rubric_id": TEXTS, "rubric_content": _object({}, text_property=TEXTS)}, type=TEXTS)
TURNS = _object(
    {"user_content": CONTENTS}, final_response=CONTENTS, intermediate_data=DATA, duration=SECONDS,
    rubrics=st.lists(RUBRICS, max_size=1),
)  # fmt: skip
CASES = _object(
    {"eval_id": TEXTS, "conversation": st.lists(TURNS, max_size=2)},
    session_input=_object({"app_name": TEXTS, "user_id": TEXTS}, session_id=TEXTS, state=OBJECTS),
    final_session_state=OBJECTS,
)
SETS = _object({"eval_set_id": TEXTS, "eval_cases": st.lists(CASES, max_size=2)}, name=TEXTS)


@pytest.mark.slow
@given(SETS)
def test_reading_what_was_written_gives_the_same_set(document: dict[str, Any]) -> None:
    eval_set = EvalSet.model_validate(document)
    full = EvalSet.model_validate_json(to_adk_json(eval_set, full=True))
    assert full.model_dump() == eval_set.model_dump()


@pytest.mark.slow
@given(SETS)
def test_short_file_has_the_content_of_the_full_one(document: dict[str, Any]) -> None:
    eval_set = EvalSet.model_validate(document)
    text = to_adk_json(eval_set)
    again = EvalSet.model_validate(json.loads(text))
    assert _meaning(again) == _meaning(eval_set)
    assert to_adk_json(again) == text


def _meaning(eval_set: EvalSet) -> Any:
    """The content of the set; an empty list of events means no events, and a null final state an empty one."""
    document = eval_set.model_dump()
    for case in document["eval_cases"]:
        case["final_session_state"] = case["final_session_state"] or {}
        for turn in case["conversation"]:
            if turn["intermediate_data"] == {"invocation_events": []}:
                turn["intermediate_data"] = {
                    "tool_uses": [],
                    "tool_responses": [],
                    "intermediate_responses": [],
                }
    return document


@pytest.mark.slow
@given(SETS)
def test_camel_case_reads_as_snake_case_does(document: dict[str, Any]) -> None:
    eval_set = EvalSet.model_validate(document)
    camel = json.loads(eval_set.model_dump_json(by_alias=True))
    for key in ("eval_set_id", "eval_cases", "creation_timestamp"):
        camel[to_camel(key)] = camel.pop(key)
    assert EvalSet.model_validate(camel).model_dump() == eval_set.model_dump()
