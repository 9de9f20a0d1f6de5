"""What one client or one agent does wrong harms no one else and is never a server error."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.web.server.adk.wire import json_bytes, jsonable
from proctor.web.server.agent_loop import AgentLoop
from tests.web.adk.adk_apps import client_of

ECHO = "def echo(text: str) -> str:\n    return 'you wrote ' + text\n\n\nroot_agent = echo\n"
SESSIONS = "/apps/echo/users/u/sessions"


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    folder = tmp_path / "agents" / "echo"
    folder.mkdir(parents=True)
    (folder / "agent.py").write_text(ECHO)
    return folder


def _client(echo: Path) -> TestClient:
    return client_of(echo.parents[1], echo.parent)


@pytest.mark.slow
def test_all_who_wait_for_an_agent_that_cannot_be_loaded_get_the_reason(echo: Path) -> None:
    (echo / "agent.py").write_text("import a_module_that_is_missing\n")
    answers: list[str] = []
    with _client(echo) as client:

        def ask() -> None:
            answers.append(client.post(SESSIONS).json()["detail"])

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 6
    assert all("a_module_that_is_missing" in answer for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "tools"),
    [
        pytest.param("from . import tools\necho = tools.ech\nroot_agent = echo\n", ECHO, id="a slip in the agent"),
        pytest.param("from .tools import echo\nroot_agent = echo\n", "x = 1\n", id="a slip in what it imports"),
        pytest.param("from .tools import echo\nagent = echo\n", ECHO, id="no root_agent"),
    ],
)  # fmt: skip
def test_an_agent_that_is_mended_is_loaded_without_a_restart(echo: Path, agent: str, tools: str) -> None:
    (echo / "agent.py").write_text(agent)
    (echo / "tools.py").write_text(tools)
    with _client(echo) as client:
        assert client.post(SESSIONS).status_code == 500
        (echo / "agent.py").write_text("from .tools import echo\n\n\nroot_agent = echo\n")
        (echo / "tools.py").write_text(f"# mended\n{ECHO}")
        assert client.post(SESSIONS).status_code == 200


@pytest.mark.parametrize("how", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("in_a_task", [False, True], ids=["itself", "in its own task"])
def test_the_loop_of_all_agents_outlives_what_one_raises(
    how: type[BaseException], *, in_a_task: bool
) -> None:
    loop = AgentLoop()

    async def quits() -> None:
        raise how

    async def starts() -> None:
        await asyncio.ensure_future(quits())

    async def lives() -> int:
        return 7

    async def main() -> int:
        with pytest.raises(Exception, match=how.__name__):
            await asyncio.wait_for(loop.run(starts() if in_a_task else quits()), 30)
        return await asyncio.wait_for(loop.run(lives()), 30)

    assert asyncio.run(main()) == 7


def test_an_agent_that_raises_keyboard_interrupt_fails_its_turn_only(echo: Path) -> None:
    code = "def quits(text: str) -> str:\n    raise KeyboardInterrupt\n\n\nroot_agent = quits\n"
    (echo / "agent.py").write_text(code)
    body = {"appName": "echo", "userId": "u", "sessionId": "s", "newMessage": {"parts": [{"text": "x"}]}}
    with _client(echo) as client:
        client.post(f"{SESSIONS}/s").raise_for_status()
        answer = client.post("/run", json=body)
        assert (answer.status_code, answer.json()["detail"]) == (
            500, "KeyboardInterrupt: the agent raised KeyboardInterrupt",
        )  # fmt: skip
        assert client.get(f"{SESSIONS}/s").status_code == 200


def test_a_state_that_is_not_text_spoils_no_list_of_sessions(echo: Path) -> None:
    with _client(echo) as client:
        body = b'{"state": {"\\ud800": "\\udfff", "a": 1}}'
        made = client.post(SESSIONS, content=body, headers={"content-type": "application/json"})
        assert made.json()["state"] == {"\N{REPLACEMENT CHARACTER}": "\N{REPLACEMENT CHARACTER}", "a": 1}
        assert client.get(SESSIONS).status_code == 200


@pytest.mark.parametrize("by_id", [False, True], ids=["as a body", "by its id"])
def test_a_state_that_is_deeper_than_can_be_shown_is_refused(echo: Path, *, by_id: bool) -> None:
    deep = b'{"a": %s1%s}' % (b"[" * 400, b"]" * 400)
    with _client(echo) as client:
        answer = client.post(
            f"{SESSIONS}/s" if by_id else SESSIONS,
            content=deep if by_id else b'{"state": %s}' % deep,
            headers={"content-type": "application/json"},
        )
        assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "too_deep")
        assert client.get(SESSIONS).json() == []


def _circle() -> dict[str, Any]:
    found: dict[str, Any] = {"a": 1}
    found["itself"] = found
    return found


def _deep() -> Any:
    found: Any = 1
    for _ in range(400):
        found = [found]
    return found


@pytest.mark.parametrize("value", [_circle(), _deep(), {"\ud800": [{"\udfff": "\ud800"}]}], ids=["circle", "deep", "half"])  # fmt: skip
def test_everything_an_agent_keeps_in_its_state_can_be_shown(value: Any) -> None:
    assert json_bytes(jsonable({"state": value}))
    assert json_bytes({"state": value})


@pytest.mark.parametrize("timestamp", [-1e300, 1e300, 0, -1])
def test_times_of_events_that_are_no_times_spoil_no_trace(echo: Path, timestamp: float) -> None:
    event = {
        "author": "user",
        "invocationId": "i",
        "timestamp": timestamp,
        "content": {"parts": [{"text": "x"}]},
    }
    with _client(echo) as client:
        events = [event, {**event, "author": "echo", "id": "known"}]
        made = client.post(SESSIONS, json={"sessionId": "s", "events": events})
        assert made.status_code == 200
        assert len(client.get("/dev/apps/echo/debug/trace/session/s").json()) == 3
        assert client.get("/dev/apps/echo/debug/trace/unknown").status_code == 404


def test_an_event_comes_with_a_text_as_id_and_its_time_is_a_number(echo: Path) -> None:
    with _client(echo) as client:
        refused = client.post(SESSIONS, json={"events": [{"author": "user", "id": 5}]})
        assert (refused.status_code, refused.json()["detail"]) == (422, "events.0.id: expected a text")
        made = client.post(SESSIONS, json={"events": [{"author": "user", "timestamp": "1.5"}]}).json()
        assert (made["events"][0]["timestamp"], made["lastUpdateTime"]) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("method", "kind"), [("GET", "eval-sets"), ("DELETE", "eval-sets"), ("GET", "eval-results")]
)
def test_an_id_that_is_longer_than_a_name_can_be_is_not_there(echo: Path, kind: str, method: str) -> None:
    (echo / ".adk" / "eval_history").mkdir(parents=True)
    with _client(echo) as client:
        assert client.request(method, f"/dev/apps/echo/{kind}/{'x' * 300}").status_code == 404


_TURN = {"userContent": {"parts": [{"text": "x"}]}, "finalResponse": {"parts": [{"text": "you wrote x"}]}}
SETS, CASES = "/dev/apps/echo/eval-sets", [{"evalId": name, "conversation": [_TURN]} for name in "ab"]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"evalId": "a", "eval_id": "b"}, id="an id that another case has"),
        pytest.param({"eval_id": "b", "evalId": "a"}, id="the other way round"),
        pytest.param({"conversation": [], "sessionInput": None, "session_input": None}, id="a field"),
    ],
)
def test_a_case_that_has_a_field_in_both_spellings_changes_nothing(echo: Path, sent: dict[str, Any]) -> None:
    with _client(echo) as client:
        client.post(SETS, json={"evalSet": {"eval_set_id": "s", "eval_cases": CASES}}).raise_for_status()
        before = (echo / "s.evalset.json").read_bytes()
        answer = client.put(f"{SETS}/s/eval-cases/a", json=sent)
        assert answer.status_code == 400
        assert "both spellings" in answer.json()["detail"]
        assert (echo / "s.evalset.json").read_bytes() == before


def test_a_request_that_has_a_field_in_both_spellings_is_refused(echo: Path) -> None:
    with _client(echo) as client:
        answer = client.post(SESSIONS, json={"sessionId": "one", "session_id": "two"})
        assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "given_twice")
        assert client.get(SESSIONS).json() == []


def test_a_set_that_is_unreadable_is_not_made(echo: Path) -> None:
    with _client(echo) as client:
        answer = client.post(SETS, json={"evalSet": {"eval_set_id": "s", "eval_cases": [*CASES, CASES[0]]}})
        assert answer.status_code == 400
        assert "two cases have the id 'a'" in answer.json()["detail"]
        assert client.get(SETS).json() == {"evalSetIds": []}


def test_deleting_the_case_of_two_dots_deletes_no_set(echo: Path) -> None:
    """google-adk's page does not encode ids: every browser makes `…/evals/..` the path of the set."""
    with _client(echo) as client:
        client.post("/dev/apps/echo/eval_sets/kept").raise_for_status()
        for path in ("/dev/apps/echo/eval_sets/kept", "/dev/apps/echo/eval_sets/kept/"):
            assert client.delete(path).status_code in {404, 405}
        assert client.get("/dev/apps/echo/eval_sets").json() == ["kept"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param({"evalIds": ["b"]}, "evalIds", id="two lists of cases"),
        pytest.param(
            {"evalMetrics": [{"metricName": "response_match_score", "threshold": 0.8, "criterion": {"threshold": 0.1}}]},
            "the threshold 0.8, and its criterion 0.1",
            id="two thresholds",
        ),
    ],
)  # fmt: skip
def test_of_two_things_that_are_asked_for_none_is_dropped(
    echo: Path, more: dict[str, Any], message: str
) -> None:
    turn = {"userContent": {"parts": [{"text": "x"}]}, "finalResponse": {"parts": [{"text": "you wrote x"}]}}
    cases = [{"evalId": name, "conversation": [turn]} for name in "ab"]
    metric = {"metricName": "response_match_score", "threshold": 0.8}
    asked: dict[str, Any] = {"evalCaseIds": ["a"], "evalMetrics": [metric]}
    with _client(echo) as client:
        made = client.post(
            "/dev/apps/echo/eval-sets", json={"evalSet": {"eval_set_id": "s", "eval_cases": cases}}
        )
        assert made.status_code == 200
        answer = client.post("/dev/apps/echo/eval-sets/s/run", json=asked | more)
        assert answer.status_code == 400
        assert message in answer.json()["detail"]
