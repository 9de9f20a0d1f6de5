"""Screen 9: the keys of a set that are none of its cases, edited in the page; nothing else of the file changes."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Problems, Site
from tests.browser.editor.test_cases import FULL, XSS, Look, Sets, Shot, note_dialogs, sets

__all__ = ["sets"]

TEXT = (
    '{\n  // ours\n  "eval_set_id": "tables",\n  "name": "Tables",\n  "owner": {"team": "eval", "since": 1.50},\n'
    f'  "eval_cases": [{json.dumps(FULL)}],\n  "creation_timestamp": 1700000000.25\n}}'
)


@pytest.fixture(scope="module")
def site(serve: Callable[..., Site], tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project with eval sets; each test writes its own."""
    folder = tmp_path_factory.mktemp("sets")
    return serve(folder, folder / "store.sqlite3")


def opened(page: Page, sets: Sets, text: str = TEXT) -> Locator:
    """Open the editor of a set's own keys."""
    sets.write(text=text)
    page.goto(sets.address)
    page.get_by_role("button", name="Edit the properties of the eval set").click()
    dialog = page.get_by_role("dialog", name="Properties of the eval set")
    expect(dialog.get_by_role("textbox", name="Name", exact=True)).to_be_visible()
    return dialog


def test_a_name_a_description_and_a_key_of_ones_own(
    page: Page, sets: Sets, axe: Look, fits: Look, shot: Shot
) -> None:
    dialog = opened(page, sets)
    expect(dialog).to_contain_text("tables")
    expect(dialog).to_contain_text("2023-11-1")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_role("textbox", name="Name").fill("All tables")
    dialog.get_by_role("textbox", name="Description").fill("What guests ask for.")
    dialog.get_by_label("Everything else, as JSON").fill('{"owner": {"team": "guests", "since": 1.50}}')
    axe(page)
    fits(page)
    shot(page, "eval-set-head")
    dialog.get_by_role("button", name="Show changes").click()
    changes = page.get_by_role("dialog", name="What changes in")
    expect(changes.get_by_role("row").filter(has_text='"name": "All tables"')).to_be_visible()
    axe(page)
    assert sets.path.read_text() == TEXT
    changes.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="All tables", level=1)).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_text("What guests ask for.")).to_be_visible()
    assert sets.path.read_text() == TEXT.replace('"Tables"', '"All tables"').replace(
        '"team": "eval", "since": 1.50},',
        '"team": "guests", "since": 1.50},\n  "description": "What guests ask for.",',
    )


@pytest.mark.nightly
def test_another_user_edits_the_same_set(
    page: Page, sets: Sets, problems: Problems, axe: Look, shot: Shot
) -> None:
    problems.expect("412")
    dialog = opened(page, sets)
    dialog.get_by_role("textbox", name="Name").fill("Mine")
    dialog.get_by_role("textbox", name="Description").fill("Mine, too.")
    theirs = TEXT.replace('"Tables"', '"Theirs"').replace('"since": 1.50', '"since": 2')
    sets.path.write_text(theirs)
    dialog.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("dialog", name="Someone else changed this set")
    expect(conflict).to_contain_text("1 place was changed on both sides")
    axe(page)
    shot(page, "eval-set-head-conflict")
    assert sets.path.read_text() == theirs
    conflict.get_by_role("button", name="Use what is chosen").click()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Mine", level=1)).to_be_visible()
    assert sets.path.read_text() == theirs.replace('"Theirs"', '"Mine"').replace(
        '"since": 2},', '"since": 2},\n  "description": "Mine, too.",'
    )


@pytest.mark.nightly
def test_comments_go_only_when_that_is_confirmed(page: Page, sets: Sets, problems: Problems) -> None:
    problems.expect("409")
    dialog = opened(page, sets, TEXT.replace('"eval", ', '"eval", // because\n'))
    dialog.get_by_label("Everything else, as JSON").fill('{"owner": "unknown"}')
    dialog.get_by_role("button", name="Save", exact=True).click()
    asked = page.get_by_role("dialog", name="What changes in")
    expect(asked.get_by_role("alert").filter(has_text="// because").first).to_be_visible()
    assert "// because" in sets.path.read_text()
    asked.get_by_role("button", name="Save and discard the comments").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert "// because" not in sets.path.read_text()
    assert "// ours" in sets.path.read_text()


@pytest.mark.nightly
def test_what_is_wrong_is_reported_and_what_was_written_is_kept(
    page: Page, sets: Sets, problems: Problems
) -> None:
    problems.expect("422")
    dialog = opened(page, sets)
    others = dialog.get_by_label("Everything else, as JSON")
    others.fill('{"owner": 1,}')
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    others.fill('{"eval_set_id": "other"}')
    expect(dialog.get_by_role("alert").filter(has_text="has its own field above").first).to_be_visible()
    others.fill('{"evalCases": []}')
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog.get_by_role("alert").filter(has_text="edit them one by one").first).to_be_visible()
    others.fill('{"owner": "me"}')
    page.keyboard.press("Escape")  # leaves the field
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Edit the properties of the eval set").click()
    expect(others).to_have_value('{\n  "owner": "me"\n}')
    assert sets.path.read_text() == TEXT


def test_hostile_text_is_text(page: Page, sets: Sets) -> None:
    dialogs: list[str] = []
    note_dialogs(page, dialogs)
    head = {"eval_set_id": XSS, "name": XSS, "description": XSS, XSS: {XSS: XSS}, "eval_cases": [FULL]}
    dialog = opened(page, sets, json.dumps(head))
    expect(page.locator("img, main script, iframe, [onerror]")).to_have_count(0)
    dialog.get_by_role("textbox", name="Name").fill("x")
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(dialog).to_be_hidden()
    assert dialogs == []
    assert json.loads(sets.path.read_text()) == {**head, "name": "x"}


@pytest.mark.nightly
def test_a_set_without_a_place_for_them_has_no_edit(page: Page, sets: Sets) -> None:
    sets.write(text=json.dumps([FULL]))
    page.goto(sets.address)
    expect(page.get_by_role("table", name="Cases")).to_be_visible()
    expect(page.get_by_role("button", name="Edit the properties of the eval set")).to_have_count(0)
