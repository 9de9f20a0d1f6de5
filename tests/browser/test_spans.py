"""Screen 6, a trial over time: bars only for what was timed, and what was asked and answered in each."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from proctor.schema.content import user_text
from proctor.schema.event import Event
from proctor.schema.score import MetricScore, Score
from proctor.schema.trial import Trial, Turn
from tests.browser.conftest import Site
from tests.browser.test_case import open_case
from tests.server.made_case import Made, write_made

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
_BEGAN = 1_700_000_000.0


def timed_trial() -> Trial:
    """Two agents, two model requests and two tools at once, told with the times at which each was emitted."""

    def at(seconds: float, event: Event) -> Event:
        event.timestamp = _BEGAN + seconds
        return event

    tokens = {"prompt_token_count": 120, "candidates_token_count": 30}
    plans = Event.called(
        "find_restaurant", {"name": "La Trattoria"}, id="1", author="booking_agent", usage_metadata=tokens
    )
    plans.model_version = "gemini-2.5-flash"
    done = Event.said("Booked.", author="notifier", usage_metadata=tokens, model_version="gemini-2.5-pro")
    events = [
        at(1.0, plans),
        at(1.0, Event.called("book_table", {"covers": 2}, id="2", author="booking_agent")),
        at(1.4, Event.returned("find_restaurant", {"found": True}, id="1", author="booking_agent")),
        at(2.2, Event.returned("book_table", {"confirmed": True}, id="2", author="booking_agent")),
        at(3.0, done),
    ]
    turn = Turn(user_content=user_text("A table, please."), events=events, started_at=_BEGAN, duration=3.1)
    about = {
        "booking_agent": {
            "name": "booking_agent",
            "instructions": "Book tables.",
            "tool_declarations": [{"name": "book_table"}],
        }
    }
    return Trial(
        eval_set_id="made", eval_id="timed", turns=[turn], started_at=_BEGAN, duration=3.1,
        app_details={"agent_details": about},
    )  # fmt: skip


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    folder = tmp_path_factory.mktemp("timed")
    write_made(folder / "store.sqlite3", [Made("timed", [timed_trial()], [MetricScore(1.0, [Score(1.0)])])])
    return serve(folder, folder / "store.sqlite3")


def test_where_events_have_no_time_only_turns_have_bars(
    page: Page, site: Site, shot: Shot, axe: Look
) -> None:
    open_case(page, site, query="?tab=spans")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text(
        "Only turns are timed: the agent does not tell when its events were emitted."
    )
    expect(panel.locator('[data-kind="turn"] i')).to_have_count(2)
    expect(panel.locator('[data-kind="tool"] i')).to_have_count(0)
    expect(panel.locator('[data-kind="tool"]').first).to_contain_text("no time recorded")
    axe(page)
    shot(page, "spans-untimed")


def test_a_span_says_what_was_asked_and_leads_to_its_step(page: Page, site: Site) -> None:
    open_case(page, site, query="?tab=spans")
    page.get_by_role("button", name=re.compile("book_table")).click()
    details = page.locator('[data-on="true"]')
    expect(details).to_contain_text("covers=4")
    expect(details).to_contain_text('{"confirmed": true}')
    expect(page).to_have_url(re.compile("span="))
    details.get_by_role("link", name="in the conversation").click()
    expect(page.locator("#turn-2-step-2")).to_have_attribute("data-on", "true")


def test_bars_stand_where_the_times_say(page: Page, timed: Site, axe: Look, fits: Look, shot: Shot) -> None:
    page.goto(f"{timed.url}/runs/made/cases/0?tab=spans")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Turns are timed by a clock.")
    names = panel.get_by_role("row").locator("button").all_inner_texts()
    assert [" ".join(name.split()) for name in names] == [
        "turn 1",
        "agent booking_agent",
        "model gemini-2.5-flash",
        "tool find_restaurant",
        "tool book_table",
        "agent notifier",
        "model gemini-2.5-pro",
    ]
    took = [row.split()[-2:] for row in panel.get_by_role("row").all_inner_texts()[1:]]
    assert took == [
        ["3.1", "s"],
        ["2.2", "s"],
        ["1", "s"],
        ["400", "ms"],
        ["1.2", "s"],
        ["800", "ms"],
        ["800", "ms"],
    ]
    boxes = [one.bounding_box() for one in panel.locator('[data-kind="tool"] i').all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert abs(boxes[0]["x"] - boxes[1]["x"]) < 2, "both were called at once"
    assert boxes[1]["width"] / boxes[0]["width"] == pytest.approx(3.0, rel=0.1)
    panel.get_by_role("button", name=re.compile("gemini-2.5-flash")).click()
    expect(panel).to_contain_text("120 tokens in, 30 out")
    expect(panel).to_contain_text("A table, please.")
    panel.get_by_text("booking_agent with book_table").click()
    expect(panel).to_contain_text("Book tables.")
    axe(page)
    fits(page)
    shot(page, "spans")
