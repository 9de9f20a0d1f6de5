"""Who is answered: by which name, from which page, with which token, with what body. For every route there is."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from proctor.web.server.app import ETags, create_app
from proctor.web.server.context import Access, ServerContext
from proctor.web.server.security.middleware import CSP, MOST_BODY, MOST_HEADERS
from tests.web.raw_requests import HOST, Answer, ask, open_socket, routes_of

TOKEN = "a-token-of-some-length"
SAFE = {"GET", "HEAD"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> ServerContext:
    folder = tmp_path_factory.mktemp("project")
    return ServerContext(root=folder, store_url=folder / "store.sqlite3")


@pytest.fixture(scope="module")
def app(here: ServerContext) -> FastAPI:
    return create_app(here)


@pytest.fixture(scope="module")
def guarded(here: ServerContext) -> FastAPI:
    """The same server, started with a token."""
    return create_app(replace(here, access=Access(token=TOKEN)))


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of the requests that came past the outermost layer; none of them comes any further."""
    found: list[str] = []

    async def stop(_self: ETags, scope: Any, _receive: Any, send: Any) -> None:
        found.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    monkeypatch.setattr(ETags, "__call__", stop)
    return found


def http_routes(app: FastAPI) -> list[tuple[str, str]]:
    return [(method, path) for method, path in routes_of(app) if method != "WEBSOCKET"]


def test_there_are_routes_of_every_kind(app: FastAPI) -> None:
    methods = {method for method, _ in routes_of(app)}
    assert {"GET", "POST", "PUT", "DELETE"} <= methods
    assert {"/api/runs", "/api/runs/1/events", "/list-apps", "/1"} <= {path for _, path in routes_of(app)}


# --- by which name (DNS rebinding) -----------------------------------------------------------------------------------

WRONG_HOSTS = {
    "another name": [("host", "evil.example:8000")],
    "an address with a name behind it": [("host", "127.0.0.1.evil.example:8000")],
    "a name that ends in ours": [("host", "evillocalhost:8000")],
    "a name below ours": [("host", "evil.localhost:8000")],
    "a dot at the end": [("host", "localhost.:8000")],
    "user information": [("host", "localhost:8000@evil.example")],
    "user information with our address": [("host", "evil@127.0.0.1:8000")],
    "two": [("host", HOST), ("host", "evil.example:8000")],
    "the same twice": [("host", HOST), ("host", HOST)],
    "two in one": [("host", f"{HOST}, evil.example")],
    "none": [],
    "an empty one": [("host", "")],
    "another port": [("host", "localhost:8001")],
    "no port": [("host", "127.0.0.1")],
    "a port that is none": [("host", "127.0.0.1:80o0")],
    "no digits in the port": [("host", "127.0.0.1:")],
    "only by X-Forwarded-Host": [("x-forwarded-host", HOST)],
    "another name, ours forwarded": [("host", "evil.example"), ("x-forwarded-host", HOST)],
    "an address elsewhere": [("host", "192.0.2.7:8000")],
    "every address": [("host", "0.0.0.0:8000")],
    "ours as one number": [("host", "2130706433:8000")],
    "ours in hex": [("host", "0x7f.0.0.1:8000")],
    "ours in octal": [("host", "0177.0.0.1:8000")],
    "ours in short": [("host", "127.1:8000")],
    "ours, mapped": [("host", "[::ffff:127.0.0.1]:8000")],
    "ours with a zone": [("host", "[::1%25lo]:8000")],
    "a slash": [("host", "127.0.0.1:8000/")],
    "a space": [("host", "127.0.0.1:8000 evil")],
    "a line end": [("host", "127.0.0.1:8000\r\nx: y")],
    "beyond ASCII": [("host", "\xff127.0.0.1:8000")],
    "fullwidth": [("host", "\xef\xbc\x91127.0.0.1:8000")],
    "very long": [("host", "a" * 5000)],
}


