"""Models made past the validator are those that the validator would have made."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from proctor.schema.evidence.event import Event
from proctor.schema.format.content import Content, FunctionCall, Part
from proctor.schema.format.wire_model import WireModel, defaults, maker, twin

texts = st.text()  # no surrogates, which are below
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, json_values, max_size=4)
ids = st.none() | texts


def same(made: Any, validated: Any) -> None:
    """Equal, and equal in what counts as given, in the order of the fields and in what is written."""
    assert made == validated
    assert made.model_dump_json() == validated.model_dump_json()
    assert made.model_dump_json(exclude_unset=True) == validated.model_dump_json(exclude_unset=True)
    same_inside(made, validated)


def same_inside(made: Any, validated: Any) -> None:
    assert type(made) is type(validated)
    if isinstance(made, WireModel):
        assert list(made.__dict__) == list(validated.__dict__)
        assert made.model_fields_set == validated.model_fields_set
        assert made.__pydantic_private__ == validated.__pydantic_private__
        for name, value in made.__dict__.items():
            same_inside(value, getattr(validated, name))
    elif isinstance(made, list):
        for one, other in zip(made, validated, strict=True):
            same_inside(one, other)


@given(texts, texts)
def test_a_text_is_the_same_as_through_the_validator(text: str, author: str) -> None:
    content = {"role": "model", "parts": [{"text": text}]}
    same(Event.said(text, author=author), Event.model_validate({"author": author, "content": content}))


@pytest.mark.slow
@given(texts, objects, ids)
def test_a_call_is_the_same_as_through_the_validator(name: str, args: dict[str, Any], call_id: str) -> None:
    part = {"function_call": {"id": call_id, "name": name, "args": args}}
    content = {"role": "model", "parts": [part]}
    same(Event.called(name, args, id=call_id), Event.model_validate({"author": "agent", "content": content}))


@pytest.mark.slow
@given(texts, objects, ids)
def test_a_response_is_the_same_as_through_the_validator(
    name: str, response: dict[str, Any], call_id: str
) -> None:
    part = {"function_response": {"id": call_id, "name": name, "response": response}}
    content = {"role": "user", "parts": [part]}
    same(
        Event.returned(name, response, id=call_id),
        Event.model_validate({"author": "agent", "content": content}),
    )


def test_a_call_without_arguments_has_none() -> None:
    call = Event.called("now").content.parts[0].function_call  # type: ignore[union-attr,index]  # made with them
    assert call == FunctionCall.model_validate({"id": None, "name": "now", "args": {}})


@pytest.mark.parametrize(
    ("make", "given", "named"),
    [
        pytest.param(Event.said, (7,), {}, id="a number for a text"),
        pytest.param(Event.said, ("hi",), {"author": None}, id="no author"),
        pytest.param(Event.called, (7, {}), {}, id="a number for a name"),
        pytest.param(Event.called, ("tool", {1: "x"}), {}, id="an argument without a name"),
        pytest.param(Event.called, ("tool", ["x"]), {}, id="a list of arguments"),
        pytest.param(Event.called, ("tool", {}), {"id": 1}, id="a number for an id"),
        pytest.param(Event.returned, ("tool", "sunny"), {}, id="a text for a response"),
        pytest.param(Event.said, ("hi",), {"state_delta": 3}, id="a state that is none"),
    ],
)
def test_what_is_not_valid_still_meets_the_validator(
    make: Any, given: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        make(*given, **named)


def test_further_fields_are_validated_and_kept() -> None:
    event = Event.said("hi", state_delta={"a": 1}, custom=5)
    assert event.state_delta == {"a": 1}
    assert event.model_extra == {"custom": 5}


def test_a_subclass_makes_its_own_kind() -> None:
    class Mine(Event):
        pass

    assert type(Mine.said("hi")) is Mine


def test_arguments_and_defaults_are_not_shared() -> None:
    args = {"city": "Paris"}
    one, other = Event.called("tool", args), Event.called("tool", args)
    args["city"] = "Rome"
    calls = [event.content.parts[0].function_call for event in (one, other)]  # type: ignore[union-attr,index]  # made with them
    assert [call.args for call in calls if call] == [{"city": "Paris"}] * 2
    one.state_delta = {"seen": True}
    assert (other.state_delta, other.model_fields_set) == (None, {"author", "content"})
    one.extra_thing = 1  # type: ignore[attr-defined]  # unknown keys are kept
    assert other.model_extra == {}


def test_fast_constructor_marks_every_field_as_set_by_default() -> None:
    assert maker(Content)({**defaults(Content), "role": "user"}).model_fields_set == {"parts", "role"}
    assert maker(Part, "text")({**defaults(Part), "text": "x"}).model_fields_set == {"text"}


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: Event.said("hi"), id="said"),
        pytest.param(lambda: Event.called("tool", {"a": 1}), id="called"),
        pytest.param(lambda: Event.returned("tool", {"b": [2]}, id="1"), id="returned"),
    ],
)
@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda made: made.model_copy(deep=True),
        lambda made: pickle.loads(pickle.dumps(made)),
        lambda made: Event.model_validate(made.model_dump(exclude_unset=True)),
        lambda made: Event.model_validate_json(made.model_dump_json(exclude_unset=True)),
    ],
    ids=["copy", "deepcopy", "model_copy", "pickle", "dict", "json"],
)
def test_omitted_field_of_a_fast_constructor_has_its_default(make: Any, copied: Any) -> None:
    same(copied(make()), Event.model_validate(make().model_dump(exclude_unset=True)))


def test_assigned_field_counts_as_set_and_an_unknown_one_is_an_error() -> None:
    event = Event.said("hi")
    event.partial = True
    assert event.model_fields_set == {"author", "content", "partial"}
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = event.nothing_of_the_kind  # type: ignore[attr-defined]  # that is the point


def test_half_of_a_surrogate_pair_is_kept_as_through_the_validator() -> None:
    content = {"role": "model", "parts": [{"text": "\ud800"}]}
    assert Event.said("\ud800") == Event.model_validate({"author": "agent", "content": content})


def test_a_kind_of_str_goes_through_the_validator() -> None:
    class Loud(str):
        __slots__ = ()

    content = Event.said(Loud("x")).content
    assert content is not None
    assert type(content.joined_text()) is str


def test_a_twin_is_equal_and_goes_its_own_way() -> None:
    part = Part.model_validate({"text": "a", "of_tomorrow": 1})
    copied = twin(part)
    assert copied == part
    assert copied.model_dump_json(exclude_unset=True) == part.model_dump_json(exclude_unset=True)
    copied.text = "b"
    assert part.text == "a"
