"""`tool_expectations`: what may be expected beyond a list, by hand and against every reading written out."""

from functools import cache
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from proctor.errors import CriterionError, MetricError
from proctor.metrics.expectations.call_patterns import ActualCall
from proctor.metrics.expectations.grammar import read_as
from proctor.metrics.expectations.parse import read_expectations
from proctor.metrics.expectations.tool_expectations import ToolExpectations
from proctor.metrics.matchers.parse import MatcherReader
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from tests.metrics.invocations import Calls, turn, view

# --- the oracle: all lists that an expectation allows, and the distance to the closest ------------------------------------

ARG = st.sampled_from([1, 2])
CALL: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from("ab"),
    st.builds(lambda t, n: {"tool": t, "args": {"n": n}}, st.sampled_from("ab"), ARG),
    st.builds(lambda t: {"tool": t, "optional": True}, st.sampled_from("ab")),
    st.builds(lambda t, n: {"tool": t, "at_most": n}, st.sampled_from("ab"), st.integers(1, 2)),
    st.builds(lambda t: {"tool": t, "at_least": 1, "at_most": 2}, st.sampled_from("ab")),
)
ITEM = st.recursive(
    CALL,
    lambda inner: st.one_of(
        st.builds(lambda i, o: {"any_of": i, **o}, st.lists(inner, min_size=2, max_size=2), st.sampled_from([{}, {"optional": True}])),
        st.builds(lambda i: {"any_order": i}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda i: {"in_order": i, "optional": True}, st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=4,
)  # fmt: skip
ITEMS = st.lists(ITEM, max_size=3)
MADE = st.lists(st.builds(ActualCall, st.sampled_from("abc"), ARG.map(lambda n: {"n": n})), max_size=5)

Word = tuple[tuple[str, int | None], ...]


def language(item: Any) -> set[Word]:
    """Every list of calls that an item allows: (tool, its argument or `None` for any)."""
    if isinstance(item, str):
        return {((item, None),)}
    skipped: set[Word] = {()} if item.get("optional") else set()
    if "any_of" in item:
        return skipped.union(*map(language, item["any_of"]))
    if "in_order" in item:
        return skipped | joined(item["in_order"])
    if "any_order" in item:
        return skipped.union(*(joined(order) for order in permutations(item["any_order"])))
    one = (item["tool"], item.get("args", {}).get("n"))
    least = item.get("at_least", 0 if "at_most" in item else 1)
    return skipped | {(one,) * times for times in range(least, item.get("at_most", 1) + 1)}


def joined(items: Any) -> set[Word]:
    return {tuple(call for word in words for call in word) for words in product(*map(language, items))}


def distance(word: Word, calls: list[ActualCall], *, others: bool) -> int:
    """Missing or not expected: 10; another argument (the only one): 19."""

    @cache
    def least(i: int, j: int) -> int:
        ways = []
        if i == len(word) and j == len(calls):
            return 0
        if i < len(word):
            ways.append(10 + least(i + 1, j))
        if j < len(calls):
            ways.append((0 if others else 10) + least(i, j + 1))
        if i < len(word) and j < len(calls) and word[i][0] == calls[j].name:
            fine = word[i][1] in (None, (calls[j].args or {})["n"])
            ways.append((0 if fine else 19) + least(i + 1, j + 1))
        return min(ways)

    return least(0, 0)


@given(ITEMS, MADE, st.booleans())
def test_the_reading_is_the_cheapest_of_all(items: list[Any], calls: list[ActualCall], others: bool) -> None:
    reader = MatcherReader()
    [read] = read_expectations({"calls": items}, None, reader)
    assert reader.problems == []
    assert read.calls is not None
    best = min(distance(word, calls, others=others) for word in joined(items))
    fits = read_as(read.calls, calls, others_allowed=others)
    assert fits is not None
    assert sum(fit.cost for fit in fits) == best
    assert [fit.made for fit in fits if fit.made] == calls
    assert (read_as(read.calls, calls, others_allowed=others, only_fitting=True) is not None) == (best == 0)


@pytest.mark.slow
@settings(deadline=None)
@given(ITEMS, MADE, st.booleans())
def test_score_and_explanation_agree(items: list[Any], calls: list[ActualCall], others: bool) -> None:
    block = {"turn": 1, "calls": items, **({"others": "allowed"} if others else {})}
    reader = MatcherReader()
    read_expectations(block, 1, reader)
    assume(not reader.problems)  # what can never fail is refused
    case = view([turn("x", [(call.name, call.args) for call in calls])], extra={"expectations": block})
    metric = ToolExpectations()
    found = metric.score(case)
    explanation = metric.explain(case, found, 0)
    assert (found.value == 1) == (explanation.reason == "the calls are as expected")
    kinds = {step["kind"] for step in (explanation.details or {}).get("alignment", ())}
    assert (found.value == 1) == (kinds <= {"matched"})


# --- by hand -------------------------------------------------------------------------------------------------------------


def judge(expectations: Any, *turns: Calls | Invocation) -> tuple[Any, str]:
    made = [one if isinstance(one, Invocation) else turn("x", one) for one in turns]
    case = view(made, extra={"expectations": expectations})
    metric = ToolExpectations()
    found = metric.score(case)
    reasons = [
        metric.explain(case, found, i).reason
        for i, each in enumerate(found.per_invocation)
        if each.value == 0
    ]
    return found.value, "; ".join(reasons)


NONE: dict[str, Any] = {}
A, B, C, X = ("a", {"n": 1}), ("b", NONE), ("c", NONE), ("x", NONE)
TABLE: list[tuple[str, Any, list[Calls], float, str]] = [
    ("nothing is expected, nothing made", {"calls": []}, [[]], 1, ""),
    ("nothing is expected, something made", {"calls": []}, [[A]], 0, "call 1, `a(n=1)`, is not expected"),
    ("an optional call made", {"calls": ["a", {"tool": "b", "optional": True}, "c"]}, [[A, B, C]], 1, ""),
    ("an optional call left out", {"calls": ["a", {"tool": "b", "optional": True}, "c"]}, [[A, C]], 1, ""),
    ("an optional call made elsewhere", {"calls": ["a", {"tool": "b", "optional": True}]}, [[B, A]], 0,
     "call 1, `b()`, is not expected"),
    ("the other alternative", {"calls": [{"any_of": ["a", ["b", "c"]]}]}, [[B, C]], 1, ""),
    ("half of an alternative", {"calls": [{"any_of": ["a", ["b", "c"]]}]}, [[B]], 0, "`c` is missing"),
    ("both alternatives", {"calls": [{"any_of": ["a", "b"]}]}, [[A, B]], 0, "call 2, `b()`, is not expected"),
    ("a group in any order", {"calls": [{"any_order": ["a", "b"]}, "c"]}, [[B, A, C]], 1, ""),
    ("a group after what follows it", {"calls": [{"any_order": ["a", "b"]}, "c"]}, [[C, B, A]], 0,
     "call 1, `c()`, is not expected; `c` is missing"),
    ("others may be between", {"calls": ["a", "b"], "others": "allowed"}, [[X, A, X, B, X]], 1, ""),
    ("others may not", {"calls": ["a", "b"]}, [[A, X, B]], 0, "call 2, `x()`, is not expected"),
    ("at most twice", {"calls": [{"tool": "a", "at_most": 2}]}, [[A, A]], 1, ""),
    ("at most twice, none made", {"calls": [{"tool": "a", "at_most": 2}]}, [[]], 1, ""),
    ("at most twice, made three times", {"calls": [{"tool": "a", "at_most": 2}]}, [[A, A, A]], 0,
     "call 3, `a(n=1)`, is not expected"),
    ("any number from two", {"calls": [{"tool": "a", "at_least": 2}]}, [[A, A, A]], 1, ""),
    ("any number from two, one made", {"calls": [{"tool": "a", "at_least": 2}]}, [[A]], 0, "`a` is missing"),
    ("a forbidden call", {"forbidden": ["x"]}, [[A, X]], 0, "call 2, `x()`, is forbidden"),
    ("a forbidden call with other arguments", {"forbidden": [{"tool": "a", "args": {"n": 2}}]}, [[A]], 1, ""),
    ("a forbidden call with more arguments", {"forbidden": [{"tool": "a", "args": {"n": 1}}]},
     [[("a", {"n": 1, "force": True})]], 0, "call 1, `a(n=1, force=true)`, is forbidden"),
    ("a limit", {"limits": [{"tool": "a", "at_most": 1}]}, [[A, B, A]], 0,
     "call 3, `a(n=1)`, exceeds the limit: `a` may be called once, and was called twice"),
    ("a limit from below", {"limits": [{"tool": "a", "at_least": 2}]}, [[A]], 0,
     "`a` was called once, expected at least twice"),
    ("arguments that are not named", {"calls": [{"tool": "a", "args": {}}]}, [[A]], 0,
     "call 1, `a`: n is 1, which is not expected"),
    ("arguments that may be there", {"calls": [{"tool": "a", "args": {}, "other_args": "allowed"}]}, [[A]], 1, ""),
    ("an argument about so large", {"calls": [{"tool": "a", "args": {"n": {"$match": "number", "value": 3, "tolerance": 1}}}]},
     [[A]], 0, "call 1, `a`: n is 1, expected 3 ± 1"),
    ("one of several tools", {"calls": [{"tool": ["a", "b"]}, {"tool": "*"}]}, [[B, X]], 1, ""),
    ("only the second turn counts", {"turn": 2, "calls": ["b"]}, [[A], [B]], 1, ""),
    ("the turns one after the other", {"calls": ["a", "b"]}, [[A], [B]], 1, ""),
    ("the call of another turn", {"calls": ["a"]}, [[A], [B]], 0, "call 1 of turn 2, `b()`, is not expected"),
    ("one of two is met", [{"turn": 1, "calls": ["a"]}, {"turn": 2, "calls": ["a"]}], [[A], [B]], 0.5,
     "call 1 of turn 2, `b()`, is not expected; `a` is missing"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expectations", "turns", "value", "reason"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_table(expectations: Any, turns: list[Calls], value: float, reason: str) -> None:
    found, reasons = judge(expectations, *turns)
    assert found == value
    assert sorted(reasons.split("; ")) == sorted(reason.split("; "))


def answered(*calls: tuple[str, str | None, Any]) -> Invocation:
    """Calls with their responses; `(tool, id, response)`."""
    return Invocation.model_validate(
        {
            "user_content": {"parts": [{"text": "q"}]},
            "intermediate_data": {
                "tool_uses": [{"name": name, "args": {}, "id": id_} for name, id_, _ in calls],
                "tool_responses": [
                    {"name": name, "id": id_, "response": response}
                    for name, id_, response in reversed(calls)
                    if response
                ],
            },
        }
    )


@pytest.mark.parametrize(
    ("response", "value", "reason"),
    [
        ({"ok": True}, 1, ""),
        ({"ok": False}, 0, 'call 1, `a`: the response is {"ok": true}, expected {"ok": false}'),
        ({"$match": "subset", "value": {"ok": True}}, 1, ""),
    ],
    ids=repr,
)
def test_responses_are_compared(response: Any, value: float, reason: str) -> None:
    made = answered(("a", "1", {"ok": True}), ("b", "2", {"ok": None}))
    assert judge({"turn": 1, "calls": [{"tool": "a", "response": response}, "b"]}, made) == (value, reason)


def test_a_call_without_response_has_none() -> None:
    made = answered(("a", None, None))
    value, reason = judge({"turn": 1, "calls": [{"tool": "a", "response": {"$match": "present"}}]}, made)
    assert (value, reason) == (0, "call 1, `a`: the response is missing, expected any value")


def test_expectations_of_the_criterion_apply_to_every_case_with_that_turn() -> None:
    metric = ToolExpectations(
        BaseCriterion(threshold=1, expectations=[{"turn": 2, "calls": ["a"]}, {"forbidden": ["x"]}])
    )
    assert metric.score(view([turn("q", [X])])).value == 0
    assert metric.score(view([turn("q", [])])).value == 1
    assert metric.score(view([turn("q", []), turn("q", [B])])).value == 0.5


def test_a_case_that_states_nothing_is_not_judged() -> None:
    assert ToolExpectations().score(view([turn("q", [A])])).not_applicable
    assert not ToolExpectations().applies(EvalCase(eval_id="c", conversation=[]))


@pytest.mark.parametrize(
    ("expectations", "warned"),
    [
        ({"forbidden": ["aa"]}, True),
        ({"forbidden": ["a"]}, False),
        ({"calls": ["a"], "forbidden": ["a"]}, False),
    ],
    ids=repr,
)
def test_a_limit_of_a_tool_that_nothing_knows_is_warned_about(expectations: Any, warned: bool) -> None:
    found = ToolExpectations().score(view([turn("q", [A])], extra={"expectations": expectations}))
    assert bool(found.per_invocation[-1].warning) == warned


def test_unknown_name_among_declared_tools_is_a_warning() -> None:
    declared = {
        "agent_details": {
            "x": {"name": "x", "tool_declarations": [{"function_declarations": [{"name": "book"}]}]}
        }
    }
    made = turn("q", [], app_details=declared)
    block = {"calls": [{"tool": "boook", "optional": True}, {"tool": "book", "optional": True}]}
    found = ToolExpectations().score(view([made], extra={"expectations": block}))
    assert found.per_invocation[-1].warning.endswith("'boook' (Did you mean 'book'?)")


SLIPS: list[tuple[Any, str]] = [
    ([], "expected an object"),
    ({}, "it expects nothing"),
    ({"call": []}, "Did you mean 'calls'"),
    ({"calls": "a"}, "expected a list of calls"),
    ({"calls": [5]}, "calls[0]: expected a tool's name"),
    ({"calls": [{"tool": "a", "optinal": True}]}, "Did you mean 'optional'"),
    ({"calls": [{"tool": "a", "optional": "yes"}]}, "must be true or false"),
    ({"calls": [{"tool": "a", "at_least": 2, "at_most": 1}]}, "less than `at_least`"),
    ({"calls": [{"tool": "a", "at_most": 0}]}, "write the call under `forbidden`"),
    ({"calls": [{"tool": "a", "at_least": -1}]}, "expected a whole number"),
    ({"calls": [{"tool": "a", "at_least": 1, "optional": True}]}, "not both"),
    ({"calls": [{"any_of": ["a"]}]}, "two alternatives or more"),
    ({"calls": [{"any_of": ["a", "b"], "tool": "c"}]}, "`tool` cannot be combined with `any_of`"),
    ({"calls": [{"any_order": ["a"] * 13}]}, "at most 12 items"),
    ({"calls": ["a"] * 301}, "at most 300 calls"),
    ({"calls": [], "turn": 0}, "turns are counted from 1"),
    ({"calls": [], "turn": 3}, "the case has 2 turn(s), got 3"),
    ({"calls": [], "others": "yes"}, '"allowed" or "forbidden"'),
    ({"forbidden": ["a"], "others": "allowed"}, "it has no effect without `calls`"),
    ({"calls": [], "others": "allowed"}, "it can never fail"),
    ({"calls": [{"tool": "a", "optional": True}], "others": "allowed"}, "it can never fail"),
    ({"calls": [{"any_order": [{"tool": "a", "at_least": 0}]}], "others": "allowed"}, "it can never fail"),
    ({"calls": [{"tool": "a", "at_most": 2}], "others": "allowed"}, "`at_most` has no effect with"),
    ({"forbidden": []}, "expected a list of calls"),
    ({"limits": [{"tool": "a"}]}, "a limit needs"),
    ({"limits": [{"tool": "a", "at_least": 0}]}, "can never be broken"),
    ({"calls": [{"tool": "a", "args": {"n": {"$match": "regex", "pattern": "("}}}]}, "calls[0].args.n"),
]  # fmt: skip


@pytest.mark.parametrize(("expectations", "problem"), SLIPS, ids=[problem for _, problem in SLIPS])
def test_typo_is_reported_before_the_run(expectations: Any, problem: str) -> None:
    turns = [{"user_content": {"parts": [{"text": "q"}]}}] * 2
    case = EvalCase.model_validate({"eval_id": "c", "conversation": turns, "expectations": expectations})
    assert problem in "; ".join(ToolExpectations().check(case))
    if "turn" not in expectations:
        with pytest.raises(CriterionError) as caught:
            ToolExpectations(BaseCriterion(threshold=1, expectations=expectations))
        assert problem in str(caught.value)
    with pytest.raises(MetricError, match="cannot be read"):
        ToolExpectations().score(view([turn("q", []), turn("q", [])], extra={"expectations": expectations}))


def test_twelve_calls_in_any_order_are_read_and_explained() -> None:
    names = [f"t{i}" for i in range(12)]
    block = {"turn": 1, "calls": [{"any_order": names}]}
    backwards: Calls = [(name, {}) for name in reversed(names)]
    assert judge(block, backwards) == (1, "")
    value, reason = judge(block, [*backwards[:5], X, *backwards[6:]])
    assert (value, reason) == (0, "call 6, `x()`, is not expected; `t6` is missing")


@pytest.mark.parametrize(
    ("expectations", "calls", "drawn", "words"),
    [
        pytest.param({"calls": ["a"], "forbidden": ["x"]}, [A, X], ["matched a", "extra x"], ["call 2, `x()`, is forbidden"], id="forbidden and not expected"),
        pytest.param({"calls": ["a"], "others": "allowed", "forbidden": ["x"]}, [A, X, B], ["matched a", "extra x", "matched b"], ["`x()`, is forbidden"], id="forbidden where others are allowed"),
        pytest.param({"forbidden": ["x", {"tool": "*"}]}, [X], ["extra x"], ["is forbidden", "is forbidden"], id="forbidden twice"),
        pytest.param([{"calls": ["a"]}, {"forbidden": ["x"]}], [A, X], ["matched a", "extra x"], ["`x()`, is not expected", "`x()`, is forbidden"], id="in two expectations"),
        pytest.param([{"calls": ["a", "x"]}, {"forbidden": ["x"]}], [A, X], ["extra x"], ["is forbidden"], id="expected by one and forbidden by another"),
        pytest.param([{"calls": ["a", "b"]}, {"calls": ["b", "a"]}], [A, X], ["matched a", "missing b", "extra x"], [], id="two orders"),
        pytest.param([{"calls": ["x", "b"]}, {"forbidden": ["x"]}], [X], ["extra x", "missing b"], [], id="right for one and forbidden by another"),
        pytest.param({"calls": ["x", "x"], "limits": [{"tool": "x", "at_most": 1}]}, [X, X], ["matched x", "extra x"], ["exceeds the limit"], id="expected and too many"),
        pytest.param({"limits": [{"tool": "b", "at_least": 2}]}, [B], ["missing b"], ["expected at least twice"], id="too few"),
    ],
)  # fmt: skip
def test_each_call_is_drawn_once_however_many_things_are_wrong_with_it(
    expectations: Any, calls: Calls, drawn: list[str], words: list[str]
) -> None:
    case = view([turn("x", calls)], extra={"expectations": expectations})
    metric = ToolExpectations()
    explanation = metric.explain(case, metric.score(case), 0)
    steps = (explanation.details or {})["alignment"]
    drawn_steps = [f"{step['kind']} {(step['actual'] or step['expected'])['name']}" for step in steps]
    assert [each for each in drawn_steps if not each.startswith("missing")] == [
        each for each in drawn if not each.startswith("missing")
    ]
    assert set(drawn_steps) == set(drawn)
    sentences = explanation.reason.split("; ")
    assert all(each in explanation.reason for each in words)
    assert not words or len(sentences) == len(words)


def test_a_call_of_an_earlier_turn_is_named_and_drawn_in_no_other_turn() -> None:
    case = view([turn("x", [A, X]), turn("y", [B])], extra={"expectations": {"calls": ["a", "c"]}})
    metric = ToolExpectations()
    explanation = metric.explain(case, metric.score(case), 1)
    steps = (explanation.details or {})["alignment"]
    assert [f"{step['kind']} {(step['actual'] or step['expected'])['name']}" for step in steps] == [
        "missing c",
        "extra b",
    ]
    assert "call 2 of turn 1, `x()`, is not expected" in explanation.reason


def test_reason_names_a_turn_of_the_criterion_that_the_case_lacks() -> None:
    metric = ToolExpectations(
        BaseCriterion(threshold=1.0, expectations=[{"turn": 2, "calls": []}, {"turn": 3, "calls": []}])
    )
    found = metric.score(view([turn("x", [A])]))
    assert found.not_applicable
    assert (
        found.reason == "the criterion expects something of turn 2 and 3, and this conversation has 1 turn(s)"
    )
    assert (
        ToolExpectations().score(view([turn("x", [A])])).reason
        == "neither the case nor the criterion states `expectations`"
    )
