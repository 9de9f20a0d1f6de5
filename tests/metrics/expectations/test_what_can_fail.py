"""Every accepted expectation can fail: for each of them and for each rule a small list of calls breaks it."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings, strategies as st

from proctor.errors import CriterionError, MetricError
from proctor.metrics.expectations.call_patterns import ActualCall
from proctor.metrics.expectations.parse import read_expectations
from proctor.metrics.expectations.tool_expectations import ToolExpectations
from proctor.metrics.final_session_state import FinalSessionState
from proctor.metrics.matchers.parse import MatcherReader
from proctor.metrics.rules.rule import breaches, read_rules
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import turn, view

IGNORE = {"$match": "ignore"}
VALUE: st.SearchStrategy[Any] = st.sampled_from(
    [1, 2, None, {}, [], IGNORE, {"$match": "present"}, {"$match": "number", "value": 1, "tolerance": 5}, {"$match": "subset", "value": {"z": 1}},
     {"$match": "one_of", "values": [1, IGNORE]}, {"$match": "one_of", "values": [1, 2]}, {"$match": "regex", "pattern": "."}]
)  # fmt: skip


def patterns(value: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.sampled_from(["a", "b", "*"]),
        st.builds(
            lambda tool, args, more: {"tool": tool, "args": args, **more},
            st.sampled_from(["a", "b", "*", ["a", "*"], ["a", "b"]]),
            st.dictionaries(st.sampled_from("kn"), value, max_size=2),
            st.sampled_from([{}, {"other_args": "allowed"}, {"other_args": "forbidden"}]),
        ),
        st.sampled_from([{"tool": "*", "response": IGNORE}, {"tool": "a", "response": 1}]),
    )


PATTERN = patterns(VALUE)
PLAIN = patterns(st.sampled_from([1, 2, IGNORE, {"$match": "present"}]))
"""Of two matchers it is unknown in general whether a value fits variants."""


def as_object(pattern: Any) -> dict[str, Any]:
    return pattern if isinstance(pattern, dict) else {"tool": pattern}


OPTIONAL = st.sampled_from([{}, {"optional": True}])
TIMES = st.sampled_from(
    [{}, {"optional": True}, {"at_least": 0}, {"at_least": 1}, {"at_most": 2}, {"at_least": 0, "at_most": 1}]
)
ITEM = st.recursive(
    st.builds(lambda pattern, times: {**as_object(pattern), **times}, PATTERN, TIMES),
    lambda inner: st.one_of(
        st.builds(lambda i, o: {"any_of": i, **o}, st.lists(st.one_of(inner, st.just([])), min_size=2, max_size=3), OPTIONAL),
        st.builds(lambda i, o: {"any_order": i, **o}, st.lists(inner, min_size=1, max_size=3), OPTIONAL),
        st.builds(lambda i, o: {"in_order": i, **o}, st.lists(inner, min_size=1, max_size=3), OPTIONAL),
    ),
    max_leaves=4,
)  # fmt: skip
BLOCK = st.builds(
    lambda parts, others: {**parts, **({"others": others} if "calls" in parts and others else {})},
    st.fixed_dictionaries(
        {},
        optional={
            "calls": st.lists(ITEM, max_size=3),
            "forbidden": st.lists(PATTERN, min_size=1, max_size=2),
            "limits": st.lists(
                st.builds(lambda pattern, n: {**as_object(pattern), **n}, PATTERN, st.sampled_from([{"at_most": 2}, {"at_least": 1}])),
                min_size=1,
                max_size=2,
            ),
        },
    ),
    st.sampled_from(["", "allowed", "forbidden"]),
)  # fmt: skip

UNHEARD = ActualCall("zz", {"u": 1}, response=0)
WITNESSES: dict[str, Any] = {"number": 3, "subset": {"z": 1}, "one_of": 1, "regex": "x"}


def alphabet_for(stated: Any) -> list[ActualCall]:
    """For each named call one that matches, and a few that do not."""
    named = [UNHEARD, *(ActualCall(tool, args, response=0) for tool in "ab" for args in ({}, {"u": 1}))]
    for pattern in _patterns(stated):
        tools = pattern["tool"] if isinstance(pattern["tool"], list) else [pattern["tool"]]
        stated_args = pattern.get("args", {}).items()
        variants = [{name: _witness(value, seven) for name, value in stated_args} for seven in (7, 1)]
        variants.append({name: _witness(value, 7) for name, value in stated_args if value != IGNORE})
        response = 1 if pattern.get("response") == 1 else 0
        named += [
            ActualCall(name, {**args, **more}, response=response)
            for tool in tools
            for name in (["a", "b", "zz"] if tool == "*" else [tool])
            for args in variants
            for more in ({}, {"u": 1})
        ]
    if "same" not in stated:
        return named
    more = [(one, {"k": value, **(one.args or {})}) for one in named for value in (1, 2)]
    return [*named, *(ActualCall(one.name, args, response=one.response) for one, args in more)]


def _patterns(stated: Any) -> Iterator[dict[str, Any]]:
    if isinstance(stated, str):
        yield {"tool": stated}
    elif isinstance(stated, list):
        yield from (found for each in stated for found in _patterns(each))
    elif isinstance(stated, dict) and "tool" in stated:
        yield stated
    elif isinstance(stated, dict):
        parts = (
            each
            for key, each in stated.items()
            if key not in ("others", "same") and not isinstance(each, int)
        )
        yield from (found for each in parts for found in _patterns(each))


def _witness(value: Any, anything: int) -> Any:
    if not isinstance(value, dict) or "$match" not in value:
        return value
    return anything if value["$match"] in ("present", "ignore") else WITNESSES[value["$match"]]


def trajectories(alphabet: list[ActualCall], longest: int) -> Iterator[list[ActualCall]]:
    """Yield all short ones, and some with one call many times: more often than all parts of a block together allow (24)."""
    for length in range(longest + 1):
        yield from ([*calls] for calls in product(alphabet, repeat=length))
    yield from ([call] * times for call in alphabet for times in (*range(longest + 1, 9), 25))


def calls_of(word: list[ActualCall]) -> Any:
    done = turn("x", [(each.name, each.args) for each in word])
    return view([done])


@pytest.mark.nightly
@settings(max_examples=400, deadline=None)
@given(BLOCK)
def test_an_expectation_that_is_accepted_can_fail(block: dict[str, Any]) -> None:
    from proctor.metrics.expectations.tool_expectations import _is_met

    reader = MatcherReader()
    read = read_expectations(block, None, reader)
    event("refused" if reader.problems else "accepted")
    if not reader.problems:
        assert any(
            not all(_is_met(each, word) for each in read) for word in trajectories(alphabet_for(block), 2)
        ), block


SAME = st.sampled_from([{}, {"same": "k"}])
RULE = st.one_of(
    st.builds(lambda a: {"never": a}, PATTERN),
    st.builds(lambda a, n: {"call": a, "at_most": n}, PATTERN, st.integers(0, 3)),
    st.builds(lambda a, b, s: {"call": a, "only_after": b, **s}, PATTERN, PATTERN, SAME),
    st.builds(lambda a, b, s: {"call": a, "implies_later": b, **s}, PATTERN, PATTERN, SAME),
    st.builds(lambda a, b: {"no": a, "before": b}, PATTERN, PATTERN),
    st.builds(lambda a, b, s: {"no": a, "before": b, **s}, PLAIN, PLAIN, SAME),
)


@given(RULE)
def test_a_rule_that_is_accepted_can_be_broken(rule: dict[str, Any]) -> None:
    reader = MatcherReader()
    read = read_rules([rule], reader, "rules")
    event("refused" if reader.problems else "accepted")
    if not reader.problems:
        assert any(breaches(read[0], word) for word in trajectories(alphabet_for(rule), 2)), rule


@given(st.dictionaries(st.sampled_from("kn"), VALUE, min_size=1, max_size=2))
def test_a_final_state_that_is_accepted_can_be_missed(state: dict[str, Any]) -> None:
    metric = FinalSessionState()
    case = EvalCase.model_validate({"eval_id": "c", "conversation": [], "final_session_state": state})
    problems = [*metric.check(case)]
    event("refused" if problems else "accepted")
    if not problems:
        ends: list[dict[str, Any]] = [{}, {"k": 1}, {"n": 1}, {"k": "x", "n": "y"}]
        found = [metric.score(view([], expected_state=state, actual_state=end)).value for end in ends]
        assert 0.0 in found, state


# --- by hand ----------------------------------------------------------------------------------------------------------------

ANY = {"tool": "*", "at_least": 0}
CANNOT_FAIL = [
    {"calls": [ANY]},
    {"calls": [{"in_order": [ANY]}]},
    {"calls": [{"any_order": [ANY, {"tool": "log", "optional": True}]}]},
    {"calls": [ANY, {"tool": "log", "optional": True}, ANY]},
    {"calls": [{"any_of": [[], {"tool": "*", "at_least": 1}]}]},
    {"calls": [{"tool": "*", "at_least": 1, "args": {"x": IGNORE}, "other_args": "allowed"}, {"tool": "a", "optional": True}],
     "others": "allowed", "limits": [{"tool": "a", "at_least": 0}]},
    {"calls": [{"any_of": ["*", {"tool": "*", "at_least": 2}, []]}]},
    {"calls": [{"tool": "*", "at_least": 0, "response": IGNORE}]},
    {"calls": [{"tool": ["a", "*"], "at_least": 0}]},
]  # fmt: skip


@pytest.mark.parametrize("block", CANNOT_FAIL)
def test_what_can_never_fail_is_refused(block: dict[str, Any]) -> None:
    with pytest.raises(CriterionError, match=r"can never (fail|be broken)"):
        ToolExpectations(BaseCriterion.model_validate({"threshold": 1.0, "expectations": block}))


@pytest.mark.parametrize(
    "block",
    [
        {"calls": []},
        {"calls": ["*"]},
        {"calls": [{"tool": "*", "at_least": 1}]},
        {"calls": [{"tool": "*", "at_most": 3}]},
        {"calls": [{"any_of": [[], {"tool": "*", "at_least": 2}]}]},
        {"calls": [{"tool": "*", "at_least": 0, "args": {}}]},
        {"calls": [{"tool": "a", "at_least": 0}]},
        {"calls": [ANY, "a", ANY]},
        {"calls": [ANY], "forbidden": ["a"]},
    ],
)
def test_what_looks_like_it_and_can_fail(block: dict[str, Any]) -> None:
    metric = ToolExpectations(BaseCriterion.model_validate({"threshold": 1.0, "expectations": block}))
    found = []
    for word in trajectories(alphabet_for(block), 1):
        try:
            found.append(metric.score(calls_of(word)).value)
        except MetricError:
            continue
    assert {0.0, 1.0} <= {*found}


@pytest.mark.parametrize(
    ("first", "second", "is_refused"),
    [
        ("pay", "pay", True),
        ("pay", "*", True),
        ({"tool": "pay", "args": {"sum": 5}}, "pay", True),
        ({"tool": "pay", "args": {"sum": 5}}, {"tool": "pay", "args": {"sum": 5.0}}, True),
        ({"tool": "pay", "args": {"sum": 5, "to": 1}}, {"tool": ["pay", "send"], "args": {"sum": 5}}, True),
        ({"tool": "pay", "args": {"sum": 5}}, {"tool": "pay", "args": {"sum": 6}}, False),
        ("pay", {"tool": "pay", "args": {"sum": 5}}, False),
        ("pay", {"tool": "pay", "args": {}, "other_args": "forbidden"}, False),
        ("*", "pay", False),
        ({"tool": ["pay", "send"]}, "pay", False),
    ],
)
def test_impossible_order_of_one_call_is_refused(first: Any, second: Any, *, is_refused: bool) -> None:
    reader = MatcherReader()
    read_rules([{"no": first, "before": second}], reader, "rules")
    assert bool(reader.problems) == is_refused
    if is_refused:
        assert reader.problems[0].startswith("rules[0]: no call can break this rule")
    other = MatcherReader()  # of other arguments
    read_rules([{"no": first, "before": second, "same": {"one": "another"}}], other, "rules")
    assert not any("never be broken" in problem for problem in other.problems)


@pytest.mark.parametrize(
    ("first", "second", "same", "is_refused"),
    [
        ({"k": 1}, {"k": 2}, "k", True),
        ({"k": 1}, {"k": 1.0}, "k", False),
        ({"k": 1}, {"n": 2}, {"k": "n"}, True),
        ({"k": 1}, {"k": {"$match": "number", "value": 5, "tolerance": 1}}, "k", True),
        ({"k": {"$match": "present"}}, {"k": 5}, "k", False),
        ({"k": {"x": 1}}, {"k": {"x": 2}}, "k.x", False),
        ({}, {"k": 2}, "k", False),
    ],
)
def test_two_calls_that_are_never_the_same_break_nothing(
    first: Any, second: Any, same: Any, *, is_refused: bool
) -> None:
    reader = MatcherReader()
    rule = {"no": {"tool": "a", "args": first}, "before": {"tool": "b", "args": second}, "same": same}
    read_rules([rule], reader, "rules")
    assert bool(reader.problems) == is_refused
    if is_refused:
        assert "no call can break this rule: `k`" in reader.problems[0]


def test_the_same_of_an_argument_that_no_call_can_have_is_refused() -> None:
    bare = {"tool": "a", "args": {"n": 1}, "other_args": "forbidden"}
    for rule in (
        {"no": bare, "before": "b", "same": "k"},
        {"call": "b", "only_after": bare, "same": {"n": "k"}},
    ):
        reader = MatcherReader()
        read_rules([rule], reader, "rules")
        assert reader.problems == ["rules[0].same: a(n=1) can have no argument 'k'"]
