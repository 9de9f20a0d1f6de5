"""From a failure to its repair without leaving the page: edit the case, run it, see it pass; run the failures again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Problems, Site
from tests.browser.editor.flow import Flow
from tests.browser.samples import proctor

Look = Callable[[Page], None]
Shot = Callable[[Page, str], None]

AGENT = 'def root_agent(text: str) -> str:\n    return "Hello!"\n'


@pytest.fixture(scope="module")
def greetings(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    """A server whose newest run has two cases that fail because of their expected answer, and one that passes."""
    expected = {"polite": "Hello!", "outdated": "Good morning!", "wrong": "Go away."}
    cases = [
        {
            "eval_id": eval_id,
            "conversation": [
                {"user_content": {"parts": [{"text": "hello"}]}, "final_response": {"parts": [{"text": answer}]}}
            ],
        }
        for eval_id, answer in expected.items()
    ]  # fmt: skip
    tmp_path = tmp_path_factory.mktemp("greetings")
    (tmp_path / "greeter.py").write_text(AGENT, encoding="utf-8")
    (tmp_path / "proctor.toml").write_text('agent = "greeter.py"\n', encoding="utf-8")
    (tmp_path / "greetings.evalset.json").write_text(
        json.dumps({"eval_set_id": "greetings", "eval_cases": cases}), encoding="utf-8"
    )
    proctor(tmp_path, "eval greeter.py greetings.evalset.json")
    return serve(tmp_path, tmp_path / ".proctor" / "store.sqlite3")


def test_a_case_is_edited_and_run_and_passes_without_leaving_the_page(
    page: Page, greetings: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    run = greetings.get("/api/runs")["items"][-1]
    page.goto(f"{greetings.url}/runs/{run['run_id']}/cases/1")
    expect(page.get_by_role("link", name="Edit this case")).to_be_visible()
    flow = Flow(page)
    flow.press("e")
    answer = page.get_by_role("textbox", name="Expected answer")
    flow.click(answer)
    answer.fill("Hello!")
    writes: list[str] = []
    page.on("request", lambda request: writes.append(request.url) if request.method == "PUT" else None)
    page.keyboard.press("Control+S")  # the run waits for this save, and does not save again
    with page.expect_response(lambda response: "/api/start/of-set" in response.url) as asked:
        flow.click(page.get_by_role("button", name="Run"))
    assert f"run={run['run_id']}" in asked.value.url
    assert len(writes) == 1
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Case outdated of greetings.evalset.json")
    expect(dialog).to_contain_text("This is a new run in the history.")
    expect(dialog.get_by_role("button", name="Start the run")).to_be_focused()
    axe(page)
    fits(page)
    shot(page, "run-case")
    flow.press("Enter")
    expect(dialog.get_by_role("button", name="Run again")).to_be_visible()
    expect(dialog.get_by_role("status")).to_contain_text("Passed")
    flow.end("edited, run and passed", at_most=4)
    shot(page, "run-case-passed")
    assert (
        "Hello!"
        in (greetings.folder / "greetings.evalset.json").read_text(encoding="utf-8").split("outdated")[1]
    )
    newest = greetings.get("/api/runs")["items"][0]
    assert (newest["outcome"], newest["cases"]) == ("passed", 1)


def test_the_failures_of_a_run_are_run_again_by_two_keys(page: Page, greetings: Site) -> None:
    run = greetings.get("/api/runs")["items"][-1]
    page.goto(f"{greetings.url}/runs/{run['run_id']}")
    expect(page.get_by_role("button", name="Run failures again")).to_be_visible()
    page.keyboard.press("F")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("trials of 2 cases")
    expect(dialog.get_by_role("button", name="Start the run")).to_be_focused()
    href = dialog.get_by_role("link", name="Change options").get_attribute("href") or ""
    assert run["run_id"] in href
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: run["run_id"] not in url)
    expect(page.get_by_role("heading", name="greeter on greetings")).to_be_visible()
    newest = greetings.get("/api/runs")["items"][0]
    assert newest["cases"] == 2


def test_a_refusal_has_the_focus_so_that_enter_does_not_close_it(
    page: Page, greetings: Site, problems: Problems
) -> None:
    problems.expect("422")
    run = greetings.get("/api/runs")["items"][-1]
    page.goto(f"{greetings.url}/runs/{run['run_id']}")
    expect(page.get_by_role("button", name="Run again", exact=True)).to_be_visible()
    agent = greetings.folder / "greeter.py"
    agent.rename(agent.with_suffix(".away"))
    page.keyboard.press("r")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("greeter.py")
    expect(dialog.get_by_role("alert")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    agent.with_suffix(".away").rename(agent)


def test_a_run_is_named_starred_made_a_baseline_and_deleted(
    page: Page, greetings: Site, axe: Look, fits: Look, shot: Shot
) -> None:
    run = greetings.get("/api/runs")["items"][-1]["run_id"]
    page.goto(f"{greetings.url}/runs/{run}")
    star = page.get_by_role("button", name="Star")
    expect(star).to_be_enabled()
    expect(star).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("s")
    expect(star).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("release 1.4")
    dialog.get_by_label("Note").fill("before the change of the prompt")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("status")).to_have_text("saved")
    expect(dialog).to_contain_text("Deletes 3 cases, 3 trials with all evidence, 1 scoring.")
    expect(dialog).to_contain_text("This run did not pass")
    axe(page)
    fits(page)
    shot(page, "run-manage")
    dialog.get_by_role("button", name="Set as baseline").click()
    expect(dialog).to_contain_text("This run cannot be deleted: it is the baseline main")
    dialog.get_by_role("button", name="Remove main").click()
    dialog.get_by_role("button", name="Delete …").click()
    dialog.get_by_role("button", name="Delete 3 trials for good").click()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    assert run not in [row["run_id"] for row in greetings.get("/api/runs")["items"]]
