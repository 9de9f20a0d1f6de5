"""A project whose folder cannot be written: that is reported, and is not a bug of the server's."""

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.runs.active_runs import ChildRuns
from tests.web.live_project import ASKED, make_project

CHOSEN = {**ASKED, "criteria": {"response_match_score": 0.5}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project; who may write everything, as root may, cannot make a folder where a file is."""
    folder = make_project(tmp_path, 1)
    (folder / ".proctor").write_text("")
    return folder


@pytest.mark.parametrize("asked", [ASKED, CHOSEN], ids=["a run", "with its own metrics"])
@pytest.mark.parametrize("path", ["/api/runs", "/api/estimates"])
def test_where_nothing_can_be_kept_nothing_is_run(folder: Path, path: str, asked: dict[str, Any]) -> None:
    context = ServerContext(root=folder, store_url=folder / "runs.sqlite3")
    app = create_app(context)
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        answer = client.post(path, json=asked)
    assert answer.status_code == 409, answer.text
    assert ".proctor" in answer.json()["detail"]
    assert "writable" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("number", "status"), [(errno.EACCES, 409), (errno.EROFS, 409), (errno.ENOSPC, 409), (errno.EIO, 500)]
)
def test_system_errors_are_distinguished_from_bugs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    def refuses(*_: object) -> None:
        raise OSError(number, "refused", "somewhere")

    monkeypatch.setattr(ChildRuns, "ask", refuses)
    folder = make_project(tmp_path, 1)
    app = create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3"))
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        answer = client.post("/api/estimates", json=ASKED)
    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/api/eval-sets", "/api/runs", "/api/judges", "/api/about"])
def test_a_folder_that_was_removed_under_the_server_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """There is still a set, in the agents' folder: only the one where the server works is gone."""
    root, agents = tmp_path / "project", tmp_path / "agents"
    for folder in (root, agents):
        folder.mkdir()
    make_project(agents, 1)
    monkeypatch.chdir(root)
    app = create_app(ServerContext(root=root, store_url=root / "runs.sqlite3", agents=agents))
    with TestClient(app, base_url="http://127.0.0.1:8000", raise_server_exceptions=False) as client:
        shutil.rmtree(root)
        answer = client.get(path)
    assert answer.status_code == 409, answer.text
    assert "was removed" in answer.json()["detail"]
