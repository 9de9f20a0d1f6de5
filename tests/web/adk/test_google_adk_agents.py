"""Agents of the real google-adk behind the ADK-compatible API: streaming, state, artifacts, memory, sub-agents."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.adk.adk_apps import client_of

pytestmark = [pytest.mark.needs_adk, pytest.mark.filterwarnings("ignore")]  # google-adk warns about itself

SOURCE = '''
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types
from google.adk.tools import ToolContext, load_memory


def text_event(text, **fields):
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), **fields)


def called(name, /, **args):
    call = types.FunctionCall(id="fc-" + name, name=name, args=args)
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call), types.Part(text="one moment")]))


class Scripted(BaseLlm):
    model: str = "scripted"

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1]
        answered = [part.function_response for part in last.parts if part.function_response]
        text = " ".join(part.text or "" for part in last.parts)
        if answered:
            yield text_event(f"done: {answered[0].response}")
        elif text == "draw":
            yield called("draw", name="cat.txt")
        elif text == "remember":
            yield called("note", key="color", value="red")
        elif text == "recall":
            yield called("load_memory", query="color")
        else:
            if stream:
                for piece in ("Hel", "lo."):
                    yield text_event(piece, partial=True)
            yield text_event("Hello.")


async def draw(name: str, tool_context: ToolContext) -> dict:
    """Draws."""
    version = await tool_context.save_artifact(name, types.Part.from_bytes(data=b"meow", mime_type="text/plain"))
    return {"version": version}


def note(key: str, value: str, tool_context: ToolContext) -> dict:
    """Notes."""
    tool_context.state[key] = value
    tool_context.state["user:" + key] = value
    return {"noted": True}


helper = LlmAgent(name="helper", description="Helps.", instruction="Help with {topic}.", model=Scripted())
root_agent = LlmAgent(
    name="artist", description="Draws cats.", instruction="Draw for {guest}.", model=Scripted(),
    tools=[draw, note, load_memory], sub_agents=[helper],
)
'''
STATE = {"guest": "Ann", "topic": "paint"}
SESSIONS = "/apps/art/users/u/sessions"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    folder = tmp_path / "agents" / "art"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(SOURCE)
    with client_of(tmp_path, folder.parent) as client:
        client.post(SESSIONS, json={"sessionId": "s", "state": STATE}).raise_for_status()
        yield client


def send(client: TestClient, text: str, session_id: str = "s", **more: Any) -> list[dict[str, Any]]:
    body = {"appName": "art", "userId": "u", "sessionId": session_id, "newMessage": {"parts": [{"text": text}]}, **more}  # fmt: skip
    answer = client.post("/run_sse", json=body)
    assert answer.status_code == 200, answer.text
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]


def texts(events: list[dict[str, Any]]) -> list[Any]:
    return [part.get("text") for event in events for part in event.get("content", {}).get("parts", [])]


def test_pieces_of_an_answer_come_where_they_are_asked_for(client: TestClient) -> None:
    assert texts(send(client, "hello")) == ["Hello."]
    events = send(client, "hello", streaming=True)
    assert [(event.get("partial"), *texts([event])) for event in events] == [(True, "Hel"), (True, "lo."), (None, "Hello.")]  # fmt: skip
    kept = client.get(f"{SESSIONS}/s").json()["events"]
    assert texts(kept) == ["hello", "Hello."] * 2, "a session has whole answers only"


def test_an_event_with_an_artifact_comes_as_two(client: TestClient) -> None:
    events = send(client, "draw")
    with_delta = [event for event in events if event["actions"]["artifactDelta"]]
    assert [event["actions"]["artifactDelta"] for event in with_delta] == [{"cat.txt": 0}]
    assert "content" not in with_delta[0]
    before = events[events.index(with_delta[0]) - 1]
    assert before["id"] == with_delta[0]["id"]
    assert before["content"]["parts"][0]["functionResponse"]["response"] == {"version": 0}


@pytest.mark.slow
def test_artifacts(client: TestClient) -> None:
    send(client, "draw")
    at = f"{SESSIONS}/s/artifacts"
    assert client.get(at).json() == ["cat.txt"]
    part = client.get(f"{at}/cat.txt").json()
    assert (part["inlineData"]["mimeType"], base64.b64decode(part["inlineData"]["data"])) == (
        "text/plain",
        b"meow",
    )
    body = {"filename": "cat.txt", "artifact": {"text": "purr"}, "customMetadata": {"mood": "good"}}
    made = client.post(at, json=body)
    assert (made.status_code, made.json()["version"]) == (200, 1)
    assert client.get(f"{at}/cat.txt/versions").json() == [0, 1]
    assert client.get(f"{at}/cat.txt/versions/1").json() == {"text": "purr"}
    assert client.get(f"{at}/cat.txt?version=0").json()["inlineData"]["mimeType"] == "text/plain"
    assert client.get(f"{at}/cat.txt/versions/latest/metadata").json()["customMetadata"] == {"mood": "good"}
    assert [one["version"] for one in client.get(f"{at}/cat.txt/versions/metadata").json()] == [0, 1]
    assert client.get(f"{at}/dog.txt").status_code == 404
    assert client.get(f"{at}/cat.txt/versions/7").status_code == 404
    assert client.delete(f"{at}/cat.txt").json() is None
    assert client.get(at).json() == []
    assert client.post(at, json={"filename": "x", "artifact": {"nonsense": 1}}).status_code == 400


@pytest.mark.parametrize(
    "name", ["", " ", "../x", "a/../x", "/x", "a//b", "user:", "user:../x", "a\\..\\x", "."]
)
def test_an_artifact_has_a_name_that_leads_nowhere_else(client: TestClient, name: str) -> None:
    at = f"{SESSIONS}/s/artifacts"
    answer = client.post(at, json={"filename": name, "artifact": {"text": "x"}})
    assert (answer.status_code, client.get(at).json()) == (400, [])


@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_a_message_that_google_adk_cannot_read_is_refused_before_anything_is_answered(
    client: TestClient, path: str
) -> None:
    body = {
        "appName": "art",
        "userId": "u",
        "sessionId": "s",
        "newMessage": {"parts": [{"nonsense": 1}]},
    }
    answer = client.post(path, json=body)
    assert answer.status_code == 400
    assert "parts.0.nonsense" in answer.json()["detail"]
    assert client.get(f"{SESSIONS}/s").json()["events"] == []


def test_state_of_a_user_is_in_all_sessions_of_that_user(client: TestClient) -> None:
    send(client, "remember")
    assert client.get(f"{SESSIONS}/s").json()["state"]["color"] == "red"
    other = client.post(SESSIONS, json={"state": STATE}).json()
    assert other["state"]["user:color"] == "red"
    assert "color" not in other["state"]


def test_a_session_that_is_remembered_is_found_by_the_agent_s_tools(client: TestClient) -> None:
    send(client, "my color is red")
    assert client.patch("/apps/art/users/u/memory", json={"sessionId": "none"}).status_code == 404
    assert client.patch("/apps/art/users/u/memory", json={"sessionId": "s"}).json() is None
    client.post(SESSIONS, json={"sessionId": "later", "state": STATE}).raise_for_status()
    assert "my color is red" in json.dumps(send(client, "recall", "later"))


def test_the_tree_of_agents(client: TestClient) -> None:
    root = client.get("/dev/apps/art/build_graph").json()["root_agent"]
    assert (root["name"], root["instruction"]) == ("artist", "Draw for {guest}.")
    assert [tool["name"] for tool in root["tools"]] == ["draw", "note", "load_memory"]
    assert [below["name"] for below in root["sub_agents"]] == ["helper"]
    assert client.get("/apps/art/app-info").json()["agents"]["artist"]["sub_agents"] == ["helper"]
    draw = client.get("/apps/art/app-info").json()["agents"]["artist"]["tools"][0]["functionDeclarations"][0]
    assert draw["parametersJsonSchema"]["properties"] == {"name": {"title": "Name", "type": "string"}}
    assert '"artist" -> "helper"' in client.get("/dev/apps/art/graph").json()["dotSrc"]
    below = client.get("/dev/apps/art/build_graph_image?node=helper").json()
    assert "artist" not in below["helper"]["dotSrc"]


@pytest.mark.slow
def test_a_session_becomes_a_case_that_starts_with_what_the_instructions_ask_for(client: TestClient) -> None:
    send(client, "hello")
    client.post("/dev/apps/art/eval-sets", json={"evalSet": {"eval_set_id": "a"}}).raise_for_status()
    body = {"evalId": "c", "sessionId": "s", "userId": "u"}
    client.post("/dev/apps/art/eval-sets/a/add-session", json=body).raise_for_status()
    case = client.get("/dev/apps/art/eval-sets/a/eval-cases/c").json()
    assert case["sessionInput"]["state"] == {"guest": "", "topic": ""}
    run = client.post(
        "/dev/apps/art/eval-sets/a/run",
        json={"evalMetrics": [{"metricName": "response_match_score", "threshold": 0.8}]},
    ).json()
    assert run["runEvalResults"][0]["finalEvalStatus"] == 1


def test_what_google_adk_writes_for_itself_no_one_else_reads_or_writes(client: TestClient) -> None:
    event = {"author": "user", "content": {"parts": [{"text": "hi"}]}, "customMetadata": {"__adk_internal_x": 1, "y": 2}}  # fmt: skip
    made = client.post(SESSIONS, json={"events": [event]}).json()
    assert made["events"][0]["customMetadata"] == {"y": 2}


def test_an_event_that_google_adk_cannot_read_is_refused(client: TestClient) -> None:
    event = {"author": "user", "content": {"parts": [{"nonsense": 1}]}}
    made = client.post(SESSIONS, json={"sessionId": "x", "events": [event]})
    assert made.status_code == 400
    assert "nonsense" in made.json()["detail"]
    assert client.get(f"{SESSIONS}/x").status_code == 404, "and there is half of no session"


def test_a_session_is_made_once(client: TestClient) -> None:
    again = client.post(SESSIONS, json={"sessionId": "s"})
    assert (again.status_code, again.json()) == (409, {"detail": "Session already exists: s"})


def test_a_web_socket_streams_in_pieces(client: TestClient) -> None:
    url = "ws://127.0.0.1:8000/run_live?app_name=art&user_id=u&session_id=s"
    with client.websocket_connect(url) as socket:
        socket.send_json({"content": {"parts": [{"text": "hello"}]}})
        heard = [socket.receive_json() for _ in range(4)]
    assert texts(heard) == ["Hel", "lo.", "Hello."]
    assert heard[-1]["turnComplete"] is True


@pytest.mark.slow
def test_a_trace_has_google_adk_s_own_spans(client: TestClient) -> None:
    send(client, "draw")
    send(client, "hello")
    spans = client.get("/dev/apps/art/debug/trace/session/s").json()
    names = [span["name"] for span in spans]
    assert "generate_content scripted" in names
    assert "execute_tool draw" in names
    asked = [span["attributes"].get("gcp.vertex.agent.llm_request", "") for span in spans]
    assert any("Draw for Ann." in text for text in asked), "what the model was asked is in no event"
    assert len({span["trace_id"] for span in spans}) == 2, "a turn is a trace"
    for event in client.get(f"{SESSIONS}/s").json()["events"]:
        traced = client.get(f"/dev/apps/art/debug/trace/{event['id']}")
        assert traced.status_code == (404 if event["author"] == "user" else 200)
    client.delete(f"{SESSIONS}/s").raise_for_status()
    assert client.get("/dev/apps/art/debug/trace/session/s").json() == []
