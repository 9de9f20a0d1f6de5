"""An alignment describes the differences between two lists of tool calls."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from proctor.metrics.trajectory.agentevals_relations import ByMode
from proctor.metrics.trajectory.alignment import LONGEST, StepKind, align, alignment_text
from proctor.metrics.trajectory.call_matching import (
    EQUALITIES,
    NAMES,
    PYTHON,
    Matching,
    contained,
    exact,
    found_in_order,
    in_order,
)
from proctor.metrics.trajectory.call_pairing import MOST_OF_ONE_TOOL, UNPAIRED, pair_cost


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
MATCHINGS = st.sampled_from([NAMES, *EQUALITIES.values()])


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
        assert alignment_text(alignment) == sentence
    else:
        assert alignment_text(alignment).endswith("; and 1 more")


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
        (call("f", a={1}), call("f", a=float("inf")), "`f` argument `a` is Infinity, expected set {1}"),
    ],
)
def test_a_differing_argument_is_named_with_both_values(
    expected: Made, actual: Made, sentence: str | None
) -> None:
    description = alignment_text(align([expected], [actual]))
    assert description.isprintable()
    if sentence is not None:
        assert description == sentence


def test_tolerated_differences_are_left_out() -> None:
    alignment = align(calls("f1 g h"), calls("g f1 k"))
    assert alignment_text(alignment, extra_allowed=True, order_matters=False) == "`h()` was not called"
    assert "`k()`" in alignment_text(alignment, order_matters=False)
    assert "another order" in alignment_text(alignment, extra_allowed=True)


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


@given(LISTS, LISTS, MATCHINGS)
def test_every_call_is_in_exactly_one_step(
    expected: list[Made], actual: list[Made], matching: Matching
) -> None:
    steps = align(expected, actual, matching).steps
    assert sorted(s.expected_index for s in steps if s.expected_index is not None) == [*range(len(expected))]
    assert sorted(s.actual_index for s in steps if s.actual_index is not None) == [*range(len(actual))]
    for step in steps:
        assert step.expected is (None if step.expected_index is None else expected[step.expected_index])
        assert step.actual is (None if step.actual_index is None else actual[step.actual_index])
        assert (step.kind is StepKind.DIFFERS) == bool(step.differences)


@given(LISTS, LISTS, MATCHINGS)
def test_nothing_differs_exactly_when_the_lists_are_equal(
    expected: list[Made], actual: list[Made], matching: Matching
) -> None:
    alignment = align(expected, actual, matching)
    assert (not alignment.differing) == exact(expected, actual, matching.same)
    assert (not alignment_text(alignment)) == (not alignment.differing)


@given(LISTS, LISTS, MATCHINGS)
def test_a_failed_rule_is_always_explained_and_a_kept_one_never(
    expected: list[Made], actual: list[Made], matching: Matching
) -> None:
    alignment = align(expected, actual, matching)
    kept = contained(expected, actual, matching.same)
    assert (alignment_text(alignment, extra_allowed=True, order_matters=False) == "") == kept
    kept = in_order(expected, actual, matching.same)
    assert (alignment_text(alignment, extra_allowed=True) == "") == kept


@given(LISTS, LISTS)
def test_most_equal_calls_are_paired_and_most_of_them_in_place(
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


def rise(pairs: list[tuple[int, int]]) -> int:
    """The most pairs that keep one order on both sides, by trying all."""
    return max(
        size
        for size in range(len(pairs) + 1)
        for way in combinations(sorted(pairs), size)
        if all(one[1] < other[1] for one, other in pairwise(way))
    )


def apart(wanted: Made, made: Made, matching: Matching) -> int:
    return pair_cost(wanted, made, len(matching.differences(wanted, made)))


def cost(wanted: list[Made], made: list[Made], pairs: list[tuple[int, int]], matching: Matching) -> int:
    """What one way of pairing costs, by the definition."""
    equal = [(i, j) for i, j in pairs if matching.same(wanted[i], made[j])]
    differing = [apart(wanted[i], made[j], matching) for i, j in pairs if (i, j) not in equal]
    alone = len(wanted) + len(made) - 2 * len(pairs)
    return len(equal) - rise(equal) + sum(differing) + UNPAIRED * alone


def ways(wanted: list[Made], made: list[Made]) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair calls of one tool."""
    for size in range(min(len(wanted), len(made)) + 1):
        for rows, columns in product(
            combinations(range(len(wanted)), size), permutations(range(len(made)), size)
        ):
            pairs = [*zip(rows, columns, strict=True)]
            if all(wanted[i].name == made[j].name for i, j in pairs):
                yield pairs


VARIED = st.lists(
    st.builds(
        Made,
        st.sampled_from("ffg"),
        st.none() | st.dictionaries(st.sampled_from("abc"), st.sampled_from([0, 1, 1.0, True]), max_size=3),
    ),
    max_size=4,
)


