"""`arguments`: how each argument of a tool is compared, wherever calls are."""

from typing import Any

import pytest

from proctor.errors import MetricError
from proctor.metrics.final_session_state import FinalSessionState
from proctor.metrics.trajectory.classic import AnyOrderMatch, Recall
from proctor.metrics.trajectory.tool_trajectory import ToolTrajectory
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import Calls, turn, view


def score(expected: Calls, actual: Calls, arguments: Any, **options: Any) -> Any:
    metric = ToolTrajectory(BaseCriterion(threshold=1, arguments=arguments, **options))
    case = view([turn("a", actual)], [turn("a", expected)])
    found = metric.score(case)
    return found.value, metric.explain(case, found, 0).reason


TABLE: list[tuple[Any, Any, Any, float]] = [
    ({"q": "Paris"}, {"q": "paris "}, {"f": {"q": "text"}}, 1),
    ({"q": "Paris"}, {"q": "paris "}, {"*": {"q": "text"}}, 1),
    ({"q": "Paris"}, {"q": "paris "}, {"g": {"q": "text"}}, 0),
    ({"q": "Paris"}, {"q": "paris "}, {"*": {"q": "text"}, "f": {"q": "exact"}}, 0),
    ({"q": "a", "n": 1}, {"q": "A", "n": 2}, {"f": {"q": "text"}}, 0),
    ({"q": "a", "n": 1}, {"q": "A", "n": 2}, {"f": {"q": "text", "n": "ignore"}}, 1),
    ({"q": "a"}, {"q": "a", "id": "x7"}, {"f": {"id": {"match": "regex", "pattern": r"^x\d$"}}}, 1),
    ({"q": "a"}, {"q": "a", "id": "y"}, {"f": {"id": {"match": "regex", "pattern": r"^x\d$"}}}, 0),
    ({"q": "a"}, {"q": "a"}, {"f": {"id": {"match": "regex", "pattern": r"^x\d$"}}}, 1),
    ({"q": "a", "id": "x1"}, {"q": "a"}, {"f": {"id": {"match": "regex", "pattern": r"^x\d$"}}}, 0),
    ({"g": {"name": "Ada", "n": 1}}, {"g": {"name": "ADA", "n": 1}}, {"f": {"g.name": "text"}}, 1),
    ({"g": {"name": "Ada", "n": 1}}, {"g": {"name": "ADA", "n": 2}}, {"f": {"g.name": "text"}}, 0),
    ({"g": {"name": "Ada"}}, {"g": "Ada"}, {"f": {"g.name": "ignore"}}, 0),
    ({"l": [{"id": 1, "v": 2}]}, {"l": [{"id": 9, "v": 2}]}, {"f": {"l[*].id": "ignore"}}, 1),
    ({"l": [{"id": 1, "v": 2}]}, {"l": [{"id": 9, "v": 3}]}, {"f": {"l[*].id": "ignore"}}, 0),
    ({"l": [1, 2]}, {"l": [5, 2]}, {"f": {"l[0]": {"match": "number", "tolerance": 4}}}, 1),
    ({"l": [1, 2]}, {"l": [1, 6]}, {"f": {"l[0]": {"match": "number", "tolerance": 4}}}, 0),
    ({"l": [1, 2]}, {"l": [1]}, {"f": {"l[1]": "ignore"}}, 0),
    ({"n": 5}, {"n": 7}, {"f": {"n": {"match": "number", "value": 7, "tolerance": 0}}}, 1),
    (None, {}, {"f": {"n": "ignore"}}, 1),
    ({"d": "2024-05-01"}, {"d": "1 May 2024"}, {"f": {"d": "date"}}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "actual", "arguments", "value"), TABLE, ids=repr)
def test_table(expected: Any, actual: Any, arguments: Any, value: float) -> None:
    found, reason = score([("f", expected)], [("f", actual)], arguments)
    assert found == value, reason
    assert (reason == "every expected call was made") == (value == 1)


def test_the_reason_names_the_argument() -> None:
    arguments = {"f": {"n": {"match": "number", "tolerance": 0.5}}}
    _, reason = score([("f", {"n": 1, "q": "a"})], [("f", {"n": 2, "q": "a"})], arguments)
    assert reason == "`f` argument `n` is 2, expected 1 ± 0.5"


OPTIONS = {"match": "one_of", "values": ["sea", {"$match": "regex", "pattern": "^lake"}]}


