"""Screen 9: the text of a set that cannot be read is put right in the page, with what is wrong next to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Problems, Site, watch

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

BROKEN = """{"eval_set_id": "b", // why not
 "eval_cases": [
  {"eval_id": "rome", "conversation": []},
  {"evl_id": "oslo", "conversation": []}
 ],
}
"""
MENDED = BROKEN.replace("evl_id", "eval_id")


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with eval sets; each test writes its own."""
    folder = tmp_path_factory.mktemp("texts")
    return serve(folder, folder / "store.sqlite3")


class Broken:
    """A set that cannot be read, on disk and in the address."""

    def __init__(self, site: Site, path: Path) -> None:
        self.site, self.path = site, path

    @property
    def address(self) -> str:
        rows = self.site.get("/api/eval-sets")["items"]
        return "/eval-sets/" + str(next(row["id"] for row in rows if row["path"] == self.path.name))


@pytest.fixture
def broken(site: Site, request: pytest.FixtureRequest) -> Broken:
    name = "".join(char if char.isalnum() else "_" for char in request.node.name)[:60]
    made = Broken(site, site.folder / f"{name}.evalset.json")
    made.path.write_bytes(BROKEN.replace("\n", "\r\n").encode())
    return made


def text_of(broken: Broken) -> str:
    return broken.path.read_bytes().decode()


def test_a_broken_set_is_put_right_where_its_problems_are_reported(
    page: Page, broken: Broken, axe: Look, fits: Look, shot: Shot
) -> None:
    page.goto(broken.address)
    problems = page.get_by_role("list", name="Problems of the text")
    expect(problems).to_contain_text("eval_id")
    area = page.get_by_label("Text of the file that cannot be read")
    expect(area).to_have_value(BROKEN)
    axe(page)
    shot(page, "eval-set-text")
    fits(page)
    problems.get_by_role("button").filter(has_text="error").first.click()
    expect(area).to_be_focused()
    expect(page.get_by_text("Line 4, column 3")).to_be_visible()
    area.fill(MENDED)
    expect(page.get_by_text("Valid.", exact=True)).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("table", name="Cases").get_by_role("row")).to_have_count(3)
    assert text_of(broken) == MENDED.replace("\n", "\r\n")


@pytest.mark.nightly
def test_what_is_still_unreadable_is_saved_only_when_that_is_asked_for(
    page: Page, broken: Broken, problems: Problems
) -> None:
    problems.expect("422")
    page.goto(broken.address)
    area = page.get_by_label("Text of the file that cannot be read")
    half = BROKEN.replace("rome", "paris")
    area.fill(half)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="still cannot be read").first).to_be_visible()
    assert "rome" in text_of(broken)
    page.get_by_role("button", name="Save anyway").click()
    expect(page.get_by_role("status").get_by_text("saved", exact=True)).to_be_visible()
    assert text_of(broken) == half.replace("\n", "\r\n")


@pytest.mark.nightly
def test_two_who_put_one_file_right_do_not_overwrite_each_other(
    page: Page, context: BrowserContext, broken: Broken, problems: Problems
) -> None:
    problems.expect("412")
    other = context.new_page()
    watch(other, problems)
    for one in (page, other):
        one.goto(broken.address)
        expect(one.get_by_label("Text of the file that cannot be read")).to_be_visible()
    other.get_by_label("Text of the file that cannot be read").fill(MENDED)
    other.get_by_role("button", name="Save", exact=True).click()
    expect(other.get_by_role("table", name="Cases")).to_be_visible()
    page.get_by_label("Text of the file that cannot be read").fill(MENDED.replace("rome", "paris"))
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="Someone else changed this file")
    expect(dialog).to_be_visible()
    assert "rome" in text_of(broken)
    dialog.get_by_role("button", name="Keep mine").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("table", name="Cases")).to_contain_text("paris")


@pytest.mark.nightly
def test_leaving_asks_and_coming_back_finds_the_text(page: Page, broken: Broken) -> None:
    page.goto(broken.address)
    page.get_by_label("Text of the file that cannot be read").fill("half done")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Eval sets").click()
    page.get_by_role("dialog", name="Not saved yet").get_by_role(
        "button", name="Leave without saving"
    ).click()
    page.get_by_role("link", name=broken.path.name).click()
    expect(page.get_by_text("Your earlier unsaved changes are restored")).to_be_visible()
    expect(page.get_by_label("Text of the file that cannot be read")).to_have_value("half done")


@pytest.mark.nightly
def test_a_set_that_can_be_read_is_edited_as_text_too(page: Page, broken: Broken) -> None:
    broken.path.write_text(MENDED)
    page.goto(broken.address)
    page.get_by_role("button", name="Edit as text").click()
    page.get_by_label("Text of the file", exact=True).fill(MENDED.replace("rome", "paris"))
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").get_by_text("saved", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show the cases").click()
    expect(page.get_by_role("table", name="Cases")).to_contain_text("paris")
    assert text_of(broken) == MENDED.replace("rome", "paris")


@pytest.mark.nightly
def test_a_case_of_a_broken_set_leads_to_its_text(page: Page, broken: Broken, problems: Problems) -> None:
    problems.expect("4(00|09|22)")
    page.goto(f"{broken.address}/cases/rome")
    page.get_by_role("link", name="Edit the file as text").click()
    expect(page.get_by_label("Text of the file that cannot be read")).to_have_value(BROKEN)
