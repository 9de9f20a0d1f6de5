"""Matchers of tools and arguments that no case expects are reported before a run."""

from typing import Any

import pytest

import proctor
from proctor.common.registry import METRICS
from proctor.schema.format.case import EvalCase
from proctor.schema.format.criterion import BaseCriterion
from tests.metrics.invocations import Calls, turn

CALLS: list[dict[str, Any]] = [
    {"name": "book_table", "args": {"date": "1 May", "guest": {"name": "Ada"}}},
    {"name": "log", "args": None},
]


def case(*calls: dict[str, Any]) -> EvalCase:
    turn = {"user_content": {"parts": []}, "intermediate_data": {"tool_uses": [*calls]}}
    return EvalCase.model_validate({"eval_id": "c", "conversation": [turn]})


@pytest.mark.parametrize(
    "name", ["tool_trajectory_avg_score", "trajectory_recall", "trajectory_superset_match"]
)
@pytest.mark.parametrize(
    ("arguments", "warnings"),
    [
        pytest.param({"book_table": {"date": "date"}}, [], id="expected"),
        pytest.param({"book_table": {"guest.name": "text"}}, [], id="a path"),
        pytest.param({"book_table": {"request_id": "ignore"}}, [], id="an argument that only the agent gives"),
        pytest.param({"*": {"date": "date"}}, [], id="every tool"),
        pytest.param({"book_tabel": {"date": "date"}}, ["arguments.book_tabel: no case expects a call of 'book_tabel'. Did you mean 'book_table'?"], id="a slip of a tool"),
        pytest.param({"search": {"q": "text"}}, ["arguments.search: no case expects a call of 'search'."], id="a tool that is not expected"),
        pytest.param({"book_table": {"dat": "date"}}, ["arguments.book_table.dat: no expected call has the argument 'dat'. Did you mean 'date'?"], id="a slip of an argument"),
        pytest.param({"book_table": {"gust.name": "text"}}, ["arguments.book_table.gust.name: no expected call has the argument 'gust'. Did you mean 'guest'?"], id="a slip in a path"),
        pytest.param({"*": {"gest": "text"}}, ["arguments.*.gest: no expected call has the argument 'gest'. Did you mean 'guest'?"], id="a slip for every tool"),
    ],
)  # fmt: skip
def test_what_no_case_expects(name: str, arguments: Any, warnings: list[str]) -> None:
    survey = METRICS.get(name)(BaseCriterion(threshold=1.0, arguments=arguments)).survey()
    survey.add_case(case())
    survey.add_case(case(*CALLS))
    assert ([*survey.problems()], [*survey.warnings()]) == ([], warnings)


def test_no_survey_without_matchers() -> None:
    assert METRICS.get("tool_trajectory_avg_score")().survey() is None
    assert METRICS.get("trajectory_recall")().survey() is None


@pytest.mark.parametrize(
    ("tool_args", "problems", "warnings"),
    [
        ({"book": ["covers"]}, [], []),
        ({"book": ["covers", "guest.name"]}, [], []),
        ({"book": "exact"}, [], []),
        ({"book": ["cover"]}, ["tool_args.book: no expected call has 'cover' (Did you mean 'covers'?), so nothing of its calls is compared"], []),
        ({"book": ["covers", "guest.nme"]}, [], ["tool_args.book: no expected call has 'guest.nme' (Did you mean 'guest.name'?); only null is compared with null there"]),
        ({"boook": "exact"}, [], ["tool_args.boook: no case expects a call of 'boook'. Did you mean 'book'?"]),
    ],
)  # fmt: skip
def test_unknown_path_compares_nothing(tool_args: Any, problems: list[str], warnings: list[str]) -> None:
    """Null is null on both sides: with a slip every call would be the same as every other."""
    criterion = BaseCriterion.model_validate({"threshold": 1, "args": "ignore", "tool_args": tool_args})
    survey = METRICS.get("trajectory_superset_match")(criterion).survey()
    calls: Calls = [("book", {"covers": 2, "guest": {"name": "Ada"}})]
    survey.add_case(EvalCase(eval_id="c", conversation=[turn("x", calls)]))
    assert [*survey.problems()] == problems
    assert [*survey.warnings()] == warnings


def test_by_hand_it_is_warned_about() -> None:
    made, wanted = turn("x", [("book", {"covers": 9})]), turn("x", [("book", {"covers": 2})])
    criteria = {"trajectory_strict_match": {"threshold": 1, "tool_args": {"book": ["cover"]}}}
    found = proctor.score_sync(made, wanted, criteria=criteria)["trajectory_strict_match"]
    assert (
        found.per_invocation[0].warning == "`tool_args` names what no call has, expected or made: book.cover"
    )
