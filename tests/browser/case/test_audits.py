"""Audits on the page: apart from the runs, from the list to a planted fault that a case does not notice; and in one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Problems, Site, visit, watch
from tests.browser.samples import STORE, proctor

Look = Callable[[Page], None]
BOOKINGS = "examples/travel/bookings.evalset.json"


@pytest.fixture
def page(browser: Browser, audited: Site, problems: Problems) -> Iterator[Page]:
    """A page of `audited`. The test fails when anything went wrong on it."""
    context = visit(browser, audited.url, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    watch(page, problems)
    yield page
    assert problems.left() == []
    context.close()


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    """A server of a project with one run, and one audit of its eval set."""
    folder = tmp_path_factory.mktemp("audited")
    root = Path(__file__).resolve().parents[3]
    (folder / "examples").symlink_to(root / "examples")
    proctor(folder, f"eval examples/travel {BOOKINGS}")
    proctor(folder, f"audit {BOOKINGS}")
    return serve(folder, folder / STORE)


def test_from_the_run_to_the_fault_that_its_case_does_not_notice(
    page: Page, axe: Look, fits: Look, shot: Callable[[Page, str], None]
) -> None:
    page.goto("/runs")
    expect(page.get_by_role("table", name="Runs").get_by_role("row")).to_have_count(2)
    page.get_by_role("row").filter(has_text="bookings").click()
    page.get_by_role("link", name="classes of faults").click()
    main = page.get_by_role("main")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit of bookings")
    expect(main).to_contain_text("blind to wrong numbers, wrong dates, negations")
    blind = page.get_by_role("row").filter(has_text="wrong numbers").first
    expect(blind).to_contain_text("0 of 3")
    expect(blind.get_by_role("img", name="wrong numbers: 0 % caught, 0 of 3, 95 % CI")).to_be_visible()
    axe(page)
    fits(page)
    shot(page, "audit")
    case = page.get_by_role("table", name="Cases").get_by_role("row").filter(has_text="table_in_one_go")
    expect(case).not_to_contain_text("not noticed", use_inner_text=True)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(case).to_contain_text(re.compile("not noticed: .*wrong numbers"), use_inner_text=True)
    fits(page)
    page.set_viewport_size({"width": 1280, "height": 860})
    page.get_by_role("button", name="Copy the change of").click()
    assert '"numeric_match": 1.0' in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("row").filter(has_text="table_in_one_go").click()
    mutant = page.get_by_role("region", name="Mutant: wrong numbers")
    expect(mutant).to_contain_text("mutated")
    expect(mutant).to_contain_text("Why it passes: tool_trajectory 1.00 ≥ 1")
    expect(page.get_by_role("region", name="Mutant: wrong units").get_by_text("Why it passes")).to_have_count(
        0
    )
    page.keyboard.press("]")
    expect(
        page.get_by_role("region", name="Mutant: wrong units").get_by_text("Why it passes")
    ).to_be_visible()
    axe(page)
    fits(page)
    shot(page, "audited-case")
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit of bookings")


def test_the_address_of_a_run_with_the_id_of_an_audit_leads_to_its_page(
    page: Page, audited: Site, problems: Problems
) -> None:
    audit = audited.get("/api/audits")["items"][0]["run_id"]
    problems.expect("404")
    page.goto(f"/runs/{audit}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit of bookings")
    assert page.url.endswith(f"/audits/{audit}")
    page.goto("/runs/no-such-run")
    expect(page.get_by_role("heading", level=1)).to_have_text("Run not found")


@pytest.mark.nightly
def test_an_audit_as_one_file_shows_the_same_without_a_server(
    browser: Browser, audited: Site, problems: Problems
) -> None:
    audit = audited.get("/api/audits")["items"][0]["run_id"]
    proctor(audited.folder, f"export {audit} -o audit.html")
    context = visit(browser, None, offline=True)
    page = context.new_page()
    watch(page, problems)
    page.goto((audited.folder / "audit.html").as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text("Audit of bookings")
    page.get_by_role("row").filter(has_text="table_in_one_go").click()
    expect(page.get_by_role("region", name="Mutant: wrong numbers")).to_contain_text("Why it passes")
    page.get_by_role("link", name="Runs").click()  # the file has the audit, and no run
    expect(page.get_by_role("heading", level=1)).to_have_text("Audits")
    assert problems.left() == []
    context.close()
