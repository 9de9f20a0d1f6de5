"""The built page: its files and nothing next to them, at every address that is the page's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from proctor.web.server.app import create_app
from proctor.web.server.context import ServerContext
from proctor.web.server.http.static import file_of
from tests.web.raw_requests import HOST, ask

PAGE = "<!doctype html><title>page</title>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built page, with things next to it that are private."""
    tmp_path = tmp_path_factory.mktemp("built")
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text(PAGE)
    (page / "assets" / "app-1a2b.js").write_text("let x = 1;")
    (page / "assets" / "app-1a2b.css").write_text("a {}")
    (page / "assets" / "app-1a2b.js.map").write_text("{}")
    (page / "notes.py").write_text("secret = 1")
    (page / ".hidden.js").write_text("secret")
    (tmp_path / "secret.js").write_text("secret")
    (page / "link.js").symlink_to(tmp_path / "secret.js")
    (page / "linked").symlink_to(tmp_path)
    return page


@pytest.fixture(autouse=True)
def _named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_PAGE_DIR", str(folder))


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    context = ServerContext(root=folder.parent, store_url=folder.parent / "store.sqlite3")
    with TestClient(create_app(context), base_url="http://127.0.0.1:8000") as one:
        yield one


@pytest.mark.parametrize(
    "path", ["/", "/runs", "/runs/latest", "/runs/a1/cases/7?trial=1", "/eval-sets/x/cases/y", "/history"]
)
def test_addresses_of_the_page_are_the_page(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.text, answer.headers["cache-control"]) == (200, PAGE, "no-cache")


@pytest.mark.parametrize(("name", "kind"), [("js", "text/javascript"), ("css", "text/css")])
def test_what_has_a_hash_in_its_name_is_kept_for_ever(client: TestClient, name: str, kind: str) -> None:
    answer = client.get(f"/assets/app-1a2b.{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/api/nothing", "/api/", "/api", "/assets/gone.js", "/assets/"])
def test_what_is_not_there_is_not_the_page(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "there is nothing at this address")


@pytest.mark.parametrize("path", ["/favicon.ico", "/notes.py", "/eval-sets/a.evalset.json"])
def test_what_looks_like_a_file_is_the_page_only_for_who_opens_a_page(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"Accept": "text/html"}).text == PAGE
    assert client.get(path, headers={"Accept": "*/*"}).status_code == 404


OUTSIDE = [
    "../secret.js", "..", "assets/../../secret.js", "./../secret.js", "assets/..//../secret.js", "..\\secret.js",
    "assets\\..\\..\\secret.js", "%2e%2e/secret.js", "..%2fsecret.js", "..%5csecret.js", "%252e%252e%252fsecret.js",
    "/etc/passwd.js", "//etc/passwd.js", "C:/secret.js", "C:secret.js", "file:///secret.js", "link.js", "linked/secret.js",
    ".hidden.js", "assets/.hidden.js", "secret.js\0.html", "index.html\0", "assets/", "assets", "", ".", "\u2025/secret.js",
    "\uff0e\uff0e/secret.js", "\uff0e\uff0e\uff0fsecret.js", "..\u2215secret.js", "a" * 5000 + ".js", "assets/app-1a2b.js/",
    "assets/app-1a2b.js/x.js", "assets/app-1a2b.js::$DATA", "assets/app-1a2b.js ", "CON.js", "aux/x.js", "~/secret.js",
    "notes.py", "assets/app-1a2b.js.map", "index.html?x.js", "\n/secret.js", "index.HTML\r\n", "secret.js", "page/index.html",
    "..;/secret.js", "....//secret.js", "assets/%00.js", "\ud800.js", "\u202e.js",
]  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: ascii(path)[:40])
def test_no_name_reaches_anything_else(folder: Path, path: str) -> None:
    assert file_of(folder, path) is None


@pytest.mark.parametrize(
    "path",
    [path for path in OUTSIDE if path.isascii() and "?" not in path],
    ids=lambda path: ascii(path)[:40],
)
def test_no_address_reaches_anything_else(client: TestClient, path: str) -> None:
    answer = ask(client.app, "GET", f"/{path}", [("host", HOST), ("accept", "text/html")])
    assert b"secret" not in answer.body
    assert answer.status == 404 or answer.body == PAGE.encode()


def test_the_pages_own_files_are_found(folder: Path) -> None:
    assert file_of(folder, "index.html") == folder / "index.html"
    assert file_of(folder, "assets/app-1a2b.js") == folder / "assets" / "app-1a2b.js"


def test_where_nothing_is_built_the_page_shows_how(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PROCTOR_PAGE_DIR", str(tmp_path / "nothing"))
    answer = client.get("/", headers={"Accept": "text/html"})
    assert (answer.status_code, "make ui" in answer.text) == (404, True)
    assert client.get("/api/about").status_code == 200
