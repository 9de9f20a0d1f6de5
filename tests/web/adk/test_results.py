"""Results that google-adk itself wrote, or a user edited, as its clients read them through us."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.adk.adk_apps import PLAIN, client_of, write_app

DEV = "/dev/apps/weather_app"


@pytest.fixture
def history(tmp_path: Path) -> Path:
    folder = write_app(tmp_path / "agents", PLAIN, {"*": []}) / ".adk" / "eval_history"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def client(tmp_path: Path, history: Path) -> Iterator[TestClient]:
    with client_of(tmp_path, tmp_path / "agents") as client:
        yield client


def got(client: TestClient, path: str, status: int = 200) -> Any:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    return answer.json()


def snake_keys(value: Any, below: str = "") -> set[str]:
    """The keys in snake_case of what the format itself has, not of what users put into it."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, item in value.items():
            if "_" in key.strip("_") and below not in _OF_USERS and key != "proctor_outcome":
                found.add(key)
            if key not in _OF_USERS:
                found |= snake_keys(item, key)
    elif isinstance(value, list):
        for item in value:
            found |= snake_keys(item, below)
    return found


_OF_USERS = {"state", "stateDelta", "args", "response", "agentDetails", "proctor", "customMetadata"}


@pytest.mark.slow
def test_results_that_google_adk_wrote(client: TestClient, history: Path, shared: Path) -> None:
    for file in sorted((shared / "golden" / "files").glob("*.evalset_result.json")):
        shutil.copy(file, history)
    ids = got(client, f"{DEV}/eval-results")["evalResultIds"]
    assert len(ids) == 4
    reported = {one: got(client, f"{DEV}/eval_results/{one}") for one in ids}
    assert {key for result in reported.values() for key in snake_keys(result)} == set()
    sessions = 0
    for result in reported.values():
        for case in result["evalCaseResults"]:
            assert case["finalEvalStatus"] in (1, 2, 3)
            if "sessionDetails" in case:
                sessions += 1
                session = got(
                    client, f"/apps/weather_app/users/{case['userId']}/sessions/{case['sessionId']}"
                )
                assert session["events"] == case["sessionDetails"]["events"]
                assert all(
                    {"id", "author", "actions", "timestamp"} <= event.keys() for event in session["events"]
                )
                got(client, f"{DEV}/debug/trace/session/{case['sessionId']}")
    assert sessions > 5


def test_a_result_of_an_older_release_is_a_text_in_a_text(client: TestClient, history: Path) -> None:
    result = {
        "eval_set_result_id": "r",
        "eval_set_id": "s",
        "eval_case_results": [],
        "creation_timestamp": 1.5,
    }
    (history / "r.evalset_result.json").write_text(json.dumps(json.dumps(result)))
    assert got(client, f"{DEV}/eval-results/r")["evalSetId"] == "s"


def test_a_session_of_unknown_form_is_shown_unchanged(client: TestClient, history: Path) -> None:
    event = {
        "author": "bot",
        "content": "no content at all",
        "new_field": {"a": 1},
        "id": "e1",
        "invocation_id": "i",
    }
    case = {
        "eval_set_id": "s", "eval_id": "c", "final_eval_status": 1, "overall_eval_metric_results": [],
        "eval_metric_result_per_invocation": [], "session_id": "adk-eval-session-1", "user_id": "u",
        "session_details": {"id": "adk-eval-session-1", "events": [event, {**event, "content": {"parts": [3]}}, 7, None]},
        "proctor_outcome": "passed", "proctor": "edited by hand",
    }  # fmt: skip
    whole = {
        "eval_set_result_id": "r",
        "eval_set_id": "s",
        "eval_case_results": [case],
        "creation_timestamp": 1.5,
    }
    (history / "r.evalset_result.json").write_text(json.dumps(whole))
    shown, _ = got(client, "/apps/weather_app/users/u/sessions/adk-eval-session-1")["events"]
    assert shown["content"] == "no content at all"
    assert shown["newField"] == {"a": 1}
    assert got(client, f"{DEV}/eval-results/r")["evalCaseResults"][0]["evalId"] == "c"
    assert len(got(client, f"{DEV}/debug/trace/session/adk-eval-session-1")) == 3
    assert got(client, f"{DEV}/users/u/sessions/adk-eval-session-1/events/e1/graph")["dotSrc"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"eval_set_id": "s"}', '{"eval_cases": [], "eval_set_id": "s"}']
)
def test_an_invalid_result_is_reported_and_hides_no_other(
    client: TestClient, history: Path, text: str
) -> None:
    (history / "bad.evalset_result.json").write_text(text)
    assert "bad.evalset_result.json" in got(client, f"{DEV}/eval-results/bad", 400)["detail"]
    (history / "bad.evalset_result.json").write_text(f"{text} adk-eval-session-9")
    assert (
        got(client, "/apps/weather_app/users/u/sessions/adk-eval-session-9", 404)["detail"]
        == "Session not found"
    )
    assert got(client, f"{DEV}/eval_results") == ["bad"]


@pytest.mark.parametrize("result_id", ["%2e%2e", "C:x", "a%5Cb", "..%5C..%5Cagent"])
def test_an_id_that_leads_elsewhere_is_refused(client: TestClient, result_id: str) -> None:
    got(client, f"{DEV}/eval-results/{result_id}", 400)
    assert got(client, f"{DEV}/eval-results/none", 404)["detail"] == "Eval result `none` not found."