@pytest.mark.parametrize(
    ("expected", "actual", "matchers", "message"),
    [
        ({"a": "x"}, {"a": "y"}, {"a": OPTIONS}, 'is "y", expected one of "sea", a text with a match of "^lake"'),
        ({"a": "x"}, {}, {"a": OPTIONS}, 'is missing, expected one of "sea", a text'),
        ({}, {"a": "y"}, {"a": OPTIONS}, 'is "y", expected one of "sea", a text'),
        ({"a": 1}, {"a": 9}, {"a": {"match": "number", "value": 5, "relative": 0.1}}, "is 9, expected 5 ± 10 %"),
        ({"a": "x"}, {"a": "y"}, {"a": {"match": "regex", "pattern": "^x"}}, 'is "y", expected a text with a match of "^x"'),
        ({}, {"a": "y"}, {"a": {"match": "regex", "pattern": "^x"}}, 'is "y", expected a text with a match of "^x"'),
        ({"a": "x"}, {}, {"a": "present"}, "is missing, expected any value"),
        ({}, {"a": "y"}, {"a": "text"}, 'is "y", expected none'),
        ({"a": "x"}, {"a": "y"}, {"a": "exact"}, 'is "y", expected "x"'),
        ({"a": {"b": "x", "c": 1}}, {"a": {"b": "y", "c": 1}}, {"a.b": OPTIONS}, "with `a.b` being one of"),
        ({"a": {"b": "x", "c": 1}}, {"a": {"b": "sea", "c": 2}}, {"a.b": OPTIONS}, 'expected {"b": "x", "c": 1}'),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 9}]}, {"a[*].b": {"match": "number", "tolerance": 1}}, "`a[*].b` being 1 ± 1"),
    ],
    ids=repr,
)  # fmt: skip
def test_reason_names_the_requirement_of_the_matcher(
    expected: Any, actual: Any, matchers: Any, message: str
) -> None:
    found, reason = score([("f", expected)], [("f", actual)], {"f": matchers})
    assert found == 0
    assert message in reason


UNREADABLE = [
    ({"d": "soon"}, {"d": "date"}, '`d` "soon", which is not a date or time'),
    ({"d": "05/01/2024"}, {"d": "date"}, "which is not a date or time"),  # May or January
    ({"d": "19:00"}, {"d": {"match": "date", "part": "date"}}, "which is not a date"),
    ({"d": 20240501}, {"d": "date"}, "which is not a date or time"),
    ({"n": "12"}, {"n": {"match": "number", "tolerance": 1}}, '`n` "12", which is not a number'),
    (
        {"n": "12 apples"},
        {"n": {"match": "number", "tolerance": 1, "read_text": True}},
        "which is not a number",
    ),
    ({"n": True}, {"n": {"match": "number", "tolerance": 1}}, "which is not a number"),
    ({"t": 5}, {"t": "text"}, "`t` 5, which is not a text"),
    ({"s": "ab"}, {"s": "set"}, "which is not a list"),
    ({"j": '{"a": 1'}, {"j": {"match": "json", "parse": True}}, "which is not JSON (Expecting"),
    ({"j": "[NaN]"}, {"j": {"match": "json", "parse": True}}, "NaN is not JSON"),
    ({"g": {"when": ["soon"]}}, {"g.when[*]": "date"}, '`g.when[*]` "soon", which is not a date'),
]


@pytest.mark.parametrize(("args", "matchers", "message"), UNREADABLE, ids=repr)
def test_incomparable_expected_value_is_not_a_fault_of_the_agent(
    args: dict[str, Any], matchers: Any, message: str
) -> None:
    wanted = turn("a", [("f", args)])
    case = EvalCase(eval_id="c", conversation=[turn("a"), wanted])
    for kind in (ToolTrajectory, AnyOrderMatch):
        metric = kind(BaseCriterion(threshold=1, arguments={"f": matchers}))
        (problem,) = metric.check(case)
        assert problem.startswith(f"{metric.facts.name}: turn 2: `f` is expected with ")
        assert message in problem
        for came in (dict.fromkeys(args, "other"), args):
            with pytest.raises(MetricError, match=r"the expected value .* so it cannot be compared"):
                metric.score(view([turn("a", [("f", came)])], [wanted]))
    state = FinalSessionState(BaseCriterion(threshold=1, state=matchers))
    (problem,) = state.check(EvalCase(eval_id="c", conversation=[], final_session_state=args))
    assert "which is no" in problem


