"""Who may change things through the ADK-compatible API, what a broken agent is, and what is not served."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from proctor.web.server.adk.routes import adk_router
from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from tests.web.adk.adk_apps import PLAIN, client_of, write_app

CASE = {"eval_id": "c1", "conversation": [{"user_content": {"parts": [{"text": "hello"}]}}]}


def changing_routes() -> list[tuple[str, str]]:
    """Every route below /dev that changes something."""
    found = set()
    for context in iter_route_contexts(adk_router().routes):
        if (context.path or "").startswith("/dev/apps/"):
            methods = {*(context.methods or ())} - {"GET", "HEAD"}
            found |= {(method, str(context.path)) for method in methods}
    return sorted(found)


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    folder = write_app(tmp_path / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    (folder / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [CASE]}))
    return folder.parent


@pytest.fixture
def client(tmp_path: Path, agents: Path) -> Iterator[TestClient]:
    with client_of(tmp_path, agents) as client:
        yield client


def filled(path: str) -> str:
    names = {"app_name": "weather_app", "eval_set_id": "s", "eval_case_id": "c1"}
    return path.format(**names)


def from_elsewhere(root: Path, agents: Path, host: str) -> TestClient:
    context = ServerContext(root=root, store_url=root / "store.sqlite3", agents=agents)
    return TestClient(create_app(context), base_url="http://127.0.0.1:8000", client=(host, 50000))


# --- only from this machine --------------------------------------------------------------------------------------------


def test_there_are_routes_that_change_something() -> None:
    assert len(changing_routes()) >= 11


@pytest.mark.parametrize(("method", "path"), changing_routes())
def test_only_this_machine_may_change_things(
    tmp_path: Path, agents: Path, client: TestClient, method: str, path: str
) -> None:
    before = sorted(agents.rglob("*.evalset.json")), (agents / "weather_app" / "s.evalset.json").read_bytes()
    with from_elsewhere(tmp_path, agents, "192.0.2.7") as elsewhere:
        answers = [elsewhere.request(method, filled(path), json={})]
    proxies = ("X-Forwarded-For", "X-Forwarded-Host", "Forwarded")
    answers += [client.request(method, filled(path), json={}, headers={name: "1.2.3.4"}) for name in proxies]
    assert [answer.status_code for answer in answers] == [403] * 4
    assert all("only clients on this machine" in answer.json()["detail"] for answer in answers)
    assert before == (sorted(agents.rglob("*.evalset.json")), before[1])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1"])
def test_every_loopback_address_is_this_machine(tmp_path: Path, agents: Path, host: str) -> None:
    with from_elsewhere(tmp_path, agents, host) as here:
        assert here.delete("/dev/apps/weather_app/eval-sets/s").status_code == 200


@pytest.mark.parametrize(
    ("value", "status"), [("1", 200), ("TRUE", 200), ("yes", 200), ("0", 403), ("", 403)]
)
def test_it_can_be_opened_as_google_adk_is(
    tmp_path: Path, agents: Path, monkeypatch: pytest.MonkeyPatch, value: str, status: int
) -> None:
    monkeypatch.setenv("ADK_ALLOW_REMOTE_AGENT_BUILDER", value)
    with from_elsewhere(tmp_path, agents, "192.0.2.7") as elsewhere:
        assert elsewhere.delete("/dev/apps/weather_app/eval-sets/s").status_code == status


def test_a_page_of_another_site_is_refused(client: TestClient) -> None:
    for origin in ("https://elsewhere.example", "http://127.0.0.1:9000", "null"):
        answer = client.post("/dev/apps/weather_app/eval_sets/new", headers={"Origin": origin})
        assert answer.status_code == 403
    assert client.get("/dev/apps/weather_app/eval_sets").json() == ["s"]


# --- apps --------------------------------------------------------------------------------------------------------------


def test_an_app_that_is_not_there_is_named_with_the_closest(client: TestClient) -> None:
    answer = client.get("/apps/wether_app/users/u/sessions")
    assert answer.status_code == 404
    assert (
        answer.json()["detail"]
        == "No app named 'wether_app'. Did you mean 'weather_app'? Known: weather_app."
    )


@pytest.mark.parametrize("name", ["%2e%2e", "C:x", "a%5Cb"])
def test_a_name_that_leads_elsewhere_is_refused(client: TestClient, name: str) -> None:
    assert client.get(f"/apps/{name}/users/u/sessions").status_code == 400


@pytest.mark.slow
def test_an_agent_that_cannot_be_loaded_hides_no_other(
    tmp_path: Path, agents: Path, client: TestClient
) -> None:
    broken = agents / "broken_app"
    broken.mkdir()
    (broken / "agent.py").write_text("import no_such_module_anywhere\n")
    assert client.get("/list-apps").json() == ["broken_app", "weather_app"]
    rows = client.get("/list-apps?detailed=true").json()["apps"]
    assert "no_such_module_anywhere" in rows[0]["description"]
    assert rows[1]["rootAgentName"] == "weather_agent"
    answer = client.post("/apps/broken_app/users/u/sessions")
    assert answer.status_code == 500
    assert "agent.py:1" in answer.json()["detail"]
    (broken / "agent.py").write_text("async def root_agent(message):\n    return 'mended'\n")
    assert client.post("/apps/broken_app/users/u/sessions").status_code == 200, (
        "it was mended, and nothing restarted"
    )


def test_one_agent_s_folder_is_one_app(tmp_path: Path, agents: Path) -> None:
    with client_of(tmp_path, agents / "weather_app") as client:
        assert client.get("/list-apps").json() == ["weather_app"]
        assert client.get("/dev/apps/weather_app/eval_sets").json() == ["s"]


def test_an_agent_that_blocks_blocks_no_other_request(tmp_path: Path, agents: Path) -> None:
    slow = agents / "slow_app"
    slow.mkdir()
    (slow / "agent.py").write_text(
        "import time\nfrom pathlib import Path\n"
        "gate = Path(__file__).with_name('gate')\n"
        "async def root_agent(message):\n"
        "    gate.with_name('begun').touch()\n"
        "    while not gate.exists(): time.sleep(0.01)\n"
        "    return 'at last'\n"
    )
    with client_of(tmp_path, agents) as client:
        client.post("/apps/slow_app/users/u/sessions/s").raise_for_status()
        body = {
            "appName": "slow_app",
            "userId": "u",
            "sessionId": "s",
            "newMessage": {"parts": [{"text": "x"}]},
        }
        answers: list[Any] = []
        talking = threading.Thread(target=lambda: answers.append(client.post("/run", json=body).json()))
        late = threading.Timer(60, (slow / "gate").touch)  # or this test would never end
        late.start()
        talking.start()
        while not (slow / "begun").exists():
            time.sleep(0.02)
        assert client.get("/list-apps").status_code == 200
        assert client.get("/dev/apps/weather_app/eval_sets").json() == ["s"]
        assert not (slow / "gate").exists()  # it was answered while the agent blocked
        (slow / "gate").touch()
        late.cancel()
        talking.join()
        assert answers[0][-1]["content"]["parts"][0]["text"] == "at last"


def test_messages_of_one_session_are_answered_one_after_the_other(tmp_path: Path, agents: Path) -> None:
    own = agents / "counting_app"
    own.mkdir()
    (own / "agent.py").write_text(
        "import asyncio\nfrom proctor import Event\n"
        "class Counts:\n"
        "    async def answer(self, message, session):\n"
        "        seen = session.state.get('n', 0)\n"
        "        await asyncio.sleep(0.05)\n"
        "        yield Event.changed({'n': seen + 1})\n"
        "root_agent = Counts()\n"
    )
    with client_of(tmp_path, agents) as client:
        client.post("/apps/counting_app/users/u/sessions/s").raise_for_status()
        body = {
            "appName": "counting_app",
            "userId": "u",
            "sessionId": "s",
            "newMessage": {"parts": [{"text": "x"}]},
        }
        threads = [threading.Thread(target=lambda: client.post("/run", json=body)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert client.get("/apps/counting_app/users/u/sessions/s").json()["state"] == {"n": 6}


@pytest.mark.parametrize(
    ("code", "expected_message"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("import sys; sys.exit(3)", "SystemExit: the agent called sys.exit(3)"),
        ("yield 'text'", "AgentError: the agent yielded str 'text'"),
        ("import asyncio; asyncio.get_running_loop().stop(); yield 4", "AgentError: the agent yielded int 4"),
    ],
)  # fmt: skip
def test_what_an_agent_does_wrong_is_reported_and_the_next_message_is_answered(
    tmp_path: Path, agents: Path, code: str, expected_message: str
) -> None:
    own = agents / "bad_app"
    own.mkdir()
    (own / "agent.py").write_text(
        "from proctor import Event\n"
        "class Bad:\n"
        "    async def answer(self, message, session):\n"
        "        if message.parts[0].text == 'bad':\n"
        f"            {code}\n"
        "        yield Event.said('fine')\n"
        "root_agent = Bad()\n"
    )
    with client_of(tmp_path, agents) as client:
        client.post("/apps/bad_app/users/u/sessions/s").raise_for_status()

        def ask(text: str) -> Any:
            message = {"parts": [{"text": text}]}
            return client.post("/run", json={"appName": "bad_app", "userId": "u", "sessionId": "s", "newMessage": message})  # fmt: skip

        broken = ask("bad")
        assert broken.status_code == 500
        assert broken.json()["detail"].startswith(expected_message)
        assert ask("good").json()[-1]["content"]["parts"][0]["text"] == "fine"


def test_a_message_that_is_none_is_refused(client: TestClient) -> None:
    client.post("/apps/weather_app/users/u/sessions/s").raise_for_status()
    whole = {
        "appName": "weather_app",
        "userId": "u",
        "sessionId": "s",
        "newMessage": {"parts": [{"text": "x"}]},
    }
    for change, status, expected_message in (
        ({"newMessage": None}, 400, "newMessage is missing"),
        ({"newMessage": {"parts": []}}, 400, "no parts"),
        ({"newMessage": None, "invocationId": "e-1"}, 400, "cannot resume"),
        ({"newMessage": "hello"}, 422, "newMessage"),
        ({"appName": None}, 400, "appName is missing"),
        ({"appName": "unknown"}, 404, "No app named 'unknown'"),
        ({"userId": None}, 422, "userId"),
    ):
        answer = client.post("/run", json={**whole, **change})
        assert answer.status_code == status, (change, answer.text)
        assert expected_message in answer.text


def test_google_adk_s_page_is_off_unless_asked_for(client: TestClient) -> None:
    answer = client.get("/dev-ui/")
    assert answer.status_code == 404
    assert "--adk-ui" in answer.json()["detail"]
