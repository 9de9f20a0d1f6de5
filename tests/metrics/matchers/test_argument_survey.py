"""Matchers of tools and arguments that no case expects are told before a run."""

from typing import Any

import pytest

from proctor.registry import METRICS
from proctor.schema.case import EvalCase
from proctor.schema.criterion import BaseCriterion

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
    ("arguments", "doubts"),
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
def test_what_no_case_expects(name: str, arguments: Any, doubts: list[str]) -> None:
    survey = METRICS.get(name)(BaseCriterion(threshold=1.0, arguments=arguments)).survey()
    survey.see(case())
    survey.see(case(*CALLS))
    assert ([*survey.problems()], [*survey.doubts()]) == ([], doubts)


def test_without_matchers_nobody_looks() -> None:
    assert METRICS.get("tool_trajectory_avg_score")().survey() is None
    assert METRICS.get("trajectory_recall")().survey() is None
