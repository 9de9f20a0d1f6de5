"""Screen 8, blessing with review: case by case, as the file has it, and nothing written that was not read."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.case.test_case import run_of
from tests.browser.conftest import Problems, Site, visit, watch
from tests.browser.samples import proctor

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
SET = "examples/travel/bookings.evalset.json"


@pytest.fixture
def own_page(browser: Browser, own_site: Site, problems: Problems) -> Iterator[Page]:
    """A page of a project that may be changed, with its own run."""
    proctor(own_site.folder, f"eval examples/travel/flawed.py {SET} --num-runs 2")
    context = visit(browser, own_site.url)
    page = context.new_page()
    watch(page, problems)
    yield page
    context.close()
    assert problems.left() == []


def expected(site: Site, eval_id: str) -> Any:
    document = json.loads((site.folder / SET).read_text())
    return next(case for case in document["eval_cases"] if case["eval_id"] == eval_id)["conversation"]


@pytest.mark.slow
def test_each_case_is_reviewed_and_only_what_is_accepted_is_written(
    own_page: Page, own_site: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    before = {name: expected(own_site, name) for name in ("two_turn_booking", "table_in_one_go")}
    own_page.goto(f"/runs/{run_of(own_site, 'travel.flawed')}/bless")
    case = own_page.get_by_role("region", name="two_turn_booking")
    expect(case).to_contain_text("conversation[1].final_response.parts[0].text")
    expect(case.locator("del").first).to_have_text("2")
    expect(case.locator("ins").first).to_have_text("4")
    case.get_by_text("Lines of").click()
    expect(case.locator("pre").first).to_contain_text("Done! Table booked at La Trattoria for 4 at 7pm.")
    axe(own_page)
    fits(own_page)
    shot(own_page, "bless")
    boxes = own_page.get_by_role("checkbox")
    expect(boxes).to_have_count(6)
    for box in boxes.all():
        expect(box).not_to_be_checked()
    expect(own_page.get_by_role("button", name="Nothing accepted")).to_be_disabled()
    own_page.get_by_role("button", name="Tick all 6").click()
    expect(own_page.get_by_role("button", name=re.compile("^Write"))).to_have_text(
        "Write 6 cases into bookings.evalset.json"
    )
    own_page.get_by_role("button", name="Untick all").click()
    boxes.first.check()
    own_page.get_by_role("button", name="Write 1 case into bookings.evalset.json").click()
    expect(own_page.get_by_role("heading", name="Written")).to_be_visible()
    assert expected(own_site, "two_turn_booking")[1]["final_response"]["parts"][0]["text"].endswith(
        "for 4 at 7pm."
    )
    assert expected(own_site, "two_turn_booking") != before["two_turn_booking"]
    assert expected(own_site, "table_in_one_go") == before["table_in_one_go"]


@pytest.mark.slow
def test_the_filter_of_the_table_chooses_the_cases(page: Page, site: Site, fits: Look, shot: Shot) -> None:
    run = run_of(site, "travel.flawed")
    page.goto(f"/runs/{run}?q=case:cancel")
    page.get_by_role("link", name="Bless …").click()
    cases = page.locator("section[data-status]")
    expect(page.get_by_text("match the filter case:cancel and did not pass: 1.")).to_be_visible()
    expect(cases).to_have_count(1)
    expect(page.get_by_role("checkbox").first).not_to_be_checked()
    fits(page)
    shot(page, "bless-filter")
    page.get_by_role("link", name="All failed cases").click()
    expect(cases).to_have_count(6)
    page.goto(f"/runs/{run}?q=outcome:passed")
    page.get_by_role("link", name="Bless …").click()
    expect(page.get_by_text("Every case that matches the filter passed or was not run.")).to_be_visible()


@pytest.mark.slow
def test_the_copied_command_writes_what_the_button_writes(own_page: Page, own_site: Site) -> None:
    own_page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def answer_late(route: Route) -> None:
        time.sleep(0.5)
        route.continue_()

    own_page.route("**/bless/preview", answer_late)
    own_page.goto(f"/runs/{run_of(own_site, 'travel.flawed')}/bless", wait_until="commit")
    expect(own_page.get_by_text("Loading")).to_be_attached()
    for key in "xjjx":  # struck before the cases are shown
        own_page.keyboard.press(key)
    expect(own_page.get_by_role("button", name=re.compile("^Write 2 cases"))).to_be_enabled()
    own_page.keyboard.press("Y")
    expect(own_page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    command = own_page.evaluate("navigator.clipboard.readText()")
    before = (own_site.folder / SET).read_bytes()
    proctor(own_site.folder, f"{command.removeprefix('proctor ')} --yes")
    after = (own_site.folder / SET).read_bytes()
    assert after != before
    (own_site.folder / SET).write_bytes(before)
    own_page.keyboard.press("W")
    expect(own_page.get_by_role("heading", name="Written")).to_be_visible()
    assert (own_site.folder / SET).read_bytes() == after


def test_without_a_ticked_case_there_is_no_command(page: Page, site: Site) -> None:
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}/bless")
    copy = page.get_by_role("button", name="Copy command")
    expect(copy).to_be_disabled()
    expect(copy).to_have_attribute("title", "tick a case (Y)")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("copy the command – not now: tick a case")


@pytest.mark.nightly
@pytest.mark.slow
def test_a_file_that_changed_in_between_is_not_written(
    own_page: Page, own_site: Site, problems: Problems
) -> None:
    own_page.goto(f"/runs/{run_of(own_site, 'travel.flawed')}/bless?cases=0")
    own_page.get_by_role("checkbox").check()
    write = own_page.get_by_role("button", name="Write 1 case into bookings.evalset.json")
    expect(write).to_be_enabled()
    path = own_site.folder / SET
    path.write_text(path.read_text() + "\n")
    mine = path.read_bytes()
    problems.expect("412")
    write.click()
    expect(
        own_page.get_by_role("alert").filter(has_text="the eval set has changed since this review").first
    ).to_be_visible()
    assert path.read_bytes() == mine
    own_page.get_by_role("button", name="Try again").click()
    expect(own_page.get_by_role("alert")).to_have_count(0)
    own_page.get_by_role("checkbox").check()
    own_page.get_by_role("button", name=re.compile("^Write 1 case")).click()
    expect(own_page.get_by_role("heading", name="Written")).to_be_visible()


@pytest.mark.nightly
def test_where_trials_did_not_go_alike_one_is_chosen(page: Page, site: Site, shot: Shot) -> None:
    page.goto(f"/runs/{run_of(site, 'greeter')}/bless")
    case = page.get_by_role("region", name="moody")
    expect(case).to_contain_text("went differently from trial to trial (4 trials): choose one.")
    shot(page, "bless-choose")
    run, position = run_of(site, "greeter"), 1
    trials = site.get(f"/api/runs/{run}/cases/{position}")["trials"]
    failed = next(one["number"] for one in trials if one["outcome"] == "failed")
    expect(case).to_contain_text("flaky")
    case.get_by_role("combobox").select_option(label=f"{failed + 1} (failed)")
    expect(case.get_by_role("checkbox")).not_to_be_checked()
    expect(case).to_contain_text(
        f"The trials differ: the case would expect only what trial {failed + 1} did."
    )
    expect(case.locator("ins")).to_contain_text("Go away")
    expect(page).to_have_url(re.compile("trials="))
    expect(page.get_by_role("region", name="<script>alert(1)</script>")).to_contain_text(
        "<img src=x onerror=alert(1)>"
    )


def test_a_case_leads_to_its_own_blessing(page: Page, site: Site) -> None:
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}/cases/0?trial=2")
    page.get_by_role("link", name="Bless …").click()
    expect(page.get_by_role("region", name="two_turn_booking").get_by_role("combobox")).to_have_value("1")
    page.get_by_role("checkbox").check()
    expect(page.get_by_role("button", name="Write 1 case into bookings.evalset.json")).to_be_visible()


@pytest.mark.nightly
def test_where_nothing_failed_there_is_nothing_to_bless(page: Page, site: Site) -> None:
    page.goto(f"/runs/{run_of(site, 'dice')}/bless")
    expect(page.get_by_role("heading", name="Nothing to bless")).to_be_visible()
