"""Eval sets in Python: dicts and lists in every form of a file, and the messages about invalid ones."""

from typing import Any

import pytest

import proctor
from proctor.errors import SetupProblems

CONFIG = {"criteria": {"tool_trajectory_avg_score": 1.0}}


def case(eval_id: str, **more: Any) -> dict[str, Any]:
    turn = {"user_content": {"parts": [{"text": "hi"}]}, "intermediate_data": {"tool_uses": []}}
    return {"eval_id": eval_id, "conversation": [turn], **more}


def evaluated(eval_sets: Any, **options: Any) -> proctor.RunResult:
    return proctor.evaluate_sync(lambda text: text, eval_sets, config=CONFIG, **options)


OLD_TURN = {"query": "hi", "expected_tool_use": []}
OLD_CASE = {"name": "a", "data": [OLD_TURN]}
ONE_SET = {"eval_set_id": "s", "eval_cases": [case("a")]}
ANOTHER = {"eval_set_id": "t", "eval_cases": [case("b")]}


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        pytest.param(ONE_SET, ["a"], id="a set"),
        pytest.param([ONE_SET, ANOTHER], ["a", "b"], id="two sets"),
        pytest.param((ONE_SET, ANOTHER), ["a", "b"], id="two sets in a tuple"),
        pytest.param(case("a"), ["a"], id="a case"),
        pytest.param([case("a"), case("b")], ["a", "b"], id="cases"),
        pytest.param([case("a"), ANOTHER], ["a", "b"], id="a case and a set"),
        pytest.param([OLD_CASE, {**OLD_CASE, "name": "b"}], ["a", "b"], id="old cases"),
        pytest.param([OLD_TURN, {"query": "ho"}], ["<eval set>"], id="turns of an old file"),
        pytest.param([proctor.EvalCase(**case("a"))], ["a"], id="a model of a case"),
    ],
)
def test_what_a_file_may_hold_may_be_given(given: Any, ids: list[str]) -> None:
    result = evaluated(given)
    assert (result.passed, [each.eval_id for each in result.cases]) == (True, ids)


def test_cases_in_a_list_are_one_set_in_which_ids_differ() -> None:
    with pytest.raises(SetupProblems, match=r"\[1\]\.eval_id: the id 'a' is already used by the case"):
        evaluated([case("a"), case("a")])


def test_typo_in_a_dict_is_refused_unless_unknown_keys_are_allowed() -> None:
    slip = {"eval_set_id": "s", "eval_cases": [case("a", FinalSessionState={"lamp": "on"})]}
    with pytest.raises(SetupProblems, match="did you mean `final_session_state`"):
        evaluated(slip)
    result = evaluated(slip, allow_unknown_keys=True)
    (warning,) = [one for one in result.warnings if "FinalSessionState" in one]
    assert "did you mean `final_session_state`?" in warning


def _endless() -> dict[str, Any]:
    state: dict[str, Any] = {}
    state["state"] = state
    return state


def _deep() -> dict[str, Any]:
    state: dict[str, Any] = {}
    for _ in range(100_000):
        state = {"state": state}
    return state


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(case("a", note=_endless()), "it cannot be written as JSON: Circular", id="contains itself"),
        pytest.param(case("a", note=_deep()), "nested too deep", id="deep"),
        pytest.param(case("a", note={(1, 2): 3}), "keys must be str", id="a key that is not a text"),
        pytest.param(case("a", note=object()), "object is not JSON and no model", id="an object"),
        pytest.param(b"{}", "expected a path, an EvalSet or a dict, got bytes", id="bytes"),
        pytest.param(None, "this is a document that is null", id="None"),
    ],
)  # fmt: skip
def test_what_no_file_may_hold_is_refused(given: Any, message: str) -> None:
    with pytest.raises(SetupProblems, match=message):
        evaluated(given)
