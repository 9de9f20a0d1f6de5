"""The three rules by which tool calls match."""

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, strategies as st

from proctor.metrics.trajectory.call_matching import NAMES, PYTHON, contained, exact, in_order


@dataclass(frozen=True)
class Made:
    name: str | None
    args: dict[str, Any] | None = None


def calls(text: str) -> list[Made]:
    """`"f1 g2"`: f(x=1), g(x=2)."""
    return [Made(word[0], {"x": int(word[1:])} if word[1:] else {}) for word in text.split()]


MATCHINGS: dict[bool, Any] = {False: PYTHON, True: NAMES}

CALLS = st.lists(
    st.sampled_from([Made("f", {"x": 1}), Made("f", {"x": 2}), Made("g", {}), Made("g")]), max_size=5
)


@pytest.mark.parametrize(
    ("expected", "actual", "as_exact", "as_in_order", "as_contained"),
    [
        ("", "", True, True, True),
        ("", "f", False, True, True),
        ("f", "", False, False, False),
        ("f g", "f g", True, True, True),
        ("f g", "g f", False, False, True),
        ("f g", "f h g", False, True, True),
        ("f f", "f", False, False, False),
        ("f", "f f", False, True, True),
        ("f g f", "f f g", False, False, True),
        ("f1", "f2", False, False, False),
        ("f1 f2", "f2 f1 f2", False, True, True),
    ],
)
def test_rules(expected: str, actual: str, as_exact: bool, as_in_order: bool, as_contained: bool) -> None:
    wanted, made = calls(expected), calls(actual)
    assert (exact(wanted, made), in_order(wanted, made), contained(wanted, made)) == (
        as_exact,
        as_in_order,
        as_contained,
    )


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": True}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": {"b": None}}, {"a": {}}, False),
        (None, {}, False),
        (None, None, True),
    ],
)
@pytest.mark.parametrize("rule", [exact, in_order, contained])
def test_arguments_are_compared_as_parsed_values(
    rule: Any, expected: dict[str, Any] | None, actual: dict[str, Any] | None, equal: bool
) -> None:
    assert rule([Made("f", expected)], [Made("f", actual)]) is equal
    assert rule([Made("f", expected)], [Made("f", actual)], NAMES.same)
    assert not rule([Made("f", expected)], [Made("g", expected)], NAMES.same)


@given(CALLS, CALLS, st.booleans())
def test_rules_follow_their_definitions(wanted: list[Made], made: list[Made], ignore_args: bool) -> None:
    def plain(each: list[Made]) -> list[Made]:
        return [Made(call.name) for call in each] if ignore_args else each

    def chosen(ways: Any) -> bool:
        return any(list(way) == plain(wanted) for way in ways)

    assert exact(wanted, made, MATCHINGS[ignore_args].same) == (plain(wanted) == plain(made))
    assert in_order(wanted, made, MATCHINGS[ignore_args].same) == chosen(
        combinations(plain(made), len(wanted))
    )
    assert contained(wanted, made, MATCHINGS[ignore_args].same) == chosen(
        permutations(plain(made), len(wanted))
    )


@given(CALLS, CALLS)
def test_each_rule_is_wider_than_the_one_before(wanted: list[Made], made: list[Made]) -> None:
    assert exact(wanted, made) <= in_order(wanted, made) <= contained(wanted, made)
