"""Ids in the addresses of the ADK-compatible API: one that could lead out of a folder is refused on every route."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.routing import iter_route_contexts
from starlette.testclient import TestClient

from proctor.web.server.adk.routes import adk_router
from tests.web.adk.adk_apps import PLAIN, client_of, write_app

CASE = {"eval_id": "c1", "conversation": [{"user_content": {"parts": [{"text": "hello"}]}}]}
THERE = {
    "app_name": "weather_app",
    "user_id": "u",
    "session_id": "s",
    "eval_set_id": "s",
    "eval_case_id": "c1",
    "artifact_name": "a.txt",
    "event_id": "e",
    "eval_result_id": "r",
    "version_id": "0",
}
NAMES_OF_FILES = ("app_name", "eval_set_id", "eval_result_id")
LEAD_ELSEWHERE = ["..\\x", "..", ".", "C:x", "c:\\x", "a\\b", "\\\\host\\share", "a\0b", "\0"]
ODD_ALONE = ["...", "con", "%2e%2e", "~", " ", "a\nb", "\u202ex", "\U0001f600", "x" * 300]
BODIES: dict[str, Any] = {
    "eval-sets": {"eval_set": {"eval_set_id": "new", "eval_cases": []}},
    "add-session": {"eval_id": "n", "session_id": "s", "user_id": "u"},
    "add_session": {"eval_id": "n", "session_id": "s", "user_id": "u"},
    "run": {"eval_metrics": [{"metric_name": "response_match_score", "threshold": 0.8}]},
    "run_eval": {"eval_metrics": [{"metric_name": "response_match_score", "threshold": 0.8}]},
    "memory": {"session_id": "s"},
    "artifacts": {"filename": "a.txt", "artifact": {"text": "x"}},
    "{session_id}": {"state_delta": {}},
    "{eval_case_id}": CASE,
}


def routes() -> list[Any]:
    """Every route with a parameter in its path, with each of its methods."""
    return [
        pytest.param(method, context.path, id=f"{method} {context.path}")
        for context in iter_route_contexts(adk_router().routes)
        if context.path and "{" in context.path and "{path:path}" not in context.path
        for method in sorted({*(context.methods or ())} - {"HEAD"})
    ]


def parameters(path: str) -> list[str]:
    return re.findall(r"{(\w+)(?::\w+)?}", path)


def address(path: str, **odd: str) -> str:
    def fill(found: re.Match[str]) -> str:
        text = {**THERE, **odd}[found[1]]
        return "%2E" * len(text) if text in {".", ".."} else quote(text, safe="")

    return re.sub(r"{(\w+)(?::\w+)?}", fill, path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def client(root: Path) -> Iterator[TestClient]:
    folder = write_app(root / "agents", PLAIN, {"*": [{"parts": [{"text": "Hello."}]}]})
    (folder / "s.evalset.json").write_text(json.dumps({"eval_set_id": "s", "eval_cases": [CASE]}))
    with client_of(root, folder.parent) as client:
        yield client


def ask(client: TestClient, method: str, path: str, **odd: str) -> Any:
    body = None if method in {"GET", "DELETE"} else BODIES.get(path.rpartition("/")[2])
    return client.request(method, address(path, **odd), json=body)


@pytest.mark.nightly(check=12)
@pytest.mark.parametrize(("method", "path"), routes())
def test_an_id_that_could_lead_elsewhere_is_refused(client: TestClient, method: str, path: str) -> None:
    for name in set(parameters(path)) & {*NAMES_OF_FILES}:
        for odd in LEAD_ELSEWHERE:
            answer = ask(client, method, path, **{name: odd})
            assert answer.status_code == 400, (name, odd, answer.text)
            assert "cannot be part of a path" in answer.json()["detail"]


@pytest.mark.nightly(check=5)
@pytest.mark.slow  # every route with every id
@pytest.mark.parametrize(("method", "path"), routes())
def test_no_odd_id_breaks_the_server_or_leaves_the_folder(
    client: TestClient, root: Path, method: str, path: str
) -> None:
    for name in parameters(path):
        for odd in [*LEAD_ELSEWHERE, *ODD_ALONE, "a/b", "../x"]:
            answer = ask(client, method, path, **{name: odd})
            assert answer.status_code < 500, (name, odd, answer.text)
    assert {file.parent.name for file in root.rglob("*.evalset.json")} == {"weather_app"}


@pytest.mark.parametrize("kind", ["eval-sets", "eval_sets", "eval-results", "eval_results"])
@pytest.mark.parametrize("app", ["unknown", "...", "con", "a b"])
def test_an_app_that_is_not_there_has_empty_lists(client: TestClient, kind: str, app: str) -> None:
    answer = client.get(f"/dev/apps/{quote(app)}/{kind}")
    assert answer.status_code == 200
    assert answer.json() in ([], {"evalSetIds": []}, {"evalResultIds": []})
