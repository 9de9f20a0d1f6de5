"""Which apps there are, and how many sessions each may have."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from proctor.web.server.adk import session_host
from proctor.web.server.adk.apps import apps_of
from tests.web.adk.adk_apps import PLAIN, client_of, write_app

AGENT = "def root_agent(message):\n    return 'hi'\n"


def write(root: Path, *files: str) -> None:
    for name in files:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(AGENT if file.suffix == ".py" else "")


@pytest.mark.parametrize(
    ("files", "agents", "names"),
    [
        (["a/b/agent.py", "a/c/agent.py"], "a", ["b", "c"]),
        (["a/c/agent.py", "a/b/root_agent.yaml", "a/d/__init__.py", "a/e/agent/__init__.py"], "a", ["b", "c", "d", "e"]),
        (["a/agent.py"], "a", ["a"]),
        (["a/root_agent.yaml"], "a", ["a"]),
        (["a/__init__.py", "a/b/agent.py"], "a", ["b"]),
        (["a/__init__.py"], "a", ["a"]),
        (["a/x.txt", "a/.hidden/agent.py", "a/__pycache__/agent.py", "a/tests/agent.py", "a/n/readme.md"], "a", []),
        (["b/agent.py"], None, ["b"]),
    ],
)  # fmt: skip
def test_a_folder_with_an_agent_is_an_app(
    tmp_path: Path, files: list[str], agents: str | None, names: list[str]
) -> None:
    write(tmp_path, *files)
    found = apps_of(tmp_path / agents if agents else None, tmp_path)
    assert list(found) == names
    assert all(app.name == app.folder.name for app in found.values())


def test_without_a_folder_the_project_s_settings_name_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "bots/one/agent.py", "bots/two/agent.py", "three/agent.py")
    (tmp_path / "proctor.toml").write_text('agent = ["bots/two", "http+sse://127.0.0.1:1/x"]\n')
    assert list(apps_of(None, tmp_path)) == ["two"]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(session_host, "MOST_SESSIONS", 3)
    write_app(tmp_path / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    with client_of(tmp_path, tmp_path / "agents") as client:
        yield client


@pytest.mark.slow
def test_the_session_that_no_one_used_for_longest_makes_room(client: TestClient) -> None:
    at = "/apps/weather_app/users/u/sessions"
    for name in ("a", "b", "c"):
        client.post(f"{at}/{name}").raise_for_status()
    client.get(f"{at}/a").raise_for_status()
    client.post(f"{at}/d").raise_for_status()
    assert {one["id"] for one in client.get(at).json()} == {"a", "c", "d"}


ANSWERING = """
from pathlib import Path

from .words import WORD

PROMPT = Path(__file__).with_name("prompt.md").read_text()


def root_agent(message):
    return f"{PROMPT} {WORD}"
"""
SET = {
    "eval_set_id": "set1",
    "eval_cases": [
        {
            "eval_id": "c1",
            "conversation": [
                {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "good day"}]}}
            ],
        }
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("agent.py", "def root_agent(message):\n    return 'good day'\n"),
        ("words.py", "WORD = 'day'\n"),
        ("prompt.md", "good day"),
    ],
)
@pytest.mark.parametrize("was_talked_to", [True, False], ids=["talked to before", "only evaluated"])
def test_an_evaluation_is_of_the_agent_as_its_files_are_now(
    tmp_path: Path, file: str, text: str, was_talked_to: bool
) -> None:
    folder = tmp_path / "agents" / "bot"
    folder.mkdir(parents=True)
    for name, message in {
        "agent.py": ANSWERING,
        "words.py": "WORD = 'morning'\n",
        "prompt.md": "good",
    }.items():
        (folder / name).write_text(message)
    (folder / "set1.evalset.json").write_text(json.dumps(SET))
    metrics = {"evalMetrics": [{"metricName": "response_match_score", "threshold": 0.75}]}
    with client_of(tmp_path, tmp_path / "agents") as client:

        def evaluated() -> Any:
            return client.post("/dev/apps/bot/eval-sets/set1/run", json=metrics)

        if was_talked_to:
            client.post("/apps/bot/users/u/sessions/s").raise_for_status()
        assert evaluated().json()["runEvalResults"][0]["finalEvalStatus"] == 2
        (folder / file).write_text("def root_agent(:\n" if file == "agent.py" else text)
        if file == "agent.py":
            assert "SyntaxError" in evaluated().json()["detail"]
            (folder / file).write_text(text)
        assert evaluated().json()["runEvalResults"][0]["finalEvalStatus"] == 1


@pytest.mark.slow
def test_what_evaluations_write_into_an_agent_s_folder_does_not_change_the_agent(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "bot"
    folder.mkdir(parents=True)
    count = tmp_path / "imported"
    (folder / "agent.py").write_text(
        f"with open({str(count)!r}, 'a') as file:\n    file.write('.')\n\n\n{AGENT}"
    )
    (folder / "set1.evalset.json").write_text(json.dumps(SET))
    metrics = {"evalMetrics": [{"metricName": "response_match_score", "threshold": 0.75}]}
    with client_of(tmp_path, tmp_path / "agents") as client:
        for _ in range(3):
            client.post("/dev/apps/bot/eval-sets/set1/run", json=metrics).raise_for_status()
            client.post("/dev/apps/bot/eval_sets/another").raise_for_status()
            client.delete("/dev/apps/bot/eval-sets/another").raise_for_status()
    assert count.read_text() == "."
