"""Screen 7, the judges: votes, rubrics, what was asked, and a person who disagrees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.case.test_case import open_case, run_of
from tests.browser.conftest import Problems, Site, visit, watch
from tests.browser.samples import proctor

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
RUBRICS = "rubric_based_final_response_quality_v1"


def test_votes_and_rubrics_are_reported_with_their_rationale(
    page: Page, site: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    open_case(page, site, "city_guide.boastful", query="?tab=judges")
    judge = page.get_by_role("region", name=RUBRICS)
    expect(judge).to_contain_text("rubric_based_final_response_quality 0.50 < 1")
    expect(judge).to_contain_text("3 votes, 2 more could not change the result")
    expect(judge).to_contain_text("The answer has no superlatives and no advertising.")
    expect(judge).to_contain_text("is a superlative, and reads like a brochure.")
    judge.get_by_text("3 of 3 agree (100").click()
    expect(judge.locator("ol li")).to_have_count(3)
    expect(judge.locator("ol li").first).to_contain_text("sober no")
    axe(page)
    fits(page)
    shot(page, "judges")


@pytest.mark.nightly
def test_what_was_asked_is_reconstructed(page: Page, site: Site) -> None:
    open_case(page, site, "city_guide.boastful", query="?tab=judges")
    judge = page.get_by_role("region", name=RUBRICS)
    judge.get_by_role("button", name="Show the prompt").click()
    expect(judge.locator("pre").last).to_contain_text("Tell me about Bern.")
    expect(judge).to_contain_text("the rest is the prompt that was sent")


@pytest.mark.nightly
def test_without_a_judge_the_page_reports_it(page: Page, site: Site) -> None:
    open_case(page, site, query="?tab=judges")
    expect(page.get_by_role("heading", name="No LLM judge scored this trial")).to_be_visible()


@pytest.mark.slow
def test_a_person_disagrees_and_the_command_counts_it(
    browser: Browser, own_site: Site, problems: Problems, axe: Look, shot: Shot
) -> None:
    context = visit(browser, own_site.url)
    page = context.new_page()
    watch(page, problems)
    open_case(page, own_site, "city_guide.boastful", query="?tab=judges")
    judge = page.get_by_role("region", name=RUBRICS)
    judge.get_by_role("button", name="I disagree").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The judge's verdict: it fails.")
    axe(page)
    dialog.get_by_role("textbox", name="Why").fill("it is <b>true</b>")
    dialog.get_by_role("button", name="It passes").click()
    expect(judge).to_contain_text("A person disagrees: it passes “it is <b>true</b>”")
    judge.get_by_role("button", name="I agree").click()
    expect(judge).to_contain_text("A person agrees: it passes")
    shot(page, "judges-labelled")
    run_id = run_of(own_site, "city_guide.boastful")
    reported = proctor(
        own_site.folder, f"judge calibrate {run_id} --metric {RUBRICS} --held-out 1 --json --no-keep"
    )
    counts = json.loads(reported)["agreement"]
    assert [counts[name] for name in ("both_pass", "judge_fails", "judge_passes", "both_fail")] == [
        1,
        1,
        0,
        0,
    ]
    page.reload()
    judge.get_by_role("button", name="Remove the label").first.click()
    expect(judge.get_by_text(re.compile("A person disagrees"))).to_have_count(0)
    expect(judge.get_by_role("button", name="I disagree")).to_have_count(1)
    context.close()
    assert problems.left() == []


@pytest.mark.nightly
@pytest.mark.slow
def test_the_focus_stays_where_the_user_labelled(
    browser: Browser, own_site: Site, problems: Problems
) -> None:
    context = visit(browser, own_site.url)
    page = context.new_page()
    watch(page, problems)
    open_case(page, own_site, "city_guide.boastful", query="?tab=judges")
    judge = page.get_by_role("region", name=RUBRICS)
    taken_back = judge.get_by_role("button", name="Remove the label")
    expect(judge.get_by_role("button", name="I agree").first).to_be_visible()
    expect(taken_back).to_have_count(0)
    agree = judge.get_by_role("button", name="I agree").first
    agree.focus()
    page.keyboard.press("Enter")
    expect(taken_back).to_have_count(1)
    expect(page.locator(":focus")).to_have_text("Remove the label")
    page.keyboard.press("Enter")
    expect(taken_back).to_have_count(0)
    expect(page.locator(":focus")).to_have_text("I disagree")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox", name="Why")).to_be_focused()
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("Escape")
    expect(page.locator(":focus")).to_have_text("I disagree")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name=re.compile("It (passes|fails)")).press("Enter")
    expect(taken_back).to_have_count(1)
    expect(page.locator(":focus")).to_have_text("Remove the label")
    context.close()
    assert problems.left() == []
