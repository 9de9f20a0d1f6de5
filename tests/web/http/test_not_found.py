"""Addresses where nothing is, methods that an address does not take, and HEAD, which every address takes that GET has."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.http.static import SCREENS
from tests.web.live_project import make_project, serving
from tests.web.raw_requests import HOST, ask, routes_of

JSON = (("host", HOST), ("content-type", "application/json"))


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("project")
    return create_app(ServerContext(root=folder, store_url=folder / "runs.sqlite3"))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
@pytest.mark.parametrize(
    "path",
    ["/api/nothing", "/api/runs/", "/api/runs/a/b/c", "/api/chats/a/b/stop", "/api/eval-sets/../secret/case"],
)
def test_an_unknown_address_has_no_method(app: FastAPI, method: str, path: str) -> None:
    answer = ask(app, method, path, JSON)
    assert answer.status == 404
    assert method == "HEAD" or "nothing at this address" in answer.detail


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/runs", "GET, POST"),
        ("PATCH", "/api/eval-sets/x/case", "DELETE, GET, POST, PUT"),
        ("GET", "/api/estimates", None),
        ("PUT", "/run", "POST"),
        ("DELETE", "/list-apps", "GET"),
        ("PUT", "/runs/latest", "GET"),
    ],
)
def test_a_method_that_is_not_allowed_lists_those_that_are(
    app: FastAPI, method: str, path: str, allowed: str | None
) -> None:
    answer = ask(app, method, path, JSON)
    if allowed is None:  # a page might have been meant
        assert answer.status == 404
        return
    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    assert allowed in answer.detail


@pytest.mark.slow
def test_every_address_that_answers_get_answers_head_alike_and_without_a_body(app: FastAPI) -> None:
    with TestClient(app, base_url=f"http://{HOST}") as client:
        paths = {path for method, path in routes_of(app) if method == "GET" and not path.endswith("/events")}
        for path in sorted(paths):
            got, head = client.get(path), client.head(path)
            assert (head.status_code, head.content) == (got.status_code, b""), path
            assert head.headers.get("content-type") == got.headers.get("content-type"), path
            assert head.headers.get("etag") == got.headers.get("etag"), path
    assert len(paths) > 40


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = make_project(tmp_path_factory.mktemp("served"), 1)
    with serving(ServerContext(root=folder, store_url=Path(folder) / "runs.sqlite3")) as server:
        yield server.port


@pytest.mark.parametrize("path", ["/", "/api/about", "/api/nothing", "/health"])
def test_on_the_wire_a_head_ends_with_its_headers(port: int, path: str) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=10)) as connection:
        connection.sendall(
            f"HEAD {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
            f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        )
        message = b""
        while part := connection.recv(65_536):
            message += part
    first, second, body = message.split(b"\r\n\r\n")  # between the two there is nothing
    assert first.startswith(b"HTTP/1.1 ")
    assert second.startswith(b"HTTP/1.1 200")
    assert body == b'{"status":"ok"}'


@pytest.mark.parametrize(
    "path", ["/nonsense", "/debug/trace/none", "/builder/app/x", "/docs", "/run", "/openapi.json"]
)
@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_a_program_gets_no_page_where_none_is(app: FastAPI, path: str, accept: str) -> None:
    answer = ask(app, "GET", path, (("host", HOST), *((("accept", accept),) if accept else ())))
    assert answer.status == 404
    assert "text/html" not in answer.headers["content-type"]


def test_every_address_of_the_page_is_known_to_the_server() -> None:
    routes = (Path(__file__).parents[3] / "ui/src/app/routes.tsx").read_text(encoding="utf-8")
    begins = {path.split("/")[1] for path in re.findall(r'path: "(/[^"]*)"', routes)}
    assert len(begins) > 6
    assert begins <= SCREENS


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/apps/a/users/u/sessions", "GET, POST"),
        ("PUT", "/apps/a/users/u/sessions/s", "DELETE, GET, PATCH, POST"),
        ("DELETE", "/dev/apps/a/eval_sets/x", "GET, POST"),
        ("POST", "/dev/apps/a/metrics-info", "GET"),
        ("POST", "/dev/apps/a/tests/run", None),
        ("PUT", "/apps/a/eval_sets/x", None),
    ],
)
def test_a_method_that_google_adk_does_not_take_either_is_reported(
    app: FastAPI, method: str, path: str, allowed: str | None
) -> None:
    answer = ask(app, method, path, JSON)
    assert (answer.status, answer.headers.get("allow")) == (405 if allowed else 404, allowed)
