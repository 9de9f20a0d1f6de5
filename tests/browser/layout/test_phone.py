"""What a phone, and a keyboard, would be the first to miss: nothing that is chosen, wrong or focused is cut off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.case.test_case import open_case
from tests.browser.conftest import NARROW, Site
from tests.browser.waiting import too_wide, until

_OVER = """() => {
    const list = document.querySelector("main [role=tablist]"), chosen = list.querySelector("[aria-selected=true]")
    return chosen.getBoundingClientRect().right - list.getBoundingClientRect().right
}"""


def narrow(page: Page) -> None:
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]  # a dict of numbers is what it takes


@pytest.mark.nightly
def test_the_chosen_tab_is_whole_also_when_another_gets_its_count_later(page: Page, site: Site) -> None:
    narrow(page)
    open_case(page, site, query="?tab=judges")
    expect(page.get_by_role("tab", name="Judges")).to_have_attribute("aria-selected", "true")
    assert until(page, lambda: float(page.evaluate(_OVER)), lambda pixels: pixels <= 1) <= 1


@pytest.mark.nightly
def test_the_list_of_eval_sets_shows_on_a_phone_what_is_wrong_with_one(
    page: Page, serve: Callable[..., Site], fits: Callable[[Page], None], tmp_path: Path
) -> None:
    (tmp_path / "broken.evalset.json").write_text('{"eval_set_id": "b", "eval_cases": 1}', encoding="utf-8")
    page.goto(f"{serve(tmp_path, tmp_path / 'store.sqlite3').url}/eval-sets")
    reported = page.get_by_role("row").filter(has_text="broken.evalset.json").get_by_text("1 error")
    expect(reported.locator("visible=true")).to_have_count(1)
    narrow(page)
    expect(page.get_by_role("columnheader", name="Problems")).to_be_hidden()
    expect(reported.locator("visible=true")).to_have_count(1)
    fits(page)


@pytest.mark.nightly
def test_the_focus_of_a_row_is_drawn_inside_of_it(page: Page, site: Site) -> None:
    """The head is above the first row, and would cover a ring that is drawn around it."""
    page.goto(f"/runs/{site.get('/api/runs/latest')['run_id']}")
    first = page.get_by_role("table", name="Cases").get_by_role("link").first
    first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    width = "(one) => { const { outlineOffset, outlineWidth } = getComputedStyle(one); return parseFloat(outlineOffset) + parseFloat(outlineWidth) }"
    assert float(first.evaluate(width)) <= 0


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize("width", [660, 390, 820])
def test_a_run_and_its_list_of_columns_are_inside_the_window(page: Page, site: Site, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"/runs/{site.get('/api/runs/latest')['run_id']}")
    page.get_by_text("Columns", exact=True).click()
    columns = page.get_by_role("group", name="Columns of the table").bounding_box()
    assert columns is not None
    assert columns["x"] >= 0
    assert columns["x"] + columns["width"] <= width
    assert too_wide(page) <= 0
