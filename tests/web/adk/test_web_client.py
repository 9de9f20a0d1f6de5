"""Every call of google-adk's web page, answered as that page reads it (the rows of adk-web-client.md)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from proctor.web.server.adk.routes.eval_sets import WARNINGS
from tests.web.adk.adk_apps import PLAIN, client_of, write_app

APP = "weather_app"
LIVE = "ws://127.0.0.1:8000/run_live"
DEV = f"/dev/apps/{APP}"
SESSIONS = f"/apps/{APP}/users/user/sessions"
SCRIPT = {
    "weather in Paris?": [
        {"parts": [{"function_call": {"id": "fc-1", "name": "get_weather", "args": {"city": "Paris"}}}]},
        {"parts": [{"text": "Sunny in Paris."}], "state": {"city": "Paris"}},
    ],
    "crash": [{"raise": "model exploded"}],
    "*": [{"parts": [{"text": "I do not know."}]}],
}


def judged_by(model: str) -> dict[str, Any]:
    """A metric that names who judges it."""
    options = {"judgeModelOptions": {"judgeModel": model}}
    return {"metricName": "final_response_match_v2", "criterion": {"threshold": 0.5, **options}}


METRICS = [{"metricName": "tool_trajectory_avg_score", "threshold": 1}, {"metricName": "response_match_score", "threshold": 0.7}]  # fmt: skip


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    write_app(tmp_path / "agents", PLAIN, SCRIPT)
    return tmp_path / "agents"


@pytest.fixture
def client(tmp_path: Path, agents: Path) -> Iterator[TestClient]:
    with client_of(tmp_path, agents) as client:
        yield client


def got(client: TestClient, path: str, status: int = 200) -> Any:
    return read(client.get(path), status)


def posted(client: TestClient, path: str, body: Any = None, status: int = 200) -> Any:
    return read(client.post(path, json=body), status)


def read(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def post_message(client: TestClient, session_id: str, text: str, **more: Any) -> list[dict[str, Any]]:
    message = {"role": "user", "parts": [{"text": text}]}
    body = {"appName": APP, "userId": "user", "sessionId": session_id, "newMessage": message, **more}
    answer = client.post("/run_sse", json=body, headers={"Accept": "text/event-stream"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]


@pytest.fixture
def session(client: TestClient) -> str:
    """A session in which Paris was asked for."""
    made = posted(client, SESSIONS, {"state": {"__session_metadata__": {"displayName": "Paris"}}})
    post_message(client, made["id"], "weather in Paris?")
    return str(made["id"])


@pytest.fixture
def case(client: TestClient, session: str) -> str:
    """The address of a case made of that session."""
    posted(client, f"{DEV}/eval-sets", {"eval_set": {"eval_set_id": "set1", "model_execution_mode": "live", "tool_execution_mode": "live", "eval_cases": []}})  # fmt: skip
    body = {"evalId": "paris", "sessionId": session, "userId": "user"}
    answer = client.post(f"{DEV}/eval_sets/set1/add_session", json=body)
    assert (answer.status_code, answer.json()) == (200, None)
    assert WARNINGS not in answer.headers
    return f"{DEV}/eval_sets/set1/evals/paris"


def test_a_session_that_becomes_a_case_that_is_negative_only_has_a_warning(
    client: TestClient, agents: Path, session: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The body stays google-adk's: null."""
    (agents / APP / "test_config.json").write_text('{"criteria": {"known_tools": 1}}')
    posted(client, f"{DEV}/eval_sets/set1")
    body = {"evalId": "paris", "sessionId": session, "userId": "user"}
    answer = client.post(f"{DEV}/eval_sets/set1/add_session", json=body)
    assert read(answer, 200) is None
    (warning,) = json.loads(answer.headers[WARNINGS])
    assert warning.startswith("case 'paris': negative only: an agent that does nothing passes it")
    assert warning in caplog.text


# --- apps and sessions -------------------------------------------------------------------------------------------------


def test_apps(client: TestClient) -> None:
    assert got(client, "/list-apps?relative_path=./") == [APP]
    assert got(client, "/version")["language"] == "python"
    graph = got(client, f"{DEV}/build_graph")
    assert graph["root_agent"]["name"] == "weather_agent"
    assert [tool["name"] for tool in graph["root_agent"]["tools"]] == ["get_weather"]
    assert graph["root_agent"]["sub_agents"] == []
    picture = got(client, f"{DEV}/build_graph_image?dark_mode=true")
    assert picture[""]["dotSrc"].startswith("digraph")
    assert (
        got(client, f"{DEV}/build_graph_image?dark_mode=true&node=unknown", 404)["detail"]
        == "Node not found: unknown"
    )


