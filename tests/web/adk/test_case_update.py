"""A case that google-adk's page saves: what it does not send is kept, in every form that a set's file may have."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.runs.load import load_eval_set
from proctor.web.server.adk.eval_files import merged_case
from tests.web.adk.adk_apps import PLAIN, client_of, write_app

TURN = {
    "invocation_id": "t1",
    "user_content": {"role": "user", "parts": [{"text": "hello"}]},
    "final_response": {"role": "model", "parts": [{"text": "Hello."}]},
    "intermediate_data": {"tool_uses": [{"name": "greet", "args": {"who": "you"}}]},
    "rubrics": [{"rubric_id": "r2", "rubric_content": {"text_property": "It is short."}}],
    "x_note": "of the turn",
}
WHOLE = {
    "eval_id": "c1",
    "conversation": [TURN],
    "session_input": {"app_name": "weather_app", "user_id": "u", "state": {"a": 1}},
    "creation_timestamp": 12.5,
    "rubrics": [{"rubric_id": "r1", "rubric_content": {"text_property": "It is polite."}}],
    "final_session_state": {"done": True},
    "tags": ["smoke"],
    "x_owner": "us",
}
SCENARIO = {
    "eval_id": "c2",
    "conversation_scenario": {"starting_prompt": "hi", "conversation_plan": "Say hi, then stop."},
    "session_input": {"app_name": "weather_app", "user_id": "u", "state": {}},
    "x_owner": "us",
}


def as_the_page_sends_it(case: dict[str, Any]) -> dict[str, Any]:
    """Four fields, in camelCase; of a turn what the page received of it."""
    return {name: case.get(name) for name in ("evalId", "conversation", "sessionInput", "creationTimestamp") if name in case}  # fmt: skip


# --- the rule ----------------------------------------------------------------------------------------------------------

NEW_TURN = {"userContent": {"parts": [{"text": "hello"}]}, "finalResponse": {"parts": [{"text": "Hi."}]}}
RULES: list[Any] = [
    pytest.param(WHOLE, {}, {}, id="nothing is mentioned, nothing changes"),
    pytest.param(WHOLE, {"creationTimestamp": 3.0}, {"creation_timestamp": 3.0}, id="one field"),
    pytest.param(WHOLE, {"rubrics": None}, {"rubrics": None}, id="null takes it out"),
    pytest.param(WHOLE, {"rubrics": []}, {"rubrics": []}, id="an empty list is reported"),
    pytest.param(WHOLE, {"final_session_state": {}}, {"final_session_state": None}, id="as empty as none"),
    pytest.param(WHOLE, {"x_owner": "you"}, {"x_owner": "you"}, id="a key of one's own"),
    pytest.param(WHOLE, {"x_new": 1}, {"x_new": 1}, id="a new key"),
    pytest.param({"evalId": "c1", "conversation": [TURN], "finalSessionState": {"a": 1}}, {"final_session_state": {"b": 2}}, {"finalSessionState": {"b": 2}}, id="in the file's spelling"),
    pytest.param(SCENARIO, {"conversation": []}, {}, id="an empty conversation takes no scenario away"),
    pytest.param(SCENARIO, {"conversation": None}, {}, id="nor does none"),
    pytest.param(SCENARIO, {"conversation": [NEW_TURN]}, {"conversation_scenario": None, "conversation": [{"user_content": {"parts": [{"text": "hello"}]}, "final_response": {"parts": [{"text": "Hi."}]}}]}, id="one with turns does"),
    pytest.param({**SCENARIO, "opening": ["hello"]}, {"conversation": [NEW_TURN]}, {"conversation_scenario": None, "opening": None, "conversation": [{"user_content": {"parts": [{"text": "hello"}]}, "final_response": {"parts": [{"text": "Hi."}]}}]}, id="and the opening goes with it"),
    pytest.param(WHOLE, {"conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}}, {"conversation": None, "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}}, id="a scenario takes the place of a conversation"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "sent", "changes"), RULES)
def test_what_is_mentioned_changes_and_the_rest_stays(
    before: dict[str, Any], sent: dict[str, Any], changes: dict[str, Any]
) -> None:
    kept, sent_before = copy.deepcopy(before), copy.deepcopy(sent)
    expected = {**before, **changes}
    assert merged_case(before, sent) == {key: value for key, value in expected.items() if value is not None}
    assert (before, sent) == (kept, sent_before), "the arguments are unchanged"


TURNS: list[Any] = [
    pytest.param({}, TURN, id="nothing is mentioned but the message"),
    pytest.param({"finalResponse": TURN["final_response"]}, {**TURN, "intermediate_data": None}, id="no calls are expected any more"),
    pytest.param({"rubrics": []}, {**TURN, "rubrics": [], "final_response": None, "intermediate_data": None}, id="rubrics are taken out"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "expected"), TURNS)
def test_a_turn_keeps_what_the_page_cannot_know(more: dict[str, Any], expected: dict[str, Any]) -> None:
    sent = {"invocationId": "t1", "userContent": TURN["user_content"], **more}
    if not more:
        sent |= {"finalResponse": TURN["final_response"], "intermediateData": TURN["intermediate_data"]}
    (turn,) = merged_case(WHOLE, {"conversation": [sent]})["conversation"]
    assert turn == {key: value for key, value in expected.items() if value is not None}


def test_a_new_turn_takes_nothing_from_others() -> None:
    (turn,) = merged_case(WHOLE, {"conversation": [{"invocationId": "t9", **NEW_TURN}]})["conversation"]
    assert "rubrics" not in turn
    assert "x_note" not in turn


# --- files -------------------------------------------------------------------------------------------------------------

YAML_SET = """\
eval_set: greetings  # of the house
cases:
  - case: c1
    ask: hello  # a plain greeting
    expect: Hello.
    final_state: {done: true}
  - case: other
    ask: bye
    expect: Bye.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_app(tmp_path / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})


