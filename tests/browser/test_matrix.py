"""Screen 4, of several runs: a row a case, a column a run."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.test_compare import ids

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]


@pytest.fixture
def three(site: Site) -> str:
    """Three runs of one eval set."""
    return "/matrix?runs=" + ",".join([*ids(site, "travel")[:2], ids(site, "travel.flawed")[0]])


def _open(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.get_by_role("table", name="Cases")).to_be_visible()


def test_a_row_a_case_and_a_column_a_run(page: Page, site: Site, three: str, shot: Shot) -> None:
    _open(page, three)
    reported = site.get(f"/api{three}")
    expect(page.locator("main")).to_contain_text("7 of 8 cases differ.")
    rows = page.get_by_role("table", name="Cases").get_by_role("row")
    expect(rows).to_have_count(1 + len(reported["rows"]))
    for run in reported["runs"]:
        expect(rows.first).to_contain_text(run["agent"])
    for at, row in enumerate(reported["rows"]):
        expect(rows.nth(at + 1)).to_contain_text(row["eval_id"])
        for cell in row["cells"]:
            sign = {"passed": "✓", "failed": "✕", "error": "!"}[cell["outcome"]]
            expect(rows.nth(at + 1)).to_contain_text(sign)
    shot(page, "matrix")


def test_quality_is_drawn_against_expense(page: Page, three: str, axe: Look, fits: Look, shot: Shot) -> None:
    _open(page, three)
    picture = page.get_by_role("region", name="Quality and expense")
    items = picture.get_by_role("listitem")
    expect(items).to_have_count(3)
    expect(items.nth(2)).to_contain_text("12.5")
    # which one depends on durations: of the two that pass equally often, the slower one, and the third if it is no faster
    dominated = items.filter(has_text="another is at least as good and not more expensive")
    expect(dominated).not_to_have_count(0)
    axe(page)
    fits(page)
    shot(page, "scatter")
    point = picture.get_by_role("link", name=re.compile(r"^3, travel\.flawed .*12\.5.*of cases passed"))
    point.locator("circle").last.click()
    page.wait_for_url("**/runs/*")


@pytest.mark.nightly
def test_only_what_differs_is_in_the_address(page: Page, three: str) -> None:
    _open(page, three)
    page.keyboard.press("d")
    expect(page.get_by_role("row")).to_have_count(8)
    expect(page).to_have_url(re.compile("only=different"))
    page.reload()
    expect(page.get_by_role("row")).to_have_count(8)
    page.get_by_label("Only cases that differ").uncheck()
    expect(page.get_by_role("row")).to_have_count(9)


@pytest.mark.nightly
def test_runs_are_added_and_left_out(page: Page, site: Site, three: str) -> None:
    _open(page, three)
    page.keyboard.press("D")
    expect(page.get_by_role("button", name=re.compile("Leave out run")).first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="2 runs side by side")).to_be_visible()
    page.evaluate("() => document.activeElement?.blur()")
    page.keyboard.press("a")
    expect(page.get_by_label("Add a run")).to_be_focused()
    page.get_by_label("Add a run").select_option(ids(site, "travel")[0])
    expect(page.get_by_role("heading", name="3 runs side by side")).to_be_visible()
    expect(page).to_have_url(re.compile(f"{ids(site, 'travel')[0]}$"))


@pytest.mark.nightly
def test_a_cell_leads_to_its_case(page: Page, site: Site, three: str) -> None:
    _open(page, three)
    cell = site.get(f"/api{three}")["rows"][0]["cells"][2]
    page.get_by_role("table", name="Cases").get_by_role("row").nth(1).get_by_role("link").nth(2).click()
    expect(page).to_have_url(re.compile(rf"/runs/{ids(site, 'travel.flawed')[0]}/cases/{cell['position']}"))


@pytest.mark.nightly
def test_it_is_usable_by_all_and_fits(page: Page, three: str, axe: Look, fits: Look) -> None:
    _open(page, three)
    axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)


@pytest.mark.nightly
def test_without_runs_it_shows_what_to_do(page: Page, axe: Look) -> None:
    page.goto("/matrix")
    expect(page.get_by_text("Which runs?")).to_be_visible()
    axe(page)
