"""Screen 10: an agent is talked to in a real browser, shown as it happens, stopped, and kept as a case."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Problems, Site
from tests.browser.editor.test_cases import XSS, note_dialogs

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

pytestmark = pytest.mark.slow

GUIDE = f"""
import asyncio
from pathlib import Path
from proctor import Event

HELD = Path(__file__).with_name("held")  # while it is there, an answer does not come to its end
XSS = {XSS!r}

class Guide:
    async def answer(self, message, session):
        text = message.joined_text()
        response = next((part.function_response for part in message.parts if part.function_response), None)
        if response is not None:
            yield Event.said(f"The manager answers {{response.response['status']}}.")
        elif text == "refund":
            yield Event.called("ask_manager", {{"amount": 20}}, id="L1", long_running_tool_ids=["L1"])
        elif text == "break":
            raise RuntimeError("the kitchen is closed")
        elif text == "hang":
            yield Event.said("Let me think", partial=True)
            await asyncio.sleep(120)
        elif text == "xss":
            yield Event.called(XSS, {{XSS: XSS}}, id="x")
            yield Event.returned(XSS, {{XSS: [XSS]}}, id="x")
            yield Event.changed({{XSS: XSS}})
            yield Event.said(XSS, author=XSS)
        else:
            yield Event.called("find_city", {{"name": text}}, id="c1")
            yield Event.returned("find_city", {{"river": "Aare", "people": 134000}}, id="c1")
            for piece in ("You should ", "go ", "to "):
                yield Event.said(piece, partial=True)
            while HELD.exists():
                await asyncio.sleep(0.02)
            yield Event.said(f"You should go to {{text}}.", usage_metadata={{"total_token_count": 42}})
            yield Event.changed({{"city": text}})

root_agent = Guide()
"""


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with an agent."""
    folder = tmp_path_factory.mktemp("talk")
    for name, text in {"guide": GUIDE, "broken": "raise RuntimeError('no such model')"}.items():
        (folder / "agents" / name).mkdir(parents=True)
        (folder / "agents" / name / "agent.py").write_text(text)
    return serve(folder, folder / "store.sqlite3", "agents")


@pytest.fixture(autouse=True)
def closed(site: Site, page: Page) -> None:
    """No conversation of another test is in the way."""
    page.goto("/eval-sets")
    for chat in site.get("/api/chats")["items"]:
        page.evaluate("(id) => fetch(`/api/chats/${id}`, { method: 'DELETE' })", chat["id"])


def begin(page: Page, agent: str = "guide") -> None:
    page.goto("/chat")
    page.get_by_label("Agent").select_option(agent)
    page.get_by_role("button", name="Start", exact=True).click()
    if agent == "guide":
        expect(page.get_by_role("heading", level=1, name="guide")).to_be_visible()


@pytest.fixture
def held(site: Site) -> Iterator[Path]:
    """An answer does not come to its end until this file is removed."""
    file = site.folder / "agents" / "guide" / "held"
    file.touch()
    yield file
    file.unlink(missing_ok=True)


def send(page: Page, text: str) -> None:
    """Send a message as soon as the agent listens."""
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.get_by_label("Message").fill(text)
    page.get_by_label("Message").press("Enter")


def test_the_entries_of_an_agent_are_shown_as_they_arrive(
    page: Page, held: Path, axe: Look, fits: Look, shot: Shot
) -> None:
    page.goto("/chat")
    expect(page.get_by_label("Agent")).to_be_visible()
    axe(page)
    shot(page, "chat-begin")
    page.get_by_label("Agent").select_option("guide")
    page.get_by_label("Agent").blur()
    page.keyboard.press("r")
    send(page, "Bern")
    log = page.get_by_role("log")
    expect(log).to_contain_text('find_city(name="Bern")')
    expect(log).to_contain_text("You should go")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    held.unlink()
    expect(log).to_contain_text("You should go to Bern.")
    expect(log).to_contain_text("42 tokens")
    expect(page.get_by_label("Session state")).to_contain_text('"Bern"')
    send(page, "refund")
    expect(log).to_contain_text("ask_manager(amount=20)")
    axe(page)
    shot(page, "chat")
    fits(page)
    page.get_by_role("button", name="Answer the call").click()
    expect(log).to_contain_text("The manager answers approved.")


