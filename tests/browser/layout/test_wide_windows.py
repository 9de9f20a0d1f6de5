"""A wide window shows wide tables and pictures; fields keep a width that can be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.case.test_case import run_of
from tests.browser.conftest import Site, visit


@pytest.mark.parametrize("width", [1280, 2200])
def test_tables_use_the_width_of_the_window(browser: Browser, site: Site, width: int) -> None:
    context = visit(browser, site.url, viewport={"width": width, "height": 1000})
    page = context.new_page()
    page.goto(f"/runs/{run_of(site, 'travel.flawed')}")
    table = page.get_by_role("table", name="Cases")
    expect(table).to_be_visible()
    box = table.bounding_box()
    assert box is not None
    assert width * 0.8 < box["width"] < width * 0.95
    page.goto("/start")
    field = page.get_by_label("Agent", exact=True)
    expect(field).to_be_visible()
    box = field.bounding_box()
    assert box is not None
    assert box["width"] < 1240
    context.close()
