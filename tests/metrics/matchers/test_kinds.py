"""Each kind of matcher, on the pairs that a careful person would ask about."""

import time
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

from proctor.common.json_values import equal_json
from proctor.errors import MetricError
from proctor.metrics.matchers.base import ABSENT
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.text.one_to_one import most_pairs

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0])
    | st.sampled_from(["", "a", "A b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


def fits(spec: dict[str, Any], actual: Any) -> bool:
    reader = MatcherReader()
    template = reader.template(spec, "x")
    assert reader.problems == []
    return template.fits(actual)


def match(kind: str, value: Any = ABSENT, **options: Any) -> dict[str, Any]:
    return {"$match": kind, **({} if value is ABSENT else {"value": value}), **options}


EXACT = [
    (match("exact", 1), 1.0, True),
    (match("exact", 1), True, False),
    (match("exact", "1"), 1, False),
    (match("exact", {"a": [1, 2]}), {"a": [2, 1]}, False),
    (match("exact", None), None, True),
    (match("exact", None), ABSENT, False),
    (match("ignore"), ABSENT, True),
    (match("ignore"), {"a": 1}, True),
    (match("present"), None, True),
    (match("present"), ABSENT, False),
]
SUBSET = [
    (match("subset", {"a": 1}), {"a": 1, "b": 2}, True),
    (match("subset", {"a": 1}), {"b": 2}, False),
    (match("subset", {"a": {"b": 1}}), {"a": {"b": 1, "c": 2}}, True),
    (match("subset", ["x"]), ["y", "x"], True),
    (match("subset", ["x", "x"]), ["y", "x"], False),
    (
        match("subset", [{}, {"a": 1}]),
        [{"a": 1}, {"b": 2}],
        True,
    ),  # the first may take either, the second only one
    (match("subset", 1), 1.0, True),
    (match("subset", {"a": None}), {}, False),
]
REGEX = [
    (match("regex", pattern=r"ORD-\d+"), "my ORD-77", True),
    (match("regex", pattern=r"ORD-\d+", full=True), "my ORD-77", False),
    (match("regex", pattern=r"ord", ignore_case=True), "ORD", True),
    (match("regex", pattern=r"5"), 5, False),
    (match("regex", pattern="é"), "cafe\u0301", True),
    (match("regex", pattern="a"), ABSENT, False),
]
NUMBER = [
    (match("number", 1, tolerance=1), 10**400, False),
    (match("number", 10**400, tolerance=1), 10**400 + 1, True),
    (match("number", 1, tolerance=1), float("nan"), False),
    (match("number", 1, tolerance=1), float("inf"), False),
    (match("number", 0.1, tolerance=0.2), 0.3, True),  # exactly 0.2 apart, which binary fractions would miss
    (match("number", 0.1, tolerance=0.2), 0.30000001, False),
    (match("number", 100, relative=0.01), 101, True),
    (match("number", 100, relative=0.01), 101.0001, False),
    (match("number", -100, relative=0.01), -101, True),
    (match("number", 0, relative=0.5), 0.1, False),
    (match("number", 10, tolerance=1, relative=0.5), 15, True),
    (match("number", 1, tolerance=1), True, False),
    (match("number", 1, tolerance=1), "1", False),
    (match("number", 1, tolerance=0, read_text=True), " 1.0 ", True),
    (match("number", 1, tolerance=9, read_text=True), "1e999999999", False),
    (match("number", 1, tolerance=9), float("nan"), False),
    (match("number", 1, tolerance=9), float("inf"), False),
    (match("number", 10**30, tolerance=0), 10**30 + 1, False),
]
SET = [
    (match("set", [1, 2]), [2, 1], True),
    (match("set", [1, 2]), [2, 1, 1], True),
    (match("set", [1, 2], repeats=True), [2, 1, 1], False),
    (match("set", [1, 2], repeats=True), [2, 1.0], True),
    (match("set", [1]), [True], False),
    (match("set", [{"a": 1}, []]), [[], {"a": 1}], True),
    (match("set", [1]), 1, False),
    (match("set", []), [], True),
    (match("set", []), [1], False),
]
TEXT = [
    (match("text", "La  Trattoria "), "la\ntrattoria", True),
    (match("text", "La Trattoria"), "latrattoria", False),
    (match("text", "La Trattoria", spaces="remove"), "latrattoria", True),
    (match("text", "Straße"), "STRASSE", True),
    (match("text", "café"), "CAFE\u0301", True),
    (match("text", "café"), "cafe", False),
    (match("text", "5"), 5, False),
    (match("text", ""), "  ", True),
]
DATE = [
    (match("date", "2024-05-01"), "2024\u201105\u201101", True),  # hyphens that do not break
    (match("date", "2024-05-01"), "\u200e2024-05-01\u200b", True),
    (match("date", "2024-05-01"), "2024-5-1", True),  # the year first: no warning
    (match("date", "2024-05-01"), "5-1-2024", False),
    (match("date", "2024-05-01T19:00"), "2024-05-01 7 pm", True),
    (match("date", "2024-05-01"), "2024-13-1", False),
    (match("date", "0001-01-01T00:00+14:00"), "9999-12-31T23:59-12:00", False),
    (match("date", "2024-05-01"), "1 May 2024", True),
    (match("date", "2024-05-01"), "May 1st, 2024", True),
    (match("date", "2024-05-01"), "20240501", True),
    (match("date", "2024-05-01"), "2024-05-02", False),
    (match("date", "2024-05-01"), "05/01/2024", False),  # the month is ambiguous
    (match("date", "2024-05-01", formats="%m/%d/%Y"), "05/01/2024", True),
    (match("date", "2024-05-01"), "2024-05-01T00:00", False),  # a date is not the midnight it begins with
    (match("date", "2024-05-01", part="date"), "2024-05-01T19:30", True),
    (match("date", "19:00"), "7 pm", True),
    (match("date", "19:00"), "7:00 p.m.", True),
    (match("date", "12 am"), "00:00", True),
    (match("date", "12 pm"), "12:00:00", True),
    (match("date", "13 pm", part="time", formats=["%H pm"]), "13:00", True),
    (match("date", "19:00"), "19", False),
    (match("date", "2024-05-01T19:00", part="time"), "7 pm", True),
    (match("date", "2024-05-01T19:00"), "May 1, 2024 at 7 pm", True),
    (match("date", "2024-05-01T19:00Z"), "2024-05-01T21:00+02:00", True),
    (match("date", "2024-05-01T19:00Z"), "2024-05-01T19:00", False),
    (match("date", "2024-05-01T19:00Z", timezone="UTC"), "2024-05-01T19:00", True),
    (match("date", "2024-05-01T19:00Z", timezone="+02:00"), "2024-05-01T21:00", True),
    (match("date", "19:00", within=900), "19:15", True),
    (match("date", "19:00", within=900), "19:16", False),
    (match("date", "23:50", within=900), "00:05", True),
    (match("date", "00:05", within=900), "11:50 pm", True),
    (match("date", "23:50", within=900), "00:06", False),
    (match("date", "00:00", within=43199), "12:00", False),
    (match("date", "2024-05-01T23:50", within=900, part="time"), "2024-05-09T00:05", True),
    (match("date", "2024-05-01T23:50", within=900), "2024-05-02T00:05", True),
    (match("date", "2024-05-01T23:50", within=900), "2024-05-01T00:05", False),
    (match("date", "23:00+00:00"), "01:00+02:00", True),
    (match("date", "23:00+00:00"), "02:00+02:00", False),
    (match("date", "2024-02-29"), "2023-02-29", False),
    (match("date", "2024-05-01"), 20240501, False),
    (match("date", "2024-05-01"), "soon", False),
]
ONE_OF = [
    (match("one_of", values=["a", 1]), 1.0, True),
    (match("one_of", values=["a", 1]), "b", False),
    (match("one_of", values=["a", match("regex", pattern="^b")]), "bc", True),
    (match("one_of", values=[1, 2]), ABSENT, False),
]
JSON_EQUAL = [
    (match("json", {"a": 1}), {"a": 1.0}, True),
    (match("json", {"a": 1}, strict=True), {"a": 1.0}, False),
    (match("json", {"a": 1}), '{"a": 1.0}', False),
    (match("json", {"a": 1}, parse=True), '{"a": 1.0}', True),
    (match("json", {"a": 1}, parse=True, strict=True), '{"a": 1.0}', False),
    (match("json", True), 1, False),
]
WITHIN = [
    ({"name": match("text", "ADA"), "n": 1}, {"name": "ada", "n": 1.0}, True),
    ({"name": match("text", "ADA"), "n": 1}, {"name": "ada"}, False),
    ({"name": match("text", "ADA")}, {"name": "ada", "n": 1}, False),
    ({"name": match("ignore")}, {}, True),
    ([match("present"), 2], [9, 2], True),
    ([match("present"), 2], [2], False),
    ({"match": "text"}, {"match": "text"}, True),  # a plain object is a value
]


@pytest.mark.nightly(check=55)
@pytest.mark.parametrize(
    ("expected", "actual", "fine"),
    [*EXACT, *SUBSET, *REGEX, *NUMBER, *SET, *TEXT, *DATE, *ONE_OF, *JSON_EQUAL, *WITHIN],
    ids=repr,
)
def test_table(expected: Any, actual: Any, fine: bool) -> None:
    assert fits(expected, actual) is fine


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@given(JSON)
@pytest.mark.parametrize(
    "spec",
    [match("exact"), match("subset"), match("json"), match("json", strict=True), match("present")],
    ids=repr,
)
def test_every_value_fits_itself(spec: dict[str, Any], value: Any) -> None:
    assume(spec["$match"] != "subset" or value not in ([], {}))  # any list, any object: refused
    assert fits({**spec, "value": value} if spec["$match"] != "present" else spec, value)


@given(st.lists(JSON, max_size=4), st.lists(JSON, max_size=4))
def test_sets_are_equal_both_ways_or_neither(one: list[Any], other: list[Any]) -> None:
    for repeats in (True, False):
        forth = fits(match("set", one, repeats=repeats), other)
        assert forth == fits(match("set", other, repeats=repeats), one)
    assert fits(match("set", one, repeats=True), one[::-1])
    assert fits(match("set", one), one + one)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_a_tolerance_counts_in_decimals(one: int, other: int, tolerance: int) -> None:
    close = fits(match("number", one / 1000, tolerance=tolerance / 1000), other / 1000)
    assert close == (abs(one - other) <= tolerance)


@given(JSON, JSON)
def test_what_is_equal_is_a_subset(one: Any, other: Any) -> None:
    assume(one not in ([], {}))  # any list, any object: refused
    if fits(match("exact", one), other):
        assert fits(match("subset", one), other)


@pytest.mark.slow
def test_pattern_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(MetricError, match="took longer than 1 s"):
        fits(match("regex", pattern="(a+)+$"), "a" * 60 + "b")


@given(st.lists(JSON, max_size=5), st.lists(JSON, max_size=5))
def test_sets_are_equal_where_each_element_has_an_equal_one(one: list[Any], other: list[Any]) -> None:
    covered = [
        all(any(equal_json(a, b) for b in right) for a in left)
        for left, right in ((one, other), (other, one))
    ]
    assert fits(match("set", one), other) == all(covered)
    pairs = most_pairs(len(one), len(other), lambda i, j: equal_json(one[i], other[j]))
    assert fits(match("set", one, repeats=True), other) == (len(pairs) == len(one) == len(other))


def test_long_lists_are_compared_in_time() -> None:
    started = time.process_time()
    assert fits(match("set", [*range(20_000)], repeats=True), [*range(19_999, -1, -1)])
    assert not fits(match("set", [*range(20_000)]), [*range(20_001)])
    assert time.process_time() - started < 5


@pytest.mark.parametrize("kind", ["ignore", "present"])
def test_one_of_several_cannot_be_anything(kind: str) -> None:
    reader = MatcherReader()
    reader.template(match("one_of", values=["a", match(kind)]), "x")
    assert reader.problems == [
        f'x.values[1]: "{kind}" accepts every value, so the other `values` have no effect; write "{kind}" alone, or leave it out'
    ]


@pytest.mark.parametrize(
    "spec",
    [match("date", "19:00", within=43200), match("date", "2024-05-01T19:00", part="time", within=90000)],
)
def test_times_of_day_that_all_fit_are_refused(spec: dict[str, Any]) -> None:
    reader = MatcherReader()
    reader.template(spec, "x")
    assert reader.problems == [
        "x: `within`: two times of day differ by at most 43200 seconds, so all would fit"
    ]
