"""Which apps there are, and how many sessions each may have."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from proctor.server.adk import own_host
from proctor.server.adk.apps import apps_of
from tests.server.adk_apps import PLAIN, client_of, write_app

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
    monkeypatch.setattr(own_host, "MOST_SESSIONS", 3)
    write_app(tmp_path / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    with client_of(tmp_path, tmp_path / "agents") as client:
        yield client


def test_the_session_that_nobody_used_for_longest_makes_room(client: TestClient) -> None:
    at = "/apps/weather_app/users/u/sessions"
    for name in ("a", "b", "c"):
        client.post(f"{at}/{name}").raise_for_status()
    client.get(f"{at}/a").raise_for_status()
    client.post(f"{at}/d").raise_for_status()
    assert {one["id"] for one in client.get(at).json()} == {"a", "c", "d"}
