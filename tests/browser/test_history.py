"""Screen 12: what became of cases and metrics over the runs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, Problems, Site
from tests.browser.test_compare import ids
from tests.browser.waiting import copied

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
_AS_ONE = "combine=true"
"""The runs of both agents as one history: `travel` passes, `travel.flawed` fails."""
_CASE = f"/history?set=bookings&case=two_turn_booking&{_AS_ONE}"
_API_CASE = "/api/history?set=bookings&case=two_turn_booking&combine_agents=true"


def _open(page: Page, path: str = f"/history?{_AS_ONE}") -> None:
    page.goto(path)
    expect(page.get_by_role("table").first).to_be_visible()


def test_what_broke_comes_first_with_the_run_in_which_it_did(page: Page, site: Site, shot: Shot) -> None:
    _open(page)
    reported = [
        case for case in site.get("/api/history?combine_agents=true")["cases"] if case["course"] != "steady"
    ]
    rows = page.get_by_role("table", name="Cases").get_by_role("row")
    expect(rows).to_have_count(1 + len(reported))
    for at, case in enumerate(reported):
        expect(rows.nth(at + 1).get_by_text(case["eval_id"], exact=True)).to_be_visible()
    expect(rows.nth(1)).to_contain_text("Now fails")
    expect(rows.nth(1)).to_contain_text(reported[0]["sentence"])
    shot(page, "history")


@pytest.mark.nightly
def test_a_course_and_words_and_a_set_are_in_the_address(page: Page) -> None:
    _open(page)
    table = page.get_by_role("table", name="Cases")
    page.get_by_role("button", name=re.compile(r"^Passed \d+")).click()
    expect(table).to_contain_text("no_such_restaurant")
    page.reload()
    expect(table).to_contain_text("no_such_restaurant")
    page.get_by_role("button", name=re.compile(r"^Passed \d+")).click()
    page.get_by_label("Eval set").select_option("bookings")
    expect(page).to_have_url(re.compile("set=bookings"))
    expect(page.locator("main")).to_contain_text("Over all 3 runs: 6 now fail")
    page.get_by_label("Filter cases").fill("cancel")
    expect(table.get_by_role("row")).to_have_count(2)


@pytest.mark.nightly
def test_a_metric_of_one_set_is_a_line_with_its_interval(page: Page, site: Site) -> None:
    _open(page, f"/history?set=bookings&metric=response_match_score&{_AS_ONE}")
    chart = page.get_by_role("group", name="response_match_score over 3 runs")
    points = chart.get_by_role("link")
    expect(points).to_have_count(3)
    within = re.compile(r"\d\.\d\d, 95 % CI: .* to .*, threshold ")
    expect(points.nth(2)).to_have_attribute("aria-label", within)
    points.nth(2).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/runs/{ids(site, 'travel.flawed')[0]}$"))


@pytest.mark.nightly
def test_of_several_sets_no_metric_is_reported_as_if_they_were_one(page: Page) -> None:
    _open(page)
    expect(page.locator("figure")).to_have_count(0)
    expect(page.locator("main")).to_contain_text("Choose an eval set to see its metrics.")


@pytest.mark.nightly
def test_one_case_run_by_run_and_where_it_turned(
    page: Page, site: Site, shot: Shot, axe: Look, fits: Look
) -> None:
    _open(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="two_turn_booking")).to_be_visible()
    expect(page).to_have_url(re.compile("case=two_turn_booking"))
    strip = (
        page.get_by_role("list", name="Runs, oldest first")
        .get_by_role("listitem")
        .filter(has_text=re.compile(r"\S"))
    )
    expect(strip).to_have_text([re.compile(f"^{sign}") for sign in "✓✓✕"])
    commit = site.get(_API_CASE)["runs"][-1]["commit"] or ""
    expect(strip.first).to_have_text(re.compile(f"{commit[:7]}$"))
    turned = page.locator("li[data-turned] a")
    expect(turned).to_have_attribute("aria-label", re.compile("the first run with this outcome"))
    rows = page.get_by_role("table", name="Runs").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("the outcome changed here")
    expect(rows.nth(1)).to_contain_text("the agent was travel and is travel.flawed")
    expect(rows.filter(has_text="the outcome changed here")).to_have_count(1)
    expect(page.locator("figure").nth(1)).to_be_visible()
    expect(page.locator("figure").first).to_contain_text(
        "you changed: the agent was travel and is travel.flawed"
    )
    expect(strip.last).to_contain_text("newest")
    shot(page, "history-case")
    axe(page)
    fits(page)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes
    expect(page.get_by_role("table", name="Runs").get_by_role("row").nth(1)).to_contain_text("covers")


@pytest.mark.nightly
def test_from_where_it_turned_a_link_leads_to_both_runs(page: Page) -> None:
    _open(page, _CASE)
    page.get_by_role("link", name="The two runs side by side").click()
    expect(page.locator("main")).to_contain_text("First difference in turn 2")


def test_a_run_leads_to_the_case_in_it_and_u_to_all_cases(page: Page, site: Site) -> None:
    _open(page, _CASE)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/runs/{ids(site, 'travel.flawed')[0]}/cases/0"))
    page.go_back()
    expect(page.get_by_role("table", name="Runs")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("table", name="Cases")).to_be_visible()


def test_each_agent_has_its_own_history_and_line(
    page: Page, site: Site, shot: Shot, axe: Look, fits: Look
) -> None:
    _open(page, "/history?set=bookings")
    agents = sorted({run["agent"] for run in site.get("/api/history?set=bookings")["runs"]})
    charts = page.locator("figure")
    expect(charts).to_have_count(2)  # the sample agents report neither cost nor tokens
    lines = charts.first.get_by_role("list", name="Lines").get_by_role("listitem")
    expect(lines).to_have_count(len(agents))
    assert sorted(text.split()[0] for text in lines.all_inner_texts()) == agents
    expect(charts.first).to_contain_text(re.compile(r"pass rate.*95 % CI.*\d %"))
    charts.first.get_by_text("Numbers", exact=True).click()
    expect(charts.first.get_by_role("row")).to_have_count(1 + 3)
    page.emulate_media(media="print")
    boxes = [charts.nth(at).bounding_box() or {"x": -at} for at in range(2)]
    assert boxes[0]["x"] == boxes[1]["x"]  # one below the other
    page.emulate_media(media="screen")
    rows = page.get_by_role("table", name="Cases").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("travel.flawed")
    expect(rows.nth(1)).to_contain_text("failed in its only run")
    expect(page.get_by_role("columnheader", name="oldest → newest")).to_be_visible()
    shot(page, "history-agents")
    axe(page)
    fits(page)
    page.get_by_role("button", name="All agents as one").click()
    expect(charts.first).to_contain_text("· shaded: ")
    expect(rows.nth(1)).to_contain_text("Now fails")


@pytest.mark.nightly
def test_a_case_of_two_agents_has_a_section_for_each(page: Page, site: Site) -> None:
    _open(page, "/history?set=bookings&case=two_turn_booking")
    for agent in {run["agent"] for run in site.get("/api/history?set=bookings")["runs"]}:
        expect(page.get_by_role("table", name=f"Runs of {agent}", exact=True)).to_be_visible()
    rows = page.locator("[role=table] [data-index]")
    for at in range(rows.count()):
        page.keyboard.press("j")
        expect(rows.nth(at)).to_have_attribute("aria-current", "true")
        expect(page.locator("[role=table] [aria-current]")).to_have_count(1)


def test_it_is_usable_by_all_and_fits(page: Page, axe: Look, fits: Look) -> None:
    _open(page, "/history?set=bookings")
    axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)


@pytest.mark.nightly
def test_a_case_that_no_run_has_is_reported(page: Page, problems: Problems) -> None:
    problems.expect("404")
    page.goto("/history?case=two_turn_bookin")
    expect(page.get_by_role("main")).to_contain_text("Did you mean 'two_turn_booking'?")
    expect(page.get_by_role("link", name="All cases")).to_have_attribute("href", "/history")


@pytest.mark.nightly
def test_it_is_copied_as_markdown(page: Page) -> None:
    _open(page, _CASE)
    page.get_by_role("button", name="Copy as Markdown").click()
    copied(page, "| Run | When | Commit | Outcome | Why |")
