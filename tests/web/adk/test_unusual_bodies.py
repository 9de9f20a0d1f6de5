"""Bodies in either spelling are read alike; a wrong one is refused with its true cause."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.adk.adk_apps import PLAIN, client_of, write_app

DEV = "/dev/apps/weather_app"
CASE = {"eval_id": "c1", "conversation": [{"user_content": {"parts": [{"text": "hello"}]}}]}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    folder = write_app(tmp_path / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    (folder / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [CASE]}))
    with client_of(tmp_path, folder.parent) as client:
        yield client


SETS = {
    "camelCase": ({"evalSet": {"evalSetId": "n", "evalCases": []}}, []),
    "snake_case": ({"eval_set": {"eval_set_id": "n", "eval_cases": []}}, []),
    "both": ({"eval_set": {"evalSetId": "n", "eval_cases": []}}, []),
    "as the page sends it": (
        {
            "eval_set": {
                "eval_set_id": "n",
                "eval_cases": [],
                "model_execution_mode": "live",
                "tool_execution_mode": "live",
            }
        },
        [],
    ),
    "no cases": ({"evalSet": {"evalSetId": "n"}}, []),
    "null": ({"evalSet": {"evalSetId": "n", "evalCases": None}}, []),
    "a null next to a list": ({"evalSet": {"evalSetId": "n", "eval_cases": None, "evalCases": [CASE]}}, ["c1"]),
    "with cases": ({"evalSet": {"evalSetId": "n", "evalCases": [CASE]}}, ["c1"]),
}  # fmt: skip


@pytest.mark.parametrize(("body", "cases"), SETS.values(), ids=SETS)
def test_an_eval_set_is_created_from_either_spelling(client: TestClient, body: Any, cases: list[str]) -> None:
    answer = client.post(f"{DEV}/eval-sets", json=body)
    assert answer.status_code == 200, answer.text
    assert client.get(f"{DEV}/eval_sets").json() == ["n", "s"]
    assert client.get(f"{DEV}/eval_sets/n/evals").json() == cases


NO_SETS = {
    "cases twice": ({"evalSet": {"evalSetId": "n", "evalCases": [], "eval_cases": []}}, ["evalSet", "eval_cases"], "in both spellings"),
    "cases of another kind": ({"evalSet": {"evalSetId": "n", "evalCases": {}}}, ["evalSet", "evalCases"], "valid list"),
    "a case without an id": ({"evalSet": {"evalSetId": "n", "evalCases": [{"conversation": []}]}}, ["evalSet", "evalCases", 0, "eval_id"], "required"),
    "an id of another kind": ({"evalSet": {"evalSetId": 7, "evalCases": []}}, ["evalSet", "evalSetId"], "valid string"),
    "no id": ({"evalSet": {"evalCases": []}}, ["evalSet", "eval_set_id"], "required"),
    "no set": ({}, ["evalSet"], "required"),
    "a list": ({"evalSet": []}, ["evalSet"], "dictionary"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "place", "message"), NO_SETS.values(), ids=NO_SETS)
def test_a_wrong_set_is_refused_with_its_one_cause(
    client: TestClient, body: Any, place: list[Any], message: str
) -> None:
    answer = client.post(f"{DEV}/eval-sets", json=body)
    assert answer.status_code == 422
    [problem] = answer.json()["detail"]
    assert problem["loc"] == ["body", *place]
    assert message in problem["msg"]
    assert client.get(f"{DEV}/eval_sets").json() == ["s"]
