"""A lazy event is equal, in every access, to the event that the validator would have made."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from proctor.schema.evidence.convert_events import facts_of_turn
from proctor.schema.evidence.event import Event, WaitingEvent
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text

MADE: dict[str, Callable[[], Event]] = {
    "said": lambda: Event.said("hi"),
    "called": lambda: Event.called("tool", {"a": [1, {"b": 2}]}, id="1", author="planner"),
    "returned": lambda: Event.returned("tool", {"b": None}, id="1"),
}


def _change(event: Event) -> Event:
    event.partial = None
    return event


def _match(event: Event) -> Event:
    match event:
        case Event(author=str()):
            return event
    raise AssertionError


def _within(event: Event) -> Event:
    return Turn(user_content=user_text("q"), events=[event]).events[0]


LOOKS: dict[str, Callable[[Event], Any]] = {
    "a field": lambda event: (event.author, event)[1],
    "setting a field": _change,
    "an unknown attribute": lambda event: (hasattr(event, "no_such_thing"), event)[1],
    "isinstance": lambda event: [event][not isinstance(event, Event)],
    "match": _match,
    "its class": lambda event: event if event.__class__ is Event else None,
    "vars": lambda event: Event.model_construct(**vars(event)),
    "iteration": lambda event: Event.model_construct(**dict(event)),
    "repr": lambda event: (repr(event), event)[1],
    "a method": lambda event: (event.is_final_response(), event)[1],
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "model_copy": lambda event: event.model_copy(deep=True),
    "pickle": lambda event: pickle.loads(pickle.dumps(event)),
    "model_dump": lambda event: Event.model_validate(event.model_dump(exclude_unset=True)),
    "model_dump_json": lambda event: Event.model_validate_json(event.model_dump_json(exclude_unset=True)),
    "an adapter": lambda event: TypeAdapter(list[Event]).validate_python([event])[0],
    "a strict adapter": lambda event: TypeAdapter(Event).validate_python(event, strict=True),
    "within a model": _within,
    "written within a model": lambda event: Turn.model_validate_json(_turn(event).model_dump_json()).events[
        0
    ],
}


def _turn(*events: Event) -> Turn:
    turn = Turn(user_content=user_text("q"))
    turn.events.extend(events)
    return turn


def _validated(event: Event) -> Event:
    return Event.model_validate(event.model_dump(exclude_unset=True))


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_accessed_lazy_event_is_an_ordinary_event(
    make: Callable[[], Event], look: Callable[[Event], Any]
) -> None:
    event = make()
    assert type(event) is WaitingEvent
    seen = look(event)
    for one in (event, seen):
        assert one == _validated(make())
        assert type(one) is Event
        assert list(one.__dict__) == list(_validated(make()).__dict__)
    assert event.model_fields_set - {"partial"} == {"author", "content"}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_two_that_wait_are_compared_by_what_they_hold(make: Callable[[], Event]) -> None:
    assert make() == make()
    assert make() == _validated(make())
    assert _validated(make()) == make()
    assert make() != Event.said("something else")
    others: list[Any] = ["hi", None, 7]
    assert make() not in others
    with pytest.raises(TypeError, match="unhashable"):
        hash(make())


def test_user_event_and_event_of_a_subclass_are_not_lazy() -> None:
    class Mine(Event):
        pass

    for event in (Event.said("hi", author="User"), Mine.said("hi"), Event.said("hi", partial=True)):
        assert type(event) is not WaitingEvent


@pytest.mark.parametrize("author", ["agent", "a planner", "user", "USER"])
def test_what_is_counted_is_the_same(author: str) -> None:
    turn = _turn(*(make() for make in MADE.values()), Event.called("f", {}, author=author))
    accessed = _turn(*(_validated(event) for event in copy.deepcopy(turn.events)))
    assert facts_of_turn(
        _turn(*(make() for make in MADE.values()), Event.called("f", {}, author=author))
    ) == (facts_of_turn(accessed))


def test_counting_does_not_look() -> None:
    turn = _turn(*(make() for make in MADE.values()))
    assert [call.name for call in facts_of_turn(turn).tool_calls] == ["tool"]
    assert {type(event) for event in turn.events} == {WaitingEvent}


def test_what_is_written_is_the_same() -> None:
    trial = Trial(eval_set_id="s", eval_id="c", turns=[_turn()])
    trial.turns[0].events.extend(make() for make in MADE.values())
    other = Trial(eval_set_id="s", eval_id="c", turns=[_turn()])
    other.turns[0].events.extend(_validated(make()) for make in MADE.values())
    assert trial.model_dump_json(exclude_none=True) == other.model_dump_json(exclude_none=True)


@pytest.mark.slow
def test_threads_that_look_at_once_all_see_the_event() -> None:
    expected = _validated(MADE["called"]())
    for _ in range(200):
        event, start = MADE["called"](), threading.Barrier(4)
        seen: list[Any] = []

        def look(event: Event = event, seen: list[Any] = seen, start: threading.Barrier = start) -> None:
            start.wait()
            seen.append((event.author, event.content, event.model_fields_set))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [("planner", expected.content, {"author", "content"})] * 4
        assert event == expected
