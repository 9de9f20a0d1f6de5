"""An alignment says what differs between two lists of tool calls."""

import json
import time
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.metrics.alignment import LONGEST, StepKind, align, argument_differences, describe
from proctor.metrics.pairing import UNPAIRED, cheapest_pairs, pair_cost
from proctor.metrics.trajectory import contained, exact, in_order


@dataclass(frozen=True)
class Made:
    name: str | None
    args: dict[str, Any] | None = None


def call(name: str, **args: Any) -> Made:
    return Made(name, args)


def calls(text: str) -> list[Made]:
    """`"f1 g"`: f(x=1), g()."""
    return [Made(word[0], {"x": int(word[1:])} if word[1:] else {}) for word in text.split()]


SOME = st.sampled_from(
    [call("f", x=1), call("f", x=2), call("f", x=1, y=2), call("g"), Made("g"), call("h", x=[1, {"a": None}])]
)
LISTS = st.lists(SOME, max_size=6)


@pytest.mark.parametrize(
    ("expected", "actual", "signs", "sentence"),
    [
        ("", "", "", ""),
        ("f1 g", "f1 g", "= =", ""),
        ("f1 g", "f1", "= −", "`g()` was not called"),
        ("f1", "f1 g", "= +", "`g()` was called but not expected"),
        ("f1", "f2", "≠", "`f` argument `x` is 2, expected 1"),
        ("f1 g", "g f1", "⇄ =", "called in another order: g, f (expected f, g)"),
        ("f1 f2", "f2 f1", "⇄ =", "called in another order: `f(x=1)`"),
        ("f1 g", "h g", "− + =", "`f(x=1)` was not called; `h()` was called but not expected"),
        ("f1 f2 f3", "f2 f3 f4", "≠ = =", "`f` argument `x` is 4, expected 1 (and called in another place)"),
        ("", "f g h i j", "+ + + + +", None),
    ],
)
def test_tables(expected: str, actual: str, signs: str, sentence: str | None) -> None:
    alignment = align(calls(expected), calls(actual))
    assert " ".join(step.kind.value for step in alignment.steps) == signs
    if sentence is not None:
        assert describe(alignment) == sentence
    else:
        assert describe(alignment).endswith("; and 1 more")


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        (
            call("book_table", covers=2),
            call("book_table", covers=4),
            "`book_table` argument `covers` is 4, expected 2",
        ),
        (call("f", a="1"), call("f", a=1), '`f` argument `a` is 1, expected "1"'),
        (call("f", a=1), call("f"), "`f` argument `a` is missing, expected 1"),
        (call("f"), call("f", a=None), "`f` argument `a` is null, expected none"),
        (Made("f"), call("f"), "`f` has arguments {}, expected null (null and {} are not equal)"),
        (
            call("f", a=1, b=2, c=3),
            call("f", c=4, b=2, d=5),
            "`f` argument `a` is missing, expected 1, argument `c` is 4, expected 3, argument `d` is 5, expected none",
        ),
        (
            call("f", a="x" * 99 + "1"),
            call("f", a="x" * 99 + "2"),
            f'`f` argument `a` is …{"x" * 20}2", expected …{"x" * 20}1"',
        ),
        (call("f", a="\x1b[31mred"), call("f", a="\u202e"), None),
        (call("f", a=[1]), call("f", a=(1,)), "`f` argument `a` is [1] (tuple), expected [1] (list)"),
        (call("f", a={1}), call("f", a=float("inf")), "`f` argument `a` is Infinity, expected {1}"),
    ],
)
def test_a_differing_argument_is_named_with_both_values(
    expected: Made, actual: Made, sentence: str | None
) -> None:
    said = describe(align([expected], [actual]))
    assert said.isprintable()
    if sentence is not None:
        assert said == sentence


def test_tolerated_differences_are_left_out() -> None:
    alignment = align(calls("f1 g h"), calls("g f1 k"))
    assert describe(alignment, extra_allowed=True, order_matters=False) == "`h()` was not called"
    assert "`k()`" in describe(alignment, order_matters=False)
    assert "another order" in describe(alignment, extra_allowed=True)


def test_positions_and_differences_are_data() -> None:
    data = align(calls("f1 g"), calls("f2 k")).to_details()
    f1, f2 = {"index": 0, "name": "f", "args": {"x": 1}}, {"index": 0, "name": "f", "args": {"x": 2}}
    argument = {"name": "x", "kind": "differs", "expected": 1, "actual": 2}
    assert data == {
        "alignment": [
            {"kind": "differs", "expected": f1, "actual": f2, "arguments": [argument]},
            {"kind": "missing", "expected": {"index": 1, "name": "g", "args": {}}, "actual": None},
            {"kind": "extra", "expected": None, "actual": {"index": 1, "name": "k", "args": {}}},
        ]
    }
    json.dumps(data)