def test_sessions(client: TestClient) -> None:
    bare = read(client.post(SESSIONS, content=b"null", headers={"content-type": "application/json"}), 200)
    assert bare.keys() == {"id", "appName", "userId", "state", "events", "lastUpdateTime"}
    made = posted(client, SESSIONS, {"state": {"__session_metadata__": {"displayName": "x"}}})
    assert {one["id"] for one in got(client, SESSIONS)} == {bare["id"], made["id"]}
    assert got(client, f"{SESSIONS}/{made['id']}")["state"]["__session_metadata__"]["displayName"] == "x"
    changed = read(client.patch(f"{SESSIONS}/{made['id']}", json={"stateDelta": {"a": 1}}), 200)
    assert changed["state"]["a"] == 1
    assert changed["events"][0]["author"] == "user"
    assert read(client.delete(f"{SESSIONS}/{made['id']}"), 200) is None
    assert got(client, f"{SESSIONS}/{made['id']}", 404) == {"detail": "Session not found"}
    assert read(client.delete(f"{SESSIONS}/{made['id']}"), 200) is None


def test_a_session_that_was_saved_is_brought_back(client: TestClient, session: str) -> None:
    saved = got(client, f"{SESSIONS}/{session}")
    events = [{**event, "actions": {}} for event in saved["events"]]
    for event in events:
        event.pop("longRunningToolIds", None)
    again = posted(client, SESSIONS, {"events": events, "state": saved["state"]})
    assert [one["content"] for one in again["events"]] == [one["content"] for one in saved["events"]]


# --- turns -------------------------------------------------------------------------------------------------------------


def test_a_turn_as_events(client: TestClient) -> None:
    made = posted(client, SESSIONS)
    call, answer, output = post_message(
        client, made["id"], "weather in Paris?", streaming=True, stateDelta={"k": 1}
    )
    assert call["content"]["parts"][0]["functionCall"]["args"] == {"city": "Paris"}
    assert answer["content"]["parts"][0]["functionResponse"]["response"]["weather"] == "sunny"
    assert output["content"]["parts"] == [{"text": "Sunny in Paris."}]
    assert output["actions"]["stateDelta"] == {"city": "Paris"}
    assert output["actions"]["artifactDelta"] == {}
    assert len({one["id"] for one in (call, answer, output)}) == 3
    assert len({one["invocationId"] for one in (call, answer, output)}) == 1
    kept = got(client, f"{SESSIONS}/{made['id']}")
    assert kept["state"] == {"k": 1, "city": "Paris"}
    assert [one["author"] for one in kept["events"]] == ["user", *["weather_agent"] * 3]


@pytest.mark.slow
def test_what_an_agent_raises_is_the_last_event(client: TestClient) -> None:
    event, last = post_message(client, posted(client, SESSIONS)["id"], "crash")
    assert (event["errorCode"], event["errorMessage"]) == ("RuntimeError", "model exploded")
    assert last["error"] == "RuntimeError: model exploded"
    assert last["error_details"].keys() == {"error_type", "error_message", "timestamp"}


def test_a_turn_over_a_web_socket(client: TestClient) -> None:
    made = posted(client, SESSIONS)
    with client.websocket_connect(f"{LIVE}?app_name={APP}&user_id=user&session_id={made['id']}") as socket:
        socket.send_json({"content": {"parts": [{"text": "hello"}]}})
        assert socket.receive_json()["content"]["parts"] == [{"text": "I do not know."}]
        assert socket.receive_json()["turnComplete"] is True
        socket.send_json({"close": True})
        assert socket.receive()["code"] == 1000


@pytest.mark.parametrize(
    ("query", "message", "code", "reason"),
    [
        ("app_name=weather_app&user_id=user&session_id=none", None, 1002, "Session not found"),
        ("app_name=unknown&user_id=user&session_id=none", None, 1008, "No app named 'unknown'"),
        ("user_id=user&session_id=none", None, 1008, "app_name query parameter is required"),
        ("app_name=weather_app&user_id=user&session_id=s", {"blob": {"mimeType": "audio/pcm", "data": ""}}, 1003, "text only"),
        ("app_name=weather_app&user_id=user&session_id=s", {"content": {"parts": []}}, 1002, "no parts"),
    ],
)  # fmt: skip
def test_a_web_socket_is_closed_with_a_reason(
    client: TestClient, query: str, message: Any, code: int, reason: str
) -> None:
    posted(client, SESSIONS, {"sessionId": "s"})
    with pytest.raises(WebSocketDisconnect) as closed:
        _send(client, query, message)
    assert closed.value.code == code
    assert reason in closed.value.reason


