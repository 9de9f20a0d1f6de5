"""A server with a token, as a user with a browser meets it; and pages of other sites, as they meet the server."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Problems, Site, visit, watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs_browser, pytest.mark.slow]

TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def guarded(project: tuple[Path, Path], serve: Callable[..., Site]) -> Site:
    return serve(*project, "--token", TOKEN)


@pytest.fixture
def visitor(browser: Browser, guarded: Site, problems: Problems) -> Iterator[Page]:
    """A user who has never been here."""
    context = visit(browser, guarded.url)
    page = context.new_page()
    watch(page, problems)
    yield page
    context.close()
    assert problems.left() == []


def test_the_printed_address_logs_in_and_leaves_no_trace_of_the_token(
    visitor: Page, problems: Problems, shot: Callable[..., None]
) -> None:
    visitor.goto(f"/login#token={TOKEN}")
    visitor.wait_for_url("**/runs*")
    assert TOKEN not in visitor.url
    assert visitor.evaluate("document.cookie") == ""
    assert visitor.evaluate("JSON.stringify([localStorage, sessionStorage])").count(TOKEN) == 0
    visitor.go_back()
    assert TOKEN not in visitor.url


@pytest.mark.nightly
def test_the_printed_address_logs_in_on_an_open_login_page(visitor: Page, problems: Problems) -> None:
    problems.expect("401")
    visitor.goto("/runs")
    visitor.get_by_label("Token").wait_for()
    visitor.goto("/login")
    visitor.goto(f"/login#token={TOKEN}")  # changes the fragment only: the page is not loaded again
    visitor.wait_for_url("**/runs*")
    assert TOKEN not in visitor.url


def test_who_has_not_logged_in_is_asked_for_the_token_and_gets_where_they_wanted(
    visitor: Page, problems: Problems, axe: Callable[..., None], shot: Callable[..., None]
) -> None:
    problems.expect("401")
    visitor.goto("/runs/latest")
    axe(visitor)
    shot(visitor, "login")
    visitor.get_by_label("Token").fill("not the token at all")
    visitor.get_by_role("button", name="Log in").click()
    visitor.get_by_text("this is not the token").wait_for()
    visitor.get_by_label("Token").fill(TOKEN)
    visitor.get_by_role("button", name="Log in").click()
    visitor.locator("main").get_by_text("travel").first.wait_for()
    assert visitor.url.rpartition("/runs/")[2].partition("?")[0]


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """A site of another user at another port: its address, and what it receives."""
    reported: list[str] = []

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reported.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}", reported
    server.shutdown()
    server.server_close()


ATTACKS = {
    "fetch, to read": "fetch(`${site}/api/runs`).then((answer) => answer.text())",
    "fetch without CORS": "fetch(`${site}/api/runs`, {mode: 'no-cors'}).then((answer) => answer.text())",
    "a change": "fetch(`${site}/api/eval-sets`, {method: 'POST', mode: 'no-cors', body: '{}'}).then((a) => a.text())",
    "a change in JSON": "fetch(`${site}/api/eval-sets`, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})"
    ".then((answer) => answer.text())",
    "DELETE": "fetch(`${site}/api/chats/x`, {method: 'DELETE'}).then((answer) => answer.text())",
    "an EventSource": "new Promise((done, no) => { const source = new EventSource(`${site}/api/runs/latest/events`);"
    " source.onmessage = done; source.onerror = no; })",
    "a web socket": "new Promise((done, no) => { const socket = new WebSocket(`${site.replace('http', 'ws')}/run_live`);"
    " socket.onopen = done; socket.onerror = no; })",
    "a script": "new Promise((done, no) => { const it = document.createElement('script'); it.src = `${site}/api/runs`;"
    " it.onload = done; it.onerror = no; document.head.append(it); })",
}  # fmt: skip


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_page_of_another_site_gets_nothing(
    browser: Browser, site: Site, elsewhere: tuple[str, list[str]], attack: str
) -> None:
    context = visit(browser, None)
    page = context.new_page()
    page.goto(elsewhere[0])
    got = page.evaluate(
        f"async (site) => {{ try {{ return String((await ({attack})) ?? ''); }} catch (error) {{ return 'refused'; }} }}",
        site.url,
    )
    context.close()
    assert got in {"refused", ""}


def test_no_one_frames_it(browser: Browser, site: Site, elsewhere: tuple[str, list[str]]) -> None:
    context = visit(browser, None)
    page = context.new_page()
    page.goto(elsewhere[0])
    page.evaluate(
        "(site) => new Promise((done) => { const it = document.createElement('iframe'); it.src = site; it.onload = done;"
        " document.body.append(it); })",
        site.url,
    )
    (frame,) = [one for one in page.frames if one is not page.main_frame]
    assert site.url not in frame.url
    context.close()
