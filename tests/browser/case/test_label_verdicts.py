"""Label the verdicts of a judge with keys: the next ones, the progress, a second person, and the calibration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import proctor
from proctor.schema.analysis.calibration import HumanLabel
from tests.analysis.judged_runs import METRIC, Judged, judged_run
from tests.browser.conftest import Problems, Site, visit, watch

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]
CASES = 40


@pytest.fixture
def judged(serve: Callable[..., Site], tmp_path: Path) -> Site:
    """A server of a run whose judge gave 40 verdicts, the third of them fails."""
    cases = [Judged(f"case{number}", ((number % 3 != 0,),)) for number in range(CASES)]
    judged_run(tmp_path / "store.sqlite3", cases).close()
    return serve(tmp_path, tmp_path / "store.sqlite3")


def label_by_keys(page: Page, keys: str, first: int = 1) -> None:
    """Press keys, each of which labels a verdict; the shown one is number `first`."""
    for number, key in enumerate(keys, first + 1):
        page.keyboard.press(key)
        expect(page.get_by_text(f"{number} of 20")).to_be_visible()


@pytest.mark.slow
def test_verdicts_are_labelled_with_keys_and_the_figures_follow(
    browser: Browser, judged: Site, problems: Problems, axe: Look
) -> None:
    context = visit(browser, judged.url)
    page = context.new_page()
    watch(page, problems)
    page.goto("/judges")
    page.get_by_role("link", name="Label 20 next").click()
    verdicts, main = page.get_by_role("region", name="Verdicts to label"), page.locator("main")
    rates = page.get_by_role("table")
    expect(verdicts).to_contain_text("1 of 20")
    label_by_keys(page, "ppf")
    expect(main).to_contain_text("a person without a name: 3 labels")
    expect(main).to_contain_text("3 of 40 verdicts labelled")
    expect(verdicts).not_to_contain_text("because it is")  # the reason of the judge
    page.keyboard.press("v")
    expect(verdicts).to_contain_text("because it is")
    before = rates.inner_text()
    page.keyboard.press("Shift+Z")
    expect(page.get_by_text("3 of 20")).to_be_visible()
    expect(main).to_contain_text("a person without a name: 2 labels")
    page.keyboard.press("Shift+M")
    page.get_by_role("textbox", name="Note").fill("the wrong day")
    page.keyboard.press("Escape")
    label_by_keys(page, "f", 3)
    expect(main).to_contain_text("a person without a name: 3 labels")
    assert rates.inner_text() == before
    label_by_keys(page, "pfpfpfpfpfpfpfpf", 4)
    page.keyboard.press("p")
    expect(main).to_contain_text("20 labels stored.")
    expect(main).to_contain_text(
        "more labels make both confidence intervals at most 20 percentage points wide"
    )
    assert rates.inner_text() != before
    axe(page)
    context.close()
    assert problems.left() == []


@pytest.mark.slow
def test_a_second_person_labels_and_the_judge_is_calibrated(
    browser: Browser, judged: Site, problems: Problems, axe: Look, fits: Look, shot: Shot
) -> None:
    ann = [HumanLabel(eval_id=f"case{i}", passes=True, turn=0, labeller="ann") for i in range(20)]
    proctor.label_run("run1", ann, store=judged.store)
    context = visit(browser, judged.url)
    page = context.new_page()
    watch(page, problems)
    page.goto(f"/judges/run1/{METRIC}")
    main = page.locator("main")
    page.get_by_role("textbox", name="Your name").fill("ben")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Labelled by others (20)").click()
    expect(page.get_by_text("1 of 20")).to_be_visible()
    label_by_keys(page, "ppfp")
    expect(main).to_contain_text("ben: 4 labels")
    expect(main).to_contain_text("ann and ben: 1 of 4 common labels differ")
    expect(page.get_by_role("img", name="ann and ben: Cohen’s kappa 0.00")).to_be_visible()
    page.get_by_text("1 verdict with different labels").click()
    expect(main).to_contain_text("ann: pass · ben: fail")
    expect(main).to_contain_text("No majority: left out of the calibration.")
    page.keyboard.press("v")
    expect(page.get_by_role("region", name="Verdicts to label")).to_contain_text("because it is")
    axe(page)
    fits(page)
    shot(page, "label-verdicts")
    page.keyboard.press("Shift+K")
    expect(main).to_contain_text("The stored calibration has these labels.")
    assert judged.get("/api/judges")["items"][0]["calibration"]["run_id"] == "run1"
    context.close()
    assert problems.left() == []


@pytest.mark.nightly
@pytest.mark.slow
def test_a_batch_remains_the_same_until_the_page_is_left(
    browser: Browser, judged: Site, problems: Problems
) -> None:
    context = visit(browser, judged.url)
    page = context.new_page()
    watch(page, problems)
    page.goto("/judges")
    page.get_by_role("link", name="Label 20 next").click()
    verdicts, main = page.get_by_role("region", name="Verdicts to label"), page.locator("main")
    expect(verdicts).to_contain_text("1 of 20")
    label_by_keys(page, "ppf")
    page.get_by_role("textbox", name="Note").fill("the wrong day")
    page.keyboard.press("Escape")
    label_by_keys(page, "f", 4)
    before = verdicts.inner_text()
    page.keyboard.press("Shift+K")
    expect(main).to_contain_text("The stored calibration has these labels.")
    assert verdicts.inner_text().split() == before.split(), "calibration reads no other verdicts"
    for _ in range(3):
        page.keyboard.press("k")
    shown = verdicts.locator("[aria-live]")
    first = shown.inner_text().split(":")[0]
    page.keyboard.press("Shift+Z")
    expect(main).to_contain_text("a person without a name: 3 labels")
    expect(page.get_by_text("1 of 20")).to_be_visible()
    expect(verdicts).to_contain_text(first)
    page.keyboard.press("u")
    page.get_by_role("link", name="label verdicts").click()
    expect(verdicts).to_contain_text("1 of 20")
    label_by_keys(page, "pp")
    expect(main).to_contain_text("a person without a name: 5 labels")
    context.close()
    assert problems.left() == []