@pytest.mark.slow  # every route with every name
@pytest.mark.parametrize("headers", WRONG_HOSTS.values(), ids=WRONG_HOSTS)
def test_no_route_answers_to_another_name(
    app: FastAPI, guarded: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    for one in (app, guarded):
        for method, path in [
            *http_routes(one),
            ("GET", "/assets/x.js"),
            ("GET", "/login"),
            ("OPTIONS", "/api/runs"),
        ]:
            answer = ask(one, method, path, headers)
            assert answer.status in {400, 421}, (method, path, answer)
    assert reached == []


@pytest.mark.parametrize(
    "host",
    [
        HOST,
        "localhost:8000",
        "LocalHost:8000",
        "127.0.0.1:8000",
        "127.3.2.1:8000",
        "[::1]:8000",
        "[0:0::1]:8000",
    ],
)
def test_every_route_answers_to_the_names_of_this_machine(
    app: FastAPI, reached: list[str], host: str
) -> None:
    routes = http_routes(app)
    for method, path in routes:
        assert ask(app, method, path, [("host", host)]).status == 200, (method, path)
    assert len(reached) == len(routes)


ALLOWED = {
    "a name at any port": ("proctor.example", None, "proctor.example:9999", 200),
    "a name in other letters": ("proctor.example", None, "Proctor.Example", 200),
    "a name at its port": ("proctor.example", 9000, "proctor.example:9000", 200),
    "a name at another port": ("proctor.example", 9000, "proctor.example:9001", 421),
    "a name below it": ("proctor.example", None, "evil.proctor.example", 421),
    "this machine through a tunnel": ("localhost", 9000, "localhost:9000", 200),
}


@pytest.mark.parametrize(("name", "port", "host", "status"), ALLOWED.values(), ids=ALLOWED)
def test_other_names_are_reported_when_it_starts(
    here: ServerContext, reached: list[str], name: str, port: int | None, host: str, status: int
) -> None:
    app = create_app(replace(here, access=Access(hosts=frozenset({(name, port)}))))
    assert ask(app, "GET", "/api/about", [("host", host)]).status == status


def test_an_address_that_was_called_is_one_of_its_names(app: FastAPI, reached: list[str]) -> None:
    called = ask(app, "GET", "/api/about", [("host", "192.0.2.7:8000")], server=("192.0.2.7", 8000))
    assert called.status == 200


# --- from which page (CSRF) ------------------------------------------------------------------------------------------

JSON = ("content-type", "application/json")
FOREIGN_PAGES = {
    "a form of another site": [("origin", "http://evil.example"), ("content-type", "application/x-www-form-urlencoded")],
    "a form with files": [("origin", "http://evil.example"), ("content-type", "multipart/form-data; boundary=x")],
    "JSON as plain text": [("origin", "http://evil.example"), ("content-type", "text/plain")],
    "a fetch without CORS": [("origin", "http://evil.example"), ("sec-fetch-mode", "no-cors"), JSON],
    "JSON from another site": [("origin", "http://evil.example"), JSON],
    "an opaque origin": [("origin", "null"), JSON],
    "another port of this machine": [("origin", "http://127.0.0.1:3000"), JSON],
    "another name of this machine": [("origin", "http://localhost:8000"), JSON],
    "a name that begins like ours": [("origin", "http://127.0.0.1:8000.evil.example"), JSON],
    "user information with our address": [("origin", "http://evil.example@127.0.0.1:8000"), JSON],
    "an origin with a path": [("origin", f"http://{HOST}/x"), JSON],
    "its own scheme": [("origin", f"chrome-extension://{HOST}"), JSON],
    "a file": [("origin", "file://"), JSON],
    "two origins": [("origin", f"http://{HOST}"), ("origin", "http://evil.example"), JSON],
    "an empty origin": [("origin", ""), JSON],
    "another site, no origin": [("sec-fetch-site", "cross-site"), JSON],
    "another port, no origin": [("sec-fetch-site", "same-site"), JSON],
    "a form that opens a page": [
        ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"), JSON,
    ],
    "an odd word": [("sec-fetch-site", "same-origin, cross-site"), JSON],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("headers", FOREIGN_PAGES.values(), ids=FOREIGN_PAGES)
def test_no_page_of_another_site_changes_anything(
    app: FastAPI, guarded: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    known = [("host", HOST), ("cookie", cookie_of(guarded)), ("authorization", f"Bearer {TOKEN}")]
    for one in (app, guarded):
        for method, path in http_routes(one):
            if method not in SAFE:
                answer = ask(one, method, path, [*known, *headers], b"{}")
                assert answer.status == 403, (method, path, answer)
    assert reached == []


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
)
def test_a_body_that_is_invalid_json_is_refused_from_any_sender(
    app: FastAPI, reached: list[str], kind: str
) -> None:
    for method, path in http_routes(app):
        if method not in SAFE:
            headers = [("host", HOST), *([("content-type", kind)] if kind else [])]
            assert ask(app, method, path, headers, b'{"a": 1}').status == 415, (method, path)
    assert reached == []


@pytest.mark.slow
def test_no_preflight_passes(app: FastAPI, guarded: FastAPI, reached: list[str]) -> None:
    wants = [("host", HOST), ("origin", "http://evil.example"), ("access-control-request-method", "DELETE")]
    for one in (app, guarded):
        for _, path in http_routes(one):
            answer = ask(one, "OPTIONS", path, wants)
            assert answer.status == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert ask(one, "OPTIONS", path).status == 405
    assert reached == []


READS = {
    "a script tag": [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-dest", "script"),
    ],
    "a picture": [
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-mode", "no-cors"),
        ("sec-fetch-dest", "image"),
    ],
    "an EventSource": [("origin", "http://evil.example"), ("accept", "text/event-stream")],
    "an EventSource without a name": [("origin", "null"), ("accept", "text/event-stream")],
    "a frame": [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "iframe"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("headers", READS.values(), ids=READS)
def test_no_page_of_another_site_reads_anything(
    app: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    for method, path in http_routes(app):
        assert ask(app, method, path, [("host", HOST), *headers]).status == 403, (method, path)
    assert reached == []


def test_a_link_from_elsewhere_opens_the_page_and_no_data(app: FastAPI, reached: list[str]) -> None:
    link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    assert ask(app, "GET", "/runs/latest", [("host", HOST), *link]).status == 200
    assert ask(app, "GET", "/api/runs", [("host", HOST), *link]).status == 403


OWN_PAGE = {
    "the page itself": [("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin")],
    "behind a proxy with a certificate": [("origin", f"https://{HOST}")],
    "the address bar": [("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
    "a program": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("headers", OWN_PAGE.values(), ids=OWN_PAGE)
def test_its_own_page_and_programs_may_do_everything(
    app: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    for method, path in http_routes(app):
        body = b"" if method in SAFE else b"{}"
        assert ask(app, method, path, [("host", HOST), JSON, *headers], body).status == 200, (method, path)


# --- web sockets -----------------------------------------------------------------------------------------------------

SOCKETS = {
    "another name": [("host", "evil.example:8000")],
    "another site": [("host", HOST), ("origin", "http://evil.example")],
    "another port": [("host", HOST), ("origin", "http://127.0.0.1:3000")],
    "an opaque origin": [("host", HOST), ("origin", "null")],
    "a browser without an origin": [("host", HOST), ("sec-fetch-site", "cross-site")],
    "none": [],
}


@pytest.mark.parametrize("headers", SOCKETS.values(), ids=SOCKETS)
def test_web_sockets_are_opened_for_no_one_else(
    app: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    assert asyncio.run(open_socket(app, "/run_live", headers)) == "websocket.close"
    assert reached == []


def test_a_web_socket_of_the_page_is_passed_on(app: FastAPI, reached: list[str]) -> None:
    headers = [("host", HOST), ("origin", f"http://{HOST}")]
    asyncio.run(open_socket(app, "/run_live", headers))
    assert reached == ["/run_live"]


# --- the token -------------------------------------------------------------------------------------------------------


def cookie_of(guarded: FastAPI) -> str:
    return log_in(guarded, TOKEN).headers["set-cookie"].partition(";")[0]


def log_in(guarded: FastAPI, token: object) -> Answer:
    own = [("host", HOST), ("origin", f"http://{HOST}"), JSON]
    return ask(guarded, "POST", "/login", own, json.dumps({"token": token}).encode())


WRONG_TOKENS = {
    "none": [],
    "another": [("authorization", "Bearer another-token-of-that-length")],
    "its beginning": [("authorization", f"Bearer {TOKEN[:-1]}")],
    "more": [("authorization", f"Bearer {TOKEN}x")],
    "empty": [("authorization", "Bearer ")],
    "another scheme": [("authorization", f"Basic {TOKEN}")],
    "no scheme": [("authorization", TOKEN)],
    "in other letters": [("authorization", f"Bearer {TOKEN.upper()}")],
    "twice": [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer x")],
    "beyond ASCII": [("authorization", "Bearer \xff\xfe")],
    "the token as cookie": [("cookie", f"proctor_8000={TOKEN}")],
    "a made up cookie": [("cookie", f"proctor_8000={'0' * 64}")],
    "a broken cookie": [("cookie", '"; ;=,\x01proctor_8000')],
    "in the query": [("x-query", TOKEN)],
}


@pytest.mark.slow  # every route with every token
@pytest.mark.parametrize("headers", WRONG_TOKENS.values(), ids=WRONG_TOKENS)
def test_without_the_token_no_route_answers(
    guarded: FastAPI, reached: list[str], headers: list[tuple[str, str]]
) -> None:
    for method, path in [*http_routes(guarded), ("GET", "/assets/x.js")]:
        for address in (path, f"{path}?token={TOKEN}"):
            answer = ask(guarded, method, address, [("host", HOST), *headers])
            assert answer.status == 401, (method, address, answer)
    assert asyncio.run(open_socket(guarded, "/run_live", [("host", HOST), *headers])) == "websocket.close"
    assert reached == []


@pytest.mark.slow
@pytest.mark.parametrize("by", ["header", "cookie"])
def test_with_the_token_every_route_answers(guarded: FastAPI, reached: list[str], by: str) -> None:
    shown = (
        ("authorization", f"bearer {TOKEN}")
        if by == "header"
        else ("cookie", f"a=b; {cookie_of(guarded)}; c=d")
    )
    for method, path in http_routes(guarded):
        assert ask(guarded, method, path, [("host", HOST), shown]).status == 200, (method, path)
    asyncio.run(open_socket(guarded, "/run_live", [("host", HOST), shown]))
    assert "/run_live" in reached


def test_a_browser_gets_a_cookie_that_no_script_and_no_other_site_can_use(guarded: FastAPI) -> None:
    answer = log_in(guarded, TOKEN)
    assert answer.status == 204
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert TOKEN not in name
    own = [("host", HOST), JSON]
    secure = ask(guarded, "POST", "/login", own, json.dumps({"token": TOKEN}).encode(), scheme="https")
    assert secure.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize(
    "cookies",
    [
        "{ours}", "a[b]=c; {ours}", "@=; {ours}", 'said={{"a": 1, "b": "x"}}; {ours}', "{ours}; a[b]=c", "; ;{ours};;", "x=proctor; {ours}",
        "{name}=another; {ours}", "{ours}; {name}=another", "a,b; {ours}", 'x="a', "=; {ours}",
    ],
)  # fmt: skip
def test_cookies_of_other_servers_of_this_host_do_not_hide_ours(guarded: FastAPI, cookies: str) -> None:
    ours = cookie_of(guarded)
    given = cookies.format(ours=ours, name=ours.partition("=")[0])
    answer = ask(guarded, "GET", "/api/about", (("host", HOST), ("cookie", given)))
    assert answer.status == (200 if "{ours}" in cookies else 401)


@pytest.mark.parametrize(
    "token", ["", TOKEN[:-1], TOKEN + "x", None, 7, [TOKEN], {"token": TOKEN}, "\ud800"], ids=repr
)
def test_another_token_does_not_log_in(guarded: FastAPI, token: object) -> None:
    answer = log_in(guarded, token)
    assert (answer.status, "set-cookie" in answer.headers) == (401, False)


def test_a_browser_that_has_not_logged_in_is_shown_how(guarded: FastAPI) -> None:
    html = [("host", HOST), ("accept", "text/html,*/*")]
    page = ask(guarded, "GET", "/runs/latest", html)
    assert (page.status, page.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert TOKEN.encode() not in page.body
    assert ask(guarded, "GET", "/api/runs", html).detail.startswith("this server requires a token")
    for name in ("/login", "/login.js", "/login.css"):
        assert ask(guarded, "GET", name).status == 200
    assert not [markup for markup in (b"style=", b"<script>", b"<style>") if markup in page.body]


def test_without_a_token_a_login_is_impossible(app: FastAPI, reached: list[str]) -> None:
    ask(app, "POST", "/login", [("host", HOST), JSON], b"{}")
    assert reached == ["/login"]  # as any address that no route has


# --- bounds ----------------------------------------------------------------------------------------------------------

BOUNDS = {
    "a body that is reported to be too large": ([("content-length", str(MOST_BODY + 1)), JSON], b"{}", 413),
    "a body that becomes too large": ([("transfer-encoding", "chunked"), JSON], b" " * (MOST_BODY + 1), 413),
    "a packed body": ([("content-encoding", "gzip"), JSON], b"\x1f\x8b", 415),
    "a body packed twice": ([("content-encoding", "gzip, br"), JSON], b"\x1f\x8b", 415),
    "very many headers": ([(f"x-{n}", "y") for n in range(MOST_HEADERS)], b"", 431),
}  # fmt: skip


@pytest.mark.parametrize(("headers", "body", "status"), BOUNDS.values(), ids=BOUNDS)
def test_what_is_out_of_bounds_reaches_no_route(
    app: FastAPI, reached: list[str], headers: list[tuple[str, str]], body: bytes, status: int
) -> None:
    for method, path in [("POST", "/api/runs"), ("DELETE", "/api/eval-sets/x/cases/y"), ("GET", "/api/runs")]:
        assert ask(app, method, path, [("host", HOST), *headers], body).status == status, (method, path)
    assert reached == []


def test_a_body_that_is_not_sent_to_its_end_is_not_waited_for(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proctor.web.server.security.middleware.BODY_WITHIN", 0.05)
    status: list[int] = []

    async def slowly() -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        status.append(message.get("status", 0))

    scope = {
        "type": "http", "method": "POST", "path": "/api/runs", "query_string": b"", "server": ("127.0.0.1", 8000),
        "headers": [(b"host", HOST.encode()), (b"transfer-encoding", b"chunked"), (b"content-type", b"application/json")],
    }  # fmt: skip
    asyncio.run(app(scope, slowly, send))
    assert status[0] == 408


# --- what every answer carries ---------------------------------------------------------------------------------------

ANSWERS: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "data": ("GET", "/api/about", [("host", HOST)]),
    "nothing there": ("GET", "/api/nothing", [("host", HOST)]),
    "an unknown run": ("GET", "/api/runs/x", [("host", HOST)]),
    "a wrong name": ("GET", "/api/about", [("host", "evil.example")]),
    "a page": ("GET", "/runs", [("host", HOST), ("accept", "text/html")]),
    "a wrong method": ("PATCH", "/api/about", [("host", HOST)]),
    "the description": ("GET", "/api/openapi.json", [("host", HOST)]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "headers"), ANSWERS.values(), ids=ANSWERS)
def test_every_answer_shows_what_a_browser_may_do_with_it(
    app: FastAPI, method: str, path: str, headers: list[tuple[str, str]]
) -> None:
    found = ask(app, method, path, headers).headers
    assert found["content-security-policy"] == CSP
    assert "unsafe" not in CSP
    assert {"frame-ancestors 'none'", "default-src 'none'"} <= set(CSP.split("; "))
    assert (found["x-content-type-options"], found["referrer-policy"]) == ("nosniff", "no-referrer")
    assert found["cache-control"] in {"no-store", "no-cache"}
    if path.startswith("/api/"):
        assert found["cache-control"] == "no-store"
    assert not [
        name for name in found if name.startswith("access-control") or name in {"server", "x-powered-by"}
    ]


@pytest.mark.slow
def test_a_bug_is_an_answer_without_its_details(
    here: ServerContext, caplog: pytest.LogCaptureFixture
) -> None:
    app = create_app(here)

    @app.get("/api/bug")
    def bug() -> None:
        raise RuntimeError("the inner workings")

    app.router.routes.insert(0, app.router.routes.pop())
    answer = ask(app, "GET", "/api/bug")
    assert answer.status == 500
    assert "inner workings" not in answer.detail
    assert answer.headers["content-security-policy"] == CSP
    assert "inner workings" in caplog.text


@pytest.fixture(autouse=True)
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>page</title>")
    monkeypatch.setenv("PROCTOR_PAGE_DIR", str(tmp_path))