@given(VARIED, VARIED, MATCHINGS)
def test_no_other_way_of_pairing_costs_less(
    expected: list[Made], actual: list[Made], matching: Matching
) -> None:
    alignment = align(expected, actual, matching)
    least = min(cost(expected, actual, pairs, matching) for pairs in ways(expected, actual))
    assert alignment.cost == least
    chosen = [
        (step.expected_index, step.actual_index)
        for step in alignment.steps
        if step.expected_index is not None and step.actual_index is not None
    ]
    assert cost(expected, actual, chosen, matching) == least


@pytest.mark.parametrize(
    ("names", "differing", "expected"),
    [(0, 1, 11), (8, 1, 12), (8, 8, 19), (2, 1, 15), (1, 1, 19), (1, 5, 19), (20, 1, 11)],
)
def test_a_pair_costs_more_than_one_call_alone_and_less_than_two(
    names: int, differing: int, expected: int
) -> None:
    one = Made("f", {str(number): 0 for number in range(names)})
    assert pair_cost(one, one, differing) == expected
    assert UNPAIRED < expected < 2 * UNPAIRED


def test_crossed_calls_are_paired_by_what_they_share() -> None:
    expected = [call("f", a=1, b=1, c=1), call("f", a=2, b=2, c=2)]
    actual = [call("f", a=2, b=2, c=9), call("f", a=1, b=1, c=8)]
    pairs = [(step.expected_index, step.actual_index) for step in align(expected, actual).steps]
    assert sorted(pairs) == [(0, 1), (1, 0)]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(0, 1)), max_size=5), st.integers(1, 4))
def test_equal_calls_that_all_differ_are_paired_in_their_order(
    made: list[dict[str, int]], count: int
) -> None:
    expected = [call("f", a=9, b=1, d=9)] * count
    steps = align(expected, [Made("f", args) for args in made]).steps
    partners = [
        step.actual_index
        for step in steps
        if step.expected_index is not None and step.actual_index is not None
    ]
    assert partners == sorted(partners)


LOOSE = ByMode(EQUALITIES["json"], "superset")


@given(VARIED, VARIED)
def test_loose_comparison_prefers_the_order_if_it_matters_else_more_pairs(
    expected: list[Made], actual: list[Made]
) -> None:
    ordered = align(expected, actual, LOOSE)
    assert ordered.count(StepKind.MATCHED) == found_in_order(expected, actual, LOOSE.same)
    free = align(expected, actual, LOOSE, order_matters=False)
    kinds = {StepKind.MATCHED, StepKind.MOVED}
    pairs = [(s.expected_index or 0, s.actual_index or 0) for s in free.steps if s.kind in kinds]
    fitting = [sum(LOOSE.same(expected[i], actual[j]) for i, j in way) for way in ways(expected, actual)]
    assert len(pairs) == max(fitting)
    assert free.count(StepKind.MATCHED) == rise(pairs)


def test_differing_calls_beyond_the_limit_are_paired_in_order() -> None:
    many = range(MOST_OF_ONE_TOOL + 1)
    steps = align(
        [call("f", x=number) for number in many], [call("f", x=-1 - number) for number in many]
    ).steps
    assert [(step.expected_index, step.actual_index) for step in steps] == [
        (number, number) for number in many
    ]


@given(SOME, SOME)
def test_argument_differences_distinguish_equal_and_unequal(one: Made, other: Made) -> None:
    if one.name == other.name:
        assert (PYTHON.differences(one, other) == []) == (one.args == other.args)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.randoms(use_true_random=False), st.sampled_from([1, 3, 10_000]))
def test_long_lists_align_in_time(random: Any, variety: int) -> None:
    expected = [call("f", x=random.randrange(variety)) for _ in range(200)]
    actual = [call("f", x=random.randrange(variety)) for _ in range(200)]
    started = time.process_time()
    align(expected, actual)
    assert time.process_time() - started < 5  # takes a tenth of a second; this catches what is not quadratic


@pytest.mark.slow
def test_very_long_lists_are_limited_with_a_note() -> None:
    expected = [call("f", x=number) for number in range(5000)]
    actual = [call("f", x=-number) for number in range(4000)]
    alignment = align(expected, actual)
    assert len(alignment.steps) <= 1 + 2 * LONGEST
    assert alignment.expected_left_out == 4999 - LONGEST
    assert alignment_text(alignment).endswith(f"left out: {4999 - LONGEST} expected, {3999 - LONGEST} actual")
    assert "note" in alignment.to_details()


def test_very_long_equal_lists_have_no_difference() -> None:
    many = [call("f", x=number) for number in range(5000)]
    alignment = align(many, [*many])
    assert (len(alignment.steps), alignment.differing, alignment.note) == (5000, [], "")