def test_equal_calls_in_another_order_are_paired_first_with_first() -> None:
    steps = align(calls("g h k f f"), calls("f f g h k")).steps
    moved = [(step.expected_index, step.actual_index) for step in steps if step.kind is StepKind.MOVED]
    assert moved == [(3, 0), (4, 1)]


@given(LISTS, LISTS, st.booleans())
def test_every_call_stands_in_exactly_one_step(
    expected: list[Made], actual: list[Made], ignore_args: bool
) -> None:
    steps = align(expected, actual, ignore_args=ignore_args).steps
    assert sorted(s.expected_index for s in steps if s.expected_index is not None) == [*range(len(expected))]
    assert sorted(s.actual_index for s in steps if s.actual_index is not None) == [*range(len(actual))]
    for step in steps:
        assert step.expected is (None if step.expected_index is None else expected[step.expected_index])
        assert step.actual is (None if step.actual_index is None else actual[step.actual_index])
        assert (step.kind is StepKind.DIFFERS) == bool(step.differences)


@given(LISTS, LISTS, st.booleans())
def test_nothing_differs_exactly_when_the_lists_are_equal(
    expected: list[Made], actual: list[Made], ignore_args: bool
) -> None:
    alignment = align(expected, actual, ignore_args=ignore_args)
    assert (not alignment.differing) == exact(expected, actual, ignore_args=ignore_args)
    assert (not describe(alignment)) == (not alignment.differing)


@given(LISTS, LISTS, st.booleans())
def test_a_failed_rule_is_always_explained_and_a_kept_one_never(
    expected: list[Made], actual: list[Made], ignore_args: bool
) -> None:
    alignment = align(expected, actual, ignore_args=ignore_args)
    kept = contained(expected, actual, ignore_args=ignore_args)
    assert (describe(alignment, extra_allowed=True, order_matters=False) == "") == kept
    kept = in_order(expected, actual, ignore_args=ignore_args)
    assert (describe(alignment, extra_allowed=True) == "") == kept


@given(LISTS, LISTS)
def test_as_many_equal_calls_as_possible_are_paired_and_as_many_as_possible_of_them_in_place(
    expected: list[Made], actual: list[Made]
) -> None:
    kinds = Counter(step.kind for step in align(expected, actual).steps)
    names = [json.dumps([each.name, each.args]) for each in expected]
    others = [json.dumps([each.name, each.args]) for each in actual]
    common = sum((Counter(names) & Counter(others)).values())
    in_place = max(
        size
        for size in range(common + 1)
        if {tuple(way) for way in combinations(names, size)}
        & {tuple(way) for way in combinations(others, size)}
    )
    assert kinds[StepKind.MATCHED] == in_place
    assert kinds[StepKind.MOVED] == common - in_place


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 1)), max_size=4),
    st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(2, 3) | st.just(0)), max_size=4),
)
def test_differing_calls_are_paired_at_the_least_cost(
    expected: list[dict[str, int]], actual: list[dict[str, int]]
) -> None:
    wanted, made = [Made("f", args) for args in expected], [Made("f", args) for args in actual]

    def cost(pairs: list[tuple[int, int]]) -> int:
        alone = len(wanted) + len(made) - 2 * len(pairs)
        return UNPAIRED * alone + sum(pair_cost(wanted[i], made[j]) for i, j in pairs)

    ways = [
        [*zip(rows, columns, strict=True)]
        for size in range(min(len(wanted), len(made)) + 1)
        for rows, columns in product(
            combinations(range(len(wanted)), size), combinations(range(len(made)), size)
        )
    ]
    assert cost(cheapest_pairs(wanted, made)) == min(map(cost, ways))


@given(SOME, SOME)
def test_argument_differences_tell_equal_from_unequal(one: Made, other: Made) -> None:
    assert (argument_differences(one, other) == []) == (one.args == other.args)


@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 3, 10_000]))
def test_long_lists_align_in_time(random: Any, variety: int) -> None:
    expected = [call("f", x=random.randrange(variety)) for _ in range(200)]
    actual = [call("f", x=random.randrange(variety)) for _ in range(200)]
    started = time.process_time()
    align(expected, actual)
    assert time.process_time() - started < 5  # takes a tenth of a second; this catches what is not quadratic


def test_very_long_lists_are_bounded_and_say_so() -> None:
    expected = [call("f", x=number) for number in range(5000)]
    actual = [call("f", x=-number) for number in range(4000)]
    alignment = align(expected, actual)
    assert len(alignment.steps) <= 1 + 2 * LONGEST
    assert alignment.expected_left_out == 4999 - LONGEST
    assert describe(alignment).endswith(f"left out: {4999 - LONGEST} expected, {3999 - LONGEST} actual")
    assert "note" in alignment.to_details()


def test_very_long_equal_lists_have_no_difference() -> None:
    many = [call("f", x=number) for number in range(5000)]
    alignment = align(many, [*many])
    assert (len(alignment.steps), alignment.differing, alignment.note) == (5000, [], "")
