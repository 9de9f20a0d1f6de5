"""Tricky pairs of trajectories, with the verdict and the reason that a careful person would give.

Every row of the first table is scored by six metrics; the columns are

    exact · in order · any order   1 or 0      trajectory_exact_match, trajectory_in_order_match, trajectory_any_order_match
    precision · recall             a share, or None where there is nothing to share
    adk                            1 or 0      tool_trajectory_avg_score

and the reason is that of `trajectory_exact_match`, which minds everything. The second table is about single metrics and
their options.
"""

from typing import Any

import pytest

from proctor.common.registry import METRICS
from proctor.schema.format.content import Content, FunctionCall
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import IntermediateData, Invocation
from proctor.schema.results.score import Explanation, Score
from tests.metrics.invocations import view

Calls = list[FunctionCall]
BIG = 2**53 + 1


def call(name: str | None, /, **args: Any) -> FunctionCall:
    return FunctionCall(name=name, args=args)


def bare(name: str) -> FunctionCall:
    """A call whose arguments are not stated."""
    return FunctionCall(name=name)


def calls(text: str) -> Calls:
    """`"f1 g"`: f(x=1), g()."""
    return [call(word[0], **({"x": int(word[1:])} if word[1:] else {})) for word in text.split()]


def turn(made: Calls) -> Invocation:
    return Invocation(user_content=Content(parts=[]), intermediate_data=IntermediateData(tool_uses=made))


def scored(
    name: str, expected: Calls | Invocation, actual: Calls | Invocation, **options: Any
) -> tuple[Score, Explanation]:
    measure = METRICS.get(name)(BaseCriterion.model_validate({"threshold": 1.0, **options}))
    sides = [side if isinstance(side, Invocation) else turn(side) for side in (actual, expected)]
    case = view([sides[0]], [sides[1]])
    score = measure.score(case)
    return score.per_invocation[0], measure.explain(case, score, 0)


COLUMNS = [
    "trajectory_exact_match",
    "trajectory_in_order_match",
    "trajectory_any_order_match",
    "trajectory_precision",
    "trajectory_recall",
    "tool_trajectory_avg_score",
]
ALL = "every expected call was made"
ONE = (1, 1, 1, 1, 1, 1)
NONE = (0, 0, 0, 0, 0, 0)


def differs(title: str, expected: Any, actual: Any, reason: str, adk: int = 0) -> Any:
    """One call of one tool on either side, with an argument `x` that is not the same."""
    return pytest.param(
        [call("f", x=expected)],
        [call("f", x=actual)],
        (0, 0, 0, 0, 0, adk),
        f"`f` argument `x` is {reason}",
        id=title,
    )


def agrees(title: str, expected: Any, actual: Any) -> Any:
    """The same, with arguments that are."""
    return pytest.param([call("f", x=expected)], [call("f", x=actual)], ONE, ALL, id=title)


