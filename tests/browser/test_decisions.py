"""What a person decides on the page, as whole flows: each with the most keys and clicks that it may need (`-s` shows the seconds)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Site
from tests.browser.editor.flow import Flow
from tests.browser.samples import proctor

MODELS = {"small": (8, "gpt-4o-mini"), "old": (4, "gpt-4o"), "large": (16, "o1"), "medium": (16, "gpt-4o")}
"""By agent: how many of twenty cases it answers correctly, and the model whose price applies."""
BROKEN = (2, "gpt-4o")
"""The newest build of `medium`: fourteen cases are worse, eighteen fail."""
AGENT = """
def root_agent(text):
    answer = f"You wrote {{text}}" if int(text) < {right} else "Pardon?"
    usage = {{"prompt_token_count": 1000, "candidates_token_count": 10}}
    return [{{"text": answer, "usage_metadata": usage, "model_version": "{model}"}}]
"""
SET = "numbers.evalset.json"


def _case(number: int) -> dict[str, object]:
    answer = {"parts": [{"text": f"You wrote {number}"}]}
    return {
        "eval_id": f"number_{number}",
        "conversation": [{"user_content": {"parts": [{"text": str(number)}]}, "final_response": answer}],
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    """A server with a run of each model on the same twenty cases; the newest run is of a broken build."""
    folder = tmp_path_factory.mktemp("models")
    cases = [_case(number) for number in range(20)]
    (folder / SET).write_text(json.dumps({"eval_set_id": "numbers", "eval_cases": cases}, indent=2))
    for name, (right, model) in [*MODELS.items(), ("medium", BROKEN)]:
        (folder / f"{name}.py").write_text(AGENT.format(right=right, model=model), encoding="utf-8")
        proctor(folder, f"eval {name}.py {SET}")
    return serve(folder, folder / ".proctor" / "store.sqlite3")


@pytest.fixture
def flow(page: Page, models: Site) -> Flow:
    """The list of runs is shown."""
    page.goto(f"{models.url}/runs")
    expect(page.get_by_role("table", name="Runs").get_by_role("row")).to_have_count(6)
    return Flow(page)


@pytest.mark.slow
def test_the_worst_regression_and_its_reason_are_shown(page: Page, flow: Flow) -> None:
    flow.press("j", "Enter")
    expect(page.get_by_role("main").get_by_role("link", name="Compare")).to_be_visible()
    flow.press("c")
    row = page.get_by_role("table", name="Changed cases").get_by_role("row").nth(1)
    expect(row).to_be_visible()
    flow.press("j")
    expect(row).to_be_in_viewport(ratio=1)
    expect(row).to_contain_text("Now fails")
    expect(row).to_contain_text(re.compile(r"response_match_score 0\.\d+ < 0\.8: .+ missing: \"you\""))
    flow.end("worst regression and its reason", at_most=4)


@pytest.mark.slow
def test_each_of_eighteen_failures_is_reviewed_by_one_key(page: Page, flow: Flow) -> None:
    flow.press("j", "Enter")
    expect(page.get_by_role("button", name="Failed or error")).to_be_visible()
    flow.press("1")
    expect(page.get_by_role("status").filter(has_text="18 of 20")).to_be_visible()
    flow.press("j", "Enter")
    for place in range(1, 19):
        expect(page.locator("main header")).to_contain_text(f"{place} of 18 failures")
        expect(page.locator("main")).to_contain_text("Pardon?")
        if place < 18:
            flow.press("j")
    flow.end("review of 18 failures", at_most=5 + 17)


@pytest.mark.nightly
def test_keys_that_are_struck_before_the_table_is_read_count(page: Page, models: Site) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/cases$"), hold)
    page.goto(f"{models.url}/runs/latest/cases/2?q=outcome:failed")
    expect(page.get_by_role("heading", name="number_2")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    held[0].continue_()
    expect(page.locator("main header")).to_contain_text("3 of 18 failures")
    expect(page.get_by_role("heading", name="number_4")).to_be_visible()


@pytest.mark.slow
def test_one_of_four_models_is_chosen(page: Page, flow: Flow) -> None:
    flow.press("j", "j", "x", "j", "x", "j", "x", "j", "x", "c")
    quality = page.get_by_role("region", name="Quality and expense")
    points = quality.get_by_role("listitem")
    expect(points).to_have_count(4)
    worse = points.filter(has_text="another is at least as good and not more expensive")
    expect(worse).to_have_text([re.compile("old"), re.compile("large")])
    best = r"passed: large \w+ \(16 of 20, 80\s%\) and medium \w+ \(16 of 20, 80\s%\)\. Of these, medium \w+ has the lowest cost of a trial: \$0"
    expect(quality).to_contain_text(re.compile(best))
    flow.end("one of four models", at_most=10)


def _expected(site: Site) -> list[str]:
    cases = json.loads((site.folder / SET).read_text(encoding="utf-8"))["eval_cases"]
    return [case["conversation"][0]["final_response"]["parts"][0]["text"] for case in cases]


@pytest.mark.slow
def test_three_answers_are_accepted_and_no_other(page: Page, models: Site, flow: Flow) -> None:
    before = _expected(models)
    flow.press("j", "Enter")
    expect(page.get_by_role("link", name="Bless …")).to_be_visible()
    flow.press("b")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(18)
    for box in boxes.all():
        expect(box).not_to_be_checked()
    for name in ("number_2", "number_4", "number_5"):
        region = page.get_by_role("region", name=name, exact=True)
        expect(region.locator("ins").first).to_contain_text("Pardon?")
        flow.click(region.get_by_role("checkbox"))
    assert _expected(models) == before
    flow.press("W")
    expect(page.get_by_role("heading", name="Written")).to_be_visible()
    flow.end("three answers accepted", at_most=7)
    after = dict.fromkeys((2, 4, 5), "Pardon?")
    assert _expected(models) == [after.get(number, answer) for number, answer in enumerate(before)]
