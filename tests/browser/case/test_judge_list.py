"""The judges that gave verdicts, and what they are worth by labels of people."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.samples import proctor

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

METRIC = "hallucinations_v1"


@pytest.mark.nightly
def test_a_judge_without_labels_is_not_calibrated_and_shows_how_to_be(
    page: Page, axe: Look, fits: Look
) -> None:
    page.goto("/judges")
    expect(page.locator("main")).to_contain_text(
        "2 judges gave verdicts in the last 10 runs: 2 are not calibrated."
    )
    row = page.get_by_role("row").filter(has_text=METRIC)
    expect(row).to_contain_text("Not calibrated")
    expect(page.locator("main")).to_contain_text("proctor judge calibrate")
    axe(page)
    fits(page)


@pytest.mark.slow
def test_labels_of_people_decide_whether_a_judge_is_accurate(
    page: Page, own_site: Site, axe: Look, shot: Shot
) -> None:
    run = own_site.get("/api/judges")["items"][0]["last_run"]
    page.goto(f"{own_site.url}/judges")
    expect(page.get_by_role("row").filter(has_text=METRIC)).to_contain_text("Not calibrated")
    proctor(own_site.folder, f"judge label {run} about_bern --fail")
    proctor(own_site.folder, f"judge label {run} not_in_the_book --pass")
    page.reload()
    expect(page.locator("main")).to_contain_text(f"2 labelled verdicts in run {run[:6]} can calibrate")
    proctor(own_site.folder, f"judge calibrate {run} --metric {METRIC} --held-out 1")
    page.reload()
    row = page.get_by_role("row").filter(has_text=METRIC)
    expect(row).to_contain_text("May be chance")  # two labels never show more
    expect(row.get_by_role("img", name="kappa")).to_be_visible()
    axe(page)
    shot(page, "judge-list")


@pytest.mark.nightly
def test_where_no_judge_was_asked_it_shows_which_metrics_ask_one(
    page: Page, serve: Callable[..., Site], tmp_path: Path, axe: Look
) -> None:
    page.goto(f"{serve(tmp_path, tmp_path / 'store.sqlite3').url}/judges")
    expect(page.get_by_role("heading", name="No LLM judge was used yet")).to_be_visible()
    axe(page)