def test_a_web_socket_takes_no_bytes(client: TestClient) -> None:
    posted(client, SESSIONS, {"sessionId": "s"})
    with client.websocket_connect(f"{LIVE}?app_name={APP}&user_id=user&session_id=s") as socket:
        socket.send_bytes(b"\x00\x01")
        closed = socket.receive()
    assert (closed["code"], "text only" in closed["reason"]) == (1003, True)


def _send(client: TestClient, query: str, message: Any) -> None:
    with client.websocket_connect(f"{LIVE}?{query}") as socket:
        if message is not None:
            socket.send_json(message)
        socket.receive_json()


def test_traces(client: TestClient, session: str) -> None:
    spans = got(client, f"{DEV}/debug/trace/session/{session}")
    assert [span["name"] for span in spans] == [
        "invocation", "invoke_agent weather_agent", "generate_content weather_agent", "execute_tool get_weather", "generate_content weather_agent",
    ]  # fmt: skip
    for span in spans:
        assert isinstance(span["start_time"], int)
        assert span["start_time"] <= span["end_time"]
        assert span.keys() >= {
            "name",
            "start_time",
            "end_time",
            "span_id",
            "trace_id",
            "parent_span_id",
            "attributes",
        }
        assert span["span_id"] < 2**53, "a page cannot hold more"
    ids = {span["span_id"] for span in spans}
    assert all(span["parent_span_id"] in ids for span in spans[1:])
    assert spans[0]["parent_span_id"] is None
    event = got(client, f"{SESSIONS}/{session}")["events"][2]
    reported = got(client, f"{DEV}/debug/trace/{event['id']}")
    assert json.loads(reported["gcp.vertex.agent.tool_call_args"]) == [{"city": "Paris"}]
    graph = got(client, f"{DEV}/users/user/sessions/{session}/events/{event['id']}/graph")
    assert "get_weather" in graph["dotSrc"]
    assert got(client, f"{DEV}/debug/trace/session/none") == []


def test_artifacts_of_an_agent_that_has_none(client: TestClient, session: str) -> None:
    at = f"{SESSIONS}/{session}/artifacts"
    assert got(client, at) == []
    assert got(client, f"{at}/a.txt", 404) == {"detail": "Artifact not found"}
    assert got(client, f"{at}/a.txt/versions/0", 404) == {"detail": "Artifact not found"}
    assert got(client, f"{at}/a.txt/versions/x", 422) == {"detail": "Invalid version ID"}
    body = {"filename": "a.txt", "artifact": {"text": "x"}}
    assert "has no artifacts" in posted(client, at, body, 400)["detail"]


def test_what_the_page_asks_besides(client: TestClient) -> None:
    assert got(client, "/config/telemetry") == {"telemetry": False}
    assert posted(client, "/config/telemetry", {"telemetry": True}) == {"telemetry": False}
    assert got(client, f"{DEV}/tests") == []
    assert client.get(f"{DEV}/builder?ts=1").text == ""
    for path in (f"{DEV}/deploy/defaults", f"{DEV}/tests/run", f"/apps/{APP}/eval_sets"):
        assert "does not serve" in got(client, path, 404)["detail"]


# --- eval sets and cases -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_eval_sets(client: TestClient, case: str) -> None:
    assert got(client, f"{DEV}/eval_sets") == ["set1"]
    assert got(client, "/dev/apps/unknown/eval_sets") == []
    assert (
        "already exists"
        in posted(client, f"{DEV}/eval-sets", {"eval_set": {"eval_set_id": "set1"}}, 400)["detail"]
    )
    assert "format" in posted(client, f"{DEV}/eval-sets", {"eval_set": {"eval_set_id": "a b"}}, 400)["detail"]
    whole = got(client, f"{DEV}/eval-sets/set1")
    assert whole["eval_set_id"] == "set1"
    assert [one["evalId"] for one in whole["eval_cases"]] == ["paris"]
    assert "model_execution_mode" not in whole, "a mark of the page, and nothing of the format"
    assert read(client.delete(f"{DEV}/eval-sets/set1"), 200) is None
    assert got(client, f"{DEV}/eval_sets") == []
    assert "set1" in read(client.delete(f"{DEV}/eval-sets/set1"), 404)["detail"]