PAIRS = [
    # --- nothing on one side, or on both
    pytest.param(
        [], [], (1, 1, 1, None, None, 1), "no calls expected, and none needed", id="nothing and nothing"
    ),
    pytest.param(
        [], calls("f"), (0, 1, 1, 0, None, 0), "`f()` was called but not expected", id="something for nothing"
    ),
    pytest.param(calls("f"), [], NONE, "`f()` was not called", id="nothing for something"),
    pytest.param(
        calls("f g h"),
        [],
        NONE,
        "`f()` was not called; `g()` was not called; `h()` was not called",
        id="nothing for several",
    ),
    # --- names
    pytest.param(calls("f"), calls("f"), ONE, ALL, id="one call"),
    pytest.param(
        calls("f"),
        calls("g"),
        NONE,
        "`f()` was not called; `g()` was called but not expected",
        id="another tool",
    ),
    pytest.param(
        [call("get_weather")],
        [call("getWeather")],
        NONE,
        "`get_weather()` was not called; `getWeather()` was called but not expected (names are compared letter by letter)",
        id="the same name in another spelling is another tool",
    ),
    pytest.param(
        [call("book_table")],
        [call("book_tabel")],
        NONE,
        "`book_table()` was not called; `book_tabel()` was called but not expected (its name differs from book_table by a letter)",
        id="a name that differs by a letter",
    ),
    pytest.param(
        [call("f")],
        [call("f ")],
        NONE,
        "`f()` was not called; `f ()` was called but not expected (names are compared letter by letter)",
        id="a blank behind the name",
    ),
    pytest.param([call("天気を調べる", x=1)], [call("天気を調べる", x=1)], ONE, ALL, id="a Japanese name"),
    pytest.param(
        [call("caf\u00e9")],
        [call("cafe\u0301")],
        NONE,
        "`caf\u00e9()` was not called; `cafe\u0301()` was called but not expected (names are compared letter by letter)",
        id="two Unicode forms of a name are two names",
    ),
    pytest.param([call(None)], [call(None)], ONE, ALL, id="calls without a name"),
    pytest.param(
        [call("f")],
        [call(None)],
        NONE,
        "`f()` was not called; `(no name)()` was called but not expected",
        id="a call without a name where one is expected",
    ),
    pytest.param(
        [call("f")],
        [call("f\x1b[2J")],
        NONE,
        "`f()` was not called; `f\\x1b[2J()` was called but not expected",
        id="a name that talks to the terminal",
    ),
    pytest.param(
        [FunctionCall(id="adk-1", name="f", args={})],
        [FunctionCall(id="x", name="f", args={})],
        ONE,
        ALL,
        id="ids",
    ),
    # --- arguments: there or not
    pytest.param([bare("f")], [call("f")], (1, 1, 1, 1, 1, 0), ALL, id="arguments not stated, and none"),
    pytest.param([call("f")], [bare("f")], (1, 1, 1, 1, 1, 0), ALL, id="none, and arguments not stated"),
    pytest.param([bare("f")], [bare("f")], ONE, ALL, id="arguments not stated on either side"),
    pytest.param(
        [bare("f")],
        [call("f", x=1)],
        NONE,
        "`f` argument `x` is 1, expected none",
        id="arguments not stated are not arguments ignored",
    ),
    pytest.param(
        [call("f")],
        [call("f", x=None)],
        NONE,
        "`f` argument `x` is null, expected none",
        id="an argument that is null is an argument",
    ),
    pytest.param(
        [call("f", a=1, b=2)],
        [call("f", a=1)],
        NONE,
        "`f` argument `b` is missing, expected 2",
        id="one is missing",
    ),
    pytest.param(
        [call("f", a=1)],
        [call("f", a=1, b=2)],
        NONE,
        "`f` argument `b` is 2, expected none",
        id="one is extra",
    ),
    pytest.param(
        [call("f", city="Paris")],
        [call("f", town="Paris")],
        NONE,
        '`f` argument `city` is missing, expected "Paris", argument `town` is "Paris", expected none',
        id="an argument under another name",
    ),
    # --- arguments: numbers and truth
    agrees("1 and 1.0", 1, 1.0),
    agrees("0 and -0.0", 0, -0.0),
    agrees("1000 and 1e3", 1000, 1e3),
    differs("1 and true", 1, True, "true, expected 1", adk=1),
    differs("false and 0", False, 0, "0, expected false", adk=1),
    differs("true deep inside", [{"a": 1}], [{"a": True}], '[{"a": true}], expected [{"a": 1}]', adk=1),
    differs("1 and a text", 1, "1", '"1", expected 1'),
    differs("true and a text", True, "true", '"true", expected true'),
    differs("almost 0.3", 0.3, 0.1 + 0.2, "0.30000000000000004, expected 0.3"),
    differs("neighbours beyond 2^53", BIG - 1, BIG, f"{BIG}, expected {BIG - 1}"),
    differs("a whole number and its double beyond 2^53", BIG, float(BIG), f"{float(BIG)}, expected {BIG}"),
    agrees("a whole number of thirty digits", 10**30, 10**30),
    differs("a digit among thirty", 10**30, 10**30 + 1, f"{10**30 + 1}, expected {10**30}"),
    # --- arguments: nothing, in several forms
    differs("null and an empty text", None, "", '"", expected null'),
    differs("null and an empty list", None, [], "[], expected null"),
    differs("an empty object and an empty list", {}, [], "[], expected {}"),
    differs("null inside, and nothing inside", {"a": None}, {}, '{}, expected {"a": null}'),
    # --- arguments: texts
    differs("case of letters", "Paris", "paris", '"paris", expected "Paris"'),
    differs("a blank at the end", "Paris", "Paris ", '"Paris ", expected "Paris"'),
    differs(
        "two Unicode forms, which look the same",
        "caf\u00e9",
        "cafe\u0301",
        '"cafe\\u0301", expected "caf\\u00e9"',
    ),
    differs(
        "one letter in a long text",
        "a" * 80 + "b",
        "a" * 80 + "c",
        f'…{"a" * 20}c", expected …{"a" * 20}b"',
    ),
    # --- arguments: structure
    agrees("order of keys, nested", {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
    differs("order of a list", [1, 2], [2, 1], "[2, 1], expected [1, 2]"),
    differs("a value and a list of it", "Paris", ["Paris"], '["Paris"], expected "Paris"'),
    differs("a list with one twice", [1, 1], [1], "[1], expected [1, 1]"),
    differs(
        "far inside",
        {"a": {"b": [{"c": 1}]}},
        {"a": {"b": [{"c": 2}]}},
        '{"a": {"b": [{"c": 2}]}}, expected {"a": {"b": [{"c": 1}]}}',
    ),
    pytest.param(
        [call("transfer", source="A", target="B")],
        [call("transfer", source="B", target="A")],
        NONE,
        '`transfer` argument `source` is "B", expected "A", argument `target` is "A", expected "B"',
        id="two arguments of a call changed places",
    ),
    # --- the same call more than once
    pytest.param(calls("f f"), calls("f f"), ONE, ALL, id="twice and twice"),
    pytest.param(
        calls("f f"),
        calls("f"),
        (0, 0, 0, 1, 1, 0),
        "`f()` was called less often than expected",
        id="twice and once",
    ),
    pytest.param(
        calls("f"),
        calls("f f"),
        (0, 1, 1, 1, 1, 0),
        "`f()` was called more often than expected",
        id="once and twice",
    ),
    pytest.param(
        calls("f1 f2"),
        calls("f1 f1"),
        (0, 0, 0, 1, 0.5, 0),
        "`f` argument `x` is 1, expected 2",
        id="the first call made again in place of the second",
    ),
    pytest.param(
        calls("f1"),
        calls("f9 f1"),
        (0, 1, 1, 0.5, 1, 0),
        "`f(x=9)` was called but not expected",
        id="wrong at first, then right",
    ),
    pytest.param(
        calls("f1"),
        calls("f9 f8"),
        NONE,
        "`f` argument `x` is 9, expected 1; `f(x=8)` was called but not expected",
        id="wrong twice",
    ),
    pytest.param(
        calls("f1 f2 f3"),
        calls("f1 f9 f3"),
        (0, 0, 0, 2 / 3, 2 / 3, 0),
        "`f` argument `x` is 9, expected 2",
        id="one of three calls of a tool is wrong",
    ),
    # --- order
    pytest.param(
        calls("f g"),
        calls("g f"),
        (0, 0, 1, 1, 1, 0),
        "called in another order: g, f (expected f, g)",
        id="swapped",
    ),
    pytest.param(
        calls("f1 f2"),
        calls("f2 f1"),
        (0, 0, 1, 1, 1, 0),
        "called in another order: `f(x=1)`",
        id="arguments swapped between two calls of a tool is an order, not two wrong arguments",
    ),
    pytest.param(
        calls("f g f"),
        calls("f f g"),
        (0, 0, 1, 1, 1, 0),
        "called in another order: f, f, g (expected f, g, f)",
        id="a call between two that are equal",
    ),
    pytest.param(
        calls("a b c d"),
        calls("c d a b"),
        (0, 0, 1, 1, 1, 0),
        "called in another order: c, d, a, b (expected a, b, c, d)",
        id="a block moved",
    ),
    pytest.param(
        calls("a b c"),
        calls("c a b"),
        (0, 0, 1, 1, 1, 0),
        "called in another order: c, a, b (expected a, b, c)",
        id="the last comes first",
    ),
    # --- missing, extra, and both
    pytest.param(
        calls("f"), calls("g f"), (0, 1, 1, 0.5, 1, 0), "`g()` was called but not expected", id="one in front"
    ),
    pytest.param(
        calls("a b"),
        calls("a x b"),
        (0, 1, 1, 2 / 3, 1, 0),
        "`x()` was called but not expected",
        id="one between",
    ),
    pytest.param(
        calls("a x b"), calls("a b"), (0, 0, 0, 1, 2 / 3, 0), "`x()` was not called", id="one left out"
    ),
    pytest.param(
        calls("a b c"),
        calls("c x a"),
        (0, 0, 0, 2 / 3, 2 / 3, 0),
        "`b()` was not called; `x()` was called but not expected; called in another order: c, a (expected a, c)",
        id="everything at once",
    ),
    pytest.param(
        [call("get_weather", city="Paris")],
        [call("get_time", city="Paris")],
        NONE,
        '`get_weather(city="Paris")` was not called; `get_time(city="Paris")` was called but not expected',
        id="the right arguments for the wrong tool",
    ),
    pytest.param(
        [call("f", a=1, b=1, c=1), call("f", a=2, b=2, c=2)],
        [call("f", a=2, b=2, c=9), call("f", a=1, b=1, c=8)],
        NONE,
        "`f` argument `c` is 8, expected 1; `f` argument `c` is 9, expected 2",
        id="each nearly the other one's expected call",
    ),
    pytest.param(
        calls("f1 " * 1000),
        calls("f1 " * 1001),
        (0, 1, 1, 1, 1, 0),
        "`f(x=1)` was called more often than expected",
        id="once too often in a thousand",
    ),
]


@pytest.mark.parametrize(("expected", "actual", "verdicts", "reason"), PAIRS)
def test_pairs(expected: Calls, actual: Calls, verdicts: tuple[float | None, ...], reason: str) -> None:
    found = [scored(name, expected, actual) for name in COLUMNS]
    assert [score.value for score, _ in found] == [
        None if each is None else pytest.approx(each) for each in verdicts
    ]
    assert found[0][1].reason == reason


def parallel(*steps: str) -> Invocation:
    """A turn whose model made the calls of each step at once."""
    parts = [[{"function_call": each.model_dump()} for each in calls(step)] for step in steps]
    events = [{"author": "a", "content": {"role": "model", "parts": each}} for each in parts]
    return Invocation.model_validate(
        {"user_content": {"parts": []}, "intermediate_data": {"invocation_events": events}}
    )


STRICT, SUPERSET, SUBSET = "trajectory_strict_match", "trajectory_superset_match", "trajectory_subset_match"
UNORDERED, ADK, F1 = "trajectory_unordered_match", "tool_trajectory_avg_score", "trajectory_f1"
PRECISION, RECALL = "trajectory_precision", "trajectory_recall"
PARTIAL, RUST, TYPESCRIPT = {"credit": "partial"}, {"reading": "adk-rs"}, {"reading": "adk-ts"}

SINGLE = [
    # --- how often counts, when asked
    pytest.param(
        PRECISION,
        {"duplicates": "multiset"},
        calls("f"),
        calls("f f"),
        0.5,
        "1 of 2 calls were expected; `f()` was called more often than expected",
        id="precision counts how often",
    ),
    pytest.param(
        RECALL,
        {"duplicates": "multiset"},
        calls("f f"),
        calls("f"),
        0.5,
        "1 of 2 expected calls were made; `f()` was called less often than expected",
        id="recall counts how often",
    ),
    pytest.param(
        RECALL,
        {},
        calls("f1 f1"),
        calls("f1 f2"),
        1.0,
        ALL,
        id="recall by membership finds one call twice",
    ),
    pytest.param(
        "trajectory_any_order_match",
        {"duplicates": "membership"},
        calls("f f"),
        calls("f"),
        1.0,
        ALL,
        id="once is enough, when asked",
    ),
    pytest.param(
        PRECISION,
        {},
        calls("f g"),
        calls("f"),
        1.0,
        "every call made was expected",
        id="precision misses nothing",
    ),
    pytest.param(
        PRECISION,
        {},
        calls("f"),
        [],
        0.0,
        "tool calls are expected in this turn, and none was made",
        id="precision of nothing made",
    ),
    pytest.param(
        PRECISION,
        {"compat": "adk"},
        calls("f"),
        [],
        None,
        "tool calls are expected in this turn, and none was made",
        id="precision of nothing made, as in the Gen AI evaluation service",
    ),
    pytest.param(
        F1,
        {},
        calls("f g h"),
        calls("f k"),
        0.4,
        "1 of 3 expected calls were made, 1 of 2 made were expected; "
        "`g()` was not called; `h()` was not called; `k()` was called but not expected",
        id="F1 of a third and a half",
    ),
    pytest.param(
        F1,
        {},
        calls("f"),
        [],
        0.0,
        "0 of 1 expected calls were made, 0 of 0 made were expected; `f()` was not called",
        id="F1 of nothing made",
    ),
    # --- names only
    pytest.param(ADK, {"ignore_args": True}, calls("f1 g"), calls("f2 g"), 1.0, ALL, id="names only"),
    pytest.param(
        "trajectory_exact_match",
        {"ignore_args": True},
        calls("f1 f2"),
        calls("f2 f1"),
        1.0,
        ALL,
        id="names have no order of arguments",
    ),
    # --- partial credit, and the sisters
    pytest.param(
        ADK, PARTIAL, [], [], 1.0, "no calls expected, and none needed", id="nothing of nothing is all"
    ),
    pytest.param(
        ADK,
        RUST,
        [],
        [],
        0.0,
        "no calls were expected and none were made, which adk-rs scores 0",
        id="adk-rs: nothing of nothing is nothing",
    ),
    pytest.param(
        ADK,
        PARTIAL,
        calls("f g"),
        calls("x f g"),
        0.0,
        "0 of 3 calls at their position; `x()` was called but not expected",
        id="one in front shifts all",
    ),
    pytest.param(
        ADK,
        PARTIAL,
        calls("f g"),
        calls("f g x"),
        2 / 3,
        "2 of 3 calls at their position; `x()` was called but not expected",
        id="one at the end costs its share",
    ),
    pytest.param(
        ADK,
        {**PARTIAL, "match_type": "IN_ORDER"},
        calls("f g h"),
        calls("h x f g"),
        2 / 3,
        "2 of 3 calls made in order; called in another order: h, f, g (expected f, g, h)",
        id="the longest part in order",
    ),
    pytest.param(
        ADK,
        {**PARTIAL, "match_type": "ANY_ORDER"},
        calls("f g h"),
        calls("h x f"),
        2 / 3,
        "2 of 3 calls made; `g()` was not called",
        id="those found",
    ),
    pytest.param(
        ADK,
        RUST,
        calls("f1"),
        [call("f", x=1.0)],
        0.0,
        "0 of 1 calls at their position; `f` argument `x` is 1.0, expected 1",
        id="adk-rs: 1 is not 1.0",
    ),
    pytest.param(
        ADK,
        TYPESCRIPT,
        [call("f", x={"a": 1, "b": 2})],
        [call("f", x={"b": 2, "a": 1})],
        0.0,
        '`f` argument `x` is {"b": 2, "a": 1}, expected {"a": 1, "b": 2}',
        id="@iqai/adk: nested keys have an order",
    ),
    pytest.param(
        ADK, TYPESCRIPT, [call("f", x=BIG)], [call("f", x=BIG - 1)], 1.0, ALL, id="@iqai/adk: doubles"
    ),
    pytest.param(
        ADK, TYPESCRIPT, [bare("f")], [call("f")], 1.0, ALL, id="@iqai/adk: null arguments are none"
    ),
    # --- loose arguments
    pytest.param(
        SUPERSET,
        {"args": "superset"},
        [call("f", a=1)],
        [call("f", a=1, b=2)],
        1.0,
        ALL,
        id="more arguments than expected",
    ),
    pytest.param(
        SUPERSET,
        {"args": "subset"},
        [call("f", a=1)],
        [call("f", a=1, b=2)],
        0.0,
        "`f` argument `b` is 2, expected none",
        id="more arguments than expected, where only fewer are allowed",
    ),
    pytest.param(
        SUBSET,
        {"args": "subset"},
        [call("f", a=1, b=2)],
        [call("f", a=1)],
        1.0,
        "every call made was expected",
        id="fewer arguments",
    ),
    pytest.param(
        UNORDERED,
        {"args": "superset"},
        [call("f", a=1), call("f", a=1, b=2)],
        [call("f", a=1, b=2), call("f", a=1)],
        1.0,
        ALL,
        id="the first that fits is not the one to take",
    ),
    pytest.param(
        UNORDERED,
        {"tool_args": {"f": ["where.city"]}},
        [call("f", where={"city": "Paris", "zip": 1}, when="now")],
        [call("f", where={"city": "Paris"})],
        1.0,
        ALL,
        id="chosen arguments",
    ),
    pytest.param(
        UNORDERED,
        {"tool_args": {"f": ["where.city"]}},
        [call("f", where={"city": "Paris"})],
        [call("f", where="Paris")],
        0.0,
        '`f` argument `where.city` is null, expected "Paris"',
        id="a path that leads nowhere is null",
    ),
    pytest.param(SUBSET, {}, calls("f"), [], 1.0, "every call made was expected", id="no call is a subset"),
    # --- what was called at once
    pytest.param(
        STRICT, {}, parallel("f g", "h"), parallel("g f", "h"), 1.0, ALL, id="called at once, in any order"
    ),
    pytest.param(
        STRICT,
        {},
        parallel("f", "g"),
        parallel("g", "f"),
        0.0,
        "called in another order: g, f (expected f, g)",
        id="called one after the other",
    ),
    pytest.param(
        STRICT,
        {},
        parallel("f g"),
        parallel("f", "g"),
        0.0,
        "the calls are the same, but not those made at once: 1 + 1 (expected 2)",
        id="expected at once, called one after the other",
    ),
    pytest.param(
        STRICT,
        {},
        calls("g f h"),
        parallel("f g", "h"),
        1.0,
        ALL,
        id="only one side marks parallel calls",
    ),
    pytest.param(
        STRICT,
        {},
        calls("f g"),
        calls("g f"),
        0.0,
        "called in another order: g, f (expected f, g)",
        id="neither side marks them",
    ),
    pytest.param(
        STRICT,
        {"messages": "all"},
        parallel("f", ""),
        parallel("f"),
        0.0,
        "1 messages, expected 2",
        id="a message without calls is missing, when asked",
    ),
    pytest.param(STRICT, {}, parallel("f", ""), parallel("f"), 1.0, ALL, id="and does not matter otherwise"),
]


@pytest.mark.parametrize(("name", "options", "expected", "actual", "value", "reason"), SINGLE)
def test_single_metrics(
    name: str, options: dict[str, Any], expected: Any, actual: Any, value: float | None, reason: str
) -> None:
    score, explanation = scored(name, expected, actual, **options)
    assert score.value == (None if value is None else pytest.approx(value))
    assert explanation.reason == reason


def test_there_are_enough_of_them() -> None:
    assert len(PAIRS) + len(SINGLE) >= 100
