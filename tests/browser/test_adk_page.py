"""google-adk's own page against our server: apps, a chat, an eval set made of it, an evaluation, its result, an edit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import visit
from tests.web.adk.adk_apps import ADK, PLAIN, write_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs_adk, pytest.mark.slow]
SCRIPT = {
    "weather in Paris?": [
        {"parts": [{"function_call": {"id": "fc-1", "name": "get_weather", "args": {"city": "Paris"}}}]},
        {"parts": [{"text": "Sunny in Paris."}]},
    ],
    "*": [{"parts": [{"text": "I do not know."}]}],
}
_FONTS = re.compile(r"fonts\.(gstatic|googleapis)\.com")
"""The page's own fonts, which it takes from Google; nothing else may go anywhere."""


@pytest.fixture(params=["adk", "plain"])
def adk_page(
    request: pytest.FixtureRequest, tmp_path: Path, serve: Callable[..., Any], browser: Browser
) -> Iterator[Page]:
    """The page on a server whose one agent is of google-adk, or is none of it."""
    agents = tmp_path / "agents"
    write_app(agents, {"adk": ADK, "plain": PLAIN}[request.param], SCRIPT)
    site = serve(tmp_path, tmp_path / "store.sqlite3", str(agents), "--adk-ui")
    context = visit(browser, site.url, viewport={"width": 1500, "height": 950})
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(f"exception: {error}"))
    page.on(
        "response",
        lambda answer: wrong.append(f"{answer.status} {answer.url}") if _is_wrong(answer) else None,
    )
    page.on("request", lambda asked: wrong.append(asked.url) if _leaves(asked.url, site.url) else None)
    page.on(
        "console",
        lambda output: wrong.append(output.text) if "Content Security Policy" in output.text else None,
    )
    page.goto("/dev-ui/?app=weather_app&userId=user")
    yield page
    context.close()
    assert wrong == []


def _is_wrong(answer: Any) -> bool:
    return answer.status >= 400 and not answer.url.endswith(
        "/dev-ui/prism-dark.css"
    )  # google-adk's wheel has none


def _leaves(url: str, home: str) -> bool:
    return not url.startswith((home, "data:", "blob:")) and not _FONTS.search(url)


@pytest.mark.nightly(check=1)
def test_from_a_chat_to_a_verdict(adk_page: Page, tmp_path: Path, shot: Callable[[Page, str], None]) -> None:
    page = adk_page
    page.get_by_text("weather_app").first.wait_for()

    message = page.locator("textarea").first
    message.fill("weather in Paris?")
    message.press("Enter")
    page.get_by_text("Sunny in Paris.").wait_for()
    page.get_by_text('get_weather("Paris")').first.wait_for()
    shot(page, "adk-chat")
    page.get_by_text("Traces", exact=True).click()
    page.get_by_text("Total latency").wait_for()
    page.get_by_text("Events", exact=True).click()

    page.get_by_text("Evals", exact=True).first.click()
    page.get_by_text("Create Evaluation Set", exact=True).click()
    _fill_dialog(page, "ui_set")
    page.get_by_text("ui_set", exact=True).click()
    page.get_by_text("From Current Session").click()
    _fill_dialog(page, "paris")
    page.get_by_text("Run All").click()
    page.get_by_text("Evaluates each turn as a single request and response.").wait_for()
    page.locator("mat-dialog-container button", has_text="Run").last.click()

    page.get_by_text("1 PASS").wait_for()
    page.get_by_text("PASS", exact=True).first.wait_for()
    page.get_by_text("Sunny in Paris.").wait_for()
    shot(page, "adk-result")
    (file,) = (tmp_path / "agents" / "weather_app" / ".adk" / "eval_history").iterdir()
    assert json.loads(file.read_text())["eval_case_results"][0]["proctor_outcome"] == "passed"

    saved = _save_as_the_page_does(page, "Cloudy in Paris.")
    assert saved == 200
    page.goto("/dev-ui/?app=weather_app&userId=user")
    page.get_by_text("Evals", exact=True).first.click()
    page.get_by_text("ui_set", exact=True).first.click()
    page.get_by_text("Run All").click()
    page.locator("mat-dialog-container button", has_text="Run").last.click()
    page.get_by_text("1 FAIL").wait_for()
    shot(page, "adk-failed")


@pytest.mark.nightly
def test_the_page_talks_to_this_server_and_to_no_other(adk_page: Page) -> None:
    script = """(url) => new Promise((resolve) => {
        const socket = new WebSocket(url)
        socket.onopen = () => resolve("open"); socket.onerror = () => resolve("refused")
    })"""
    here = re.sub("^http", "ws", adk_page.url.split("/dev-ui")[0])
    query = "/run_live?app_name=weather_app&user_id=user&session_id=s"
    adk_page.evaluate("() => fetch('/apps/weather_app/users/user/sessions/s', {method: 'POST'})")
    assert adk_page.evaluate(script, here + query) == "open"
    headers = adk_page.request.get("/dev-ui/").headers
    assert "connect-src 'self';" in headers["content-security-policy"]
    assert "connect-src 'self';" in adk_page.request.get("/").headers["content-security-policy"]


def _fill_dialog(page: Page, name: str) -> None:
    dialog = page.locator("mat-dialog-container")
    dialog.locator("input").first.fill(name)
    dialog.locator("button", has_text="Create").click()
    dialog.wait_for(state="hidden")


def _save_as_the_page_does(page: Page, answer: str) -> int:
    """Send what the page sends for an edited case: its view of a case in this wheel is for reading only."""
    status: int = page.evaluate(
        """async (answer) => {
            const at = "/dev/apps/weather_app/eval_sets/ui_set/evals/paris"
            const found = await (await fetch(at)).json()
            found.conversation[0].finalResponse.parts[0].text = answer
            const {evalId, conversation, sessionInput, creationTimestamp} = found
            const body = JSON.stringify({evalId, conversation, sessionInput, creationTimestamp})
            const headers = {"content-type": "application/json"}
            return (await fetch(at, {method: "PUT", headers, body})).status
        }""",
        answer,
    )
    return status
