"""When two values of JSON are the same."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.common.json_values import equal_json

DEEP = 3_000


def nested(inside: Any) -> Any:
    for _ in range(DEEP):
        inside = {"in": [inside]}
    return inside


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, {}, False),
        ("1", 1, False),
        ([1, 2], (1, 2), True),
        ([1, 2], [2, 1], False),
        ([1], [1, 2], False),
        ([], {}, False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
        ({"a": 1, "b": [True]}, {"b": [1], "a": 1}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        (2**53, float(2**53 + 1), True),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_they_are_or_are_not(one: Any, other: Any, same: bool) -> None:
    assert equal_json(one, other) is equal_json(other, one) is same


def test_it_does_not_matter_how_deep_they_are() -> None:
    assert equal_json(nested(1), nested(1))
    assert not equal_json(nested(1), nested(2))


def test_what_holds_itself_ends() -> None:
    one: list[Any] = []
    one.append(one)
    other: list[Any] = []
    other.append(other)
    assert equal_json(one, other)


JSON = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 0.0, 1.0, "", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def by_definition(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(by_definition(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(by_definition, one, other))
    return bool(one == other)


@given(JSON, JSON)
def test_it_follows_the_definition(one: Any, other: Any) -> None:
    assert equal_json(one, other) == by_definition(one, other)
    assert equal_json(one, one)
