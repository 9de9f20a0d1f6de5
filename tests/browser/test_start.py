"""Screen 11, start a run: chosen, estimated, refused next to the field, kept in the address."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Problems, Site

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]


GREETINGS = "greetings.evalset.json"


def _open(page: Page, query: str = "") -> None:
    page.goto(f"/start{query}")
    expect(page.get_by_role("heading", name="Start a run")).to_be_visible()


def _choose(page: Page, agent: str, path: str) -> None:
    page.get_by_label("Agent", exact=True).select_option(agent)
    page.get_by_role("checkbox", name=path).check()


def test_shows_what_it_takes_and_by_what_it_knows(page: Page, site: Site, shot: Shot) -> None:
    _open(page)
    _choose(page, "replay", GREETINGS)
    page.get_by_label("Trials per case").fill("3")
    side = page.get_by_label("Estimate")
    expect(side).to_contain_text("trials of 4 cases")
    expect(side).to_contain_text("12")
    greeter = next(run for run in site.get("/api/runs")["items"] if run["agent"] == "greeter")
    expect(side).to_contain_text(f"Based on 4 cases of run {greeter['run_id'][:6]}")
    expect(side).to_contain_text(f"proctor eval --agent=replay --set={GREETINGS} --num-runs=3")
    shot(page, "start")
    page.get_by_role("heading", name="Start a run").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("start the run")


@pytest.mark.nightly
def test_is_usable_by_all_and_fits(page: Page, axe: Look, fits: Look) -> None:
    _open(page)
    _choose(page, "replay", GREETINGS)
    page.get_by_label("Criteria").select_option("*")
    page.get_by_role("button", name="Add response_match_score").click()
    page.get_by_text("all 4 cases").click()
    page.get_by_text("More limits").click()
    expect(page.get_by_role("button", name="Start the run")).to_be_enabled()
    axe(page)
    fits(page)
    page.emulate_media(color_scheme="dark")
    axe(page)


def test_everything_that_is_wrong_is_next_to_its_field(page: Page, problems: Problems, shot: Shot) -> None:
    problems.expect("422")
    _open(page)
    _choose(page, "replay", GREETINGS)
    page.get_by_label("Criteria").select_option("*")
    page.get_by_role("button", name="Add response_match_score").click()
    metric = page.get_by_role("group", name="response_match_score")
    metric.get_by_label("threshold").fill("3")
    page.get_by_label("Judge", exact=True).fill("no-such-model")
    page.get_by_label("Trials in parallel").fill("0")
    expect(metric.get_by_role("alert").filter(has_text="threshold").first).to_be_visible()
    expect(page.get_by_text("No model is called 'no-such-model'")).to_be_visible()
    expect(page.get_by_text("A whole number from 1 to 1,000, not 0")).to_be_visible()
    expect(page.get_by_role("button", name="Start the run")).to_be_disabled()
    shot(page, "start-wrong")


@pytest.mark.nightly
def test_what_is_accepted_is_ticked_and_becomes_options(page: Page) -> None:
    """Each box is the option of `proctor eval` of that name."""
    boxes = {
        "Allow cases that assert nothing": "--allow-unasserted",
        "Allow unknown keys that seem to state an expectation": "--allow-unknown-keys",
        "Treat warnings as errors": "--warnings-as-errors",
    }
    _open(page)
    _choose(page, "replay", GREETINGS)
    side = page.get_by_label("Estimate")
    expect(side).to_contain_text(f"proctor eval --agent=replay --set={GREETINGS}")
    for label, option in boxes.items():
        expect(side).not_to_contain_text(option)
        page.get_by_role("checkbox", name=label).check()
        expect(side).to_contain_text(option)
    page.reload()
    for label in boxes:
        expect(page.get_by_role("checkbox", name=label)).to_be_checked()


@pytest.mark.nightly
def test_what_is_chosen_survives_a_reload(page: Page) -> None:
    _open(page)
    _choose(page, "replay", GREETINGS)
    page.get_by_text("all 4 cases").click()
    page.get_by_role("checkbox", name=re.compile("^moody")).uncheck()
    page.get_by_label("Trials per case").fill("2")
    expect(page.get_by_text("3 of 4 cases")).to_be_visible()
    expect(page.get_by_label("Estimate")).to_contain_text("trials of 3 cases")
    page.reload()
    expect(page.get_by_label("Agent", exact=True)).to_have_value("replay")
    expect(page.get_by_text("3 of 4 cases")).to_be_visible()
    expect(page.get_by_label("Trials per case")).to_have_value("2")
    expect(page.get_by_label("Estimate")).to_contain_text("trials of 3 cases")


@pytest.mark.nightly
def test_metrics_are_found_by_what_they_measure_and_show_whether_they_ask_a_judge(page: Page) -> None:
    _open(page)
    page.get_by_label("Criteria").select_option("*")
    page.get_by_label("Search metrics").fill("final answer judge")
    listed = page.get_by_role("list", name="Metrics to choose").get_by_role("listitem")
    expect(listed.first).to_contain_text("LLM judge")
    page.get_by_label("Search metrics").fill("no metric of that kind")
    expect(page.get_by_text("No matching metric.")).to_be_visible()


def test_starts_only_what_did_not_pass_in_another_run(page: Page, site: Site) -> None:
    greeter = next(run for run in site.get("/api/runs")["items"] if run["agent"] == "greeter")
    _open(page, f"?failed_of={greeter['run_id']}")
    page.get_by_label("Agent", exact=True).select_option("replay")
    expect(page.get_by_label("Only cases that did not pass in")).to_have_value(greeter["run_id"])
    expect(page.get_by_label("Estimate")).to_contain_text("trials of 3 cases")
