"""Screen 6, a trial over time: bars only for what was timed, and what was asked and answered in each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from proctor.engine.trial.evidence_limits import trace_of
from proctor.schema.evidence.event import Event
from proctor.schema.evidence.trial import Trial
from proctor.schema.evidence.turn import Turn
from proctor.schema.format.content import user_text
from proctor.schema.results.score import MetricScore, Score
from tests.browser.case.test_case import open_case
from tests.browser.conftest import Site
from tests.browser.markup import MARKUP
from tests.web.extreme_runs import Made, write_made

Json = dict[str, Any]
Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
_BEGAN = 1_700_000_000.0


def timed_trial() -> Trial:
    """Two agents, two model requests and two tools at once, shown with the times at which each was emitted."""

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


def traced_trial() -> Trial:
    """The same trial as its agent traced it: nested, with whole requests, one of them cut, and a tool that failed."""
    trial = timed_trial()

    def span(its_id: str, parent: str, name: str, kind: str, at: float, took: float, **more: Any) -> Json:
        times = {"started_at": _BEGAN + at, "duration": took}
        return {
            "id": its_id,
            "parent_id": parent,
            "name": name,
            "kind": kind,
            "agent": "booking_agent",
            **times,
            **more,
        }

    request: Json = {
        "model": "gemini-2.5-flash",
        "contents": [{"role": "user", "parts": [{"text": "A table, please."}]}],
    }
    request |= {"config": {"system_instruction": "Book tables. " * 60, "temperature": 0.2}}
    asked, tokens = json.dumps(request), {"input_tokens": 120, "output_tokens": 30}
    trial.turns[0].trace = trace_of(
        [
            span("a", "", "invocation", "agent", 0, 3.05),
            span("b", "a", "invoke_agent booking_agent", "agent", 0.02, 2.2),
            span("c", "b", "call_llm", "model", 0.05, 0.95, request=asked, response='{"content": {"role": "model"}}',
                 attributes={"gen_ai.system": "gcp.vertex.agent", "gen_ai.request.model": "gemini-2.5-flash"}, **tokens),
            span("d", "b", "execute_tool find_restaurant", "tool", 1.0, 0.4, call_id="1", request='{"name": "La Trattoria"}',
                 response='{"found": true}'),
            span("e", "b", "execute_tool book_table", "tool", 1.0, 1.2, call_id="2", request='{"covers": 2}',
                 error="TimeoutError: the restaurant did not answer"),
            span("h", "e", "POST", "step", 1.1, 1.05),
            span("f", "a", "call_llm", "model", 2.3, 0.7, request="word " * 60_000, response='{"content": {"text": "Booked."}}'),
        ]
    )  # fmt: skip
    return trial


def hostile_trial() -> Trial:
    """Names, values and errors of spans that would be markup, if the page treated them as such."""
    trial = timed_trial()
    trial.turns[0].trace = trace_of(
        {"id": str(n), "name": text, "kind": "model", "agent": text, "started_at": _BEGAN, "duration": 1.0, "error": text,
         "request": text, "response": text, "attributes": {text: text}}
        for n, text in enumerate(MARKUP)
    )  # fmt: skip
    return trial


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    folder = tmp_path_factory.mktemp("traced")
    scores = [MetricScore(1.0, [Score(1.0)])]
    made = [Made("traced", [traced_trial()], scores), Made("hostile", [hostile_trial()], scores)]
    write_made(folder / "store.sqlite3", made)
    return serve(folder, folder / "store.sqlite3")


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    folder = tmp_path_factory.mktemp("timed")
    write_made(folder / "store.sqlite3", [Made("timed", [timed_trial()], [MetricScore(1.0, [Score(1.0)])])])
    return serve(folder, folder / "store.sqlite3")


@pytest.mark.nightly
def test_where_events_have_no_time_only_turns_have_bars(
    page: Page, site: Site, shot: Shot, axe: Look
) -> None:
    open_case(page, site, query="?tab=spans")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Only turns are timed: the events of the agent have no timestamps.")
    expect(panel.locator('[data-kind="turn"] i')).to_have_count(2)
    expect(panel.locator('[data-kind="tool"] i')).to_have_count(0)
    expect(panel.locator('[data-kind="tool"]').first).to_contain_text("no time recorded")
    axe(page)
    shot(page, "spans-untimed")


@pytest.mark.nightly
def test_a_span_shows_what_was_asked_and_leads_to_its_step(page: Page, site: Site) -> None:
    open_case(page, site, query="?tab=spans")
    page.get_by_role("button", name=re.compile("book_table")).click()
    details = page.locator('[data-on="true"]')
    expect(details).to_contain_text("covers=4")
    expect(details).to_contain_text('{"confirmed": true}')
    expect(page).to_have_url(re.compile("span="))
    details.get_by_role("link", name="in the conversation").click()
    expect(page.locator("#turn-2-step-2")).to_have_attribute("data-on", "true")


@pytest.mark.nightly
def test_bars_are_where_the_times_show(page: Page, timed: Site, axe: Look, fits: Look, shot: Shot) -> None:
    page.goto(f"{timed.url}/runs/made/cases/0?tab=spans")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("The times of turns are measured.")
    expect(panel.get_by_role("row").locator("button")).to_have_text(
        [
            "turn 1",
            "agent booking_agent",
            "model gemini-2.5-flash",
            "tool find_restaurant",
            "tool book_table",
            "agent notifier",
            "model gemini-2.5-pro",
        ],
        use_inner_text=True,
    )
    for at, took in enumerate(("3.1 s", "2.2 s", "1 s", "400 ms", "1.2 s", "800 ms", "800 ms")):
        expect(panel.get_by_role("row").nth(at + 1)).to_have_text(
            re.compile(took.replace(" ", r"\s+") + r"\s*$"), use_inner_text=True
        )
    bars = panel.locator('[data-kind="tool"] i')
    expect(bars).to_have_count(2)
    boxes = "bars => bars.map((bar) => bar.getBoundingClientRect()).map(({ x, width }) => [x, width])"
    (find, finds), (book, books) = bars.evaluate_all(boxes)
    assert abs(find - book) < 2, "both were called at once"
    assert books / finds == pytest.approx(3.0, rel=0.1)
    panel.get_by_role("button", name=re.compile("gemini-2.5-flash")).click()
    expect(panel).to_contain_text("120 tokens in, 30 out")
    expect(panel).to_contain_text("A table, please.")
    panel.get_by_text("booking_agent with book_table").click()
    expect(panel).to_contain_text("Book tables.")
    axe(page)
    fits(page)
    shot(page, "spans")


def test_the_time_is_zoomed_by_keys_and_kept_in_the_address(page: Page, timed: Site, fits: Look) -> None:
    page.goto(f"{timed.url}/runs/made/cases/0?tab=spans")
    rows = page.get_by_role("table", name="Spans").get_by_role("row")
    expect(rows).to_have_count(8)
    expect(rows.nth(3)).to_contain_text("120 → 30")
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"zoom=0\.775-2\.325"))
    expect(page.get_by_role("status").filter(has_text="of 7 spans")).to_contain_text(
        "775 ms to 2.3 s, 7 of 7 spans"
    )
    page.keyboard.press("+")
    expect(rows).to_have_count(5)  # without both models and the second agent
    page.reload()
    expect(rows).to_have_count(5)
    page.keyboard.press("0")
    expect(rows).to_have_count(8)
    page.get_by_role("tab", name="Time").click()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")  # not the next tab, although the focus was in the tabs
    expect(page).to_have_url(re.compile(r"tab=spans.*zoom=1\.55-3\.1"))
    page.keyboard.press("0")
    expect(rows).to_have_count(8)
    rows.nth(4).get_by_role("button").click()
    page.keyboard.press("z")
    expect(page).to_have_url(re.compile(r"zoom=1-1\.4"))
    fits(page)


def test_traced_spans_are_nested_and_open(
    page: Page, traced: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    page.goto(f"{traced.url}/runs/made/cases/0?tab=spans")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("traced spans with measured times")
    rows = panel.get_by_role("row").locator("button[aria-expanded]")
    expect(rows).to_have_text(
        [
            "turn 1",
            "agent invocation",
            "agent booking_agent",
            "model call_llm",
            "tool find_restaurant",
            "tool ✕ failed book_table",
            "step POST",
            "model call_llm",
        ],
        use_inner_text=True,
    )
    nested = rows.evaluate_all("rows => rows.map((row) => Math.round(row.getBoundingClientRect().x))")
    assert nested[0] < nested[1] < nested[2] < nested[3] == nested[4] == nested[5] < nested[6]
    assert nested[7] == nested[2]
    rows.nth(3).click()
    details = panel.locator('[data-on="true"]')
    expect(details).to_contain_text("120 tokens in, 30 out")
    details.get_by_text(re.compile("^request")).click()
    expect(details).to_contain_text('"temperature": 0.2')
    details.get_by_text(re.compile("^attributes")).click()
    expect(details).to_contain_text("gcp.vertex.agent")
    axe(page)
    fits(page)
    shot(page, "spans-traced")
    rows.nth(7).click()
    expect(details).to_contain_text("300,000 characters")
    panel.get_by_text("Some traced spans are missing or truncated").click()
    expect(panel).to_contain_text("text of 300,000 characters cut to 131,072")
    details.get_by_text(re.compile("^request")).click()
    expect(details).to_contain_text("280,000 more characters")


@pytest.mark.nightly
def test_a_traced_tool_leads_to_its_call(page: Page, traced: Site, shot: Shot) -> None:
    page.goto(f"{traced.url}/runs/made/cases/0?tab=spans&span=6")
    details = page.locator('[data-on="true"]')
    expect(details).to_contain_text("TimeoutError: the restaurant did not answer")
    shot(page, "spans-failed")
    details.get_by_role("link", name="in the conversation").click()
    expect(page.locator("#turn-1-step-2")).to_have_attribute("data-on", "true")


@pytest.mark.nightly
def test_nothing_in_a_span_is_markup(page: Page, traced: Site) -> None:
    owned: list[str] = []
    page.expose_function("owned", lambda: owned.append("owned"))
    page.goto(f"{traced.url}/runs/made/cases/1?tab=spans&span=3")
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_role("row").nth(1)).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # on paper every row is drawn
    expect(panel.get_by_role("row")).to_have_count(len(MARKUP) + 2)
    for one in panel.locator("summary").all():
        one.click()
    expect(panel).to_contain_text("<script")
    inside = "script, img, iframe, object, embed, form, svg, math, style, link, base"
    expect(panel.locator(inside)).to_have_count(0)
    assert owned == []


def test_a_call_that_breaks_a_rule_is_marked_with_the_rule(
    page: Page, site: Site, axe: Look, fits: Look
) -> None:
    open_case(page, site, "retail.hasty", 0, "?tab=tools")
    rule = page.get_by_role("tabpanel").get_by_text(re.compile("rule: ")).first.inner_text()
    page.get_by_role("tab", name="Time").click()
    rows = page.get_by_role("table", name="Spans").get_by_role("row").filter(has_text="rule: ")
    expect(rows.first).to_contain_text(rule)
    expect(rows.first.get_by_role("button")).to_contain_text("tool ")
    axe(page)
    fits(page)


def test_a_key_zooms_to_the_span_that_has_the_focus(page: Page, timed: Site) -> None:
    page.goto(f"{timed.url}/runs/made/cases/0?tab=spans")
    rows = page.get_by_role("table", name="Spans").get_by_role("row")
    rows.nth(4).get_by_role("button").focus()
    page.keyboard.press("z")
    expect(page).to_have_url(re.compile(r"zoom=1-1\.4"))
    assert "span=" not in page.url