@pytest.fixture
def client(tmp_path: Path, folder: Path) -> Iterator[TestClient]:
    with client_of(tmp_path, folder.parent) as client:
        yield client


def case_at(eval_set_id: str, eval_id: str = "c1") -> str:
    return f"/dev/apps/weather_app/eval_sets/{eval_set_id}/evals/{eval_id}"


def test_a_case_that_the_page_opens_and_saves_is_the_same(client: TestClient, folder: Path) -> None:
    file = folder / "s.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "s", "x_set": 1, "eval_cases": [WHOLE, SCENARIO]}, indent=2))
    before = file.read_text()
    for eval_id in ("c1", "c2"):
        found = client.get(case_at("s", eval_id)).json()
        assert client.put(case_at("s", eval_id), json=as_the_page_sends_it(found)).status_code == 200
    assert json.loads(file.read_text()) == json.loads(before)


def test_an_edit_changes_its_case_and_no_other_byte(client: TestClient, folder: Path) -> None:
    file = folder / "s.evalset.json"
    text = json.dumps({"eval_set_id": "s", "x_set": 1, "eval_cases": [SCENARIO, WHOLE]}, indent=4)
    file.write_text(f"// ours\n{text}\n")
    found = client.get(case_at("s")).json()
    found["conversation"][0]["finalResponse"]["parts"][0]["text"] = "Good day."
    assert client.put(case_at("s"), json=as_the_page_sends_it(found)).status_code == 200
    assert file.read_text() == f"// ours\n{text}\n".replace('"Hello."', '"Good day."')


def test_a_set_in_yaml_keeps_its_comments(client: TestClient, folder: Path) -> None:
    file = folder / "y.evalset.yaml"
    file.write_text(YAML_SET)
    assert client.get("/dev/apps/weather_app/eval_sets").json() == ["y"]
    found = client.get(case_at("y")).json()
    found["conversation"][0]["finalResponse"]["parts"][0]["text"] = "Good day."
    assert client.put(case_at("y"), json=as_the_page_sends_it(found)).json() is None
    assert file.read_text() == YAML_SET.replace("expect: Hello.", "expect: Good day.")
    (first, _) = load_eval_set(file).eval_cases
    assert first.final_session_state == {"done": True}


