"""Events of an agent are recorded alike, whether or not they were read before."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.agents.base import Session
from proctor.engine.trial.event_recorder import new_turn, record_turn
from proctor.engine.trial.evidence_limits import EvidenceLimiter, TurnCaps
from proctor.errors import AgentError
from proctor.schema.evidence.event import Event, WaitingEvent
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text

texts = st.text(st.characters(exclude_categories=[]), max_size=30) | st.sampled_from(
    ["agent", "a b", "x" * 60]
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, values, max_size=4)
ids = st.none() | texts
recipes = st.lists(
    st.tuples(st.just(Event.said), st.tuples(texts), st.fixed_dictionaries({"author": texts}))
    | st.tuples(
        st.sampled_from([Event.called, Event.returned]),
        st.tuples(texts, objects),
        st.fixed_dictionaries({"id": ids, "author": texts}),
    ),
    max_size=5,
)


def recorded(events: list[Event]) -> tuple[Turn, list[str]]:
    async def agent() -> AsyncIterator[Event]:
        for event in events:
            yield event

    turn, notes = new_turn(user_text("q")), list[str]()
    session = Session("s", "app", "user")
    asyncio.run(
        record_turn(agent(), turn, session, EvidenceLimiter(TurnCaps(max_text=40, max_events=10), notes))
    )
    return turn, notes


def read_all_fields(events: list[Event]) -> list[Event]:
    for event in events:
        assert event.author is not None
        assert type(event) is Event
    return events


@given(recipes)
def test_event_that_was_read_before_gives_the_same_evidence(made: list[tuple[Any, Any, Any]]) -> None:
    turn, notes = recorded([make(*args, **named) for make, args, named in made])
    expected, expected_notes = recorded(read_all_fields([make(*args, **named) for make, args, named in made]))
    assert notes == expected_notes
    assert [event.model_dump_json() for event in turn.events] == [
        event.model_dump_json() for event in expected.events
    ]


def test_plain_events_are_kept_unseen() -> None:
    turn, notes = recorded([Event.said("hi"), Event.called("f", {"a": 1}, id="1"), Event.returned("f", {})])
    assert [type(event) for event in turn.events] == [WaitingEvent] * 3
    assert notes == []


@pytest.mark.parametrize("make", [Event.called, Event.returned])
def test_later_changes_of_arguments_do_not_reach_the_evidence(make: Any) -> None:
    inside: dict[str, Any] = {"flat": 1, "nested": {"list": [1]}}
    events = [make("f", inside), make("f", {"flat": 1})]
    turn, _ = recorded(events)
    inside["flat"] = 2
    inside["nested"]["list"].append(2)
    kept: list[Any] = [event.content for event in turn.events]
    given = [
        part.function_call.args if part.function_call else part.function_response.response
        for content in kept
        for part in content.parts
    ]
    assert given == [{"flat": 1, "nested": {"list": [1]}}, {"flat": 1}]


def _renamed(event: Any) -> None:
    event.content.parts[0].function_call.name = "g"


def _with_other_arguments(event: Any) -> None:
    event.content.parts[0].function_call.args["a"] = 2


def _refilled(event: Any) -> None:
    event.content = Event.said("other").content
    event.error_code, event.author = "SAFETY", "other"


def _with_another_part(event: Any) -> None:
    event.content.parts.append(event.content.parts[0])


def _counted_on(event: Any) -> None:
    event.usage_metadata.total_token_count = 100


@pytest.mark.parametrize("before", [False, True], ids=["read later", "read before"])
@pytest.mark.parametrize(
    "change", [_renamed, _with_other_arguments, _refilled, _with_another_part, _counted_on]
)
def test_later_changes_of_an_event_do_not_reach_the_evidence(change: Any, before: bool) -> None:
    usage: dict[str, Any] = {"usage_metadata": {"total_token_count": 1}} if change is _counted_on else {}

    async def agent() -> AsyncIterator[Event]:
        event = Event.called("f", {"a": 1}, **usage)
        if before:
            read_all_fields([event])
        yield event
        change(event)
        yield event

    turn = new_turn(user_text("q"))
    limiter = EvidenceLimiter(TurnCaps(max_text=40, max_events=10), [])
    asyncio.run(record_turn(agent(), turn, Session("s", "app", "user"), limiter))
    first, second = turn.events
    assert first == Event.called("f", {"a": 1}, **usage)
    assert second != first


def test_value_outside_json_is_an_error_of_the_agent() -> None:
    with pytest.raises(AgentError, match="value is not JSON"):
        recorded([Event.called("f", {"x": {"y": object()}})])


def test_an_event_too_many_is_the_agents_error() -> None:
    with pytest.raises(AgentError, match="more than 10 events"):
        recorded([Event.said("hi")] * 11)


@pytest.mark.parametrize(("count", "why"), [(-1, "it is negative"), (2**63, "it has 64 bits")])
def test_a_count_that_no_call_can_have_is_an_error_of_the_agent(count: int, why: str) -> None:
    with pytest.raises(
        AgentError, match=f"usage_metadata.prompt_token_count is not a number of tokens: {why}"
    ):
        recorded([Event.said("hi", usage_metadata={"prompt_token_count": count})])
