"""Agents of the settings that another ADK server has are apps of this server, wherever that server is."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.agents.remote.http.allowed_addresses import TARGETS
from proctor.web.server.adk.apps import apps_of
from proctor.web.server.app import create_app
from proctor.web.server.context import Access, ServerContext
from proctor.web.server.launch import server_of
from proctor.web.server.runs.run_command import startable
from proctor.web.server.security.allowed_names import guard_targets, guard_targets_now
from tests.web.adk.adk_apps import PLAIN, write_app

MESSAGE = {
    "appName": "weather_app",
    "userId": "u",
    "sessionId": "s",
    "newMessage": {"parts": [{"text": "hello"}]},
}
CASE = {
    "eval_id": "c",
    "conversation": [
        {
            "user_content": {"parts": [{"text": "hello"}]},
            "final_response": {"parts": [{"text": "Hello."}]},
        }
    ],
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of another ADK server, with one app."""
    root = tmp_path_factory.mktemp("there")
    folder = write_app(root / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    app = create_app(ServerContext(root=root, store_url=root / "store.sqlite3", agents=folder.parent))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = server_of(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def client(tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client of a server whose settings named another agent when it was started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(TARGETS, "")
    context = ServerContext(root=tmp_path, store_url=tmp_path / "store.sqlite3")
    guard_targets(context.access, ["http+sse:http://127.0.0.1:1/"])
    (tmp_path / "proctor.toml").write_text(f'agent = "adk+http:http://127.0.0.1:{port}/weather_app"\n')
    with TestClient(
        create_app(context), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
    ) as found:
        yield found


def sent(client: TestClient, path: str, body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_it_is_listed_and_answers(client: TestClient) -> None:
    assert client.get("/list-apps").json() == ["weather_app"]
    sent(client, "/apps/weather_app/users/u/sessions/s", {})
    events = sent(client, "/run", MESSAGE)
    assert events[-1]["content"]["parts"] == [{"text": "Hello."}]
    tree = client.get("/dev/apps/weather_app/build_graph").json()["root_agent"]
    assert tree["name"] == "weather_agent"


@pytest.mark.slow
def test_its_eval_sets_are_in_a_folder_of_its_name_and_are_run(client: TestClient, tmp_path: Path) -> None:
    dev = "/dev/apps/weather_app"
    assert client.get(f"{dev}/eval_sets").json() == []
    sent(client, f"{dev}/eval-sets", {"evalSet": {"evalSetId": "s", "evalCases": [CASE]}})
    assert (tmp_path / "weather_app" / "s.evalset.json").is_file()
    metrics = [{"metricName": "response_match_score", "threshold": 0.8}]
    [result] = sent(client, f"{dev}/eval-sets/s/run", {"evalMetrics": metrics})["runEvalResults"]
    assert result["finalEvalStatus"] == 1, json.dumps(result)[:2000]
    assert len(client.get(f"{dev}/eval_results").json()) == 1


def test_an_agent_of_a_python_file_may_be_on_this_machine(
    client: TestClient, tmp_path: Path, port: int
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "agent.py").write_text(
        "from proctor.agents.remote.adk_server.agent import adk_server_agent\n"
        f"root_agent = adk_server_agent('http://127.0.0.1:{port}/weather_app')\n"
    )
    (tmp_path / "proctor.toml").write_text('agent = "other"\n')
    sent(client, "/apps/other/users/u/sessions/s", {})
    assert sent(client, "/run", {**MESSAGE, "appName": "other"})[-1]["content"]["parts"] == [
        {"text": "Hello."}
    ]


NAMES = {
    "the app's": (["adk+http:http://h:9/travel"], ["travel"]),
    "below a prefix": (["adk+http:http://h:9/api/my%20app"], ["my app"]),
    "none": (["adk+http://h:9"], ["h_9"]),
    "of two servers": (["adk+http:http://h:9/a", "adk+http:http://i:9/a"], ["a", "a_i_9"]),
    "of a folder, too": (["one", "adk+http:http://h:9/one"], ["one", "one_h_9"]),
    "one that leads elsewhere": (["adk+http:http://h:9/a%2F..%2Fb", "adk+http:http://i:9/%2E%2E"], ["h_9", "i_9"]),
    "no address: then the folders": (["adk+http:ftp://h/a"], ["one"]),
    "with a secret": (["adk+http:http://me:pw@h:9/a?token=abc"], ["a"]),
}  # fmt: skip


@pytest.mark.parametrize(("agents", "names"), NAMES.values(), ids=NAMES)
def test_the_names_of_apps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agents: list[str], names: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "agent.py").write_text("def root_agent(message):\n    return 'hi'\n")
    (tmp_path / "proctor.toml").write_text(f"agent = {json.dumps(agents)}\n")
    found = apps_of(None, tmp_path)
    assert list(found) == names
    assert all(app.folder.parent == tmp_path for app in found.values())


def test_the_form_that_starts_runs_lists_it_as_the_settings_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "proctor.toml").write_text('agent = "adk+http:http://127.0.0.1:9/travel"\n')
    context = ServerContext(root=tmp_path)
    assert list(startable(context)) == ["adk+http:http://127.0.0.1:9/travel", "replay"]


def test_runs_may_reach_what_the_settings_name_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(TARGETS, "")
    context = ServerContext(root=tmp_path, access=Access(any_agent=True))
    (tmp_path / "proctor.toml").write_text('agent = "adk+http:http://127.0.0.1:9/travel"\n')
    guard_targets_now(context)
    assert os.environ[TARGETS] == "127.0.0.1:9"
    (tmp_path / "proctor.toml").write_text("")
    guard_targets_now(context)
    assert os.environ[TARGETS] == ""
