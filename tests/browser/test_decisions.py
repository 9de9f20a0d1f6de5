"""What a person decides on the page, as whole flows: which answers become expected, and which of four models to take."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Site
from tests.browser.samples import proctor

MODELS = {"small": (2, "gpt-4o-mini"), "medium": (4, "gpt-4o"), "old": (1, "gpt-4o"), "large": (4, "o1")}
"""By agent: how many of five cases it answers correctly, and the model whose price applies."""
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


@pytest.fixture
def models(tmp_path: Path, serve: Callable[..., Site]) -> Site:
    """A server with a run of each model on the same five cases; the newest run fails all five."""
    cases = [_case(number) for number in range(5)]
    (tmp_path / SET).write_text(json.dumps({"eval_set_id": "numbers", "eval_cases": cases}, indent=2))
    for name, (right, model) in {**MODELS, "none": (0, "o1")}.items():
        (tmp_path / f"{name}.py").write_text(AGENT.format(right=right, model=model), encoding="utf-8")
        proctor(tmp_path, f"eval {name}.py {SET}")
    return serve(tmp_path, tmp_path / ".proctor" / "store.sqlite3")


def _expected(site: Site) -> list[str]:
    cases = json.loads((site.folder / SET).read_text(encoding="utf-8"))["eval_cases"]
    return [case["conversation"][0]["final_response"]["parts"][0]["text"] for case in cases]


@pytest.mark.slow
def test_three_of_five_answers_are_accepted_and_one_of_four_models_is_chosen(
    page: Page, models: Site
) -> None:
    page.goto(f"{models.url}/runs")
    expect(page.get_by_role("link", name="none", exact=False).first).to_be_visible()

    # which of four models: the four older runs are chosen with keys, and compared
    for key in ("j", "j", "x", "j", "x", "j", "x", "j", "x", "c"):
        page.keyboard.press(key)
    points = page.get_by_role("region", name="Quality and expense").get_by_role("listitem")
    expect(points).to_have_count(4)
    worse = points.filter(has_text="another is at least as good and not more expensive")
    expect(worse).to_have_text([re.compile("old"), re.compile("large")])

    # three of five: nothing is ticked at first, and the file is written only then
    before = _expected(models)
    page.goto(f"{models.url}/runs/latest")
    expect(page.get_by_role("link", name="Bless …")).to_be_visible()
    page.keyboard.press("b")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(5)
    for box in boxes.all():
        expect(box).not_to_be_checked()
    for name in ("number_0", "number_2", "number_3"):
        region = page.get_by_role("region", name=name)
        expect(region.locator("ins").first).to_contain_text("Pardon?")
        region.get_by_role("checkbox").check()
    assert _expected(models) == before
    page.keyboard.press("W")
    expect(page.get_by_role("heading", name="Written")).to_be_visible()
    assert _expected(models) == ["Pardon?", before[1], "Pardon?", "Pardon?", before[4]]