def test_comparable_value_is_not_a_problem() -> None:
    for expected in ({"d": "2024-05-01"}, {"d": None}, {}, {"other": "soon"}):
        metric = ToolTrajectory(BaseCriterion(threshold=1, arguments={"*": {"d": "date"}}))
        case = EvalCase(eval_id="c", conversation=[turn("a", [("f", expected)])])
        assert not [*metric.check(case)]
        assert score([("f", expected)], [("f", expected)], {"*": {"d": "date"}})[0] == 1


@pytest.mark.parametrize(
    "matcher", ["date", "text", "set", {"match": "number", "tolerance": 9}, {"match": "json", "parse": True}]
)
def test_null_is_null_to_every_matcher(matcher: Any) -> None:
    for came, found in ((None, 1), ("2024-05-01", 0), (0, 0)):
        assert score([("f", {"a": None})], [("f", {"a": came})], {"f": {"a": matcher}})[0] == found
    assert score([("f", {"a": None})], [("f", {})], {"f": {"a": matcher}})[0] == 0


def test_any_order_pairs_calls_so_that_as_many_as_possible_fit() -> None:
    near = {"*": {"n": {"match": "number", "tolerance": 1}}}
    expected: Calls = [("f", {"n": 1}), ("f", {"n": 0})]
    actual: Calls = [("f", {"n": 1}), ("f", {"n": 2})]  # the first that fits 1 is needed by 0
    assert score(expected, actual, near, match_type="ANY_ORDER")[0] == 1
    for metric in (AnyOrderMatch, Recall):
        found = metric(BaseCriterion(threshold=1, arguments=near)).score(
            view([turn("a", actual)], [turn("a", expected)])
        )
        assert found.value == 1


@pytest.mark.parametrize(
    ("stated", "actual", "value", "reason"),
    [
        ({"total": {"$match": "number", "value": 9.99, "tolerance": 0.01}}, {"total": 10}, 1, ""),
        ({"total": {"$match": "number", "value": 9.99, "tolerance": 0.001}}, {"total": 10}, 0, "9.99 ± 0.001"),
        ({"id": {"$match": "present"}}, {"id": None}, 1, ""),
        ({"id": {"$match": "present"}}, {}, 0, "state `id` is missing, expected any value"),
        ({"cart": {"id": {"$match": "regex", "pattern": "^c"}, "n": 1}}, {"cart": {"id": "c1", "n": 1}}, 1, ""),
        ({"cart": {"id": {"$match": "regex", "pattern": "^c"}, "n": 1}}, {"cart": {"id": "d1", "n": 1}}, 0, '"^c"'),
        ({"gone": {"$match": "ignore"}}, {}, 1, ""),
        ({"match": "text"}, {"match": "text"}, 1, ""),
    ],
    ids=repr,
)  # fmt: skip
def test_matchers_in_the_final_state(stated: Any, actual: Any, value: float, reason: str) -> None:
    found = FinalSessionState().score(
        view([turn("a")], [turn("a")], expected_state=stated, actual_state=actual)
    )
    assert found.value == value
    assert reason in found.reason


def test_matchers_for_the_final_state_in_the_criterion() -> None:
    metric = FinalSessionState(
        BaseCriterion(threshold=1, state={"total": {"match": "number", "tolerance": 1}, "guest.name": "text"})
    )
    stated = {"total": 9, "guest": {"name": "Ada", "age": 36}}
    for actual, value in [
        ({"total": 10, "guest": {"name": "ADA", "age": 36}}, 1),
        ({"total": 11, "guest": {"name": "ADA", "age": 36}}, 0),
        ({"total": 10, "guest": {"name": "ADA", "age": 37}}, 0),
    ]:
        case = view([turn("a")], [turn("a")], expected_state=stated, actual_state=actual)
        assert metric.score(case).value == value, actual


@pytest.mark.parametrize(("tool", "warned"), [("bok", True), ("book", False), ("*", False), ("pay", False)])
def test_matchers_for_a_tool_that_the_agent_does_not_declare_give_a_warning(tool: str, warned: bool) -> None:
    tools = [{"function_declarations": [{"name": "book"}]}]
    details = {"agent_details": {"x": {"name": "x", "tool_declarations": tools}}}
    case = view([turn("a", [("book", {"n": 1})], app_details=details)], [turn("a", [("pay", {"n": 1})])])
    for kind in (ToolTrajectory, AnyOrderMatch):
        metric = kind(BaseCriterion(threshold=1, arguments={tool: {"n": "ignore"}}))
        warning = metric.explain(case, metric.score(case), 0).warning
        assert ("does not declare: 'bok' Did you mean 'book'?" in warning) == warned
