"""What cases state for certain metrics is looked at before anything runs."""

from typing import Any

import pytest

import proctor
from proctor.engine.options import RunOptions
from proctor.engine.plan import PlannedSet, make_plan
from proctor.engine.sources import GivenSet
from proctor.errors import SetupError
from proctor.schema.config import EvalConfig
from proctor.schema.eval_set import EvalSet


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ({"expectations": {"call": []}}, "Did you mean 'calls'"),
        ({"trajectory_rules": [{"nevr": "a"}]}, "Did you mean 'never'"),
        ({"final_session_state": {"n": {"$match": "numbr"}}}, "Did you mean 'number'"),
    ],
    ids=repr,
)
def test_a_slip_in_a_case_stops_the_run_before_the_first_call(case: dict[str, Any], problem: str) -> None:
    def agent(text: str) -> str:
        raise AssertionError("the agent was asked")

    turns = [{"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}]
    eval_set = {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": turns, **case}]}
    config = {"criteria": {"tool_expectations": 1, "trajectory_rules": 1, "response_match_score": 0.5}}
    with pytest.raises(SetupError) as caught:
        proctor.evaluate_sync(agent, eval_set, config=config)
    assert problem in str(caught.value)
    assert "case 'c'" in str(caught.value)


def test_expectations_that_no_metric_reads_are_told() -> None:
    turns = [{"user_content": {"parts": [{"text": "q"}]}, "final_response": {"parts": [{"text": "a"}]}}]
    case = {"eval_id": "c", "conversation": turns, "expectations": {"calls": []}}
    source = GivenSet(EvalSet.model_validate({"eval_set_id": "s", "eval_cases": [case]}))
    for criteria, told in [({"response_match_score": 0.5}, True), ({"tool_expectations": 1}, False)]:
        config = EvalConfig.model_validate({"criteria": criteria})
        plan = make_plan([PlannedSet(source, config, "config")], RunOptions())
        assert ("1 case(s) state `expectations`, which nothing reads" in "".join(plan.warnings)) == told
