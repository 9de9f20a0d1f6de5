"""Talking to an agent over HTTP: shown as it happens, stopped, kept as a case; agents that hang, raise and flood."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.chat import chats, conversation
from proctor.web.server.context import ServerContext

pytestmark = pytest.mark.slow  # each test holds a conversation with an agent

EVENTS = "import asyncio, os, time\nfrom proctor import Event\n"
AGENTS = {
    "echo": "def root_agent(text): return f'you wrote {text}'",
    "guide": EVENTS
    + """
class Guide:
    async def answer(self, message, session):
        text = message.joined_text()
        if any(part.function_response for part in message.parts):
            yield Event.said(f"approved: {message.parts[0].function_response.response}")
            return
        yield Event.called("find", {"city": text, "n": 1.0}, id="c1")
        yield Event.returned("find", {"places": ["<b>x</b>"]}, id="c1")
        for piece in ("Go ", "to ", text):
            yield Event.said(piece, partial=True)
            await asyncio.sleep(0.1)
        yield Event.said(f"Go to {text}")
        yield Event.changed({"city": text, "turns": session.state.get("turns", 0) + 1})
root_agent = Guide()
""",
    "slow": EVENTS
    + """
class Slow:
    async def answer(self, message, session):
        text = message.joined_text()
        yield Event.said("wait", partial=True)
        if text == "block": time.sleep(60)
        if text == "hang": await asyncio.sleep(60)
        if text == "raise": raise ValueError("<boom>")
        if text == "exit": os._exit(3)
        if text == "quit": raise SystemExit(1)
        if text == "garbage": yield 5
        if text == "flood":
            for number in range(20_000): yield Event.said(f"{number} ")
        if text == "huge": yield Event.said("x" * 3_000_000)
        if text == "long":
            yield Event.called("ask", {"q": 1}, id="L", long_running_tool_ids=["L"])
            return
        if any(part.function_response for part in message.parts):
            yield Event.said(f"got {message.parts[0].function_response.response['ok']}")
        else:
            yield Event.said(f"done {text}")
