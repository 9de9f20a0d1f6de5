"""Eval sets made in Python: models, dicts, and the models of others."""

from typing import Any

import pytest
from pydantic import BaseModel

import proctor

CASE = {"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]}
SET = {"eval_set_id": "s", "eval_cases": [CASE]}


class OthersSet(BaseModel):
    """As google-adk's: a model that is none of ours, and that iterates over its fields."""

    eval_set_id: str
    eval_cases: list[dict[str, Any]]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(SET, id="a dict"),
        pytest.param(proctor.EvalSet.model_validate(SET), id="a set"),
        pytest.param(OthersSet.model_validate(SET), id="a model of somebody else's"),
        pytest.param([OthersSet.model_validate(SET)], id="a list of one"),
    ],
)
def test_a_set_may_be_given_as(given: Any) -> None:
    result = proctor.evaluate_sync(lambda text: "ho", given)
    assert [(case.eval_set_id, case.eval_id) for case in result.cases] == [("s", "c")]


@pytest.mark.needs_adk
def test_a_set_may_be_google_adks() -> None:
    from google.adk.evaluation.eval_set import EvalSet

    result = proctor.evaluate_sync(lambda text: "ho", EvalSet.model_validate(SET))
    assert [case.eval_id for case in result.cases] == ["c"]
