"""A page on paper: tables begin below their heading, and what is drawn is there without the grounds that a printer leaves out."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.case.test_case import run_of
from tests.browser.conftest import Site
from tests.browser.layout.test_every_screen import _two

_BARS = """(names) => [...document.querySelectorAll(names)]
    .filter((one) => getComputedStyle(one).backgroundColor !== 'rgba(0, 0, 0, 0)')
    .map((one) => getComputedStyle(one).printColorAdjust)"""


def _style(page: Page, table: str, name: str) -> str:
    found = page.get_by_role("table", name=table)
    expect(found).to_be_visible()
    return str(found.evaluate("(one, name) => getComputedStyle(one)[name]", name))


def test_a_table_continues_on_the_next_sheet(page: Page, site: Site) -> None:
    page.emulate_media(media="print")
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}")
    assert _style(page, "Cases", "breakInside") == "auto"


def test_bars_are_printed(page: Page, site: Site) -> None:
    page.emulate_media(media="print")
    page.goto(f"/compare?{_two(site)}")
    expect(page.get_by_text("On these cases")).to_be_visible()
    bars = page.evaluate(_BARS, "[class*=bar] i, [class*=bar] u")
    assert len(bars) > 4
    page.goto(f"/runs/{run_of(site, 'retail.hasty')}/cases/0?tab=spans")
    expect(page.get_by_role("table", name="Spans")).to_be_visible()
    bars += page.evaluate(_BARS, "[class*=track] i")
    assert set(bars) == {"exact"}


def test_a_long_panel_continues_on_the_next_sheet_and_a_chart_fits_the_paper(page: Page, site: Site) -> None:
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}")
    panel = page.locator(".panel", has=page.locator("table", has_text="Scores of the cases"))
    expect(panel).to_be_visible()
    page.emulate_media(media="print")
    assert panel.evaluate("(one) => getComputedStyle(one).breakInside") == "auto"
    page.emulate_media(media="screen")
    page.goto(f"/matrix?runs={run_of(site, 'travel')},{run_of(site, 'travel.flawed')}")
    chart = page.get_by_role("group", name="Cases passed by")
    expect(chart).to_be_visible()
    page.emulate_media(media="print")
    assert chart.evaluate("(one) => getComputedStyle(one).maxWidth") == "100%"