root_agent = Slow()
""",
    "broken": "raise RuntimeError('no such model')",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in AGENTS.items():
        (tmp_path / "agents" / name).mkdir(parents=True)
        (tmp_path / "agents" / name / "agent.py").write_text(text)
    return tmp_path


@pytest.fixture
def client(project: Path) -> Iterator[TestClient]:
    context = ServerContext(root=project, store_url=project / "store.sqlite3", agents=project / "agents")
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        yield client


def begin(client: TestClient, agent: str, **more: Any) -> str:
    answer = client.post("/api/chats", json={"agent": agent, **more})
    assert answer.status_code == 201, answer.text
    return f"/api/chats/{answer.json()['id']}"


def events(text: str) -> list[Any]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.split("\n") if line)
        if fields.get("event") == "entry":
            found.append(json.loads(fields["data"]))
            assert fields["id"] == str(found[-1]["number"])
    return found


def send(client: TestClient, chat: str, text: str) -> list[Any]:
    answer = client.post(f"{chat}/messages", json={"text": text})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return events(answer.text)


def kinds(entries: list[Any]) -> list[str]:
    return [one["kind"] for one in entries]


def test_what_an_agent_does_is_reported_event_by_event(client: TestClient) -> None:
    chat = begin(client, "guide", state={"turns": 1})
    reported = send(client, chat, "Rome")
    assert kinds(reported) == [
        "user",
        "call",
        "response",
        "text",
        "text",
        "text",
        "text",
        "state",
        "session",
        "end",
    ]
    call, answer, whole = reported[1], reported[2], reported[6]
    assert (call["name"], call["value"], call["call_id"]) == ("find", {"city": "Rome", "n": 1.0}, "c1")
    assert answer["value"] == {"places": ["<b>x</b>"]}
    assert [one["partial"] for one in reported if one["kind"] == "text"] == [True, True, True, False]
    assert whole["text"] == "Go to Rome"
    assert reported[-2]["value"] == {"city": "Rome", "turns": 2}
    assert reported[-1]["value"] == {"state": "ready", "turns": 1}
    numbers = [one["number"] for one in reported]
    assert numbers == sorted(set(numbers))
    page = client.get(chat).json()
    assert kinds(page["entries"]) == ["user", "call", "response", "text", "state", "session", "end"]
    assert (page["session_state"], page["initial_state"]) == ({"city": "Rome", "turns": 2}, {"turns": 1})
    assert client.get("/api/chats").json()["items"][0]["begins"] == "Rome"


def test_a_client_that_returns_continues_from_its_last_event(client: TestClient) -> None:
    chat = begin(client, "guide")
    reported = send(client, chat, "Rome")
    assert client.get(f"{chat}/events", headers={"Last-Event-ID": "9" * 6_000}).status_code == 200
    rest = client.get(f"{chat}/events", headers={"Last-Event-ID": str(reported[6]["number"])})
    assert kinds(events(rest.text)) == ["state", "session", "end"]


@pytest.mark.nightly(check=1)
@pytest.mark.slow  # starts proctor record
@pytest.mark.parametrize("final_state", [True, False])
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_conversation_becomes_the_case_that_record_would_write(
    client: TestClient, project: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, *, final_state: bool
) -> None:
    from click.testing import CliRunner

    from proctor.cli.main import cli

    chat = begin(client, "guide")
    for text in ("Rome", "Oslo"):
        send(client, chat, text)
    wanted = {"new_set": "trips", "form": suffix, "eval_id": "two", "final_state": final_state}
    answer = client.post(f"{chat}/case", json=wanted)
    assert answer.status_code == 201, answer.text
    path = project / answer.json()["path"]
    assert answer.json()["turns"] == 2
    command = answer.json()["command"].split()
    assert command[:2] == ["proctor", "record"]
    page, path_of_page = path.read_text(), path.rename(path.with_name("page"))
    assert path_of_page.exists()
    monkeypatch.chdir(project)
    result = CliRunner().invoke(cli, command[1:], input="Rome\nOslo\n")
    assert result.exit_code == 0, result.output
    assert _without_times(path.read_text()) == _without_times(page)
    again = client.post(f"{chat}/case", json={"eval_set": answer.json()["eval_set"], "eval_id": "two"})
    assert again.status_code == 409
    assert "already has a case two" in again.json()["detail"]
    more = client.post(f"{chat}/case", json={"eval_set": answer.json()["eval_set"], "eval_id": "three"})
    assert more.status_code == 201


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("criteria", "expected"),
    [({"tool_trajectory_avg_score": 1.0}, "negative only"), ({"response_match_score": 0.8}, "")],
)
def test_a_case_that_a_run_would_refuse_has_a_warning(
    client: TestClient, project: Path, criteria: Any, expected: str
) -> None:
    (project / "test_config.json").write_text(json.dumps({"criteria": criteria}))
    chat = begin(client, "echo")
    send(client, chat, "hi")
    answer = client.post(f"{chat}/case", json={"new_set": "talks", "eval_id": "hi"})
    assert answer.status_code == 201, answer.text
    warnings = answer.json()["warnings"]
    assert len(warnings) == bool(expected)
    assert all(expected in warning and "'hi'" in warning for warning in warnings)


def _without_times(text: str) -> list[str]:
    return [line for line in text.split("\n") if "creation_timestamp" not in line]


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("wanted", "status", "message"),
    [
        pytest.param({"eval_id": "a", "new_set": "../x"}, 400, "may have only", id="a path"),
        pytest.param({"eval_id": "a", "new_set": "x", "folder": ".."}, 400, "cannot be taken", id="a folder above"),
        pytest.param({"eval_id": "a", "eval_set": "nope"}, 404, "no eval set", id="no such set"),
        pytest.param({"eval_id": "a,b", "new_set": "x"}, 400, "separates cases in FILE:CASE", id="an id with a comma"),
        pytest.param({"eval_id": "", "new_set": "x"}, 400, "is empty", id="an empty id"),
        pytest.param({"eval_id": "a"}, 400, "name either", id="no set"),
    ],
)  # fmt: skip
def test_a_case_is_saved_only_where_it_may_be(
    client: TestClient, project: Path, wanted: Any, status: int, message: str
) -> None:
    chat = begin(client, "echo")
    empty = client.post(f"{chat}/case", json={"eval_id": "a", "new_set": "x"})
    assert empty.status_code == 409
    send(client, chat, "hi")
    before = sorted(project.parent.rglob("*.evalset*"))
    answer = client.post(f"{chat}/case", json=wanted)
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text
    assert sorted(project.parent.rglob("*.evalset*")) == before


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("text", "message", "state"),
    [
        pytest.param("raise", "ValueError: <boom>", "ready", id="raises"),
        pytest.param("exit", "crashed", "broken", id="ends its process"),
        pytest.param("quit", "SystemExit", "ready", id="raises SystemExit"),
        pytest.param("garbage", "yields", "broken", id="yields something else than events"),
    ],
)
def test_an_agent_that_fails_is_reported_with_the_cause(
    client: TestClient, text: str, message: str, state: str
) -> None:
    chat = begin(client, "slow")
    send(client, chat, "one")
    reported = send(client, chat, text)
    failure = next(one for one in reported if one["kind"] == "failure")
    assert message in failure["text"], failure
    assert "discarded" in failure["text"]
    assert reported[-1]["value"] == {"state": state, "turns": 1}
    if state == "broken":
        assert client.post(f"{chat}/messages", json={"text": "two"}).status_code == 409
        again = events(client.post(f"{chat}/again").text)
        assert [one["text"] for one in again if one["kind"] == "text" and not one["partial"]] == ["done one"]
    assert send(client, chat, "two")[-1]["value"] == {"state": "ready", "turns": 2}


@pytest.mark.parametrize("text", ["hang", "block"])
def test_an_answer_is_stopped(client: TestClient, text: str) -> None:
    import threading

    chat = begin(client, "slow")
    send(client, chat, "one")
    reported: list[Any] = []
    thread = threading.Thread(target=lambda: reported.extend(send(client, chat, text)))
    thread.start()
    _until(lambda: client.get(chat).json()["state"] == "answering")
    assert client.post(f"{chat}/messages", json={"text": "x"}).status_code == 409
    assert client.post(f"{chat}/case", json={"eval_id": "a", "new_set": "x"}).status_code == 409
    began = time.monotonic()
    assert client.post(f"{chat}/stop").json()["state"] == "broken"
    assert time.monotonic() - began < 40
    thread.join(40)
    assert kinds(reported)[-2:] == ["note", "end"]
    assert client.post(f"{chat}/again").status_code == 200
    assert send(client, chat, "two")[-1]["value"] == {"state": "ready", "turns": 2}


def _until(true: Any) -> None:
    for _ in range(3000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def test_an_answer_has_its_time(project: Path) -> None:
    context = ServerContext(root=project, store_url=project / "s.sqlite3", agents=project / "agents")
    app = create_app(context)
    app.state.chats = chats.Chats(context, timeout=0.3)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        chat = begin(client, "slow")
        reported = send(client, chat, "hang")
        assert "timed out" in next(one for one in reported if one["kind"] == "failure")["text"]
        assert reported[-1]["value"]["state"] == "broken"


@pytest.mark.slow  # sends a flood
def test_a_flood_is_bounded(client: TestClient) -> None:
    chat = begin(client, "slow")
    reported = send(client, chat, "flood")
    assert len(reported) <= conversation.MOST_ENTRIES + 5
    assert "more than 10000 events" in next(one for one in reported if one["kind"] == "failure")["text"]
    assert any("rest is not shown" in one["text"] for one in reported)


def test_a_huge_text_is_shown_in_part(client: TestClient) -> None:
    chat = begin(client, "slow")
    reported = send(client, chat, "huge")
    assert max(len(one["text"]) for one in reported) < 110_000
    assert reported[-1]["kind"] == "end"


def test_a_call_that_waits_is_answered_by_hand(client: TestClient) -> None:
    chat = begin(client, "slow")
    call = next(one for one in send(client, chat, "long") if one["kind"] == "call")
    assert call["waits"]
    answer = {"name": "ask", "call_id": call["call_id"], "response": {"ok": True}}
    reported = events(client.post(f"{chat}/messages", json={"answer": answer}).text)
    assert (reported[0]["name"], reported[0]["value"]) == ("ask", {"ok": True})
    assert "got True" in [one["text"] for one in reported]


def test_the_last_turn_is_taken_back(client: TestClient) -> None:
    chat = begin(client, "guide")
    for text in ("Rome", "Oslo"):
        send(client, chat, text)
    reported = events(client.post(f"{chat}/undo").text)
    assert reported[-1]["value"] == {"state": "ready", "turns": 1}
    assert client.get(chat).json()["session_state"] == {"city": "Rome", "turns": 1}
    client.post(f"{chat}/undo")
    assert client.post(f"{chat}/undo").status_code == 409


def test_only_so_many_conversations_at_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "MOST_CHATS", 2)
    chat = begin(client, "echo")
    begin(client, "echo")
    third = client.post("/api/chats", json={"agent": "echo"})
    assert third.status_code == 409
    assert "close one first" in third.json()["detail"]
    assert client.delete(chat).status_code == 204
    assert client.get(chat).status_code == 404
    begin(client, "echo")


def test_a_conversation_that_is_idle_is_closed(project: Path) -> None:
    context = ServerContext(root=project, store_url=project / "s.sqlite3", agents=project / "agents")
    app = create_app(context)
    app.state.chats = chats.Chats(context, idle=2.0)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        chat = begin(client, "echo")
        send(client, chat, "hi")
        _until(lambda: client.get(chat).status_code == 404)


def test_a_message_that_arrives_while_its_conversation_closes_is_refused(
    client: TestClient,
) -> None:
    open_chats: chats.Chats = client.app.state.chats
    chat = begin(client, "echo")
    closing = open_chats.find(chat.rpartition("/")[2])
    client.portal.call(open_chats.on_loop, closing.close())
    refused = client.post(f"{chat}/messages", json={"text": "hi"})
    assert refused.status_code == 409, refused.text
    assert "the conversation is closed" in refused.json()["detail"]


def test_a_server_that_ends_waits_for_a_conversation_that_is_being_closed(project: Path) -> None:
    (project / "agents/thorough").mkdir()
    (project / "agents/thorough/agent.py").write_text(
        EVENTS
        + """