def test_a_request_that_makes_no_case_is_refused_and_nothing_is_written(
    client: TestClient, folder: Path
) -> None:
    file = folder / "s.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [WHOLE]}))
    before = file.read_bytes()
    answer = client.put(case_at("s"), json={"evalId": "c1", "conversation": "hello"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "conversation"]
    assert file.read_bytes() == before


@pytest.mark.slow
def test_two_who_save_different_cases_at_once_lose_nothing(client: TestClient, folder: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    names = [f"c{number}" for number in range(8)]
    cases = [{**WHOLE, "eval_id": name} for name in names]
    (folder / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": cases}))
    with ThreadPoolExecutor(8) as pool:
        saved = pool.map(
            lambda name: client.put(case_at("s", name), json={"x_owner": name}).status_code, names
        )
        assert list(saved) == [200] * 8
    owners = [case.model_extra["x_owner"] for case in load_eval_set(folder / "s.evalset.json").eval_cases if case.model_extra]  # fmt: skip
    assert owners == names


def test_a_set_with_mistakes_is_reported_where(client: TestClient, folder: Path) -> None:
    (folder / "s.evalset.json").write_text('{"eval_set_id": "s",\n "eval_cases": [{"eval_id": "c1"}]}')
    answer = client.get(case_at("s"))
    assert answer.status_code == 400
    assert "s.evalset.json:2:" in answer.json()["detail"]


def test_a_set_made_with_cases_has_them(client: TestClient, folder: Path) -> None:
    body = {"evalSet": {"eval_set_id": "made", "name": "Greetings", "eval_cases": [WHOLE]}}
    made = client.post("/dev/apps/weather_app/eval-sets", json=body)
    assert made.status_code == 200
    found = load_eval_set(folder / "made.evalset.json")
    assert (found.name, [case.eval_id for case in found.eval_cases]) == ("Greetings", ["c1"])
    broken = {"evalSet": {"eval_set_id": "other", "eval_cases": [{"eval_id": "x"}]}}
    assert client.post("/dev/apps/weather_app/eval-sets", json=broken).status_code == 422
    assert not (folder / "other.evalset.json").exists()


@pytest.mark.parametrize("eval_set_id", ["%2e%2e", "C:x", "a%5Cb", "..%5Cagent", "%00"])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_ids_that_lead_elsewhere_are_refused(client: TestClient, eval_set_id: str, method: str) -> None:
    answer = client.request(method, f"/dev/apps/weather_app/eval-sets/{eval_set_id}")
    assert answer.status_code == 400
    assert "cannot be part of a path" in answer.json()["detail"]


def test_a_link_out_of_the_folder_is_not_followed(client: TestClient, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.evalset.json"
    outside.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [WHOLE]}))
    (folder / "s.evalset.json").symlink_to(outside)
    assert "leads out" in client.get("/dev/apps/weather_app/eval-sets/s").json()["detail"]
    assert client.delete("/dev/apps/weather_app/eval-sets/s").status_code == 400
    assert outside.exists()


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    ("method", "address", "body", "place"),
    [
        ("PUT", "/dev/apps/weather_app/eval_sets/s/evals/c1", '{"finalSessionState": {"a": [0, @]}}', ["finalSessionState", "a", 1]),
        ("POST", "/dev/apps/weather_app/eval-sets", '{"evalSet": {"eval_set_id": "t", "eval_cases": [], "x": @}}', ["evalSet", "x"]),
        ("POST", "/apps/weather_app/users/u/sessions", '{"state": {"a": @}}', ["state", "a"]),
        ("POST", "/apps/weather_app/users/u/sessions/s", '{"a": @}', ["a"]),
    ],
    ids=["a case", "a set", "a session", "a session by its id"],
)  # fmt: skip
def test_a_number_that_json_does_not_have_never_becomes_null(
    client: TestClient, folder: Path, method: str, address: str, body: str, place: list[Any], number: str
) -> None:
    file = folder / "s.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "s", "eval_cases": [WHOLE]}))
    before = file.read_bytes()
    sent = body.replace("@", number)
    answer = client.request(method, address, content=sent, headers={"content-type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"][0]["loc"] == ["body", *place]
    assert file.read_bytes() == before
    assert [path.name for path in folder.glob("*.evalset.json")] == ["s.evalset.json"]


CALLS_OF_A_TURN = {
    "written as none": {"intermediate_data": {"tool_uses": []}},
    "not stated": {"intermediate_data": {}},
    "no data": {},
}


@pytest.mark.parametrize("stated", CALLS_OF_A_TURN.values(), ids=CALLS_OF_A_TURN)
def test_whether_a_turn_states_its_calls_stays_when_a_client_makes_reads_and_saves_it(
    client: TestClient, folder: Path, stated: dict[str, Any]
) -> None:
    asked = {"invocation_id": "t1", "user_content": {"parts": [{"text": "hello"}]}}
    case = {"eval_id": "c1", "conversation": [{**asked, **stated}]}
    made = client.post(
        "/dev/apps/weather_app/eval-sets", json={"evalSet": {"eval_set_id": "made", "eval_cases": [case]}}
    )
    assert made.status_code == 200
    file = folder / "made.evalset.json"
    (turn,) = json.loads(file.read_text())["eval_cases"][0]["conversation"]
    assert turn == {**asked, **stated}
    found = client.get(case_at("made")).json()
    assert client.put(case_at("made"), json=as_the_page_sends_it(found)).status_code == 200
    (turn,) = json.loads(file.read_text())["eval_cases"][0]["conversation"]
    assert turn == {**asked, **stated}


@pytest.mark.parametrize("metric", ["tool_trajectory_avg_score", "response_match_score"])
def test_a_case_that_asserts_nothing_is_never_passed_by_an_evaluation(
    client: TestClient, metric: str
) -> None:
    case = {"eval_id": "bare", "conversation": [{"user_content": {"parts": [{"text": "hello"}]}}]}
    client.post(
        "/dev/apps/weather_app/eval-sets", json={"evalSet": {"eval_set_id": "bare", "eval_cases": [case]}}
    )
    asked = {"evalMetrics": [{"metricName": metric, "threshold": 0.5}]}
    answer = client.post("/dev/apps/weather_app/eval-sets/bare/run", json=asked)
    assert answer.status_code == 400, answer.text
    assert "A case must assert something" in answer.json()["detail"]