@pytest.mark.nightly
def test_a_conversation_outlives_a_reload(page: Page, held: Path) -> None:
    begin(page)
    send(page, "Bern")
    expect(page.get_by_role("log")).to_contain_text("You should go")
    page.reload()  # in the middle of the answer
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    held.unlink()
    expect(page.get_by_role("log")).to_contain_text("You should go to Bern.")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.get_by_role("button", name="All chats").click()
    page.get_by_role("button", name="guide").click()
    expect(page.get_by_role("log")).to_contain_text("You should go to Bern.")


@pytest.mark.nightly
def test_an_answer_is_stopped_and_the_message_is_sent_again(page: Page) -> None:
    begin(page)
    send(page, "Bern")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    send(page, "hang")
    expect(page.get_by_role("log")).to_contain_text("Let me think")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("log")).to_contain_text("stopped; this turn is discarded")
    page.get_by_role("button", name="Restart it").click()
    expect(page.get_by_role("log")).to_contain_text("1 earlier message is sent again")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    expect(page.get_by_text("1 turn", exact=True)).to_be_visible()
    send(page, "Porto")
    expect(page.get_by_text("2 turns", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_a_failure_has_its_cause_and_the_talk_continues(page: Page) -> None:
    begin(page)
    send(page, "break")
    expect(
        page.get_by_role("alert").filter(has_text="RuntimeError: the kitchen is closed").first
    ).to_be_visible()
    send(page, "Bern")
    expect(page.get_by_role("log")).to_contain_text("You should go to Bern.")


@pytest.mark.nightly
def test_an_agent_that_does_not_load_shows_why(page: Page, problems: Problems) -> None:
    problems.expect("400")
    begin(page, "broken")
    expect(page.get_by_role("alert").filter(has_text="no such model").first).to_be_visible()


def test_a_conversation_is_kept_as_a_case(page: Page, site: Site, axe: Look, shot: Shot) -> None:
    begin(page)
    send(page, "Bern")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    page.get_by_role("button", name="Save as case").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new set").fill("talks")
    dialog.get_by_label("Id of the case").fill("to_bern")
    dialog.get_by_label("Also expect the changed state").check()
    axe(page)
    shot(page, "chat-save")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_contain_text("proctor record")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_have_count(0)
    kept = json.loads(Path(site.folder, "talks.evalset.json").read_text())["eval_cases"][0]
    assert kept["eval_id"] == "to_bern"
    assert kept["conversation"][0]["intermediate_data"]["tool_uses"] == [
        {"args": {"name": "Bern"}, "name": "find_city"}
    ]
    assert kept["final_session_state"] == {"city": "Bern"}
    page.get_by_role("link", name="Open the case").click()
    expect(page.get_by_role("textbox", name="Call 1: tool")).to_have_value("find_city")


def test_hostile_answers_are_text(page: Page) -> None:
    dialogs: list[str] = []
    note_dialogs(page, dialogs)
    begin(page)
    send(page, "xss")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    log = page.get_by_role("log")
    expect(log).to_contain_text("<script>alert(2)</script>")
    expect(page.get_by_label("Session state")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("img, main script, iframe, [onerror], main a[href^=javascript]")).to_have_count(0)
    assert dialogs == []


@pytest.mark.nightly
def test_a_set_next_to_the_agent_is_offered_before_those_of_others(page: Page, site: Site) -> None:
    """A case must not land in the set of another agent because that one's name comes first."""
    case = {"eval_id": "one", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}
    sets = [site.folder / "agents" / name / f"{name}.evalset.json" for name in ("broken", "guide")]
    for path in sets:
        path.write_text(json.dumps({"eval_set_id": path.name, "eval_cases": [case]}), encoding="utf-8")
    try:
        begin(page)
        send(page, "Bern")
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        page.get_by_role("button", name="Save as case").click()
        chosen = page.get_by_role("dialog").get_by_label("Eval set").locator("option:checked")
        expect(chosen).to_have_text("agents/guide/guide.evalset.json")
    finally:
        for path in sets:
            path.unlink()