from pathlib import Path
class Thorough:
    async def answer(self, message, session):
        yield Event.said("hello")
    async def close(self):
        Path("begun").touch()
        await asyncio.sleep(1)
        Path("closed").touch()
root_agent = Thorough()
"""
    )
    context = ServerContext(root=project, store_url=project / "s.sqlite3", agents=project / "agents")
    app = create_app(context)
    app.state.chats = chats.Chats(context, idle=0.2)
    with (
        contextlib.chdir(project),
        TestClient(app, base_url="http://127.0.0.1:8000") as client,
    ):
        begin(client, "thorough")
        _until((project / "begun").exists)
    assert (project / "closed").exists()


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        pytest.param({"agent": "nope"}, 404, "There is: broken, echo, guide, slow", id="unknown"),
        pytest.param({"agent": "../agents/echo"}, 404, "no agent", id="a path"),
        pytest.param({"agent": "cmd:touch x"}, 404, "no agent", id="a command"),
        pytest.param({"agent": "http://169.254.169.254"}, 404, "no agent", id="an address"),
        pytest.param({"agent": "broken"}, 400, "no such model", id="does not load"),
        pytest.param({"agent": "echo", "state": []}, 422, "state", id="a state that is none"),
        pytest.param({"agent": "echo", "state": {"a": "\0"}}, 422, "NUL", id="NUL in the state"),
    ],
)
def test_only_agents_of_the_project_are_talked_to(
    client: TestClient, body: Any, status: int, message: str
) -> None:
    answer = client.post("/api/chats", json=body)
    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text


def test_every_agent_that_the_page_offers_is_talked_to(project: Path) -> None:
    """The folder of the start is an agent, and the settings name a file of another folder."""
    (project / "agent.py").write_text(AGENTS["echo"])
    (project / "agents" / "echo" / "v1.py").write_text(AGENTS["echo"])
    (project / "proctor.toml").write_text('agent = "agents/echo/v1.py"\n')
    context = ServerContext(root=project, store_url=project / "store.sqlite3", agents=project)
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        named = [one["name"] for one in client.get("/api/agents").json()["items"]]
        assert named == [project.name, "agents/echo/v1.py", "replay"]
        for name in named[:-1]:
            assert "you wrote hi" in str(send(client, begin(client, name), "hi"))


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("text", ["", "  ", "\0", "a\0b"])
def test_a_message_that_is_unusable_is_refused(client: TestClient, text: str) -> None:
    chat = begin(client, "echo")
    assert client.post(f"{chat}/messages", json={"text": text}).status_code == 422


def test_the_agents_processes_end_with_the_server(project: Path) -> None:
    (project / "agents" / "echo" / "agent.py").write_text(
        f"import os, pathlib\npathlib.Path({str(project / 'pid')!r}).write_text(str(os.getpid()))\n"
        "def root_agent(text): return text\n"
    )
    context = ServerContext(root=project, store_url=project / "s.sqlite3", agents=project / "agents")
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as client:
        begin(client, "echo")
        pid = int((project / "pid").read_text())
        assert Path(f"/proc/{pid}").exists()
    _until(lambda: not _is_alive(pid))


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False