@pytest.mark.slow
def test_a_case(client: TestClient, case: str) -> None:
    assert got(client, f"{DEV}/eval_sets/set1/evals") == ["paris"]
    found = got(client, case)
    (turn,) = found["conversation"]
    assert turn["userContent"]["parts"] == [{"text": "weather in Paris?"}]
    events = turn["intermediateData"]["invocationEvents"]
    assert [list(part) for event in events for part in event.get("content", {}).get("parts", [])] == [["functionCall"], ["functionResponse"]]  # fmt: skip
    assert turn["finalResponse"]["parts"] == [{"text": "Sunny in Paris."}]
    assert found["sessionInput"] == {"appName": APP, "userId": "user", "state": {}}
    assert found["creationTimestamp"] > 0
    assert "not found" in got(client, f"{DEV}/eval_sets/set1/evals/none", 404)["detail"]
    assert "not found" in got(client, f"{DEV}/eval_sets/none/evals", 400)["detail"]
    assert read(client.delete(case), 200) is None
    assert "not found" in read(client.delete(case), 404)["detail"]


def test_a_session_is_added_once(client: TestClient, case: str, session: str) -> None:
    body = {"evalId": "paris", "sessionId": session, "userId": "user"}
    assert "already exists" in posted(client, f"{DEV}/eval_sets/set1/add_session", body, 400)["detail"]
    lost = {**body, "evalId": "b", "sessionId": "none"}
    assert posted(client, f"{DEV}/eval_sets/set1/add_session", lost, 404) == {"detail": "Session not found"}
    assert "none" in posted(client, f"{DEV}/eval_sets/none/add_session", body, 404)["detail"]


def test_a_case_is_saved_as_the_page_saves_it(client: TestClient, case: str) -> None:
    found = got(client, case)
    for event in found["conversation"][0]["intermediateData"]["invocationEvents"]:
        event |= {"invocationIndex": 0, "toolUseIndex": 1}
    found["conversation"][0]["finalResponse"]["parts"][0]["text"] = "Cloudy."
    assert read(client.put(case, json=found), 200) is None
    again = got(client, case)
    assert again["conversation"][0]["finalResponse"]["parts"] == [{"text": "Cloudy."}]
    assert "invocationIndex" not in json.dumps(again)
    assert "should match" in read(client.put(case, json={**found, "evalId": "other"}), 400)["detail"]


# --- evaluations -------------------------------------------------------------------------------------------------------


def run(client: TestClient, body: dict[str, Any], status: int = 200) -> Any:
    return posted(client, f"{DEV}/eval-sets/set1/run", {"eval_case_ids": ["paris"], **body}, status)


@pytest.mark.slow
def test_an_evaluation_and_its_result(client: TestClient, case: str) -> None:
    run(client, {"eval_metrics": METRICS})
    (result_id,) = got(client, f"{DEV}/eval_results")
    result = got(client, f"{DEV}/eval_results/{result_id}")
    assert result_id == f"{APP}_set1_{result['creationTimestamp']}", "the page makes a new id, from the time"
    assert result["creationTimestamp"] % 1, "a whole number is written in another way by a page"
    (row,) = result["evalCaseResults"]
    assert (row["evalId"], row["finalEvalStatus"]) == ("paris", 1)
    assert [(one["metricName"], one["evalStatus"], one["threshold"]) for one in row["overallEvalMetricResults"][:2]] == [
        ("tool_trajectory_avg_score", 1, 1.0), ("response_match_score", 1, 0.7),
    ]  # fmt: skip
    (turn,) = row["evalMetricResultPerInvocation"]
    for one in (turn["actualInvocation"], turn["expectedInvocation"]):
        assert one["intermediateData"]["invocationEvents"]
        assert one["finalResponse"]["parts"][0]["text"]
    session = got(client, f"/apps/{APP}/users/{row['userId']}/sessions/{row['sessionId']}")
    assert session["id"] == row["sessionDetails"]["id"] == row["sessionId"]
    assert sum(one["author"] == "user" for one in session["events"]) == 1
    assert got(client, f"{DEV}/debug/trace/session/{row['sessionId']}")[0]["name"] == "invocation"
    listed = {one["id"] for one in got(client, f"/apps/{APP}/users/{row['userId']}/sessions")}
    assert row["sessionId"] not in listed, "sessions of evaluations are not among those of the user"


