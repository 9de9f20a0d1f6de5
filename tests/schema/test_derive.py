"""Events become invocations as google-adk's do: every recorded vector, and the rules one by one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.schema.evidence.convert_events import (
    RecordedInvocations,
    facts_of_invocation,
    facts_of_turn,
    invocation_of,
    to_invocations,
)
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import Content, FunctionCall, Part, user_text
from proctor.schema.format.invocation import Invocation, InvocationEvents


@pytest.fixture(scope="module")
def vectors(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "golden" / "events_to_invocations.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["vectors"]
    assert len(found) == 70
    return found


def _steps(invocation: Invocation) -> list[tuple[str, bool]]:
    """Author of each step, and whether it has content."""
    assert isinstance(invocation.intermediate_data, InvocationEvents)
    return [
        (step.author, step.content is not None) for step in invocation.intermediate_data.invocation_events
    ]


def _text(invocation: Invocation) -> str | None:
    final = invocation.final_response
    return None if final is None else final.joined_text()


def _invocation(*events: Event, **turn: Any) -> Invocation:
    return invocation_of(Turn(user_content=user_text("hi"), events=list(events), **turn), invocation_id="i")


def test_every_recorded_session_gives_the_same_invocations(vectors: list[dict[str, Any]]) -> None:
    for number, vector in enumerate(vectors):
        events = [Event.from_adk(event) for event in vector["events"]]
        found = [one.model_dump(mode="json", exclude_none=True) for one in to_invocations(events)]
        assert found == vector["invocations"], f"vector {number}"


def test_every_recorded_event_is_final_or_not_in_the_same_way(vectors: list[dict[str, Any]]) -> None:
    for number, vector in enumerate(vectors):
        flags = [Event.from_adk(event).is_final_response() for event in vector["events"]]
        assert flags == vector["final_response_flags"], f"vector {number}"


def test_a_turn_and_its_events_as_a_session_are_read_alike(vectors: list[dict[str, Any]]) -> None:
    for vector in vectors:
        for expected in to_invocations(Event.from_adk(event) for event in vector["events"]):
            own = [e for e in vector["events"] if e["invocation_id"] == expected.invocation_id]
            turn = Turn(
                user_content=expected.user_content,
                events=[Event.from_adk(e) for e in own if e["author"].lower() != "user"],
                started_at=expected.creation_timestamp,
            )
            assert invocation_of(turn, invocation_id=expected.invocation_id) == expected


def test_a_call_its_response_and_the_answer() -> None:
    found = _invocation(
        Event.called("get_weather", {"city": "Paris"}, id="1"),
        Event.returned("get_weather", {"temp": 21}, id="1"),
        Event.said("21 degrees"),
        started_at=5.0,
        duration=0.25,
        model_duration=0.2,
        tool_duration=0.01,
    )
    assert found.invocation_id == "i"
    assert found.user_content == user_text("hi")
    assert found.creation_timestamp == 5.0
    assert (found.duration, found.model_duration, found.tool_duration) == (0.25, 0.2, 0.01)
    assert [call.name for call in found.tool_calls] == ["get_weather"]
    assert [response.response for response in found.tool_responses] == [{"temp": 21}]
    assert _text(found) == "21 degrees"
    assert _steps(found) == [("agent", True), ("agent", True), ("agent", False)]


def test_no_event_at_all_is_a_turn_without_an_answer() -> None:
    found = _invocation()
    assert found.final_response is None
    assert found.intermediate_data == InvocationEvents()


PICTURE = Event(content=Content(parts=[Part(file_data={"file_uri": "gs://a/b"})]))
LONG_RUNNING = Event(
    content=Content(parts=[Part(function_call=FunctionCall(id="1", name="wait"))]),
    long_running_tool_ids=["1"],
)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        pytest.param([Event.said("one"), Event.said("two")], "two", id="the last of two answers"),
        pytest.param([Event.said("one"), PICTURE], "one", id="a picture does not replace a text"),
        pytest.param([PICTURE, Event.said("one")], "one", id="a text replaces a picture"),
        pytest.param(
            [Event.said("on", partial=True), Event.said("one")], "one", id="a streamed piece is not an answer"
        ),
        pytest.param([Event.said("on", partial=True)], None, id="only a streamed piece"),
        pytest.param([Event.said("hm", author="user")], None, id="a message of the user is not an answer"),
        pytest.param([Event.called("f")], None, id="only a call"),
        pytest.param([Event(error_code="500")], None, id="an error without content"),
    ],
)
def test_the_final_response(events: list[Event], text: str | None) -> None:
    assert _text(_invocation(*events)) == text


def test_a_long_running_call_is_the_final_response_and_stays_a_call() -> None:
    found = _invocation(LONG_RUNNING)
    assert found.final_response is LONG_RUNNING.content
    assert [call.name for call in found.tool_calls] == ["wait"]


def test_usage_of_the_answer_still_counts() -> None:
    found = _invocation(Event.said("one", usage_metadata={"total_token_count": 7}))
    assert [usage.total_token_count for usage in found.usage_metadata] == [7]


def test_details_of_the_app_are_read_from_plain_data() -> None:
    turn = Turn(user_content=user_text("hi"))
    details = {"agent_details": {"root": {"name": "root", "instructions": "Be brief."}}}
    found = invocation_of(turn, invocation_id="i", app_details=details)
    assert found.app_details is not None
    assert found.app_details.developer_instructions("root") == "Be brief."


def test_an_invocation_of_events_is_written_as_one_that_was_read() -> None:
    found = _invocation(Event.called("f", {"a": 1}), Event.said("done"))
    read = Invocation.model_validate_json(found.model_dump_json())
    assert read == found
    assert read.model_dump_json(exclude_unset=True) == found.model_dump_json()


# --- facts: what metrics count, without making invocations -------------------------------------------------------------

parts = st.fixed_dictionaries(
    {},
    optional={
        "text": st.sampled_from(["", "said"]),
        "function_call": st.just({"name": "tool", "args": {}}),
        "function_response": st.just({"name": "tool", "response": {}}),
        "inline_data": st.just({"data": "eA==", "mime_type": "text/plain"}),
        "thought": st.booleans(),
    },
)
events = st.fixed_dictionaries(
    {"author": st.sampled_from(["agent", "user", "User", "other"])},
    optional={
        "content": st.none() | st.fixed_dictionaries({"parts": st.none() | st.lists(parts, max_size=3)}),
        "usage_metadata": st.just({"prompt_token_count": 3}),
        "model_version": st.sampled_from(["", "m-1"]),
        "grounding_metadata": st.just({}),
        "partial": st.booleans(),
        "long_running_tool_ids": st.just(["1"]),
        "error_code": st.just("E"),
    },
)


@given(st.lists(events, max_size=5), st.none() | st.floats(0, 10))
def test_the_facts_of_a_turn_are_those_of_its_invocation(
    given_events: list[Any], seconds: float | None
) -> None:
    turn = Turn(
        user_content=user_text("hi"),
        events=[Event.model_validate(one) for one in given_events],
        duration=seconds,
        tool_duration=seconds,
    )
    assert facts_of_turn(turn) == facts_of_invocation(invocation_of(turn, invocation_id="i"))


def test_invocations_are_created_on_first_access() -> None:
    turns = [Turn(user_content=user_text(text), events=[Event.said(text)]) for text in ("a", "b")]
    trial = Trial(eval_set_id="set", eval_id="case", turns=turns)
    recorded = RecordedInvocations(trial.turns, trial.app_details)
    assert len(recorded) == 2
    assert [_text(one) for one in recorded] == ["a", "b"]
    assert [*recorded[1:]] == trial.invocations[1:]
    assert recorded[0] is recorded[0]
    assert recorded.facts() == [facts_of_invocation(one) for one in recorded]
