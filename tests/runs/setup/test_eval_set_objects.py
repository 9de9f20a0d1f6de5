"""Eval sets made in Python: models, dicts, and the models of others."""

from typing import Any

import pytest
from pydantic import BaseModel

import proctor

CASE = {
    "eval_id": "c",
    "conversation": [{"user_content": {"parts": [{"text": "hi"}]}, "intermediate_data": {"tool_uses": []}}],
}
SET = {"eval_set_id": "s", "eval_cases": [CASE]}


class OthersSet(BaseModel):
    """A model of another library, such as google-adk's, that iterates over its fields."""

    eval_set_id: str
    eval_cases: list[dict[str, Any]]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(SET, id="a dict"),
        pytest.param(proctor.EvalSet.model_validate(SET), id="a set"),
        pytest.param(OthersSet.model_validate(SET), id="a foreign model"),
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


def test_what_evaluate_takes_load_eval_set_takes() -> None:
    model = proctor.EvalSet.model_validate(SET)
    forms: list[Any] = [SET, model, [CASE], CASE]
    for given in forms:
        assert [case.eval_id for case in proctor.load_eval_set(given).eval_cases] == ["c"]
    assert proctor.load_eval_set(model) is model


@pytest.mark.parametrize("given", [None, 3, b"{}", {"eval_cases": 1}, [SET]], ids=str)
def test_invalid_set_is_refused_by_load_eval_set_too(given: Any) -> None:
    with pytest.raises(proctor.ProctorError, match="expected"):
        proctor.load_eval_set(given)


def test_two_cases_of_one_id_are_refused_or_numbered() -> None:
    twice = {**SET, "eval_cases": [CASE, CASE]}
    with pytest.raises(proctor.ProctorError, match="'c'"):
        proctor.load_eval_set(twice)
    for given in (twice, proctor.EvalSet.model_validate(twice)):
        assert [
            case.eval_id for case in proctor.load_eval_set(given, allow_duplicate_ids=True).eval_cases
        ] == ["c", "c#2"]


def test_what_is_missing_is_named_as_files_write_it() -> None:
    with pytest.raises(proctor.ProctorError, match="actual: user_content: Field required"):
        proctor.score_sync({}, {}, criteria={"response_match_score": 0.8})