@pytest.mark.slow
def test_a_failed_case_has_all_that_the_page_reads_without_asking(client: TestClient, case: str) -> None:
    found = got(client, case)
    found["conversation"][0]["intermediateData"] = {"toolUses": [{"name": "add", "args": {}}]}
    client.put(case, json=found)
    (row,) = run(client, {"eval_metrics": METRICS})["runEvalResults"]
    assert row["finalEvalStatus"] == 2
    assert row["proctor_outcome"] == "failed"
    assert "`add()` was not called" in row["overallEvalMetricResults"][0]["details"]["explanation"]
    (turn,) = row["evalMetricResultPerInvocation"]
    assert turn["expectedInvocation"]["intermediateData"]["toolUses"] == [{"name": "add", "args": {}}]
    assert turn["evalMetricResults"][0]["evalStatus"] == 2


@pytest.mark.slow
def test_an_agent_that_fails_is_reported_with_each_metric(client: TestClient, session: str) -> None:
    case = {
        "eval_id": "bad",
        "conversation": [
            {
                "user_content": {"parts": [{"text": "crash"}]},
                "intermediate_data": {"tool_uses": [{"name": "add", "args": {}}]},
            }
        ],
    }
    posted(client, f"{DEV}/eval-sets", {"eval_set": {"eval_set_id": "set1", "eval_cases": [case]}})
    (row,) = run(client, {"eval_metrics": METRICS[:1], "eval_case_ids": []})["runEvalResults"]
    assert (row["finalEvalStatus"], row["proctor_outcome"]) == (3, "error")
    assert (
        row["overallEvalMetricResults"][0]["details"]["explanation"]
        == "agent raised in turn 1: RuntimeError: model exploded"
    )


@pytest.mark.slow
def test_a_run_is_kept_in_the_store_too(client: TestClient, case: str) -> None:
    run(client, {"eval_metrics": METRICS})
    (row,) = got(client, "/api/runs")["items"]
    assert row["outcome"] == "passed"
    assert row["agent"] == APP


@pytest.mark.slow
@pytest.mark.nightly(check=5)
@pytest.mark.parametrize(
    ("body", "expected_message"),
    [
        ({"eval_metrics": [{"metricName": "tool_trajectory_avg", "threshold": 1}]}, "Did you mean 'tool_trajectory_avg_score'?"),
        ({"eval_metrics": METRICS, "eval_case_ids": ["pari"]}, "Did you mean 'paris'?"),
        ({"eval_metrics": METRICS, "eval_case_ids": ["paris", "none"]}, "has no case `none`"),
        ({"eval_metrics": []}, "no deciding metric"),
        ({"eval_metrics": [{"metricName": "token_usage_v1"}]}, "no deciding metric"),
        ({"eval_metrics": [{"metricName": "safety_v1"}]}, "neither a criterion nor a threshold"),
        ({"eval_metrics": [METRICS[0], METRICS[0]]}, "occurs twice"),
        ({"eval_metrics": [{**METRICS[0], "customFunctionPath": "os.system"}]}, "never a request"),
        ({"eval_metrics": [{"metricName": "response_match_score", "threshold": 1.5}]}, "1.5"),
        ({"eval_metrics": METRICS, "user_simulator_config": {"type": "telepathy"}}, "llm_backed"),
        ({"eval_metrics": METRICS, "live_model_config": {}}, "live_model_config"),
        ({"eval_metrics": [judged_by("openai:gpt@http://evil.example/v1")]}, "its key would be sent there"),
        ({"eval_metrics": [judged_by("scripted:/etc/passwd")]}, "reads a file"),
        ({"eval_metrics": METRICS, "user_simulator_config": {"model": "openai:gpt@http://evil.example/v1"}}, "its key would be sent there"),
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_is_refused_and_nothing_is_run(
    client: TestClient, case: str, body: dict[str, Any], expected_message: str
) -> None:
    assert expected_message in run(client, body, 400)["detail"]
    assert got(client, f"{DEV}/eval_results") == []


def test_metrics(client: TestClient) -> None:
    infos = got(client, f"{DEV}/metrics-info")["metricsInfo"]
    assert len(infos) == 17
    for info in infos:
        interval = info["metricValueInfo"]["interval"]
        assert info["description"]
        assert interval.keys() == {"minValue", "maxValue", "openAtMin", "openAtMax"}
        assert interval["minValue"] < interval["maxValue"]
    unbounded = [info["metricName"] for info in infos if info["metricValueInfo"]["interval"]["maxValue"] > 5]
    assert unbounded == [info["metricName"] for info in infos if not info["requiresThreshold"]]
