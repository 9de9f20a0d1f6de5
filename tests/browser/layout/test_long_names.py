"""Names of two hundred letters without a space, many metrics, hundreds of spans: no page breaks on what is long or many."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from proctor.engine.trial.evidence_limits import trace_of
from proctor.schema.results.score import MetricScore, Score
from tests.browser.case.test_spans import timed_trial
from tests.browser.conftest import Site
from tests.browser.samples import ROOT, STORE, proctor
from tests.web.extreme_runs import Made, write_made

Look = Callable[[Page], None]

LONG = "without_any_space_" * 10
METRICS = 12
SPANS = 900
_BEGAN = 1_700_000_000.0


def _judged_by_long_rubrics(folder: Path) -> None:
    config = json.loads((ROOT / "examples/city_guide/test_config.json").read_text(encoding="utf-8"))
    rubrics = config["criteria"]["rubric_based_final_response_quality_v1"]["rubrics"]
    rubrics[:] = [{**rubrics[0], "rubric_id": LONG.replace("_", "")}]
    (folder / "long.json").write_text(json.dumps(config), encoding="utf-8")


def _judged_by_many(folder: Path) -> None:
    def score(name: str, value: float) -> str:
        return f"def {name}(actual_invocation, criterion):\n    return {value}\n"

    names = [f"metric_{at}" for at in range(METRICS)]
    text = "".join(score(name, 0.1 if name == "metric_9" else 1.0) for name in names)
    (folder / "many_metrics.py").write_text(text, encoding="utf-8")
    custom = {name: {"code_config": {"name": f"many_metrics.{name}"}} for name in names}
    config: dict[str, Any] = {"criteria": dict.fromkeys(names, 0.5), "custom_metrics": custom}
    (folder / "many.json").write_text(json.dumps(config), encoding="utf-8")


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    """An agent with an endless name: judged by rubrics with such names, and by more metrics than there is room for."""
    folder: Path = tmp_path_factory.mktemp("strange")
    here = ROOT / "examples/city_guide"
    shutil.copytree(here, folder / LONG, ignore=shutil.ignore_patterns("__pycache__"))
    _judged_by_long_rubrics(folder)
    _judged_by_many(folder)
    cases = f"{LONG}/guide.evalset.yaml"
    proctor(folder, f"eval {LONG} {cases} --config long.json --judge scripted:{LONG}/judge.json")
    proctor(folder, f"eval {LONG} {cases} --config many.json")
    return serve(folder, folder / STORE)


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory, serve: Callable[..., Site]) -> Site:
    """A trial of hundreds of spans."""
    trial = timed_trial()
    trial.turns[0].trace = trace_of(
        {
            "id": str(n),
            "name": f"step {n}",
            "kind": "step",
            "started_at": _BEGAN + n / 1_000,
            "duration": 0.01,
        }
        for n in range(SPANS)
    )
    deep = timed_trial()
    deep.turns[0].trace = trace_of(
        {"id": str(n), "parent_id": str(n - 1) if n else "", "name": f"step {n}", "kind": "step", "started_at": _BEGAN, "duration": 0.01}
        for n in range(20)
    )  # fmt: skip
    folder: Path = tmp_path_factory.mktemp("spans")
    scores = [MetricScore(1.0, [Score(1.0)])]
    write_made(folder / "store.sqlite3", [Made("many", [trial], scores), Made("deep", [deep], scores)])
    return serve(folder, folder / "store.sqlite3")


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    "path",
    ["/runs", "/runs/latest", "/runs/latest~1", "/runs/latest~1/cases/0?tab=judges", "/runs/latest/bless"],
)
def test_a_page_is_not_wider_than_its_window(page: Page, strange: Site, fits: Look, path: str) -> None:
    page.goto(strange.url + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("without")
    fits(page)


@pytest.mark.nightly
def test_a_rubric_does_not_run_into_its_text(page: Page, strange: Site) -> None:
    page.goto(f"{strange.url}/runs/latest~1/cases/0?tab=judges")
    name = page.get_by_text(LONG.replace("_", "")).first
    message = page.get_by_text("The answer has no superlatives").first
    expect(message).to_be_visible()
    left, right = name.bounding_box(), message.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]


@pytest.mark.nightly
def test_of_many_metrics_those_that_cases_missed_have_columns(page: Page, strange: Site) -> None:
    page.goto(f"{strange.url}/runs/latest")
    heads = page.get_by_role("table", name="Cases").get_by_role("columnheader")
    expect(heads.filter(has_text="metric_")).to_have_text(["metric_0", "metric_1", "metric_2", "metric_9"])
    expect(page.get_by_role("main")).to_contain_text(
        f"of {METRICS} metrics, those missed or in error in most cases"
    )
    expect(page.get_by_role("definition").filter(has_text="0.10")).to_be_visible()


@pytest.mark.nightly(check=1)
@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("/runs?q=agent:unknown", "No matching run"),
        ("/runs/latest?q=nothing_has_this", "No matching case"),
        ("/matrix", "Which runs?"),
        ("/runs/latest/cases/0?tab=judges", "No LLM judge scored this trial"),
    ],
)
def test_where_there_is_nothing_to_show_a_page_keeps_its_one_head(
    page: Page, strange: Site, path: str, reported: str
) -> None:
    page.goto(strange.url + path)
    expect(page.get_by_role("heading", level=2, name=reported)).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.nightly
def test_of_many_spans_those_in_view_are_drawn_and_each_is_reached(page: Page, spans: Site) -> None:
    page.goto(f"{spans.url}/runs/made/cases/0?tab=spans&span=800")
    table = page.get_by_role("table", name="Spans")
    expect(table).to_have_attribute("aria-rowcount", re.compile(r"90\d"))
    chosen = table.locator('[data-on="true"]')
    expect(chosen).to_be_in_viewport()
    expect(chosen).to_contain_text("step 798")
    assert table.get_by_role("row").count() < 150
    page.keyboard.press("End")
    expect(table.get_by_role("button", name=f"step step {SPANS - 1}", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_names_of_deep_spans_have_room_on_a_narrow_page(page: Page, spans: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{spans.url}/runs/made/cases/1?tab=spans")
    boxes = [page.get_by_role("button", name=f"step step {at}", exact=True) for at in (1, 19)]
    expect(boxes[1]).to_be_visible()
    upper, lower = (box.bounding_box() for box in boxes)
    assert upper is not None
    assert lower is not None
    assert upper["x"] < lower["x"], "it is nested"
    assert lower["width"] >= 80
