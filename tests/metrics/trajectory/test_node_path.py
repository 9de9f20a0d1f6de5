"""`graph_trajectory_strict_match`: who worked, in which order."""

from typing import Any

import pytest

from proctor.metrics.trajectory.node_path import NOT_RECORDED, NOT_STATED, NodePath
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from proctor.schema.format.invocation import Invocation
from tests.metrics.invocations import turn, view


def metric(**options: Any) -> NodePath:
    return NodePath(BaseCriterion.model_validate({"threshold": 1.0, **options}))


def path(authors: str) -> Invocation:
    data = {"invocation_events": [{"author": author} for author in authors.split()]}
    return Invocation.model_validate({"user_content": {"parts": []}, "intermediate_data": data})


@pytest.mark.parametrize(
    ("expected", "actual", "value", "counted", "reason"),
    [
        ("root", "root", 1, 1, "the path is root"),
        ("root sub", "root sub", 1, 1, "the path is root → sub"),
        ("root sub", "root root sub", 1, 0, "the path is root → sub"),
        ("root sub", "root", 0, 0, "the path is root, expected root → sub (1 missing)"),
        ("root", "root sub root", 0, 0, "the path is root → sub → root, expected root (2 more)"),
        ("a b", "b a", 0, 0, "the path is b → a, expected a → b (another order)"),
        ("a b", "a c", 0, 0, "the path is a → c, expected a → b (1 missing, 1 more)"),
        ("root", "user root User", 1, 1, "the path is root"),
        ("g:plan __interrupt__", "g:plan __interrupt__", 1, 1, "the path is g:plan → __interrupt__"),
        ("", "", 1, 1, "the path is (nobody)"),
        ("", "root", 0, 0, "the path is root, expected (nobody) (1 more)"),
    ],
)
def test_paths(expected: str, actual: str, value: int, counted: int, reason: str) -> None:
    case = view([path(actual)], [path(expected)])
    score = metric().score(case)
    assert score.value == value
    assert metric(count_repeats=True).score(case).value == counted
    explanation = metric().explain(case, score, 0)
    assert explanation.reason == reason
    assert explanation.details is not None


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (turn(calls=[("f", {})]), path("root"), NOT_STATED),
        (turn(), path("root"), NOT_STATED),
        (path("root"), turn(calls=[("f", {})]), NOT_RECORDED),
    ],
)
def test_turn_without_authors_is_not_applicable(
    expected: Invocation, actual: Invocation, reason: str
) -> None:
    case = view([actual], [expected])
    score = metric().score(case)
    assert (score.value, score.not_applicable) == (None, True)
    assert metric().explain(case, score, 0).reason == reason


def test_it_applies_to_cases_with_a_path() -> None:
    assert metric().applies(EvalCase(eval_id="a", conversation=[turn(), path("root")]))
    assert not metric().applies(EvalCase(eval_id="a", conversation=[turn()]))


def test_a_scenario_has_nothing_to_compare_with() -> None:
    assert metric().score(view([path("root")])).not_applicable


def test_a_long_path_is_cut() -> None:
    case = view([path("a b " * 100)], [path("a b")])
    reason = metric().explain(case, metric().score(case), 0).reason
    assert "… (200 steps)" in reason
    assert len(reason) < 200
